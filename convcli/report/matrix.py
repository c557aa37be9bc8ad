"""Features against dialects, for a terminal of 80 cells: a sign for each outcome, and a step for each dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from convcli.report.tables.table import STYLES
from convcli.report.text import Paint

SIGNS = {"kept": "+", "encoded": "e", "changed": "c", "lost": "-"}
LEGEND = "+ kept   e encoded: kept, but not in a field of the vendor   c changed   - lost\n"


def drawn(columns: Sequence[str], rows: Mapping[str, Sequence[str]], width: int, paint: Paint) -> Iterator[str]:
    """The names of the columns as stairs, from the last to the first, a line for each row, and what the signs mean."""
    label = max(map(len, rows)) + 2
    step = max(1, min(3, (width - label) // max(1, len(columns))))
    for index in reversed(range(len(columns))):
        head = f"{columns[index]} |".rjust(label + step * index + 1)
        yield head + "".join("|".rjust(step) for _ in columns[index + 1 :]) + "\n"
    for name, outcomes in rows.items():
        yield name.ljust(label) + (" " * (step - 1)).join(_sign(outcome, paint) for outcome in outcomes) + "\n"
    yield LEGEND


def _sign(outcome: str, paint: Paint) -> str:
    return paint.in_colour(STYLES[outcome], SIGNS[outcome])
