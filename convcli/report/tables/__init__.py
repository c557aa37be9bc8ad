"""Rows of a table as text. Each module has `render(columns, rows, view)`, which yields strings; rows are dicts."""

from __future__ import annotations

from typing import Any

import msgspec

from convcli.report.text import Paint, safe_text


class View(msgspec.Struct, frozen=True):
    """How to show a table.

    `width`: of the terminal in cells, None if there is none · `whole`: cells are not cut to one line · `title`: for
    formats that are documents, a name followed by details.
    """

    width: int | None = None
    paint: Paint = Paint()
    whole: bool = False
    title: tuple[str, ...] = ("convcli",)


def cell(value: Any, *, lines: bool = False) -> str:
    """Returns a value as safe text, on one line unless `lines`; empty for None."""
    return "" if value is None else safe_text(str(value), lines=lines)
