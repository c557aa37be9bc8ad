"""Strands Agents: sessions, redactions, bytes in objects, and what Converse does not store."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.strands import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

CONVERSE = dialects.get("bedrock-converse")
CACHE = {"cachePoint": {"type": "default"}}


def sample(name: str) -> Any:
    return next(one.document for one in samples_of("strands") if one.path.name == name)


def session(*messages: Any, **rows: Any) -> dict[str, Any]:
    return {"messages": [{"message": one, "message_id": i, "redact_message": None} for i, one in enumerate(messages)]}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def written(*messages: Message, form: str = "session") -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(form=form))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_a_recorded_session_states_times_ids_and_token_counts() -> None:
    transcript = DIALECT.lift(sample("recorded.json"))
    assert (transcript.id, transcript.created_at) == ("recorded", "2026-11-27T08:00:00.000000+00:00")
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    answer = transcript.messages[-1]
    assert answer.usage == {"inputTokens": 40, "outputTokens": 9, "totalTokens": 39, "cacheReadTokens": 10}
    assert transcript.messages[1].id == "0f8fad5b-d9cb-469f-a165-70867728950e"
    assert transcript.messages[3].parts == [ToolResult("t2", "get_weather", "data", {"code": 503}, is_error=True)]


def test_a_redaction_is_read_and_the_original_comes_back() -> None:
    document = sample("redacted.json")
    assert DIALECT.lift(document).messages[0].parts == [Text("[User input redacted.]")]
    assert pipeline.convert(document, DIALECT, DIALECT).document == document
    assert "A blocked question" not in str(pipeline.convert(document, DIALECT, CONVERSE).document)


def test_numbers_of_a_window_are_kept_and_others_grow() -> None:
    transcript = DIALECT.lift(sample("window.json"))
    transcript.messages.append(Message("user", [Text("More?")]))
    document = pipeline.lower(transcript, DIALECT).document
    assert [row["message_id"] for row in document["messages"]] == [6, 7, 8, 9]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"image": {"format": "png", "source": {"bytes": {"__bytes_encoded__": True, "data": "iVBORw=="}}}},
            Media("image", "iVBORw==", media_type="image/png"),
        ),
        (
            {"video": {"format": "mp4", "source": {"location": {"type": "s3", "uri": "s3://a/b.mp4"}}}},
            Media("video", url="s3://a/b.mp4", media_type="video/mp4"),
        ),
    ],
)
def test_bytes_are_an_object_and_a_file_in_s3_a_location(block: Any, part: Media) -> None:
    assert DIALECT.lift(session(user(block))).messages == [Message("user", [part])]
    assert written(Message("user", [part])) == (session(user(block)), set())


def test_a_location_of_another_type_is_kept() -> None:
    native = session(user({"image": {"format": "png", "source": {"location": {"type": "gcs"}}}}))
    assert [part.type for part in DIALECT.lift(native).messages[0].parts] == ["opaque"]
    assert pipeline.convert(native, DIALECT, DIALECT).document == native


def test_a_result_states_its_status_and_reasoning_needs_no_signature() -> None:
    call = Message("assistant", [Reasoning("Hm."), ToolCall("c1", "f", {})])
    document, losses = written(call, Message("tool", [ToolResult("c1", "f", "text", "1")]))
    assert document["messages"][0]["message"]["content"][0] == {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
    assert document["messages"][1]["message"]["content"] == [
        {"toolResult": {"toolUseId": "c1", "content": [{"text": "1"}], "status": "success"}}
    ]
    assert not losses


def test_instructions_are_dropped_and_a_text_document_is_written_as_bytes() -> None:
    notes = Media("document", text="Hi.", media_type="text/plain", name="notes")
    document, losses = written(Message("system", [Text("Be brief.")]), Message("user", [notes]))
    source = {"bytes": {"__bytes_encoded__": True, "data": "SGku"}}
    assert document == session(user({"document": {"format": "txt", "name": "notes", "source": source}}))
    assert losses == {"dropped message", "dropped text", "dropped document.text", "invented document.data"}


def test_converse_gets_the_blocks_and_none_of_the_keys_of_a_session() -> None:
    document = pipeline.convert(sample("media.json"), DIALECT, CONVERSE).document
    assert set(document) == {"messages"}
    assert set(document["messages"][0]) == {"role", "content"}
    assert document["messages"][0]["content"][-1] == CACHE
    back = pipeline.convert(document, CONVERSE, DIALECT).document
    assert back["messages"][0]["message"]["content"][-1] == CACHE


def test_a_list_of_messages_is_recognized_by_its_ids() -> None:
    assert detection.detect(sample("list.json")).dialect == "strands"
    assert detection.detect([user({"text": "Hi."})]).dialect == "bedrock-converse"
    document, losses = written(Message("user", [Text("Hi.")], id="m1"), form="list")
    assert document == [{"role": "user", "content": [{"text": "Hi."}], "tracking_id": "m1"}]
    assert not losses
