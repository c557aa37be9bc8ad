"""Costs and providers of answers, in every dialect that has a place for them."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.kit.usage import Usage
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Text, Transcript
from tests.support import names, samples_of

USAGE = Usage({("input",): "inputTokens"})
BOUND = {"codex": "its program takes no provider that is not among those of the machine"}


def those_with(field: str) -> list[str]:
    known = (one for one in map(dialects.get, names()) if one.is_written and not one.bodies)
    return [one.name for one in known if f"message.{field}" in one.supports_in() and one.name not in BOUND]


@pytest.mark.parametrize("name", those_with("cost"))
def test_a_cost_is_written_and_read_back(name: str) -> None:
    assert brought(name, cost=0.25).cost == 0.25


@pytest.mark.parametrize("name", those_with("provider"))
def test_a_provider_is_written_and_read_back(name: str) -> None:
    assert brought(name, provider="somebody").provider == "somebody"


def brought(name: str, **fields: Any) -> Message:
    """An answer with these fields, out of the document that the dialect makes of it."""
    dialect = dialects.get(name)
    answer = Message("assistant", [Text("Hi.")], model="m", usage={"inputTokens": 1, "outputTokens": 1}, **fields)
    transcript = Transcript([Message("user", [Text("Hi?")]), answer])
    document = pipeline.lower(transcript, dialect, Options()).document
    return next(message for message in dialect.lift(document).messages if message.role == "assistant")


@pytest.mark.parametrize(
    ("name", "field"),
    [(name, "cost") for name in ("openclaw", "opencode", "cline", "atif", "claude-code", "pydantic-ai", "inspect-ai")]
    + [(name, "provider") for name in ("openclaw", "opencode", "cline", "codex", "goose", "langchain", "otel-genai")],
)
def test_what_a_sample_says_of_an_answer_is_its_field(name: str, field: str) -> None:
    messages = [message for sample in samples_of(name) for message in dialects.get(name).lift(sample.document).messages]
    assert any(getattr(message, field) is not None for message in messages)


@pytest.mark.parametrize(
    ("native", "cost", "rest"),
    [
        ({"input": 1, "cost": 0.5}, 0.5, {}),
        ({"input": 1, "cost": "0.5"}, 0.5, {"cost": "0.5"}),
        ({"input": 1, "cost": "much"}, None, {"cost": "much"}),
        ({"input": 1, "cost": {"total": 1}}, None, {"cost": {"total": 1}}),
    ],
)
def test_a_cost_is_a_number_or_one_in_a_string_and_comes_back_as_it_was(native: Any, cost: Any, rest: Any) -> None:
    message = Message("assistant", [])
    extra = USAGE.lift(native, message)
    assert (message.cost, extra) == (cost, rest)
    assert USAGE.write(message, extra) == native


def test_a_cost_that_was_edited_is_written_as_it_is_now() -> None:
    message = Message("assistant", [], cost=0.75)
    assert USAGE.write(message, {"cost": "0.5"}) == {"cost": 0.75}
    assert USAGE.write(Message("assistant", []), {"cost": "0.5"}) == {}
