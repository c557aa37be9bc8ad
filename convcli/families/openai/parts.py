"""The content parts of Chat Completions: text, refusal, images, audio, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from convcli.families.openai import request as common
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit, without_nulls
from convcli.kit.renaming import Alphabet, identifiers
from convcli.model.transcript import Extras, Media, Opaque, Part, Refusal, Text

NAMES, IDS = identifiers(64), Alphabet("", "", 40)
"""The accepted names of tools and ids of calls."""

AUDIO = Keys("id= data= expires_at transcript")


def lift_part(native: Native, dialect: str) -> Part:
    """Lifts a content part; opaque if its type or its body is unknown."""
    kind = native["type"]
    body: Any = native.get(kind) if kind in LIFT_PART else None
    if not isinstance(body, dict if kind in BODY_KEYS else str):
        return Opaque(dialect, native)
    inner = BODY_KEYS[kind].extra(native[kind]) if kind in BODY_KEYS else None
    part = LIFT_PART[kind](body, make_extras(dialect, PART_KEYS[kind].extra(native), **{kind: inner}))
    return Opaque(dialect, native) if part is None else part


def _lift_image(body: Native, extras: Extras | None) -> Part | None:
    if not isinstance(body.get("url"), str):
        return None
    return common.media_of_url("image", body["url"], detail=body.get("detail") or None, extras=extras)


def _lift_audio(body: Native, extras: Extras | None) -> Part | None:
    media_type = common.AUDIO_FORMATS.get(body.get("format") or "")
    if media_type is None or not isinstance(body.get("data"), str):
        return None
    return Media("audio", data=body["data"], media_type=media_type, extras=extras)


URLS = ("data:", "https://", "http://")


def _lift_file(body: Native, extras: Extras | None) -> Part | None:
    """Lifts a file with its data, as a data URL, or an id; one with neither or both is kept in extras. The service
    accepts no URL of a file, but people write them."""
    name = body.get("filename") or None
    if bool(body.get("file_data")) == bool(body.get("file_id")):
        return None
    if not (body.get("file_data") or "data:").startswith(URLS):
        return None
    if body.get("file_data"):
        return common.media_of_url("document", body["file_data"], name=name, extras=extras)
    return Media("document", file_id=body["file_id"], name=name, extras=extras)


TEXT = Keys("type text refusal")
PART_KEYS = {
    "text": TEXT,
    "refusal": TEXT,
    "image_url": Keys("type image_url"),
    "input_audio": Keys("type input_audio"),
    "file": Keys("type file"),
}
BODY_KEYS = {
    "image_url": Keys("url detail"),
    "input_audio": Keys("data format"),
    "file": Keys("file_data file_id filename"),
}
"""The keys of parts whose body is an object."""
LIFT_PART: dict[str, Callable[[Any, Extras | None], Part | None]] = {
    "text": lambda text, extras: Text(text, extras=extras),
    "refusal": lambda text, extras: Refusal(text, extras=extras),
    "image_url": _lift_image,
    "input_audio": _lift_audio,
    "file": _lift_file,
}


def write_text(part: Text | Refusal, dialect: str) -> Native:
    """Writes a text or a refusal, whose key has the name of its type."""
    native = {"type": part.type, part.type: part.text}
    return native if part.extras is None else TEXT.put(native, get_extras(part.extras, dialect))


def write_media(media: Media, dialect: str) -> Native | None:
    """Writes media as a content part; None if the API cannot express them."""
    written = WRITE_MEDIA[media.type](media) if media.type in WRITE_MEDIA else None
    if written is None:
        return None
    kind, body = written
    extra = get_extras(media.extras, dialect)
    native = {"type": kind, kind: BODY_KEYS[kind].put(body, extra.get(kind))}
    return PART_KEYS[kind].put(native, omit(extra, kind))


def _write_image(media: Media) -> tuple[str, Native] | None:
    url = common.url_of_media(media)
    return None if url is None else ("image_url", without_nulls({"url": url, "detail": media.detail}))


def _write_audio(media: Media) -> tuple[str, Native] | None:
    format_ = common.AUDIO_TYPES.get(media.media_type or "")
    return None if media.data is None or format_ is None else ("input_audio", {"data": media.data, "format": format_})


def usual_audio(media: Media) -> Media:
    """Gives audio the usual name of its type (`audio/mpeg` for `audio/mp3`)."""
    usual = common.AUDIO_FORMATS.get(common.AUDIO_TYPES.get(media.media_type or "", ""), media.media_type)
    return media if usual == media.media_type else replace(media, media_type=usual)


def _write_file(media: Media) -> tuple[str, Native] | None:
    drop_empty_name: Native = {} if media.name is None else {"filename": media.name}
    if media.data is not None:
        return "file", {"file_data": common.url_of_media(media), **drop_empty_name}
    if media.url is not None and media.url.startswith("data:"):
        return "file", {"file_data": media.url, **drop_empty_name}
    return None if media.file_id is None else ("file", {"file_id": media.file_id, **drop_empty_name})


WRITE_MEDIA = {"image": _write_image, "audio": _write_audio, "document": _write_file}


def lift_answer_audio(native: Native, dialect: str) -> Media:
    """Lifts audio of an answer, or only its id, which is a fact of its own."""
    extra = AUDIO.extra(native) or {}
    if not native.get("data"):
        return Media("audio", file_id=native["id"], extras=make_extras(dialect, {"audio": extra} if extra else None))
    extra = {"id": native["id"], **extra}
    return Media("audio", data=native["data"], extras=make_extras(dialect, {"audio": extra}))


def write_answer_audio(media: Media, dialect: str) -> Native | None:
    """Writes audio of an assistant, which always has an id; None for audio from elsewhere."""
    extra = dict(get_extras(media.extras, dialect).get("audio", {}))
    id_ = extra.pop("id", None) if media.data is not None else media.file_id
    if id_ is None:
        return None
    return AUDIO.put({"id": id_} if media.data is None else {"id": id_, "data": media.data}, extra)
