"""What differs between two files, as text: a block for each difference, with both places and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from convcli.proof.equality import as_json
from convcli.proof.reasons import LEVELS
from convcli.report.text import Paint, count, cut, json_text, place, safe_text

WIDTH = 100
"""Characters of a value that are shown."""
VERBS = {"dropped": "only in the first", "invented": "only in the second"}


def listed(rows: Sequence[dict[str, Any]], first: str, second: str, paint: Paint) -> Iterator[str]:
    """A block for each difference, then how many there are of each level."""
    for row in rows:
        yield f"{paint.bold(safe_text(row['field']))} {VERBS.get(row['kind'], row['kind'])}, {row['level']}\n"
        if row["kind"] != "invented":
            yield _side("-", place(first, row["line"] or 0, 0, row["first"]), row["before"])
        if row["kind"] != "dropped":
            yield _side("+", place(second, row["line_of_second"] or 0, 0, row["second"]), row["after"])
    levels = Counter(row["level"] for row in rows)
    parts = [f"{levels[level]:,} of {level}" for level in LEVELS if levels[level]]
    yield f"{count(len(rows), 'difference')}: {', '.join(parts)}\n" if rows else "the same conversation\n"


def _side(sign: str, where: str, value: Any) -> str:
    text = "" if value is None else f"  {cut(json_text(as_json(value)), WIDTH)}"
    return f"  {sign} {where}{text}\n"
