"""JSON Lines: an object for each row, with every field and no escapes but those of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convcli.report.tables import View
from convcli.report.text import json_text


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """All rows, as they come."""
    return (json_text(row) + "\n" for row in rows)
