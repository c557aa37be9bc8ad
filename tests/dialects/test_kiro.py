"""Kiro and Amazon Q: questions with their answers, results in place of a question, definitions, and rows of Kiro 2."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.kiro import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.wire import exact_json

USE = {"id": "c1", "name": "f", "orig_name": "f", "args": {"n": 1}, "orig_args": {"n": 1}}
CALL = ToolCall("c1", "f", {"n": 1})


def question(content: Any, **more: Any) -> dict[str, Any]:
    return {"content": content, **more}


def prompt(text: str = "Hi.") -> dict[str, Any]:
    return question({"Prompt": {"prompt": text}})


def response(text: str = "Yo.") -> dict[str, Any]:
    return {"Response": {"message_id": "a", "content": text}}


def uses(*natives: Any, **more: Any) -> dict[str, Any]:
    return {"ToolUse": {"message_id": "a", "content": "", "tool_uses": list(natives), **more}}


def lifted(*pairs: tuple[Any, Any], **keys: Any) -> Transcript:
    history = [{"user": user, "assistant": assistant} for user, assistant in pairs]
    return DIALECT.lift({"conversation_id": "k", "history": history, **keys})


def row(kind: str, *content: Any) -> dict[str, Any]:
    return {"version": "v1", "kind": kind, "data": {"content": list(content)}}


def test_a_question_has_an_answer() -> None:
    transcript = lifted((prompt(), response()), model="claude-sonnet-4")
    assert (transcript.id, transcript.model) == ("k", "claude-sonnet-4")
    assert transcript.messages == [Message("user", [Text("Hi.")]), Message("assistant", [Text("Yo.")], id="a")]


def test_thoughts_and_calls_are_parts_of_an_answer() -> None:
    _, answer = lifted((prompt(), uses(USE, thinking="Hm."))).messages
    assert answer.parts == [Reasoning("Hm."), CALL]
    _, renamed = lifted((prompt(), uses({**USE, "orig_name": "g"}))).messages
    assert renamed.parts[0].extras == {"kiro": {"orig_name": "g"}}


@pytest.mark.parametrize(
    ("content", "status", "result"),
    [
        ([{"Text": "one"}], "Success", ToolResult("c1", "f", "text", "one")),
        ([{"Text": "no"}], "Error", ToolResult("c1", "f", "error", "no")),
        ([{"Json": {"n": 1}}], "Success", ToolResult("c1", "f", "data", {"n": 1})),
        ([{"Json": {"n": 1}}], "Error", ToolResult("c1", "f", "data", {"n": 1}, is_error=True)),
        ([{"Text": "a"}, {"Text": "b"}], "Success", ToolResult("c1", "f", "multimodal", [Text("a"), Text("b")])),
        ([], "Pending", ToolResult("c1", "f", "text", "", extras={"kiro": {"status": "Pending"}})),
    ],
)
def test_results_stand_in_place_of_a_question(content: Any, status: str, result: ToolResult) -> None:
    answered = {"tool_use_id": "c1", "content": content, "status": status}
    kinds = question({"ToolUseResults": {"tool_use_results": [answered]}})
    messages = lifted((prompt(), uses(USE)), (kinds, response())).messages
    assert messages[2] == Message("tool", [result])


def test_a_user_who_cancels_calls_says_something_else() -> None:
    answered = {"tool_use_id": "c1", "content": [{"Text": "cancelled"}], "status": "Error"}
    cancelled = question({"CancelledToolUses": {"prompt": "Stop.", "tool_use_results": [answered]}})
    messages = lifted((prompt(), uses(USE)), (cancelled, response()), next_message=prompt("And now?")).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user", "assistant", "user"]
    assert messages[-1].parts == [Text("And now?")]


def test_definitions_are_tools_and_the_directory_is_that_of_the_first_question() -> None:
    specification = {"name": "f", "description": "Does it.", "input_schema": {"json": {"type": "object"}}}
    asked = {**prompt(), "env_context": {"env_state": {"current_working_directory": "/p"}}}
    transcript = lifted((asked, response()), tools={"native": [{"ToolSpecification": specification}, {"Other": 1}]})
    assert transcript.tools == [
        ToolDefinition("f", "Does it.", {"type": "object"}, extras={"kiro": {"origin": "native"}})
    ]
    assert transcript.extras == {"kiro": {"tools": {"native": [{"Other": 1}]}}}
    assert transcript.cwd == "/p"


PLACE = "/env_context/env_state/current_working_directory"


@pytest.mark.parametrize(
    ("directories", "key", "cwd", "where", "kept"),
    [
        (["/a", "/b"], "/a", "/a", f"/history/0/user{PLACE}", None),
        (["/a", "/b"], "/c", "/a", f"/history/0/user{PLACE}", "/c"),
        ([None, "/b"], "/c", "/b", f"/history/1/user{PLACE}", "/c"),
        ([None, None], "/c", "/c", "/key", None),
        ([None, None], None, None, None, None),
    ],
)
def test_the_columns_of_the_database_are_the_directory_and_the_times(
    directories: list[str | None], key: str | None, cwd: str | None, where: str | None, kept: str | None
) -> None:
    states = [{"env_context": {"env_state": {"current_working_directory": one}}} if one else {} for one in directories]
    history = [{"user": {**prompt(), **state}, "assistant": response()} for state in states]
    times = {"created_at": 1780462801000, "updated_at": 1780462802000}
    document = {"conversation_id": "k", "history": history, **times, **({"key": key} if key else {})}
    transcript = DIALECT.lift(document)
    assert (transcript.cwd, (transcript.extras or {}).get("kiro")) == (cwd, {"key": kept} if kept else None)
    assert transcript.created_at == "2026-06-03T05:00:01.000Z"
    assert transcript.updated_at == "2026-06-03T05:00:02.000Z"
    losses = pipeline.convert(document, DIALECT, dialects.get("anthropic")).losses
    assert [loss.where for loss in losses if loss.field == "cwd"] == ([where] if where else [])


@pytest.mark.parametrize("native", ["About tea.", ["About tea.", {"request_id": "r"}]])
def test_a_summary_stands_for_earlier_messages(native: Any) -> None:
    first = lifted((prompt(), response()), latest_summary=native).messages[0]
    assert (first.role, first.parts, first.replaces) == ("user", [Text("About tea.")], "all")


def test_rows_of_kiro_2_are_messages() -> None:
    use = {"kind": "toolUse", "data": {"toolUseId": "c1", "name": "f", "input": {"n": 1}}}
    content = [{"kind": "text", "data": "one"}]
    result = {"kind": "toolResult", "data": {"toolUseId": "c1", "content": content, "status": "success"}}
    other = {"version": "v1", "kind": "Compaction", "data": {}}
    rows = [row("Prompt", {"kind": "text", "data": "Hi."}), row("AssistantMessage", use), row("ToolResults", result)]
    messages = DIALECT.lift(Rows([*rows, other])).messages
    assert [(message.role, message.parts) for message in messages] == [
        ("user", [Text("Hi.")]),
        ("assistant", [CALL]),
        ("tool", [ToolResult("c1", "f", "text", "one")]),
        ("event", [Opaque("kiro", other)]),
    ]


def test_both_forms_are_detected() -> None:
    whole = {"conversation_id": "k", "history": [{"user": prompt(), "assistant": response()}]}
    rows = Rows([row("Prompt", {"kind": "text", "data": "Hi."})])
    assert [detection.detect(document).dialect for document in (whole, rows)] == ["kiro", "kiro"]


def test_json_next_to_texts_of_a_result_is_content() -> None:
    content = [{"Text": "Listed."}, {"Json": {"exit": 0}}]
    answered = question({"ToolUseResults": {"tool_use_results": [{"tool_use_id": "c1", "content": content}]}})
    (result,) = lifted((prompt(), uses(USE)), (answered, response())).messages[2].parts
    assert isinstance(result, ToolResult)
    assert (result.kind, result.value) == ("multimodal", [Text("Listed."), Text(exact_json.write_text(content[1]))])
