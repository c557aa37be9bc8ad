"""modular-prompt messages: attachments, calls, results by kind, and the older form of both."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.openai import request as common
from convcli.families.openai.calls import content_of, lift_call
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    PartPaths,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)

NAME = "modular-prompt"

MESSAGE = Keys("type= role= content= name= toolCalls= cacheHint")
RESULT = Keys("type= role= toolCallId= name= kind= value= cacheHint")
OLDER_RESULT = Keys("type= role= content= toolCallId= name= cacheHint")
CALL = Keys("id name arguments metadata")
ATTACHMENT = {"text": Keys("type text"), "image_url": Keys("type image_url"), "file": Keys("type file")}
INNER = {"image_url": Keys("url"), "file": Keys("path mime_type")}
MEDIA_KINDS = ("image", "audio", "video")
UNTYPED = {"document": "application/octet-stream"}
"""The media type written for a file without one: modular-prompt requires a type."""


# ---------------------------------------------------------------- lift


def lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Reads a message or a tool result, with or without `type`."""
    if native["role"] == "tool":
        return _lift_result(native, context)
    content = native.get("content")
    parts: list[Part] = [Text(content)] if content and isinstance(content, str) else []
    part_paths: list[Path] = [("content",)] * len(parts)
    for j, item in enumerate(content if isinstance(content, list) else ()):
        parts.append(_lift_attachment(item))
        part_paths.append(("content", j))
    for j, call in enumerate(native.get("toolCalls") or ()):
        parts.append(lift_tool_call(call, context))
        part_paths.append(("toolCalls", j))
    extras = make_extras(NAME, MESSAGE.extra(native))
    return Message(native["role"], parts, name=native.get("name") or None, extras=extras), part_paths


def lift_tool_call(native: Native, context: LiftContext) -> Part:
    """Reads a call, or an older call in the shape of Chat Completions."""
    if "function" in native:
        part = lift_call(native, context)
        part.extras = make_extras(NAME, flat(get_extras(part.extras, NAME)))
        return part
    id_ = context.pairing.call(native.get("id") or None, native["name"])
    metadata = native.get("metadata") or None
    extras = make_extras(NAME, CALL.extra(native))
    return ToolCall(id_, native["name"], native.get("arguments") or {}, metadata=metadata, extras=extras)


def flat(extra: Native) -> Native:
    """Flattens extras of the older shape, where `function` is a nested object."""
    inner = extra.get("function", {})
    return {**omit(extra, "function"), **inner}


def _lift_result(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    is_older = native.get("kind") is None
    id_, name = context.pairing.result(native.get("toolCallId") or None, native.get("name") or None)
    result = ToolResult(id_, name, "text", native["content"]) if is_older else _lift_kind(id_, name, native)
    extras = make_extras(NAME, (OLDER_RESULT if is_older else RESULT).extra(native))
    return Message("tool", [result], extras=extras), [()]


def _lift_kind(id_: str, name: str, native: Native) -> ToolResult:
    """Reads a result with a kind; an error that is not a string becomes failed data."""
    kind, value = native["kind"], native["value"]
    if kind == "multimodal":
        return ToolResult(id_, name, kind, [_lift_attachment(item) for item in value])
    if kind == "error" and not isinstance(value, str):
        return ToolResult(id_, name, "data", value, is_error=True)
    return ToolResult(id_, name, kind, value)


def _lift_attachment(native: Native) -> Part:
    kind = native["type"]
    if kind not in ATTACHMENT:
        return Opaque(NAME, native)
    extra = ATTACHMENT[kind].extra(native)
    if kind == "text":
        return Text(native["text"], extras=make_extras(NAME, extra))
    body = native[kind]
    part = _lift_file(body) if kind == "file" else common.media_of_url("image", body["url"])
    part.extras = make_extras(NAME, extra, **{kind: INNER[kind].extra(body)})
    return part


def _lift_file(native: Native) -> Media:
    media_type = native.get("mime_type") or ""
    return Media(_kind_of(media_type), path=native["path"], media_type=media_type or None)


def _kind_of(media_type: str) -> Any:
    return next((kind for kind in MEDIA_KINDS if media_type.startswith(kind + "/")), "document")


# ---------------------------------------------------------------- write


def write_message(message: Message) -> Native:
    """Writes a message with its type, as a prompt element has it."""
    if message.role == "tool":
        return _write_result(message)
    native = {
        "type": "message",
        "role": message.role,
        "content": _content(message),
        "name": message.name,
        "toolCalls": [write_tool_call(part) for part in message.parts if isinstance(part, ToolCall)] or None,
    }
    return MESSAGE.write(native, get_extras(message.extras, NAME))


def _content(message: Message) -> Any:
    written = [write_attachment(part) for part in message.parts if not isinstance(part, ToolCall)]
    return content_of([native for native in written if native is not None])


def write_tool_call(call: ToolCall) -> Native:
    """Writes a call, with its arguments as an object."""
    native = {"id": call.id, "name": call.name, "arguments": call.arguments, "metadata": call.metadata}
    return CALL.write(native, get_extras(call.extras, NAME))


def _write_result(message: Message) -> Native:
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    native: Native = {"type": "message", "role": "tool", "toolCallId": result.tool_call_id, "name": result.name}
    native["kind"] = "error" if result.is_error and result.kind == "data" else result.kind
    native["value"] = _value(result)
    return RESULT.put(native, get_extras(message.extras, NAME))


def _value(result: ToolResult) -> Any:
    if result.kind != "multimodal":
        return result.value
    return [native for native in map(write_attachment, result.value) if native is not None]


def write_attachment(part: Part) -> Native | None:
    """Writes one attachment; None for a part that cannot be one."""
    extra = dict(get_extras(part.extras, NAME))
    if isinstance(part, Text):
        return ATTACHMENT["text"].put({"type": "text", "text": part.text}, extra)
    if not isinstance(part, Media):
        return part.value if isinstance(part, Opaque) and part.dialect == NAME else None
    body = _write_media(part)
    if body is None:
        return None
    kind, inner = body
    return ATTACHMENT[kind].put({"type": kind, kind: INNER[kind].put(inner, extra.pop(kind, None))}, extra)


def _write_media(media: Media) -> tuple[str, Native] | None:
    url = common.url_of_media(media) if media.type == "image" else None
    if url is not None:
        return "image_url", {"url": url}
    if media.path is None:
        return None
    return "file", {"path": media.path, **({"mime_type": media.media_type} if media.media_type else {})}


# ---------------------------------------------------------------- fit


def as_attachment(part: Part, _: Message) -> Part | None:
    """Keeps media with a URL or a path, adding the file type; a refusal becomes text, and thinking is dropped."""
    if isinstance(part, Refusal):
        return Text(part.text, extras=part.extras)
    if not isinstance(part, Media):
        return None if isinstance(part, Reasoning) else part
    written = _write_media(part)
    if written is None or written[0] == "image_url":
        return None if written is None else part
    media_type = part.media_type or UNTYPED.get(part.type, f"{part.type}/*")
    kind = _kind_of(media_type)  # readers derive the kind from the file's media type
    return (
        part if (kind, media_type) == (part.type, part.media_type) else replace(part, type=kind, media_type=media_type)
    )


def attached(result: ToolResult) -> ToolResult:
    """Returns the result with its parts as they are read back from attachments."""
    if result.kind != "multimodal":
        return result
    parts = [as_attachment(part, NOBODY) for part in result.value]
    written = [write_attachment(part) for part in parts if part is not None]
    value = [_lift_attachment(native) for native in written if native is not None]
    return result if value == result.value else replace(result, value=value)


NOBODY = Message("tool", [])


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value of a result without a form: a failed string value is an error."""
    return ("error", result.value) if result.is_error and isinstance(result.value, str) else None
