"""The content blocks of the Model Context Protocol, and the results of tools that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.errors import ContentError
from convcli.model.transcript import Media, Opaque, Origin, Part, Refusal, Text, ToolCall, ToolResult
from convcli.wire import exact_json

NAME = "mcp"

TEXT = Keys("type text annotations _meta", carried="annotations _meta")
MEDIA = Keys("type data mimeType annotations _meta", carried="annotations _meta")
LINK = Keys(
    "type uri name title description mimeType size icons annotations _meta",
    carried="title description size icons annotations _meta",
)
RESOURCE = Keys("type resource annotations _meta", carried="annotations _meta")
CONTENTS = Keys("uri mimeType text blob _meta", carried="_meta")
TOOL_USE = Keys("type id name input _meta", carried="_meta")
TOOL_RESULT = Keys("type toolUseId content structuredContent isError _meta", carried="_meta")
CALL_RESULT = Keys("resultType content structuredContent isError _meta", carried="resultType _meta")

INSIDE = frozenset(("resource", "block"))
"""Members of extras that do not stand in the block itself."""

MAGIC = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGRg": "image/webp",
}
"""How the base64 of a picture begins."""

Kind = Literal["image", "audio", "video", "document"]


def kind_of_type(media_type: str | None) -> Kind:
    """What media are, by their type: a document where that does not say it."""
    head = (media_type or "").partition("/")[0]
    return head if head in ("image", "audio", "video") else "document"  # type: ignore[return-value]


# ---------------------------------------------------------------- lift


class BlockReader:
    """Reads blocks into parts; spellings go to `origin`."""

    __slots__ = ("origin", "pairing")

    def __init__(self, origin: Origin, pairing: Pairing) -> None:
        self.origin, self.pairing = origin, pairing

    def part(self, native: Native) -> Part:
        """The part that a block is; one of an unknown kind is opaque."""
        lift = LIFT.get(native["type"])
        strange = not INSIDE.isdisjoint(native) and native["type"] not in ("resource", "tool_use")
        part = lift(self, native) if lift is not None and not strange else None
        return Opaque(NAME, native) if part is None else part

    def text(self, native: Native) -> Part:
        carried, spelling = TEXT.take(native)
        return self._spelled(Text(native["text"], extras=extras_of(NAME, carried)), spelling)

    def media(self, native: Native) -> Part:
        carried, spelling = MEDIA.take(native)
        media_type = native["mimeType"] or None
        media = Media(native["type"], data=native["data"], media_type=media_type, extras=extras_of(NAME, carried))
        return self._spelled(media, spelling)

    def link(self, native: Native) -> Part:
        """Something that can be read at an address."""
        carried, spelling = LINK.take(native)
        media_type, name = native.get("mimeType") or None, native["name"] or None
        extras = extras_of(NAME, carried)
        media = Media(kind_of_type(media_type), url=native["uri"], media_type=media_type, name=name, extras=extras)
        return self._spelled(media, spelling)

    def resource(self, native: Native) -> Part | None:
        """Something that a server read for the model: text or bytes, and the address where it is."""
        inner = native["resource"]
        given = [key for key in ("text", "blob") if inner.get(key) is not None]
        if len(given) != 1:
            return None
        carried, spelling = RESOURCE.take(native)
        rest, inner_spelling = CONTENTS.take(inner)
        media_type = inner.get("mimeType") or None
        extras = {**(carried or {}), "resource": {"uri": inner["uri"], **(rest or {})}}
        source = {"data" if given == ["blob"] else "text": inner[given[0]]}
        media = Media(kind_of_type(media_type), **source, media_type=media_type, extras=extras_of(NAME, extras))
        return self._spelled(media, {**(spelling or {}), **({"resource": inner_spelling} if inner_spelling else {})})

    def call(self, native: Native) -> Part:
        carried, spelling = TOOL_USE.take(native)
        id_ = self.pairing.call(native["id"], native["name"])
        call = ToolCall(id_, native["name"], native["input"], extras=extras_of(NAME, carried))
        return self._spelled(call, spelling)

    def result(self, native: Native, keys: Keys) -> ToolResult:
        """A result inside a message, or the whole answer of a server, which does not say which call it answers."""
        carried, spelling = keys.take(native)
        odd: Spelling = dict(spelling or {}) if "content" in native else {"keys": list(native), **(spelling or {})}
        kind, value = self._value(native, odd)
        extras = dict(carried or {})
        if kind != "data" and native.get("structuredContent") is not None:
            extras["structuredContent"] = native["structuredContent"]
        id_, name = self.pairing.result(native.get("toolUseId"), None)
        result = ToolResult(id_, name, kind, value, extras=extras_of(NAME, extras))  # type: ignore[arg-type]
        if native.get("isError") is False:
            odd["isError"] = False
        elif native.get("isError") and kind == "text":
            result.kind = "error"
        elif native.get("isError"):
            result.is_error = True
        self.origin.spell(result, odd)
        return result

    def _value(self, native: Native, odd: Spelling) -> tuple[str, Any]:
        """Kind and value. Structured content is the value where nothing beside it says more."""
        structured = native.get("structuredContent")
        parts = [self._inner(block) for block in native.get("content") or ()]
        single = parts[0] if len(parts) == 1 and isinstance(parts[0], Text) else None
        bare = single is not None and single.extras is None
        if structured is not None and not parts:
            odd["text"] = False
            return "data", structured
        if single is None or not bare:
            return ("multimodal", parts) if parts else ("text", "")
        if id(single) in self.origin.spellings:
            odd["block"] = self.origin.spellings[id(single)]
        if structured is not None and _says(single.text, structured):
            odd |= {"text": single.text} if single.text != exact_json.write_text(structured) else {}
            return "data", structured
        return "text", single.text

    def _inner(self, native: Native) -> Part:
        """A piece of a result. What is no text and no media is there as JSON, with the block itself beside it."""
        part = self.part(native) if native["type"] != "tool_use" else None
        if isinstance(part, (Text, Media)):
            return part
        return Text(exact_json.write_text(native), extras={NAME: {"block": native}})

    def _spelled(self, part: Part, spelling: Spelling | None) -> Part:
        self.origin.spell(part, spelling or {})
        return part


LIFT: Mapping[str, Callable[[BlockReader, Native], Part | None]] = {
    "text": BlockReader.text,
    "image": BlockReader.media,
    "audio": BlockReader.media,
    "resource_link": BlockReader.link,
    "resource": BlockReader.resource,
    "tool_use": BlockReader.call,
}


def _says(text: str, value: Any) -> bool:
    """Is the text the JSON of the value, as servers write it for clients that do not know structured content?"""
    try:
        return exact_json.exact(exact_json.parse(text), value)
    except ContentError:
        return False


# ---------------------------------------------------------------- lower


class BlockWriter:
    """Writes parts as blocks: exactly as they were when `own`, else only what the protocol has."""

    __slots__ = ("own", "spellings")

    def __init__(self, spellings: Mapping[int, Spelling], *, own: bool) -> None:
        self.spellings, self.own = spellings, own

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}

    def block(self, part: Part, *, in_result: bool = False) -> Native | None:
        """One block; None where the protocol cannot say it here."""
        if isinstance(part, (Text, Refusal)):
            return TEXT.put({"type": "text", "text": part.text}, beside(part), self.spelling(part))
        if isinstance(part, Media):
            return self._media(part, in_result or self.own)
        if isinstance(part, ToolCall):
            called: Native = {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
            return TOOL_USE.put(called, beside(part), self.spelling(part))
        if isinstance(part, ToolResult):
            return self.result(part, {"type": "tool_result", "toolUseId": part.tool_call_id}, TOOL_RESULT)
        if isinstance(part, Opaque) and part.dialect == NAME and (self.own or _is_unknown(part.value)):
            whole: Native = part.value
            return whole
        return None

    def _media(self, media: Media, resources: bool) -> Native | None:
        """Pictures and sound by their bytes; links and resources, which only a result may hold, for all else."""
        spelling = self.spelling(media)
        embedded = "resource" in carried_by(media.extras, NAME)
        media_type = media.media_type or ("" if self.own else _sniffed(media.data))
        if media.data is not None and media.type in ("image", "audio") and not embedded and (media_type or self.own):
            native: Native = {"type": media.type, "data": media.data, "mimeType": media_type}
            return MEDIA.put(native, beside(media), spelling)
        if not resources:
            return None
        if media.data is not None or media.text is not None:
            return self._resource(media, spelling)
        if media.url is None:
            return None
        name = media.name or ("" if self.own else media.url.rstrip("/").rpartition("/")[2] or media.url)
        native = {"type": "resource_link", "uri": media.url, "name": name}
        if media.media_type is not None:
            native["mimeType"] = media.media_type
        return LINK.put({key: native[key] for key in LINK.sorted(native)}, beside(media), spelling)

    def _resource(self, media: Media, spelling: Spelling) -> Native:
        """A resource needs an address: one that is only a name is made up where the source has none."""
        carried = dict(carried_by(media.extras, NAME).get("resource", {}))
        native: Native = {"uri": carried.pop("uri") if "uri" in carried else _address(media.name or media.type)}
        if media.media_type is not None:
            native["mimeType"] = media.media_type
        native |= {"text": media.text} if media.data is None else {"blob": media.data}
        inner = CONTENTS.put(native, carried, spelling.get("resource"))
        return RESOURCE.put({"type": "resource", "resource": inner}, beside(media), spelling)

    def result(self, result: ToolResult, native: Native, keys: Keys) -> Native:
        """A result: `native` with what it says."""
        spelling = self.spelling(result)
        native = {**native, "content": self._content(result, spelling)}
        if _is_structured(result, self.own):
            native["structuredContent"] = result.value
        if result.kind == "error" or result.is_error:
            native["isError"] = True
        elif "isError" in spelling:
            native["isError"] = False
        return keys.put(native, beside(result), spelling)

    def _content(self, result: ToolResult, spelling: Spelling) -> list[Native]:
        if result.kind == "multimodal":
            blocks = [
                carried_by(part.extras, NAME).get("block", self.block(part, in_result=True)) for part in result.value
            ]
            return [block for block in blocks if block is not None]
        written = spelling.get("text")
        if written is False and result.kind == "data":
            return []
        if written is not None and _says(written, result.value):
            text = written
        else:
            text = exact_json.write_text(result.value) if result.kind == "data" else str(result.value)
        if not text and ("content" in spelling.get("blank", {}) or "content" not in spelling.get("keys", ("content",))):
            return []
        return [TEXT.put({"type": "text", "text": text}, None, spelling.get("block"))]


def beside(part: Part) -> Native:
    """The carried keys that stand in the block itself."""
    carried = carried_by(part.extras, NAME)
    if isinstance(part, (ToolCall, ToolResult)):
        return carried
    return {key: value for key, value in carried.items() if key not in INSIDE}


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the protocol has no field of its own."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data" and not _is_structured(result, own=False):
        return kind, exact_json.write_text(result.value)
    if result.kind != "multimodal" or len(result.value) > 1:
        return None
    if not result.value:
        return kind, ""
    part = result.value[0]
    return (kind, part.text) if isinstance(part, Text) and part.extras is None and part.metadata is None else None


def _is_structured(result: ToolResult, own: bool) -> bool:
    """Only objects are structured content in both versions of the protocol."""
    return result.kind == "data" and (own or isinstance(result.value, dict))


def _sniffed(data: str | None) -> str:
    return next((media_type for head, media_type in MAGIC.items() if (data or "").startswith(head)), "")


def _is_unknown(value: Any) -> bool:
    """A block that is read back as opaque."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind not in LIFT and kind != "tool_result"


def _address(name: str) -> str:
    from urllib.parse import quote  # dear, and rarely needed

    return f"attachment:{quote(name, safe='', errors='surrogatepass')}"
