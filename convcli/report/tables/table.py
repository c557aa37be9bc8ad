"""For people: aligned columns on a terminal, tab-separated cells anywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

from convcli.report.text import safe_text

MOST_ON_A_TERMINAL = 1_000
"""Rows of one aligned table: the widths of its columns need all of them at once."""


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], wide: int | None) -> Iterator[str]:
    """The head, and then a line for each row."""
    if wide is None:
        yield "\t".join(columns) + "\n"
        for row in rows:
            yield "\t".join(cell(row.get(name)) for name in columns) + "\n"
    else:
        batch: list[list[str]] = []
        for row in rows:
            batch.append([cell(row.get(name)) for name in columns])
            if len(batch) == MOST_ON_A_TERMINAL:
                yield _aligned(columns, batch, wide)
                batch = []
        if batch:
            yield _aligned(columns, batch, wide)


def cell(value: Any) -> str:
    """A value on one line, safe to show; what is absent is empty."""
    return "" if value is None else safe_text(str(value))


def _aligned(columns: Sequence[str], rows: list[list[str]], wide: int) -> str:
    """rich measures wide characters; it gets plain `Text`, so nothing in a cell is markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="none")
    for index, name in enumerate(columns):
        numeric = all(row[index].isdigit() or not row[index] for row in rows)
        table.add_column(name, no_wrap=True, overflow="ellipsis", justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(text[:wide]) for text in row))
    sink = StringIO()
    Console(file=sink, width=wide, markup=False, emoji=False, highlight=False, color_system=None).print(table)
    return "".join(line.rstrip() + "\n" for line in sink.getvalue().rstrip("\n").split("\n"))
