"""Mistral content chunks: text, thinking, images, documents and audio."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.openai import request as common
from convcli.families.openai.parts import image_of, sound_of, split_url, with_url
from convcli.kit.blocks import Block, BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.settings import whole
from convcli.model.transcript import Media, Part, Path, Reasoning, Text

NAME = "mistral"

THINKING = Keys("type= thinking= signature closed")
DOCUMENT = {"document_url": whole("url"), "document_name": whole("name")}


def lift_content(content: Any, context: LiftContext) -> tuple[list[Part], list[Path]]:
    """Returns the parts of a message content and their paths in the message."""
    if isinstance(content, str):
        return ([Text(content)], [("content",)]) if content else ([], [])
    parts = [CHUNKS.lift(chunk, context) for chunk in content or ()]
    return parts, [("content", j) for j in range(len(parts))]


def _lift_thinking(native: Native, _: LiftContext) -> Part:
    """Joins the text of all pieces; keeps the pieces as an extra if they hold more than text."""
    pieces = native["thinking"]
    is_clean = all(piece == {"type": "text", "text": piece.get("text")} for piece in pieces)
    extras = make_extras(NAME, THINKING.extra(native), thinking=None if is_clean else pieces)
    return Reasoning(_text_of(pieces), extras=extras)


def _write_thinking(part: Reasoning) -> Native:
    extra = dict(get_extras(part.extras, NAME))
    pieces = extra.pop("thinking", None)
    usual = [{"type": "text", "text": part.text}] if part.text else []
    written = pieces if pieces and _text_of(pieces) == part.text else usual
    return THINKING.put({"type": "thinking", "thinking": written}, extra)


def _text_of(pieces: list[Native]) -> str:
    return "".join(piece["text"] for piece in pieces if piece["type"] == "text")


def _image(block: Block) -> Block:
    """Returns the chunk of an image whose body may be its URL alone."""

    def read(native: Native, context: LiftContext) -> Part | None:
        body = native["image_url"]
        return block.read({**native, "image_url": {"url": body}} if isinstance(body, str) else native, context)

    def write(part: Media) -> Native | None:
        native = block.write(part)
        body = {} if native is None else native["image_url"]
        return {**(native or {}), "image_url": body["url"]} if list(body) == ["url"] else native

    return replace(block, read=read, write=write)


def _lift_audio(media: Media) -> Media | None:
    """Reads base64, bare or in a data URL, or a file URL."""
    if not isinstance(media.url, str):
        return None
    return split_url(media) if ":" in media.url else replace(media, data=media.url, url=None)


def _write_audio(media: Media) -> Media | None:
    body = media.data if media.media_type is None and media.data is not None else common.url_of_media(media)
    return None if body is None else replace(media, url=body)


def _sound(block: Block) -> Block:
    """Returns the chunk of audio with data and format, which vLLM and the older SDK also accept."""

    def read(native: Native, context: LiftContext) -> Part | None:
        return block.read(native, context) if list(native["input_audio"]) == ["data", "format"] else None

    return replace(block, read=read)


ROWS = BlockRows(NAME, "type")
CHUNKS = ROWS.table(
    ROWS.record("text", Text(""), "type text", {"text": whole("text")}),
    _image(image_of(ROWS)),
    ROWS.record(
        *("file", Media("document", file_id=""), "type file_id", {"file_id": whole("file_id")}),
        when=lambda part: part.file_id is not None,
    ),
    with_url(ROWS.record("document_url", Media("document", url=""), "type document_url document_name", DOCUMENT)),
    ROWS.record("input_audio", Media("audio", url=""), "type input_audio", {"input_audio": whole("url")}).adapted(
        _lift_audio, _write_audio
    ),
    _sound(sound_of(ROWS)),
    Block("thinking", Reasoning.type, _lift_thinking, _write_thinking),
)
"""The kinds of chunks. One of another kind is opaque."""
