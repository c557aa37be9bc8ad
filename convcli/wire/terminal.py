"""Characters that must not reach a terminal as they are: it could obey them, or not show them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Compiled only when needed: it is slow to compile, and printable text does not need it."""


def json_escaped(text: str) -> str:
    """Returns JSON with these characters as JSON escapes: the value is the same."""
    return re.sub(UNSAFE, _escape, text)


def shown(chunks: Iterable[bytes | bytearray]) -> Iterator[bytes]:
    """Yields JSON in UTF-8 for a terminal, as `json_escaped` does; a character may be split between two chunks."""
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    for chunk in chunks:
        yield json_escaped(decoder.decode(chunk)).encode()
    yield json_escaped(decoder.decode(b"", final=True)).encode()


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
