"""Lift refuses what is not of its dialect, and lower tells what does not come back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import conversion
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.errors import JobError, RefusedError
from convcli.model.transcript import Message, Text, Transcript

CHAT, SESSION = dialects.get("openai-chat"), dialects.get("openclaw")


def test_a_document_that_its_schema_refuses_is_not_lifted() -> None:
    with pytest.raises(RefusedError) as refused:
        conversion.lift({"messages": [{"role": "user", "content": 7}]}, CHAT)
    assert [finding.where for finding in refused.value.findings] == ["/messages/0/content"]


@pytest.mark.parametrize(
    ("count", "words"), [(1, "the only record is no message"), (3, "none of 3 records is a message")]
)
def test_records_of_another_program_are_refused_and_shown_by_their_keys_alone(count: int, words: str) -> None:
    rows = Rows([{"timestamp": "2026", "type": "secret", "a key with spaces": 1}] * count)
    with pytest.raises(RefusedError, match=words) as refused:
        conversion.lift(rows, SESSION)
    assert refused.value.code == "no-messages"
    assert refused.value.exit_code == 1
    assert refused.value.findings[0].notes == ('the first of them has the keys "timestamp", "type"',)


def test_the_transcript_knows_the_document_that_it_was_lifted_from() -> None:
    document: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi."}]}
    transcript = conversion.lift(document, CHAT)
    assert transcript.origin is not None
    assert transcript.origin.given is document


def test_what_is_not_read_back_is_a_loss_at_its_place() -> None:
    transcript = Transcript([Message("user", [Text("Hi.")])], title="t")
    done = conversion.lower(transcript, CHAT)
    assert [(loss.kind, loss.field, loss.where) for loss in done.losses] == [("dropped", "title", "/title")]
    assert done.transcript is transcript


def test_of_a_tree_only_the_active_branch_is_written_where_that_is_asked_for() -> None:
    tree = [
        Message("user", [Text(text)], id=text, parent_id=parent)
        for text, parent in (("a", None), ("b", "a"), ("c", "a"))
    ]
    done = conversion.lower(Transcript(tree, head="c"), SESSION, Options(branch="active"))
    read = SESSION.lift(done.document)
    assert [part.text for message in read.messages for part in message.parts if isinstance(part, Text)] == ["a", "c"]
    assert "branch" in [loss.field for loss in done.losses]


def test_of_a_session_with_a_compaction_only_the_context_is_written_where_that_is_asked_for() -> None:
    texts = {"a": None, "b": None, "sum": "all", "c": None}
    messages = [Message("user", [Text(text)], id=text, replaces=replaces) for text, replaces in texts.items()]
    done = conversion.lower(Transcript(messages), CHAT, Options(view="context"))
    assert [message["content"] for message in done.document["messages"]] == ["sum", "c"]
    gone = [(loss.where, loss.kind, loss.level, loss.why) for loss in done.losses if loss.field == "history"]
    why = "a summary stands for it in what a model is sent"
    assert gone == [(f"/messages/{index}", "dropped", "content", why) for index in (0, 1)]
    whole = conversion.lower(Transcript(messages), CHAT)
    assert [message["content"] for message in whole.document["messages"]] == list(texts)
    assert "history" not in {loss.field for loss in whole.losses}


def test_a_dialect_that_is_only_read_is_no_target() -> None:
    with pytest.raises(JobError, match="only read"):
        conversion.lower(Transcript([]), replace(CHAT, write=None))
