"""Mistral content chunks: text, thinking, images, documents and audio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.families.openai import request as common
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.model.transcript import Media, Opaque, Part, Path, Reasoning, Text

NAME = "mistral"

IMAGE = Keys("url detail")
CHUNKS = {
    "text": Keys("type text"),
    "image_url": Keys("type image_url"),
    "document_url": Keys("type document_url document_name"),
    "file": Keys("type file_id"),
    "input_audio": Keys("type input_audio"),
    "thinking": Keys("type= thinking= signature closed"),
}


def lift_content(content: Any) -> tuple[list[Part], list[Path]]:
    """Returns the parts of a message content and their paths in the message."""
    if isinstance(content, str):
        return ([Text(content)], [("content",)]) if content else ([], [])
    parts = [lift_chunk(chunk) for chunk in content or ()]
    return parts, [("content", j) for j in range(len(parts))]


def lift_chunk(native: Native) -> Part:
    """Returns the part for a chunk; a chunk of an unknown type becomes opaque."""
    kind = native["type"]
    lifted = LIFT_CHUNK[kind](native) if kind in CHUNKS else None
    if lifted is None:
        return Opaque(NAME, native)
    part: Part = lifted[0]
    extra = lifted[1]
    part.extras = make_extras(NAME, {**(CHUNKS[kind].extra(native) or {}), **extra})
    return part


def write_chunk(part: Part) -> Native | None:
    """Returns the chunk for a part; None if the API has none."""
    extra = get_extras(part.extras, NAME)
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME else None
    if isinstance(part, Text):
        native: Native | None = {"type": "text", "text": part.text}
    elif isinstance(part, Reasoning):
        native = _write_thinking(part, extra)
    else:
        native = write_media(part) if isinstance(part, Media) else None
    if native is None:
        return None
    kind = native["type"]
    return CHUNKS[kind].put(native, omit(extra, kind))


def write_media(media: Media) -> Native | None:
    """Returns the chunk for an image, a document or audio; None if the API has none."""
    if media.type not in WRITE_MEDIA:
        return None
    return WRITE_MEDIA[media.type](media, get_extras(media.extras, NAME))


Lifted = tuple[Any, Native]
"""A part, and the extras from inside its chunk."""


def _lift_thinking(native: Native) -> Lifted:
    """Joins the text of all pieces; keeps the pieces as an extra if they hold more than text."""
    pieces = native["thinking"]
    part = Reasoning(_text_of(pieces))
    is_clean = all(piece == {"type": "text", "text": piece.get("text")} for piece in pieces)
    return part, {} if is_clean else {"thinking": pieces}


def _write_thinking(part: Reasoning, extra: Native) -> Native:
    pieces = extra.get("thinking")
    usual = [{"type": "text", "text": part.text}] if part.text else []
    return {"type": "thinking", "thinking": pieces if pieces and _text_of(pieces) == part.text else usual}


def _text_of(pieces: list[Native]) -> str:
    return "".join(piece["text"] for piece in pieces if piece["type"] == "text")


def _lift_image(native: Native) -> Lifted:
    body = native["image_url"]
    if isinstance(body, str):
        return common.media_of_url("image", body), {}
    extra = IMAGE.extra(body)
    media = common.media_of_url("image", body["url"], detail=body.get("detail") or None)
    return media, {"image_url": extra} if extra else {}


def _write_image(media: Media, extra: Native) -> Native | None:
    url = common.url_of_media(media)
    if url is None:
        return None
    if media.detail is None and "image_url" not in extra:
        return {"type": "image_url", "image_url": url}
    body = {"url": url} if media.detail is None else {"url": url, "detail": media.detail}
    return {"type": "image_url", "image_url": IMAGE.put(body, extra.get("image_url"))}


def _lift_document(native: Native) -> Lifted:
    return common.media_of_url("document", native["document_url"], name=native.get("document_name") or None), {}


def _write_document(media: Media, extra: Native) -> Native | None:
    if media.file_id is not None:
        return {"type": "file", "file_id": media.file_id}
    url = common.url_of_media(media)
    if url is None:
        return None
    drop_empty_name: Native = {} if media.name is None else {"document_name": media.name}
    return {"type": "document_url", "document_url": url, **drop_empty_name}


def _lift_audio(native: Native) -> Lifted | None:
    """Reads base64, bare or in a data URL, or a file URL; vLLM and the older SDK also accept data and format."""
    body = native["input_audio"]
    if isinstance(body, str):
        return (common.media_of_url("audio", body) if ":" in body else Media("audio", data=body)), {}
    if list(body) != ["data", "format"] or body["format"] not in common.AUDIO_FORMATS:
        return None
    return Media("audio", data=body["data"], media_type=common.AUDIO_FORMATS[body["format"]]), {}


def _write_audio(media: Media, extra: Native) -> Native | None:
    body = media.data if media.media_type is None and media.data is not None else common.url_of_media(media)
    return None if body is None else {"type": "input_audio", "input_audio": body}


LIFT_CHUNK: dict[str, Callable[[Native], Lifted | None]] = {
    "text": lambda native: (Text(native["text"]), {}),
    "image_url": _lift_image,
    "document_url": _lift_document,
    "file": lambda native: (Media("document", file_id=native["file_id"]), {}),
    "input_audio": _lift_audio,
    "thinking": _lift_thinking,
}
WRITE_MEDIA = {"image": _write_image, "audio": _write_audio, "document": _write_document}
