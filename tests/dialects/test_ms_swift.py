"""Rows of ms-swift: calls and results that are messages of their own, losses, files, and what was rejected."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.ms_swift import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript

ASKED, ANSWERED = Message("user", [Text("Go.")]), Message("assistant", [Text("Gone.")])
CALLS = Message("assistant", [ToolCall("a", "f", {"n": 1}), ToolCall("b", "g", {})])
CALL = {"role": "tool_call", "content": '{"name":"f","arguments":{"n":1}}'}


def result(id_: str, value: Any, kind: Any = "text") -> Message:
    return Message("tool", [ToolResult(id_, "f", kind, value)])


def written(*messages: Message) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT)
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def roles(*messages: Message) -> list[str]:
    return [native["role"] for native in written(*messages)[0]["messages"]]


def row(*messages: tuple[str, Any], **columns: Any) -> Any:
    return {"messages": [{"role": role, "content": content} for role, content in messages], **columns}


def test_text_comes_before_the_calls_of_its_turn_and_is_read_back_as_one_turn() -> None:
    turn = Message("assistant", [Reasoning("Hm."), Text("Let me see."), *CALLS.parts])
    document, losses = written(ASKED, turn)
    assert [native["role"] for native in document["messages"]] == ["user", "assistant", "tool_call", "tool_call"]
    assert document["messages"][1]["content"] == "<think>\nHm.\n</think>\n\nLet me see."
    assert losses == {"dropped tool_call.id"}
    assert [part.type for part in DIALECT.lift(document).messages[1].parts] == [part.type for part in turn.parts]


@pytest.mark.parametrize("content", [{"name": "f", "arguments": {"n": 1}}, CALL["content"]])
def test_a_call_is_an_object_or_the_json_of_one(content: Any) -> None:
    assert DIALECT.lift(row(("user", "Go."), ("tool_call", content))).messages[1].parts == [
        ToolCall("call_1", "f", {"n": 1})
    ]


def test_results_answer_the_calls_before_them_in_order() -> None:
    document, _ = written(ASKED, CALLS, result("b", "2"), result("a", "1"), ANSWERED)
    assert [native["content"] for native in document["messages"][3:5]] == ["1", "2"]
    assert roles(ASKED, CALLS, result("b", "2"), ANSWERED)[3:5] == ["tool_response", "tool_response"]


def test_a_result_without_a_call_becomes_a_user_message() -> None:
    assert roles(ASKED, ANSWERED, result("x", "1"), ANSWERED) == ["user", "assistant", "user", "assistant"]


@pytest.mark.parametrize(
    ("value", "kind", "content"),
    [
        ({"a": 1}, "data", {"a": 1}),
        ([1], "data", "[1]"),
        ("x", "data", '"x"'),
        (3, "data", "3"),
        ("no", "error", "no"),
    ],
)
def test_a_result_is_a_text_or_an_object(value: Any, kind: str, content: Any) -> None:
    call = Message("assistant", CALLS.parts[:1])
    assert written(ASKED, call, result("a", value, kind), ANSWERED)[0]["messages"][2]["content"] == content


def test_a_call_that_is_not_json_is_text_and_reported() -> None:
    document = row(("user", "Go."), ("tool_call", "f(1)"))
    assert DIALECT.lift(document).messages[1].parts == [Text("f(1)")]
    assert [finding.code for finding in pipeline.validate(document, DIALECT)] == ["invalid-arguments"]
    assert pipeline.convert(document, DIALECT, DIALECT).document == document


@pytest.mark.parametrize(("weight", "key", "value"), [(1, "loss", True), (0, "loss", False), (2.5, "loss_scale", 2.5)])
def test_the_weight_of_an_answer_is_its_loss(weight: float, key: str, value: Any) -> None:
    document, losses = written(ASKED, Message("assistant", [Text("Gone.")], weight=weight))
    assert (document["messages"][1][key], losses) == (value, set())
    assert DIALECT.lift(document).messages[1].weight == weight


def test_calls_are_trained_as_the_answer_before_them() -> None:
    document, _ = written(ASKED, Message("assistant", [Text("Well."), *CALLS.parts], weight=0))
    assert [native.get("loss") for native in document["messages"]] == [None, False, False, False]


def test_the_older_form_is_a_history_with_a_question_and_its_answer() -> None:
    document = {"system": "s", "history": [["a", "b"]], "query": "c", "response": "d"}
    messages = DIALECT.lift(document).messages
    assert [(message.role, message.parts) for message in messages] == [
        (role, [Text(text)])
        for role, text in (("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"))
    ]
    assert detection.detect(document).dialect == "ms-swift"


@pytest.mark.parametrize(
    ("columns", "rejected"),
    [
        ({"rejected_response": "b"}, ["b"]),
        ({"rejected_response": [CALL, {"role": "assistant", "content": "b"}]}, [None, "b"]),
        ({"rejected_messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "b"}]}, ["b"]),
    ],
)
def test_what_was_rejected_is_the_other_leaf_of_a_tree(columns: Any, rejected: list[Any]) -> None:
    transcript = DIALECT.lift(row(("user", "Go."), ("assistant", "a"), **columns))
    assert [message.label for message in transcript.messages if message.label] == ["chosen", "rejected"]
    texts = [next((part.text for part in one.parts if isinstance(part, Text)), None) for one in transcript.messages[2:]]
    assert texts == rejected


def test_a_pair_is_written_with_the_answer_that_was_rejected() -> None:
    answers = {key: [{"role": "assistant", "content": key}] for key in ("chosen", "rejected")}
    source = {"prompt": [{"role": "user", "content": "Go."}], **answers}
    document = pipeline.convert(source, dialects.get("hf-chat"), DIALECT).document
    assert document == row(("user", "Go."), ("assistant", "chosen"), rejected_response="rejected")
    longer = {**source, "rejected": [{"role": "user", "content": "x"}, *answers["rejected"]]}
    document = pipeline.convert(longer, dialects.get("hf-chat"), DIALECT).document
    assert [native["content"] for native in document["rejected_messages"]] == ["Go.", "x", "rejected"]


def test_files_without_a_mark_come_before_the_first_text() -> None:
    document = row(("system", "s"), ("user", "x <image>"), ("assistant", "y"), images=["a.png", "b.png"])
    shown = [(getattr(part, "path", None) or part.type) for part in DIALECT.lift(document).messages[1].parts]
    assert shown == ["a.png", "text", "b.png"]
    assert pipeline.convert(document, DIALECT, DIALECT).document == document


def test_tools_are_text_of_functions() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    for stated in (tools, json.dumps(tools), json.dumps([tools[0]["function"]])):
        transcript = DIALECT.lift(row(("user", "Go."), tools=stated))
        assert json.loads(pipeline.lower(transcript, DIALECT).document["tools"]) == tools


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [{"role": "user", "content": "x"}, CALL]},
        row(("user", "x"), ("assistant", "y"), rejected_response="z"),
        {"messages": [{"role": "assistant", "content": "x", "loss": True}]},
        row(("user", "<image>x"), ("assistant", "y"), images=["a.png"]),
        {"query": "x", "response": "y"},
    ],
)
def test_a_row_is_detected_by_what_only_this_trainer_reads(document: Any) -> None:
    assert detection.detect(document).dialect == "ms-swift"
