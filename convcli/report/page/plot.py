"""A small plot of the context and the output of each answer, with axes; each bar links to its message."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

from convcli.model.transcript import Message
from convcli.report.text import safe_text
from convcli.views.facts import short

LEFT, WIDTH = 34, 226
"""Where the bars begin, and the width of all of them."""
TOP, HIGH, GAP, LOW = 8, 46, 8, 26
"""The top of the upper plot, the heights of both, and the space between them."""
MOST_BARS, WIDEST = 200, 14
"""The number of bars (beyond it, neighboring answers share one), and the maximum width of a bar."""
BASE = TOP + HIGH
FLOOR = BASE + GAP + LOW
HEIGHT = FLOOR + 20


class _Bar(NamedTuple):
    message: int
    read: int
    written: int
    is_failed: bool


def tokens(messages: Sequence[Message], failed: Collection[int] = ()) -> str:
    """Returns two bars per answer, for tokens read and written; nothing if no answer has token counts.

    `failed` are the indexes of messages with a failed call: their bars have a mark.
    """
    counts = [
        _Bar(index, usage.get("inputTokens", 0), usage.get("outputTokens", 0), index in failed)
        for index, message in enumerate(messages)
        if (usage := message.usage)
    ]
    if not counts:
        return ""
    step = -(-len(counts) // MOST_BARS)
    bars = [_joined(counts[at : at + step]) for at in range(0, len(counts), step)]
    most_read, most_written = max(1, *(bar.read for bar in bars)), max(1, *(bar.written for bar in bars))
    width = min(WIDTH / len(bars), WIDEST)
    drawn = "".join(_drawn(number, bar, width, most_read, most_written) for number, bar in enumerate(bars))
    end = LEFT + width * len(bars)
    return (
        f'<svg class="plot" viewBox="0 0 {LEFT + WIDTH} {HEIGHT}" role="group" aria-label="tokens of each answer">'
        f"{_axis(TOP, BASE, most_read, end)}{_axis(BASE + GAP, FLOOR, most_written, end)}{drawn}"
        f"{_times(messages, counts, end)}</svg>\n"
        '<p class="legend"><span class="read">context</span> <span class="written">output</span> (tokens)</p>\n'
    )


def _joined(bars: list[_Bar]) -> _Bar:
    first = bars[0]
    return _Bar(
        next((bar.message for bar in bars if bar.is_failed), first.message),
        max(bar.read for bar in bars),
        sum(bar.written for bar in bars),
        any(bar.is_failed for bar in bars),
    )


def _axis(top: int, base: int, most: int, end: float) -> str:
    return (
        f'<path class="axis" d="M{LEFT} {top}H{end:.0f}M{LEFT} {base}H{end:.0f}"/>'
        f'<text x="{LEFT - 4}" y="{top + 4}" class="y">{short(most)}</text>'
        f'<text x="{LEFT - 4}" y="{base}" class="y">0</text>'
    )


def _times(messages: Sequence[Message], bars: Sequence[_Bar], end: float) -> str:
    """Returns the labels below: the times of the first and the last answer, or their numbers."""
    first, last = (messages[bar.message].created_at or "" for bar in (bars[0], bars[-1]))
    labels = [
        time[11:16] if len(time) >= 16 else f"#{bar.message}" for time, bar in ((first, bars[0]), (last, bars[-1]))
    ]
    ends = f'<text x="{max(end, LEFT + 70):.0f}" y="{FLOOR + 14}" class="y">{escape(safe_text(labels[1]))}</text>'
    start = f'<text x="{LEFT}" y="{FLOOR + 14}">{escape(safe_text(labels[0]))}</text>'
    return start + (ends if len(bars) > 1 else "")


def _drawn(number: int, bar: _Bar, width: float, most_read: int, most_written: int) -> str:
    up, down = HIGH * bar.read / most_read, LOW * bar.written / most_written
    x, wide = f"{LEFT + number * width:.1f}", f"{max(width * 0.8, 0.6):.1f}"
    failed = f'<rect class="failed" x="{x}" y="{FLOOR + 1}" width="{max(width * 0.8, 2):.1f}" height="3"/>'
    words = f"message {bar.message}: {bar.read:,} tokens read, {bar.written:,} written"
    return (
        f'<a href="#m{bar.message}" tabindex="-1"><title>{words}{", a call failed" if bar.is_failed else ""}</title>'
        f'<rect class="hit" x="{x}" y="{TOP}" width="{width:.1f}" height="{FLOOR - TOP}"/>'
        f'<rect class="read" x="{x}" y="{BASE - up:.1f}" width="{wide}" height="{up:.1f}"/>'
        f'<rect class="written" x="{x}" y="{FLOOR - down:.1f}" width="{wide}" height="{down:.1f}"/>'
        f"{failed if bar.is_failed else ''}</a>"
    )
