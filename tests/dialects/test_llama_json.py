"""Tool calls as JSON in the text: what is an answer and what is only text, tools in the system text, no ids."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import (
    Message,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from tests.support import samples_of

LLAMA = dialects.get("llama-json")


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("llama-json") if sample.path.name == name)


CALLED = ToolCall("call_1", "f", {"a": 1})


def parts(document: Any) -> list[Any]:
    return [part for message in LLAMA.lift(document).messages for part in message.parts]


def written(*messages: Message, **fields: Any) -> pipeline.Conversion:
    return pipeline.lower(Transcript(list(messages), **fields), LLAMA)


def values(conversion: pipeline.Conversion) -> list[Any]:
    """Role and content of every message, the content as JSON where it is JSON."""
    contents = [message["content"] for message in conversion.document["messages"]]
    return [json.loads(content) if content.startswith("{") else content for content in contents]


# ---------------------------------------------------------------- reading


def test_the_documented_conversation_is_a_call_and_its_result() -> None:
    call = ToolCall("call_1", "read_file", {"path": "hello.py"})
    result = ToolResult("call_1", "read_file", "text", "def greet():\n    return 'Hello, World!'")
    assert parts(sample("read-a-file.json"))[1:4] == [Text("I need the file."), call, result]


@pytest.mark.parametrize(
    "text",
    [
        '{"response": "done"}',
        '  {"thought": "", "response": "done"}\n',
        '```json\n{"response": "done"}\n```',
        '```\n{"response":\n"done"}',
        '{"tool_call": null, "response": "done"}',
    ],
)
def test_an_answer_may_be_bare_or_fenced(text: str) -> None:
    assert parts([{"role": "assistant", "content": text}]) == [Text("done")]


@pytest.mark.parametrize(
    "text",
    [
        "done",
        '{"thought": "only"}',
        '{"response": {"a": 1}}',
        '{"tool_call": {"input": {}}}',
        '{"tool_call": {"name": "f", "input": "{}"}}',
        '{"response": "a", "response": "b"}',
        'So: {"response": "done"}',
        '["response"]',
        "```",
    ],
)
def test_what_is_no_answer_is_text(text: str) -> None:
    assert parts([{"role": "assistant", "content": text}]) == [Text(text)]


def test_only_the_user_brings_results_and_only_the_model_answers() -> None:
    result, answer = '{"tool_result": {"name": "f", "result": 1}}', '{"response": "x"}'
    assert parts([{"role": "assistant", "content": result}, {"role": "user", "content": answer}]) == [
        Text(result),
        Text(answer),
    ]


def test_a_string_is_text_and_any_other_value_is_data() -> None:
    results = [{"role": "user", "content": json.dumps({"tool_result": {"name": "f", "result": value}})} for value in
               ("1", 1, None, {"a": []})]  # fmt: skip
    assert [(part.kind, part.value) for part in parts(results)] == [
        ("text", "1"),
        ("data", 1),
        ("data", None),
        ("data", {"a": []}),
    ]


def test_results_answer_the_open_calls_of_their_name_in_order() -> None:
    found = parts(sample("two-calls-in-order.json"))
    calls = {part.id: part.arguments for part in found if isinstance(part, ToolCall) and part.name == "f"}
    answers = {part.value: calls[part.tool_call_id] for part in found if getattr(part, "tool_call_id", "") in calls}
    assert answers == {"first": {"n": 1}, "second": {"n": 12345678901234567890123}}


def test_tools_that_we_wrote_into_the_system_text_come_back_as_definitions() -> None:
    lifted = LLAMA.lift(sample("tools-in-the-system-text.json"))
    assert lifted.messages[0].parts == [Text("Be brief.\n\nPlease.")]
    assert lifted.tools == [
        ToolDefinition(
            "read_file",
            "Reads a file.\nSlowly: line by line.",
            {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        ),
        ToolDefinition("now"),
    ]


def test_tools_that_somebody_else_described_are_text() -> None:
    lifted = LLAMA.lift(sample("tools-of-somebody-else.json"))
    assert lifted.tools is None
    assert "Parameters" in lifted.messages[0].parts[0].text  # type: ignore[union-attr]


def test_one_changed_character_makes_the_tools_text() -> None:
    document = sample("tools-alone.json")
    content = document["messages"][0]["content"].replace("one JSON object", "a JSON object")
    assert LLAMA.lift([{"role": "system", "content": content}]).tools is None


# ---------------------------------------------------------------- writing


def test_a_thought_a_text_and_a_call_are_one_answer() -> None:
    answer = Message("assistant", [Reasoning("Hm."), Text("Wait."), ToolCall("c", "f", {"a": 1})])
    assert values(written(answer)) == [
        {"thought": "Hm.", "response": "Wait.", "tool_call": {"name": "f", "input": {"a": 1}}}
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"thought": "Hm.", "response": ""}, [Reasoning("Hm."), CALLED]),
        ({"thought": "Hm.", "response": "Wait."}, [Reasoning("Hm."), Text("Wait."), CALLED]),
        ({"thought": "Wait."}, [Text("Wait."), CALLED]),
    ],
)
def test_the_thought_of_a_call_is_the_text_if_there_is_no_response(answer: Any, expected: Any) -> None:
    expected_text = {**answer, "tool_call": {"name": "f", "input": {"a": 1}}}
    conversion = written(Message("assistant", expected))
    assert values(conversion) == [expected_text]
    assert parts(conversion.document) == expected


def test_further_calls_of_a_turn_are_answers_of_their_own_each_with_its_result() -> None:
    turn = Message("assistant", [Text("Both."), ToolCall("a", "f", {"n": 1}), ToolCall("b", "f", {"n": 2})])
    results = [Message("tool", [ToolResult(id_, "f", "text", id_)]) for id_ in "ba"]
    conversion = written(turn, *results)
    assert values(conversion) == [
        {"thought": "Both.", "tool_call": {"name": "f", "input": {"n": 1}}},
        {"tool_result": {"name": "f", "result": "a"}},
        {"tool_call": {"name": "f", "input": {"n": 2}}},
        {"tool_result": {"name": "f", "result": "b"}},
    ]
    reported = {(loss.kind, loss.field) for loss in conversion.losses}
    assert ("moved", "tool_call") in reported
    assert ("invented", "message.grouping") in reported
    assert not {("dropped", "tool_call"), ("dropped", "tool_result")} & reported


@pytest.mark.parametrize(
    ("result", "value", "kind"),
    [
        (ToolResult("c", "f", "error", "offline"), "Error: offline", "encoded"),
        (ToolResult("c", "f", "data", {"a": 1}, is_error=True), 'Error: {"a":1}', "encoded"),
        (ToolResult("c", "f", "data", "5"), '"5"', "changed"),
    ],
)
def test_a_result_without_a_form_of_its_own_is_reported(result: ToolResult, value: str, kind: str) -> None:
    conversion = written(Message("tool", [result]))
    assert values(conversion) == [{"tool_result": {"name": "f", "result": value}}]
    assert (kind, "tool_result.kind") in {(loss.kind, loss.field) for loss in conversion.losses}


@pytest.mark.parametrize("value", [{"a": 1}, [1], 5, None, False])
def test_data_is_kept_as_it_is(value: Any) -> None:
    fields = {loss.field for loss in written(Message("tool", [ToolResult("c", "f", "data", value)])).losses}
    assert fields == {"tool_result.toolCallId"}


def test_a_refusal_is_written_as_the_words_that_it_is() -> None:
    conversion = written(Message("assistant", [Refusal("No.")]))
    assert values(conversion) == [{"response": "No."}]
    assert [(loss.kind, loss.field, loss.after) for loss in conversion.losses] == [("changed", "refusal", "text")]


def test_tools_without_a_system_text_stand_alone() -> None:
    tools = [ToolDefinition("f", None, None), ToolDefinition("g", "Does g: well", {"type": "object"})]
    conversion = written(Message("user", [Text("Hi")]), tools=tools)
    assert [message["role"] for message in conversion.document["messages"]] == ["system", "user"]
    assert conversion.losses == []


def test_settings_are_the_options_of_a_request() -> None:
    settings = {"temperature": 0.5, "maxOutputTokens": 9, "stream": False}
    conversion = written(settings=settings, model="m")
    assert conversion.document == {
        "model": "m",
        "messages": [],
        "stream": False,
        "options": {"temperature": 0.5, "num_predict": 9},
    }
    assert conversion.losses == []


def test_a_list_is_written_when_asked_for() -> None:
    conversion = pipeline.lower(Transcript([Message("user", [Text("Hi")])]), LLAMA, Options(form="list"))
    assert conversion.document == [{"role": "user", "content": "Hi"}]


def test_a_result_without_a_name_keeps_that_and_answers_its_call() -> None:
    call = {"role": "assistant", "content": '{"tool_call":{"name":"f","input":{"n":1}}}'}
    result = {"role": "user", "content": '{"tool_result":{"name":"","result":"x"}}'}
    document = {"model": "m", "messages": [{"role": "user", "content": "go"}, call, result]}
    hub = dialects.get("intermediate")
    assert parts(document)[2].name == "f"
    stored = pipeline.convert(document, LLAMA, hub).document
    assert pipeline.convert(stored, hub, LLAMA).document == document


def test_an_empty_instruction_is_no_message_if_there_are_tools() -> None:
    conversion = written(Message("system", []), Message("user", [Text("Hi.")]), tools=[ToolDefinition("f")])
    assert [loss.where for loss in conversion.losses if loss.field == "message"] == ["/messages/0"]
    assert [message.role for message in LLAMA.lift(conversion.document).messages] == ["user"]


def test_a_thought_alone_is_an_answer_without_words() -> None:
    conversion = written(Message("assistant", [Reasoning("Hm.")]))
    assert values(conversion) == [{"thought": "Hm.", "response": ""}]
    assert conversion.losses == []
