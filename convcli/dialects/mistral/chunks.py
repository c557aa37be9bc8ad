"""The content chunks of Mistral: text, thinking, pictures, documents and audio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.families.openai import request as common
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.model.transcript import Media, Opaque, Origin, Part, Path, Reasoning, Refusal, Text

NAME = "mistral"

IMAGE = Keys("url detail")
CHUNKS = {
    "text": Keys("type text"),
    "image_url": Keys("type image_url"),
    "document_url": Keys("type document_url document_name"),
    "file": Keys("type file_id"),
    "input_audio": Keys("type input_audio"),
    "thinking": Keys("type thinking signature closed", carried="signature closed"),
}


def lift_content(content: Any, origin: Origin) -> tuple[list[Part], list[Path]]:
    """The parts of a content, and where they stand in the message."""
    if isinstance(content, str):
        return ([Text(content)], [("content",)]) if content else ([], [])
    parts = [lift_chunk(chunk, origin) for chunk in content or ()]
    return parts, [("content", j) for j in range(len(parts))]


def lift_chunk(native: Native, origin: Origin) -> Part:
    """The part that a chunk says; one of another kind is opaque."""
    kind = native["type"]
    if kind not in CHUNKS:
        return Opaque(NAME, native)
    carried, spelling = CHUNKS[kind].take(native)
    lifted = LIFT_CHUNK[kind](native)
    if lifted is None:
        return Opaque(NAME, native)
    part: Part = lifted[0]
    _, more, odd = lifted
    part.extras = extras_of(NAME, {**(carried or {}), **more})
    origin.spell(part, {**(spelling or {}), **odd})
    return part


def lower_chunk(part: Part, role: str, spellings: dict[int, Spelling], own: bool) -> Native | None:
    """A chunk; None where the API has none for it in this role."""
    spelling = spellings.get(id(part), {})
    carried = carried_by(part.extras, NAME)
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME else None
    if isinstance(part, (Text, Refusal)):
        native: Native | None = {"type": "text", "text": part.text}
    elif isinstance(part, Reasoning) and (own or role == "assistant"):
        native = _lower_thinking(part, carried, spelling)
    elif isinstance(part, Media) and (own or role == "user"):
        native = LOWER_MEDIA[part.type](part, carried, spelling) if part.type in LOWER_MEDIA else None
    else:
        native = None
    if native is None:
        return None
    kind = native["type"]
    return CHUNKS[kind].put(native, {key: carried[key] for key in carried if key != kind}, spelling)


Lifted = tuple[Any, Native, Spelling]
"""A part, what must be carried of the inside of its chunk, and how that was spelled."""


def _lift_thinking(native: Native) -> Lifted:
    """The texts of all pieces; pieces that are more than text are carried whole."""
    pieces = native["thinking"]
    texts = [piece["text"] for piece in pieces if piece["type"] == "text"]
    part = Reasoning("".join(texts))
    if pieces == _pieces(part.text):
        return part, {}, {} if not pieces or list(pieces[0]) == ["type", "text"] else {"thinking": pieces}
    plain = all(piece.keys() == {"type", "text"} for piece in pieces)
    return part, *(({}, {"thinking": pieces}) if plain else ({"thinking": pieces}, {}))


def _lower_thinking(part: Reasoning, carried: Native, spelling: Spelling) -> Native:
    pieces = carried.get("thinking") or spelling.get("thinking") or _pieces(part.text)
    said = "".join(piece["text"] for piece in pieces if piece["type"] == "text")
    return {"type": "thinking", "thinking": pieces if said == part.text else _pieces(part.text)}


def _pieces(text: str) -> list[Native]:
    return [{"type": "text", "text": text}] if text else []


def _lift_image(native: Native) -> Lifted:
    body = native["image_url"]
    if isinstance(body, str):
        return common.media_of_url("image", body), {}, {}
    carried, spelling = IMAGE.take(body)
    media = common.media_of_url("image", body["url"], detail=body.get("detail") or None)
    return media, {"image_url": carried} if carried else {}, {"object": True, "image_url": spelling}


def _lower_image(media: Media, carried: Native, spelling: Spelling) -> Native | None:
    url = common.url_of_media(media)
    if url is None:
        return None
    if media.detail is None and "image_url" not in carried and not spelling.get("object"):
        return {"type": "image_url", "image_url": url}
    body = {"url": url} if media.detail is None else {"url": url, "detail": media.detail}
    return {"type": "image_url", "image_url": IMAGE.put(body, carried.get("image_url"), spelling.get("image_url"))}


def _lift_document(native: Native) -> Lifted:
    return common.media_of_url("document", native["document_url"], name=native.get("document_name") or None), {}, {}


def _lower_document(media: Media, carried: Native, spelling: Spelling) -> Native | None:
    if media.file_id is not None:
        return {"type": "file", "file_id": media.file_id}
    url = common.url_of_media(media)
    if url is None:
        return None
    named: Native = {} if media.name is None else {"document_name": media.name}
    return {"type": "document_url", "document_url": url, **named}


def _lift_audio(native: Native) -> Lifted | None:
    """Base64, bare or in a data URL, or the URL of a file; vLLM and the older SDK also take data and format."""
    body = native["input_audio"]
    if isinstance(body, str):
        return (common.media_of_url("audio", body) if ":" in body else Media("audio", data=body)), {}, {}
    if list(body) != ["data", "format"] or body["format"] not in common.AUDIO_FORMATS:
        return None
    return Media("audio", data=body["data"], media_type=common.AUDIO_FORMATS[body["format"]]), {}, {"object": True}


def _lower_audio(media: Media, carried: Native, spelling: Spelling) -> Native | None:
    if spelling.get("object") and media.media_type in common.AUDIO_TYPES:
        return {
            "type": "input_audio",
            "input_audio": {"data": media.data, "format": common.AUDIO_TYPES[media.media_type]},
        }
    body = media.data if media.media_type is None and media.data is not None else common.url_of_media(media)
    return None if body is None else {"type": "input_audio", "input_audio": body}


LIFT_CHUNK: dict[str, Callable[[Native], Lifted | None]] = {
    "text": lambda native: (Text(native["text"]), {}, {}),
    "image_url": _lift_image,
    "document_url": _lift_document,
    "file": lambda native: (Media("document", file_id=native["file_id"]), {}, {}),
    "input_audio": _lift_audio,
    "thinking": _lift_thinking,
}
LOWER_MEDIA = {"image": _lower_image, "audio": _lower_audio, "document": _lower_document}
