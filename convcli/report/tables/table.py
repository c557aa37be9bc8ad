"""For people: aligned columns on a terminal, tab-separated cells elsewhere.

Text widths are those of rich; `rich.table` itself takes seven times as long for the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any

import msgspec

from convcli.report.tables import View, cell, tsv
from convcli.report.text import Paint, lines_of, tail
from convcli.wire.patterns import pattern

_UNSURE = pattern("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""Emoji variants, on whose width terminals disagree; they are removed so that columns stay aligned."""
MOST_ON_A_TERMINAL = 1_000
"""Rows of one aligned table: column widths need all rows at once."""

STYLES = {
    "user": "32", "assistant": "36", "system": "35", "developer": "35", "event": "2",
    "error": "1;31", "warning": "33", "open": "1;31", "orphan": "1;31", "aborted": "31",
    "branch": "2", "dropped": "31", "lost": "31", "content": "1",
    "changed": "33", "invented": "33", "moved": "33", "encoded": "34", "kept": "32",
    "reasoning": "3", "image": "34", "ok": "32",
}  # fmt: skip
"""Words of convcli that have a color of the terminal's palette, if a cell has nothing else."""
HEADS = {"message": "#"}
"""Shorter column names for a terminal."""
LEAST = 12
"""Cells that a column keeps before the first one is narrowed too."""
NARROW = 100
"""Terminal width in cells below which columns have smaller gaps."""
TAILED = frozenset(("file", "first"))
"""Columns of paths, whose end is more useful than their start."""
FIRM = frozenset(("field",))
"""Columns that are narrowed last: half a field name is useless."""
WRAPPED = frozenset(("why",))
"""Columns that are wrapped before they are cut: half a reason is useless."""
STYLED = frozenset(("role", "kind", "status", "level", "outcome", "severity"))
"""Columns with such words; equal text in other columns keeps its color."""
_NUMBER = (int, float, type(None))


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """Yields the header, then the rows; empty columns are left out on a terminal."""
    if view.width is None:
        yield from tsv.render(columns, rows, view)
        return
    pending = iter(rows)
    while batch := list(islice(pending, MOST_ON_A_TERMINAL)):
        filled = [name for name in columns if any(row.get(name) not in (None, "") for row in batch)]
        yield from _aligned(filled, batch, view, view.width)


class _Column(msgspec.Struct, frozen=True):
    """Layout of a column: its width, whether its cells wrap, and whether they are right-aligned."""

    room: int
    wraps: bool
    right: bool

    def lines(self, text: str) -> list[str]:
        """Wraps a cell that is too long, or cuts its end."""
        if self.wraps and (_cells(text) > self.room or "\n" in text or "\t" in text):
            return lines_of(text, self.room)
        return [_cut(text, self.room)]

    def padded(self, text: str, code: str, paint: Paint) -> str:
        """Pads one line of a cell to the width of the column."""
        spare, shown = " " * (self.room - _cells(text)), paint.in_colour(code, text) if code and text else text
        return spare + shown if self.right else shown + spare


def _aligned(names: Sequence[str], rows: list[dict[str, Any]], view: View, width: int) -> Iterator[str]:
    """Yields aligned lines, measured once for all rows."""
    gap = 1 if width < NARROW else 2
    heads = [HEADS.get(name, name) for name in names]
    cells = [[_text(name, row.get(name), view, width) for name in names] for row in rows]
    columns = [
        _Column(room, view.whole or name in WRAPPED, all(isinstance(row.get(name), _NUMBER) for row in rows))
        for name, room in zip(names, _widths(names, heads, cells, width, gap), strict=True)
    ]
    tailed = [index for index, name in enumerate(names) if name in TAILED]
    short = [_cut(head, column.room) for head, column in zip(heads, columns, strict=True)]
    yield from _row(short, columns, ["1"] * len(heads), gap, view.paint)
    for row in cells:
        codes = [_code(name, text) for name, text in zip(names, row, strict=True)]
        for index in tailed:
            row[index] = tail(row[index], columns[index].room)
        yield from _row(row, columns, codes, gap, view.paint)


def _row(
    cells: Sequence[str], columns: Sequence[_Column], codes: Sequence[str], gap: int, paint: Paint
) -> Iterator[str]:
    for pieces in zip_longest(*map(_Column.lines, columns, cells), fillvalue=""):
        laid_out = zip(columns, pieces, codes, strict=True)
        yield (" " * gap).join(column.padded(piece, code, paint) for column, piece, code in laid_out).rstrip() + "\n"


def _code(name: str, text: str) -> str:
    return STYLES.get(text.partition(",")[0], "") if name in STYLED else ""


def _widths(names: Sequence[str], heads: list[str], cells: list[list[str]], width: int, gap: int) -> list[int]:
    """Gives the columns their full width; while that is too much, narrows the widest.

    Firm columns are narrowed after the others, and the first one, which names its row, last.
    """
    widths = [max(len(head), *(_cells(row[index]) for row in cells)) for index, head in enumerate(heads)]
    others = range(1, len(widths))
    for _ in range(max(0, sum(widths) + gap * (len(widths) - 1) - width)):
        wide = [index for index in others if widths[index] > LEAST]
        giving = [index for index in wide if names[index] not in FIRM] or wide
        giving = giving or ([0] if widths[0] > LEAST or not others else list(others))
        widest = max(giving, key=lambda index: (widths[index], -index))
        widths[widest] = max(1, widths[widest] - 1)
    return widths


def _cells(text: str) -> int:
    """Returns the width of text; for several lines, that of the longest."""
    from rich.cells import cell_len  # knows the widths of all of Unicode

    return max(map(cell_len, text.split("\n"))) if "\n" in text else cell_len(text)


def _cut(text: str, room: int) -> str:
    from rich.cells import set_cell_size

    return text if _cells(text) <= room else set_cell_size(text, room - 1) + "…"


def _text(name: str, value: Any, view: View, width: int) -> str:
    text = f"{value:,}" if type(value) is int else _UNSURE.sub("", cell(value, lines=view.whole))
    if not view.whole and name not in WRAPPED:
        text = text[-width:] if name in TAILED else text[:width]
    return text
