"""What differs between two files, as text: a block for each difference, with both places and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from convcli.proof.equality import as_json
from convcli.proof.reasons import LEVELS
from convcli.report.text import Paint, cut, json_text, place, safe_text
from convcli.validation.wording import counted

WIDTH = 100
"""Characters of a value that are shown."""
VERBS = {"dropped": "only in the first", "invented": "only in the second"}


def listed(rows: Sequence[dict[str, Any]], first: str, second: str, paint: Paint, beyond: int = 0) -> Iterator[str]:
    """A block for each difference, then how many there are of each level; `beyond` is how much content only one of
    the files has without a difference, since the dialect of the other has no place for it."""
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
        yield f"the same conversation, but for content that one dialect has no place for: --exact tells {beyond:,}\n"
    else:
        yield "the same conversation\n"


def _shown(before: Any, after: Any) -> list[str]:
    """Two values as texts, from a little before where they begin to differ if that is far behind."""
    texts = ["" if value is None else json_text(as_json(value)) for value in (before, after)]
    common = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    if common < WIDTH // 2 or max(map(len, texts)) <= WIDTH:
        return [cut(text, WIDTH) for text in texts]
    return [f"…{cut(text[common - WIDTH // 3 :], WIDTH - 1)}" for text in texts]


def _side(sign: str, where: str, text: str) -> str:
    return f"  {sign} {where}  {text}".rstrip() + "\n"
