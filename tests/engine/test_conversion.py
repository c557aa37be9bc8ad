"""What is not read back is reported."""

from __future__ import annotations

import pickle

import pytest
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import conversion, pipeline
from convcli.model.dialect import Options
from convcli.model.errors import JobError
from convcli.model.transcript import Message, Text, Transcript

CHAT, SESSION = dialects.get("openai-chat"), dialects.get("openclaw")


def test_what_is_not_read_back_is_a_loss_at_its_place() -> None:
    transcript = Transcript([Message("user", [Text("Hi.")])], title="t")
    done = conversion.lower(transcript, CHAT)
    assert [(loss.kind, loss.field, loss.where) for loss in done.losses] == [("dropped", "title", "/title")]
    assert done.transcript is transcript


def test_a_conversion_goes_through_a_pickle_with_losses_that_nobody_has_read() -> None:
    done, same = (conversion.lower(Transcript([Message("user", [Text("Hi.")])], title="t"), CHAT) for _ in range(2))
    copy = pickle.loads(pickle.dumps(done))
    assert (copy.document, copy.transcript, copy.losses) == (same.document, same.transcript, same.losses)


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
    why = "the model is sent a summary in its place"
    assert gone == [(f"/messages/{index}", "dropped", "content", why) for index in (0, 1)]
    whole = conversion.lower(Transcript(messages), CHAT)
    assert [message["content"] for message in whole.document["messages"]] == list(texts)
    assert "history" not in {loss.field for loss in whole.losses}


def test_a_dialect_that_is_only_read_is_no_target() -> None:
    with pytest.raises(JobError, match="read-only"):
        conversion.lower(Transcript([]), replace(CHAT, write=None))


def test_an_output_without_a_message_is_reported() -> None:
    file = {"type": "file", "file": {"filename": "a.pdf", "file_data": "JVBERi0="}}
    document = {"messages": [{"role": "user", "content": [file]}]}
    written = pipeline.convert(document, CHAT, dialects.get("google-adk"))
    assert [(finding.code, finding.severity, finding.where) for finding in written.findings] == [
        ("no-messages", "error", "")
    ]


def test_a_part_of_an_unknown_type_that_is_written_as_it_is_is_reported_at_its_place_in_the_source() -> None:
    document = {"contents": [{"role": "user", "parts": [{"text": "Hi."}, {"something": {"new": True}}]}]}
    written = pipeline.convert(document, dialects.get("gemini"), dialects.get("vertexai"))
    assert [(finding.code, finding.where) for finding in written.findings] == [
        ("unknown-type", "/contents/0/parts/1/something")
    ]
