"""Text from files made safe to show, and the few words and signs of which all reports are made.

A transcript can hold anything: terminal sequences, marks that reverse the direction of writing, half surrogates.
`safe_text` lets none of it through, so every string that comes from a file or a command line passes it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

import msgspec

_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""A pattern that takes long to compile, and that plain text does not need."""
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def safe_text(text: str, *, lines: bool = False) -> str:
    """The text with each control, direction, zero-width and tag character as a visible escape (`\\x1b`, `\\u202e`).

    Newlines and tabs stay only with `lines`, for text that is printed as a block.
    """
    if (text.replace("\n", "") if lines else text).isprintable():  # nothing that is unsafe is
        return text
    if lines:
        return re.sub(_UNSAFE, _escape, text)
    for char, shown in _SHORT.items():  # long texts have many lines, and a call for each would be slow
        text = text.replace(char, shown)
    return re.sub(_UNSAFE, _escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    short = _SHORT.get(match[0])
    return short or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def json_text(value: Any, *, indent: bool = False) -> str:
    """The JSON text of a value, compact or over several lines, in which what a terminal could obey is a JSON escape."""
    from convcli.wire import exact_json  # not at the top: errors and help need no JSON

    return re.sub(_UNSAFE, _json_escape, exact_json.write(value, indent=indent).decode())


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def cut(text: str, width: int) -> str:
    """The beginning of a text that fills at most `width` cells of a terminal, with an ellipsis if there is more."""
    if len(text) * 2 <= width:
        return text
    used = 0
    for at, char in enumerate(text):
        cells = _cells(char)
        if used + cells > width - 1 and (used + cells > width or at + 1 < len(text)):
            return text[:at] + "…"
        used += cells
    return text


def cells(text: str) -> int:
    """How many cells of a terminal a text fills."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if char.isascii():
        return 1
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def tail(text: str, width: int) -> str:
    """The end of a text, as `cut` gives the beginning: of a path it tells more."""
    if cells(text) <= width:
        return text
    while text and cells(text) >= width:
        text = text[1:]
    return f"…{text}"


def filled(pieces: Iterable[str], glue: str, width: int | None) -> str:
    """The pieces with the glue between them, as many on a line as fit, further lines indented; all on one without a
    width. No piece is broken."""
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
    """The lines of a text, broken between words where they fill more cells than this."""
    from rich.console import Console
    from rich.text import Text

    return [line.plain for line in Text(text).wrap(Console(), width, overflow="fold")]


def place(file: str, number: int | None = None, column: int = 0, where: str = "") -> str:
    """`file:line:column /pointer`, as far as it is known; the number of the line, or of a row of a table."""
    numbers = "" if number is None else f":{number}:{column}" if column else f":{number}"
    return safe_text(f"{file}{numbers} {where}".rstrip() if where else f"{file}{numbers}")


def spot(line: int, where: str, row: int = -1) -> str:
    """`line 40 /message`, in a table `row 39 /message`: a place in a file that is known, `the whole` where that is all
    that is known."""
    record = f"row {row}" if row >= 0 else f"line {line}" if line else ""
    return safe_text(" ".join(filter(None, [record, where]))) or "the whole"


MOST_COLOURED = 1 << 18
"""Characters of a JSON text that is coloured: a second of work."""


class Paint(msgspec.Struct, frozen=True):
    """How to mark what matters: with colour, or not at all."""

    colour: bool = False

    def severity(self, word: str, text: str) -> str:
        """Text in the colour of an error, a warning or an info."""
        return self._sgr({"error": "1;31", "warning": "1;33"}.get(word, "1;36"), text)

    def bold(self, text: str) -> str:
        """Text that leads."""
        return self._sgr("1", text)

    def dim(self, text: str) -> str:
        """Text that is secondary."""
        return self._sgr("2", text)

    def in_colour(self, code: str, text: str) -> str:
        """Text in a colour of the terminal's palette."""
        return self._sgr(code, text)

    def json(self, text: str) -> str:
        """JSON text with keys, strings, numbers and words in different colours, if it is not too long for a person.

        Only the colours are by rich: what it would print of a value has other numbers, and control characters.
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
