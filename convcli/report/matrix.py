"""Features against dialects for an 80-cell terminal: a column per dialect, a sign per outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from convcli.report.tables.table import STYLES
from convcli.report.text import Paint

SIGNS = {"kept": "+", "encoded": "e", "changed": "c", "lost": "-"}
SPACE = " "
STEP = 1 + len(SPACE)
LEGEND = "+ kept   e encoded: kept outside of the vendor's own fields   c changed   - lost\n"


def drawn(columns: Sequence[str], rows: Mapping[str, Sequence[str]], width: int, paint: Paint) -> Iterator[str]:
    """Yields a line per feature under vertical dialect names, then the legend; wide tables are split."""
    label = max(map(len, rows)) + 2
    most = max(1, (width - label) // STEP)
    count = -(-len(columns) // most)
    for number in range(count):
        some = slice(number * len(columns) // count, (number + 1) * len(columns) // count)
        yield from _piece(columns[some], {name: outcomes[some] for name, outcomes in rows.items()}, label, paint)
    yield LEGEND


def _piece(columns: Sequence[str], rows: Mapping[str, Sequence[str]], label: int, paint: Paint) -> Iterator[str]:
    height = max(map(len, columns))
    for letters in zip(*(name.rjust(height) for name in columns), strict=True):
        yield f"{'':{label}}{SPACE.join(letters)}".rstrip() + "\n"
    for name, outcomes in rows.items():
        yield f"{name:{label}}{SPACE.join(_sign(outcome, paint) for outcome in outcomes)}\n"
    yield "\n"


def _sign(outcome: str, paint: Paint) -> str:
    return paint.in_colour(STYLES[outcome], SIGNS[outcome])
