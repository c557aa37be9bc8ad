"""Recognizes files that are not UTF-8 JSON, and suggests a fix."""

from __future__ import annotations

import msgspec

from convcli.wire.patterns import pattern

_MARKS = (
    (b"\xff\xfe\0\0", "UTF-32LE"),
    (b"\0\0\xfe\xff", "UTF-32BE"),
    (b"\xff\xfe", "UTF-16LE"),
    (b"\xfe\xff", "UTF-16BE"),
)
_WIDTHS = {"x000": "UTF-32LE", "000x": "UTF-32BE", "x0x0": "UTF-16LE", "0x0x": "UTF-16BE"}
ARCHIVE, DATABASE = b"PK\x03\x04", b"SQLite format 3\0"
"""Magic bytes of zip archives and SQLite databases."""
_MAGIC = (
    (DATABASE, "a SQLite database"),
    (ARCHIVE, "a zip archive"),
    (b"<|start|>", "text in OpenAI's harmony format"),
    (b"<|im_start|>", "ChatML text"),
    (b"# aider chat started at", "an Aider history"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"<!DOCTYPE", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "XML"),
)
_CONTROLS = pattern(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Bytes that do not occur in text."""
LOOK_AT = 1 << 10
"""Bytes of a file that are checked for text."""
_NUMBERS = pattern(rb"[0-9]+ [0-9]+ [0-9]")


class ForeignContent(msgspec.Struct, frozen=True):
    """Content that is not JSON: a code, a message and a help text."""

    code: str
    message: str
    help: str = ""


def of_beginning(data: bytes) -> ForeignContent | None:
    """Recognizes content by its first bytes."""
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return ForeignContent("not-json", f"this looks like {name}, not like JSON")
    if _NUMBERS.match(data):
        return ForeignContent("not-json", "this looks like a row of numbers, such as tokens, not like JSON")
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), _without_mark(data))
    if not encoding:
        return None
    fix = f"convert it first: iconv -f {encoding} -t UTF-8"
    return ForeignContent("wrong-encoding", f"this is {encoding}; JSON must be UTF-8", fix)


def _without_mark(data: bytes) -> str:
    """Detects the encoding: JSON begins with an ASCII character, so adjacent zero bytes show width and byte order."""
    return _WIDTHS.get("".join("x" if byte else "0" for byte in data[:4]), "")


def of_invalid(data: bytes, at: int) -> ForeignContent:
    """Explains the byte at which UTF-8 decoding fails."""
    byte = data[at]
    if byte == 0xED and data[at + 1 : at + 2] >= b"\xa0":
        return ForeignContent(
            "not-utf8",
            "byte 0xed begins half of a surrogate pair: this is CESU-8 (Java's modified UTF-8), not UTF-8",
            'Python reads it: data.decode("utf-8", "surrogatepass"), and "utf-16" joins the halves',
        )
    if byte in (0xC0, 0xC1):
        message = f"byte 0x{byte:02x} is an overlong form (Java's modified UTF-8), not UTF-8"
        return ForeignContent("not-utf8", message, "write the text again as standard UTF-8")
    if _CONTROLS.search(data[:LOOK_AT]):
        return ForeignContent("not-utf8", f"byte 0x{byte:02x} is not UTF-8 here", "this is binary data, not text")
    fix = "convert it first: iconv -f ISO-8859-1 -t UTF-8 for Latin-1, -f CP1252 for Windows, -f CP932 for Japanese"
    return ForeignContent("not-utf8", f"byte 0x{byte:02x} is not UTF-8 here", fix)


def of_zeros(text: str, at: int) -> ForeignContent | None:
    """Explains zero bytes in place of a value."""
    if text[at : at + 1] != "\0":
        return None
    count = len(text) - at - len(text[at:].lstrip("\0"))
    message = f"{count:,} zero byte{'s' if count > 1 else ''}, not a JSON value"
    return ForeignContent("not-json", message, "a crash during writing leaves such gaps; is there an older copy?")
