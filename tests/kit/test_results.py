"""Results stand behind their calls, alone, or in words."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from convcli.families.openai import calls
from convcli.kit import results
from convcli.model.dialect import Convention
from convcli.model.inventory import Inventory
from convcli.model.transcript import (
    Media,
    Message,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from tests.kit.builders import calling, result, user


def test_results_come_directly_behind_the_turn_that_called() -> None:
    messages = [calling("a", "b"), user("wait"), result("b"), result("a")]
    fitted = results.results_behind_calls(Transcript(messages)).messages
    assert fitted == [messages[0], messages[2], messages[3], messages[1]]


WORDS = ("user", "calls a", "calls a b", "result a", "result b", "both")


def built(word: str) -> Message:
    kind, _, ids = word.partition(" ")
    if kind == "both":
        return Message("tool", [*result("a").parts, *result("b").parts])
    return calling(*ids.split()) if kind == "calls" else result(ids) if kind == "result" else user("a")


@pytest.mark.parametrize("count", range(5))
def test_no_pass_changes_the_results_of_a_regular_transcript(count: int) -> None:
    for words in product(WORDS, repeat=count):
        assert_regular_or_not(list(map(built, words)))


def assert_regular_or_not(messages: list[Message]) -> None:
    if not results.are_irregular(Inventory(messages)):
        assert results.put_results_first(messages) is messages
        assert all(results.split_mixed_results(message) == [message] for message in messages)
        assert results.keep_one_result_each(messages) is messages
        ids = [part.id for message in messages for part in message.parts if isinstance(part, ToolCall)]
        answered = [part.tool_call_id for message in messages for part in message.parts if isinstance(part, ToolResult)]
        assert len(set(ids)) == len(ids)
        assert sorted(ids) == sorted(answered)


def test_a_result_without_a_call_stays_where_it_is() -> None:
    messages = [user("a"), result("x"), user("b")]
    assert results.results_behind_calls(Transcript(messages)).messages == messages


def test_results_of_one_message_are_messages_of_their_own() -> None:
    mixed = Message("user", [Text("a"), result("x").parts[0], Text("b"), Text("c")], id="m")
    fitted = results.separate_results(Transcript([mixed])).messages
    assert [(message.role, len(message.parts), message.id) for message in fitted] == [
        ("user", 1, "m"),
        ("tool", 1, None),
        ("user", 2, None),
    ]


def test_a_message_of_a_tool_is_one_result_and_else_words_of_the_user() -> None:
    two = Message("tool", [*result("a").parts, *result("b").parts])
    words = Message("tool", [Text("x")])
    stray = Message("user", [Text("y"), *result("c").parts])
    fitted = results.keep_one_result_each([two, words, stray])
    assert fitted == [result("a"), user("x"), user("y")]


def test_a_convention_writes_a_result_for_which_there_is_no_field() -> None:
    mark = Convention(lambda one: ("text", f"Error: {one.value}") if one.kind == "error" else None, {})
    failed = ToolResult("a", "f", "error", "no", is_error=True)
    fitted = results.apply_convention(mark)(Transcript([Message("tool", [failed]), result("b")]))
    assert fitted.messages == [Message("tool", [ToolResult("a", "f", "text", "Error: no")]), result("b")]


def test_results_in_words_say_what_a_model_can_read() -> None:
    texts = results.ResultTexts("Error: ")
    image = Media("image", data="AAAA", media_type="image/png")
    assert texts.value(ToolResult("a", "f", "data", {"n": 1})) == '{"n":1}'
    assert texts.value(ToolResult("a", "f", "error", "no")) == "Error: no"
    assert texts.value(ToolResult("a", "f", "error", "Error: no")) == "Error: no"
    assert texts.value(ToolResult("a", "f", "multimodal", [Text("x"), image, Text("y")])) == "x\ny"
    assert texts.express(ToolResult("a", "f", "multimodal", [image])) is None
    assert texts.express(ToolResult("a", "f", "text", "x")) is None
    assert results.ResultTexts("", data=True).value(ToolResult("a", "f", "data", {"n": 1})) == {"n": 1}


def test_what_a_result_holds_is_fitted_part_by_part_and_shared_where_nothing_changes() -> None:
    image = Media("image", data="AAAA", media_type="image/png")
    mixed = ToolResult("a", "f", "multimodal", [Text("x"), image])
    assert results.with_parts(mixed, lambda part: part) is mixed
    assert results.with_parts(mixed, lambda part: None if part is image else part).value == [Text("x")]
    data = ToolResult("a", "f", "data", [1])
    assert results.with_parts(data, lambda part: None) is data


def test_a_part_inside_a_result_has_only_the_extras_of_its_owner() -> None:
    own = {"mine": {"k": 1}}
    image = Media("image", data="AAAA", name="x.png", metadata={"m": 1}, extras={**own, "theirs": {"k": 2}})
    assert results.only_own(image, "mine", name=None) == Media("image", data="AAAA", extras=own)
    bare = Text("x", extras=own)
    assert results.only_own(bare, "mine") is bare


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [("text", "no", ("error", None)), ("error", "no", ("error", None)), ("data", {}, ("data", True))],
)
def test_the_text_of_a_tool_that_failed_is_its_error(kind: Any, value: Any, expected: tuple[str, Any]) -> None:
    failed = ToolResult("a", "f", kind, value)
    results.fail(failed)
    assert (failed.kind, failed.is_error) == expected


def test_a_result_of_one_bare_text_is_that_text() -> None:
    texts = [Text("x")]
    assert results.result_of_parts("a", "f", texts, failed=False) == ToolResult("a", "f", "text", "x")
    assert results.result_of_parts("a", "f", texts, failed=True) == ToolResult("a", "f", "error", "x")
    marked = [Text("x", extras={"own": {"k": 1}})]
    expected = ToolResult("a", "f", "multimodal", marked, is_error=True)
    assert results.result_of_parts("a", "f", marked, failed=True) == expected
    assert results.result_of_parts("a", "f", [], failed=False) == ToolResult("a", "f", "multimodal", [])


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ToolResult("a", "f", "error", "Exit code 1"), ("text", "Exit code 1")),
        (ToolResult("a", "f", "data", [1], is_error=True), ("text", "[1]")),
        (ToolResult("a", "f", "text", "fine"), None),
    ],
)
def test_a_failure_in_a_training_row_keeps_the_text_that_the_model_read(result: ToolResult, expected: Any) -> None:
    assert calls.ROW_TEXTS.express(result) == expected
