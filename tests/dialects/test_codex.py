"""Codex: rollouts of both generations, what their events state, and rollouts written from other dialects."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from tests.support import samples_of

CODEX = dialects.get("codex")
CHAT = dialects.get("openai-chat")


def sample(name: str) -> Any:
    return copy.deepcopy(next(one.document for one in samples_of("codex") if one.path.name == name))


def lifted(name: str) -> Transcript:
    return CODEX.lift(sample(name))


def answers(transcript: Transcript) -> list[Message]:
    return [message for message in transcript.messages if message.role == "assistant"]


def results(transcript: Transcript) -> list[ToolResult]:
    return [part for message in transcript.messages for part in message.parts if isinstance(part, ToolResult)]


def rows(transcript: Transcript) -> list[Any]:
    document: list[Any] = pipeline.lower(transcript, CODEX).document
    return document


def payloads(transcript: Transcript, kind: str) -> list[Any]:
    return [row["payload"] for row in rows(transcript) if row["type"] == kind]


def transcript_of(*messages: Message, **fields: Any) -> Transcript:
    return Transcript([Message("user", [Text("Hi.")]), *messages], **fields)


# ---------------------------------------------------------------- reading


def test_items_of_one_response_are_one_answer_and_rows_for_the_screen_do_not_part_them() -> None:
    first = answers(lifted("session-events.jsonl"))[0]
    assert [part.type for part in first.parts] == ["reasoning", "text", "tool_call", "tool_call"]
    assert first.usage == {"inputTokens": 3000, "outputTokens": 120, "reasoningTokens": 64, "totalTokens": 3120}
    assert first.model == "gpt-5.2-codex"


def test_usage_that_a_row_repeats_is_counted_once() -> None:
    totals = [(message.usage or {}).get("totalTokens") for message in answers(lifted("session-events.jsonl"))]
    assert totals == [3120, 3280, 3340, None]


def test_the_provider_of_all_answers_is_in_the_header_and_no_other_is_written() -> None:
    providers = {answer.provider for answer in answers(lifted("session-events.jsonl"))}
    assert len(providers) == 1
    assert None not in providers
    conversion = pipeline.lower(transcript_of(Message("assistant", [Text("Hi")], provider="somebody")), CODEX)
    assert "model_provider" not in conversion.document[0]["payload"]
    assert [loss.kind for loss in conversion.losses if loss.field == "message.provider"] == ["dropped"]


def test_a_failure_is_stated_by_an_event_or_by_an_exit_code_and_never_by_text() -> None:
    assert [result.kind for result in results(lifted("session-events.jsonl"))] == [
        "error",
        "multimodal",
        "error",
        "text",
    ]
    assert [result.kind for result in results(lifted("session-bare.jsonl"))] == ["error", "text", "text"]
    document = sample("session-paginated.jsonl")
    assert [result.kind for result in results(CODEX.lift(document))] == ["text", "error", "text"]
    del document[15]
    assert "code 1" in results(CODEX.lift(document))[1].value
    assert results(CODEX.lift(document))[1].kind == "text"


def test_a_command_that_the_user_declined_did_not_fail() -> None:
    document = sample("session-paginated.jsonl")
    document[15]["payload"]["item"] |= {"status": "declined", "exit_code": -1}
    assert results(CODEX.lift(document))[1].kind == "text"


def test_an_event_that_only_repeats_an_item_is_none() -> None:
    parts = [part for message in lifted("session-events.jsonl").messages for part in message.parts]
    kinds = {part.value["payload"].get("type") for part in parts if isinstance(part, Opaque)}
    assert "token_count" in kinds
    assert kinds.isdisjoint({"user_message", "agent_message", "agent_reasoning"})


@pytest.mark.parametrize("change", [{"message": "Other."}, {"memory_citation": {"path": "a"}}, {"phase": "commentary"}])
def test_an_event_with_more_content_than_its_item_stays(change: dict[str, Any]) -> None:
    document = sample("session-compacted.jsonl")
    document[7]["payload"] |= change
    kept = [message for message in CODEX.lift(document).messages if message.role == "event"]
    assert any(isinstance(part, Opaque) and part.value == document[7] for message in kept for part in message.parts)


def test_the_time_of_an_event_that_repeats_an_item_is_kept_where_it_is_another() -> None:
    transcript = lifted("session-compacted.jsonl")
    user = transcript.messages[2]
    assert user.extras == {"codex": {"row": {"shown": ["2026-04-20T09:00:00.148Z"]}}}
    written = CODEX.lower(transcript)
    assert [row["timestamp"] for row in written[2:4]] == ["2026-04-20T09:00:00.111Z", "2026-04-20T09:00:00.148Z"]


def test_a_compaction_is_what_the_model_sees_from_there_on() -> None:
    transcript = lifted("session-compacted.jsonl")
    starts = [index for index, message in enumerate(transcript.messages) if message.replaces == "all"]
    texts = [transcript.messages[index].parts[0].text for index in starts]  # type: ignore[union-attr]
    assert texts == ["Draw the coast.", "Now the hills.", "An atlas with coast, rivers and named hills."]
    assert isinstance(transcript.messages[starts[1] + 1].parts[0], Opaque)
    again = [row for row in CODEX.lower(transcript) if row["type"] == "compacted"]
    assert [len(row["payload"]["replacement_history"]) for row in again] == [3, 2, 1]


SUMMARY = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "A coast."}]}


@pytest.mark.parametrize(
    ("history", "text"),
    [
        ([], "An atlas."),
        ([{"id": "summary-1"}], "An atlas."),
        ([{"type": "sketch"}], "An atlas."),
        ([SUMMARY, {"type": "sketch"}], "A coast."),
        ([{"type": "sketch"}, SUMMARY, {"id": "summary-1"}], "A coast."),
    ],
)
def test_a_compaction_is_written_with_the_items_that_the_program_sends(history: list[Any], text: str) -> None:
    compaction = {"message": "An atlas.", "replacement_history": history}
    document = Rows(
        [*sample("session-events.jsonl")[:1], {"timestamp": "T", "type": "compacted", "payload": compaction}]
    )
    transcript = CODEX.lift(document)
    assert [part.text for part in transcript.messages[-1].parts if isinstance(part, Text)] == [text]
    [payload] = payloads(transcript, "compacted")
    assert [item["content"][0]["text"] for item in payload["replacement_history"]] == [text]
    assert CODEX.write(transcript, Options())[-1] == document[-1]


def test_turns_that_were_rolled_back_are_events() -> None:
    transcript = lifted("session-taken-back.jsonl")
    asked = [message for message in transcript.messages if message.role == "user"]
    texts = [message.parts[0].text for message in asked if isinstance(message.parts[0], Text)]
    assert texts == ["How many otters?", "And the seals?"]
    assert transcript.origin is not None
    assert len(transcript.origin.rolled_back) == 10


def test_a_shell_command_of_the_first_kind_is_a_call() -> None:
    transcript = lifted("session-taken-back.jsonl")
    call = next(p for m in answers(transcript) for p in m.parts if isinstance(p, ToolCall) and p.name == "local_shell")
    assert (call.id, call.arguments["command"]) == ("call_ls", ["ls", "seals"])
    items = [row["payload"] for row in CODEX.lower(transcript) if row["type"] == "response_item"]
    written = next(item for item in items if item["type"] == "local_shell_call")
    assert written["action"] == call.arguments


def test_older_generations_are_read_and_written_as_the_newer() -> None:
    for name in ("session-bare.jsonl", "session-items.json"):
        transcript = lifted(name)
        assert transcript.id == rows(transcript)[0]["payload"]["id"]
        assert rows(transcript)[0]["type"] == "session_meta"
    assert lifted("session-bare.jsonl").extras["codex"]["header"]["instructions"] == "Write short tests."  # type: ignore[index]


def test_a_report_of_codex_exec_is_no_session() -> None:
    report = Rows([{"type": "thread.started", "thread_id": "a"}, {"type": "turn.started"}])
    assert [name for name, _ in detection.candidates(report)] == ["codex-exec"]
    with pytest.raises(RefusedError) as caught:
        pipeline.convert(report, CODEX, CHAT)
    assert caught.value.code == "no-messages"


def test_a_loss_in_an_item_with_a_row_of_its_own_points_to_that_row() -> None:
    losses = pipeline.convert(sample("session-events.jsonl"), CODEX, CHAT).losses
    assert {loss.where for loss in losses if loss.field == "reasoning"} >= {"/10/payload", "/20/payload"}


# ---------------------------------------------------------------- writing


def test_a_rollout_from_another_dialect_has_all_that_the_program_requires() -> None:
    transcript = transcript_of(Message("assistant", [Text("Hello.")]), tools=[ToolDefinition("f")])
    document = rows(transcript)
    assert pipeline.validate(document, CODEX, purpose="request") == []
    assert document[0]["payload"]["dynamic_tools"] == [
        {"name": "f", "description": "", "inputSchema": {"type": "object", "properties": {}}}
    ]
    assert rows(transcript)[0]["payload"]["id"] == document[0]["payload"]["id"]


def test_the_first_instructions_are_in_the_header_and_others_are_developer_messages() -> None:
    transcript = Transcript([Message("system", [Text("a"), Text("b")]), Message("system", [Text("c")])])
    assert payloads(transcript, "session_meta")[0]["base_instructions"] == {"text": "a\n\nb"}
    assert [item["role"] for item in payloads(transcript, "response_item")] == ["developer"]


def test_what_would_cost_a_whole_message_is_left_out() -> None:
    parts = [Text("See."), Media("document", data="YQ=="), Media("image", file_id="f"), Media("image", url="https://a")]
    items = payloads(Transcript([Message("user", parts), Message("assistant", [Refusal("No.")])]), "response_item")  # type: ignore[arg-type]
    assert [part["type"] for part in items[0]["content"]] == ["input_text", "input_image"]
    assert items[1]["content"] == [{"type": "output_text", "text": "No."}]


def test_reasoning_from_other_dialects_is_dropped() -> None:
    answer = Message("assistant", [Reasoning("Hm.", metadata={"signature": "s"}), Text("Yes.")])
    assert [item["type"] for item in payloads(transcript_of(answer), "response_item")] == ["message", "message"]


def test_a_failure_of_others_is_written_into_the_text_and_one_that_an_event_states_is_not() -> None:
    call, failed = ToolCall("c", "f", {}), ToolResult("c", "f", "error", "no")
    foreign = transcript_of(Message("assistant", [call]), Message("tool", [failed]))
    assert payloads(foreign, "response_item")[-1]["output"] == '{"error":"no"}'
    row = {"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c", "exit_code": 1}}
    own = transcript_of(
        Message("assistant", [call]), Message("event", [Opaque("codex", row)]), Message("tool", [failed])
    )
    assert payloads(own, "response_item")[-1]["output"] == "no"


def test_model_and_usage_are_stated_once() -> None:
    usage = {"inputTokens": 5, "outputTokens": 2}
    first = Message("assistant", [Text("One.")], model="m", usage=usage)
    second = Message("assistant", [Text("Two.")], model="m", usage=usage)
    transcript = transcript_of(first, Message("user", [Text("More.")]), second)
    assert payloads(transcript, "turn_context") == [{"model": "m"}]
    counts = [event["info"] for event in payloads(transcript, "event_msg") if event["type"] == "token_count"]
    assert [count["total_token_usage"]["input_tokens"] for count in counts] == [5, 10]
    again = CODEX.lift(rows(transcript))
    assert [message.usage for message in answers(again)] == [usage, usage]
    assert not [message for message in again.messages if message.role == "event"]


def test_what_events_state_is_not_stated_again() -> None:
    for name in ("session-events.jsonl", "session-paginated.jsonl", "session-compacted.jsonl"):
        document = sample(name)
        for kind in ("turn_context", "token_usage_record"):
            written = [row for row in CODEX.lower(CODEX.lift(document)) if row["type"] == kind]
            assert len(written) == len([row for row in document if row["type"] == kind])


def test_rows_of_a_paginated_history_are_numbered_and_not_shown_twice() -> None:
    written = CODEX.lower(lifted("session-paginated.jsonl"))
    assert [row["ordinal"] for row in written] == list(range(len(written)))
    kinds = {row["payload"].get("type") for row in written}
    assert kinds.isdisjoint({"user_message", "agent_message"})


def test_an_event_whose_row_would_be_read_as_a_message_is_left_out() -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it."}]}
    event = Message("event", [Opaque("codex", {"type": "response_item", "payload": item})])
    assert len(payloads(transcript_of(event), "response_item")) == 1


def test_a_compaction_of_others_is_a_row_of_its_own() -> None:
    transcript = transcript_of(Message("user", [Text("All so far.")], replaces="m1"), Message("user", [Text("Go on.")]))
    payload = payloads(transcript, "compacted")[0]
    assert payload["message"] == "All so far."
    assert [item["content"][0]["text"] for item in payload["replacement_history"]] == ["All so far."]
    assert [message.replaces for message in CODEX.lift(rows(transcript)).messages] == [None, "all", None]


def test_two_calls_of_one_answer_get_ids_of_their_own_and_those_of_two_answers_keep_theirs() -> None:
    two = transcript_of(Message("assistant", [ToolCall("c", "f", {}), ToolCall("c", "g", {})]))
    assert len({item["call_id"] for item in payloads(two, "response_item")[1:]}) == 2
    apart = lifted("rules-kept.jsonl")
    ids = [item.get("call_id") for item in payloads(apart, "response_item") if item["type"] == "function_call"]
    assert ids[:2] == ["call_1", "call_1"]


def test_a_part_of_an_unknown_kind_is_written_as_it_was_though_its_annotations_say_nothing() -> None:
    part = {"type": "note", "annotations": [], "detail": "auto"}
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}, part]}
    document = Rows([*sample("session-events.jsonl")[:1], {"timestamp": "T", "type": "response_item", "payload": item}])
    (written,) = payloads(CODEX.lift(document), "response_item")
    assert written["content"] == item["content"]


def test_the_time_of_a_session_is_lost_at_its_row() -> None:
    rows_ = sample("twin-weather.jsonl")
    rows_[0]["payload"].pop("timestamp")
    losses = pipeline.convert(rows_, CODEX, CHAT).losses
    assert [loss.where for loss in losses if loss.field == "createdAt"] == ["/0/timestamp"]


def test_a_row_between_agents_whose_payload_is_no_object_is_an_event() -> None:
    document = [*samples_of("codex")[0].document, {"timestamp": "", "type": "inter_agent_communication", "payload": []}]
    assert dialects.get("codex").lift(Rows(document)).messages[-1].role == "event"
