"""The rows of `convcli stats` for people: durations, tokens and costs in words, and notes about the costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from convcli.report.text import safe_text
from convcli.validation.wording import counted
from convcli.views.statistics import Statistics

COLUMNS = ["count", "failed", "rejected", "characters", "time", "cost"]
"""The columns next to the name."""
TOKENS = {
    "totalTokens": "all",
    "inputTokens": "input, with cache",
    "uncachedInputTokens": "input, without cache",
    "cacheReadTokens": "input, read from cache",
    "cacheWriteTokens": "input, written to cache",
    "outputTokens": "output",
    "reasoningTokens": "output, for reasoning",
}
MOST_FAILURES = 10
"""Causes of failures that a terminal shows."""
UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def rows(statistics: Statistics) -> Iterator[dict[str, Any]]:
    """Yields the rows for a terminal."""
    failures = 0
    for row in statistics.rows():
        failures += row["what"] == "failures"
        if row["what"] == "failures" and failures > MOST_FAILURES:
            continue
        yield {
            "what": row["what"],
            "name": TOKENS.get(row["name"], row["name"]) if row["what"] == "tokens" else row["name"],
            "count": row["count"],
            "failed": row["errors"] or None,
            "rejected": row["rejected"] or None,
            "characters": row["size"] or None,
            "time": None if row["seconds"] is None else in_words(row["seconds"]),
            "cost": None if row["cost"] is None else dollars(row["cost"]),
        }


def notes(statistics: Statistics) -> Iterator[str]:
    """Yields what a reader of the costs must know: their sum, their source, and the models without a price."""
    costs = {name: cost for (what, name), cost in statistics.costs.items() if what == "costs"}
    if costs:
        yield f"{dollars(sum(costs.values()))} in all; {'; '.join(_sources(statistics, costs))}"
    for model, number in statistics.unpriced.most_common():
        yield f"there is no price for {counted(number, 'answer')} of {safe_text(model) or 'no known model'}"


def _sources(statistics: Statistics, models: Iterable[str]) -> Iterator[str]:
    recorded = statistics.recorded.total()
    if recorded:
        yield f"the agent program recorded the cost of {counted(recorded, 'answer')}"
    prices = list(filter(None, map(statistics.prices.of, models)))
    sources = dict.fromkeys(f"{price.source}, read on {price.date}" for price in prices if price.date)
    if prices:
        of = f" ({'; '.join(map(safe_text, sources))})" if sources else ""
        yield f"costs are estimates by list prices{of}"


def in_words(seconds: float) -> str:
    """Returns a duration in its two largest units: `53 min 19 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    left, words = round(seconds), list[str]()
    for unit, size in UNITS:
        number, left = divmod(left, size)
        if number or words:
            words.append(f"{number:,} {unit}" if number else "")
    return " ".join(filter(None, words[:2]))


def dollars(cost: float) -> str:
    """Returns an amount of US dollars, to the cent, or with two digits below one cent."""
    return f"${cost:,.2f}" if cost >= 0.01 or not cost else f"${cost:.2g}"
