"""Writes the chunks of a stream: deltas of texts and calls, the counts, and the end of the stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.openai_chat_stream.assembling import BODIES, CHUNK, SIBLING, WHOLE
from convcli.families.openai.messages import REASONING_KEYS
from convcli.kit.objects import Native, as_object, get_extras, omit
from convcli.kit.streams import fragments
from convcli.model.transcript import Message

DONE = "[DONE]"


def chunks(response: Native, messages: list[Message], size: int) -> Iterator[Any]:
    """Yields the chunks of a response, with text in pieces of this size, and the end of the stream."""
    head = omit(response, "choices", "usage")
    if head.get("object") == WHOLE:
        head["object"] = CHUNK
    for choice, message in zip(response["choices"], messages, strict=True):
        rest = omit(choice, "index", "message", "finish_reason")
        for delta in _deltas(choice["message"], size):
            yield _chunk(head, choice, delta, None)
        if message.stop_reason != "error":
            default = "tool_calls" if choice["message"].get("tool_calls") else "stop"
            yield _chunk(head, choice, {}, choice.get("finish_reason") or default, rest)
        elif rest:
            yield _chunk(head, choice, {}, None, rest)
    if not response["choices"] or response.get("usage"):
        yield {**head, "choices": [], **({"usage": response["usage"]} if response.get("usage") else {})}
    yield from _ends(messages)


def _ends(messages: list[Message]) -> Iterator[Any]:
    """Yields an error, or the end mark; a stream that was cut off has neither."""
    for message in messages:
        rest = get_extras(message.extras, SIBLING).get("error")
        if message.error is not None or rest:
            body = {} if message.error is None else {"message": message.error}
            yield {"error": {**body, **as_object(rest)}}
            return
    if not any(message.stop_reason == "error" for message in messages):
        yield DONE


def _chunk(head: Native, choice: Native, delta: Native, finish: str | None, rest: Native | None = None) -> Native:
    return {
        **head,
        "choices": [{"index": choice.get("index", 0), "delta": delta, **(rest or {}), "finish_reason": finish}],
    }


def _deltas(message: Native, size: int) -> Iterator[Native]:
    """Yields the deltas of a message: its role, its texts, its calls, and other values whole."""
    texts = {key: message[key] for key in REASONING_KEYS if message.get(key)}
    texts["content"] = _text(message.get("content"), "text")
    texts["refusal"] = (message.get("refusal") or "") + _text(message.get("content"), "refusal")
    yield {"role": "assistant", "content": None if message.get("content") is None else ""}
    for key, text in texts.items():
        for piece in fragments(text, size):
            yield {key: piece}
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield from _call_deltas(call, index, size)
    for key, value in message.items():
        if key not in ("role", "tool_calls", *texts) and value is not None:
            yield {key: value}


def _text(content: Any, kind: str) -> str:
    """Joins the text of a content, since a stream has no parts."""
    if not isinstance(content, list):
        return content or "" if kind == "text" else ""
    return "".join(part.get(kind) or "" for part in content if part.get("type") == kind)


def _call_deltas(call: Native, index: int, size: int) -> Iterator[Native]:
    kind = call.get("type") or "function"
    body, key = call[kind], BODIES[kind]
    text = body.get(key) or ""
    yield {"tool_calls": [{"index": index, **call, kind: {**body, key: ""}}]}
    for piece in fragments(text, size):
        yield {"tool_calls": [{"index": index, kind: {key: piece}}]}
