"""The content blocks of Amazon Bedrock's Converse API: objects with one member, whose name states the kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from convcli.dialects.bedrock_converse.media import MEDIA, NAME, kind_of, lift_media, other_keys, write_media
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, without_nulls
from convcli.kit.results import fail, has_failed
from convcli.model.transcript import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolDefinition, ToolResult
from convcli.wire import exact_json

TOOL_USE = Keys("toolUseId name input type", extra="type")
TOOL_RESULT = Keys("toolUseId content status type", extra="type")
REASONING_TEXT = Keys("text signature")
CITED = Keys("content citations", extra="citations")


def is_cache_point(native: Native) -> bool:
    return native.keys() == {"cachePoint"} and native["cachePoint"] is not None


def mark_cache(record: Part | ToolDefinition | None, native: Native) -> bool:
    """Keeps a cache point in the extras of the block or tool before it.

    Returns False if there is none, or if it already has a cache point.
    """
    if record is None or not is_cache_point(native):
        return False
    extra = get_extras(record.extras, NAME)
    if "cachePoint" in extra:
        return False
    record.extras = {**(record.extras or {}), NAME: {**extra, "cachePoint": native["cachePoint"]}}
    return True


def cache_after(record: Part | ToolDefinition) -> list[Native]:
    """Returns the cache point that follows a block or a tool."""
    point = get_extras(record.extras, NAME).get("cachePoint")
    return [] if point is None else [{"cachePoint": point}]


# ---------------------------------------------------------------- lift


def lift_block(native: Native, context: LiftContext) -> Part:
    """Returns the part of a block; a block of an unknown kind, or with several members, is opaque."""
    kind = kind_of(native)
    known = kind in READERS and (kind == "text" or "cachePoint" not in native[kind])  # a cache point follows its block
    return (READERS[kind](native[kind], context) if known else None) or Opaque(NAME, native)


def _lift_cited(body: Native, _: LiftContext) -> Part | None:
    """Returns an answer with its sources as text if it is a single text."""
    content = body.get("content") or []
    if len(content) != 1 or content[0].keys() != {"text"}:
        return None
    extra = CITED.extra(body)
    return Text(content[0]["text"], extras=make_extras(NAME, extra and {"citationsContent": extra}))


def _lift_reasoning(body: Native, _: LiftContext) -> Part | None:
    """Returns reasoning with its signature, or redacted reasoning."""
    kind = kind_of(body)
    if kind == "redactedContent" and body[kind]:
        return Reasoning("", metadata={"redactedData": body[kind]})
    if kind != "reasoningText":
        return None
    signature = body[kind].get("signature")
    metadata = {"signature": signature} if signature else None
    return Reasoning(body[kind]["text"], metadata=metadata, extras=make_extras(NAME, REASONING_TEXT.extra(body[kind])))


def _lift_call(body: Native, context: LiftContext) -> Part | None:
    """Returns a call; None for a call that the service answers itself."""
    if body.get("type") == "server_tool_use":
        return None
    id_ = context.pairing.call(body["toolUseId"], body["name"])
    return ToolCall(id_, body["name"], body["input"], extras=make_extras(NAME, TOOL_USE.extra(body)))


def lift_result(native: Native, context: LiftContext) -> ToolResult:
    """Returns a tool result, with the name of the call that it answers."""
    body = native["toolResult"]
    kind, value = _lift_value(body["content"], context)
    id_, name = context.pairing.result(body["toolUseId"], None)
    result = ToolResult(id_, name, kind, value, extras=make_extras(NAME, TOOL_RESULT.extra(body)))  # type: ignore[arg-type]
    if body.get("status") == "error":
        fail(result)
    return result


def _lift_value(content: list[Native], context: LiftContext) -> tuple[str, Any]:
    if not content:
        return "text", ""
    kind = kind_of(content[0])
    if len(content) == 1 and kind in ("text", "json"):
        return "text" if kind == "text" else "data", content[0][kind]
    return "multimodal", [_lift_inner(block, context) for block in content]


def _lift_inner(native: Native, context: LiftContext) -> Part:
    """Returns a part of a result. Anything but text and media becomes JSON text, with the block kept as an extra."""
    part = lift_block(native, context) if kind_of(native) in INNER else None
    if isinstance(part, (Text, Media)):
        return part
    return Text(_json_text_of(native), extras={NAME: {"block": native}})


def _json_text_of(native: Native) -> str:
    kind = kind_of(native)
    return exact_json.write_text(native[kind] if kind else native)


READERS: Mapping[str, Callable[[Any, LiftContext], Part | None]] = {
    "text": lambda body, _: Text(body),
    **{kind: partial(lift_media, kind) for kind in MEDIA},
    "toolUse": _lift_call,
    "reasoningContent": _lift_reasoning,
    "citationsContent": _lift_cited,
}
INNER = ("text", "image", "document", "video")
"""The kinds of block that are parts of a result value."""


# ---------------------------------------------------------------- write


def write_blocks(parts: list[Part]) -> list[Native]:
    """Returns the blocks of parts, each followed by its cache point."""
    blocks: list[Native] = []
    for part in parts:
        native = WRITERS[part.__class__](part) if part.__class__ in WRITERS else None
        blocks += [] if native is None else [native, *cache_after(part)]
    return blocks


def _write_text(part: Text) -> Native:
    extra = get_extras(part.extras, NAME)
    if "citationsContent" in extra:
        return {"citationsContent": CITED.put({"content": [{"text": part.text}]}, extra["citationsContent"])}
    return {"text": part.text}


def _write_reasoning(part: Reasoning) -> Native:
    metadata = part.metadata or {}
    if "redactedData" in metadata:
        return {"reasoningContent": {"redactedContent": metadata["redactedData"]}}
    signed = {"signature": metadata["signature"]} if "signature" in metadata else {}
    return {"reasoningContent": {"reasoningText": REASONING_TEXT.put({"text": part.text, **signed}, other_keys(part))}}


def _write_media(media: Media) -> Native | None:
    body = write_media(media)
    return None if body is None else {media.type: body}


def _write_call(call: ToolCall) -> Native:
    return {
        "toolUse": TOOL_USE.put({"toolUseId": call.id, "name": call.name, "input": call.arguments}, other_keys(call))
    }


def _write_result(result: ToolResult) -> Native:
    status = "error" if has_failed(result) else None
    native = {"toolUseId": result.tool_call_id, "content": _write_value(result), "status": status}
    return {"toolResult": TOOL_RESULT.put(without_nulls(native), other_keys(result))}


def _write_value(result: ToolResult) -> list[Native]:
    if result.kind == "multimodal":
        blocks = [_write_inner(part) for part in result.value]
        return [block for block in blocks if block is not None]
    if result.kind == "data":
        return [{"json": result.value}]
    return [{"text": result.value}] if result.value else []


def _write_inner(part: Text | Media) -> Native | None:
    if isinstance(part, Media):
        return _write_media(part)
    block: Any = get_extras(part.extras, NAME).get("block")
    return block if block is not None and _json_text_of(block) == part.text else _write_text(part)


def _write_opaque(part: Opaque) -> Native | None:
    value: Native = part.value
    return value if part.dialect == NAME else None


WRITERS: Mapping[type, Callable[[Any], Native | None]] = {
    Text: _write_text,
    Reasoning: _write_reasoning,
    Media: _write_media,
    ToolCall: _write_call,
    ToolResult: _write_result,
    Opaque: _write_opaque,
}
