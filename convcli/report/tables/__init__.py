"""Rows of a table as text. Each file has `render(columns, rows, view)`, which takes an iterable of dicts and yields
pieces of text."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli.report.text import Paint, safe_text


class View(NamedTuple):
    """`width` of the terminal in cells, None where the result is no terminal; `whole` cells are not cut to a line;
    `title` is for formats that are documents: a name, and what there is to say of it."""

    width: int | None = None
    paint: Paint = Paint()
    whole: bool = False
    title: tuple[str, ...] = ("convcli",)


def cell(value: Any, *, lines: bool = False) -> str:
    """A value safe to show, on one line unless `lines`; what is absent is empty."""
    return "" if value is None else safe_text(str(value), lines=lines)
