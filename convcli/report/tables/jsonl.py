"""JSON Lines: an object for each row, with every field and only JSON's own escapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convcli.report.tables import View
from convcli.report.text import json_text


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """Yields all rows as they come."""
    return (json_text(row) + "\n" for row in rows)
