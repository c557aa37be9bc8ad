"""Anthropic Messages streams: how blocks grow, what is known late, how a stream ends, and how one is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Reasoning, Refusal, Text, ToolCall, Transcript
from convcli.validation import schemas, verdict
from tests.cli_cases import run
from tests.support import samples_of

STREAM, SIBLING = dialects.get("anthropic-stream"), dialects.get("anthropic")
STOP = {"type": "message_stop"}


def start(**facts: Any) -> Any:
    return {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [], **facts}}


def begin(index: int, **block: Any) -> Any:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grow(index: int, kind: str, **delta: Any) -> Any:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def end(reason: str, **usage: int) -> Any:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def lift(*events: Any) -> Transcript:
    return STREAM.lift(Rows(events))


def answer(*events: Any) -> Message:
    return lift(start(), *events, end("end_turn"), STOP).messages[0]


def written(*parts: Any, size: int = 0, **facts: Any) -> list[Any]:
    conversion = pipeline.lower(Transcript([Message("assistant", list(parts), **facts)]), STREAM, Options(chunk=size))
    assert schemas.findings("anthropic-stream", conversion.document) == []
    return list(conversion.document)


def deltas(events: list[Any]) -> list[Any]:
    return [event["delta"] for event in events if event["type"] == "content_block_delta"]


# ---------------------------------------------------------------- reading


def test_pieces_of_an_input_are_its_arguments() -> None:
    pieces = [grow(0, "input_json_delta", partial_json=piece) for piece in ('{"city":', ' "Tokyo"', "}")]
    assert answer(begin(0, type="tool_use", id="a", name="f", input={}), *pieces).parts == [
        ToolCall("a", "f", {"city": "Tokyo"})
    ]


def test_an_input_that_breaks_off_is_kept_as_it_came() -> None:
    torn = grow(0, "input_json_delta", partial_json='{"city":')
    call = lift(start(), begin(0, type="tool_use", id="a", name="f", input={}), torn).messages[0].parts[0]
    assert isinstance(call, ToolCall)
    assert (call.arguments, call.raw_arguments) == ({}, '{"city":')


def test_interleaved_blocks_are_distinguished_by_their_index() -> None:
    events = [begin(0, type="text", text=""), begin(1, type="text", text="")]
    events += [grow(i, "text_delta", text=text) for i, text in ((1, "c"), (0, "a"), (1, "d"), (0, "b"))]
    assert answer(*events).parts == [Text("ab"), Text("cd")]


def test_a_block_at_an_index_that_is_taken_is_another_block() -> None:
    assert answer(begin(0, type="text", text="a"), begin(0, type="text", text="b")).parts == [Text("a"), Text("b")]


def test_a_block_whose_beginning_is_missing_grows_all_the_same() -> None:
    thinking, signature = grow(0, "thinking_delta", thinking="hm"), grow(0, "signature_delta", signature="c2ln")
    assert answer(thinking, signature).parts == [Reasoning("hm", metadata={"signature": "c2ln"})]


def test_counts_are_totals_of_which_the_last_is_true() -> None:
    begun = start(id="msg_1", model="claude-x", usage={"input_tokens": 7, "output_tokens": 1})
    transcript = lift(begun, begin(0, type="text", text="a"), end("max_tokens", output_tokens=9), STOP)
    message = transcript.messages[0]
    assert (transcript.id, transcript.model, message.stop_reason) == ("msg_1", "claude-x", "length")
    assert message.usage == {"inputTokens": 7, "outputTokens": 9}


def test_a_stream_without_an_end_has_failed() -> None:
    assert lift(start(), begin(0, type="text", text="a")).messages[0].stop_reason == "error"


def test_an_error_event_is_the_error_of_the_answer_and_its_type_is_an_extra() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "tired"}}
    message = lift(start(), begin(0, type="text", text="a"), error).messages[0]
    assert (message.stop_reason, message.error) == ("error", "tired")
    assert message.extras == {"anthropic": {"error": {"type": "overloaded_error"}}}


def test_pings_are_dropped_and_events_of_unknown_kinds_are_kept() -> None:
    assert answer({"type": "ping"}) == answer()
    assert answer({"type": "weather", "sky": "blue"}).extras == {
        "anthropic": {"events": [{"type": "weather", "sky": "blue"}]}
    }


def test_deltas_of_unknown_kinds_are_kept_with_their_block() -> None:
    part = answer(begin(0, type="text", text="a"), grow(0, "color_delta", color="red")).parts[0]
    assert part.extras == {"anthropic": {"deltas": [{"type": "color_delta", "color": "red"}]}}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([start(), STOP], "message_start events"),
        ([{"type": "error", "error": {"type": "overloaded_error"}}], "an error event"),
    ],
)
def test_its_events_are_its_mark(rows: list[Any], reason: str) -> None:
    match = detection.evidence(Rows(rows), STREAM)
    assert match is not None
    assert reason.split()[-1] in match.reason


def test_neither_one_event_nor_a_response_is_a_stream() -> None:
    assert detection.evidence(start(), STREAM) is None
    assert detection.evidence(Rows([{"type": "error"}]), STREAM) is None


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([begin(0, type="text", text="")], "the message has not begun"),
        ([start(), start()], "the message begins a second time"),
        ([start(), begin(0, type="text", text=""), STOP], "a block has not ended"),
        ([start(), grow(0, "text_delta", text="a")], "no block with the index 0 has begun"),
        ([start(), STOP, end("end_turn")], "the message has already ended"),
    ],
)
def test_events_out_of_order_are_found(events: list[Any], message: str) -> None:
    rows = Rows(events)
    findings = verdict.findings(rows, STREAM.lift(rows), STREAM, STREAM.rules)
    assert message in " ".join(finding.message for finding in findings)


# ---------------------------------------------------------------- writing


def test_a_message_begins_empty_and_its_end_states_the_stop_reason_and_the_last_counts() -> None:
    events = written(Text("hi"), stop_reason="stop", usage={"inputTokens": 3, "outputTokens": 2})
    message = events[0]["message"]
    assert (message["content"], message["stop_reason"]) == ([], None)
    assert message["usage"] == {"input_tokens": 3, "output_tokens": 0}
    assert events[-2]["delta"]["stop_reason"] == "end_turn"
    assert events[-2]["usage"] == {"output_tokens": 2}
    assert events[-1] == STOP


def test_texts_and_inputs_are_cut_and_signatures_are_not() -> None:
    thinking = Reasoning("abcd", metadata={"signature": "c2lnbmVk"})
    events = written(thinking, Text("efgh"), ToolCall("a", "f", {"x": 1}), size=3, stop_reason="tool_calls")
    assert deltas(events) == [
        {"type": "thinking_delta", "thinking": "abc"},
        {"type": "thinking_delta", "thinking": "d"},
        {"type": "signature_delta", "signature": "c2lnbmVk"},
        {"type": "text_delta", "text": "efg"},
        {"type": "text_delta", "text": "h"},
        *({"type": "input_json_delta", "partial_json": piece} for piece in ('{"x', '":1', "}")),
    ]


def test_a_call_without_arguments_has_no_pieces() -> None:
    assert deltas(written(ToolCall("a", "f", {}), stop_reason="tool_calls")) == []


def test_an_answer_that_broke_off_ends_with_its_error() -> None:
    events = written(Text("a"), stop_reason="error", error="tired")
    assert events[-1] == {"type": "error", "error": {"type": "api_error", "message": "tired"}}
    assert STOP not in events


def test_an_answer_without_a_stop_reason_gets_that_of_its_last_part() -> None:
    assert written(Text("a"))[-2]["delta"]["stop_reason"] == "end_turn"
    assert written(ToolCall("a", "f", {}))[-2]["delta"]["stop_reason"] == "tool_use"


def test_what_nobody_signed_and_media_are_left_out_and_a_refusal_is_written_as_text() -> None:
    parts = Reasoning("hm"), Media("image", data="iVBORw0KGgo="), Refusal("no")
    assert deltas(written(*parts, stop_reason="stop")) == [{"type": "text_delta", "text": "no"}]


def test_of_a_conversation_only_the_last_answer_is_written() -> None:
    turns = [Message("assistant", [Text("one")]), Message("user", [Text("and?")]), Message("assistant", [Text("two")])]
    conversion = pipeline.lower(Transcript(turns), STREAM)
    assert [delta["text"] for delta in deltas(list(conversion.document))] == ["two"]


@pytest.mark.parametrize("sample", samples_of("anthropic-stream"), ids=str)
def test_a_stream_is_the_response_that_its_sibling_reads(sample: Any) -> None:
    response = pipeline.convert(sample.document, STREAM, SIBLING, Options(form="response")).document
    streamed, whole = STREAM.lift(sample.document).messages[0], SIBLING.lift(response).messages[0]
    assert [part.type for part in whole.parts] == [part.type for part in streamed.parts]
    assert whole.usage == streamed.usage


def test_a_stream_is_written_as_server_sent_events_with_their_names() -> None:
    path = Path(__file__).parent.parent.parent / "samples" / "openai-chat-stream" / "parallel-calls.sse"
    assert run("convert", str(path), "--to", "anthropic-stream").stdout.startswith(b"event: message_start\ndata: {")


def test_a_message_that_begins_without_a_role_is_the_assistants_and_reported() -> None:
    begun = {"type": "message_start", "message": {"id": "m", "model": "x", "content": []}}
    end = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    rows = Rows([begun, *end])
    assert [(finding.code, finding.severity) for finding in pipeline.validate(rows, STREAM)] == [
        ("incomplete-response", "warning")
    ]
    assert [message.role for message in STREAM.lift(rows).messages] == ["assistant"]


def test_a_key_that_comes_again_with_another_value_keeps_the_earlier_value() -> None:
    starts = [start(id=id_, model="m") for id_ in ("a", "b")]
    transcript = STREAM.lift(Rows([*starts, STOP]))
    assert transcript.id == "b"
    assert transcript.messages[0].extras == {"anthropic": {"former": {"id": ["a"]}}}


def test_a_list_of_events_is_a_document() -> None:
    assert detection.evidence([start(id="a"), STOP], STREAM) is not None
