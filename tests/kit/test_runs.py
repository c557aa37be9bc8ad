"""What a stream of a whole run takes of any transcript, and the error with which it ends."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.kit.runs import joined_turns, last_run, only_turn
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Part, Text, ToolCall, ToolResult, Transcript

QUESTION = Message("user", [Text("go")])
CALL = Message("assistant", [ToolCall("a", "f", {})])
RESULT = Message("tool", [ToolResult("a", "f", "text", "ok")])


def said(*texts: str, error: bool = False) -> Message:
    parts: list[Part] = [Text(text) for text in texts]
    return Message("assistant", parts, stop_reason="error" if error else None)


def event(owner: str) -> Message:
    return Message("event", [Opaque(owner, {"type": "status"})])


def kept(*messages: Message) -> list[Message]:
    return last_run("mine")(Transcript(list(messages))).messages


def test_a_run_begins_behind_the_last_question_before_the_last_answer() -> None:
    assert kept(QUESTION, said("old"), QUESTION, CALL, RESULT, said("new"), QUESTION) == [CALL, RESULT, said("new")]


def test_a_run_without_an_answer_holds_the_results_behind_the_last_question() -> None:
    assert kept(RESULT) == [RESULT]
    assert kept(RESULT, QUESTION) == []


def test_of_events_only_those_of_such_a_stream_are_kept() -> None:
    assert kept(CALL, event("mine"), event("another"), RESULT) == [CALL, event("mine"), RESULT]


def test_turns_that_follow_one_another_are_one_and_so_are_their_texts() -> None:
    assert joined_turns([said("a", "b"), event("mine"), said("c"), RESULT, said("d")]) == [
        said("abc"),
        event("mine"),
        RESULT,
        said("d"),
    ]


def test_behind_a_failure_another_turn_begins() -> None:
    turns = [said("a", error=True), said("b")]
    assert joined_turns(turns) == turns


def test_turns_that_say_nothing_are_left_out_unless_they_failed() -> None:
    assert joined_turns([said(), said("", error=True), RESULT, said("")]) == [said(error=True), RESULT]


def test_of_several_turns_none_is_the_only_one() -> None:
    assert only_turn([QUESTION, CALL, RESULT]) is CALL
    assert only_turn([CALL, RESULT, said("done")]) is None


TIME = {"timestamp": "2026-01-01T00:00:00Z"}
FAILED: dict[str, list[Any]] = {
    "ag-ui": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "error": {"k": "x"}},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "Hi."},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
        {"type": "RUN_ERROR", "message": "It failed.", "code": "c"},
    ],
    "gemini-cli-stream": [
        {"type": "init", **TIME},
        {"type": "message", **TIME, "role": "assistant", "content": "Hi.", "delta": True, "error": {"k": "x"}},
        {"type": "result", **TIME, "status": "error", "error": {"type": "X", "message": "It failed."}},
    ],
    "multi-llm-chat-stream": [
        {"type": "text", "content": "Hi.", "error": {"k": "x"}},
        {"type": "error", "content": {"message": "It failed.", "code": 3}},
    ],
}


@pytest.mark.parametrize("name", FAILED)
def test_a_key_of_a_turn_with_the_name_of_its_error_is_written_anew(name: str) -> None:
    dialect, events = dialects.get(name), Rows(FAILED[name])
    done = pipeline.convert_in_full(events, dialect, dialect, is_composed=True)
    assert (list(done.document), done.losses) == (FAILED[name], [])
