"""What is not of a dialect is refused, and the finding says what it looks like."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline, reading
from convcli.model.document import Rows
from convcli.model.errors import RefusedError

CHAT, SESSION = dialects.get("openai-chat"), dialects.get("openclaw")


def test_a_document_that_its_schema_refuses_is_not_lifted() -> None:
    with pytest.raises(RefusedError) as refused:
        reading.lift({"messages": [{"role": "user", "content": 7}]}, CHAT)
    assert [finding.where for finding in refused.value.findings] == ["/messages/0/content"]


@pytest.mark.parametrize(
    ("count", "words"), [(1, "the only record is not a message"), (3, "none of 3 records is a message")]
)
def test_records_of_another_program_are_refused_and_shown_by_their_keys_alone(count: int, words: str) -> None:
    rows = Rows([{"timestamp": "2026", "type": "secret", "a key with spaces": 1}] * count)
    with pytest.raises(RefusedError, match=words) as refused:
        reading.lift(rows, SESSION)
    assert refused.value.code == "no-messages"
    assert refused.value.exit_code == 1
    assert refused.value.findings[0].notes == ('the first is an object with the keys "timestamp", "type"',)


def test_a_session_that_went_back_behind_all_that_was_said_is_refused_at_its_last_record() -> None:
    said = {"id": "m", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": "Hi."}
    rows = Rows([{"sessionId": "s", "projectHash": "p", "startTime": "t"}, said, {"$rewindTo": "nobody"}])
    with pytest.raises(RefusedError, match="the only message of this session was rolled back") as refused:
        reading.lift(rows, dialects.get("gemini-cli"))
    assert [(finding.code, finding.where) for finding in refused.value.findings] == [("no-messages", "/2")]


def test_rows_of_another_program_were_never_taken_back() -> None:
    row = {
        "type": "user",
        "sessionId": "s",
        "uuid": "u",
        "parentUuid": None,
        "message": {"role": "user", "content": "Hi."},
    }
    with pytest.raises(RefusedError, match="the only record is not a message of Gemini CLI"):
        reading.lift(Rows([row]), dialects.get("gemini-cli"))


INFO = {"id": "i", "timestamp": "2026-01-01T00:00:00Z", "type": "info", "content": "Updated."}
EVENTS_ONLY = [
    ("gemini-cli", {"sessionId": "s", "projectHash": "p", "messages": [INFO]}),
    (
        "codex",
        Rows(
            [
                {"type": "session_meta", "timestamp": "t", "payload": {"id": "x", "cli_version": "1"}},
                {"type": "event_msg", "timestamp": "t", "payload": {"type": "user_message", "message": "Hi."}},
            ]
        ),
    ),
    (
        "openclaw",
        Rows(
            [
                {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"},
                {"type": "model_change", "id": "a", "parentId": None, "timestamp": "2026-01-01T00:00:00Z"}
                | {"provider": "p", "modelId": "m"},
            ]
        ),
    ),
]


@pytest.mark.parametrize(("name", "document"), EVENTS_ONLY, ids=[name for name, _ in EVENTS_ONLY])
def test_a_session_of_events_alone_is_refused_though_its_dialect_is_the_right_one(name: str, document: Any) -> None:
    assert detection.detect(document).dialect == name
    with pytest.raises(RefusedError) as refused:
        reading.lift(document, dialects.get(name))
    assert refused.value.code == "no-messages"
    assert "this session has no messages" in refused.value.findings[0].help


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (EVENTS_ONLY[1][1], "this looks like codex (a session_meta header)"),
        (Rows([{"type": "session_start", "id": "s"}]), "this looks like droid (the first row has type session_start)"),
        (
            Rows([{"type": "SPAN", "id": "s", "traceId": "t"}]),
            "this looks like a Langfuse trace, which may contain transcripts: --at langfuse reads the transcripts",
        ),
    ],
)
def test_a_wrong_name_is_told_the_right_one(document: Any, words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        reading.lift(document, SESSION)
    assert refused.value.findings[0].help.startswith(words)


@pytest.mark.parametrize(
    ("document", "named", "words"),
    [
        (
            {"messages": [{"role": "tool", "tool_call_id": "c", "content": "22"}]},
            "sharegpt",
            "this looks like openai-c",
        ),
        (
            Rows([{"messages": [{"role": "tool", "tool_call_id": "c", "content": "22"}]}]),
            "hf-trace",
            "this looks like openai-chat (",
        ),
        ({"conversations": [{"from": "human", "value": "Hi."}]}, "openai-chat", "this looks like sharegpt ("),
        (
            {"trace": {}, "observations": []},
            "gemini",
            "this looks like a Langfuse trace, which may contain transcripts",
        ),
    ],
)
def test_a_document_that_its_schema_refuses_is_reported_what_it_looks_like(
    document: Any, named: str, words: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        reading.lift(document, dialects.get(named))
    assert refused.value.findings[0].help.startswith(words)
    assert pipeline.validate(document, dialects.get(named))[0].help.startswith(words)


def test_a_document_of_the_dialect_that_is_broken_is_not_taken_for_another() -> None:
    broken = {"conversations": [{"from": "human", "value": "Hi."}, {"from": 3}]}
    assert "looks like" not in pipeline.validate(broken, dialects.get("sharegpt"))[0].help


def test_the_transcript_knows_the_document_that_it_was_lifted_from() -> None:
    document: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi."}]}
    transcript = reading.lift(document, CHAT)
    assert transcript.origin is not None
    assert transcript.origin.document is document
