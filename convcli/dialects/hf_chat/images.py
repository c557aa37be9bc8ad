"""Images in a column of the row, one for each placeholder in its messages, as TRL reads them.

Specification: `prepare_multimodal_messages` in data_utils.py of TRL 1.16, features `Image` of datasets 5.2; read
2026-11-27.

    messages    [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is it?"}]}, …]
    images      ["dot.png"], or [{"bytes": "iVBORw0…", "path": "dot.png"}]; `image` for a single one

Without placeholders, the images precede the text of the first user message. Tool results have no placeholders. An image
with a URL is in the column too if another one has a path: TRL fills only placeholders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from convcli.families.openai.request import url_of_media
from convcli.families.rows.media import MARKS, lift_media
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, drop_extras, get_extras
from convcli.kit.passes import shared
from convcli.kit.values import type_of_image
from convcli.model.dialect import Pass
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Text, Transcript

IMAGES = "images"
COLUMNS = (IMAGES, "image")
PLACEHOLDER = {"type": "image"}
FILE_KEYS = frozenset(("bytes", "path"))


# ---------------------------------------------------------------- lift


def lift_images(row: Native, context: LiftContext) -> tuple[str, ...]:
    """Replaces placeholders by the images of the row. Returns the column that is read; any other stays in extras."""
    column, files = _files(row)
    places = _places(context.messages, files)
    for (i, k), (file, path) in zip(places, files, strict=False):
        message, (message_path, part_paths) = context.messages[i], context.origin.places[i]
        end = k + 1 if k < len(message.parts) and _is_placeholder(message.parts[k]) else k
        paths: list[Path] = [("content",)] * len(message.parts) if part_paths is None else list(part_paths)
        paths[k:end] = [(*[".."] * len(message_path), *path)]
        message.parts = [*message.parts[:k], file, *message.parts[end:]]
        context.origin.places[i] = message_path, paths
    return (column,) if places else ()


def _files(row: Mapping[str, Any]) -> tuple[str, list[tuple[Media, Path]]]:
    """Returns the column of a row and its images, each with its path; none if one of them cannot be read."""
    column = next((column for column in COLUMNS if row.get(column)), "")
    value = row.get(column)
    values = dict(enumerate(value)) if isinstance(value, list) else {None: value}
    files = [(_lift_file(one), (column,) if i is None else (column, i)) for i, one in values.items()]
    read: list[tuple[Media, Path]] = [(file, path) for file, path in files if file is not None]
    return column, read if len(read) == len(files) else []


def _lift_file(value: Any) -> Media | None:
    """Lifts a path, a URL or a data URL, or what `datasets` stores: the bytes of the file and its path."""
    if isinstance(value, str):
        return lift_media("image", value) if value else None
    if not isinstance(value, dict) or not value.keys() <= FILE_KEYS:
        return None
    data, path = value.get("bytes") or None, value.get("path") or None
    if not all(one is None or isinstance(one, str) for one in (data, path)):
        return None
    if data is None:
        return lift_media("image", path) if path else None
    return Media("image", data=data, media_type=type_of_image(data), name=path)


def _places(messages: Sequence[Message], files: Sequence[tuple[Media, Path]]) -> list[tuple[int, int]]:
    """Returns the places of these images, as the numbers of a message and of a part; none if they do not match.

    Messages that are not the user's can only have images of a column.
    """
    places = list(_placeholders(messages)) or list(_before_first_text(messages, len(files)))
    pairs = zip(places, files, strict=False)
    is_accepted = all(messages[i].role == "user" or is_in_column(file) for (i, _), (file, _) in pairs)
    return places if len(places) == len(files) and is_accepted else []


def _placeholders(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    for i, message in enumerate(messages):
        if message.role != "tool":
            yield from ((i, k) for k, part in enumerate(message.parts) if _is_placeholder(part))


def _is_placeholder(part: Part) -> bool:
    return isinstance(part, Opaque) and part.value == PLACEHOLDER


def _before_first_text(messages: Sequence[Message], count: int) -> Iterator[tuple[int, int]]:
    """Yields the places before the first text of the user, unless it has the marks of another trainer."""
    i, message = next(((i, one) for i, one in enumerate(messages) if one.role == "user"), (0, None))
    text = message.parts[0] if message is not None and len(message.parts) == 1 else None
    if isinstance(text, Text) and not any(mark in text.text for mark in MARKS):
        yield from ((i, k) for k in range(count))


# ---------------------------------------------------------------- fit, write


def is_in_column(media: Media) -> bool:
    """True for an image that has only a path: a message has no field for it."""
    return media.type == "image" and bool(media.path) and url_of_media(media) is None


def own_images(owner: str) -> Pass:
    """Returns a pass that drops placeholders and columns that would be read as other images."""

    def drop_unclear_images(transcript: Transcript) -> Transcript:
        extra = get_extras(transcript.extras, owner)
        if any(map(_has_image, transcript.messages)):
            messages = shared(transcript.messages, list(map(_without_placeholders, transcript.messages)))
            return drop_extras(replace(transcript, messages=messages), owner, IMAGES)
        column, files = _files(extra)
        return drop_extras(transcript, owner, column) if _places(transcript.messages, files) else transcript

    return drop_unclear_images


def _has_image(message: Message) -> bool:
    return any(part.__class__ is Media and is_in_column(part) for part in message.parts)


def _without_placeholders(message: Message) -> Message:
    parts = [part for part in message.parts if not _is_placeholder(part)]
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def move_to_column(messages: list[Message], owner: str) -> tuple[list[Message], Native]:
    """Returns the messages with placeholders for images with a path, and the column of these images.

    Next to them, an image with nothing but a URL is in the column too.
    """
    if not any(map(_has_image, messages)):
        return messages, {}
    files: list[str | None] = []

    def move(part: Part) -> Part:
        if not isinstance(part, Media) or not (is_in_column(part) or _is_url(part)):
            return part
        files.append(part.path or part.url)
        return Opaque(owner, dict(PLACEHOLDER))

    return [replace(message, parts=list(map(move, message.parts))) for message in messages], {IMAGES: files}


def _is_url(media: Media) -> bool:
    """True for an image that the column gives back as it is."""
    return media.type == "image" and media.url is not None and media == lift_media("image", media.url)
