"""Streams of the Gemini API: how events become one answer, and how an answer is cut into events."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.gemini_stream import ResponseBoundaries
from convcli.engine import pipeline
from convcli.engine.detection import detect
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, Transcript

STREAM = dialects.get("gemini-stream")


def event(*parts: Any, **more: Any) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


def lift(*events: Any) -> Transcript:
    return STREAM.lift(Rows(events))


def answer(*events: Any) -> Message:
    [message] = lift(*events).messages
    return message


def calls(*events: Any) -> list[Any]:
    return [(part.id, part.name, part.arguments) for part in answer(*events).parts if isinstance(part, ToolCall)]


def written(message: Message, size: int = 0) -> list[Any]:
    return list(STREAM.lower(Transcript([message]), Options(chunk=size)))


def parts_of(rows: list[Any]) -> list[Any]:
    return [part for row in rows for part in row["candidates"][0]["content"]["parts"]]


# ---------------------------------------------------------------- lift


def test_texts_go_on_with_texts_of_the_same_kind_only() -> None:
    events = (event({"text": "a", "thought": True}), event({"text": "b", "thought": True}), event({"text": "c"}))
    assert answer(*events, event({"text": "d"})).parts == [Reasoning("ab"), Text("cd")]


def test_calls_without_ids_in_two_events_get_different_ids() -> None:
    call = event({"functionCall": {"name": "f", "args": {}}})
    assert [id_ for id_, _, _ in calls(call, call)] == ["call_1", "call_2"]


def test_arguments_without_a_name_belong_to_the_oldest_call_that_has_none() -> None:
    events = [event({"functionCall": {"name": name}}) for name in "fg"]
    events += [event({"functionCall": {"args": {"n": n}}}) for n in (1, 2)]
    assert [call[1:] for call in calls(*events)] == [("f", {"n": 1}), ("g", {"n": 2})]


@pytest.mark.parametrize("key", ["id", "index"])
def test_arguments_without_a_name_belong_to_the_call_with_the_same_mark(key: str) -> None:
    events = [event({"functionCall": {"name": name, key: name}}) for name in "fg"]
    events += [event({"functionCall": {"args": {"of": name}, key: name}}) for name in "gf"]
    assert [call[1:] for call in calls(*events)] == [("f", {"of": "f"}), ("g", {"of": "g"})]


def test_interleaved_arguments_belong_to_the_call_whose_part_has_the_same_index() -> None:
    weather, time = {"functionCall": {"name": "weather"}, "index": 0}, {"functionCall": {"name": "time"}, "index": 1}
    zone, city = {"functionCall": {"args": {"zone": "JST"}}}, {"functionCall": {"args": {"city": "Osaka"}}}
    assembled = calls(event(weather), event(time), event({**zone, "index": 1}), event({**city, "index": 0}))
    assert [call[1:] for call in assembled] == [("weather", {"city": "Osaka"}), ("time", {"zone": "JST"})]


def test_the_last_counts_hold_and_every_field_may_be_in_snake_case() -> None:
    first = {**event({"text": "a"}), "usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 1}}
    last = {**event({"text": "b"}, finish_reason="STOP"), "usage_metadata": {"candidates_token_count": 2}}
    message = answer(first, last)
    assert message.usage == {"inputTokens": 3, "outputTokens": 2}
    assert message.stop_reason == "stop"


def test_an_answer_that_nothing_ended_broke_off() -> None:
    assert answer(event({"text": "a"})).stop_reason == "error"
    assert answer(event({"text": "a"}, finishReason="MAX_TOKENS")).stop_reason == "length"


def test_an_error_without_an_answer_is_a_turn_that_says_nothing() -> None:
    message = answer({"error": {"code": 503, "message": "overloaded"}})
    assert (message.parts, message.stop_reason, message.error) == ([], "error", "overloaded")
    assert message.extras == {"google": {"error": {"code": 503}}}


def test_candidates_are_distinguished_by_their_index() -> None:
    pieces = [(0, "a"), (1, "x"), (0, "b"), (1, "y")]
    events = [{"candidates": [{"index": i, "content": {"parts": [{"text": text}]}}]} for i, text in pieces]
    assert [message.parts for message in lift(*events).messages] == [[Text("ab")], [Text("xy")]]


# ---------------------------------------------------------------- write


def test_a_signed_text_is_neither_joined_nor_cut() -> None:
    signed = {"text": "two", "thoughtSignature": "c2ln"}
    message = answer(event({"text": "one "}), event(signed), event({"text": " three"}))
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["one ", "two", " three"]
    assert signed in parts_of(written(message, 1))


def test_texts_are_cut_and_calls_are_not() -> None:
    message = Message("assistant", [Text("abc"), ToolCall("1", "f", {"city": "Rome"})], stop_reason="tool_calls")
    rows = written(message, 2)
    call = {"functionCall": {"id": "1", "name": "f", "args": {"city": "Rome"}}}
    assert parts_of(rows) == [{"text": "ab"}, {"text": "c"}, call]
    assert [row["candidates"][0].get("finishReason") for row in rows] == [None, None, "STOP"]


def test_an_error_is_an_event_of_its_own_behind_an_answer_without_a_finish_reason() -> None:
    rows = written(Message("assistant", [Text("a")], stop_reason="error", error="tired"))
    assert rows[-1] == {"error": {"message": "tired"}}
    assert "finishReason" not in rows[0]["candidates"][0]


def test_an_answer_that_does_not_say_why_it_stopped_gets_a_finish_reason_and_that_is_reported() -> None:
    assert written(Message("assistant", [Text("a")]))[-1]["candidates"][0]["finishReason"] == "STOP"
    reported = pipeline.lower(Transcript([Message("assistant", [Text("a")])]), STREAM).losses
    assert [(loss.kind, loss.field) for loss in reported] == [("invented", "message.stopReason")]


def test_an_event_of_another_response_is_reported() -> None:
    rows = [{**event({"text": name}, finishReason="STOP"), "responseId": name} for name in ("a", "b")]
    findings = pipeline.validate(Rows(rows), STREAM)
    assert [(finding.code, finding.where) for finding in findings] == [
        ("several-streams", "/1"),
        ("stream-out-of-order", "/1"),
    ]
    assert pipeline.validate(Rows(rows[:1] * 2), STREAM) == []


def streamed(**call: Any) -> Any:
    return event({"functionCall": call})


def test_arguments_that_are_streamed_as_values_at_json_paths_are_one_call() -> None:
    fragments = [
        {"jsonPath": "$.location", "stringValue": "Bos", "willContinue": True},
        {"jsonPath": "$.location", "stringValue": "ton"},
        {"jsonPath": "$.days[0].high", "numberValue": 21},
        {"jsonPath": "$['is it']", "boolValue": True},
        {"jsonPath": "$.days[1]", "nullValue": "NULL_VALUE"},
    ]
    events = [streamed(partialArgs=[fragment], willContinue=True) for fragment in fragments]
    message = answer(streamed(name="f", willContinue=True), *events, streamed(), streamed(name="g", args={"x": 1}))
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    arguments = {"location": "Boston", "days": [{"high": 21}, None], "is it": True}
    assert [(call.name, call.arguments, call.extras) for call in calls] == [
        ("f", arguments, None),
        ("g", {"x": 1}, None),
    ]


def test_a_fragment_without_a_readable_path_is_kept() -> None:
    fragment = {"jsonPath": "$..x", "stringValue": "a"}
    [call] = answer(streamed(name="f", partialArgs=[fragment])).parts
    assert isinstance(call, ToolCall)
    assert call.arguments == {"partialArgs": [fragment]}


def test_events_that_stream_arguments_are_no_documents_of_vertex_ai() -> None:
    events = [streamed(name="f", willContinue=True), streamed()]
    assert detect(Rows(events)).dialect == "gemini-stream"


def test_events_without_ids_begin_another_answer_with_new_parts_after_the_end() -> None:
    begins = STREAM.answer_boundaries and STREAM.answer_boundaries()
    assert begins is not None
    rows = [event({"text": "a"}), event({"text": "b"}, finishReason="STOP"), event({"text": ""}), event({"text": "c"})]
    assert [begins(row) for row in rows] == [False, False, False, True]


def test_a_second_candidate_after_the_first_has_ended_is_of_the_same_answer() -> None:
    candidates = [
        {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": index}
        for index, text in enumerate(("Heads.", "Tails."))
    ]
    written = pipeline.convert({"candidates": candidates}, dialects.get("vertexai"), STREAM)
    assert (written.losses, written.findings) == ([], [])
    begins = ResponseBoundaries()
    assert [begins(event) for event in written.document] == [False, False]
    assert begins(written.document[0])
