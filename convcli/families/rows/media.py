"""Media of rows: a mark in the text (`<image>`), and the file in a column of its own, in the order of the marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from operator import is_
from typing import Any

from msgspec.structs import replace

from convcli.kit.objects import Native
from convcli.kit.passes import MEDIA, on_parts
from convcli.kit.values import DATA_URL, split_data_url
from convcli.model.transcript import Media, MediaKind, Message, Part, Path, Reasoning, Text, ToolResult, Transcript
from convcli.wire.patterns import pattern

COLUMNS: dict[str, MediaKind] = {"images": "image", "videos": "video", "audios": "audio"}
COLUMN_OF = {kind: column for column, kind in COLUMNS.items()}
MARKS = {f"<{kind}>": kind for kind in COLUMN_OF}
PIECES = pattern(f"({'|'.join(MARKS)})")
URL_SCHEMES = ("http://", "https://")


class MediaColumns:
    """The files of a row while its texts are read or written.

    A column is read if it has as many files as the texts have marks; any other is kept in extras.
    """

    def __init__(self, row: Native, texts: Iterable[str]) -> None:
        counts = _counts(texts)
        self._files = {
            kind: [lift_media(kind, file) for file in row[column]]
            for column, kind in COLUMNS.items()
            if counts[kind] and _is_list_of_texts(row.get(column)) and len(row[column]) == counts[kind]
        }
        self._next = dict.fromkeys(self._files, 0)

    def again(self) -> MediaColumns:
        """Returns the same files, with none used yet."""
        media_columns = MediaColumns({}, ())
        media_columns._files, media_columns._next = self._files, dict.fromkeys(self._files, 0)
        return media_columns

    @property
    def columns(self) -> set[str]:
        """Returns the columns that are read."""
        return {COLUMN_OF[kind] for kind in self._files}

    def parts(self, text: str) -> list[tuple[Part, Path]]:
        """Returns a text with files in place of their marks, and the path of each file in the row."""
        parts: list[tuple[Part, Path]] = []
        for piece in PIECES.split(text) if self._files else [text]:
            kind = MARKS.get(piece)
            if kind in self._files and self._next[kind] < len(self._files[kind]):
                at = self._next[kind]
                parts.append((self._files[kind][at], (COLUMN_OF[kind], at)))
                self._next[kind] += 1
            elif parts and isinstance(parts[-1][0], Text):
                parts[-1] = (Text(parts[-1][0].text + piece), ())
            elif piece:
                parts.append((Text(piece), ()))
        return parts


def _counts(texts: Iterable[str]) -> Counter[str]:
    """Counts the marks of each kind."""
    return Counter(MARKS[mark] for text in texts for mark in PIECES.findall(text))


def missing_marks(row: Native, texts: Iterable[str]) -> str:
    """Returns the marks that the texts lack for files of the row."""
    counts = _counts(texts)
    columns = [(column, kind) for column, kind in COLUMNS.items() if _is_list_of_texts(row.get(column))]
    return "".join(f"<{kind}>" * (len(row[column]) - counts[kind]) for column, kind in columns)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def lift_media(kind: MediaKind, file: str) -> Media:
    """Lifts a file by its path, its URL or its data."""
    data = split_data_url(file)
    if data is not None:
        return Media(kind, data=data[1], media_type=data[0])
    return Media(kind, url=file) if file.startswith(URL_SCHEMES) else Media(kind, path=file)


def write_media(media: Media) -> str | None:
    """Returns the file as a column names it; None if no column can."""
    if media.data is not None:
        return DATA_URL.format(media.media_type or "application/octet-stream", media.data)
    return media.path or media.url


def write_parts(parts: Iterable[Any], columns: Native) -> str:
    """Returns the text with marks in place of files, and adds these to the columns of the row."""
    texts = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Media):
            columns.setdefault(COLUMN_OF[part.type], []).append(write_media(part))
            texts.append(f"<{part.type}>")
    return "".join(texts)


# ---------------------------------------------------------------- fit


def known(media: Media) -> Media | None:
    """Returns the media as they are read back from a column, by path, URL or data only; None if no column can name
    them."""
    file = write_media(media) if media.type in COLUMN_OF else None
    if not file:
        return None
    again = lift_media(media.type, file)
    return media if again == media else again


in_columns = on_parts(lambda part, _: known(part), *MEDIA)
"""Keeps only media of a kind with a column, and only what names the file."""


def joined_texts(parts: list[Part], joint: str) -> list[Part]:
    """Merges consecutive texts, and drops empty ones."""
    parts = [part for part in parts if not isinstance(part, Text) or part.text]
    if not any(isinstance(one, Text) and isinstance(two, Text) for one, two in pairwise(parts)):
        return parts
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Text) and isinstance(last, Text):
            joined[-1] = Text(last.text + joint + part.text)
        else:
            joined.append(part)
    return joined


def drop_ambiguous_marks(transcript: Transcript) -> Transcript:
    """Removes marks from texts if there are files of this kind, because they could not be distinguished."""
    kinds = {part.type for message in transcript.messages for part in _shown(message) if isinstance(part, Media)}
    if not kinds:
        return transcript
    marks = [mark for mark, kind in MARKS.items() if kind in kinds]
    messages = [_unmarked(message, marks) for message in transcript.messages]
    same = all(one is other for one, other in zip(messages, transcript.messages, strict=True))
    return transcript if same else replace(transcript, messages=messages)


def _shown(message: Message) -> Iterable[Part]:
    for part in message.parts:
        if isinstance(part, ToolResult) and part.kind == "multimodal":
            yield from part.value
        else:
            yield part


def _unmarked(message: Message, marks: list[str]) -> Message:
    parts = [_without_marks(part, marks) for part in message.parts]
    return message if all(map(is_, parts, message.parts)) else replace(message, parts=parts)


def _without_marks(part: Any, marks: list[str]) -> Any:
    if isinstance(part, ToolResult):
        if part.kind == "multimodal":
            value = [_without_marks(one, marks) for one in part.value]
            return part if value == part.value else replace(part, value=value)
        text = _replaced(part.value, marks) if isinstance(part.value, str) else part.value
        return part if text == part.value else replace(part, value=text)
    if not isinstance(part, (Text, Reasoning)):
        return part
    text = _replaced(part.text, marks)
    return part if text == part.text else replace(part, text=text)


def _replaced(text: str, marks: list[str]) -> str:
    for mark in marks:
        while mark in text:
            text = text.replace(mark, mark[1:-1])
    return text
