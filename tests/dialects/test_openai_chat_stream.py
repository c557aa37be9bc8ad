"""Streams of Chat Completions: how calls are distinguished, how a stream ends, and what one answer can have."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.openai_chat import DIALECT as CHAT
from convcli.dialects.openai_chat_stream import DIALECT as STREAM
from convcli.engine import pipeline
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, Refusal, Text, ToolCall, Transcript
from convcli.testing import assert_writes

DONE = "[DONE]"


def chunk(delta: Any, finish: str | None = None, index: int = 0) -> Any:
    return {"object": "chat.completion.chunk", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def call(index: int | None, id_: str | None, name: str | None, arguments: str) -> Any:
    number_messages = {} if index is None else {"index": index}
    return chunk({"tool_calls": [{**number_messages, "id": id_, "function": {"name": name, "arguments": arguments}}]})


def lift(*rows: Any) -> Transcript:
    return STREAM.lift(Rows(rows))


def chunks(*messages: Message, size: int = 0) -> list[Any]:
    rows: list[Any] = STREAM.lower(Transcript([*messages]), Options(chunk=size))
    return rows


def deltas(rows: list[Any]) -> list[Any]:
    return [choice["delta"] for row in rows if row != DONE for choice in row.get("choices", ())]


# ---------------------------------------------------------------- lift


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [call(0, "a", "f", "{}"), call(2, None, "g", '{"x"'), call(2, "c", None, ":1}")],
            [("a", "f", {}), ("c", "g", {"x": 1})],
            id="a gap between indices and a late id",
        ),
        pytest.param(
            [call(0, "a", "f", '{"x"'), call(0, "a", "f", ":1}")], [("a", "f", {"x": 1})], id="id and name twice"
        ),
        pytest.param(
            [call(0, "a", "f", "{}"), call(0, "b", "f", "{}")], [("a", "f", {}), ("b", "f", {})], id="one index for all"
        ),
        pytest.param(
            [call(0, "a", None, '{"x"'), call(0, "b", "f", ":1}")], [("b", "f", {"x": 1})], id="a late name, another id"
        ),
        pytest.param(
            [call(None, "a", "f", '{"x"'), call(None, None, None, ":1}"), call(None, "b", "g", "{}")],
            [("a", "f", {"x": 1}), ("b", "g", {})],
            id="no index",
        ),
        pytest.param(
            [call(1, "b", "g", "{}"), call(0, "a", "f", "{}")], [("a", "f", {}), ("b", "g", {})], id="late first index"
        ),
    ],
)
def test_calls_are_distinguished(rows: list[Any], expected: list[Any]) -> None:
    parts = lift(*rows, chunk({}, "tool_calls"), DONE).messages[0].parts
    assert [(part.id, part.name, part.arguments) for part in parts if isinstance(part, ToolCall)] == expected


def test_a_stream_without_an_end_broke_off_and_keeps_what_came() -> None:
    (message,) = lift(chunk({"role": "assistant", "content": "Once"}), call(0, "a", "f", '{"x"')).messages
    assert message.stop_reason == "error"
    assert message.parts == [Text("Once"), ToolCall("a", "f", {}, '{"x"')]


def test_the_mark_of_the_end_is_an_end_even_without_a_reason() -> None:
    (message,) = lift(chunk({"content": "Hi"}), DONE).messages
    assert (message.stop_reason, message.error) == (None, None)


def test_an_error_is_that_of_the_choice_that_nothing_ended() -> None:
    error = {"error": {"message": "tired", "code": 503}}
    first, second = lift(chunk({"content": "A"}, "stop"), chunk({"content": "B"}, index=1), error).messages
    assert (first.stop_reason, first.error) == ("stop", None)
    assert (second.stop_reason, second.error) == ("error", "tired")
    assert (second.extras or {})["openai-chat"]["error"] == {"code": 503}


def test_usage_of_a_last_chunk_without_choices_is_that_of_the_answer() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}
    transcript = lift(chunk({"content": "Hi"}, "stop"), usage, DONE)
    assert transcript.messages[0].usage == {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}


@pytest.mark.parametrize("value", ["", 0.0, [], False])
def test_an_unknown_delta_key_is_read_back_even_with_an_empty_value(value: Any) -> None:
    transcript = lift(chunk({"content": "Hi", "x_note": value}), chunk({}, "stop"), DONE)
    assert_writes(STREAM, transcript)
    assert {"x_note": value} in deltas(STREAM.lower(transcript))


def test_a_stream_means_the_same_as_the_whole_response() -> None:
    message = {"role": "assistant", "content": "Hi!"}
    response = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    rows = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Hi"}),
        chunk({"content": "!"}, "stop"),
        DONE,
    ]
    assert lift(*rows) == CHAT.lift(response)


# ---------------------------------------------------------------- fit and write


def test_texts_of_one_answer_are_one_stream_and_thoughts_come_before_them() -> None:
    rows = chunks(Message("assistant", [Text("A"), Reasoning("Hm."), Text("B"), Refusal("No.")], stop_reason="stop"))
    assert deltas(rows)[1:4] == [{"reasoning_content": "Hm."}, {"content": "AB"}, {"refusal": "No."}]
    assert rows[-1] == DONE


def test_only_the_last_answer_of_a_conversation_is_streamed() -> None:
    rows = chunks(Message("assistant", [Text("A")]), Message("user", [Text("B")]), Message("assistant", [Text("C")]))
    assert [delta["content"] for delta in deltas(rows) if delta.get("content")] == ["C"]


@pytest.mark.parametrize(("parts", "reason"), [([Text("A")], "stop"), ([ToolCall("a", "f", {})], "tool_calls")])
def test_every_choice_ends_with_a_reason(parts: list[Any], reason: str) -> None:
    rows = chunks(Message("assistant", parts))
    assert rows[-2]["choices"][0]["finish_reason"] == reason


def test_an_error_replaces_the_end() -> None:
    rows = chunks(Message("assistant", [Text("Once")], stop_reason="error", error="tired"))
    assert rows[-1] == {"error": {"message": "tired"}}
    assert [choice["finish_reason"] for row in rows[:-1] for choice in row["choices"]] == [None, None]


def test_a_call_is_introduced_once_and_its_pieces_carry_only_its_index() -> None:
    rows = chunks(Message("assistant", [ToolCall("a", "f", {"city": "大阪"})], stop_reason="tool_calls"), size=4)
    calls = [delta["tool_calls"][0] for delta in deltas(rows) if "tool_calls" in delta]
    assert calls[0] == {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    assert all(call.keys() == {"index", "function"} for call in calls[1:])
    assert "".join(call["function"]["arguments"] for call in calls) == '{"city":"大阪"}'


# ---------------------------------------------------------------- values that come again, padding, blocks


def test_a_key_that_comes_again_with_another_value_keeps_the_earlier_values() -> None:
    rows = [{**chunk({"content": "a"}), "service_tier": tier} for tier in ("auto", "default", "default")]
    extras = lift(*rows, chunk({}, "stop"), DONE).extras
    assert extras == {"openai-chat": {"service_tier": "default", "former": {"service_tier": ["auto"]}}}


def test_each_content_filter_result_of_a_choice_is_kept() -> None:
    results = [{"violence": {"filtered": True, "severity": "high"}}, {"violence": {"filtered": False}}]
    rows = [chunk({"content": "a"}), chunk({"content": "b"})]
    for row, result in zip(rows, results, strict=True):
        row["choices"][0]["content_filter_results"] = result
    [message] = lift(*rows, chunk({}, "stop"), DONE).messages
    choice = (message.extras or {})["openai-chat"]["choice"]
    assert [choice["content_filter_results"], choice["former"]["content_filter_results"]] == [results[1], results[:1]]


def test_a_block_of_an_unknown_type_is_no_call_of_an_answer() -> None:
    unknown = Opaque("openai-chat", {"id": "call_1", "type": "zz_new"})
    assert chunks(Message("assistant", [Text("Hi."), unknown])) == chunks(Message("assistant", [Text("Hi.")]))


@pytest.mark.parametrize("key", ["p", "obfuscation"])
def test_padding_is_not_part_of_an_answer(key: str) -> None:
    assert lift({**chunk({"content": "a"}, "stop"), key: "abcdefgh"}, DONE).extras is None


def test_thinking_of_mistral_comes_as_blocks_in_the_content() -> None:
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": text}]} for text in ("Hm", ".")]
    other = {"type": "reference", "reference_ids": [1]}
    blocks = [[thinking[0]], [thinking[1]], [{"type": "text", "text": "Hi"}, other]]
    [message] = lift(*(chunk({"content": list_}) for list_ in blocks), chunk({}, "stop"), DONE).messages
    assert message.parts == [Reasoning("Hm."), Text("Hi")]
    assert message.extras == {"openai-chat": {"content_blocks": [other]}}


def test_a_block_that_no_field_stores_is_content_with_a_finding() -> None:
    block = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    delta = {"role": "assistant", "content": [{"type": "text", "text": "Look."}, block]}
    choices = ({"index": 0, "delta": delta}, {"index": 0, "delta": {}, "finish_reason": "stop"})
    chunks = [
        {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [c]} for c in choices
    ]
    document, stream = Rows(chunks, [1, 2]), dialects.get("openai-chat-stream")
    done = pipeline.convert(document, stream, dialects.get("anthropic"))
    [loss] = [loss for loss in done.losses if loss.field.endswith("content_blocks")]
    assert loss.level == "content"
    for findings in (done.findings, pipeline.validate(document, stream)):
        [finding] = [finding for finding in findings if finding.code == "unknown-content"]
        assert finding.where == loss.where == "/0/choices/0/delta/content"
        assert '"image_url"' in finding.message
