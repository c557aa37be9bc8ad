"""An answer next to its request is the end of the conversation, and comes back where it stood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import answers, pipeline, reading
from convcli.engine.restore import record, restore
from convcli.model.document import with_value
from convcli.testing import facts
from convcli.testing.planting import UNKNOWN_KEY, plantable
from convcli.wire import exact_json
from convcli.wire.pointers import pointer

QUESTION = {"role": "user", "content": "What is the weather?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "gpt-5.5",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
        }
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [{"type": "text", "text": "It is sunny."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 4},
}
CANDIDATES = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP"}
    ],
    "responseId": "r1",
}
OUTPUT = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1700000000,
    "model": "gpt-5.5",
    "status": "completed",
    "temperature": 0.5,
    "output": [
        {
            "type": "message",
            "id": "m1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "It is sunny.", "annotations": []}],
        }
    ],
}
ASKED = {"contents": [
    {"role": "user", "parts": [{"text": "Hi?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "noon"}}}]},
]}  # fmt: skip

RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "a response of LiteLLM": ("openai-chat", {"messages": [QUESTION], "kwargs": {"a": 1}, "response": COMPLETION}),
    "a string": ("openai-chat", {"model": "m", "messages": [QUESTION], "answer": "It is sunny."}),
    "a message": ("openai-chat", {"messages": [QUESTION], "output": {"role": "assistant", "content": "Sunny."}}),
    "messages": ("openai-chat", {"messages": [QUESTION], "completion": [{"role": "assistant", "content": "Sunny."}]}),
    "another dialect": ("openai-chat", {"messages": [QUESTION], "response": MESSAGE}),
    "choices": (
        "openai-chat",
        {"model": "m", "temperature": 0.5, "messages": [QUESTION], "choices": COMPLETION["choices"], "remark": "zz"},
    ),
    "anthropic": ("anthropic", {"model": "m", "max_tokens": 5, "messages": [QUESTION], "response": MESSAGE}),
    "gemini": ("gemini", {**ASKED, "response": CANDIDATES}),
    "responses": ("openai-responses", {"model": "m", "input": [QUESTION], "response": OUTPUT}),
    "a row of a data set": ("sharegpt", {"conversations": [{"from": "human", "value": "Hi?"}], "answer": "Sunny."}),
}


@pytest.mark.parametrize("name", RECORDS)
def test_the_conversation_ends_with_the_answer(name: str) -> None:
    source, document = RECORDS[name]
    transcript = reading.lift(document, dialects.get(source))
    assert transcript.messages[-1].role == "assistant"
    assert transcript.messages[0].role == "user"
    assert transcript.messages[-1].parts


@pytest.mark.parametrize("name", RECORDS)
def test_every_value_is_kept(name: str) -> None:
    source, document = RECORDS[name]
    kept = json.dumps(facts(answers.lift(document, dialects.get(source))))
    for value in ("chatcmpl-1", "gpt-5.5", "msg_1", "claude-opus-5", "resp_1", "r1", "It is sunny.", "0.5", "zz"):
        assert (value in json.dumps(document)) <= (value in kept), value


@pytest.mark.parametrize("name", RECORDS)
def test_the_record_comes_back_from_its_own_dialect_and_the_intermediate_format(name: str) -> None:
    source, document = RECORDS[name]
    own, hub = dialects.get(source), dialects.get("intermediate")
    same = pipeline.convert(document, own, own)
    assert (exact_json.key(same.document), same.losses) == (exact_json.key(document), [])
    stored = pipeline.convert(document, own, hub).document
    assert exact_json.key(pipeline.convert(stored, hub, own).document) == exact_json.key(document)


@pytest.mark.parametrize("target", ["anthropic", "gemini", "claude-code", "hf-chat"])
@pytest.mark.parametrize("name", RECORDS)
def test_nothing_of_the_answer_is_lost_as_content_and_the_record_is_restored(name: str, target: str) -> None:
    source, document = RECORDS[name]
    own, other = dialects.get(source), dialects.get(target)
    converted = pipeline.convert(document, own, other)
    assert [loss.where for loss in converted.losses if loss.level == "content"] == []
    assert [finding.where for finding in converted.findings if finding.code == "unknown-content"] == []
    kept = record(document, converted.document, own, other)
    assert exact_json.key(restore(converted.document, kept)) == exact_json.key(document)


def places_of_losses(name: str) -> dict[str, str]:
    """The place of each field of a record that Anthropic cannot store."""
    source, document = RECORDS[name]
    losses = pipeline.convert(document, dialects.get(source), dialects.get("anthropic")).losses
    return {loss.field: loss.where for loss in losses}


def test_losses_of_the_answer_stand_in_the_record() -> None:
    places = places_of_losses("a response of LiteLLM")
    assert places["message.stopReason"] == "/response/choices/0/finish_reason"
    assert places["message.usage.inputTokens"] == "/response/usage/prompt_tokens"


@pytest.mark.parametrize("name", RECORDS)
def test_an_unknown_key_of_the_answer_is_reported_where_it_stands(name: str) -> None:
    source, document = RECORDS[name]
    answer = next(key for key in answers.KEYS if key in document)
    paths = [path for path in plantable(document) if path[0] == answer and path[-1] == UNKNOWN_KEY]
    for path in paths:
        planted = with_value(document, path, "Words that nobody knows.")
        converted = pipeline.convert(planted, dialects.get(source), dialects.get("claude-code"))
        places = [loss.where for loss in converted.losses if loss.before == "Words that nobody knows."]
        assert places == [pointer(path)] or "Words" in json.dumps(converted.document), pointer(path)


def test_what_a_message_has_of_its_answer_is_reported_where_it_stands() -> None:
    places = places_of_losses("responses")
    assert places["message.createdAt"] == "/response/created_at"
    assert places["extras.openai-responses.request.temperature"] == "/response/temperature"
    assert places["text.metadata.itemId"] == "/response/output/0/id"


def test_an_unknown_key_of_the_answer_that_its_message_has_too_is_kept() -> None:
    message = {"role": "assistant", "content": "Sunny.", "zz": "of the message"}
    answer = {**COMPLETION, "zz": "of the answer", "choices": [{"index": 0, "message": message}]}
    document = {"messages": [QUESTION], "response": answer}
    losses = pipeline.convert(document, dialects.get("openai-chat"), dialects.get("anthropic")).losses
    places = {loss.before: loss.where for loss in losses if isinstance(loss.before, str)}
    assert places["of the message"] == "/response/choices/0/message/zz"
    assert places["of the answer"] == "/response/zz"


def test_the_answer_has_ids_of_its_own_for_calls_without_ids() -> None:
    source, document = RECORDS["gemini"]
    transcript = reading.lift(document, dialects.get(source))
    ids = [part.id for message in transcript.messages for part in message.parts if part.type == "tool_call"]
    assert len(ids) == len(set(ids)) == 2


def test_a_conversation_that_has_its_answer_is_left_as_it_is() -> None:
    messages = [QUESTION, {"role": "assistant", "content": "Sunny."}]
    document = {"messages": messages, "answer": "It is sunny, and the wind is light."}
    own = dialects.get("openai-chat")
    assert len(reading.lift(document, own).messages) == 2
    assert [(finding.code, finding.where) for finding in pipeline.validate(document, own)] == [
        ("unknown-content", "/answer")
    ]


@pytest.mark.parametrize("value", ["", "  ", 7, None, [], {}, '{"a": 1}', {"status": "ok"}])
def test_what_is_no_answer_is_carried(value: Any) -> None:
    document = {"messages": [QUESTION], "response": value}
    assert len(reading.lift(document, dialects.get("openai-chat")).messages) == 1
