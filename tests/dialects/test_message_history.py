"""The message history of a small coding agent: what its document shows, what its code stores, what is never guessed."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from tests.support import acceptable_of

HISTORY = dialects.get("message-history")


def sample(name: str) -> Any:
    return next(sample.document for sample in acceptable_of("message-history") if sample.path.name == name)


def to(name: str, document: Any) -> pipeline.Conversion:
    return pipeline.convert(document, HISTORY, dialects.get(name))


def written(*messages: Message, form: str | None = None, **fields: Any) -> pipeline.Conversion:
    return pipeline.lower(Transcript(list(messages), **fields), HISTORY, Options(form=form))


# ---------------------------------------------------------------- reading


def test_a_call_and_its_result_are_paired_by_id() -> None:
    lifted = HISTORY.lift(sample("read-a-file.json"))
    assert [message.role for message in lifted.messages] == ["user", "assistant", "tool", "assistant"]
    assert lifted.messages[1].parts[1] == ToolCall("call_abc123", "read_file", {"path": "hello.py"})
    assert lifted.messages[2].parts[0] == ToolResult(
        "call_abc123", "read_file", "text", "def greet():\n    return 'Hello, World!'"
    )


def test_a_call_in_an_object_has_no_id_and_gets_that_of_its_result() -> None:
    lifted = HISTORY.lift(sample("llama-objects.json"))
    call = ToolCall("call_1a2b3c4d", "read_file", {"path": "hello.py"})
    assert lifted.messages[1].parts == [Text("I need the file."), call]
    assert lifted.messages[2].parts == [ToolResult("call_1a2b3c4d", "read_file", "text", "print('hi')")]
    assert lifted.messages[3].parts == [Text("It prints hi.")]


def test_an_unknown_tool_name_is_that_of_the_call() -> None:
    lifted = HISTORY.lift(sample("with-tools-and-system.json"))
    assert lifted.messages[4].parts == [ToolResult("call_2", "read_file", "text", "Error: no such file")]


def test_calls_next_to_the_content_are_calls() -> None:
    lifted = HISTORY.lift(sample("overview.json"))
    assert lifted.messages[1].parts == [Text("読みます。"), ToolCall("call_1", "read_file", {"path": "hello.py"})]


def test_every_result_of_a_user_message_is_a_message_of_its_own() -> None:
    lifted = HISTORY.lift(sample("several-in-one-message.json"))
    assert [message.role for message in lifted.messages] == ["user", "assistant", "tool", "tool", "user", "assistant"]


def test_system_and_tools_are_those_of_a_request() -> None:
    lifted = HISTORY.lift(sample("with-tools-and-system.json"))
    assert lifted.messages[0] == Message("system", [Text("You are a careful programmer.")])
    assert [tool.name for tool in lifted.tools or ()] == ["read_file", "list_files"]
    assert (lifted.tools or [])[1].description is None


# ---------------------------------------------------------------- to others, as the document says


def test_the_documented_example_converts_to_gemini_as_its_code_shows() -> None:
    contents = to("gemini", sample("read-a-file.json")).document["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user", "model"]
    response = contents[2]["parts"][0]["functionResponse"]
    assert response["name"] == "read_file"
    assert list(response["response"].values()) == ["def greet():\n    return 'Hello, World!'"]


def test_the_documented_example_converts_to_llama_as_its_code_shows() -> None:
    messages = to("llama-json", sample("read-a-file.json")).document["messages"]
    assert messages[0] == {"role": "user", "content": "hello.py を読んで"}
    assert messages[2]["role"] == "user"
    assert messages[2]["content"] == (
        '{"tool_result":{"name":"read_file","result":"def greet():\\n    return \'Hello, World!\'"}}'
    )


def test_an_answer_of_llama_converts_to_llama_without_a_loss_but_the_id() -> None:
    document = sample("llama-objects.json")[:4]
    conversion = to("llama-json", document)
    assert conversion.document["messages"][1]["content"] == (
        '{"thought":"I need the file.","tool_call":{"name":"read_file","input":{"path":"hello.py"}}}'
    )
    assert {loss.field for loss in conversion.losses} == {"tool_call.id", "tool_result.toolCallId"}


# ---------------------------------------------------------------- writing


def test_an_answer_is_written_as_blocks_and_a_question_as_a_string() -> None:
    question, answer = Message("user", [Text("Hi")]), Message("assistant", [Text("Hello")])
    assert written(question, answer).document == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
    ]


def test_every_result_is_written_in_a_message_of_its_own() -> None:
    call = Message("assistant", [ToolCall("a", "f", {}), ToolCall("b", "f", {})])
    results = [Message("tool", [ToolResult(id_, "f", "text", "ok")]) for id_ in "ab"]
    document = written(call, *results).document
    assert [message["role"] for message in document] == ["assistant", "user", "user"]
    assert document[2]["content"] == [{"type": "tool_result", "tool_use_id": "b", "tool_name": "f", "content": "ok"}]


def test_tools_or_a_system_text_make_an_object_of_the_list() -> None:
    system = Message("system", [Text("Be brief.")])
    assert written(system).document == {"system": "Be brief.", "messages": []}
    assert written(tools=[ToolDefinition("f", "d", {"type": "object"})]).document == {
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
        "messages": [],
    }
    assert written(system, form="list").document == [{"role": "system", "content": "Be brief."}]


def test_what_a_tool_lacks_is_invented_and_reported() -> None:
    conversion = written(tools=[ToolDefinition("f")])
    assert conversion.document["tools"] == [
        {"name": "f", "description": "", "input_schema": {"type": "object", "properties": {}}}
    ]
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [("invented", "tool.parameters")]


@pytest.mark.parametrize(
    ("result", "content", "kind"),
    [
        (ToolResult("c", "f", "error", "offline"), "Error: offline", "encoded"),
        (ToolResult("c", "f", "error", "Error: offline"), "Error: offline", "encoded"),
        (ToolResult("c", "f", "data", {"a": 1}), '{"a":1}', "changed"),
        (ToolResult("c", "f", "multimodal", [Text("a"), Text("b")]), "a\nb", "changed"),
    ],
)
def test_a_result_is_written_as_text_and_that_is_reported_once(result: ToolResult, content: str, kind: str) -> None:
    conversion = written(Message("tool", [result]))
    assert conversion.document[0]["content"][0]["content"] == content
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [(kind, "tool_result.kind")]


def test_a_text_that_begins_with_error_is_not_read_as_a_failure() -> None:
    assert written(Message("tool", [ToolResult("c", "f", "text", "Error: no such file")])).losses == []


def test_an_empty_text_is_a_block_for_an_empty_string_says_nothing() -> None:
    conversion = written(Message("user", [Text("")]), Message("user", []))
    assert [message["content"] for message in conversion.document] == [[{"type": "text", "text": ""}], ""]
    assert conversion.losses == []


def test_data_in_a_result_is_reported_only_for_requests() -> None:
    document = [{"role": "user", "content": [{"type": "tool_result", "tool_name": "f", "content": {"a": 1}}]}]
    assert "wrong-type" in {one.code for one in pipeline.validate(document, HISTORY, purpose="request")}
    assert "wrong-type" not in {one.code for one in pipeline.validate(document, HISTORY)}
