"""The parts of a content of the Gemini API and Vertex AI, except answers to calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from convcli.families.google.keys import Shape, Writer, owned
from convcli.kit.blocks import in_metadata
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, omit, without_nulls
from convcli.model.transcript import Extras, Media, MediaKind, Opaque, Part, Reasoning, Refusal, Text, ToolCall

DATA = (
    "text", "inlineData", "fileData", "functionCall", "functionResponse",
    "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
)  # fmt: skip
"""A part sets exactly one of these fields."""
ALONE = frozenset(DATA)

ASIDE = (
    "videoMetadata mediaResolution partMetadata audioTranscription mediaProcessing documentMetadata "
    "spreadsheetMetadata audioMetadata speechMetadata"
)

PART = Shape("parts", f"{' '.join(DATA)} thought thoughtSignature {ASIDE}", extra=ASIDE, partly="thought")
CALL_KEYS = "id=id name=name args=arguments partialArgs willContinue"
CALL = Shape("functionCall", CALL_KEYS)
BLOB = Shape("inlineData", "mimeType data displayName")
FILE = Shape("fileData", "mimeType fileUri displayName")

SIGNATURE = "thoughtSignature"
CALLS, CALLS_WITHOUT_ID = (
    CallTable(
        " ".join([*(f"{CALL.name}/{key}" for key in keys.split()), "thought", SIGNATURE, ASIDE]),
        {SIGNATURE: in_metadata(SIGNATURE)},
        form="object",
    )
    for keys in (CALL_KEYS, CALL_KEYS.removeprefix("id=id "))
)
"""The keys of a part with a call. A generated id is not written."""
KINDS: tuple[MediaKind, ...] = ("image", "audio", "video")


class Piece(msgspec.Struct, gc=False):
    """One part of the document: in camel case, with its extras and its data field."""

    native: Native
    extra: Native
    kind: str | None

    @property
    def metadata(self) -> Native | None:
        """Returns the signature as metadata, if there is one."""
        signature = self.native.get(SIGNATURE)
        return {SIGNATURE: signature} if isinstance(signature, str) else None

    def extras(self, owner: str, inner: Native) -> Extras | None:
        """Returns the extras outside and inside its data, including a thought mark on anything but text."""
        if len(self.native) == 1 and not self.extra and not inner:  # most parts
            return None
        thought = {"thought": self.native["thought"]} if self.native.get("thought") is not None else {}
        return owned(owner, {**self.extra, **thought, **({str(self.kind): inner} if inner else {})})


# ---------------------------------------------------------------- lift


def read_part(native: Native, context: LiftContext) -> Piece:
    """Returns a part, ready to be lifted."""
    if len(native) == 1:
        (kind,) = native
        if kind in ALONE and native[kind] is not None:  # most parts
            return Piece(native, {}, kind)
    native, extra = PART.read(native, context.origin)
    kinds = [key for key in _data_fields(tuple(native)) if native[key] is not None]
    if not kinds and (native.get("thought") is True or isinstance(native.get(SIGNATURE), str)):
        return Piece(native, extra, "text")
    return Piece(native, extra, kinds[0] if len(kinds) == 1 else None)


@lru_cache(maxsize=1024)
def _data_fields(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the keys that are data fields, in Google's order."""
    return tuple(key for key in DATA if key in keys)


def lift_part(piece: Piece, context: LiftContext) -> Part:
    """Lifts a part of any kind; one that is unknown, or that sets two data fields, is kept as it is."""
    lift_one = LIFT.get(piece.kind)
    return Opaque(context.dialect, piece.native) if lift_one is None else lift_one(piece, context)


def lift_native(native: Native, context: LiftContext) -> Part:
    """Lifts a part that is no answer to a call."""
    if len(native) == 1:  # most parts
        if native.get("text") is not None:
            return Text(native["text"])
        if native.get(CALL.name) is not None:
            return _lift_call(native, context)
    return lift_part(read_part(native, context), context)


def _lift_text(piece: Piece, context: LiftContext) -> Part:
    text, extras = piece.native.get("text") or "", owned(context.dialect, piece.extra) if piece.extra else None
    if piece.native.get("thought") is True:
        return Reasoning(text, metadata=piece.metadata, extras=extras)
    return Text(text, piece.metadata, extras)


def _lift_call(native: Native, context: LiftContext) -> ToolCall:
    call = CALL.renamed(native[CALL.name], context.origin)
    if call is not native[CALL.name]:
        native = {**native, CALL.name: call}
    return CALLS.lift(native, context)


def lift_media(piece: Piece, context: LiftContext) -> Media:
    """Lifts media by value or by reference; the media type defines the kind."""
    shape = BLOB if piece.kind == "inlineData" else FILE
    native, inner = shape.read(piece.native[shape.name], context.origin)
    media_type = native.get("mimeType") or None
    media = Media(kind_of(media_type), media_type=media_type, name=native.get("displayName") or None)
    if shape is BLOB:
        media.data = native["data"]
    else:
        media.url = native["fileUri"]
    media.metadata = piece.metadata
    media.extras = piece.extras(context.dialect, inner)
    return media


LIFT: dict[str | None, Callable[[Piece, LiftContext], Part]] = {
    "text": _lift_text,
    CALL.name: lambda piece, context: _lift_call(piece.native, context),
    "inlineData": lift_media,
    "fileData": lift_media,
}


def kind_of(media_type: str | None) -> MediaKind:
    """Returns the kind of media of this type; neither image, audio nor video means document."""
    main = (media_type or "").partition("/")[0].lower()
    return next((kind for kind in KINDS if kind == main), "document")


# ---------------------------------------------------------------- write


def write_part(part: Part, writer: Writer) -> Native | None:
    """Writes a part; None if Google has no field for it, or another vendor owns it."""
    write_one = WRITE_PARTS.get(part.__class__)
    return None if write_one is None else write_one(part, writer)


def _write_text(part: Text | Refusal, writer: Writer) -> Native:
    native: Native = {"text": part.text}
    is_bare = part.metadata is None and part.extras is None  # most parts
    return native if is_bare else finish(part, native, writer)


def _write_reasoning(part: Reasoning, writer: Writer) -> Native:
    return finish(part, {"text": part.text, "thought": True}, writer)


def _write_media(media: Media, writer: Writer) -> Native | None:
    body = media_body(media, writer)
    return None if body is None else finish(media, body, writer)


def _write_opaque(part: Opaque, writer: Writer) -> Native | None:
    return part.value if part.dialect == writer.service.owner and isinstance(part.value, dict) else None


def finish(part: Part, native: Native, writer: Writer) -> Native:
    """Returns the part with its signature and its extras."""
    if part.metadata is None and part.extras is None:  # most parts
        return native
    signature = (part.metadata or {}).get(SIGNATURE)
    if isinstance(signature, str):
        native[SIGNATURE] = signature
    extra = writer.extra(part.extras)
    return PART.put(native, omit(extra, *DATA))


def _write_call(call: ToolCall, writer: Writer) -> Native:
    table = CALLS_WITHOUT_ID if call.id in writer.generated else CALLS
    return table.write(call, writer.service.owner)


def media_body(media: Media, writer: Writer) -> Native | None:
    """Returns the data field of media; None for media that only their owner can find."""
    shape = BLOB if media.data is not None else FILE
    place = {"data": media.data} if shape is BLOB else {"fileUri": media.url}
    if None in place.values():
        return None
    unknown = "" if shape is BLOB else None  # for data, the service requires the key
    native = without_nulls({"mimeType": media.media_type or unknown, **place, "displayName": media.name})
    return {shape.name: shape.put(native, writer.extra(media.extras, shape.name))}


WRITE_PARTS: dict[type, Callable[[Any, Writer], Native | None]] = {
    Text: _write_text,
    Refusal: _write_text,
    Reasoning: _write_reasoning,
    ToolCall: _write_call,
    Media: _write_media,
    Opaque: _write_opaque,
}
