"""For people: aligned columns on a terminal, tab-separated cells anywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from typing import Any

from convcli.report.tables import View, cell, tsv

MOST_ON_A_TERMINAL = 1_000
"""Rows of one aligned table: the widths of its columns need all of them at once."""

STYLES = {
    "user": "green", "assistant": "cyan", "system": "magenta", "developer": "magenta", "event": "dim",
    "error": "bold red", "open": "bold red", "orphan": "bold red", "dropped": "red", "lost": "red", "content": "bold",
    "changed": "yellow", "invented": "yellow", "moved": "yellow", "encoded": "blue", "kept": "green",
    "reasoning": "italic", "image": "blue", "ok": "green",
}  # fmt: skip
"""Words of ours that have a colour, wherever such a cell says nothing else."""
STYLED = frozenset(("role", "kind", "status", "level", "outcome"))
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

    table = Table(box=None, pad_edge=False, header_style="bold", show_lines=view.whole)
    overflow = "fold" if view.whole else "ellipsis"
    for name in columns:
        numeric = all(isinstance(row.get(name), (int, float, type(None))) for row in rows)
        justify = "right" if numeric else "left"
        table.add_column(name, no_wrap=not view.whole, overflow=overflow, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(_text(name, row.get(name), view, width) for name in columns))
    sink = StringIO()
    colours: Any = "standard" if view.paint.colour else None
    console = Console(
        file=sink, width=width, markup=False, emoji=False, highlight=False, color_system=colours,
        force_terminal=view.paint.colour, no_color=not view.paint.colour, legacy_windows=False,
    )  # fmt: skip
    console.print(table)
    return "".join(line.rstrip() + "\n" for line in sink.getvalue().rstrip("\n").split("\n"))


def _text(name: str, value: Any, view: View, width: int) -> Any:
    from rich.text import Text

    text = f"{value:,}" if type(value) is int else cell(value, lines=view.whole)
    style = STYLES.get(text.partition(",")[0], "") if name in STYLED and view.paint.colour else ""
    return Text(text if view.whole else text[:width], style=style)
