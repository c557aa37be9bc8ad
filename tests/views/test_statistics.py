"""What many transcripts come to: time, cost and counts."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from convcli.views.costs import Prices
from convcli.views.statistics import Statistics

CALLS: list[Any] = [ToolCall("a", "f", {}), ToolCall("b", "g", {})]
USAGE = {"inputTokens": 1_000_000, "outputTokens": 1_000_000}


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}Z"


def session() -> Transcript:
    return Transcript([
        Message("user", [Text("Go.")], created_at=at(0)),
        Message("assistant", CALLS, model="m1", usage=USAGE, created_at=at(5)),
        Message("tool", [ToolResult("a", "f", "text", "x")], created_at=at(8)),
        Message("tool", [ToolResult("b", "g", "error", "x")]),
        Message("assistant", [Text("Done.")], model="m2", usage=USAGE, created_at=at(30)),
    ])  # fmt: skip


def counted(prices: dict[str, Any]) -> tuple[Statistics, dict[tuple[str, str], dict[str, Any]]]:
    statistics = Statistics(Prices(prices))
    statistics.add(session(), "intermediate")
    statistics.add(session(), "intermediate")
    return statistics, {(row["what"], row["name"]): row for row in statistics.rows()}


def test_seconds_are_those_of_transcripts_and_of_calls_whose_times_are_known() -> None:
    _, rows = counted({})
    assert rows["transcripts", "intermediate"]["seconds"] == 60
    assert rows["tools", "f"]["seconds"] == 6
    assert rows["tools", "g"]["seconds"] is None


def test_models_are_counted_by_their_answers_and_these_have_a_size() -> None:
    _, rows = counted({})
    assert [(rows["models", name]["count"], rows["models", name]["size"]) for name in ("m1", "m2")] == [(2, 8), (2, 10)]
    statistics = Statistics()
    statistics.add(
        replace(session(), model="m3", messages=[Message("user", [Text("x")]), Message("assistant", [])]), "d"
    )
    assert {key: count for key, count in statistics.counts.items() if key[0] == "models"} == {("models", "m3"): 1}


def test_costs_are_by_the_model_of_the_answer_and_what_has_no_price_is_counted() -> None:
    statistics, rows = counted({"m1": {"input": 1, "output": 2}})
    assert (rows["costs", "m1"]["count"], rows["costs", "m1"]["cost"]) == (2, 6)
    assert ("costs", "m2") not in rows
    assert statistics.unpriced == {"m2": 2}
    assert statistics.costs["days", "2026-01-01"] == 6


def test_the_timeline_has_tokens_calls_and_errors() -> None:
    spans = counted({})[0].timeline.spans(60)
    assert spans is not None
    assert spans.counts == {"tokens": [8_000_000], "calls": [4], "errors": [0]}  # the error has no time
