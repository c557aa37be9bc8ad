"""Streams of Gemini CLI: what their events say of turns, results and ends."""

from __future__ import annotations

from typing import Any

from convcli import dialects
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript

STREAM = dialects.get("gemini-cli-stream")


def lift(*events: Any) -> Transcript:
    return STREAM.lift(Rows(events))


def written(*messages: Message) -> list[Any]:
    assert STREAM.is_written
    return list(STREAM.lower(Transcript(list(messages)), Options()))


def says(text: str, **more: Any) -> Any:
    return {"type": "message", "role": "assistant", "content": text, **more}


END = {"type": "result", "status": "success"}


def test_deltas_are_one_text_until_a_result_comes() -> None:
    call = {"type": "tool_use", "tool_name": "f", "tool_id": "1", "parameters": {"a": 1}}
    result = {"type": "tool_result", "tool_id": "1", "status": "success", "output": "ok"}
    messages = lift(says("a", delta=True), says("b", delta=True), call, result, says("c", delta=True), END).messages
    assert [message.role for message in messages] == ["assistant", "tool", "assistant"]
    assert messages[0].parts == [Text("ab"), ToolCall("1", "f", {"a": 1})]
    assert messages[1].parts == [ToolResult("1", "f", "text", "ok")]


def test_a_message_that_is_no_delta_begins_another_turn() -> None:
    assert [message.parts for message in lift(says("a"), says("b"), END).messages] == [[Text("a")], [Text("b")]]


def test_turns_that_follow_each_other_stay_apart() -> None:
    turns = [
        Message("assistant", [Text("a")]),
        Message("assistant", [ToolCall("1", "f", {})]),
        Message("assistant", []),
    ]
    assert STREAM.lift(written(*turns)).messages == turns


def test_a_failure_says_what_the_model_reads_and_keeps_what_the_user_saw() -> None:
    error = {"type": "EACCES", "message": "denied"}
    message = lift({"type": "tool_result", "tool_id": "1", "status": "error", "output": "No.", "error": error}).messages
    result = message[0].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.kind, result.value) == ("error", "denied")
    assert result.extras == {"gemini-cli-stream": {"output": "No.", "error": {"type": "EACCES"}}}


def test_a_run_without_an_end_broke_off() -> None:
    assert lift(says("a", delta=True)).messages[-1].stop_reason == "error"
    assert lift(says("a", delta=True), END).messages[-1].stop_reason is None


def test_a_run_that_fails_behind_a_result_has_an_empty_turn_that_says_so() -> None:
    result = {"type": "tool_result", "tool_id": "1", "status": "success", "output": "ok"}
    end = {"type": "result", "status": "error", "error": {"type": "FatalTurnLimitedError", "message": "too many"}}
    last = lift(result, end).messages[-1]
    assert (last.role, last.parts, last.stop_reason, last.error) == ("assistant", [], "error", "too many")


def test_the_counts_of_a_run_are_those_of_its_only_turn() -> None:
    end = {**END, "stats": {"input_tokens": 3, "output_tokens": 2, "duration_ms": 7}}
    one, two = lift(says("a"), end), lift(says("a"), says("b"), end)
    assert one.messages[0].usage == {"inputTokens": 3, "outputTokens": 2}
    assert [message.usage for message in two.messages] == [None, None]
    assert two.extras == {"gemini-cli-stream": {"result": {"stats": end["stats"]}}}


def test_warnings_are_events_and_the_text_goes_on_behind_them() -> None:
    warning = {"type": "error", "severity": "warning", "message": "loop"}
    messages = lift(says("a", delta=True), warning, says("b", delta=True), END).messages
    assert [message.role for message in messages] == ["assistant", "event"]
    assert messages[0].parts == [Text("ab")]
