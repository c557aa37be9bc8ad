"""Images, documents, video and audio of Amazon Bedrock's Converse API: formats, sources and the names of documents."""

from __future__ import annotations

from typing import Any, Literal

from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.renaming import DIGITS, LETTERS, Alphabet
from convcli.model.transcript import Media, Part

NAME = "bedrock-converse"

Kind = Literal["image", "document", "video", "audio"]

MEDIA = {
    "image": Keys("format source error", carried="error"),
    "document": Keys("format name source context citations", carried="context citations"),
    "video": Keys("format source"),
    "audio": Keys("format source error", carried="error"),
}
SOURCE = Keys("bytes s3Location text content")
S3 = Keys("uri bucketOwner", carried="bucketOwner")

FIELD = {"bytes": "data", "s3Location": "url", "text": "text", "content": "text"}
"""The field of `Media` that holds a source of each kind."""

OFFICE = "application/vnd.openxmlformats-officedocument."
TYPES = {
    "image": {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"},
    "document": {
        "pdf": "application/pdf",
        "csv": "text/csv",
        "doc": "application/msword",
        "docx": f"{OFFICE}wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": f"{OFFICE}spreadsheetml.sheet",
        "html": "text/html",
        "txt": "text/plain",
        "md": "text/markdown",
    },
    "video": {
        "mp4": "video/mp4",
        "mov": "video/quicktime",
        "mkv": "video/x-matroska",
        "webm": "video/webm",
        "flv": "video/x-flv",
        "mpeg": "video/mpeg",
        "mpg": "video/mpeg",
        "wmv": "video/x-ms-wmv",
        "three_gp": "video/3gpp",
    },
    "audio": {
        "mp3": "audio/mpeg",
        "wav": "audio/wav",
        "aac": "audio/aac",
        "flac": "audio/flac",
        "opus": "audio/opus",
        "ogg": "audio/ogg",
        "mp4": "audio/mp4",
        "mka": "audio/x-matroska",
        "webm": "audio/webm",
        "pcm": "audio/pcm",
        "mkv": "audio/x-matroska",
        "m4a": "audio/mp4",
        "x-aac": "audio/aac",
        "mpeg": "audio/mpeg",
        "mpga": "audio/mpeg",
    },
}
"""The media type of each format; of several formats with one type the first is written."""

FORMATS = {kind: {media_type: name for name, media_type in reversed(table.items())} for kind, table in TYPES.items()}
ALIASES = {"image/jpg": "image/jpeg", "audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wav", "audio/x-m4a": "audio/mp4"}
MAGIC = {"iVBORw0KGgo": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp", "JVBERi": "pdf"}
"""How the base64 of a format begins."""

LABEL = LETTERS + DIGITS + " -()[]"
LABEL_LIMIT = 200
LABELS = Alphabet("", LABEL, LABEL_LIMIT)
"""What the name of a document may be made of."""


def kind_of(union: Native) -> str:
    """The name of the one member that is set; empty where none is, or more than one."""
    given = [key for key, value in union.items() if value is not None]
    return given[0] if len(given) == 1 else ""


def beside(part: Part) -> Native:
    """The carried keys that stand in the block itself."""
    carried = carried_by(part.extras, NAME)
    return {key: value for key, value in carried.items() if key != "cachePoint"}


# ---------------------------------------------------------------- lift


def lift_media(kind: Kind, body: Native) -> tuple[Media, Spelling] | None:
    """Media and how they were spelled; None where the source is of an unknown kind."""
    form = kind_of(body["source"])
    if form not in FIELD:
        return None
    value, rest, source_spelling = _lift_source(form, body["source"])
    if value is None:
        return None
    carried, spelling = MEDIA[kind].take(body)
    extras, odd = {**(carried or {}), **({"source": rest} if rest else {})}, {**(spelling or {}), **source_spelling}
    format_ = body.get("format") or ""
    media_type = TYPES[kind].get(format_)
    if media_type is None and format_:
        extras["format"] = format_
    elif media_type is not None and FORMATS[kind][media_type] != format_:
        odd["format"] = format_
    name = body["name"] or None if kind == "document" else None
    fields: dict[str, Any] = {FIELD[form]: value, "media_type": media_type, "name": name}
    return Media(kind, **fields, extras=extras_of(NAME, extras)), odd


def _lift_source(form: str, source: Native) -> tuple[str | None, Native, Spelling]:
    """The value of a source, what must be carried of it, and how it was spelled."""
    value = source[form]
    _, spelling = SOURCE.take(source)
    odd: Spelling = {"source": spelling} if spelling else {}
    if form == "s3Location":
        carried, inner = S3.take(value)
        odd |= {"s3Location": inner} if inner else {}
        return value["uri"], {"s3Location": carried} if carried else {}, odd
    if form == "content":
        texts = [block["text"] for block in value if block.keys() == {"text"}]
        return "\n".join(texts) if len(texts) == len(value) else None, {"content": value}, odd
    return value, {}, odd


# ---------------------------------------------------------------- lower


def lower_media(media: Media, spelling: Spelling, name: str, *, own: bool) -> Native | None:
    """The body of a block of media, a document under this name; None where the API cannot say it."""
    carried = carried_by(media.extras, NAME)
    format_ = _format(media, spelling, own)
    source = _lower_source(media, carried.get("source", {}), spelling, own)
    if source is None or (not format_ and media.type != "document" and not own):
        return None
    native: Native = {"format": format_} if format_ else {}
    if media.type == "document":
        native["name"] = name
    native["source"] = source
    rest = {key: value for key, value in beside(media).items() if key != "source"}
    return MEDIA[media.type].put(native, rest, spelling)


def _format(media: Media, spelling: Spelling, own: bool) -> str:
    """By the media type; where there is none, by how the data begins or how the name ends."""
    formats = TYPES[media.type]
    written: str = spelling.get("format", "")
    if written and formats[written] == media.media_type:
        return written
    media_type = (media.media_type or "").partition(";")[0].strip().lower()
    found = FORMATS[media.type].get(ALIASES.get(media_type, media_type), "")
    if found or own or media.media_type is not None:
        return found
    guesses = [name for head, name in MAGIC.items() if (media.data or "").startswith(head)]
    guesses.append((media.name or media.url or "").rpartition(".")[2].lower())
    return next((name for name in guesses if name in formats), "")


def _lower_source(media: Media, carried: Native, spelling: Spelling, own: bool) -> Native | None:
    if media.data is not None:
        source: Native = {"bytes": media.data}
    elif media.text is not None and (own or media.type == "document"):
        source = {"content": carried["content"]} if "content" in carried else {"text": media.text}
    elif media.url is not None and (own or media.url.startswith("s3://")):
        source = {"s3Location": S3.put({"uri": media.url}, carried.get("s3Location"), spelling.get("s3Location"))}
    else:
        return None
    return SOURCE.put(source, None, spelling.get("source"))


def label(name: str | None) -> str:
    """The name of a document as the API allows it: without what a file name ends in, no two spaces in a row."""
    if name and "  " not in name and LABELS.accepts(name):
        return name
    stem, dot, ending = (name or "").rpartition(".")
    kept = stem if dot and ending.isalnum() else name or ""
    words = "".join(char if char in LABEL else " " for char in kept).split()
    return " ".join(words)[:LABEL_LIMIT] or "document"
