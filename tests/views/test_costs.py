"""What an answer cost: each token once, by the first price that matches its model."""

from __future__ import annotations

import pytest

from convcli.model.transcript import Message
from convcli.views.costs import Prices

PRICES = Prices({
    "claude-*": {"input": 4, "output": 20, "cache-read": 0.5, "cache-write": 5},
    "gpt-5*": {"input": 1, "output": 8},
    "*": {"output": 2},
})  # fmt: skip
USAGE = {"inputTokens": 1_000_000, "outputTokens": 500_000, "cacheReadTokens": 600_000, "cacheWriteTokens": 200_000}


@pytest.mark.parametrize(
    ("model", "cost"),
    [("claude-x", 0.8 + 10 + 0.3 + 1), ("gpt-5.1", 1 + 4), ("other", 1), (None, 1)],
)
def test_cached_tokens_are_paid_as_such_and_not_again_as_input(model: str | None, cost: float) -> None:
    assert PRICES.cost(USAGE, model) == pytest.approx(cost)


@pytest.mark.parametrize(("hourly", "cost"), [(200_000, 1.6), (50_000, 0.75 + 0.4), (0, 1), ("many", 1)])
def test_what_is_written_to_a_cache_for_an_hour_costs_twice_an_input_token(hourly: object, cost: float) -> None:
    extras = {"claude-code": {"usage": {"cache_creation": {"ephemeral_1h_input_tokens": hourly}}}}
    message = Message("assistant", [], usage=USAGE, extras=extras)
    assert PRICES.of_message(message, "claude-x") == pytest.approx(0.8 + 10 + 0.3 + cost)


def test_what_has_no_price_or_no_tokens_has_no_cost() -> None:
    assert Prices({"a": {"input": 1}}).cost(USAGE, "b") is None
    assert PRICES.cost(None, "claude-x") is None
    assert PRICES.cost({}, "claude-x") is None
