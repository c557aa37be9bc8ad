"""The members of a JSON array one at a time, so that an array of any length needs little memory.

They are separated by brackets and strings alone. Each member with balanced brackets is parsed by itself, so invalid
JSON in one does not hide the others. https://www.rfc-editor.org/rfc/rfc8259"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from convcli.model.errors import ContentError
from convcli.wire.encodings import BOM
from convcli.wire.exact_json import Position
from convcli.wire.patterns import JSON_STRING, pattern

# Possessive quantifiers: a mismatch fails at once instead of backtracking.
_TO_BRACKET = pattern(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL)
_STRING = pattern(JSON_STRING.encode(), re.DOTALL)
_WORD = pattern(rb'[^\s,\[\]{}"]++|[\]}]')
_BLANK = pattern(rb"[ \t\r\n]*+")
_CONTINUED = bytes(range(0x80, 0xC0))
"""Bytes of a character after its first."""
RAISE = "--max-line raises the limit, for example --max-line 1G"


class Member(msgspec.Struct, frozen=True):
    """One member of an array: its position and bytes, or, with a `problem`, a position where JSON breaks."""

    number: int
    begin: Position
    raw: bytes
    problem: str = ""


def begins_array(text: bytes) -> bool:
    """True if a JSON text begins as an array."""
    return text.removeprefix(BOM).lstrip(b" \t\r\n").startswith(b"[")


def split_members(chunks: Iterator[bytes], largest: int) -> Iterator[Member]:
    """Yields the members of an array in order. Raises ContentError for one that is too large."""
    text, index = _Text(chunks, largest), 0
    if text.starts_with(BOM):
        text.skip(len(BOM))
        text.place = (1, 1, len(BOM))
    text.blank()
    text.skip(1)
    text.blank()
    if text.starts_with(b"]"):
        yield from _behind(text, index)
        return
    while True:
        yield from _member(text, index)
        index += 1
        text.blank()
        if text.starts_with(b"]"):
            yield from _behind(text, index)
            return
        if text.is_at_end():
            yield Member(index, text.place, b"", "the document ends before it is complete")
            return
        if not text.starts_with(b","):
            yield Member(index, text.place, b"", "a comma or a closing bracket is missing here")
            continue
        text.skip(1)
        text.blank()


def _member(text: _Text, index: int) -> Iterator[Member]:
    """The member that begins here."""
    begin = text.place
    if text.is_at_end():
        return  # reported next
    if text.starts_with(b",") or text.starts_with(b"]"):
        yield Member(index, begin, b"", "no JSON value begins here")
        return
    yield Member(index, begin, text.take(text.length_of_value()))


def _behind(text: _Text, index: int) -> Iterator[Member]:
    """Reports anything after the array."""
    text.skip(1)
    text.blank()
    if not text.is_at_end():
        yield Member(index, text.place, b"", "one JSON value is complete, and more follows it here")


class _Text:
    """Bytes that come in pieces, and the position up to which they were used."""

    def __init__(self, chunks: Iterator[bytes], largest: int) -> None:
        self._chunks, self._largest = chunks, largest
        self._buffer, self._at, self._ended = b"", 0, False
        self.place: Position = (1, 1, 0)

    def starts_with(self, prefix: bytes) -> bool:
        while len(self._buffer) - self._at < len(prefix) and self._fill():
            pass
        return self._buffer.startswith(prefix, self._at)

    def is_at_end(self) -> bool:
        return self._at == len(self._buffer) and not self._fill()

    def blank(self) -> None:
        """Skips white space."""
        while True:
            match = _BLANK.match(self._buffer, self._at)
            self.skip(match.end() - self._at if match else 0)
            if self._at < len(self._buffer) or not self._fill():
                return

    def skip(self, length: int) -> None:
        self.take(length)

    def take(self, length: int) -> bytes:
        """Returns the next bytes and advances."""
        taken = self._buffer[self._at : self._at + length]
        line, column, byte = self.place
        newlines = taken.count(b"\n")
        last = taken[taken.rfind(b"\n") + 1 :] if newlines else taken
        characters = len(last.translate(None, _CONTINUED))
        self.place = line + newlines, 1 + characters if newlines else column + characters, byte + length
        self._at += length
        return taken

    def length_of_value(self) -> int:
        """Returns the length of the value that begins here; up to the end if it is incomplete."""
        if self.starts_with(b"{") or self.starts_with(b"["):
            return self._length_to_closing()
        pattern = _STRING if self.starts_with(b'"') else _WORD
        while True:
            match = pattern.match(self._buffer, self._at)
            is_ended = match is not None and match.end() < len(self._buffer)
            if match is not None and (is_ended or not self._fill()):
                return match.end() - self._at
            if match is None and not self._fill():
                return len(self._buffer) - self._at

    def _length_to_closing(self) -> int:
        depth, length = 0, 0
        while True:
            match = _TO_BRACKET.match(self._buffer, self._at + length)
            if match is None:
                if not self._fill():
                    return len(self._buffer) - self._at
                continue
            length = match.end() - self._at
            depth += 1 if match[1] in (b"[", b"{") else -1
            if not depth:
                return length

    def _fill(self) -> bool:
        """Reads at least as many bytes as are unused, so that rescanning takes linear time in total."""
        pieces, size = [self._buffer[self._at :]], 0
        wanted = len(pieces[0])
        if wanted > self._largest:
            line, column, byte = self.place
            raise ContentError(
                "line-too-long",
                f"a member of the array is longer than {self._largest:,} bytes",
                line=line,
                column=column,
                byte=byte,
                help=RAISE,
            )
        while size <= wanted and (piece := next(self._chunks, None)) is not None:
            pieces.append(piece)
            size += len(piece)
        self._buffer, self._at = b"".join(pieces), 0
        return size > 0
