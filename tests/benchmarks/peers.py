"""Converters that pip can install, measured on the same lines when they are there.

All of them get bytes and give bytes. None checks that a document keeps the rules of its dialect, reads its output
back or compares it; what else an adapter leaves out is said there. `kept` says how much of the texts came through."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import Any, NamedTuple

import orjson

Work = Callable[[bytes], Any]
Convert = Callable[[dict[str, Any]], Any]


class Peer(NamedTuple):
    """A converter; `make` gives its work for a pair of dialects, or None where it does not convert the pair."""

    label: str
    package: str
    make: Callable[[str, str], Work | None]


def installed(source: str, target: str) -> dict[str, Work]:
    """The works of the peers that can be imported and convert the pair, by name and version."""
    _stay_offline()
    found: dict[str, Work] = {}
    for peer in PEERS:
        try:
            work, name = peer.make(source, target), f"{peer.label} ({peer.package} {version(peer.package)})"
        except (ImportError, PackageNotFoundError):
            continue
        if work:
            found[name] = work
    return found


def takes(line: bytes) -> bool:
    """Is there no image at an URL? langchain refuses some of them, litellm and llm-rosetta fetch them."""
    return b'"https://' not in line


def _stay_offline() -> None:
    """No peer reaches a network here."""

    def refuse(*_: object, **__: object) -> Any:
        raise OSError("no network in a benchmark")

    socket.getaddrinfo = refuse
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network for prices


# ---------------------------------------------------------------- how much comes through


def kept(work: Work, lines: Iterable[bytes]) -> float:
    """The share of texts of 40 characters or more that the outputs hold as well; a line that is refused keeps none."""
    count = there = 0
    for line in lines:
        before = {*texts(orjson.loads(line))}
        try:
            after = {*texts(orjson.loads(work(line)))}
        except Exception:  # a peer may raise anything
            after = set()
        count += len(before)
        there += len(before & after)
    return there / count


def texts(value: Any) -> Iterator[str]:
    """The longer strings inside of a JSON value, and inside of JSON that is a string there."""
    if isinstance(value, (dict, list)):
        for child in value.values() if isinstance(value, dict) else value:
            yield from texts(child)
    elif isinstance(value, str) and value[:1] in "{[" and (inner := _parsed(value)) is not None:
        yield from texts(inner)
    elif isinstance(value, str) and len(value) >= 40:
        yield value.rpartition(";base64,")[2]


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


# ---------------------------------------------------------------- linguafranca

LINGUAFRANCA = {
    "openai-chat": "openai_chat_completions",
    "anthropic": "anthropic_messages",
    "openai-responses": "open_responses",
}


REQUIRED = {"model": "any", "max_tokens": 1024}
"""linguafranca refuses a request without them; rows, and what programs keep of a conversation, have not all."""


def _linguafranca_core(source: str, target: str) -> Work | None:
    """The function of its Rust core that takes and gives text, with the same warnings; the API wraps it in `json`."""
    from linguafranca import _linguafranca as core

    if not {source, target} <= LINGUAFRANCA.keys():
        return None
    one, two = LINGUAFRANCA[source], LINGUAFRANCA[target]

    def work(line: bytes) -> Any:
        model = b"" if b'"model":' in line[:200] else b'"model":"any",'
        return core.convert_request_json_str((b'{"max_tokens":1024,' + model + line[1:]).decode(), one, two, None)

    return work


def _linguafranca(source: str, target: str) -> Work | None:
    """The request and the warnings that were written for it: parsed against its schema, which is strict."""
    import linguafranca as lf

    if not {source, target} <= LINGUAFRANCA.keys():
        return None
    formats = {
        "source_format": lf.FormatName(LINGUAFRANCA[source]),
        "target_format": lf.FormatName(LINGUAFRANCA[target]),
    }
    return _json(lambda document: lf.convert_request_json({**REQUIRED, **document}, **formats).value)


# ---------------------------------------------------------------- llm-rosetta

ROSETTA = {
    "openai-chat": "openai_chat",
    "anthropic": "anthropic",
    "openai-responses": "openai_responses",
    "gemini": "google",
}


def _llm_rosetta(source: str, target: str) -> Work | None:
    """The request: each message of its hub is checked, and its warnings are made, which `convert` does not give."""
    from llm_rosetta import ConversionPipeline

    if not {source, target} <= ROSETTA.keys():
        return None
    one, two = ROSETTA[source], ROSETTA[target]
    return _json(lambda document: ConversionPipeline(one, two).convert_request(document))


# ---------------------------------------------------------------- litellm, by its hub, a request of Chat Completions


def _litellm(source: str, target: str) -> Work | None:
    """The messages and tools, as its proxy does it for a model of the target: nothing is checked, no loss is told."""
    readers: dict[str, Callable[[], Convert]] = {
        "openai-chat": lambda: lambda document: document,
        "anthropic": _litellm_from_anthropic,
        "openai-responses": _litellm_from_responses,
        "gemini": _litellm_from_gemini,
    }
    writers: dict[str, Callable[[], Convert]] = {
        "openai-chat": lambda: lambda document: document,
        "anthropic": _litellm_to_anthropic,
        "openai-responses": _litellm_to_responses,
        "gemini": _litellm_to_gemini,
        "mistral": _litellm_to_mistral,
    }
    if source not in readers or target not in writers:
        return None
    import litellm

    litellm.suppress_debug_info = True  # else it prints its list of providers for every model that it does not know
    read, write = readers[source](), writers[target]()
    return _json(lambda document: write(read(document)))


def _litellm_from_anthropic() -> Convert:
    from litellm.llms.anthropic.pass_through.adapters.transformation import LiteLLMAnthropicMessagesAdapter

    adapter = LiteLLMAnthropicMessagesAdapter()
    return lambda document: adapter.translate_anthropic_to_openai(document)[0]


def _litellm_from_responses() -> Convert:
    from litellm.responses.litellm_completion_transformation.transformation import LiteLLMCompletionResponsesConfig

    read = LiteLLMCompletionResponsesConfig.transform_responses_api_request_to_chat_completion_request
    return lambda document: read(document["model"], document["input"], document)


def _litellm_from_gemini() -> Convert:
    from litellm.google_genai.adapters.transformation import GoogleGenAIAdapter

    read = GoogleGenAIAdapter().translate_generate_content_to_completion
    return lambda document: read(
        document["model"],
        document["contents"],
        document.get("generationConfig"),
        systemInstruction=document.get("systemInstruction"),
        tools=document.get("tools"),
    )


def _litellm_to_anthropic() -> Convert:
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig

    return _litellm_to(AnthropicConfig(), "claude-sonnet-5")


def _litellm_to_mistral() -> Convert:
    from litellm.llms.mistral.chat.transformation import MistralConfig

    return _litellm_to(MistralConfig(), "mistral-large-latest")


def _litellm_to(config: Any, model: str) -> Convert:
    def write(document: dict[str, Any]) -> Any:
        settings = config.map_openai_params(_tools(document), {}, model, False)
        return config.transform_request(model, document["messages"], settings, {}, {})

    return write


def _litellm_to_gemini() -> Convert:
    from litellm import GoogleAIStudioGeminiConfig
    from litellm.llms.vertex_ai.gemini.transformation import transform_request_body

    config, model = GoogleAIStudioGeminiConfig(), "gemini-3-pro-preview"

    def write(document: dict[str, Any]) -> Any:
        settings = config.map_openai_params(_tools(document), {}, model, False)
        return transform_request_body(document["messages"], model, settings, "gemini", {}, None)

    return write


def _litellm_to_responses() -> Convert:
    from litellm.completion_extras.litellm_responses_transformation.transformation import (
        LiteLLMResponsesTransformationHandler,
    )

    handler, log = LiteLLMResponsesTransformationHandler(), SimpleNamespace()

    def write(document: dict[str, Any]) -> Any:
        request = handler.transform_request(document["model"], document["messages"], _tools(document), {}, {}, log)
        return {key: request[key] for key in ("model", "instructions", "input", "tools") if key in request}

    return write


def _tools(document: dict[str, Any]) -> dict[str, Any]:
    return {"tools": document["tools"]} if "tools" in document else {}


# ---------------------------------------------------------------- langchain, by its messages


def _langchain(source: str, target: str) -> Work | None:
    """The messages and tools; what a message holds beside them is kept in its objects, and not written."""
    readers = {"openai-chat": lambda document: document["messages"], "anthropic": _with_system}
    writers = {
        "anthropic": _langchain_to_anthropic,
        "openai-chat": _langchain_to_chat,
        "mistral": _langchain_to_mistral,
    }
    if source not in readers or target not in writers:
        return None
    from langchain_core.messages import convert_to_messages

    read, write = readers[source], writers[target]()
    return _json(lambda document: write(convert_to_messages(read(document)), document.get("tools", ())))


def _with_system(document: dict[str, Any]) -> list[Any]:
    system = [{"role": "system", "content": document["system"]}] if "system" in document else []
    return [*system, *document["messages"]]


def _langchain_to_anthropic() -> Callable[[Any, Any], Any]:
    from langchain_anthropic.chat_models import _format_messages, convert_to_anthropic_tool

    def write(messages: Any, tools: Any) -> Any:
        system, written = _format_messages(messages, model=None)
        return {"system": system, "messages": written, "tools": [convert_to_anthropic_tool(tool) for tool in tools]}

    return write


def _langchain_to_chat() -> Callable[[Any, Any], Any]:
    from langchain_core.messages import convert_to_openai_messages
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return lambda messages, tools: {
        "messages": convert_to_openai_messages(messages),
        "tools": [convert_to_openai_tool(tool) for tool in tools],
    }


def _langchain_to_mistral() -> Callable[[Any, Any], Any]:
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_mistralai.chat_models import _convert_message_to_mistral_chat_message as write

    return lambda messages, tools: {
        "messages": [write(message) for message in messages],
        "tools": [convert_to_openai_tool(tool) for tool in tools],
    }


# ---------------------------------------------------------------- all of them


def _json(convert: Convert) -> Work:
    return lambda line: orjson.dumps(convert(orjson.loads(line)))


PEERS = (
    Peer("linguafranca, Rust core, text to text", "martian-linguafranca", _linguafranca_core),
    Peer("linguafranca, public API", "martian-linguafranca", _linguafranca),
    Peer("litellm, messages and tools", "litellm", _litellm),
    Peer("langchain, messages and tools", "langchain-core", _langchain),
    Peer("llm-rosetta", "llm-rosetta", _llm_rosetta),
)
