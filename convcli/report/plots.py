"""Plots for a terminal: activity over time, and calls by tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from convcli.report.text import Paint, cells, cut, safe_text
from convcli.views.timeline import KINDS, Timeline

LEVELS = " ▁▂▃▄▅▆▇█"
MOST_SPANS, MOST_TOOLS = 60, 12
COLOURS = {"tokens": "36", "calls": "32", "errors": "31"}
LABEL, ROOM = 8, 24
"""Cells for the label of a line and for the number after it."""


def over_time(timeline: Timeline, width: int, paint: Paint) -> Iterator[str]:
    """Yields a line per kind and a sign per span of time; nothing if no time is known."""
    spans = timeline.spans(max(min(MOST_SPANS, width - LABEL - ROOM), 1))
    if spans is None:
        return
    yield "\n"
    for kind in KINDS:
        counts = spans.counts[kind]
        if any(counts):
            most = f"at most {max(counts):,}"
            yield f"{kind:<{LABEL}}{paint.in_colour(COLOURS[kind], spark(counts))} {paint.dim(most)}\n"
    room = len(spans.counts[KINDS[0]])
    begin, end = spans.begin, spans.end
    padding = max(room - len(begin) - len(end), 1)
    yield " " * LABEL + paint.dim(begin if begin == end else f"{begin}{' ' * padding}{end}") + "\n"


def spark(counts: Sequence[int]) -> str:
    """Returns a sign per number, scaled to the greatest; every non-zero number is visible."""
    most = max(counts, default=0) or 1
    return "".join(LEVELS[-(-count * (len(LEVELS) - 1) // most)] for count in counts)


def by_tool(calls: Mapping[str, int], errors: Mapping[str, int], width: int, paint: Paint) -> Iterator[str]:
    """Yields a bar per tool, the most used first: the number of calls, and of results that are errors."""
    names = sorted(calls, key=lambda name: -calls[name])
    if not names:
        return
    shown = {name: cut(safe_text(name), 24) for name in names[:MOST_TOOLS]}
    label = max(map(cells, shown.values())) + 2
    most, room = calls[names[0]], max(min(40, width - label - 24), 1)
    yield "\n"
    for name, text in shown.items():
        failed = min(errors.get(name, 0), calls[name])
        bad, whole = _length(failed, most, room), _length(calls[name], most, room)
        bar = paint.in_colour(COLOURS["calls"], "█" * (whole - bad)) + paint.in_colour(COLOURS["errors"], "▒" * bad)
        label_text = f"{calls[name]:,}" + (f", {failed:,} failed" if failed else "")
        yield f"{text}{' ' * (label - cells(text))}{bar if whole else ''} {label_text}\n"
    if len(names) > MOST_TOOLS:
        rest = sum(calls[name] for name in names[MOST_TOOLS:])
        yield paint.dim(f"and {len(names) - MOST_TOOLS:,} more tools with {rest:,} calls") + "\n"


def _length(count: int, most: int, room: int) -> int:
    return -(-count * room // most)
