"""Differences between two files as text: a block for each, with its place and both values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from convcli.proof.equality import as_json
from convcli.proof.reasons import LEVELS
from convcli.report.text import Paint, cut, json_text, place, safe_text
from convcli.report.words import Words, around_changes, compared
from convcli.validation.wording import counted

WIDTH = 200
"""Characters shown of a value."""
VERBS = {"dropped": "only in the first", "invented": "only in the second"}
REMOVED, ADDED = "31", "32"
"""Colors of the terminal's palette for words that only one value has."""


class Uncounted(NamedTuple):
    """Differences that do not count: content that one dialect cannot store, and ids and times."""

    unstored: int = 0
    identities: int = 0


NOTHING = Uncounted()


def listed(
    rows: Sequence[dict[str, Any]], first: str, second: str, paint: Paint, others: Uncounted = NOTHING
) -> Iterator[str]:
    """Yields both files, a block for each difference, and the number of differences per level."""
    if rows:
        yield f"{paint.in_colour(REMOVED, '-')} {place(first)}\n{paint.in_colour(ADDED, '+')} {place(second)}\n"
    for row in rows:
        yield f"{paint.bold(safe_text(row['field']))} {VERBS.get(row['kind'], row['kind'])}, {row['level']}"
        yield f"{_where(row)}\n"
        before, after = _shown(row["before"], row["after"], paint)
        if row["kind"] != "invented":
            yield f"  {paint.in_colour(REMOVED, '-')} {before}".rstrip() + "\n"
        if row["kind"] != "dropped":
            yield f"  {paint.in_colour(ADDED, '+')} {after}".rstrip() + "\n"
    yield f"{summary(rows, others)}\n"
    if rows and others.unstored:
        unstored = f"{counted(others.unstored, 'difference')} that one dialect cannot store not shown"
        yield paint.dim(f"{unstored}: --exact shows them") + "\n"
    if others.identities:
        yield (
            paint.dim(f"{counted(others.identities, 'difference')} of ids and times not shown: --ids shows them") + "\n"
        )


def summary(rows: Sequence[dict[str, Any]], others: Uncounted = NOTHING) -> str:
    """Returns the number of differences per level, or that there is none that counts."""
    if rows:
        levels = Counter(row["level"] for row in rows)
        parts = [f"{levels[level]:,} of {level}" for level in LEVELS if levels[level]]
        total = counted(len(rows), "difference")
        return f"{total}: {', '.join(parts)}" if len(parts) > 1 else f"{total} of {rows[0]['level']}"
    if others.unstored:
        unstored = f"{counted(others.unstored, 'difference')} of content that one dialect cannot store"
        return f"the same conversation, except {unstored}: --exact lists all differences"
    return "the same conversation"


def _where(row: dict[str, Any]) -> str:
    """Returns the place in the first file, and that in the second where it differs."""
    first, second = _place(row["line"], row["first"]), _place(row["line_of_second"], row["second"])
    sides = {"dropped": [first], "invented": [second]}.get(row["kind"], list(dict.fromkeys((first, second))))
    shown = " → ".join(filter(None, sides))
    return f": {shown}" if shown else ""


def _place(line: int | None, where: str) -> str:
    return safe_text(" ".join(filter(None, [f"line {line}" if line else "", where])))


def _shown(before: Any, after: Any, paint: Paint) -> list[str]:
    """Returns two values as strings, long ones only around the words that differ, which are colored."""
    texts = ["" if value is None else json_text(as_json(value)) for value in (before, after)]
    if not all(texts):
        return [cut(text, WIDTH) for text in texts]
    sides = zip(compared(*texts), (REMOVED, ADDED), strict=True)
    return [_painted(around_changes(pieces, WIDTH), paint, code) for pieces, code in sides]


def _painted(pieces: Sequence[Words], paint: Paint, code: str) -> str:
    return "".join(paint.in_colour(code, piece.text) if piece.differs else piece.text for piece in pieces)
