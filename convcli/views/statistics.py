"""Totals of many transcripts: models, roles, kinds, tools, tokens, time and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from convcli.model.transcript import Message, ToolCall, ToolResult, Transcript
from convcli.views.costs import Prices
from convcli.views.rows import CallPairs, Row, about, is_error, kind_of, part_text, seconds_between
from convcli.views.timeline import Timeline

WHAT = ("transcripts", "models", "roles", "kinds", "tools", "tokens", "costs")


Counted: TypeAlias = tuple[str, str, int, int, int | None, float | None, float | None]
"""The category and name, the count, the number of errors, the size, the seconds and the cost."""
UNPRICED = "unpriced"


class Statistics:
    """Counts over many transcripts.

    `costs`: by model · `unpriced`: answers with tokens whose model has no price while others have · `timeline`: counts
    over time.
    """

    def __init__(self, prices: Prices | None = None) -> None:
        self.prices = prices or Prices({})
        self.counts, self.sizes = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self.errors, self.seconds = Counter[str](), dict[tuple[str, str], float]()
        self.costs, self.unpriced = dict[str, float](), Counter[str]()
        self.timeline = Timeline()

    def add(self, transcript: Transcript, dialect: str) -> None:
        """Adds a transcript."""
        facts = about(transcript)
        self.counts["transcripts", dialect] += 1
        self._lasted("transcripts", dialect, facts["begin"], facts["end"])
        for message in transcript.messages:
            model = message.model or transcript.model or ""
            self._message(message, model)
            self._cost(message, model)
        pairs = CallPairs(transcript)
        for index, (_, message, call) in enumerate(pairs.calls):
            for _, answer, _ in pairs.results_of.get(index, [])[:1]:
                self._lasted("tools", call.name, message.created_at, answer.created_at)

    def rows(self) -> Iterator[Row]:
        """Yields a row for each counted thing, the most frequent first; for models and costs, the number of answers.

        `size` is in characters; `seconds` are those of whole transcripts, and of calls until their results.
        """
        for key, count in sorted(self.counts.items(), key=lambda item: (WHAT.index(item[0][0]), -item[1])):
            what, name = key
            yield {
                "what": what,
                "name": name,
                "count": count,
                "errors": self.errors[name] if what == "tools" else None,
                "size": self.sizes.get(key),
                "seconds": round(self.seconds[key], 3) if key in self.seconds else None,
                "cost": round(self.costs[name], 6) if what == "costs" else None,
            }

    def counted(self) -> Iterator[Counted]:
        """Yields the counts as plain values for `add_counted`, without the timeline."""
        for key in dict.fromkeys((*self.counts, *self.sizes)):
            errors = self.errors[key[1]] if key[0] == "tools" else 0
            cost = self.costs.get(key[1]) if key[0] == "costs" else None
            yield *key, self.counts[key], errors, self.sizes.get(key), self.seconds.get(key), cost
        yield from ((UNPRICED, name, count, 0, None, None, None) for name, count in self.unpriced.items())

    def add_counted(self, counted: Iterable[Counted]) -> None:
        """Adds counts made elsewhere."""
        for what, name, count, errors, size, seconds, cost in counted:
            if what == UNPRICED:
                self.unpriced[name] += count
                continue
            self.counts[what, name] += count
            if what == "tools":
                self.errors[name] += errors
            if size is not None:
                self.sizes[what, name] += size
            if seconds is not None:
                self.seconds[what, name] = self.seconds.get((what, name), 0.0) + seconds
            if cost is not None:
                self.costs[name] = self.costs.get(name, 0.0) + cost

    def _message(self, message: Message, model: str) -> None:
        size = sum(len(part_text(part)) for part in message.parts)
        self._count("roles", message.role, size)
        if message.role == "assistant":
            self._count("models", model, size)
        calls = errors = 0
        for part in message.parts:
            self._count("kinds", kind_of(part), len(part_text(part)))
            if isinstance(part, ToolCall):
                self._count("tools", part.name, 0)
                calls += 1
            elif isinstance(part, ToolResult):
                self.sizes["tools", part.name] += len(part_text(part))
                self.errors[part.name] += is_error(part)
                errors += is_error(part)
        usage = _with_total(message.usage or {})
        for name, number in usage.items():
            self.counts["tokens", name] += number
        self.timeline.add(message.created_at, tokens=usage.get("totalTokens", 0), calls=calls, errors=errors)

    def _cost(self, message: Message, model: str) -> None:
        cost = self.prices.cost(message.usage, model)
        if cost is not None:
            self.counts["costs", model] += 1
            self.costs[model] = self.costs.get(model, 0.0) + cost
        elif message.usage and self.prices.table:
            self.unpriced[model] += 1

    def _count(self, what: str, name: str, size: int) -> None:
        if name:
            self.counts[what, name] += 1
            self.sizes[what, name] += size

    def _lasted(self, what: str, name: str, begin: str | None, end: str | None) -> None:
        seconds = seconds_between(begin, end)
        if seconds is not None and seconds >= 0:
            self.seconds[what, name] = self.seconds.get((what, name), 0.0) + seconds


def _with_total(usage: dict[str, int]) -> dict[str, int]:
    """Adds the total if the source omits it; otherwise only some answers would be counted."""
    total = usage.get("inputTokens", 0) + usage.get("outputTokens", 0)
    return {"totalTokens": total, **usage} if usage else {}
