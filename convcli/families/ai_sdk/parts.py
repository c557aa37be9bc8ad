"""The parts of the AI SDK's messages, in both shapes, and tool outputs. Keys without a field are extras of `owner`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.kit.blocks import Block, BlockRows, BlockTable
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, add_extras, get_extras, make_extras, merge, omit
from convcli.kit.results import has_failed
from convcli.kit.settings import whole
from convcli.kit.values import DATA_URL, kind_of_type, pairs, split_data_url
from convcli.model.transcript import Media, MediaKind, Opaque, Part, Reasoning, Text, ToolResult

_PROVIDED = (
    "signature=anthropic/signature redactedData=anthropic/redactedData thoughtSignature=google/thoughtSignature "
    "encryptedContent=openai/reasoningEncryptedContent itemId=openai/itemId"
)
PROVIDED = {name: where.split("/") for name, where in pairs(_PROVIDED).items()}
"""Values that providers require back, under their names: metadata here."""
KINDS: tuple[MediaKind, ...] = ("image", "audio", "video", "document")
ANY_IMAGE = "image/*"
"""The media type of an image of unknown type."""


# ---------------------------------------------------------------- provider values of a part


def lift_provided(native: Any) -> tuple[dict[str, Any] | None, Native]:
    """Returns the metadata, and the rest."""
    metadata: dict[str, Any] = {}
    rest: Native = dict(native or {})
    for name, (owner, key) in PROVIDED.items():
        values = rest.get(owner)
        if isinstance(values, dict) and values.get(key) and isinstance(values[key], str):
            metadata[name] = values[key]
            left = omit(values, key)
            rest = {**rest, owner: left} if left else omit(rest, owner)
    return metadata or None, rest


def write_provided(metadata: Mapping[str, Any] | None, rest: Native) -> Native:
    """Returns the metadata in the form of the providers."""
    native: Native = {}
    for name, (owner, key) in PROVIDED.items():
        value = (metadata or {}).get(name)
        if value and isinstance(value, str):
            native.setdefault(owner, {})[key] = value
    return merge(native, rest)


def provided(block: Block, key: str, owner: str) -> Block:
    """Returns the same kind of block, with provider values under this key."""

    def read(native: Native, context: LiftContext) -> Part | None:
        part = block.read(omit(native, key), context)
        if part is not None:
            part.metadata, rest = lift_provided(native.get(key))
            add_extras(part, owner, None, **{key: rest})
        return part

    def write(part: Any) -> Native | None:
        native = block.write(part)
        values = write_provided(part.metadata, get_extras(part.extras, owner).get(key, {}))
        return {**native, key: values} if native is not None and values else native

    return replace(block, read=read, write=write)


# ---------------------------------------------------------------- media


FILE = Keys("type data url mediaType filename")


def _file(kind: MediaKind, key: str, owner: str) -> Block:
    """A file with its data or its URL under `key`, and its type."""

    def read(native: Native, _: LiftContext) -> Part | None:
        place, kind_of = native.get(key), native.get("mediaType") or ""
        if not isinstance(place, str) or not place:
            return None
        typed = None if kind_of in ("", ANY_IMAGE) else kind_of
        media_kind: MediaKind = "image" if kind_of == ANY_IMAGE else kind_of_type(typed)
        extra = {one: native[one] for one in FILE.extra(native) or ()}
        extra |= {one: native[one] for one in ("data", "url") if one != key and native.get(one) is not None}
        media = media_at(media_kind, place, typed, addressed=key == "url")
        media.name, media.extras = native.get("filename") or None, make_extras(owner, extra)
        return media

    def write(part: Media) -> Native | None:
        media_type = part.media_type or (ANY_IMAGE if part.type == "image" else None)
        place = place_of(part, addressed=key == "url")
        if media_type is None or place is None:
            return None
        named = {} if part.name is None else {"filename": part.name}
        return FILE.put({"type": "file", key: place, "mediaType": media_type, **named}, get_extras(part.extras, owner))

    return Block("file", kind, read, write)


def media_at(kind: MediaKind, place: str, media_type: str | None, *, addressed: bool) -> Media:
    """Returns media with data or a URL; `addressed`: data only as a data URL."""
    split = split_data_url(place)
    if split is not None and media_type in (None, split[0]):
        return Media(kind, data=split[1], media_type=split[0])
    if addressed or ":" in place[:12]:
        return Media(kind, url=place, media_type=media_type)
    return Media(kind, data=place, media_type=media_type)


def place_of(part: Media, *, addressed: bool) -> str | None:
    """Returns the URL of media, or their data."""
    if part.url:
        return part.url
    if not part.data or not addressed:
        return part.data or None
    return DATA_URL.format(part.media_type, part.data) if part.media_type else None


IMAGE = Keys("type image mediaType")


def _image(owner: str, *, written: bool) -> Block:
    """An image with its data or its URL; newer messages have files instead."""

    def read(native: Native, _: LiftContext) -> Part | None:
        place = native.get("image")
        if not isinstance(place, str) or not place:
            return None
        media = media_at("image", place, native.get("mediaType") or None, addressed=False)
        media.extras = make_extras(owner, IMAGE.extra(native))
        return media

    def write(part: Media) -> Native | None:
        place = place_of(part, addressed=False)
        is_image = part.media_type is None or kind_of_type(part.media_type) == "image"
        if not written or place is None or part.name is not None or not is_image:
            return None
        typed = {} if part.media_type is None else {"mediaType": part.media_type}
        return IMAGE.put({"type": "image", "image": place, **typed}, get_extras(part.extras, owner))

    return Block("image", "image", read, write)


# ---------------------------------------------------------------- tables

OPTIONS, METADATA = "providerOptions", "providerMetadata"


class Tables(NamedTuple):
    """The blocks of user messages, model messages, UI messages, and tool outputs."""

    asked: BlockTable
    answered: BlockTable
    shown: BlockTable
    inside: BlockTable


@cache
def tables(owner: str) -> Tables:
    """Returns the blocks of all shapes."""
    rows = BlockRows(owner, "type")
    text = rows.record("text", Text(""), "type text state", {"text": whole("text")})
    reasoning = rows.record("reasoning", Reasoning(""), "type id text state", {"text": whole("text")})

    def table(key: str, *media: Block) -> BlockTable:
        return rows.table(*(provided(block, key, owner) for block in (text, reasoning, *media)))

    files = [_file(kind, "data", owner) for kind in KINDS]
    return Tables(
        asked=table(OPTIONS, _image(owner, written=True), *files),
        answered=table(OPTIONS, *files, _image(owner, written=False)),
        shown=table(METADATA, *(_file(kind, "url", owner) for kind in KINDS)),
        inside=_pieces(rows, text),
    )


def is_shaped(part: Part, owner: str, *begins: str) -> bool:
    """True for an unknown part whose type has a prefix that only one of the two shapes of messages uses."""
    return isinstance(part, Opaque) and part.dialect == owner and str(part.value.get("type")).startswith(begins)


# ---------------------------------------------------------------- outputs of tools

WITH_DATA = Keys("type data mediaType filename")


def _data(tag: str, kind: MediaKind, owner: str, *, written: bool) -> Block:
    def read(native: Native, _: LiftContext) -> Part | None:
        if not isinstance(native.get("data"), str) or not isinstance(native.get("mediaType"), str):
            return None
        media_kind = kind_of_type(native["mediaType"])
        part = Media(media_kind, data=native["data"], media_type=native["mediaType"] or None)
        part.name, part.extras = native.get("filename") or None, make_extras(owner, WITH_DATA.extra(native))
        return part

    def write(part: Media) -> Native | None:
        if not part.data or not part.media_type or not written:
            return None
        named = {} if part.name is None else {"filename": part.name}
        native = {"type": tag, "data": part.data, "mediaType": part.media_type, **named}
        return WITH_DATA.put(native, get_extras(part.extras, owner))

    return Block(tag, kind, read, write)


def _pieces(rows: BlockRows, text: Block) -> BlockTable:
    """The pieces of an output with several."""

    def at_url(tag: str, kind: MediaKind) -> Block:
        return rows.media(tag, kind, "type url mediaType", {"url": "url", "mediaType": "media_type"})

    return rows.table(
        text,
        _data("image-data", "image", rows.owner, written=True),
        at_url("image-url", "image"),
        *(_data("file-data", kind, rows.owner, written=True) for kind in KINDS),
        *(at_url("file-url", kind) for kind in ("document", "audio", "video")),
        _data("media", "image", rows.owner, written=False),
    )


DENIED = "denied"
OUTPUT, OUTPUT_DENIED = Keys("type= value= reason"), Keys("type= value reason=")
"""The keys of an output, and of one for a call that the user denied."""


def lift_output(output: Native, result: ToolResult, context: LiftContext) -> Native | None:
    """Sets kind and value of a result from an output. Returns the extras."""
    kind, value, keys = output["type"], output.get("value"), OUTPUT
    if kind in ("text", "error-text"):
        result.kind, result.value = ("text" if kind == "text" else "error"), value or ""
    elif kind in ("json", "error-json"):
        result.kind, result.value = "data", value
        result.is_error = True if kind == "error-json" else None
    elif kind == "content":
        result.kind, result.value = (
            "multimodal",
            [tables(context.dialect).inside.lift_inside(item, context) for item in value or ()],
        )
    else:
        result.kind, result.value, result.status, keys = "error", output.get("reason") or "", DENIED, OUTPUT_DENIED
    return keys.extra(output)


def write_output(result: ToolResult, extra: Native | None, owner: str) -> Native:
    """Returns the output for a result."""
    failed = has_failed(result)
    if result.kind == "multimodal":
        native: Native = {"type": "content", "value": write_inside(result, owner)}
    elif result.kind == "data":
        native = {"type": "error-json" if failed else "json", "value": result.value}
    elif result.kind == "error" and result.status == DENIED:
        native = {"type": "execution-denied", **({"reason": result.value} if result.value else {})}
    else:
        native = {"type": "error-text" if failed else "text", "value": result.value}
    return {**native, **(extra or {})}


def write_inside(result: ToolResult, owner: str) -> list[Native]:
    """Returns the pieces of a multimodal result."""
    inside = tables(owner).inside
    return [native for part in result.value if (native := inside.write_inside(part)) is not None]


def lift_shown(output: Any, context: LiftContext) -> tuple[Any, Any]:
    """Returns kind and value of a result in a UI message: pieces as a model is sent them, a text, or data."""
    is_pieces = isinstance(output, dict) and output.keys() == {"type", "value"} and output["type"] == "content"
    items = output["value"] if is_pieces and isinstance(output["value"], list) else None
    if items is not None and all(isinstance(item, dict) and isinstance(item.get("type"), str) for item in items):
        return "multimodal", [tables(context.dialect).inside.lift_inside(item, context) for item in items]
    return ("text" if isinstance(output, str) else "data"), output


def write_shown(result: ToolResult, owner: str) -> Any:
    """Returns the UI message's form of a result that has not failed."""
    return {"type": "content", "value": write_inside(result, owner)} if result.kind == "multimodal" else result.value
