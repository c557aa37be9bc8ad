"""Streams of the AI SDK: what their events say of turns, results, and how a message ended."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript

STREAM = dialects.get("vercel-ai-stream")
STEP, DONE = {"type": "start-step"}, {"type": "finish-step"}
END = {"type": "finish", "finishReason": "stop"}


def lift(*events: Any, end: Any = END) -> list[Message]:
    return STREAM.lift(Rows([{"type": "start"}, STEP, *events, *([DONE, end] if end else [])])).messages


def written(*messages: Message, chunk: int = 0) -> list[Any]:
    return list(STREAM.lower(Transcript(list(messages)), Options(chunk=chunk)))


def text(id_: str, *deltas: str, stem: str = "text", **end: Any) -> list[Any]:
    grows = [{"type": f"{stem}-delta", "id": id_, "delta": delta} for delta in deltas]
    return [{"type": f"{stem}-start", "id": id_}, *grows, {"type": f"{stem}-end", "id": id_, **end}]


def called(id_: str, input_: Any) -> Any:
    return {"type": "tool-input-available", "toolCallId": id_, "toolName": "f", "input": input_}


def output(id_: str, value: Any, **more: Any) -> Any:
    return {"type": "tool-output-available", "toolCallId": id_, "output": value, **more}


def test_a_stream_is_a_turn_for_each_step_followed_by_its_results_in_call_order() -> None:
    messages = lift(called("1", {}), called("2", {}), output("2", "b"), output("1", "a"), DONE, STEP, *text("t", "So."))
    assert [message.role for message in messages] == ["assistant", "tool", "tool", "assistant"]
    assert [part.value for one in messages[1:3] for part in one.parts if isinstance(part, ToolResult)] == ["a", "b"]


def test_texts_that_grow_at_once_stay_apart_and_a_thought_has_what_its_provider_wants_back() -> None:
    first, second = (
        text("a", "1", "2"),
        text("b", "3", stem="reasoning", providerMetadata={"anthropic": {"signature": "s"}}),
    )
    [message] = lift(first[0], second[0], first[1], *second[1:], *first[2:])
    assert message.parts == [
        Text("12"),
        Reasoning("3", metadata={"signature": "s"}, extras={"vercel-ai": {"id": "b"}}),
    ]


def test_of_repeated_outputs_and_data_the_last_counts_and_the_first_is_an_extra() -> None:
    data = [{"type": "data-bar", "id": "x", "data": value} for value in (1, 2)]
    events = [called("1", {}), output("1", 50, preliminary=True), *data, output("1", 100)]
    transcript = STREAM.lift(Rows([{"type": "start"}, STEP, *events, END]))
    [call, shown] = transcript.messages[0].parts
    [result] = transcript.messages[1].parts
    assert isinstance(call, ToolCall)
    assert isinstance(shown, Opaque)
    assert isinstance(result, ToolResult)
    assert (shown.value["data"], result.value) == (2, 100)
    assert transcript.extras == {"vercel-ai": {"replaced": [data[0], events[1]]}}
    assert STREAM.lift(STREAM.write(transcript, Options())) == transcript  # type: ignore[misc]


def test_what_is_discarded_is_an_event_and_no_part() -> None:
    *events, message = lift(*text("a", "One."), {"type": "reset-step"}, *text("a", "Two."))
    assert message.parts == [Text("Two.")]
    assert [(event.role, len(event.parts)) for event in events] == [("event", 1)] * 5


@pytest.mark.parametrize(
    ("end", "reason", "error"),
    [
        ([END], "stop", None),
        ([{"type": "finish", "finishReason": "content-filter"}], "content_filter", None),
        ([{"type": "abort", "reason": "enough"}], "aborted", "enough"),
        ([{"type": "error", "errorText": "busy"}, {"type": "finish", "finishReason": "error"}], "error", "busy"),
        ([], "error", None),
        ([{"type": "finish"}], None, None),
    ],
)
def test_a_stream_has_its_stop_reason(end: list[Any], reason: str | None, error: str | None) -> None:
    document = Rows([{"type": "start"}, STEP, *text("text-1", "One."), DONE, *end, *(["[DONE]"] if end else [])])
    transcript = STREAM.lift(document)
    [message] = transcript.messages
    assert (message.stop_reason, message.error) == (reason, error)
    again = STREAM.write(transcript, Options())  # type: ignore[misc]
    assert list(again)[: len(document)] == list(document)


def test_input_that_breaks_off_is_kept_as_it_came() -> None:
    start = {"type": "tool-input-start", "toolCallId": "1", "toolName": "f"}
    [message] = lift(start, {"type": "tool-input-delta", "toolCallId": "1", "inputTextDelta": '{"a":'}, end=None)
    [call] = message.parts
    assert isinstance(call, ToolCall)
    assert (call.arguments, call.raw_arguments) == ({}, '{"a":')


def test_texts_and_inputs_are_cut_as_asked() -> None:
    events = written(Message("assistant", [Text("abcd"), ToolCall("1", "f", {"a": 1})]), chunk=3)
    deltas = [event.get("delta", event.get("inputTextDelta")) for event in events if isinstance(event, dict)]
    assert [delta for delta in deltas if delta] == ["abc", "d", '{"a', '":1', "}"]


def test_later_turns_lose_their_id() -> None:
    turns = [Message("assistant", [Text("a")], id="1"), Message("assistant", [Text("b")], id="2")]
    conversion = pipeline.lower(Transcript(turns), STREAM, Options())
    assert [event.get("messageId") for event in conversion.document[:1]] == ["1"]
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [("dropped", "message.id")]


def test_a_stream_is_detected_by_its_events() -> None:
    assert detection.detect(Rows([{"type": "start", "messageId": "m"}, STEP])).dialect == "vercel-ai-stream"
    assert detection.evidence(Rows([{"type": "start"}, {"type": "error"}]), STREAM) is None
