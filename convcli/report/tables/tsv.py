"""Tab-separated cells, one row to a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convcli.report.tables import View, cell


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """The head, and then a line for each row."""
    yield "\t".join(columns) + "\n"
    for row in rows:
        yield "\t".join(cell(row.get(name)) for name in columns) + "\n"
