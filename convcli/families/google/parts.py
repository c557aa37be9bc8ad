"""The parts of a content of the Gemini API and Vertex AI, except the answers to calls."""

from __future__ import annotations

from base64 import b64encode
from typing import Literal, NamedTuple

from convcli.families.google.keys import FAMILY, Reader, Shape, Writer, extras_of_family
from convcli.kit.objects import Native, Spelling
from convcli.model.transcript import Media, Opaque, Part, Reasoning, Refusal, Text, ToolCall

DATA = (
    "text", "inlineData", "fileData", "functionCall", "functionResponse",
    "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
)  # fmt: skip
"""The fields of which a part sets exactly one."""

ASIDE = "videoMetadata mediaResolution partMetadata audioTranscription mediaProcessing speechMetadata"

PART = Shape("parts", f"{' '.join(DATA)} thought thoughtSignature {ASIDE}", carried=ASIDE, odd="thought")
CALL = Shape("functionCall", "id name args partialArgs willContinue", carried="partialArgs willContinue")
BLOB = Shape("inlineData", "mimeType data displayName")
FILE = Shape("fileData", "mimeType fileUri displayName")

MediaKind = Literal["image", "audio", "video", "document"]
KINDS: tuple[MediaKind, ...] = ("image", "audio", "video")
MEDIA_TYPES = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "document": "application/pdf"}
"""The media type of media that have none, for Google wants one: it keeps at least the kind."""
ENDINGS = {
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "heic": "image/heic",
    "mp3": "audio/mpeg", "flac": "audio/flac", "ogg": "audio/ogg", "webm": "video/webm", "mov": "video/quicktime",
}  # fmt: skip
"""Media types by the end of a URL, where they differ from the first table."""


class Piece(NamedTuple):
    """One part as it stands in the document: in camel case, with what is carried, its spelling and its data field."""

    native: Native
    carried: Native
    spelling: Spelling
    kind: str | None

    @property
    def metadata(self) -> Native | None:
        signature = self.native.get("thoughtSignature")
        return {"thoughtSignature": signature} if isinstance(signature, str) else None


def take_part(native: Native, reader: Reader) -> Piece:
    """A part, ready to be lifted."""
    native, carried, spelling = reader.take(PART, native)
    kinds = [key for key in DATA if native.get(key) is not None]
    if not kinds and (native.get("thought") is True or isinstance(native.get("thoughtSignature"), str)):
        return Piece(native, carried, {**spelling, "keys": list(native)}, "text")
    return Piece(native, carried, spelling, kinds[0] if len(kinds) == 1 else None)


# ---------------------------------------------------------------- lift


def lift_part(piece: Piece, reader: Reader) -> Part:
    """A part of any kind; one that is not known, or that sets two data fields, is kept as it is."""
    if piece.kind == "text":
        return _lift_text(piece, reader)
    if piece.kind == "functionCall":
        return _lift_call(piece, reader)
    if piece.kind in ("inlineData", "fileData"):
        return lift_media(piece, reader)
    part = Opaque(FAMILY, piece.native)
    snakes = piece.spelling.get("snake")
    reader.origin.spell(part, {"snake": snakes} if snakes else {})
    return part


def _lift_text(piece: Piece, reader: Reader) -> Part:
    thought = piece.native.get("thought")
    text = piece.native.get("text") or ""
    extras = extras_of_family(piece.carried)
    part: Part
    if thought is True:
        part = Reasoning(text, metadata=piece.metadata, extras=extras)
    else:
        part = Text(text, piece.metadata, extras)
    spelling = piece.spelling
    if thought is False:
        spelling = {**spelling, "thought": False, "keys": list(piece.native)}
    reader.origin.spell(part, spelling)
    return part


def _aside(piece: Piece, inner: Native, key: str) -> Native:
    """What is carried beside and inside the data of a part; a mark that only text has is carried too."""
    thought = {"thought": piece.native["thought"]} if piece.native.get("thought") is not None else {}
    return {**piece.carried, **thought, **({key: inner} if inner else {})}


def _lift_call(piece: Piece, reader: Reader) -> ToolCall:
    native, inner, spelling = reader.take(CALL, piece.native["functionCall"], whole=("args",))
    id_ = reader.pairing.call(native.get("id") or None, native["name"])
    call = ToolCall(id_, native["name"], native.get("args") or {}, metadata=piece.metadata)
    call.extras = extras_of_family(_aside(piece, inner, "functionCall"))
    reader.origin.spell(call, {**piece.spelling, **({"inner": spelling} if spelling else {})})
    return call


def lift_media(piece: Piece, reader: Reader) -> Media:
    """Media by value or by reference; the media type says of which kind they are."""
    key = str(piece.kind)
    shape, source = (BLOB, "data") if key == "inlineData" else (FILE, "fileUri")
    native, inner, spelling = reader.take(shape, piece.native[key])
    media_type = native.get("mimeType") or None
    media = Media(kind_of(media_type), media_type=media_type, name=native.get("displayName") or None)
    if key == "inlineData":
        media.data = native[source]
    else:
        media.url = native[source]
    media.metadata = piece.metadata
    media.extras = extras_of_family(_aside(piece, inner, key))
    reader.origin.spell(media, {**piece.spelling, **({"inner": spelling} if spelling else {})})
    return media


def kind_of(media_type: str | None) -> MediaKind:
    """The kind of media of this type: what is neither seen nor heard is a document."""
    main = (media_type or "").partition("/")[0].lower()
    return next((kind for kind in KINDS if kind == main), "document")


# ---------------------------------------------------------------- lower


def lower_part(part: Part, role: str, writer: Writer) -> Native | None:
    """A part of a turn of this role; None where Google has no field for it there."""
    if isinstance(part, Text):
        return finish(part, {"text": part.text}, writer)
    if isinstance(part, Media):
        return _lower_media(part, role, writer)
    if isinstance(part, Opaque):
        return _lower_opaque(part, writer)
    if role != "assistant" and not writer.own:
        return None
    if isinstance(part, Reasoning):
        return _lower_reasoning(part, writer)
    if isinstance(part, Refusal):
        return finish(part, {"text": part.text}, writer)
    return _lower_call(part, writer) if isinstance(part, ToolCall) else None


def finish(part: Part, native: Native, writer: Writer) -> Native:
    """The part with its signature and with what stands beside its data."""
    spelling = writer.spelling(part)
    if "thought" in spelling:
        native["thought"] = spelling["thought"]
    signature = (part.metadata or {}).get("thoughtSignature")
    if isinstance(signature, str):
        native["thoughtSignature"] = signature
    carried = writer.carried(part.extras, PART)
    return PART.put(native, {key: value for key, value in carried.items() if key not in DATA}, spelling)


def _lower_reasoning(part: Reasoning, writer: Writer) -> Native | None:
    """A thought; one without words says nothing to Google unless its own signature goes with it."""
    text = part.text or "\n\n".join(part.summary or ())
    signed = isinstance((part.metadata or {}).get("thoughtSignature"), str)
    if not text and not signed and not writer.own:
        return None
    return finish(part, {"text": text, "thought": True}, writer)


def _lower_call(call: ToolCall, writer: Writer) -> Native:
    spelling = writer.spelling(call)
    native: Native = {} if call.id in writer.made_up or spelling.get("id") is False else {"id": call.id}
    native |= {"name": writer.rename(call.name), "args": call.arguments}
    inner = writer.carried(call.extras, CALL, "functionCall")
    return finish(call, {"functionCall": CALL.put(native, inner, spelling.get("inner", {}))}, writer)


def _lower_media(media: Media, role: str, writer: Writer) -> Native | None:
    if role in ("system", "developer") and not writer.own:
        return None
    body = media_body(media, writer)
    return None if body is None else finish(media, body, writer)


def media_body(media: Media, writer: Writer) -> Native | None:
    """The data field of media; None for what only its owner can find."""
    spelling = writer.spelling(media).get("inner", {})
    named: Native = {} if media.name is None else {"displayName": media.name}
    typed = {} if media.media_type is None and writer.own else {"mimeType": media.media_type or _guessed(media)}
    if media.data is not None:
        inner = writer.carried(media.extras, BLOB, "inlineData")
        return {"inlineData": BLOB.put({**typed, "data": media.data, **named}, inner, spelling)}
    if media.url is not None:
        inner = writer.carried(media.extras, FILE, "fileData")
        typed = {} if media.media_type is None and media.type == "document" else typed
        return {"fileData": FILE.put({**typed, "fileUri": media.url, **named}, inner, spelling)}
    if media.text is not None:
        data = b64encode(media.text.encode("utf-8", "surrogatepass")).decode("ascii")
        return {"inlineData": {"mimeType": media.media_type or "text/plain", "data": data, **named}}
    return None


def _guessed(media: Media) -> str:
    """A media type for media that have none: it never changes their kind."""
    guess = ENDINGS.get((media.url or "").rpartition(".")[2].lower(), "")
    return guess if kind_of(guess) == media.type else MEDIA_TYPES[media.type]


def _lower_opaque(part: Opaque, writer: Writer) -> Native | None:
    """A part that Google owns; of a relative only one whose every field this dialect has too."""
    if part.dialect != FAMILY or not isinstance(part.value, dict):
        return None
    if not writer.own and (not PART.known.issuperset(part.value) or writer.has(PART.name, part.value) != part.value):
        return None
    return PART.put(part.value, {}, writer.spelling(part))
