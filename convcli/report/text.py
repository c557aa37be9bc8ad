"""Makes text from files safe to show, and formats what all reports share.

A transcript can contain anything: terminal sequences, marks that reverse the writing direction, lone surrogates.
`safe_text` escapes all of it, so every string from a file or a command line passes through it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

import msgspec

from convcli.wire.terminal import UNSAFE, json_escaped

_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def safe_text(text: str, *, lines: bool = False) -> str:
    """Returns text with control, direction, zero-width and tag characters as visible escapes (`\\x1b`, `\\u202e`).

    Newlines and tabs are kept only with `lines`, for text printed as a block.
    """
    if (text.replace("\n", "") if lines else text).isprintable():  # unsafe characters are not printable
        return text
    if lines:
        return re.sub(UNSAFE, _escape, text)
    for char, shown in _SHORT.items():  # long texts have many lines, and a call for each would be slow
        text = text.replace(char, shown)
    return re.sub(UNSAFE, _escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    short = _SHORT.get(match[0])
    return short or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def json_text(value: Any, *, indent: bool = False) -> str:
    """Returns a value as JSON, compact or indented, with characters unsafe for a terminal as JSON escapes."""
    from convcli.wire import exact_json  # not at the top: errors and help need no JSON

    return json_escaped(exact_json.write(value, indent=indent).decode())


def cut(text: str, width: int) -> str:
    """Cuts text to at most `width` terminal cells, with an ellipsis if something is cut."""
    if len(text) * 2 <= width:
        return text
    used = 0
    for at, char in enumerate(text):
        cells = _cells(char)
        if used + cells > width - 1 and (used + cells > width or at + 1 < len(text)):
            return text[:at] + "…"
        used += cells
    return text


def one_line(text: str, length: int) -> str:
    """Returns the first words of a text on one line, at most `length` characters; the rest of it is not looked at."""
    return " ".join(text[: 4 * length].split())[:length]


def cells(text: str) -> int:
    """Returns the width of text in terminal cells."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if char.isascii():
        return 1
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def tail(text: str, width: int) -> str:
    """Cuts the start of text, as `cut` cuts the end: the end of a path is more useful."""
    too_wide = cells(text) - width
    if too_wide <= 0:
        return text
    start = 0
    while start < len(text) and too_wide >= 0:
        too_wide -= _cells(text[start])
        start += 1
    return f"…{text[start:]}"


def filled(pieces: Iterable[str], glue: str, width: int | None) -> str:
    """Joins pieces with glue, as many per line as fit; further lines are indented. No piece is broken.

    Without a width, everything is on one line.
    """
    lines, used = [""], 0
    for piece in pieces:
        room = cells(piece) + (cells(glue) if used else 0)
        if used and width is not None and used + room + len(glue.rstrip()) > width:
            lines[-1] += glue.rstrip()
            lines.append("  ")
            used, room = 2, cells(piece)
        elif used:
            lines[-1] += glue
        lines[-1] += piece
        used += room
    return "\n".join(lines)


def lines_of(text: str, width: int) -> list[str]:
    """Wraps the lines of text between words at this width."""
    from rich.console import Console
    from rich.text import Text

    return [line.plain for line in Text(text).wrap(Console(), width, overflow="fold")]


def place(file: str, number: int | None = None, column: int = 0, where: str = "") -> str:
    """Formats `file:line:column /pointer`, as far as known; the number is that of a line or a table row."""
    numbers = "" if number is None else f":{number}:{column}" if column else f":{number}"
    return safe_text(f"{file}{numbers} {where}".rstrip() if where else f"{file}{numbers}")


def position(line: int, where: str, row: int = -1) -> str:
    """Formats a position in a known file: `line 40 /message`, or `row 39 /message` in a table.

    Returns `the whole` if neither is known.
    """
    record = f"row {row}" if row >= 0 else f"line {line}" if line else ""
    return safe_text(" ".join(filter(None, [record, where]))) or "the whole"


MOST_COLOURED = 1 << 18
"""Limit on the characters of colored JSON, about a second of work."""


class Paint(msgspec.Struct, frozen=True):
    """Highlights text with colors, or not at all."""

    colour: bool = False

    def severity(self, word: str, text: str) -> str:
        """Colors text as an error, a warning or an info."""
        return self._sgr({"error": "1;31", "warning": "1;33"}.get(word, "1;36"), text)

    def bold(self, text: str) -> str:
        """Makes text bold."""
        return self._sgr("1", text)

    def dim(self, text: str) -> str:
        """Dims text that is secondary."""
        return self._sgr("2", text)

    def in_colour(self, code: str, text: str) -> str:
        """Colors text by an SGR code of the terminal's palette."""
        return self._sgr(code, text)

    def json(self, text: str) -> str:
        """Colors keys, strings, numbers and words of JSON, unless it is too long for a person.

        rich adds only the colors: its own JSON output would change numbers and print control characters.
        """
        if not self.colour or len(text) > MOST_COLOURED:
            return text
        from rich.console import Console
        from rich.highlighter import JSONHighlighter
        from rich.text import Text

        console = Console(force_terminal=True, color_system="standard", no_color=False)
        coloured = Text(text, end="")
        JSONHighlighter().highlight(coloured)
        with console.capture() as capture:
            console.print(coloured, soft_wrap=True, end="")
        return capture.get()

    def _sgr(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text
