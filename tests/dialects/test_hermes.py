"""Rows in the style of Hermes: calls, results and tools between tags, read exactly; everything else is text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli.dialects.hermes import DIALECT
from convcli.engine import detection, pipeline
from convcli.families.rows import qwen
from convcli.model.dialect import Options
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


def test_a_text_that_looks_like_a_call_is_reported_as_changed() -> None:
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
def test_a_tool_turn_has_its_results(value: str, kinds: list[Any]) -> None:
    lifted = DIALECT.lift(row(("gpt", f"{CALL}{CALL}"), ("tool", value)))
    found = [part for message in lifted.messages for part in message.parts if isinstance(part, ToolResult)]
    assert [(part.kind, part.value) for part in found] == kinds
    assert [part.tool_call_id for part in found] == ["call_1", "call_2"][: len(found)]


def test_the_results_of_a_turn_stand_in_one_turn_and_a_failure_keeps_its_text() -> None:
    calls = Message("assistant", [CALLED, ToolCall("call_2", "g", {})])
    failed = Message("tool", [ToolResult("call_2", "g", "error", "no")])
    values, losses = written(ASKED, calls, failed, Message("tool", [ToolResult("call_1", "f", "text", "1")]), ANSWERED)
    assert values[2] == "\n".join(
        f"<tool_response>\n{body}\n</tool_response>"
        for body in ('{"name":"f","content":"1"}', '{"name":"g","content":"no"}')
    )
    assert "changed tool_result.kind" in losses


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


# ---------------------------------------------------------------- the templates of Qwen

SEAT = {"type": "object", "properties": {"row": {"type": "string"}, "seats": {"type": "integer"}, "near": {}}}


def function(body: str, name: str = "find") -> str:
    return f"<tool_call>\n<function={name}>\n{body}</function>\n</tool_call>"


def parameter(key: str, value: str) -> str:
    return f"<parameter={key}>\n{value}\n</parameter>\n"


def in_form(form: str, *messages: Message, **fields: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages), **fields), DIALECT, Options(form=form))
    return conversion.document["messages"], {f"{loss.kind} {loss.field}" for loss in conversion.losses}


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        (function(""), {}),
        (function(parameter("row", "7") + parameter("seats", "2")), {"row": "7", "seats": 2}),
        (function(parameter("seats", "two") + parameter("near", "1") + parameter("more", "1")), None),
        (function(parameter("row", "\na\n")), {"row": "\na\n"}),
        (function(parameter("seats", "None")), {"seats": None}),
    ],
)
def test_the_schema_of_a_tool_says_which_values_in_xml_are_json(value: str, arguments: Any) -> None:
    tools = f"{qwen.XML_HEAD}{json.dumps({'name': 'find', 'parameters': SEAT})}{qwen.XML_TAIL}"
    lifted = DIALECT.lift(row(("system", tools), ("human", "Go."), ("gpt", value)))
    expected = {"seats": "two", "near": "1", "more": "1"} if arguments is None else arguments
    assert lifted.messages[1].parts == [ToolCall("call_1", "find", expected)]
    assert [tool.name for tool in lifted.tools or ()] == ["find"]


@pytest.mark.parametrize(
    "value",
    [
        function(parameter("row", "7") + parameter("row", "8")),
        function("so" + parameter("row", "7")),
        "<tool_call>\n<function=find>\n</tool_call>",
        "<tool_call><function=></function></tool_call>",
    ],
)
def test_xml_that_is_no_call_stays_a_text(value: str) -> None:
    assert answer(value) == [Text(value)]


def test_a_user_turn_after_calls_has_results_as_texts() -> None:
    body = '<tool_response>\n{"name": "f", "content": 1}\n</tool_response>'
    turns = [("user", "Go."), ("assistant", CALL), ("user", body), ("user", body)]
    lifted = DIALECT.lift({"messages": [{"role": role, "content": content} for role, content in turns]}).messages
    assert lifted[2].parts == [ToolResult("call_1", "f", "text", '{"name": "f", "content": 1}')]
    assert lifted[3] == Message("user", [Text(body)])


def test_calls_in_xml_are_written_as_the_template_writes_them() -> None:
    turn = Message(
        "assistant", [Text("Well."), ToolCall("a", "find", {"row": "7", "seats": 2}), ToolCall("b", "go", {})]
    )
    results = [
        Message("tool", [ToolResult("a", "find", "text", "7a")]),
        Message("tool", [ToolResult("b", "go", "text", "")]),
    ]
    turns, losses = in_form("qwen-xml", ASKED, turn, *results, tools=[ToolDefinition("find", parameters=SEAT)])
    called = function(parameter("row", "7") + parameter("seats", "2"))
    assert turns[2]["content"] == f"Well.\n\n{called}\n{function('', 'go')}"
    assert turns[3] == {
        "role": "user",
        "content": "<tool_response>\n7a\n</tool_response>\n<tool_response>\n\n</tool_response>",
    }
    assert turns[0]["content"].startswith(qwen.XML_HEAD)
    assert losses == {"dropped tool_call.id", "dropped tool_result.toolCallId"}


def test_what_xml_cannot_express_of_arguments_is_reported() -> None:
    arguments = {"n": 1, "text": "a</parameter>b", "a>b": "c"}
    turns, losses = in_form("qwen-xml", ASKED, Message("assistant", [ToolCall("call_1", "f", arguments)]))
    assert turns[1]["content"] == function(parameter("n", "1") + parameter("text", "ab"), "f")
    assert losses == {"changed tool_call.arguments", "dropped tool_call.id"}


def test_calls_in_json_have_the_spaces_of_the_template_and_texts_that_look_like_results_are_reported() -> None:
    turn = Message("assistant", [ToolCall("call_1", "f", {"n": [1, 2], "t": "</tool_call>\n,"})])
    turns, losses = in_form("qwen", ASKED, turn, Message("user", [Text("<tool_response>1</tool_response>")]))
    written = '{"name": "f", "arguments": {"n": [1, 2], "t": "<\\/tool_call>\\n,"}}'
    assert turns[1]["content"] == f"<tool_call>\n{written}\n</tool_call>"
    assert turns[2]["content"] == "1</tool_response>"
    assert losses == {"dropped tool_call.id", "changed text.text"}


@pytest.mark.parametrize("form", ["qwen", "qwen-xml"])
def test_tools_of_a_template_come_back_as_definitions_alone(form: str) -> None:
    system, tools = Message("system", [Text("Be brief.")]), [ToolDefinition("find", parameters=SEAT)]
    for before in ([system], []):
        turns, losses = in_form(form, *before, ASKED, ANSWERED, tools=tools)
        again = DIALECT.lift({"messages": turns})
        assert (again.messages, again.tools, losses) == ([*before, ASKED, ANSWERED], tools, set())


def test_rows_of_qwen_are_known_by_their_texts_and_requests_are_not() -> None:
    turns = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": function("")}]
    assert detection.detect({"messages": turns}).dialect == "hermes"
    assert detection.detect({"model": "m", "messages": turns}).dialect == "openai-chat"
