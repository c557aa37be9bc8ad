"""What is hard about streams of Chat Completions: calls by index, ids that come late, and the usage in a last chunk."""

from __future__ import annotations

from typing import Any

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Reasoning, Text, ToolCall, Transcript

CHAT, STREAM = dialects.get("openai-chat"), dialects.get("openai-chat-stream")
END = "[DONE]"


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def lifted(*rows: Any) -> Transcript:
    return STREAM.lift(Rows(list(rows)))


def call(**keys: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **keys}]}


# ---------------------------------------------------------------- assembling


def test_text_and_thoughts_grow_by_their_deltas() -> None:
    deltas = [{"role": "assistant", "reasoning_content": "H"}, {"reasoning_content": "m."}, {"content": "Y"}]
    transcript = lifted(*map(chunk, deltas), chunk({"content": "es."}), chunk({}, "stop"), END)
    assert transcript.messages[0].parts == [Reasoning("Hm."), Text("Yes.")]


def test_an_id_that_comes_late_belongs_to_the_call_that_is_open() -> None:
    named = call(function={"name": "f", "arguments": ""})
    transcript = lifted(chunk(named), chunk(call(id="a", function={"arguments": "{}"})), chunk({}, "tool_calls"), END)
    assert transcript.messages[0].parts == [ToolCall("a", "f", {})]


def test_usage_is_read_from_the_chunk_without_choices() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    last = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage}
    (message,) = lifted(chunk({"content": "a"}), chunk({}, "stop"), last, END).messages
    assert message.usage == {"inputTokens": 3, "outputTokens": 1, "totalTokens": 4}


def test_a_stream_that_breaks_off_in_a_call_keeps_what_came_of_it() -> None:
    (message,) = lifted(chunk(call(id="a", function={"name": "f", "arguments": '{"ci'}))).messages
    assert message.parts == [ToolCall("a", "f", {}, raw_arguments='{"ci')]
    assert message.stop_reason == "error"


def test_choices_that_come_in_turns_are_branches_and_the_first_is_the_head() -> None:
    rows = [chunk({"content": "a"}), chunk({"content": "b"}, index=1), chunk({"content": "A"}), chunk({}, "stop")]
    transcript = lifted(*rows, chunk({}, "stop", 1), END)
    assert [message.parts for message in transcript.messages] == [[Text("aA")], [Text("b")]]
    assert transcript.head == transcript.messages[0].id


# ---------------------------------------------------------------- writing


def test_a_stream_holds_the_last_answer_and_every_other_turn_is_told_as_dropped() -> None:
    turns = [("user", "?"), ("assistant", "First."), ("user", "And?"), ("assistant", "Last.")]
    document = {"messages": [{"role": role, "content": text} for role, text in turns]}
    conversion = pipeline.convert(document, CHAT, STREAM)
    assert [part.text for part in STREAM.lift(conversion.document).messages[0].parts if isinstance(part, Text)] == [
        "Last."
    ]
    dropped = [loss.where for loss in conversion.losses if loss.field == "message"]
    assert dropped == ["/messages/0", "/messages/1", "/messages/2"]


def test_the_first_chunk_has_the_role_and_the_mark_of_the_end_is_last() -> None:
    document = {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]}
    rows = pipeline.convert(document, CHAT, STREAM).document
    assert rows[0]["choices"][0]["delta"]["role"] == "assistant"
    assert (rows[-2]["choices"][0]["finish_reason"], rows[-1]) == ("stop", END)


# ---------------------------------------------------------------- places and recognition


def test_a_loss_stands_at_the_event_that_said_it_first() -> None:
    rows = Rows([chunk({"role": "assistant"}), chunk({"reasoning_content": "Hm."}), chunk({}, "stop"), END])
    losses = pipeline.convert(rows, STREAM, CHAT).losses
    assert [loss.where for loss in losses if loss.field == "reasoning"] == ["/1/choices/0/delta/reasoning_content"]


def test_chunks_are_recognised_and_a_whole_response_is_not() -> None:
    assert STREAM.detect(Rows([chunk({"content": "a"})])) is not None
    assert STREAM.detect({"choices": [{"message": {"role": "assistant", "content": "a"}}]}) is None
