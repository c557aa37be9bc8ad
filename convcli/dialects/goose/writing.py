"""goose: transcript → session."""

from __future__ import annotations

from typing import Any

from convcli.dialects.goose.lifting import BARE, IMAGE, KNOWN, MESSAGE, NAME, NORMAL, SESSION, TEXT
from convcli.kit.grouping import are_of_user, groups
from convcli.kit.objects import Native, get_extras, omit, together
from convcli.kit.pairing import UNKNOWN
from convcli.kit.results import has_failed
from convcli.kit.sessions import row_of_event
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript

CONTENTS = ("text", "image", "audio", "resource", "resource_link")
"""The content types of a tool result."""


def continues(message: Message, before: Message, first: Message) -> bool:
    """True if the message joins the row of the one before it: it has no row fields of its own."""
    is_known = first.id is not None or first.created_at is not None
    return is_known and message == Message(message.role, message.parts) and are_of_user(before, message)


def write_session(transcript: Transcript) -> Native:
    """Returns the session in goose's export format."""
    rows = [_write_row(group) for group in groups(transcript.messages, continues)]
    usual: Native = {"extension_data": {}, "message_count": len(rows), **get_extras(transcript.extras, NAME)}
    native = SESSION.write(transcript, usual, conversation=rows)
    return {**{key: native.get(key, "") for key in ("id", "working_dir", "name")}, **native}


def _write_row(group: list[Message]) -> Any:
    first = group[0]
    if first.role == "event":
        return row_of_event(first, NAME, MESSAGE)
    blocks = [block for message in group for part in message.parts for block in _write_part(part)]
    extra = get_extras(first.extras, NAME)
    role = "assistant" if first.role == "assistant" else "user"
    metadata = {**KNOWN, **_inference(first, extra), **omit(extra.get("metadata", {}), "inference")}
    return MESSAGE.write(first, omit(extra, "metadata"), role=role, content=blocks, metadata=metadata)


def _inference(message: Message, extra: Native) -> Native:
    """Returns the metadata that names the model of an answer."""
    inner = extra.get("metadata", {}).get("inference", {})
    if message.model is None and message.provider is None and not inner:
        return {}
    return {"inference": {"provider": message.provider or "", "requestedModel": message.model or "", **inner}}


# ---------------------------------------------------------------- blocks


def _write_part(part: Part) -> list[Native]:
    extra = get_extras(part.extras, NAME)
    if isinstance(part, (Text, Media)):
        return [_write_content(part, extra)]
    if isinstance(part, Reasoning):
        return [_write_thinking(part, extra)]
    if isinstance(part, ToolCall):
        return [_write_call(part, extra)]
    if isinstance(part, ToolResult):
        return [_write_response(part, extra)]
    return [part.value] if isinstance(part, Opaque) and part.dialect == NAME else []


def _write_content(part: Text | Media, extra: Native) -> Native:
    if isinstance(part, Text):
        return TEXT.put({"type": "text", "text": part.text}, extra)
    return IMAGE.put({"type": "image", "data": part.data, "mimeType": part.media_type or ""}, extra)


def _write_thinking(part: Reasoning, extra: Native) -> Native:
    metadata = part.metadata or {}
    if "redactedData" in metadata:
        return {"type": "redactedThinking", "data": metadata["redactedData"], **extra}
    return {"type": "thinking", "thinking": part.text, "signature": metadata.get("signature", ""), **extra}


def _write_call(call: ToolCall, extra: Native) -> Native:
    outcome = extra.get("outcome", {})
    if call.name == UNKNOWN and "error" in extra:
        called: Any = {"status": "error", "error": extra["error"], **outcome}
    else:
        value = {"name": call.name, "arguments": call.arguments, **extra.get("value", {})}
        called = {"status": "success", "value": value, **outcome}
    signature = (call.metadata or {}).get("thoughtSignature")
    native = {"type": extra.get("type", NORMAL), "id": call.id, "toolCall": called}
    native |= {"thoughtSignature": signature} if signature is not None else {}
    return {**native, **together(omit(extra, "type", "error", "outcome", "value"))}


def _write_response(result: ToolResult, extra: Native) -> Native:
    value = {"content": _write_contents(result, extra), "isError": has_failed(result), **extra.get("value", {})}
    outcome = {"status": "success", "value": value, **omit(extra.get("outcome", {}), "value")}
    native = {"type": "toolResponse", "id": result.tool_call_id, "toolResult": outcome}
    return {**native, **together(omit(extra, "content", "value", "outcome"))}


def _write_contents(result: ToolResult, extra: Native) -> Any:
    if result.kind == "data":
        return result.value
    parts = result.value if result.kind == "multimodal" else [Text(result.value)]
    content_extras = extra.get("content") or []
    content_extras = content_extras if len(content_extras) == len(parts) else [{}] * len(parts)
    return [_write_content(part, more) for part, more in zip(parts, content_extras, strict=True)]


def is_contents(value: Any) -> bool:
    """True for a list of contents with any that is neither text nor image."""
    if not isinstance(value, list) or not all(isinstance(one, dict) and one.get("type") in CONTENTS for one in value):
        return False
    return any(one["type"] not in BARE for one in value)
