"""Costs of answers, by prices that the project configures: convcli has no prices, because services change them."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache

MILLION = 1_000_000
"""The number of tokens that a price is for."""


class Prices:
    """Prices by patterns of model names; the first pattern that matches counts."""

    def __init__(self, table: Mapping[str, Mapping[str, float]]) -> None:
        self.table = table
        self._of = cache(self._first)

    def cost(self, usage: Mapping[str, int] | None, model: str | None) -> float | None:
        """Returns the cost of an answer, None if its tokens or the prices of its model are unknown.

        Tokens read from or written to a cache are included in the input tokens, and cost the same unless they have a
        price of their own."""
        price = self._of(model or "")
        if price is None or not usage:
            return None
        read, written = usage.get("cacheReadTokens", 0), usage.get("cacheWriteTokens", 0)
        counts = {
            "input": max(usage.get("inputTokens", 0) - read - written, 0),
            "output": usage.get("outputTokens", 0),
            "cache-read": read,
            "cache-write": written,
        }
        usual = {"cache-read": price.get("input", 0), "cache-write": price.get("input", 0)}
        return sum(count * float(price.get(name, usual.get(name, 0))) for name, count in counts.items()) / MILLION

    def _first(self, model: str) -> Mapping[str, float] | None:
        return next((price for pattern, price in self.table.items() if fnmatchcase(model, pattern)), None)
