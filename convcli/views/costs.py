"""What answers cost, by the prices that a project gives: nobody else's are known here, since services change theirs."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache

MILLION = 1_000_000
"""Tokens that a price is for."""


class Prices:
    """Prices by patterns of names of models; the first pattern that matches counts."""

    def __init__(self, table: Mapping[str, Mapping[str, float]]) -> None:
        self.table = table
        self._of = cache(self._first)

    def cost(self, usage: Mapping[str, int] | None, model: str | None) -> float | None:
        """What an answer cost; None where its tokens or the prices of its model are not known.

        Tokens that were read from a cache or written to one are among those of the input, and cost as much as these
        unless they have a price of their own."""
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
