"""Totals of many transcripts: models, roles, kinds, tools, failures, tokens, time and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from convcli.model.transcript import Message, ToolCall, ToolResult, Transcript
from convcli.views.costs import Prices
from convcli.views.failures import cause_of, is_failed, is_rejected
from convcli.views.rows import CallPairs, Row, about, kind_of, part_text, seconds_between
from convcli.views.timeline import Timeline, day_of

WHAT = ("transcripts", "models", "roles", "kinds", "tools", "failures", "tokens", "costs", "projects", "days")
MOST_CAUSES = 1_000
"""Causes of failures that are counted apart."""
OTHER_CAUSES = "other causes"

Counted: TypeAlias = tuple[str, str, int, int, int | None, float | None, float | None]
"""The category and name, the count, the number of errors, the size, the seconds and the cost."""
UNPRICED, RECORDED, REJECTED = "unpriced", "recorded", "rejected"
"""Categories of `counted` that are no rows."""


class Statistics:
    """Counts over many transcripts.

    `errors` and `rejected`: by tool, calls that failed, and calls that the user did not allow · `costs`: by model,
    project and day, in UTC · `unpriced`: by model, answers with tokens without a price · `recorded`: by model, answers
    whose cost their program recorded · `timeline`: counts over time.
    """

    def __init__(self, prices: Prices | None = None) -> None:
        self.prices = prices or Prices({})
        self.counts, self.sizes = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self.errors, self.rejected, self.seconds = Counter[str](), Counter[str](), dict[tuple[str, str], float]()
        self.costs, self.unpriced, self.recorded = dict[tuple[str, str], float](), Counter[str](), Counter[str]()
        self.timeline = Timeline()

    def add(self, transcript: Transcript, dialect: str, project: str | None = None) -> None:
        """Adds a transcript. `project` is the last part of the directory in which its session ran."""
        facts = about(transcript)
        self.counts["transcripts", dialect] += 1
        self._lasted("transcripts", dialect, facts["begin"], facts["end"])
        for message in transcript.messages:
            model = message.model or transcript.model or ""
            self._message(message, model)
            self._cost(message, model, project)
        pairs = CallPairs(transcript)
        for index, (_, message, call) in enumerate(pairs.calls):
            for _, answer, _ in pairs.results_of.get(index, [])[:1]:
                self._lasted("tools", call.name, message.created_at, answer.created_at)

    def rows(self) -> Iterator[Row]:
        """Yields a row for each counted thing: days in order, others the most frequent first.

        Models count answers; costs, projects and days count answers with tokens. `size` is in characters; `seconds` are
        those of whole transcripts, and of calls until their results.
        """
        for what, name in sorted(self.counts, key=self._order):
            key, is_tool = (what, name), what == "tools"
            yield {
                "what": what,
                "name": name,
                "count": self.counts[key],
                "errors": self.errors[name] if is_tool else None,
                "rejected": self.rejected[name] if is_tool else None,
                "size": self.sizes.get(key),
                "seconds": round(self.seconds[key], 3) if key in self.seconds else None,
                "cost": round(self.costs[key], 6) if key in self.costs else None,
            }

    def _order(self, key: tuple[str, str]) -> tuple[int, int, str]:
        return WHAT.index(key[0]), 0 if key[0] == "days" else -self.counts[key], key[1] if key[0] == "days" else ""

    def counted(self) -> Iterator[Counted]:
        """Yields the counts as plain values for `add_counted`, without the timeline."""
        for key in dict.fromkeys((*self.counts, *self.sizes)):
            errors = self.errors[key[1]] if key[0] == "tools" else 0
            yield *key, self.counts[key], errors, self.sizes.get(key), self.seconds.get(key), self.costs.get(key)
        for what, counts in self._others.items():
            yield from ((what, name, count, 0, None, None, None) for name, count in counts.items())

    def add_counted(self, counted: Iterable[Counted]) -> None:
        """Adds counts made elsewhere."""
        for what, name, count, errors, size, seconds, cost in counted:
            if what in self._others:
                self._others[what][name] += count
                continue
            if count or size is None:  # a tool with results only has a size and no row
                self.counts[what, name] += count
            if what == "tools":
                self.errors[name] += errors
            if size is not None:
                self.sizes[what, name] += size
            if seconds is not None:
                self.seconds[what, name] = self.seconds.get((what, name), 0.0) + seconds
            if cost is not None:
                self.costs[what, name] = self.costs.get((what, name), 0.0) + cost

    @property
    def _others(self) -> dict[str, Counter[str]]:
        return {UNPRICED: self.unpriced, RECORDED: self.recorded, REJECTED: self.rejected}

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
                errors += self._result(part)
        usage = _with_sums(message.usage or {})
        for name, number in usage.items():
            self.counts["tokens", name] += number
        self.timeline.add(message.created_at, tokens=usage.get("totalTokens", 0), calls=calls, errors=errors)

    def _result(self, result: ToolResult) -> bool:
        """Counts a result. Returns True if its call failed."""
        if is_rejected(result):
            self.rejected[result.name] += 1
            return False
        if not is_failed(result):
            return False
        self.errors[result.name] += 1
        key = ("failures", f"{result.name}: {cause_of(result)}")
        is_full = key not in self.counts and sum(what == "failures" for what, _ in self.counts) >= MOST_CAUSES
        self.counts[("failures", OTHER_CAUSES) if is_full else key] += 1
        return True

    def _cost(self, message: Message, model: str, project: str | None) -> None:
        """Counts the cost that the program recorded, else that by the price of the model."""
        cost = self.prices.of_message(message, model)
        if cost is None and not any((message.usage or {}).values()):
            return
        if cost is None or message.cost is not None:
            (self.unpriced if cost is None else self.recorded)[model] += 1
        day = day_of(message.created_at)
        for key in (("costs", model if cost is not None else ""), ("projects", project or ""), ("days", day or "")):
            if key[1]:
                self.counts[key] += 1
                if cost is not None:
                    self.costs[key] = self.costs.get(key, 0.0) + cost

    def _count(self, what: str, name: str, size: int) -> None:
        if name:
            self.counts[what, name] += 1
            self.sizes[what, name] += size

    def _lasted(self, what: str, name: str, begin: str | None, end: str | None) -> None:
        seconds = seconds_between(begin, end)
        if seconds is not None and seconds >= 0:
            self.seconds[what, name] = self.seconds.get((what, name), 0.0) + seconds


def _with_sums(usage: dict[str, int]) -> dict[str, int]:
    """Adds the input tokens without a cache, and the total if the source omits it, so that all answers are counted."""
    if not usage:
        return {}
    given, cached = usage.get("inputTokens", 0), usage.get("cacheReadTokens", 0) + usage.get("cacheWriteTokens", 0)
    total = given + usage.get("outputTokens", 0)
    return {"totalTokens": total, "uncachedInputTokens": max(given - cached, 0), **usage}
