"""For people: aligned columns on a terminal, tab-separated cells anywhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from typing import Any

from convcli.report.tables import View, cell, tsv

_UNSURE = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""Variants of emoji, for which terminals do not agree on a width: without them the columns stand straight."""
MOST_ON_A_TERMINAL = 1_000
"""Rows of one aligned table: the widths of its columns need all of them at once."""

STYLES = {
    "user": "green", "assistant": "cyan", "system": "magenta", "developer": "magenta", "event": "dim",
    "error": "bold red", "warning": "yellow", "open": "bold red", "orphan": "bold red", "aborted": "red",
    "branch": "dim", "dropped": "red", "lost": "red", "content": "bold",
    "changed": "yellow", "invented": "yellow", "moved": "yellow", "encoded": "blue", "kept": "green",
    "reasoning": "italic", "image": "blue", "ok": "green",
}  # fmt: skip
"""Words of ours that have a colour, wherever such a cell says nothing else."""
HEADS = {"message": "#"}
"""Heads that are shorter on a terminal."""
LEAST = 12
"""Cells that a column keeps before the first one gives way too."""
NARROW = 100
"""Below this many cells, columns stand closer together."""
WRAPPED = frozenset(("why",))
"""Columns that take several lines before they are cut: half a reason is none."""
STYLED = frozenset(("role", "kind", "status", "level", "outcome", "severity"))
"""Columns with such words: a text that happens to be one of them keeps its colour."""


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """The head, and then the rows; columns in which nothing stands are left out on a terminal."""
    if view.width is None:
        yield from tsv.render(columns, rows, view)
        return
    pending = iter(rows)
    while batch := list(islice(pending, MOST_ON_A_TERMINAL)):
        said = [name for name in columns if any(row.get(name) not in (None, "") for row in batch)]
        yield _aligned(said, batch, view, view.width)


def _aligned(columns: Sequence[str], rows: list[dict[str, Any]], view: View, width: int) -> str:
    """rich measures wide characters; it gets plain `Text`, so nothing in a cell is markup."""
    from rich.console import Console
    from rich.table import Table

    gap = 1 if width < NARROW else 2
    cells = [[_text(name, row.get(name), view, width) for name in columns] for row in rows]
    heads = [HEADS.get(name, name) for name in columns]
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold", show_lines=view.whole)
    rooms = _widths(heads, cells, width, gap)
    for index, room in enumerate(rooms):
        numeric = all(isinstance(row.get(columns[index]), (int, float, type(None))) for row in rows)
        table.add_column(
            heads[index],
            width=room,
            no_wrap=not (view.whole or columns[index] in WRAPPED),
            overflow="fold" if view.whole or columns[index] in WRAPPED else "ellipsis",
            justify="right" if numeric else "left",
        )
    for row in cells:
        table.add_row(*(_tail(text, rooms[at]) if columns[at] == "file" else text for at, text in enumerate(row)))
    sink = StringIO()
    colours: Any = "standard" if view.paint.colour else None
    Console(
        file=sink, width=width, markup=False, emoji=False, highlight=False, color_system=colours,
        force_terminal=view.paint.colour, no_color=not view.paint.colour, legacy_windows=False,
    ).print(table)  # fmt: skip
    return "".join(line.rstrip() + "\n" for line in sink.getvalue().rstrip("\n").split("\n"))


def _widths(heads: list[str], cells: list[list[Any]], width: int, gap: int) -> list[int]:
    """The columns as wide as they want; while that is too much, the widest gives way (rich would cut them all).

    The first column names its row, so it gives way last.
    """
    widths = [max(len(head), *(row[index].cell_len for row in cells)) for index, head in enumerate(heads)]
    for _ in range(max(0, sum(widths) + gap * (len(widths) - 1) - width)):
        others = widths[1:]
        weak = max(others, default=0) > LEAST or widths[0] <= LEAST
        widest = 1 + others.index(max(others)) if others and weak else 0
        widths[widest] = max(1, widths[widest] - 1)
    return widths


def _tail(text: Any, room: int) -> Any:
    """The end of a path tells more than its beginning."""
    if text.cell_len <= room:
        return text
    end = text.plain
    while end and text.__class__(end).cell_len >= room:
        end = end[1:]
    return text.__class__(f"…{end}")


def _text(name: str, value: Any, view: View, width: int) -> Any:
    from rich.text import Text

    text = f"{value:,}" if type(value) is int else _UNSURE.sub("", cell(value, lines=view.whole))
    style = STYLES.get(text.partition(",")[0], "") if name in STYLED and view.paint.colour else ""
    if not view.whole and name not in WRAPPED:
        text = text[-width:] if name == "file" else text[:width]
    return Text(text, style=style)
