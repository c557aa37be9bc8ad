"""Differences between two files as text: a block for each, with both pointers and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from convcli.proof.equality import as_json
from convcli.proof.reasons import LEVELS
from convcli.report.text import Paint, cut, json_text, place, safe_text
from convcli.validation.wording import counted

WIDTH = 100
"""Characters shown of a value."""
VERBS = {"dropped": "only in the first", "invented": "only in the second"}


def listed(rows: Sequence[dict[str, Any]], first: str, second: str, paint: Paint, beyond: int = 0) -> Iterator[str]:
    """Yields a block for each difference, then the number of differences per level.

    `beyond` counts content that only one of the files has because the dialect of the other cannot store it.
    """
    for row in rows:
        yield f"{paint.bold(safe_text(row['field']))} {VERBS.get(row['kind'], row['kind'])}, {row['level']}\n"
        before, after = _shown(row["before"], row["after"])
        if row["kind"] != "invented":
            yield _side("-", place(first, row["line"], 0, row["first"]), before)
        if row["kind"] != "dropped":
            yield _side("+", place(second, row["line_of_second"], 0, row["second"]), after)
    levels = Counter(row["level"] for row in rows)
    parts = [f"{levels[level]:,} of {level}" for level in LEVELS if levels[level]]
    if rows:
        yield f"{counted(len(rows), 'difference')}: {', '.join(parts)}\n"
    elif beyond:
        yield f"the same conversation, except content that one dialect cannot store: --exact reports {beyond:,}\n"
    else:
        yield "the same conversation\n"


def _shown(before: Any, after: Any) -> list[str]:
    """Returns two values as strings, starting shortly before the first difference if that is far from the start."""
    texts = ["" if value is None else json_text(as_json(value)) for value in (before, after)]
    common = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    if common < WIDTH // 2 or max(map(len, texts)) <= WIDTH:
        return [cut(text, WIDTH) for text in texts]
    return [f"…{cut(text[common - WIDTH // 3 :], WIDTH - 1)}" for text in texts]


def _side(sign: str, where: str, text: str) -> str:
    return f"  {sign} {where}  {text}".rstrip() + "\n"
