"""What a terminal shows of counts: durations and amounts of money in words."""

from __future__ import annotations

import pytest

from convcli.model.transcript import Message, Transcript
from convcli.report.totals import dollars, in_words, rows
from convcli.views.statistics import Statistics


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 s"), (9.96, "10.0 s"), (59.6, "1 min"), (3198.9, "53 min 19 s"), (7260, "2 h 1 min"), (86_405, "1 d")],
)
def test_a_duration_has_its_two_largest_units(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@pytest.mark.parametrize(("cost", "words"), [(0, "$0.00"), (1234.567, "$1,234.57"), (0.00567, "$0.0057")])
def test_an_amount_is_to_the_cent_and_a_small_one_has_two_digits(cost: float, words: str) -> None:
    assert dollars(cost) == words


def test_tokens_are_named_with_and_without_cache() -> None:
    statistics = Statistics()
    usage = {"inputTokens": 100, "cacheReadTokens": 70, "cacheWriteTokens": 10, "outputTokens": 5}
    statistics.add(Transcript([Message("assistant", [], usage=usage)]), "intermediate")
    tokens = {row["name"]: row["count"] for row in rows(statistics) if row["what"] == "tokens"}
    assert (tokens["input, with cache"], tokens["input, without cache"]) == (100, 20)
    assert tokens["all"] == 105
