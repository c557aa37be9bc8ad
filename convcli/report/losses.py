"""Losses as text: the summary of a conversion, and the full list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from convcli.jobs.converting import LossCount, Summary
from convcli.model.located import number_of
from convcli.proof.reasons import LEVELS, MISSING, Loss
from convcli.report.text import Paint, cells, cut, filled, place, safe_text, tail
from convcli.validation.wording import counted

MOST_GROUPS = 8
INDENT, LEAST_OF_PLACE = 2, 20
"""Cells before the kinds of losses that stand on lines of their own, and those that a place keeps."""
_KIND_OF = {str: "text", bool: "boolean", int: "number", float: "number", list: "list", dict: "object"}


def summary(result: Summary, paint: Paint, command: str = "convert", width: int | None = None) -> str:
    """What was converted, and then what got lost: content first, the rest by how often; on one line, but of a terminal
    on as many as it takes, where the path of the first loses its beginning before it takes a line of its own."""
    sources = ", ".join(result.sources)
    head = f"{command}: {counted(result.transcripts, 'transcript')}, {sources} → {result.target}"
    if result.refused:
        head += f", {result.refused:,} refused"
    if not result.outputs:
        head += ", nothing written"
    if result.is_held_back and command == "convert":
        head += " (--keep-going converts the rest)"
    if not result.losses:
        return f"{head}\n" if result.refused else f"{head}, nothing lost\n"
    lossy = f" in {counted(result.lossy, 'transcript')}" if result.lossy else ""  # a torn record is in none
    lead = f"{counted(result.losses, 'field')} lost{lossy} ({_subtotals(result)})"
    told = f"{lead}: {filled(_groups(result, width), ' · ', None)}"
    if width is not None and cells(told) > width:
        told = f"{lead}:\n  {filled(_groups(result, width), ' · ', width - INDENT)}"
    return f"{head}\n{told.replace(lead, paint.bold(lead), 1)}\n"


def _subtotals(result: Summary) -> str:
    """How many losses of each level, content first and always: what a model reads is what matters."""
    counts = Counter[str]()
    for group in result.groups.values():
        counts[group.level] += group.count
    levels = [level for level in LEVELS if counts[level] or level == "content"]
    return ", ".join(f"{counts[level]:,} of {level}" if counts[level] else f"none of {level}" for level in levels)


def _groups(result: Summary, width: int | None) -> Iterator[str]:
    groups = sorted(result.groups.values(), key=lambda group: (LEVELS.index(group.level), -group.count))
    for index, group in enumerate(groups[:MOST_GROUPS]):
        yield _group(group) if index else _with_place(_group(group), _place(group.first), width)
    if len(groups) > MOST_GROUPS:
        more = groups[MOST_GROUPS:]
        yield f"and {sum(group.count for group in more):,} more, of {counted(len(more), 'other kind')}"


def _with_place(group: str, where: str, width: int | None) -> str:
    room = None if width is None else max(width - INDENT - cells(f"{group} (first: ) ·"), LEAST_OF_PLACE)
    return f"{group} (first: {where if room is None else tail(where, room)})"


def _group(group: LossCount) -> str:
    return f"{group.kind} {cut(safe_text(group.label), 60)} ×{group.count:,}"


def listed(losses: Iterable[Loss], paint: Paint) -> Iterator[str]:
    """Yields a line for each loss: position, kind, field, type, reason. No values: transcripts contain secrets."""
    for loss in losses:
        value = _value(loss)
        what = f"{paint.bold(loss.kind)} {cut(safe_text(loss.field), 80)}{f' ({value})' if value else ''}"
        yield f"{_place(loss)}: {loss.level}: {what}: {safe_text(loss.why)}\n"


def _value(loss: Loss) -> str:
    """Returns the type and length of what was lost."""
    value = loss.after if loss.before is MISSING else loss.before
    name = next((name for kind, name in _KIND_OF.items() if type(value) is kind), "")
    return f"{name} of {len(value):,}" if isinstance(value, (str, list, dict)) else name


def _place(loss: Loss) -> str:
    return place(loss.file, number_of(loss), 0, loss.where)
