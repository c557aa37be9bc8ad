"""Rows in the style of Hermes: calls, results and tools between tags, read exactly; everything else is text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli.dialects.hermes import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import (
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)

CALL = '<tool_call>\n{"name":"f","arguments":{"n":1}}\n</tool_call>'
ASKED, ANSWERED = Message("user", [Text("Go.")]), Message("assistant", [Text("Gone.")])
CALLED = ToolCall("call_1", "f", {"n": 1})
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def row(*turns: tuple[str, str]) -> Any:
    return {"conversations": [{"from": tag, "value": value} for tag, value in turns]}


def answer(value: str) -> list[Any]:
    return DIALECT.lift(row(("human", "Go."), ("gpt", value))).messages[1].parts


def written(*messages: Message, **fields: Any) -> tuple[list[str], set[str]]:
    conversion = pipeline.lower(Transcript(list(messages), **fields), DIALECT)
    values = [turn["value"] for turn in conversion.document["conversations"]]
    return values, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (CALL, [CALLED]),
        (f"Well.\n{CALL}\nSo.", [Text("Well."), CALLED, Text("So.")]),
        (f"<think>\nHm.\n</think>\n{CALL}", [Reasoning("Hm."), CALLED]),
        ("<tool_call>f(1)</tool_call>", [Text("<tool_call>f(1)</tool_call>")]),
        (f"{CALL}<tool_call>f</tool_call>", [Text(f"{CALL}<tool_call>f</tool_call>")]),
        ("<tool_call>{}", [Text("<tool_call>{}")]),
    ],
)
def test_calls_are_read_where_all_of_them_are_calls(value: str, parts: list[Any]) -> None:
    assert answer(value) == parts


def test_calls_and_texts_are_written_in_their_order() -> None:
    turn = Message("assistant", [Reasoning("Hm."), Text("Well."), CALLED, Text("So.")])
    values, losses = written(ASKED, turn)
    assert values[1] == f"<think>\nHm.\n</think>\n\nWell.\n{CALL}\nSo."
    assert losses == {"dropped tool_call.id"}


def test_a_tag_inside_the_arguments_ends_nothing() -> None:
    arguments = {"text": "</tool_call><tool_call>"}
    values, _ = written(ASKED, Message("assistant", [ToolCall("call_1", "f", arguments)]))
    assert answer(values[1]) == [ToolCall("call_1", "f", arguments)]


def test_a_text_that_looks_like_a_call_is_told_as_changed() -> None:
    values, losses = written(ASKED, Message("assistant", [Text(CALL)]))
    assert [part.type for part in answer(values[1])] == ["text"]
    assert losses == {"changed text.text"}


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ('<tool_response>{"name": "f", "content": "1"}</tool_response>', [("text", "1")]),
        ('<tool_response>{"name": "f", "content": {"a": 1}}</tool_response>', [("data", {"a": 1})]),
        ('<tool_response>\n{"a": 1}\n</tool_response>', [("text", '{"a": 1}')]),
        ("<tool_response>1</tool_response>\n<tool_response>2</tool_response>", [("text", "1"), ("text", "2")]),
        ("<tool_response>1</tool_response> so", [("text", "<tool_response>1</tool_response> so")]),
        ("1", [("text", "1")]),
    ],
)
def test_a_turn_of_tools_holds_its_results(value: str, kinds: list[Any]) -> None:
    lifted = DIALECT.lift(row(("gpt", f"{CALL}{CALL}"), ("tool", value)))
    found = [part for message in lifted.messages for part in message.parts if isinstance(part, ToolResult)]
    assert [(part.kind, part.value) for part in found] == kinds
    assert [part.tool_call_id for part in found] == ["call_1", "call_2"][: len(found)]


def test_the_results_of_a_turn_stand_in_one_turn_and_a_failure_is_an_object() -> None:
    calls = Message("assistant", [CALLED, ToolCall("call_2", "g", {})])
    failed = Message("tool", [ToolResult("call_2", "g", "error", "no")])
    values, losses = written(ASKED, calls, failed, Message("tool", [ToolResult("call_1", "f", "text", "1")]), ANSWERED)
    assert values[2] == "\n".join(
        f"<tool_response>\n{body}\n</tool_response>"
        for body in ('{"name":"f","content":"1"}', '{"name":"g","content":{"error":"no"}}')
    )
    assert "encoded tool_result.kind" in losses


def test_tools_that_we_wrote_are_definitions_alone() -> None:
    system, tools = Message("system", [Text("Be brief.")]), [ToolDefinition("f", parameters={"type": "object"})]
    for before in ([system], []):
        values, losses = written(*before, ASKED, ANSWERED, tools=tools)
        again = DIALECT.lift(row(("system", values[0]), ("human", "Go."), ("gpt", "Gone.")))
        assert (again.messages, again.tools, losses) == ([*before, ASKED, ANSWERED], tools, set())


def test_an_instruction_of_others_that_names_its_tools_stays_the_text_that_it_is() -> None:
    stated = f"Call these: <tools>[{json.dumps(TOOL)}]</tools>. Be brief."
    transcript = DIALECT.lift(row(("system", stated), ("human", "Go.")))
    assert transcript.messages[0].parts == [Text(stated)]
    assert [tool.name for tool in transcript.tools or ()] == ["f"]
    assert pipeline.lower(transcript, DIALECT).document["conversations"][0]["value"] == stated


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (row(("human", "x"), ("gpt", CALL)), "hermes"),
        (row(("human", "x"), ("tool", "<tool_response>1</tool_response>")), "hermes"),
        (row(("system", f"<tools>[{json.dumps(TOOL)}]</tools>"), ("human", "x")), "hermes"),
        (row(("human", "x"), ("gpt", "What is a <tool_call>?")), "sharegpt"),
    ],
)
def test_a_row_is_known_by_what_stands_between_its_tags(document: Any, name: str) -> None:
    assert detection.detect(document).dialect == name
