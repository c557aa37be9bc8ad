"""The content blocks of Anthropic's Messages API, shared by every dialect whose messages are made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.transcript import Media, Opaque, Origin, Part, Reasoning, Refusal, Text, ToolCall, ToolResult
from convcli.wire import exact_json

PLAIN_TEXT = ("type", "text")
PLAIN_CALL = ("type", "id", "name", "input")
PLAIN_RESULT = ("type", "tool_use_id", "content")
"""The keys of nearly all blocks; where each has a value there is nothing to carry or to remember."""

TEXT = Keys("type text citations cache_control", carried="citations cache_control")
THINKING = Keys("type thinking signature")
REDACTED = Keys("type data")
TOOL_USE = Keys("type id name input caller toolset_name cache_control", carried="caller toolset_name cache_control")
TOOL_RESULT = Keys("type tool_use_id content is_error toolset_name cache_control", carried="toolset_name cache_control")
MEDIA = {
    "image": Keys("type source transformations cache_control", carried="transformations cache_control"),
    "document": Keys("type source title context citations cache_control", carried="context citations cache_control"),
}
SOURCE = {
    "base64": Keys("type media_type data"),
    "text": Keys("type media_type data"),
    "url": Keys("type url"),
    "file": Keys("type file_id"),
    "content": Keys("type content"),
}
SOURCES = {"image": ("base64", "url", "file"), "document": tuple(SOURCE)}
"""The kinds of source that an image and a document can have."""

MEDIA_TYPES = {
    "image": ("image/png", "image/jpeg", "image/gif", "image/webp"),
    "document": ("application/pdf",),
}
"""What the API takes as base64."""

WEB = ("https://", "http://")
"""How the URL of what the API fetches begins."""

MAGIC = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi": "application/pdf",
}
"""How the base64 of each of these types begins."""

FAILED = "error"
"""The words of a failed result that has none: the API does not take it without content."""


P = TypeVar("P", bound=Part)


# ---------------------------------------------------------------- lift


class BlockReader:
    """Reads blocks into parts. What has no field rides in extras of `dialect`; spellings go to `origin`."""

    __slots__ = ("dialect", "origin", "pairing")

    def __init__(self, dialect: str, origin: Origin, pairing: Pairing) -> None:
        self.dialect, self.origin, self.pairing = dialect, origin, pairing

    def part(self, native: Native) -> Part:
        """The part that a block is; one of an unknown kind, or a tool result, is opaque."""
        lift = LIFT.get(native["type"])
        return (lift(self, native) if lift is not None else None) or Opaque(self.dialect, native)

    def text(self, native: Native) -> Text:
        if tuple(native) == PLAIN_TEXT and native["text"]:
            return Text(native["text"])
        carried, spelling = TEXT.take(native)
        return self._spelled(Text(native["text"], extras=extras_of(self.dialect, carried)), spelling)

    def thinking(self, native: Native) -> Reasoning:
        carried, spelling = THINKING.take(native)
        signature = native.get("signature")
        metadata = {"signature": signature} if signature else None
        part = Reasoning(native["thinking"], metadata=metadata, extras=extras_of(self.dialect, carried))
        return self._spelled(part, spelling)

    def redacted(self, native: Native) -> Reasoning:
        carried, spelling = REDACTED.take(native)
        metadata = {"redactedData": native["data"]} if native["data"] else None
        part = Reasoning("", metadata=metadata, extras=extras_of(self.dialect, carried))
        return self._spelled(part, spelling if metadata else {**(spelling or {}), "redacted": True})

    def media(self, native: Native) -> Media | None:
        """An image or document; None where its source is of a kind that it cannot have."""
        kind, source = native["type"], native["source"]
        form = source["type"]
        if form not in SOURCES[kind]:
            return None
        if form == "content":
            media, rest, odd = Media(kind, text=_text_of(source["content"])), source, None
            if media.text is None:
                return None
        else:
            media = Media(kind, media_type=source.get("media_type") or None)
            setattr(media, FIELD[form], source[VALUE[form]])
            rest, odd = SOURCE[form].take(source)
        carried, spelling = MEDIA[kind].take(native)
        media.extras = extras_of(self.dialect, {**(carried or {}), **({"source": rest} if rest else {})})
        if kind == "document":
            media.name = native.get("title") or None
        return self._spelled(media, {**(spelling or {}), **({"source": odd} if odd else {})})

    def call(self, native: Native) -> ToolCall:
        name = native["name"]
        if tuple(native) == PLAIN_CALL and native["id"] and name and native["input"]:
            return ToolCall(self.pairing.call(native["id"], name), name, native["input"])
        carried, spelling = TOOL_USE.take(native)
        id_ = self.pairing.call(native["id"], name)
        return self._spelled(ToolCall(id_, name, native["input"], extras=extras_of(self.dialect, carried)), spelling)

    def result(self, native: Native) -> ToolResult:
        """A tool result, with the name of the call that it answers."""
        if tuple(native) == PLAIN_RESULT and native["content"].__class__ is str and all(native.values()):
            id_, name = self.pairing.result(native["tool_use_id"], None)
            return ToolResult(id_, name, "text", native["content"])
        carried, spelling = TOOL_RESULT.take(native)
        odd: Spelling = dict(spelling or {}) if "content" in native else {"keys": list(native), **(spelling or {})}
        kind, value = self._value(native.get("content"), odd)
        if isinstance(value, list) and len(value) < len(native["content"]):
            carried = {**(carried or {}), "content": native["content"]}
        failed = native.get("is_error")
        if failed is False:
            odd["is_error"] = False
        id_, name = self.pairing.result(native["tool_use_id"], None)
        result = ToolResult(id_, name, kind, value, extras=extras_of(self.dialect, carried))  # type: ignore[arg-type]
        if failed and kind == "text":
            result.kind = "error"
        elif failed:
            result.is_error = True
        return self._spelled(result, odd)

    def _value(self, content: Any, odd: Spelling) -> tuple[str, Any]:
        """Kind and value of the content of a result, without the blocks that a value cannot hold."""
        if not content or isinstance(content, str):
            return "text", content or ""
        parts = [self.part(block) for block in content if block["type"] in VALUES]
        if len(parts) == len(content) == 1 and is_bare(parts[0]):
            odd["content"] = "list"
            inner = self.origin.spellings.get(id(parts[0]))
            if inner:
                odd["block"] = inner
            return "text", parts[0].text  # type: ignore[union-attr]
        return "multimodal", [part for part in parts if isinstance(part, (Text, Media))]

    def _spelled(self, part: P, spelling: Spelling | None) -> P:
        if spelling:
            self.origin.spell(part, spelling)
        return part


LIFT: Mapping[str, Callable[[BlockReader, Native], Part | None]] = {
    "text": BlockReader.text,
    "image": BlockReader.media,
    "document": BlockReader.media,
    "thinking": BlockReader.thinking,
    "redacted_thinking": BlockReader.redacted,
    "tool_use": BlockReader.call,
}
VALUES = ("text", "image", "document")
"""The kinds of block that the value of a result can hold."""

FIELD = {"base64": "data", "text": "text", "url": "url", "file": "file_id"}
VALUE = {"base64": "data", "text": "data", "url": "url", "file": "file_id"}
"""By the kind of a source: the field of `Media`, and the key of the source, that hold it."""


def is_bare(part: Part) -> bool:
    """A text of which a string says everything."""
    return isinstance(part, Text) and part.extras is None and part.metadata is None


def _text_of(content: Any) -> str | None:
    """The text of a document that is given as content; None when it holds more than text."""
    if isinstance(content, str):
        return content
    if all(block.get("type") == "text" for block in content):
        return "\n".join(block["text"] for block in content)
    return None


# ---------------------------------------------------------------- lower


class BlockWriter:
    """Writes parts as blocks: exactly as the lift of `dialect` read them when `own`, else only what the API takes."""

    __slots__ = ("dialect", "own", "spellings")

    def __init__(self, dialect: str, spellings: Mapping[int, Spelling], *, own: bool) -> None:
        self.dialect, self.spellings, self.own = dialect, spellings, own

    def blocks(self, parts: list[Part], role: str) -> list[Native]:
        """The blocks of one message; foreign parts only where the API has a place for them in this role."""
        places = PLACES[role]
        return [
            native
            for part in parts
            if (self.own or type(part) in places) and (native := LOWER[type(part)](self, part)) is not None
        ]

    def text(self, part: Text | Refusal) -> Native | None:
        """The API takes no blank text, and has no block for a refusal."""
        if not self.own and (not part.text or part.text.isspace()):
            return None
        if part.extras is None and not self.spellings:
            return {"type": "text", "text": part.text}
        return TEXT.put({"type": "text", "text": part.text}, carried_by(part.extras, self.dialect), self.spelling(part))

    def reasoning(self, part: Reasoning) -> Native | None:
        """Thinking that Anthropic signed or redacted; it cannot be made up."""
        carried, spelling = carried_by(part.extras, self.dialect), self.spelling(part)
        signature, data = (_words(part.metadata, key) for key in ("signature", "redactedData"))
        if spelling.get("redacted") or (data and not signature):
            return REDACTED.put({"type": "redacted_thinking", "data": data}, carried, spelling)
        if not signature and not self.own:
            return None
        native = {"type": "thinking", "thinking": part.text, **({"signature": signature} if signature else {})}
        return THINKING.put(native, carried, spelling)

    def media(self, media: Media) -> Native | None:
        if media.type not in MEDIA:
            return None
        source = self._source(media)
        if source is None:
            return None
        native: Native = {"type": media.type, "source": source}
        if media.type == "document" and media.name:
            native["title"] = media.name
        carried = carried_by(media.extras, self.dialect)
        outer = {key: value for key, value in carried.items() if key != "source"}
        return MEDIA[media.type].put(native, outer, self.spelling(media))

    def _source(self, media: Media) -> Native | None:
        carried: Native = carried_by(media.extras, self.dialect).get("source", {})
        if "type" in carried:
            return carried
        native = _source_as_is(media) if self.own else _source_as_allowed(media)
        return native and SOURCE[native["type"]].put(native, carried, self.spelling(media).get("source"))

    def call(self, call: ToolCall) -> Native:
        native = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        if call.extras is None and not self.spellings:
            return native
        return TOOL_USE.put(native, carried_by(call.extras, self.dialect), self.spelling(call))

    def result(self, result: ToolResult) -> Native:
        if result.kind == "text" and result.extras is None and result.is_error is None and not self.spellings:
            return {"type": "tool_result", "tool_use_id": result.tool_call_id, "content": result.value}
        spelling, carried = self.spelling(result), carried_by(result.extras, self.dialect)
        content = carried.get("content") or self._content(result, spelling)
        native: Native = {"type": "tool_result", "tool_use_id": result.tool_call_id, "content": content}
        if result.kind == "error" or result.is_error:
            native["is_error"] = True
            if not self.own and not says_words(content):
                native["content"] = FAILED
        elif "is_error" in spelling:
            native["is_error"] = False
        outer = {key: value for key, value in carried.items() if key != "content"}
        return TOOL_RESULT.put(native, outer, spelling)

    def _content(self, result: ToolResult, spelling: Spelling) -> str | list[Native]:
        if result.kind == "multimodal":
            return self.blocks(result.value, "result")
        if spelling.get("content") == "list":
            return [TEXT.put({"type": "text", "text": result.value}, None, spelling.get("block"))]
        return exact_json.write_text(result.value) if result.kind == "data" else str(result.value)

    def opaque(self, part: Opaque) -> Native | None:
        value: Native = part.value
        return value if part.dialect == self.dialect and (self.own or _is_unknown(value)) else None

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}


LOWER: Mapping[type, Callable[[BlockWriter, Any], Native | None]] = {
    Text: BlockWriter.text,
    Refusal: BlockWriter.text,
    Reasoning: BlockWriter.reasoning,
    Media: BlockWriter.media,
    ToolCall: BlockWriter.call,
    ToolResult: BlockWriter.result,
    Opaque: BlockWriter.opaque,
}
PLACES: Mapping[str, frozenset[type]] = {
    "system": frozenset((Text,)),
    "user": frozenset((Text, Media, ToolResult, Opaque)),
    "assistant": frozenset((Text, Refusal, Reasoning, ToolCall, Opaque)),
    "result": frozenset((Text, Media)),
}
"""What the API takes in each role, and in the content of a tool result."""


def _words(metadata: Mapping[str, Any] | None, key: str) -> str:
    value = metadata.get(key) if metadata else None
    return value if isinstance(value, str) else ""


def says_words(content: str | list[Native]) -> bool:
    """Is there something that the API counts as content?"""
    return bool(content.strip() if isinstance(content, str) else content)


def _source_as_is(media: Media) -> Native | None:
    """The source in the words of Anthropic, whatever it holds."""
    typed = {"media_type": media.media_type} if media.media_type is not None else {}
    for form, field in FIELD.items():
        value = getattr(media, field)
        if value is not None:
            return {"type": form, **typed, VALUE[form]: value}
    return None


def _source_as_allowed(media: Media) -> Native | None:
    """The source where the API takes it: known types of base64, plain text of a document, the web, uploaded files."""
    if media.data is not None:
        media_type = media.media_type or next((MAGIC[head] for head in MAGIC if media.data.startswith(head)), None)
        allowed = media_type in MEDIA_TYPES[media.type]
        return {"type": "base64", "media_type": media_type, "data": media.data} if allowed else None
    if media.text is not None:
        plain = {"type": "text", "media_type": "text/plain", "data": media.text}
        return plain if media.type == "document" else None
    if media.url is not None:
        return {"type": "url", "url": media.url} if media.url.startswith(WEB) else None
    return None if media.file_id is None else {"type": "file", "file_id": media.file_id}


def _is_unknown(value: Any) -> bool:
    """A block that is read back as opaque."""
    kind = value.get("type") if isinstance(value, dict) else None
    if kind in MEDIA:
        source = value.get("source")
        form = source.get("type") if isinstance(source, dict) else None
        mixed = form == "content" and isinstance(source["content"], list)
        return isinstance(form, str) and (mixed or form not in SOURCES[kind])
    return isinstance(kind, str) and kind not in LIFT and kind != "tool_result"


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the API has no field of its own."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data":
        return kind, exact_json.write_text(result.value)
    if result.kind != "multimodal" or len(result.value) > 1:
        return None
    if not result.value:
        return None if result.is_error else (kind, "")
    part = result.value[0]
    return (kind, part.text) if is_bare(part) and part.text.strip() else None
