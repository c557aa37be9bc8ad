"""Streams of multi-llm-chat: what their chunks say of turns, results and failures."""

from __future__ import annotations

from typing import Any

from convcli import dialects
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Text, ToolCall, ToolResult, Transcript

STREAM = dialects.get("multi-llm-chat-stream")


def lift(*chunks: Any) -> list[Message]:
    return STREAM.lift(Rows(chunks)).messages


def written(*messages: Message) -> list[Any]:
    assert STREAM.is_written
    return list(STREAM.lower(Transcript(list(messages)), Options()))


def call(name: str, id_: str | None = None, arguments: Any = None) -> Any:
    return {"type": "tool_call", "content": {"name": name, "arguments": arguments or {}, "tool_call_id": id_}}


def result(name: str, content: Any, id_: str | None = None) -> Any:
    return {"type": "tool_result", "content": {"name": name, "content": content, "tool_call_id": id_}}


def test_results_of_gemini_answer_the_next_open_call_of_their_tool() -> None:
    messages = lift(call("f"), call("g"), call("f"), result("g", "G"), result("f", "1"), result("f", "2", "f"))
    answers = [message.parts[0] for message in messages[1:]]
    assert [part.tool_call_id for part in answers if isinstance(part, ToolResult)] == ["call_2", "call_1", "call_3"]


def test_a_result_is_data_unless_it_is_text() -> None:
    found = [lift(result("f", value, "1"))[0].parts[0] for value in ("5", 5, None, {"a": 1})]
    assert [part.kind for part in found if isinstance(part, ToolResult)] == ["text", "data", "data", "data"]


def test_calls_and_results_are_written_nested() -> None:
    messages = [
        Message("assistant", [ToolCall("1", "f", {"a": 1})]),
        Message("tool", [ToolResult("1", "f", "data", {"content": "x"})]),
    ]
    assert written(*messages) == [call("f", "1", {"a": 1}), result("f", {"content": "x"}, "1")]
    assert lift(*written(*messages)) == messages


def test_only_the_turns_since_the_last_question_are_written() -> None:
    messages = [
        Message(role, [Text(role + str(i))]) for i, role in enumerate(("user", "assistant", "user", "assistant"))
    ]
    assert written(*messages) == [{"type": "text", "content": "assistant3"}]


def test_an_error_ends_its_turn() -> None:
    messages = lift(
        {"type": "text", "content": "a"}, {"type": "error", "content": "busy"}, {"type": "text", "content": "b"}
    )
    assert [(message.stop_reason, message.error) for message in messages] == [("error", "busy"), (None, None)]


def test_chunks_of_other_kinds_among_the_items_of_an_answer_are_chunks_of_their_own() -> None:
    parts = [Text("a"), Opaque("multi-llm-chat", {"type": "status"}), Text("b"), Opaque("another", {"type": "status"})]
    assert written(Message("assistant", parts)) == [{"type": "text", "content": "ab"}, {"type": "status"}]
    assert written(Message("assistant", parts[1:2])) == [{"type": "status"}]
