"""Equal to Python is not yet exact: types of numbers and the order of keys count in JSON."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.model.transcript import Media, Message, Opaque, Text, ToolCall, ToolDefinition, ToolResult
from convcli.proof.equality import as_json, exact_message, exact_part, exact_tool, media_key

PAIRS: list[tuple[Any, Any]] = [({"a": 1}, {"a": 1.0}), ({"a": 1}, {"a": True}), ({"a": 0, "b": 1}, {"b": 1, "a": 0})]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_arguments_data_and_opaque_values_are_compared_as_json(one: Any, two: Any) -> None:
    for before, after in (
        (ToolCall("a", "f", one), ToolCall("a", "f", two)),
        (ToolResult("a", "f", "data", one), ToolResult("a", "f", "data", two)),
        (Opaque("x", one), Opaque("x", two)),
    ):
        assert before == after
        assert exact_part(before, before)
        assert not exact_part(before, after)


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_schemas_of_tools_are_compared_as_json(one: Any, two: Any) -> None:
    assert exact_tool(ToolDefinition("f", parameters=one), ToolDefinition("f", parameters=dict(one)))
    assert not exact_tool(ToolDefinition("f", parameters=one), ToolDefinition("f", parameters=two))


def test_counts_and_extras_of_messages_are_compared_as_json() -> None:
    one, two = (Message("user", [Text("x")], usage={"inputTokens": count}) for count in (1, 1.0))  # type: ignore[dict-item]
    assert not exact_message(one, two)
    extra = [Message("user", [Text("x")], extras={"x": {"a": value}}) for value in (1, True)]
    assert not exact_message(*extra)
    assert exact_message(extra[0], extra[0])


def test_the_order_of_extras_says_nothing_inside_a_value() -> None:
    one = Text("x", extras={"b": {"k": 1, "j": 2}, "a": {}})
    two = Text("x", extras={"a": {}, "b": {"j": 2, "k": 1}})
    assert list(as_json([one])[0]["extras"]) == list(as_json([two])[0]["extras"]) == ["a", "b"]
    assert as_json({"a": 1}) == {"a": 1}


def test_media_are_distinguished_by_what_they_hold() -> None:
    assert media_key(Media("image", url="u", name="a")) == media_key(Media("image", url="u", name="b"))
    assert media_key(Media("image", url="u")) != media_key(Media("image", url="v"))
    assert media_key(Media("image", url="u")) != media_key(Media("audio", url="u"))
