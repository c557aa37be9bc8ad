"""The content blocks of the Model Context Protocol, and tool results made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from convcli.kit.blocks import as_json_text, of_json_text
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.kit.results import fail, in_words, only_own, with_parts
from convcli.kit.texts import only_text
from convcli.kit.values import kind_of_type, type_of_image
from convcli.model.errors import ContentError
from convcli.model.transcript import Media, Opaque, Part, Text, ToolCall, ToolResult
from convcli.wire import exact_json

NAME = "mcp"

NOT_BLOCK_KEYS = "resource block"
"""Extras that are not keys of the block itself."""
TEXT = Keys("type= text= annotations _meta", groups=NOT_BLOCK_KEYS)
MEDIA = Keys("type= data= mimeType= annotations _meta", groups=NOT_BLOCK_KEYS)
LINK = Keys("type= uri= name= title description mimeType= size icons annotations _meta", groups=NOT_BLOCK_KEYS)
RESOURCE = Keys("type= resource= annotations _meta", groups=NOT_BLOCK_KEYS)
CONTENTS = Keys("uri= mimeType= text= blob= _meta")
TOOL_USE = CallTable("type= id=id name=name input=arguments _meta", form="object", constants={"type": "tool_use"})
TOOL_RESULT = Keys("type= toolUseId= content= structuredContent= isError= _meta")
CALL_RESULT = Keys("resultType content= structuredContent= isError= _meta")


# ---------------------------------------------------------------- lift


def lift_block(native: Native, context: LiftContext) -> Part:
    """Returns the part of a block; an unknown type is opaque."""
    lift = LIFT.get(native["type"])
    part = lift(native, context) if lift is not None else None
    return Opaque(NAME, native) if part is None else part


def _lift_text(native: Native, _: LiftContext) -> Part:
    return Text(native["text"], extras=make_extras(NAME, TEXT.extra(native)))


def _lift_media(native: Native, _: LiftContext) -> Part:
    extras = make_extras(NAME, MEDIA.extra(native))
    return Media(native["type"], data=native["data"], media_type=native["mimeType"] or None, extras=extras)


def _lift_link(native: Native, _: LiftContext) -> Part:
    """Lifts a resource link."""
    media_type, name = native.get("mimeType") or None, native["name"] or None
    extras = make_extras(NAME, LINK.extra(native))
    return Media(kind_of_type(media_type), url=native["uri"], media_type=media_type, name=name, extras=extras)


def _lift_resource(native: Native, _: LiftContext) -> Part | None:
    """Lifts an embedded resource: text or data, and its URI."""
    inner = native["resource"]
    sources = [key for key in ("text", "blob") if inner.get(key) is not None]
    if len(sources) != 1:
        return None
    media_type = inner.get("mimeType") or None
    resource = {"uri": inner["uri"], **(CONTENTS.extra(inner) or {})}
    extras = make_extras(NAME, {**(RESOURCE.extra(native) or {}), "resource": resource})
    source = {"data" if sources == ["blob"] else "text": inner[sources[0]]}
    return Media(kind_of_type(media_type), **source, media_type=media_type, extras=extras)


LIFT: Mapping[str, Callable[[Native, LiftContext], Part | None]] = {
    "text": _lift_text,
    "image": _lift_media,
    "audio": _lift_media,
    "resource_link": _lift_link,
    "resource": _lift_resource,
    "tool_use": TOOL_USE.lift,
}


def lift_result(native: Native, keys: Keys, context: LiftContext) -> ToolResult:
    """Lifts a result inside a message, or a server's whole response, which does not name its call."""
    kind, value = _lift_value(native, context)
    extra = dict(keys.extra(native) or {})
    if kind != "data" and native.get("structuredContent") is not None:
        extra["structuredContent"] = native["structuredContent"]
    id_, name = context.pairing.result(native.get("toolUseId"), None)
    result = ToolResult(id_, name, kind, value, extras=make_extras(NAME, extra))  # type: ignore[arg-type]
    if native.get("isError"):
        fail(result)
    return result


def _lift_value(native: Native, context: LiftContext) -> tuple[str, Any]:
    """Returns kind and value. Structured content is the value if the content only repeats it."""
    structured = native.get("structuredContent")
    parts = [_lift_piece(block, context) for block in native.get("content") or ()]
    text = only_text(parts)
    if structured is not None and (not parts or (text is not None and _is_json_of(text, structured))):
        return "data", structured
    return ("multimodal", parts) if text is None and parts else ("text", text or "")


def _lift_piece(native: Native, context: LiftContext) -> Part:
    """Lifts a block of a result. If it is neither text nor media, it becomes JSON text, with the block as an extra."""
    part = lift_block(native, context) if native["type"] != "tool_use" else None
    return part if isinstance(part, (Text, Media)) else as_json_text(native, NAME)


def _is_json_of(text: str, value: Any) -> bool:
    """True if the text is the JSON of the value, as servers write it for clients without structured content."""
    try:
        return exact_json.exact(exact_json.parse(text), value)
    except ContentError:
        return False


# ---------------------------------------------------------------- fit


def fit_media(media: Media, *, in_result: bool) -> Media | None:
    """Returns the media as MCP can store it, or None.

    Images and audio need data of a known type. Anything else becomes a link or a resource, which only results can have.
    """
    embedded = "resource" in get_extras(media.extras, NAME)
    if media.data is not None and media.type in ("image", "audio") and not embedded:
        media_type = media.media_type or type_of_image(media.data)
        if media_type:
            return media if media_type == media.media_type else replace(media, media_type=media_type)
    if not in_result or (media.data is None and media.text is None and media.url is None):
        return None
    kind = kind_of_type(media.media_type)
    if media.data is None and media.text is None and media.url is not None:
        name = media.name or media.url.rstrip("/").rpartition("/")[2] or media.url
        same = name == media.name and kind == media.type
        return media if same else replace(media, type=kind, name=name)
    if embedded and kind == media.type:
        return media
    extra = {"resource": {"uri": _address(media.name or media.type)}, **get_extras(media.extras, NAME)}
    return replace(media, type=kind, extras={**(media.extras or {}), NAME: extra})


def fit_result(result: ToolResult) -> ToolResult:
    """Returns a result without unsupported media, and as `express` says it is read back."""
    result = with_parts(result, _fit_piece)
    read_back = express(result)
    if read_back is None:
        return result
    kind: Any = read_back[0]
    return replace(result, kind=kind, value=read_back[1], is_error=None)


def _fit_piece(part: Part) -> Part | None:
    """Returns a part of a result without unsupported fields: other dialects' extras, and names except for links."""
    piece = fit_media(part, in_result=True) if isinstance(part, Media) else part
    if not isinstance(piece, Media):
        return None if piece is None else only_own(piece, NAME)
    return only_own(piece, NAME, name=piece.name if piece.url is not None else None, detail=None)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns kind and value of a result as `lift` reads it back; None if unchanged."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data":
        return None if _is_structured(result) else (kind, exact_json.write_text(result.value))
    if result.kind != "multimodal":
        return None
    text = only_text(result.value) if result.value else ""
    return None if text is None else (kind, text)


def _is_structured(result: ToolResult) -> bool:
    """True if data can be structured content: an object, or anything in the newer version, which has `resultType`."""
    return isinstance(result.value, dict) or "resultType" in get_extras(result.extras, NAME)


def _address(name: str) -> str:
    from urllib.parse import quote  # imported late: slow to import, and rarely needed

    return f"attachment:{quote(name, safe='', errors='surrogatepass')}"


# ---------------------------------------------------------------- write


def write_block(part: Part) -> Native | None:
    """Returns one block; None for an unsupported part."""
    if isinstance(part, Text):
        return TEXT.put({"type": "text", "text": part.text}, _block_extras(part))
    if isinstance(part, Media):
        return _write_media(part)
    if isinstance(part, ToolCall):
        return TOOL_USE.write(part, NAME)
    if isinstance(part, ToolResult):
        return write_result(part, {"type": "tool_result", "toolUseId": part.tool_call_id}, TOOL_RESULT)
    return part.value if isinstance(part, Opaque) else None


def _write_media(media: Media) -> Native | None:
    resource = get_extras(media.extras, NAME).get("resource")
    if media.data is not None and media.type in ("image", "audio") and resource is None:
        return MEDIA.put(
            {"type": media.type, "data": media.data, "mimeType": media.media_type or ""}, _block_extras(media)
        )
    if media.url is not None:
        link = {"type": "resource_link", "uri": media.url, "name": media.name or "", **_media_type(media)}
        return LINK.put(link, _block_extras(media), sort=True)
    if media.data is None and media.text is None:
        return None
    source = {"text": media.text} if media.data is None else {"blob": media.data}
    contents = CONTENTS.put({"uri": "", **_media_type(media), **source}, resource)
    return RESOURCE.put({"type": "resource", "resource": contents}, _block_extras(media))


def _media_type(media: Media) -> Native:
    return {} if media.media_type is None else {"mimeType": media.media_type}


def write_result(result: ToolResult, native: Native, keys: Keys) -> Native:
    """Returns `native` with the result. Data is written twice, once as text for older clients."""
    native = {**native, "content": _write_content(result)}
    if result.kind == "data":
        native["structuredContent"] = result.value
    if result.kind == "error" or result.is_error:
        native["isError"] = True
    return keys.put(native, _block_extras(result))


def _write_content(result: ToolResult) -> list[Native]:
    if result.kind == "multimodal":
        blocks = [of_json_text(part, NAME) or write_block(part) for part in result.value]
        return [block for block in blocks if block is not None]
    return [{"type": "text", "text": in_words(result)}]


def _block_extras(part: Part) -> Native:
    """Returns the extras that are keys of the block itself."""
    extra = get_extras(part.extras, NAME)
    if isinstance(part, (ToolCall, ToolResult)):
        return extra
    return omit(extra, *NOT_BLOCK_KEYS.split())
