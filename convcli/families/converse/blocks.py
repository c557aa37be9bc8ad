"""The content blocks of Amazon Bedrock's Converse API: objects with one member, whose name states the kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from convcli.families.converse.media import MEDIA, ConverseService, kind_of, lift_media, other_keys, write_media
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, drop_extras, get_extras, make_extras, without_nulls
from convcli.kit.results import fail, has_failed
from convcli.model.transcript import (
    Media,
    MediaKind,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
)
from convcli.wire import exact_json

TOOL_USE = CallTable("toolUseId=id name=name input=arguments type", form="object", groups="cachePoint")
TOOL_RESULT = Keys("toolUseId= content= status= type", groups="cachePoint")
REASONING_TEXT = Keys("text signature", groups="cachePoint")
CITED = Keys("content= citations")


def is_cache_point(native: Native) -> bool:
    return native.keys() == {"cachePoint"} and native["cachePoint"] is not None


def mark_cache(record: Part | ToolDefinition | None, native: Native, owner: str) -> bool:
    """Keeps a cache point in the extras of the block or tool before it.

    Returns False if there is none, or if it already has a cache point.
    """
    if record is None or not is_cache_point(native):
        return False
    extra = get_extras(record.extras, owner)
    if "cachePoint" in extra:
        return False
    record.extras = {**(record.extras or {}), owner: {**extra, "cachePoint": native["cachePoint"]}}
    return True


def cache_after(record: Part | ToolDefinition, owner: str) -> list[Native]:
    """Returns the cache point that follows a block or a tool."""
    point = get_extras(record.extras, owner).get("cachePoint")
    return [] if point is None else [{"cachePoint": point}]


# ---------------------------------------------------------------- lift


def lift_block(native: Native, context: LiftContext, service: ConverseService) -> Part:
    """Returns the part of a block; a block of an unknown kind, or with several members, is opaque."""
    kind = kind_of(native)
    return (READERS[kind](native[kind], context, service) if kind in READERS else None) or Opaque(service.owner, native)


def _lift_cited(body: Native, _: LiftContext, service: ConverseService) -> Part | None:
    """Returns an answer with its sources as text if it is a single text."""
    content = body.get("content") or []
    if len(content) != 1 or content[0].keys() != {"text"}:
        return None
    extra = CITED.extra(body)
    return Text(content[0]["text"], extras=make_extras(service.owner, extra and {"citationsContent": extra}))


def _lift_reasoning(body: Native, _: LiftContext, service: ConverseService) -> Part | None:
    """Returns reasoning with its signature, or redacted reasoning."""
    kind = kind_of(body)
    if kind == "redactedContent" and (data := service.lift_bytes(body[kind])):
        return Reasoning("", metadata={"redactedData": data})
    if kind != "reasoningText":
        return None
    signature = body[kind].get("signature")
    metadata = {"signature": signature} if signature else None
    extra = REASONING_TEXT.extra(body[kind])
    return Reasoning(body[kind]["text"], metadata=metadata, extras=make_extras(service.owner, extra))


def _lift_call(body: Native, context: LiftContext, service: ConverseService) -> Part | None:
    """Returns a call; None for a call that the service answers itself."""
    if body.get("type") == "server_tool_use":
        return None
    return TOOL_USE.lift(body, context)


def lift_result(native: Native, context: LiftContext, service: ConverseService) -> ToolResult:
    """Returns a tool result, with the name of the call that it answers."""
    body = native["toolResult"]
    kind, value = _lift_value(body["content"], context, service)
    id_, name = context.pairing.result(body["toolUseId"], None)
    extras = make_extras(service.owner, TOOL_RESULT.extra(body))
    result = ToolResult(id_, name, kind, value, extras=extras)  # type: ignore[arg-type]
    if body.get("status") == "error":
        fail(result)
    return result


def _lift_value(content: list[Native], context: LiftContext, service: ConverseService) -> tuple[str, Any]:
    if not content:
        return "text", ""
    kind = kind_of(content[0])
    if len(content) == 1 and kind in ("text", "json"):
        return "text" if kind == "text" else "data", content[0][kind]
    return "multimodal", [_lift_inner(block, context, service) for block in content]


def _lift_inner(native: Native, context: LiftContext, service: ConverseService) -> Part:
    """Returns a part of a result. Anything but text and media becomes JSON text, with the block kept as an extra."""
    part = lift_block(native, context, service) if kind_of(native) in INNER else None
    if isinstance(part, (Text, Media)):
        return part
    return Text(_json_text_of(native), extras={service.owner: {"block": native}})


def _json_text_of(native: Native) -> str:
    kind = kind_of(native)
    return exact_json.write_text(native[kind] if kind else native)


def _lift_media(kind: MediaKind, body: Native, _: LiftContext, service: ConverseService) -> Part | None:
    return lift_media(kind, body, service)


READERS: Mapping[str, Callable[[Any, LiftContext, ConverseService], Part | None]] = {
    "text": lambda body, _, __: Text(body),
    **{kind: partial(_lift_media, kind) for kind in MEDIA},
    "toolUse": _lift_call,
    "reasoningContent": _lift_reasoning,
    "citationsContent": _lift_cited,
}
INNER = ("text", "image", "document", "video")
"""The kinds of block that are parts of a result value."""


# ---------------------------------------------------------------- write


def write_blocks(parts: list[Part], service: ConverseService) -> list[Native]:
    """Returns the blocks of parts, each followed by its cache point."""
    blocks: list[Native] = []
    for part in parts:
        native = WRITERS[part.__class__](part, service) if part.__class__ in WRITERS else None
        blocks += [] if native is None else [native, *cache_after(part, service.owner)]
    return blocks


def _write_text(part: Text, service: ConverseService) -> Native:
    extra = get_extras(part.extras, service.owner)
    if "citationsContent" in extra:
        return {"citationsContent": CITED.put({"content": [{"text": part.text}]}, extra["citationsContent"])}
    return {"text": part.text}


def _write_reasoning(part: Reasoning, service: ConverseService) -> Native:
    metadata = part.metadata or {}
    if "redactedData" in metadata:
        return {"reasoningContent": {"redactedContent": service.write_bytes(metadata["redactedData"])}}
    signed = {"signature": metadata["signature"]} if "signature" in metadata else {}
    stated = REASONING_TEXT.put({"text": part.text, **signed}, other_keys(part, service.owner))
    return {"reasoningContent": {"reasoningText": stated}}


def _write_media(media: Media, service: ConverseService) -> Native | None:
    body = write_media(media, service)
    return None if body is None else {media.type: body}


def _write_call(call: ToolCall, service: ConverseService) -> Native:
    return {"toolUse": TOOL_USE.write(drop_extras(call, service.owner, "cachePoint"), service.owner)}


def _write_result(result: ToolResult, service: ConverseService) -> Native:
    status = "error" if has_failed(result) else service.success
    native = {"toolUseId": result.tool_call_id, "content": _write_value(result, service), "status": status}
    return {"toolResult": TOOL_RESULT.put(without_nulls(native), other_keys(result, service.owner))}


def _write_value(result: ToolResult, service: ConverseService) -> list[Native]:
    if result.kind == "multimodal":
        blocks = [_write_inner(part, service) for part in result.value]
        return [block for block in blocks if block is not None]
    if result.kind == "data":
        return [{"json": result.value}]
    return [{"text": result.value}] if result.value else []


def _write_inner(part: Text | Media, service: ConverseService) -> Native | None:
    if isinstance(part, Media):
        return _write_media(part, service)
    block: Any = get_extras(part.extras, service.owner).get("block")
    return block if block is not None and _json_text_of(block) == part.text else _write_text(part, service)


def _write_opaque(part: Opaque, service: ConverseService) -> Native | None:
    value: Native = part.value
    return value if part.dialect == service.owner else None


WRITERS: Mapping[type, Callable[[Any, ConverseService], Native | None]] = {
    Text: _write_text,
    Reasoning: _write_reasoning,
    Media: _write_media,
    ToolCall: _write_call,
    ToolResult: _write_result,
    Opaque: _write_opaque,
}
