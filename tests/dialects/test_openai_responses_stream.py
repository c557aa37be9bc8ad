"""Streams of OpenAI Responses: how items grow, which repetition counts, and how a stream ends."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from convcli.testing import assert_same, assert_writes
from convcli.validation import schemas
from tests.support import samples_of

STREAM = dialects.get("openai-responses-stream")
CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": ""}


def event(kind: str, **said: Any) -> Any:
    return {"type": f"response.{kind}", **said}


def lift(*events: Any) -> Transcript:
    return STREAM.lift(Rows(events))


def parts_of(transcript: Transcript) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts]


def completed(*output: Any) -> Any:
    return event("completed", response={"object": "response", "status": "completed", "output": list(output)})


def test_the_last_word_on_an_item_counts() -> None:
    grows = event("function_call_arguments.delta", output_index=0, delta='{"a":')
    done = event("output_item.done", output_index=0, item={**CALL, "arguments": '{"a":1}'})
    transcript = lift(event("output_item.added", output_index=0, item=CALL), grows, done, completed())
    assert parts_of(transcript) == [ToolCall("call_1", "f", {"a": 1})]


def test_an_item_whose_beginning_is_missing_grows_all_the_same() -> None:
    text = event("output_text.delta", output_index=1, content_index=0, delta="hi")
    arguments = event("function_call_arguments.delta", output_index=0, delta="{}")
    call, said = parts_of(lift(text, arguments))
    assert (call.name, call.arguments, said.text) == ("", {}, "hi")


def test_torn_arguments_are_kept_and_the_answer_has_failed() -> None:
    grows = event("function_call_arguments.delta", output_index=0, delta='{"a":')
    transcript = lift(event("output_item.added", output_index=0, item=CALL), grows)
    assert parts_of(transcript)[0].raw_arguments == '{"a":'
    assert transcript.messages[0].stop_reason == "error"


def test_an_error_event_is_the_error_of_the_answer() -> None:
    transcript = lift({"type": "error", "code": "server_error", "message": "tired", "sequence_number": 0})
    assert [(message.stop_reason, message.error) for message in transcript.messages] == [("error", "tired")]


def test_numbers_rise_and_the_pieces_of_arguments_give_the_whole() -> None:
    assert STREAM.is_written
    call = Message("assistant", [ToolCall("call_1", "f", {"note": 'a "b"\n大阪'})])
    events = STREAM.lower(Transcript([call]), Options(chunk=2))
    assert [one["sequence_number"] for one in events] == list(range(len(events)))
    pieces = [one["delta"] for one in events if one["type"] == "response.function_call_arguments.delta"]
    done = next(one for one in events if one["type"] == "response.function_call_arguments.done")
    assert "".join(pieces) == done["arguments"]
    assert [events[0]["type"], events[-1]["type"]] == ["response.created", "response.completed"]


def test_a_stream_means_the_same_as_the_whole_response() -> None:
    sibling = dialects.get("openai-responses")
    for sample in samples_of("openai-responses-stream"):
        if sample.document[-1]["type"] == "response.completed" and sample.document[-1]["response"]["output"]:
            response = sample.document[-1]["response"]
            output = [without_place(item) for item in response["output"]]
            assert STREAM.lift(sample.document) == sibling.lift({**response, "output": output})


def without_place(item: Any) -> Any:
    """The item without an id that only gives its position."""
    return {key: value for key, value in item.items() if key != "id" or "_output_" not in value}


@pytest.mark.parametrize("size", [0, 3])
def test_a_run_of_gemini_cli_becomes_items_of_calls_and_their_outputs(size: int) -> None:
    source = dialects.get("gemini-cli-stream")
    sample = next(one for one in samples_of(source.name) if one.path.stem == "parallel-calls")
    done = pipeline.convert(sample.document, source, STREAM, Options(chunk=size))
    items = [one["item"] for one in done.document if one["type"] == "response.output_item.done"]
    kinds = ["message", "function_call", "function_call", "function_call_output", "function_call_output", "message"]
    assert [item["type"] for item in items] == kinds
    assert [item["call_id"] for item in items[1:5]] == [f"get_weather-1-{end}" for end in "abba"]
    assert schemas.findings(STREAM.name, done.document) == []
    results = [part for part in parts_of(STREAM.lift(done.document)) if isinstance(part, ToolResult)]
    assert [result.value for result in results] == ['{"error":"station offline"}', "22 °C"]
    assert parts_of(STREAM.lift(done.document))[-1] == Text("22 °C in Tokyo; Osaka is unknown.")


def test_every_event_names_an_item_the_same_and_a_positional_name_is_not_read() -> None:
    response = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    done = pipeline.convert(response, dialects.get("anthropic"), dialects.get("openai-responses-stream"))
    items = {row["output_index"]: row["item"]["id"] for row in done.document if "item" in row}
    assert items == {0: "msg_output_0", 1: "fc_output_1"}
    assert [item["id"] for item in done.document[-1]["response"]["output"]] == list(items.values())
    assert {(row["output_index"], row["item_id"]) for row in done.document if "item_id" in row} == set(items.items())
    whole = pipeline.convert(done.document, dialects.get("openai-responses-stream"), dialects.get("openai-responses"))
    assert [item.get("id") for item in whole.document["output"]] == [None, None]
    assert whole.losses == []


def test_an_item_of_another_type_under_the_same_index_is_another_item() -> None:
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}],
    }
    items = [event("output_item.done", output_index=0, item=item) for item in ({**CALL, "arguments": "{}"}, message)]
    assert [part.type for part in parts_of(lift(*items, completed()))] == ["tool_call", "text"]


def test_a_value_of_the_response_that_comes_again_as_another_is_kept() -> None:
    tiers = [{"object": "response", "service_tier": tier, "output": []} for tier in ("auto", "default")]
    transcript = lift(event("created", response=tiers[0]), event("completed", response=tiers[1]))
    assert (transcript.extras or {})["openai-responses"]["former"] == {"service_tier": ["auto"]}


def test_every_item_of_an_answer_has_an_id_and_results_are_named_by_their_place() -> None:
    call, result = ToolCall("call_1", "f", {}), ToolResult("call_1", "f", "text", "done")
    events = STREAM.lower(Transcript([Message("assistant", [call]), Message("tool", [result])]), Options())
    items = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert [item["id"] for item in items] == ["fc_output_0", "item_output_1"]
    assert events[-1]["response"]["output"] == items
    assert [part.metadata for message in STREAM.lift(events).messages for part in message.parts] == [None, None]


def test_events_of_unknown_types_are_no_part_of_a_response_and_are_reported_one_by_one() -> None:
    """The API's Response has no key for them; the text in one is content, progress is not."""
    steer = event("steer.added", text="Please check the tests of the parser too.")
    progress = event("shell_call.waiting", shell="sh_1")
    created, done = (event(kind, response={"id": "r", "output": []}) for kind in ("created", "completed"))
    document = Rows([created, progress, steer, done])
    assert [finding.where for finding in pipeline.validate(document, STREAM)] == ["/2"]
    for target in ("openai-responses", "openai-chat"):
        converted = pipeline.convert(document, STREAM, dialects.get(target))
        lost = [loss for loss in converted.losses if loss.field == "extras.openai-responses.events"]
        assert [(loss.level, loss.before) for loss in lost] == [("content", [progress, steer])]
        assert "unknown-content" in {finding.code for finding in converted.findings}
        assert "events" not in converted.document
    transcript = STREAM.lift(document)
    assert STREAM.lower(transcript)[1:3] == [{**each, "sequence_number": i} for i, each in ((1, progress), (2, steer))]


def test_a_summary_without_text_has_no_event_that_gives_it_one() -> None:
    summary = [{"type": "summary_text", "text": "Think."}, {"type": "summary_text"}]
    item = {"type": "reasoning", "id": "rs_1", "summary": summary}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": [item, message]}
    assert_writes(dialects.get("openai-responses-stream"), dialects.get("openai-responses").lift(response))
    assert_same(dialects.get("openai-responses-stream"), Rows([{"type": "response.completed", "response": response}]))
