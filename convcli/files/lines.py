"""Splits a byte stream into physical lines, and detects its framing from the first of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias

from convcli.files.members import RAISE, begins_array
from convcli.model.errors import ContentError
from convcli.wire.encodings import BOM
from convcli.wire.exact_json import parse

Framing: TypeAlias = Literal["json", "jsonl", "sse", "array"]
Line: TypeAlias = tuple[int, int, bytes, bool]
"""Number, byte offset, bytes without the newline, and whether a newline ended it."""

BLANK = b" \t\r\n"
TEXT_MARK = b"<|start|>"
"""The start of text between the marks of a chat template, which is not JSON."""
MOST_SKIPPED = 64
"""How many times longer than the limit a line may be and still be skipped."""
_NO_LINE: Line = (0, 0, b"", False)
SSE_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


class Omitted(bytes):
    """Bytes of a line that is too long to be kept: none, but their number is known."""

    size: int

    def __new__(cls, size: int) -> Omitted:
        """Creates the place of this many bytes."""
        omitted = super().__new__(cls)
        omitted.size = size
        return omitted


def too_long(max_line: int, line: int, byte: int) -> ContentError:
    """Returns the error for a line that is longer than the limit."""
    message = f"the line is longer than {max_line:,} bytes"
    return ContentError("line-too-long", message, line=line, column=1, byte=byte, help=RAISE)


def sniff(chunks: Iterator[bytes], max_line: int) -> tuple[Framing, bool, Iterator[bytes]]:
    """Returns the framing by the first two non-blank lines, whether it is an array, and all chunks from the start.

    In JSON Lines, lines that are too long are `Omitted`. Raises ContentError for such a line in any other file.
    """
    taken: list[bytes] = []

    def remembered() -> Iterator[bytes]:
        size = 0  # of the line
        for chunk in chunks:
            last = chunk.rfind(b"\n")
            size = size + len(chunk) if last < 0 else len(chunk) - last - 1
            taken.append(chunk if last >= 0 or size <= max_line else Omitted(len(chunk)))
            yield taken[-1]

    lines = split_lines(remembered(), max_line, skips=True)
    written = (line for line in lines if line[2].strip(BLANK) or line[2].__class__ is Omitted)
    first, second = next(written, _NO_LINE), next(written, _NO_LINE)
    framing = _framing(first[2].removeprefix(BOM), second[2])
    if framing != "jsonl":
        for number, offset, text, _ in (first, second):
            if text.__class__ is Omitted:
                raise too_long(max_line, number, offset)
    return framing, framing == "json" and begins_array(first[2].removeprefix(BOM)), chain(taken, chunks)


def _framing(first: bytes, second: bytes) -> Framing:
    """One whole value and more below it is JSON Lines. So is a broken line above a whole object, which no writer of
    one document puts at the margin, unless the broken line ends as an indented document begins."""
    if first.__class__ is Omitted:
        return "jsonl" if second.startswith(b"{") and _is_whole(second) else "json"
    if first.startswith(SSE_FIELDS):
        return "sse"
    if second.__class__ is Omitted:
        return "jsonl" if _is_whole(first) else "json"
    if not second or first.startswith(TEXT_MARK):
        return "json"
    if _is_whole(first):
        return "jsonl"
    is_open = first.rstrip(BLANK).endswith((b"[", b"{", b",", b":"))
    return "jsonl" if not is_open and second.startswith(b"{") and _is_whole(second) else "json"


def _is_whole(line: bytes) -> bool:
    try:
        parse(line, duplicate_keys="last")
    except ContentError:
        return False
    return True


def split_lines(
    chunks: Iterator[bytes], max_line: int, offset: int = 0, number: int = 1, *, skips: bool = False
) -> Iterator[Line]:
    """Yields the physical lines of a stream, starting at this number and offset.

    One that is too long is `Omitted` with `skips`. Otherwise, and if it seems to have no end, it raises ContentError.
    """
    pending, size = list[bytes](), 0
    for chunk in chunks:
        if chunk.__class__ is Omitted:
            size += chunk.size
            if size > MOST_SKIPPED * max_line:
                raise too_long(max_line, number, offset)
            continue
        for index, piece in enumerate(chunk.split(b"\n")):
            if index:
                yield number, offset, b"".join(pending) if size <= max_line else Omitted(size), True
                number, offset, pending, size = number + 1, offset + size + 1, [], 0
            size += len(piece)
            if size <= max_line:
                pending.append(piece)
            elif skips and size <= MOST_SKIPPED * max_line:
                pending.clear()
            else:
                raise too_long(max_line, number, offset)
    if size:
        yield number, offset, b"".join(pending) if size <= max_line else Omitted(size), False
