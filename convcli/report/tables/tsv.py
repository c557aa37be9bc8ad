"""Tab-separated values, one row per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convcli.report.tables import View, cell


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """Yields the header, then a line for each row."""
    yield "\t".join(columns) + "\n"
    for row in rows:
        yield "\t".join(cell(row.get(name)) for name in columns) + "\n"
