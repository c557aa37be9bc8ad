"""Splits a byte stream into physical lines, and detects its framing from the first of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias

from convcli.files.members import begins_array
from convcli.model.errors import ContentError
from convcli.wire.exact_json import parse

Framing: TypeAlias = Literal["json", "jsonl", "sse", "array"]
Line: TypeAlias = tuple[int, int, bytes, bool]
"""Number, byte offset, bytes without the newline, and whether a newline ended it."""

BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r\n"
TEXT_MARK = b"<|start|>"
"""The start of text between the marks of a chat template, which is not JSON."""
SSE_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


def sniff(chunks: Iterator[bytes], max_line: int) -> tuple[Framing, bool, Iterator[bytes]]:
    """Returns the framing by the first two non-blank lines, whether it is an array, and all chunks from the start."""
    taken: list[bytes] = []

    def remembered() -> Iterator[bytes]:
        for chunk in chunks:
            taken.append(chunk)
            yield chunk

    written = (text for _, _, text, _ in split_lines(remembered(), max_line) if text.strip(BLANK))
    first = next(written, b"").removeprefix(BOM)
    framing = _framing(first, next(written, b""))
    return framing, framing == "json" and begins_array(first), chain(taken, chunks)


def _framing(first: bytes, second: bytes) -> Framing:
    """One whole value and more below it is JSON Lines. So is a broken line above a whole object, which no writer of
    one document puts at the margin, unless the broken line ends as an indented document begins."""
    if first.startswith(SSE_FIELDS):
        return "sse"
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


def split_lines(chunks: Iterator[bytes], max_line: int, offset: int = 0, number: int = 1) -> Iterator[Line]:
    """Yields the physical lines of a stream, starting at this number and offset. Raises ContentError."""
    pending, size = list[bytes](), 0
    for chunk in chunks:
        for index, piece in enumerate(chunk.split(b"\n")):
            if index:
                yield number, offset, b"".join(pending), True
                number, offset, pending, size = number + 1, offset + size + 1, [], 0
            size += len(piece)
            if size > max_line:
                raise ContentError(
                    "line-too-long",
                    f"the line is longer than {max_line:,} bytes",
                    line=number,
                    column=1,
                    byte=offset,
                    help="the limit is fixed: split the document",
                )
            pending.append(piece)
    if size:
        yield number, offset, b"".join(pending), False
