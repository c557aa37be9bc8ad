"""Losses as text: the summary of a conversion, and the full list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from convcli.jobs.summaries import LossCount, Summary
from convcli.model.located import number_of
from convcli.proof.reasons import MISSING, Loss
from convcli.report.text import Paint, cells, cut, place, safe_text, tail
from convcli.validation.wording import counted

MOST_GROUPS = 8
"""Fields with losses of content that get a line each."""
MOST_LABELS, LONGEST_LABEL = 3, 30
"""Fields that the line about metadata names, and the cells that each name may fill."""
INDENT, LEAST_OF_PLACE = 2, 20
"""Cells before a field with losses of content, and cells that are always left for its first place."""
_KIND_OF = {str: "text", bool: "boolean", int: "number", float: "number", list: "list", dict: "object"}


def summary(
    result: Summary,
    paint: Paint,
    command: str = "convert",
    width: int | None = None,
    listing: str = "--losses FILE lists them",
) -> str:
    """The summary of a conversion: what was converted, each loss of content, and one line for losses of metadata.

    `listing` says where all losses are listed. On a terminal of `width` cells, file names and lists of fields are
    shortened until each line fits.
    """
    sources = ", ".join(result.sources)
    incomplete = f" ({result.incomplete:,} incomplete)" if result.incomplete else ""
    rows = f" as {counted(result.rows, 'row')}" if result.rows != result.transcripts else ""
    head = f"{command}: {counted(result.transcripts, 'transcript')}{incomplete}{rows}, {sources} → {result.target}"
    if refused := result.refused - result.left_out:
        head += f", {refused:,} refused"
    if not result.outputs:
        head += ", nothing written"
    if result.is_held_back and command == "convert":
        head += " (--keep-going converts the rest)"
    values = _chosen(result, paint)
    if not result.losses:
        return f"{head}\n{values}" if result.refused else f"{head}, nothing lost\n{values}"
    lost = [group for group in result.groups.values() if not group.is_chosen]
    content = [group for group in lost if group.level == "content"]
    metadata = [group for group in lost if group.level != "content"]
    head += "" if content else ", no content lost"
    lines = [head, *_content(content, paint, width)]
    if metadata:
        lines.append(_metadata(metadata, listing, width))
    return "".join(f"{line}\n" for line in lines) + values


def _chosen(result: Summary, paint: Paint) -> str:
    """One line for the values that the user has set, and one for the turns of the agent program that are left out."""
    lines = ("set as you asked:", result.set_values), ("left out, written by the agent program:", result.left_out_turns)
    return "".join(f"{paint.bold(head)} {_counts(counts)}\n" for head, counts in lines if counts)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(sorted(f"{cut(safe_text(what), 60)} ×{count:,}" for what, count in counts.items()))


def _content(groups: list[LossCount], paint: Paint, width: int | None) -> Iterator[str]:
    """A heading with the number of losses of content, then a line for each field, the most frequent first."""
    if not groups:
        return
    groups = sorted(groups, key=lambda group: -group.count)
    yield paint.bold(f"{_number(groups)} of content:")
    for group in groups[:MOST_GROUPS]:
        yield f"  {_with_place(_group(group), _place(group.first), width)}"
    if more := groups[MOST_GROUPS:]:
        yield f"  and {sum(group.count for group in more):,} more of {counted(len(more), 'other kind')}"


def _metadata(groups: list[LossCount], listing: str, width: int | None) -> str:
    """One line for all losses of metadata, with the most frequent fields as far as there is room."""
    counts = Counter[str]()
    for group in groups:
        counts[group.label] += group.count
    most = counts.most_common()[:MOST_LABELS]  # with a number, it imports `heapq`
    labels = [cut(safe_text(label), LONGEST_LABEL) for label, _ in most]
    lead = f"{_number(groups)} of metadata"
    for shown in range(len(labels), 0, -1):
        names = ", ".join([*labels[:shown], *["…"] * (shown < len(counts))])
        line = f"{lead} ({names}); {listing}"
        if width is None or cells(line) <= width:
            return line
    return f"{lead}; {listing}"


def _number(groups: list[LossCount]) -> str:
    number = sum(group.count for group in groups)
    return f"{number:,} {'loss' if number == 1 else 'losses'}"


def _with_place(group: str, where: str, width: int | None) -> str:
    room = None if width is None else max(width - INDENT - cells(f"{group} (first: )"), LEAST_OF_PLACE)
    return f"{group} (first: {where if room is None else tail(where, room)})"


def _group(group: LossCount) -> str:
    return f"{group.kind} {cut(safe_text(group.label), 60)} ×{group.count:,}"


def listed(losses: Iterable[Loss], paint: Paint) -> Iterator[str]:
    """Yields a line for each loss: place, level, kind, field, type of the value, reason. Values may be secret."""
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
