"""Converters that pip can install, measured on the same lines when they are there. None of them proves anything."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson

Work = Callable[[bytes], object]


def installed() -> dict[str, Work]:
    """A work for each peer that can be imported, by name and version."""
    found: dict[str, Work] = {}
    for label, (package, make) in PEERS.items():
        try:
            found[f"{label} ({package} {version(package)})"] = make()
        except (ImportError, PackageNotFoundError, AttributeError):
            continue
    return found


def _linguafranca_core() -> Work:
    """The function of its Rust core that takes and gives text; its public API is a wrapper around it."""
    import linguafranca as lf
    from linguafranca import _linguafranca as core

    source, target = lf.FormatName.OPENAI_CHAT_COMPLETIONS.value, lf.FormatName.ANTHROPIC_MESSAGES.value
    return lambda line: core.convert_request_json_str(line.decode(), source, target, None)


def _linguafranca() -> Work:
    import linguafranca as lf

    formats = {
        "source_format": lf.FormatName.OPENAI_CHAT_COMPLETIONS,
        "target_format": lf.FormatName.ANTHROPIC_MESSAGES,
    }
    return lambda line: orjson.dumps(lf.convert_request_json(orjson.loads(line), **formats).value)


def _llm_rosetta() -> Work:
    from llm_rosetta import convert

    return lambda line: orjson.dumps(convert(orjson.loads(line), "anthropic", "openai_chat"))


def _litellm() -> Work:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network for prices
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig

    config = AnthropicConfig()

    def work(line: bytes) -> object:
        request: dict[str, Any] = orjson.loads(line)
        return orjson.dumps(
            config.transform_request(
                model="claude-sonnet-5",
                messages=request["messages"],
                optional_params={"max_tokens": 1024},
                litellm_params={},
                headers={},
            )
        )

    return work


def _langchain() -> Work:
    from langchain_anthropic.chat_models import _format_messages
    from langchain_core.messages import convert_to_messages

    def work(line: bytes) -> object:
        return orjson.dumps(_format_messages(convert_to_messages(orjson.loads(line)["messages"]), model=None))

    return work


PEERS: dict[str, tuple[str, Callable[[], Work]]] = {
    "linguafranca, Rust core, text to text": ("martian-linguafranca", _linguafranca_core),
    "linguafranca, public API": ("martian-linguafranca", _linguafranca),
    "litellm, transform_request": ("litellm", _litellm),
    "langchain, messages": ("langchain-anthropic", _langchain),
    "llm-rosetta": ("llm-rosetta", _llm_rosetta),
}
