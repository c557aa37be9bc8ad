"""The content blocks of Anthropic's Messages API, shared with every dialect whose messages contain them.

Specification: https://platform.claude.com/docs/en/api/messages; read 2026-11-20.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from convcli.kit.blocks import Block, BlockRows, BlockTable
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope, Fields
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.results import fail
from convcli.kit.settings import Setting, whole
from convcli.kit.texts import is_bare
from convcli.kit.values import paths
from convcli.model.transcript import Media, MediaKind, Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult, camel
from convcli.wire import exact_json

TEXT = "type text citations cache_control"
THINKING = "type thinking signature"
REDACTED = "type data"
TOOL_USE = "type= id=id name=name input=arguments caller toolset_name cache_control"
TOOL_RESULT = "type= tool_use_id= content= {}is_error= toolset_name cache_control"
MEDIA = {
    "image": Envelope("type= source= transformations cache_control"),
    "document": Envelope("type= source= title=name context citations cache_control"),
}
BARE_IMAGE = Envelope("type= data= mediaType=media_type")
"""The keys of the blocks."""
OF_RESULT = paths(
    "tool_result.toolCallId=tool_use_id tool_result.value=content tool_result.kind=content tool_result.isError=is_error"
)
"""The paths of the fields of a result."""

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

REASONS = {
    "text": "the API refuses blank texts",
    "reasoning.summary": "thinking has no summary",
    **dict.fromkeys(("text.metadata", "tool_call.metadata"), "only thinking has an Anthropic signature"),
    "refusal": "there is no block for a refusal: it is written as text",
    "opaque": "the block belongs to another vendor",
    "tool_call": "only the assistant can call tools",
    "tool_call.rawArguments": "the input of a call must be an object",
    "tool_result.value": "a result contains text, images and documents; a failed one must not be empty",
}
"""Why a field of a block is lost or changed."""


class Blocks(BlockTable):
    """The blocks of one dialect, in messages and in results.

    `lists`: the meaning of a list of other blocks as result content · `names`: results have a key for the tool name.
    """

    __slots__ = ("_result", "lists", "names")

    def __init__(
        self, owner: str, *blocks: Block, lists: Literal["multimodal", "data"] = "multimodal", names: bool = False
    ) -> None:
        super().__init__(owner, "type", *blocks)
        self.lists, self.names = lists, names
        self._result = Envelope(TOOL_RESULT.format("name= " if names else ""))
        self.writers[ToolResult.type] = self._write_result

    def places(self) -> dict[str, Path]:
        """Returns the paths of the fields of parts, results included. Arguments that are no object are lost at the
        input."""
        return {**super().places(), **self._result_places, "tool_call.rawArguments": ("input",)}

    def supports(self) -> frozenset[str]:
        """Returns the names of the fields of parts, results included, and of its own opaque blocks."""
        return super().supports().union(self._result_places)

    @property
    def _result_places(self) -> dict[str, Path]:
        return {**OF_RESULT, "tool_result.name": ("name",)} if self.names else OF_RESULT

    def is_unknown(self, block: Any) -> bool:
        """True if the block is read back as opaque."""
        kind = kind_of(block)
        if not kind or kind == "tool_result":
            return False
        return isinstance(self.lift(block, LiftContext(self.owner, None)), Opaque)

    def write_all(self, parts: Iterable[Part]) -> list[Native]:
        """Returns the blocks of parts, except of parts without one."""
        writers = self.writers
        natives: list[Native] = []
        for part in parts:
            write = writers.get(part.type)
            native = None if write is None else write(part)
            if native is not None:
                natives.append(native)
        return natives

    # ------------------------------------------------------------ results

    def lift_result(self, native: Native, context: LiftContext) -> ToolResult:
        """Lifts a tool result, with the name of the call that it answers."""
        content = native.get("content")
        if content.__class__ is str and len(native) == 3 and native.get("tool_use_id"):  # most results
            return ToolResult(*context.pairing.result(native["tool_use_id"], None), "text", content)
        kind, value = self.value(content, context)
        stated = (native.get("name") or None) if self.names else None
        id_, name = context.pairing.result(native.get("tool_use_id"), stated)
        result = ToolResult(id_, name, kind, value)  # type: ignore[arg-type]
        extra = self._result.lift(native, result)
        if kind == "multimodal" and len(value) < len(content or ()):
            extra = {**(extra or {}), "content": content}
        if extra:
            result.extras = {self.owner: extra}
        if native.get("is_error"):
            fail(result)
        return result

    def value(self, content: Any, context: LiftContext) -> tuple[str, Any]:
        """Returns kind and value of a result's content, without the blocks that a value cannot store."""
        if not content or isinstance(content, str):
            return "text", content or ""
        if self.lists == "data" and not all(kind_of(block) in INNER for block in content):
            return "data", content
        parts = [self.lift(block, context) for block in content if block["type"] in INNER]
        if len(parts) == len(content) == 1 and is_bare(parts[0]):
            return "text", parts[0].text
        return "multimodal", [part for part in parts if isinstance(part, (Text, Media))]

    def _write_result(self, result: ToolResult) -> Native:
        if result.kind == "text" and result.extras is None and not result.is_error and not self.names:  # most results
            return {"type": "tool_result", "tool_use_id": result.tool_call_id, "content": result.value}
        extra = get_extras(result.extras, self.owner)
        content = self._kept_content(result, extra["content"]) if "content" in extra else self.content(result)
        native: Native = {"type": "tool_result", "tool_use_id": result.tool_call_id, "content": content}
        if self.names:
            native["name"] = result.name
        if result.kind == "error" or result.is_error:
            native["is_error"] = True
        return self._result.write(result, extra, **native) if extra else native

    def _kept_content(self, result: ToolResult, kept: Any) -> Any:
        """Returns the content with the blocks that a value cannot store, if the rest still equals the value."""
        if kept and result.kind == "multimodal":
            kind, value = self.value(kept, LiftContext(self.owner, None))
            if kind == "multimodal" and value == result.value:
                return kept
        return self.content(result)

    def content(self, result: ToolResult) -> str | list[Native]:
        """Returns the content of a result."""
        if result.kind == "multimodal":
            return self.write_all(result.value)
        if result.kind == "data" and not (self.lists == "data" and isinstance(result.value, list)):
            return exact_json.write_text(result.value)
        content: str | list[Native] = result.value
        return content

    def holds(self, data: Any) -> bool:
        """True if the value is the content of a result as it is. If lists are data, this includes a list of anything
        that does not look like a block."""
        return self.lists == "data" and isinstance(data, list) and bool(data) and BLOCKS.isdisjoint(map(kind_of, data))


def kind_of(block: Any) -> str:
    """Returns the type of a block; empty if the value is not a block."""
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


# ---------------------------------------------------------------- rows


def usual_blocks(owner: str, metadata: Fields | None = None) -> tuple[Block, ...]:
    """Returns the blocks of messages; `metadata` are keys that texts and calls have as part metadata. Results have no
    row, because each one is its own message."""
    rows, metadata = BlockRows(owner, "type"), metadata or {}
    return (
        rows.record("text", Text(""), _with_keys(TEXT, metadata), {"text": whole("text"), **metadata}),
        _media(owner, "image"),
        _media(owner, "document"),
        rows.record(
            "redacted_thinking",
            Reasoning(""),
            REDACTED,
            {"data": _metadata("redactedData")},
            lambda part: "redactedData" in (part.metadata or {}),
        ),
        rows.record(
            "thinking", Reasoning(""), THINKING, {"thinking": whole("text"), "signature": _metadata("signature")}
        ),
        _call(owner, metadata),
    )


def _with_keys(order: str, metadata: Fields) -> str:
    return " ".join((order, *metadata))


def _metadata(name: str) -> Setting:
    """Any value stored in metadata under this name."""
    return Setting("metadata", lambda value: {name: value}, lambda metadata: metadata.get(name), member=name)


def _call(owner: str, metadata: Fields) -> Block:
    calls = CallTable(_with_keys(TOOL_USE, metadata), metadata, form="object", constants={"type": "tool_use"})
    return Block("tool_use", ToolCall.type, calls.reader, lambda call: calls.write(call, owner), calls.places)


def _media(owner: str, kind: MediaKind) -> Block:
    def read(native: Native, _: LiftContext) -> Media | None:
        """Lifts an image or document; None if it cannot have this kind of source."""
        source = native["source"]
        form = source["type"]
        fields = _source_fields(form, source) if form in SOURCES[kind] else None
        if fields is None:
            return None
        media = Media(kind, **fields)
        rest = source if form == "content" else SOURCE[form].extra(source)
        media.extras = make_extras(owner, MEDIA[kind].lift(native, media), source=rest)
        return media

    def write(media: Media) -> Native | None:
        extra = dict(get_extras(media.extras, owner))
        source = _write_source(media, extra.pop("source", {}))
        return None if source is None else MEDIA[kind].write(media, extra, type=kind, source=source)

    stated = [*(FIELD[form] for form in SOURCES[kind] if form in FIELD), "media_type", *MEDIA[kind].fields]
    return Block(kind, kind, read, write, dict.fromkeys((f"{kind}.{camel(name)}" for name in stated), ()))


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


def bare_image(owner: str) -> Block:
    """Returns the block of an image with its data in the block itself; of images whose source has extras, it is not."""

    def read(native: Native, _: LiftContext) -> Media | None:
        if "source" in native:
            return None
        media = Media("image", data=native["data"])
        media.extras = make_extras(owner, BARE_IMAGE.lift(native, media))
        return media

    def write(media: Media) -> Native | None:
        extra = get_extras(media.extras, owner)
        if media.data is None or "source" in extra:
            return None
        return {"type": "image", "data": media.data, "mediaType": media.media_type, **extra}

    return Block("image", "image", read, write)
