"""The content blocks of Anthropic's Messages API, shared with every dialect whose messages contain them.

Specification: https://platform.claude.com/docs/en/api/messages; read 2026-11-20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.kit.results import fail
from convcli.kit.texts import is_bare
from convcli.model.transcript import Extras, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from convcli.wire import exact_json

TEXT = Keys("type text citations cache_control", extra="citations cache_control")
THINKING = Keys("type thinking signature")
REDACTED = Keys("type data")
TOOL_USE = Keys("type id name input caller toolset_name cache_control", extra="caller toolset_name cache_control")
TOOL_RESULT = Keys("type tool_use_id content is_error toolset_name cache_control", extra="toolset_name cache_control")
MEDIA = {
    "image": Keys("type source transformations cache_control", extra="transformations cache_control"),
    "document": Keys("type source title context citations cache_control", extra="context citations cache_control"),
}
BARE_IMAGE = Keys("type data mediaType")
SOURCE = {
    "base64": Keys("type media_type data"),
    "text": Keys("type media_type data"),
    "url": Keys("type url"),
    "file": Keys("type file_id"),
    "content": Keys("type content"),
}
SOURCES = {"image": ("base64", "url", "file"), "document": tuple(SOURCE)}
"""The source kinds of images and documents."""

FIELD = {"base64": "data", "text": "text", "url": "url", "file": "file_id"}
VALUE = {"base64": "data", "text": "data", "url": "url", "file": "file_id"}
"""By source kind: the field of `Media`, and the key of the source, with its value."""

MEDIA_TYPES = {"image": ("image/png", "image/jpeg", "image/gif", "image/webp"), "document": ("application/pdf",)}
"""The media types that the API accepts as base64."""

WEB = ("https://", "http://")
"""URL schemes that the API fetches."""

INNER = frozenset(("text", "image", "document"))
"""The kinds of block in the value of a result."""

BLOCKS = INNER | {"file"}
"""The kinds of block in any result."""


class Blocks(msgspec.Struct, frozen=True):
    """The blocks of one dialect. A borrowing dialect has its own name and tables.

    `owner` is the name for keys without a field · `lists`: the meaning of a list of blocks other than `inner` as result
    content · `names`: results have a key for the tool name.
    """

    owner: str
    readers: Mapping[str, ReadBlock]
    writers: Mapping[type, WriteBlock]
    inner: frozenset[str] = INNER
    lists: Literal["multimodal", "data"] = "multimodal"
    names: bool = False

    def lift_result(self, native: Native, context: LiftContext) -> ToolResult:
        """Lifts a tool result, with the name of the call that it answers."""
        content = native.get("content")
        kind, value = self.value(content, context)
        extra = TOOL_RESULT.extra(native) or {}
        name = extra.pop("name", None) if self.names else None
        if kind == "multimodal" and len(value) < len(content or ()):
            extra["content"] = content
        id_, name = context.pairing.result(native.get("tool_use_id"), name)
        result = ToolResult(id_, name, kind, value, extras=make_extras(self.owner, extra))  # type: ignore[arg-type]
        if native.get("is_error"):
            fail(result)
        return result

    def lift(self, native: Native, context: LiftContext) -> Part:
        """Lifts a block to a part; one of an unknown kind is opaque."""
        read = self.readers.get(native["type"])
        return (read(self, native, context) if read is not None else None) or Opaque(self.owner, native)

    def with_metadata(self, key: str, name: str, **kinds: type) -> Blocks:
        """Returns blocks that also store a key of these kinds as part metadata under this name."""

        def read(kind: str) -> ReadBlock:
            def lift(blocks: Blocks, native: Native, context: LiftContext) -> Part | None:
                block = omit(native, key)
                part = self.readers[kind](blocks, block, context)
                if part is not None and native.get(key):
                    part.metadata = {name: native[key]}
                return part

            return lift

        def write(blocks: Blocks, part: Any) -> Native | None:
            native, value = self.writers[part.__class__](blocks, part), (part.metadata or {}).get(name)
            return {**native, key: value} if native is not None and value else native

        readers = {**self.readers, **{kind: read(kind) for kind in kinds}}
        return replace(self, readers=readers, writers={**self.writers, **dict.fromkeys(kinds.values(), write)})

    def is_unknown(self, block: Any) -> bool:
        """True if the block is read back as opaque."""
        kind = kind_of(block)
        if not kind or kind == "tool_result":
            return False
        return kind not in self.readers or isinstance(self.lift(block, LiftContext(self.owner, None)), Opaque)

    def write(self, parts: Iterable[Part]) -> list[Native]:
        """Returns the blocks of parts, except of parts without one."""
        writers = self.writers
        natives = [writers[part.__class__](self, part) for part in parts if part.__class__ in writers]
        return [native for native in natives if native is not None]

    def value(self, content: Any, context: LiftContext) -> tuple[str, Any]:
        """Returns kind and value of a result's content, without the blocks that a value cannot store."""
        if not content or isinstance(content, str):
            return "text", content or ""
        if self.lists == "data" and not all(kind_of(block) in self.inner for block in content):
            return "data", content
        parts = [self.lift(block, context) for block in content if block["type"] in self.inner]
        if len(parts) == len(content) == 1 and is_bare(parts[0]):
            return "text", parts[0].text
        return "multimodal", [part for part in parts if isinstance(part, (Text, Media))]

    def content(self, result: ToolResult) -> str | list[Native]:
        """Returns the content of a result."""
        if result.kind == "multimodal":
            return self.write(result.value)
        if result.kind == "data" and not (self.lists == "data" and isinstance(result.value, list)):
            return exact_json.write_text(result.value)
        content: str | list[Native] = result.value
        return content

    def holds(self, data: Any) -> bool:
        """True if the value is the content of a result as it is. If lists are data, this includes a list of anything
        that does not look like a block."""
        return self.lists == "data" and isinstance(data, list) and bool(data) and BLOCKS.isdisjoint(map(kind_of, data))

    def extras(self, keys: Keys, native: Native) -> Extras | None:
        """Returns the extras of a block."""
        return make_extras(self.owner, keys.extra(native))

    def extra(self, part: Part) -> Native:
        """Returns the extras for the block of a part."""
        return get_extras(part.extras, self.owner)


ReadBlock = Callable[[Blocks, Native, LiftContext], Part | None]
WriteBlock = Callable[[Blocks, Any], Native | None]


def kind_of(block: Any) -> str:
    """Returns the type of a block; empty if the value is not a block."""
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


# ---------------------------------------------------------------- lift


def lift_text(blocks: Blocks, native: Native, _: LiftContext) -> Text:
    return Text(native["text"], extras=blocks.extras(TEXT, native))


def lift_thinking(blocks: Blocks, native: Native, _: LiftContext) -> Reasoning:
    signature = native.get("signature")
    metadata = {"signature": signature} if signature else None
    return Reasoning(native["thinking"], metadata=metadata, extras=blocks.extras(THINKING, native))


def lift_redacted(blocks: Blocks, native: Native, _: LiftContext) -> Reasoning:
    metadata = {"redactedData": native["data"]} if native["data"] else None
    return Reasoning("", metadata=metadata, extras=blocks.extras(REDACTED, native))


def lift_media(blocks: Blocks, native: Native, _: LiftContext) -> Media | None:
    """Lifts an image or document; None if it cannot have this kind of source."""
    kind, source = native["type"], native["source"]
    form = source["type"]
    fields = _source_fields(form, source) if form in SOURCES[kind] else None
    if fields is None:
        return None
    rest = source if form == "content" else SOURCE[form].extra(source)
    name = native.get("title") or None if kind == "document" else None
    return Media(kind, **fields, name=name, extras=make_extras(blocks.owner, MEDIA[kind].extra(native), source=rest))


def _source_fields(form: str, source: Native) -> Native | None:
    """Returns the fields of media; None if a document has more than text."""
    if form == "content":
        text = _text_of(source["content"])
        return None if text is None else {"text": text}
    return {FIELD[form]: source[VALUE[form]], "media_type": source.get("media_type") or None}


def _text_of(content: Any) -> str | None:
    """Returns the text of a document that is given as content; None if it has more than text."""
    if isinstance(content, str):
        return content
    if all(block.get("type") == "text" for block in content):
        return "\n".join(block["text"] for block in content)
    return None


def lift_bare_image(blocks: Blocks, native: Native, context: LiftContext) -> Media | None:
    """Lifts an image that may have its data in the block itself."""
    if "source" in native:
        return lift_media(blocks, native, context)
    media_type, extras = native.get("mediaType") or None, blocks.extras(BARE_IMAGE, native)
    return Media("image", data=native["data"], media_type=media_type, extras=extras)


def lift_call(blocks: Blocks, native: Native, context: LiftContext) -> ToolCall:
    name = native["name"]
    id_ = context.pairing.call(native.get("id"), name)
    return ToolCall(id_, name, native["input"], extras=blocks.extras(TOOL_USE, native))


READERS: Mapping[str, ReadBlock] = {
    "text": lift_text,
    "image": lift_media,
    "document": lift_media,
    "thinking": lift_thinking,
    "redacted_thinking": lift_redacted,
    "tool_use": lift_call,
}
"""Readers by kind. Results have none, because each one is its own message."""


# ---------------------------------------------------------------- write


def write_text(blocks: Blocks, part: Text) -> Native:
    native = {"type": "text", "text": part.text}
    return native if part.extras is None else TEXT.put(native, blocks.extra(part))


def write_reasoning(blocks: Blocks, part: Reasoning) -> Native:
    metadata, extra = part.metadata or {}, blocks.extra(part)
    if "redactedData" in metadata:
        return REDACTED.put({"type": "redacted_thinking", "data": metadata["redactedData"]}, extra)
    signed = {"signature": metadata["signature"]} if "signature" in metadata else {}
    return THINKING.put({"type": "thinking", "thinking": part.text, **signed}, extra)


def write_media(blocks: Blocks, media: Media) -> Native | None:
    extra = dict(blocks.extra(media))
    source = _write_source(media, extra.pop("source", {}))
    if media.type not in MEDIA or source is None:
        return None
    title = {"title": media.name} if media.type == "document" and media.name else {}
    return MEDIA[media.type].put({"type": media.type, "source": source, **title}, extra)


def write_bare_image(blocks: Blocks, media: Media) -> Native | None:
    """Writes an image with its data in the block itself, unless its source has extras."""
    extra = blocks.extra(media)
    if media.type != "image" or media.data is None or "source" in extra:
        return write_media(blocks, media)
    return {"type": "image", "data": media.data, "mediaType": media.media_type, **extra}


def _write_source(media: Media, extra: Native) -> Native | None:
    form = next((form for form, field in FIELD.items() if getattr(media, field) is not None), None)
    if form is None:
        return None
    if "type" in extra:
        if _text_of(extra["content"]) == media.text:
            return extra
        extra = {}
    typed = {} if media.media_type is None else {"media_type": media.media_type}
    return SOURCE[form].put({"type": form, **typed, VALUE[form]: getattr(media, FIELD[form])}, extra)


def write_call(blocks: Blocks, call: ToolCall) -> Native:
    native = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
    return native if call.extras is None else TOOL_USE.put(native, blocks.extra(call))


def write_result(blocks: Blocks, result: ToolResult) -> Native:
    extra = dict(blocks.extra(result)) if result.extras is not None else {}
    content = _carried_content(blocks, result, extra.pop("content", None)) if extra else blocks.content(result)
    native: Native = {"type": "tool_result", "tool_use_id": result.tool_call_id, "content": content}
    if blocks.names:
        native["name"] = result.name
    if result.kind == "error" or result.is_error:
        native["is_error"] = True
    return TOOL_RESULT.put(native, extra)


def _carried_content(blocks: Blocks, result: ToolResult, extra: Any) -> Any:
    """Returns the content with the blocks that a value cannot store, if the rest still equals the value."""
    if extra and result.kind == "multimodal":
        kind, value = blocks.value(extra, LiftContext(blocks.owner, None))
        if kind == "multimodal" and value == result.value:
            return extra
    return blocks.content(result)


def write_opaque(blocks: Blocks, part: Opaque) -> Native | None:
    value: Native = part.value
    return value if part.dialect == blocks.owner else None


WRITERS: Mapping[type, WriteBlock] = {
    Text: write_text,
    Reasoning: write_reasoning,
    Media: write_media,
    ToolCall: write_call,
    ToolResult: write_result,
    Opaque: write_opaque,
}
