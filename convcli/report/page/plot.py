"""A small plot of the tokens of each answer; each bar links to its message."""

from __future__ import annotations

from collections.abc import Sequence

from convcli.model.transcript import Message

WIDTH, HEIGHT = 240, 60
MOST_BARS, WIDEST = 240, 16
"""The number of bars (beyond it, neighboring answers share one), and the maximum width of a bar."""


def tokens(messages: Sequence[Message]) -> str:
    """Returns two bars per answer, for tokens read and written; nothing if no answer has token counts."""
    counts = [
        (index, usage.get("inputTokens", 0), usage.get("outputTokens", 0))
        for index, message in enumerate(messages)
        if (usage := message.usage)
    ]
    if not counts:
        return ""
    step = -(-len(counts) // MOST_BARS)
    groups = [counts[at : at + step] for at in range(0, len(counts), step)]
    bars = [(group[0][0], max(one[1] for one in group), sum(one[2] for one in group)) for group in groups]
    most = [max(max(bar[at] for bar in bars), 1) for at in (1, 2)]
    width = min(WIDTH / len(bars), WIDEST)
    drawn = "".join(_bar(number, bar, width, most) for number, bar in enumerate(bars))
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="tokens of each answer">'
        f"{drawn}</svg>\n"
        f'<p class="dim">tokens of each answer: read up to {most[0]:,}, written up to {most[1]:,}</p>\n'
    )


def _bar(number: int, bar: tuple[int, int, int], width: float, most: list[int]) -> str:
    index, read, written = bar
    half = HEIGHT / 2
    up, down = half * read / most[0], half * written / most[1]
    x, wide = f"{number * width:.2f}", f"{max(width * 0.8, 0.5):.2f}"
    return (
        f'<a href="#m{index}"><title>message {index}: {read:,} tokens read, {written:,} written</title>'
        f'<rect class="read" x="{x}" y="{half - up:.2f}" width="{wide}" height="{up:.2f}"/>'
        f'<rect class="written" x="{x}" y="{half:.2f}" width="{wide}" height="{down:.2f}"/></a>'
    )
