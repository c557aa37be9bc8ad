"""Comma-separated values as in RFC 4180, but with bare newlines between rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

from convcli.report.tables import View, cell

FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet would run a cell with such a prefix, full-width included; an apostrophe prevents it."""


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """Yields the header, then the rows."""
    yield _line(columns)
    for row in rows:
        yield _line([_defused(row.get(name)) for name in columns])


def _line(cells: Sequence[str]) -> str:
    sink = StringIO()
    csv.writer(sink, lineterminator="\n").writerow(cells)
    return sink.getvalue()


def _defused(value: Any) -> str:
    """Disarms formulas; numbers are not formulas, whatever their sign."""
    text = cell(value, lines=True)
    risky = isinstance(value, str) and text.lstrip().startswith(FORMULA)
    return f"'{text}" if risky else text
