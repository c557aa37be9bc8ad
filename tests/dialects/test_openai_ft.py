"""Rows for fine-tuning: weights, pairs with one answer on each side, and questions for a grader."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.openai_ft import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript

USER, ANSWER, WORSE = (
    {"role": role, "content": text}
    for role, text in (("user", "Sky?"), ("assistant", "Blue."), ("assistant", "Green."))
)
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
PAIR = {"input": {"messages": [USER]}, "preferred_output": [ANSWER], "non_preferred_output": [WORSE]}
CALL = Message("assistant", [ToolCall("call_1", "f", {"n": 1})])
RESULT = Message("tool", [ToolResult("call_1", "f", "text", "2")])


def written(*messages: Message, **options: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(**options))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


@pytest.mark.parametrize("weight", [0, 1])
def test_a_weight_sets_whether_a_turn_is_trained(weight: int) -> None:
    row = {"messages": [USER, {**ANSWER, "weight": weight}]}
    assert DIALECT.lift(row).messages[1].weight == weight
    assert pipeline.lower(DIALECT.lift(row), DIALECT).document == row
    trained = pipeline.convert(row, DIALECT, dialects.get("hf-chat"))
    assert trained.document["messages"][1]["training"] is bool(weight)
    assert trained.losses == []


def test_other_weights_are_lost_and_reported() -> None:
    row, losses = written(Message("user", [Text("Hi.")], weight=1), Message("assistant", [Text("Hm.")], weight=0.5))
    assert all("weight" not in message for message in row["messages"])
    assert losses == {"dropped message.weight"}


def test_arguments_are_strings_and_reasoning_is_reported() -> None:
    row, losses = written(Message("user", [Text("Go.")]), Message("assistant", [Reasoning("Hm."), *CALL.parts]), RESULT)
    assert row["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"n":1}'
    assert losses == {"dropped reasoning"}


def test_a_pair_is_a_tree_with_the_preferred_output_as_its_head() -> None:
    transcript = DIALECT.lift(PAIR)
    assert [(one.role, one.label) for one in transcript.messages] == [
        ("user", None),
        ("assistant", "chosen"),
        ("assistant", "rejected"),
    ]
    assert transcript.head == "message_2"
    assert pipeline.lower(transcript, DIALECT).document == PAIR


@pytest.mark.parametrize("name", ["hf-chat", "openai-ft"])
def test_pairs_go_from_one_trainer_to_the_other_and_back(name: str) -> None:
    asked = {**PAIR["input"], "tools": [TOOL]}  # type: ignore[dict-item]
    source, target = DIALECT, dialects.get(name)
    there = pipeline.convert({**PAIR, "input": asked}, source, target)
    assert there.losses == []
    assert pipeline.convert(there.document, target, source).document == {**PAIR, "input": asked}


def test_an_output_is_one_turn_of_the_assistant() -> None:
    calling = {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "function": {}}]}
    calling["tool_calls"][0]["function"] = {"name": "f", "arguments": {}}  # type: ignore[index]
    result = {"role": "tool", "tool_call_id": "a", "content": "2"}
    row = {"prompt": [USER], "chosen": [calling, result, ANSWER], "rejected": [WORSE]}
    conversion = pipeline.convert(row, dialects.get("hf-chat"), DIALECT)
    assert [len(conversion.document[key]) for key in ("preferred_output", "non_preferred_output")] == [1, 1]
    assert "tool_calls" in conversion.document["preferred_output"][0]
    assert {loss.where for loss in conversion.losses if loss.kind == "dropped"} >= {"/chosen/1", "/chosen/2"}


def test_what_is_inside_the_input_has_its_path_there() -> None:
    row = {**PAIR, "input": {"messages": [USER], "tools": [TOOL], "parallel_tool_calls": True, "note": "x"}}
    losses = pipeline.convert(row, DIALECT, dialects.get("llama-json")).losses
    assert {"/input/parallel_tool_calls", "/input/note"} <= {loss.where for loss in losses}
    assert pipeline.lower(DIALECT.lift(row), DIALECT).document == row


def test_a_row_for_reinforcement_ends_with_its_question() -> None:
    row = {"messages": [USER], "reference_answer": "Blue."}
    assert DIALECT.form(DIALECT.lift(row)) == "reinforcement"
    assert pipeline.lower(DIALECT.lift(row), DIALECT).document == row
    asked, losses = written(
        Message("user", [Text("Sky?")]), Message("assistant", [Text("Blue.")]), form="reinforcement"
    )
    assert asked == {"messages": [USER]}
    assert losses == {"dropped message", "dropped text"}


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (PAIR, "openai-ft"),
        ({"messages": [USER, {**ANSWER, "weight": 1}]}, "openai-ft"),
        ({"messages": [USER, ANSWER], "tools": [TOOL], "parallel_tool_calls": False}, "openai-ft"),
        ({"messages": [USER, ANSWER], "tools": [TOOL]}, "openai-ft"),
        ({"messages": [USER, ANSWER], "functions": [TOOL["function"]]}, "openai-ft"),
        ({"messages": [USER, ANSWER], "tools": [TOOL], "temperature": 1}, "openai-chat"),
        ({"model": "m", "messages": [USER, ANSWER], "tools": [TOOL]}, "openai-chat"),
        ({"messages": [USER], "tools": [TOOL]}, "openai-chat"),
        ({"messages": [USER, ANSWER]}, "openai-chat"),
    ],
)
def test_a_row_is_known_by_what_no_request_lacks(row: Any, name: str) -> None:
    assert detection.detect(row).dialect == name


def test_a_column_of_nulls_is_none() -> None:
    columns = dict.fromkeys(("messages", "input", "preferred_output", "non_preferred_output", "tools"))
    for row in (PAIR, {"messages": [USER, {**ANSWER, "weight": 1}]}):
        filled = {**columns, **row}
        assert detection.detect(filled).dialect == "openai-ft"
        assert pipeline.validate(filled, DIALECT) == []
        assert DIALECT.lift(filled) == DIALECT.lift(row)
