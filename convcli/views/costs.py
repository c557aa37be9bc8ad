"""Estimated costs of answers: by prices of the project, of a file in litellm's format, or of the dated built-in table.

Services change their prices. Each entry of `prices.json` has the day on which it was read and its source;
`python -m tests.prices` makes the table. A model without an entry has no price.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple

from convcli.files.side_files import read_side_file
from convcli.model.errors import JobError
from convcli.model.transcript import Message, Transcript
from convcli.wire.patterns import pattern

MILLION = 1_000_000
"""The number of tokens that a price of the configuration is for."""
BUILT_IN = os.path.join(os.path.dirname(__file__), "prices.json")
KEYS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache-read": "cache_read_input_token_cost",
    "cache-write": "cache_creation_input_token_cost",
}
"""The keys of litellm's format, in US dollars per token, by the kind of token."""
TOKEN_COST = pattern(rf"({'|'.join(KEYS.values())})(?:_above_(\d{{1,5}})k_tokens)?")
"""A key of litellm's format, and the thousands of input tokens above which it counts."""

HOUR = 2.0
"""The price of a token written to Anthropic's cache for an hour, in prices of an input token; the usual cache, of five
minutes, has a price in tables (platform.claude.com/docs/en/build-with-claude/prompt-caching, read on 2026-11-28)."""

_PREFIX = pattern(
    r"(?:models|anthropic|openai|google|gemini|deepseek|x-?ai|mistral(?:ai)?|moonshot(?:ai)?|z-?ai|qwen|dashscope)/"
)
"""The vendor before a model name, as routers write it."""
_DATE = pattern(r"[-@](?:\d{8}|\d{4}-\d\d-\d\d)")
_CONTEXT = pattern(r"\[[0-9a-z]{1,8}\]")
"""The marker of a longer context window in model names of Claude Code."""


class Price(NamedTuple):
    """Prices in US dollars per token, by the kind of token; `above` has those for longer inputs, the longest first."""

    costs: Mapping[str, float]
    above: tuple[tuple[int, Mapping[str, float]], ...] = ()
    date: str = ""
    source: str = ""

    def cost(self, usage: Mapping[str, int], hourly: int = 0) -> float:
        """Returns the cost of an answer.

        Tokens read from or written to a cache are included in the input tokens, and cost the same unless they have a
        price of their own. `hourly` is the number of those written to a cache for an hour.
        """
        given = usage.get("inputTokens", 0)
        read, written = usage.get("cacheReadTokens", 0), usage.get("cacheWriteTokens", 0)
        counts = {
            "input": max(given - read - written, 0),
            "output": usage.get("outputTokens", 0),
            "cache-read": read,
            "cache-write": max(written - hourly, 0),
            "cache-hour": min(written, hourly),
        }
        longer = next((costs for most, costs in self.above if given > most), {})
        costs = {**self.costs, **longer}
        usual = costs.get("input", 0.0)
        costs["cache-hour"] = HOUR * usual
        return sum(count * costs.get(name, usual if "cache" in name else 0.0) for name, count in counts.items())


class Prices:
    """The prices that count: patterns of the configuration first, then exact names of a file and of the built-in table.

    `table` maps patterns to prices per million tokens; `more` are entries in litellm's format.
    """

    def __init__(self, table: Mapping[str, Mapping[str, float]], more: Mapping[str, Mapping[str, Any]] | None = None):
        self._own = {
            name: Price({key: float(cost) / MILLION for key, cost in each.items()}) for name, each in table.items()
        }
        self._more = _entries(more or {})
        self.of = cache(self._first)

    def cost(self, usage: Mapping[str, int] | None, model: str | None, hourly: int = 0) -> float | None:
        """Returns the cost of an answer, None if its tokens or the prices of its model are unknown."""
        price = self.of(model or "")
        return price.cost(usage, hourly) if price is not None and usage and any(usage.values()) else None

    def of_message(self, message: Message, model: str | None) -> float | None:
        """Returns the cost that the program recorded, else that by the price of the model."""
        return self.cost(message.usage, model, _hourly(message)) if message.cost is None else float(message.cost)

    def of_transcript(self, transcript: Transcript) -> float | None:
        """Returns the sum of all known costs; None if none is known."""
        costs = [self.of_message(message, message.model or transcript.model) for message in transcript.messages]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known else None

    def _first(self, model: str) -> Price | None:
        """Returns the price of a model, None for an unknown one."""
        own = next((price for name, price in self._own.items() if fnmatchcase(model, name)), None)
        if own is not None or not model:
            return own
        return next(
            (table[name] for name in _names(model) for table in (self._more, _built_in()) if name in table), None
        )


def load(path: str) -> dict[str, dict[str, Any]]:
    """Returns the entries of a file in litellm's format that price tokens. Raises JobError."""
    content = read_side_file(path, "file of prices")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    entries = dict(_priced(document)) if isinstance(document, dict) else {}
    if not entries:
        raise JobError("not-prices", "this is not a JSON file of prices in litellm's format", file=path)
    return entries


def undated(model: str) -> str:
    """Returns a model name without its date at the end."""
    found = list(_DATE.finditer(model))
    return model[: found[-1].start()] if found and found[-1].end() == len(model) else model


def _hourly(message: Message) -> int:
    """Returns the number of tokens that an answer of Anthropic wrote to a cache for an hour."""
    for extras in (message.extras or {}).values():
        usage = extras.get("usage")
        kinds = usage.get("cache_creation") if isinstance(usage, dict) else None
        count = kinds.get("ephemeral_1h_input_tokens") if isinstance(kinds, dict) else None
        if isinstance(count, int):
            return max(count, 0)
    return 0


def _priced(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, entry in document.items():
        costs = entry if isinstance(entry, dict) else {}
        kept = {key: value for key, value in costs.items() if TOKEN_COST.fullmatch(key) and _is_price(value)}
        if KEYS["input"] in kept and name != "sample_spec":  # the description of the format itself
            about = {
                key: costs[key] for key in ("source", "date", "litellm_provider") if isinstance(costs.get(key), str)
            }
            yield name, {**kept, **about}


def _is_price(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")


def _entries(document: Mapping[str, Mapping[str, Any]]) -> dict[str, Price]:
    """Returns prices by name; one with the prefix of its provider also without it, if no other entry has that name."""
    entries = {name.lower(): _price(entry) for name, entry in document.items()}
    for name, entry in document.items():
        prefix = f"{entry.get('litellm_provider', '')}/"
        if name.startswith(prefix) and _PREFIX.fullmatch(prefix):
            entries.setdefault(name.removeprefix(prefix).lower(), entries[name.lower()])
    return entries


def _price(entry: Mapping[str, Any]) -> Price:
    kinds = {key: kind for kind, key in KEYS.items()}
    usual: dict[str, float] = {}
    above: dict[int, dict[str, float]] = {}
    for key, value in entry.items():
        cost = TOKEN_COST.fullmatch(key)
        if cost is not None:
            costs = above.setdefault(int(cost[2]) * 1000, {}) if cost[2] else usual
            costs[kinds[cost[1]]] = float(value)
    return Price(usual, tuple(sorted(above.items(), reverse=True)), entry.get("date", ""), entry.get("source", ""))


@cache
def _built_in() -> Mapping[str, Price]:
    with open(BUILT_IN, "rb") as file:
        return _entries(json.loads(file.read()))


def _names(model: str) -> Iterator[str]:
    """Yields the names by which a table may know a model, the most exact first."""
    name = model.lower()
    yield name
    prefix = _PREFIX.match(name)
    name = name[prefix.end() :] if prefix is not None else name
    yield name
    name = _CONTEXT.sub("", name)
    name = name.replace(".", "-") if name.startswith("claude-") else name
    yield name
    yield undated(name)
