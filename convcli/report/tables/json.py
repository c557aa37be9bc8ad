"""One JSON array of all rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convcli.report.tables import View
from convcli.report.text import json_text


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """Yields an object for each row, with every field."""
    comma = "[\n"
    for row in rows:
        yield comma + json_text(row)
        comma = ",\n"
    yield "[]\n" if comma == "[\n" else "\n]\n"
