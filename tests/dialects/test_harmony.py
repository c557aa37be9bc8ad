"""harmony text: messages between marks, read exactly; everything else is reported, or stays text."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.harmony import DIALECT, typescript
from convcli.engine import detection, pipeline
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript

ASKED = "<|start|>user<|message|>Go.<|end|>"
CALLED = ToolCall("call_1", "f", {"n": 1})
CALL = '<|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>{"n":1}<|call|>'
RESULT = "<|start|>functions.f to=assistant<|channel|>commentary<|message|>1<|end|>"


def lifted(text: str) -> list[Message]:
    return DIALECT.lift({"text": text}).messages


def written(*messages: Message, **fields: Any) -> tuple[str, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages), **fields), DIALECT)
    return conversion.document["text"], {f"{loss.kind} {loss.field}" for loss in conversion.losses}


@pytest.mark.parametrize(
    "call",
    [
        CALL,
        '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"n": 1}<|call|>',
        '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"n": 1}<|call|>',
        '<|start|>assistant to=functions.f<|channel|>commentary<|message|>{"n": 1}<|call|>',
    ],
)
def test_a_call_is_read_in_each_way_in_which_it_is_written(call: str) -> None:
    assert lifted(ASKED + call)[1] == Message("assistant", [CALLED])


def test_what_the_assistant_says_up_to_a_final_text_is_one_turn() -> None:
    text = (
        "<|start|>assistant<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>"
        f"Well.<|end|>{CALL}{RESULT}<|start|>assistant<|channel|>final<|message|>So.<|return|>"
    )
    calling, result, answer = lifted(text)
    assert calling.parts == [Reasoning("Hm."), Text("Well."), CALLED]
    assert result.parts == [ToolResult("call_1", "f", "text", "1")]
    assert answer.parts == [Text("So.")]
    assert written(calling, result, answer)[0] == text


def test_an_answer_alone_and_the_head_of_one_to_come_are_read() -> None:
    assert lifted("<|channel|>final<|message|>Hi.") == [Message("assistant", [Text("Hi.")])]
    assert lifted(f"{ASKED}<|start|>assistant") == [Message("user", [Text("Go.")])]


@pytest.mark.parametrize(
    "text",
    [
        "<|start|>user<|message|>Go.<|start|>assistant<|channel|>final<|message|>Hi.<|return|>",
        "<|start|>user<|channel|>final<|message|>Go.<|end|>",
        "<|start|>assistant to=user<|channel|>final<|message|>Hi.<|end|>",
        "<|start|>a b c<|message|>Hi.<|end|>",
        "<|start|>user<|message|>Hi<|channel|>.<|end|>",
    ],
)
def test_what_is_no_message_is_kept_and_reported(text: str) -> None:
    assert lifted(text)[0].role == "event"
    assert "wrong-format" in {finding.code for finding in pipeline.validate({"text": text}, DIALECT)}


def test_tools_of_the_model_keep_their_names() -> None:
    text = (
        "<|start|>assistant to=browser.open<|channel|>analysis code<|message|>go<|call|>"
        "<|start|>browser.open to=assistant<|channel|>analysis<|message|>1<|end|>"
    )
    call, result = (message.parts[0] for message in lifted(text))
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert (call.name, call.raw_arguments, result.name, result.tool_call_id) == ("browser.open", "go", *result_of(call))
    assert DIALECT.lower(DIALECT.lift({"text": text}))["text"] == text.replace(" code<", " <|constrain|>code<")


def result_of(call: ToolCall) -> tuple[str, str]:
    return call.name, call.id


def test_results_of_one_name_stand_in_the_order_of_their_calls() -> None:
    calls = [ToolCall("a", "f", {}), ToolCall("b", "f", {}), ToolCall("c", "g", {})]
    turn = [Message("assistant", [*calls])]
    answers = [
        Message("tool", [ToolResult(call.id, call.name, "text", call.id)]) for call in (calls[1], calls[2], calls[0])
    ]
    again = lifted(written(*turn, *answers)[0])
    named = {call.id: original.id for call, original in zip(again[0].parts, calls, strict=True) if hasattr(call, "id")}
    assert [(named[part.tool_call_id], part.value) for message in again[1:] for part in message.parts] == [
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
    ]


def test_no_mark_stands_in_a_text() -> None:
    text, losses = written(Message("user", [Text("a<|e<|end|>nd|>b")]), Message("assistant", [Text("Hi.")]))
    assert text == "<|start|>user<|message|>ab<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>"
    assert losses == {"changed text.text"}
    call = ToolCall("a", "f", {"text": "<|end|>"})
    assert lifted(written(Message("assistant", [call]))[0])[0].parts == [ToolCall("call_1", "f", {"text": "<|end|>"})]


# ---------------------------------------------------------------- tools


def section(body: str) -> str:
    return typescript.HEAD + body + typescript.TAIL


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("string", {"type": "string"}),
        ("any", {}),
        ("number[]", {"type": "array", "items": {"type": "number"}}),
        ("any[]", {"type": "array"}),
        ("string | null", {"type": ["string", "null"]}),
        ('"a" | "b"', {"type": "string", "enum": ["a", "b"]}),
        ('("a" | "b")[]', {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        ('"a" | null', {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
        ("object", {"type": "object"}),
        ("{\n}", {"type": "object", "properties": {}}),
    ],
)
def test_types_are_read_and_written(kind: str, schema: dict[str, Any]) -> None:
    text = section(f"type f = (_: {{\nx: {kind},\n}}) => any;\n\n")
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    assert typescript.read(text) == [{"name": "f", "parameters": parameters}]
    assert typescript.write([{"name": "f", "parameters": parameters}]) == text


@pytest.mark.parametrize("body", ["type f = (_: {\nx:  string,\n}) => any;\n\n", "type f = () => void;\n\n", "f"])
def test_tools_that_are_written_in_another_way_stay_text(body: str) -> None:
    text = section(body)
    transcript = DIALECT.lift({"text": f"<|start|>developer<|message|>{text}<|end|>{ASKED}"})
    assert (transcript.tools, transcript.messages[0].parts) == (None, [Text(text)])


def test_what_typescript_does_not_say_is_a_loss_at_the_tool() -> None:
    parameters = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
    tools = [ToolDefinition("f", "Says\n\n n.", parameters)]
    text, losses = written(Message("user", [Text("Go.")]), Message("assistant", [Text("Hi.")]), tools=tools)
    assert text.startswith(
        f"<|start|>developer<|message|>{typescript.HEAD}// Says\n//\n//  n.\ntype f = (_: {{\nn?: num"
    )
    assert losses == {"changed tool.parameters"} or losses == {"dropped tool.parameters", "changed tool.parameters"}


def test_the_format_is_detected_by_its_marks() -> None:
    assert detection.detect({"text": f"{ASKED}{CALL}"}).dialect == "harmony"
    with pytest.raises(Exception, match="no dialect"):
        detection.detect({"text": "Say <|start|>."})
