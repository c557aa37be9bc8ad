"""Claude.ai exports: texts and their copies, calls and results without ids, files, and branches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.jobs.documents import Document
from convcli.jobs.inputs import documents
from convcli.model.branches import active
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

EXPORT, CHAT = dialects.get("claude-ai-export"), dialects.get("openai-chat")
NAME = "claude-ai-export"


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of(NAME) if sample.path.name == name)


def lifted(name: str) -> Transcript:
    return EXPORT.lift(sample(name))


def parts(transcript: Transcript, kind: type) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts if isinstance(part, kind)]


def message(**native: Any) -> Message:
    return EXPORT.lift({"chat_messages": [{"sender": "human", **native}]}).messages[0]


def test_a_conversation_has_its_id_title_and_times() -> None:
    transcript = lifted("plain.json")
    assert (transcript.id, transcript.title) == ("u-tides", "Tides")
    assert (transcript.created_at, transcript.updated_at) == ("2026-01-02T10:00:00.123456Z", "2026-01-02T10:05:00Z")
    assert [(one.role, one.id) for one in transcript.messages] == [("user", "m1"), ("assistant", "m2")]


def test_the_copy_of_a_text_is_the_message_if_the_content_is_empty() -> None:
    messages = lifted("texts.json").messages
    texts = [[part.text for part in one.parts if isinstance(part, Text)] for one in messages]
    assert texts == [["Only the copy."], ["The block is empty."], ["Hi ", "there."], ["Done."], []]


def test_a_copy_that_differs_is_kept() -> None:
    extra = [one.extras for one in lifted("texts.json").messages]
    assert extra == [None, None, None, {NAME: {"text": "Done. An artifact stood here."}}, None]


def test_results_answer_the_open_call_of_their_name_in_their_message() -> None:
    transcript = lifted("tools.json")
    assert [(call.id, call.name) for call in parts(transcript, ToolCall)] == [
        ("call_1", "web_search"),
        ("call_2", "clock"),
    ]
    clock, search = parts(transcript, ToolResult)
    assert (clock.tool_call_id, clock.kind, clock.value) == ("call_2", "text", "10:00")
    assert (search.tool_call_id, search.kind) == ("call_1", "data")
    roles = [one.role for one in transcript.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant"]


def test_an_unanswered_call_of_an_earlier_message_gets_no_later_result() -> None:
    transcript = lifted("errors.json")
    lamps = [call.id for call in parts(transcript, ToolCall) if call.name == "lamp"]
    orphan, answer = [one for one in parts(transcript, ToolResult) if one.name == "lamp"]
    assert answer.tool_call_id == lamps[1]
    assert orphan.tool_call_id not in lamps
    assert (answer.kind, answer.is_error) == ("data", True)


def test_results_that_name_their_call_are_paired_by_it() -> None:
    two, one = [one for one in parts(lifted("errors.json"), ToolResult) if one.name == "repl"]
    assert (two.tool_call_id, two.kind, [part.text for part in two.value]) == ("toolu_2", "multimodal", ["2", "done"])
    assert (one.tool_call_id, one.kind, one.value) == ("toolu_1", "error", "division by zero")


def test_thinking_has_what_is_shown_in_its_place() -> None:
    (thought,) = parts(lifted("tools.json"), Reasoning)
    assert (thought.text, thought.summary) == ("Look it up.", ["Looking it up."])


def test_attachments_are_documents_with_their_text_and_files_are_pointers() -> None:
    notes, markdown, empty, image, archive, named = lifted("files.json").messages[0].parts[1:]
    assert isinstance(notes, Media)
    assert (notes.text, notes.name, notes.media_type) == ("Low at six.", "notes.txt", None)
    assert isinstance(markdown, Media)
    assert (markdown.text, markdown.media_type) == ("# A", "text/markdown")
    assert isinstance(image, Media)
    assert (image.type, image.file_id, image.name) == ("image", "f-1", "dot.png")
    assert isinstance(archive, Media)
    assert (archive.type, archive.file_id) == ("document", "f-2")
    assert isinstance(empty, Opaque)
    assert named == Opaque(NAME, {"file_name": "only-a-name.png"})


def test_a_capture_is_a_tree_whose_head_is_its_leaf() -> None:
    transcript = lifted("branches.json")
    assert [one.parent_id for one in transcript.messages] == [None, "m1", "m1"]
    assert [one.id for one in active(transcript)] == ["m1", "m3"]
    assert [one.stop_reason for one in transcript.messages] == [None, "stop", None]
    where = {(loss.field, loss.where) for loss in pipeline.convert(sample("branches.json"), EXPORT, CHAT).losses}
    assert ("branch", "/chat_messages/1") in where


def test_a_leaf_that_is_not_the_last_message_of_a_line_is_kept() -> None:
    transcript = lifted("leaf.json")
    assert transcript.head is None
    assert transcript.extras is not None
    assert transcript.extras[NAME]["current_leaf_message_uuid"] == "m9"


def test_a_block_of_an_old_export_is_kept_as_it_is() -> None:
    block = {"type": "text/markdown", "identifier": "a-1", "title": "Plan"}
    assert message(content=[block]).parts == [Opaque(NAME, block)]


@pytest.mark.parametrize("content", [None, [], [{"type": "text", "text": ""}]])
def test_a_message_may_be_empty(content: Any) -> None:
    assert message(content=content).parts == []


def test_a_file_is_an_array_of_conversations_and_some_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"uuid": "u", "name": "", "chat_messages": []}, sample("plain.json")]))
    found = list(documents(str(path)))
    assert all(isinstance(one, Document) and one.dialect == EXPORT for one in found)
    assert [len(one.lift().messages) for one in found] == [0, 2]


def test_only_messages_with_a_sender_are_certainly_its_own() -> None:
    matches = [
        detection.evidence(each, EXPORT)
        for each in ({"chat_messages": [{"sender": "human"}]}, {"chat_messages": []}, {}, [])
    ]
    assert [match and match.strength for match in matches] == [98, 80, None, None]
