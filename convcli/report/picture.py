"""A conversion as a picture for a terminal: a sign for each message, counts of what is kept and lost, and each kind of
loss with its pointers and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

from convcli.model.dialect import Dialect
from convcli.model.located import number_of
from convcli.proof.reasons import LEVELS
from convcli.report.tables.table import STYLES
from convcli.report.text import Paint, cells, cut, place, position, safe_text
from convcli.views.outcomes import (
    FROM_BEST_TO_WORST,
    OUTCOMES,
    FactCount,
    LossGroup,
    MessageOutcome,
    OutcomeTable,
)

SIGNS: dict[MessageOutcome, str] = {"kept": "+", "metadata": ".", "encoded": "e", "changed": "c", "dropped": "-"}
MEANINGS: dict[MessageOutcome, str] = {"metadata": "content kept", "kept": "all kept"}
MOST_SIGNS = 500
"""Signs of one strip; with more messages, each sign stands for several."""
INDENT = 12
WIDEST = 120
"""Maximum line width in cells: longer lines of prose are hard to read."""


def drawn(outcomes: OutcomeTable, paths: Sequence[str], target: Dialect, width: int, paint: Paint) -> Iterator[str]:
    """Yields the picture of a job: by message, in numbers, and by kind of loss."""
    width = min(width, WIDEST)
    files = safe_text(paths[0]) if len(paths) == 1 else f"{len(paths):,} files"
    yield f"{paint.bold(files)}: {', '.join(outcomes.sources)} → {target.name}\n"
    if len(outcomes.transcripts) == 1:
        yield from strip("message", outcomes.messages, width, paint)
    else:
        yield from strip("transcript", outcomes.transcripts, width, paint)
    yield from table(outcomes.facts, outcomes.invented, paint)
    yield from grouped(outcomes.groups, width, paint) if outcomes.groups else ("nothing lost\n",)


def strip(unit: str, outcomes: Sequence[MessageOutcome], width: int, paint: Paint) -> Iterator[str]:
    """Yields a sign per message or transcript, with the number of each line's first one, and a legend."""
    each = -(-len(outcomes) // MOST_SIGNS) or 1
    worst = [max(outcomes[at : at + each], key=FROM_BEST_TO_WORST.index) for at in range(0, len(outcomes), each)]
    label = len(f"{unit} {len(outcomes):,}")
    room = max((width - label - 2) // 10 * 10, 10)
    for at in range(0, len(worst), room):
        head = f"{unit if not at else ''} {f'{at * each:,}'.rjust(label - len(unit) - 1)}".rjust(label)
        yield f"{head}  {''.join(_sign(outcome, paint) for outcome in worst[at : at + room])}\n"
    legend = "   ".join(f"{SIGNS[one]} {MEANINGS.get(one, one)}" for one in FROM_BEST_TO_WORST if one in worst)
    many = f"   (the worst of each {each:,})" if each > 1 else ""
    yield f"{' ' * label}  {paint.dim(legend + many)}\n"


def _sign(outcome: MessageOutcome, paint: Paint) -> str:
    return paint.dim(SIGNS[outcome]) if outcome == "metadata" else _coloured(outcome, SIGNS[outcome], paint)


def _coloured(outcome: str, text: str, paint: Paint) -> str:
    return paint.in_colour(STYLES[outcome], text)


def table(rows: Iterable[FactCount], invented: Counter[str], paint: Paint) -> Iterator[str]:
    """Yields a table of levels and outcomes. Invented fields have a column of their own: the source lacks them."""
    sums: dict[str, Counter[str]] = {level: Counter(invented=invented[level]) for level in LEVELS}
    for row in rows:
        sums[row.level].update(row.outcomes)
    heads = [*OUTCOMES, *(["invented"] if invented.total() else [])]
    yield f"{'fields':8}{''.join(head.rjust(10) for head in heads)}\n"
    for level, numbers in sums.items():
        if numbers.total():
            yield f"{level:8}{''.join(_number(numbers[head], head, paint) for head in heads)}\n"


def _number(number: int, outcome: str, paint: Paint) -> str:
    text = f"{number:,}".rjust(10)
    return _coloured(outcome, text, paint) if number else paint.dim(text)


def grouped(groups: Iterable[LossGroup], width: int, paint: Paint) -> Iterator[str]:
    """Yields each kind of loss, by level: count, reason and first pointers."""
    for level, of_level in groupby(groups, lambda group: group.level):
        yield f"\n{paint.bold(level)}\n"
        for group in of_level:
            text = f"{cut(safe_text(group.field), 60)} ×{group.count:,}: {safe_text(group.why)}"
            first, *more = wrap(text, width - INDENT)
            yield f"  {_coloured(group.kind, f'{group.kind:8}', paint)}  {first}\n"
            yield from (f"{' ' * INDENT}{line}\n" for line in more)
            yield f"{' ' * INDENT}{paint.dim(_places(group, width - INDENT))}\n"


def _places(group: LossGroup, width: int) -> str:
    """Lists as many first positions as fit on a line, and the number of others; no file name if all share one."""
    one = len({loss.file for loss in group.first}) == 1
    places = [
        position(loss.line, loss.where, loss.row) if one else place(loss.file, number_of(loss), 0, loss.where)
        for loss in group.first
    ]
    for shown in range(len(places), 0, -1):
        more = group.count - shown
        text = ", ".join(places[:shown]) + (f" and {more:,} more" if more else "")
        if cells(text) <= width:
            break
    return text


def general(rows: Iterable[dict[str, Any]], width: int, paint: Paint) -> Iterator[str]:
    """Yields the outcome of each feature, worst first: losses with fields and reasons, kept features as a list."""
    width = min(width, WIDEST) - INDENT
    for outcome, of_outcome in groupby(rows, lambda row: str(row["outcome"])):
        yield f"{_coloured(outcome, outcome, paint)}\n"
        if outcome == "kept":
            yield from (f"  {line}\n" for line in wrap(", ".join(str(row["feature"]) for row in of_outcome), width))
            continue
        for feature, losses in groupby(of_outcome, lambda row: str(row["feature"])):
            yield f"  {paint.bold(feature)}\n"
            for why, fields in groupby(losses, lambda row: str(row["why"])):
                words = f"{', '.join(str(row['field']) for row in fields)}: {why}"
                yield from (f"    {line}\n" for line in wrap(safe_text(words), width))
