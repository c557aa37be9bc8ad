"""What is hard about streams of Gemini: responses without an end mark, whose parts may or may not go on."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, Transcript

GEMINI, STREAM, CHAT = (dialects.get(name) for name in ("gemini", "gemini-stream", "openai-chat"))


def event(*parts: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"responseId": "r", "candidates": [{"content": {"role": "model", "parts": list(parts)}, **keys}]}


def lifted(*rows: dict[str, Any]) -> Message:
    (message,) = STREAM.lift(Rows(list(rows))).messages
    return message


# ---------------------------------------------------------------- assembling


def test_text_goes_on_in_the_next_text_of_its_kind() -> None:
    thoughts = [event({"text": text, "thought": True}) for text in ("Hm", ".")]
    message = lifted(*thoughts, event({"text": "Y"}), event({"text": "es."}, finishReason="STOP"))
    assert message.parts == [Reasoning("Hm."), Text("Yes.")]


def test_arguments_in_an_event_of_their_own_belong_to_the_call_that_waits_for_them() -> None:
    named, stated = {"functionCall": {"name": "f"}}, {"functionCall": {"args": {"city": "大阪"}}}
    (call,) = lifted(event(named), event(stated, finishReason="STOP")).parts
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("f", {"city": "大阪"})


def test_a_candidate_without_a_finish_reason_breaks_off() -> None:
    assert lifted(event({"text": "Once upon"})).stop_reason == "error"
    assert lifted(event({"text": "Once."}, finishReason="STOP")).stop_reason == "stop"


def test_the_last_counts_of_tokens_hold() -> None:
    rows = [
        {**event({"text": "a"}, **keys), "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": count}}
        for count, keys in ((1, {}), (2, {"finishReason": "STOP"}))
    ]
    usage = lifted(*rows).usage
    assert usage is not None
    assert (usage["inputTokens"], usage["outputTokens"]) == (3, 2)


def test_candidates_that_come_in_turns_are_branches_and_the_first_is_the_head() -> None:
    one, two = ({"index": index, "content": {"parts": [{"text": "ab"[index]}]}} for index in (0, 1))
    transcript = STREAM.lift(Rows([{"candidates": [one]}, {"candidates": [two]}, {"candidates": [one]}]))
    assert [message.parts for message in transcript.messages] == [[Text("aa")], [Text("b")]]
    assert transcript.head == transcript.messages[0].id


def test_keys_in_snake_case_say_the_same() -> None:
    candidate = {"content": {"parts": [{"function_call": {"name": "f", "args": {}}}]}, "finish_reason": "STOP"}
    (call,) = lifted({"response_id": "r", "candidates": [candidate]}).parts
    assert isinstance(call, ToolCall)
    assert call.name == "f"


# ---------------------------------------------------------------- writing


def test_the_reason_to_stop_stands_in_the_last_event_and_nowhere_else() -> None:
    rows = STREAM.lower(Transcript([Message("assistant", [Reasoning("Hm."), Text("Yes.")], stop_reason="stop")]))
    assert [row["candidates"][0].get("finishReason") for row in rows] == [None] * (len(rows) - 1) + ["STOP"]


def test_a_question_has_no_place_and_is_told_as_dropped() -> None:
    document = {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]}
    conversion = pipeline.convert(document, CHAT, STREAM)
    assert lifted(*conversion.document).parts == [Text("Yes.")]
    assert ("dropped", "/messages/0") in {(loss.kind, loss.where) for loss in conversion.losses}


def test_an_array_of_events_comes_back_as_an_array() -> None:
    document = [event({"text": "a"}), event({"text": "b"}, finishReason="STOP")]
    conversion = pipeline.convert(document, STREAM, STREAM)
    assert (conversion.document, conversion.losses) == (document, [])


# ---------------------------------------------------------------- recognition


@pytest.mark.parametrize("rows", [[event({"text": "a"})], [event({"text": "a"}), event({"text": "b"})]])
def test_an_array_of_candidates_is_a_stream_and_one_response_is_a_document(rows: list[Any]) -> None:
    assert STREAM.detect(rows) is not None
    assert STREAM.detect(rows[0]) is None
    assert GEMINI.detect(rows[0]) is not None
