"""Converters that pip can install, measured on the same lines when they are there. None of them proves anything."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson

Work = Callable[[bytes], object]


def installed() -> dict[str, Work]:
    """A work for each peer that can be imported, by name and version."""
    found: dict[str, Work] = {}
    for package, make in PEERS.items():
        try:
            found[f"{package} {version(package)}"] = make()
        except (ImportError, PackageNotFoundError, AttributeError):
            continue
    return found


def _litellm() -> Work:
    from litellm.litellm_core_utils.prompt_templates.factory import anthropic_messages_pt

    def work(line: bytes) -> object:
        request: dict[str, Any] = orjson.loads(line)
        messages = [message for message in request["messages"] if message["role"] != "system"]
        return orjson.dumps(anthropic_messages_pt(messages, request["model"], "anthropic"))

    return work


def _langchain() -> Work:
    from langchain_core.messages import convert_to_openai_messages

    return lambda line: orjson.dumps(convert_to_openai_messages(orjson.loads(line)["messages"]))


def _llm_rosetta() -> Work:
    from llm_rosetta import convert

    return lambda line: orjson.dumps(convert(orjson.loads(line), "openai_chat", "anthropic"))


def _linguafranca() -> Work:
    import linguafranca

    return lambda line: orjson.dumps(linguafranca.convert_request(orjson.loads(line), "openai-chat", "anthropic"))


PEERS: dict[str, Callable[[], Work]] = {
    "litellm": _litellm,
    "langchain-core": _langchain,
    "llm-rosetta": _llm_rosetta,
    "martian-linguafranca": _linguafranca,
}
