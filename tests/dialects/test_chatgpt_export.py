"""Exports of ChatGPT: the tree of nodes, calls without ids, contents of each type, and files of many conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.jobs.documents import Document, Skipped
from convcli.jobs.inputs import opened
from convcli.model.branches import active
from convcli.model.errors import JobError
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

EXPORT, CHAT, HUB = (dialects.get(name) for name in ("chatgpt-export", "openai-chat", "intermediate"))


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("chatgpt-export") if sample.path.name == name)


def lifted(name: str) -> Transcript:
    return EXPORT.lift(sample(name))


def parts(transcript: Transcript, kind: type) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts if isinstance(part, kind)]


def conversation(*nodes: tuple[str, str | None, Any], current: str | None = None) -> dict[str, Any]:
    """A conversation of nodes: their id, parent and message."""
    mapping = {id_: {"id": id_, "parent": parent, "children": [], "message": one} for id_, parent, one in nodes}
    return {"mapping": mapping, "current_node": current}


def node_message(text: str = "Hi.", role: str = "user", **more: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **more}


def lift_message(**native: Any) -> Message:
    return EXPORT.lift(conversation(("m", None, node_message(**native)))).messages[0]


# ---------------------------------------------------------------- the tree


def test_a_conversation_has_its_id_title_times_and_model() -> None:
    transcript = lifted("plain.json")
    assert (transcript.id, transcript.title, transcript.model) == ("c-tides", "Tides in the bay", "gpt-4o")
    assert transcript.created_at == "2026-01-01T10:00:00.125000Z"
    assert [message.created_at for message in transcript.messages] == [
        "2026-01-01T10:00:00.125000Z",
        "2026-01-01T10:00:01.625000Z",
    ]


def test_nodes_without_a_message_are_gone_through() -> None:
    messages = lifted("odd.json").messages
    assert [(one.id, one.parent_id) for one in messages][:3] == [("u1", None), ("a1", "u1"), ("k1", "a1")]


def test_parents_stand_before_their_children_wherever_their_nodes_do() -> None:
    transcript = lifted("branches.json")
    assert [message.id for message in transcript.messages] == ["u1", "a0", "a1", "u2"]
    assert transcript.head == "a0"
    assert [message.id for message in active(transcript)] == ["u1", "a0"]


@pytest.mark.parametrize(
    ("current", "head"), [("b", None), ("a", "a"), (None, None), ("gone", None), ("root", None)], ids=str
)
def test_a_line_has_a_head_only_where_it_is_not_its_end(current: str | None, head: str | None) -> None:
    document = conversation(
        ("root", None, None), ("a", "root", node_message()), ("b", "a", node_message()), current=current
    )
    assert EXPORT.lift(document).head == head


def test_without_a_current_node_the_last_message_of_a_tree_is_its_head() -> None:
    document = conversation(("a", None, node_message()), ("b", "a", node_message()), ("c", "a", node_message()))
    assert EXPORT.lift(document).head == "c"


def test_a_missing_current_node_is_kept() -> None:
    assert EXPORT.lift(conversation(("a", None, node_message()), current="gone")).extras == {
        "chatgpt-export": {"current_node": "gone"}
    }


def test_children_state_the_parent_of_a_node_that_does_not() -> None:
    document = conversation(("a", None, node_message()), ("b", None, node_message()))
    document["mapping"]["a"]["children"] = ["b"]
    assert [message.parent_id for message in EXPORT.lift(document).messages] == [None, "a"]


# ---------------------------------------------------------------- calls


def test_calls_get_ids_and_results_answer_the_last_call_of_their_tool() -> None:
    transcript = lifted("calls.json")
    assert [(call.id, call.name) for call in parts(transcript, ToolCall)] == [
        ("call_1", "weather.today"),
        ("call_2", "python"),
        ("call_3", "web"),
    ]
    results = parts(transcript, ToolResult)
    assert [(one.tool_call_id, one.name, one.kind, one.value) for one in results] == [
        ("call_1", "weather.today", "text", "22"),
        ("call_2", "python", "text", "2\n"),
        ("call_3", "web.run", "text", "High at noon."),
        ("call_3", "web", "error", "The page did not answer."),
        ("call_3", "web", "text", ""),
    ]


def test_anything_but_a_json_object_is_free_text_for_a_tool() -> None:
    weather, python, web = parts(lifted("calls.json"), ToolCall)
    assert (weather.arguments, weather.custom) == ({"city": "Kobe"}, None)
    assert (python.arguments, python.custom) == ({"input": "print(1 + 1)"}, True)
    assert (web.arguments, web.custom) == ({"input": 'search("tide")'}, True)


@pytest.mark.parametrize(("text", "raw"), [('{"a": ', '{"a": '), ("", None)])
def test_arguments_that_were_broken_off_stay_as_they_are(text: str, raw: str | None) -> None:
    (call,) = lift_message(text=text, role="assistant", recipient="f").parts
    assert call == ToolCall("call_1", "f", {}, raw)


@pytest.mark.parametrize("recipient", ["all", "assistant", None])
def test_a_message_to_all_is_no_call(recipient: str | None) -> None:
    assert lift_message(role="assistant", recipient=recipient).parts == [Text("Hi.")]


def test_a_result_is_not_paired_with_a_call_on_another_branch() -> None:
    call = node_message("{}", "assistant", recipient="f")
    answer = {**node_message("ok", "tool"), "author": {"role": "tool", "name": "f"}}
    transcript = EXPORT.lift(
        conversation(("u", None, node_message()), ("c", "u", call), ("r", "u", answer), current="r")
    )
    (called,), (result,) = parts(transcript, ToolCall), parts(transcript, ToolResult)
    assert result.tool_call_id != called.id


# ---------------------------------------------------------------- contents


def test_custom_instructions_are_a_hidden_text() -> None:
    system, context, *_ = lifted("hidden-and-context.json").messages
    assert (system.role, system.parts, system.weight) == ("system", [], 0)
    assert (context.parts, context.weight) == ([Text("I sail."), Text("Be brief.")], 0)


def test_pointers_to_assets_stay_pointers_with_the_names_of_what_is_attached() -> None:
    asked, *_, last = lifted("images.json").messages
    image, _, notes = asked.parts
    assert isinstance(image, Media)
    assert isinstance(notes, Media)
    assert (image.type, image.file_id, image.name, image.media_type) == (
        "image",
        "file-service://file-A",
        "dot.png",
        "image/png",
    )
    assert (notes.type, notes.file_id, notes.name) == ("document", "file-B", "notes.pdf")
    heard, sound = last.parts
    assert isinstance(heard, Text)
    assert isinstance(sound, Media)
    assert (heard.text, sound.type, sound.file_id) == ("Thank you.", "audio", "sediment://file_D")


def test_the_messages_of_a_tool_are_results_of_one_call() -> None:
    drawn, shown = parts(lifted("images.json"), ToolResult)
    assert drawn.tool_call_id == shown.tool_call_id == "call_1"
    assert (drawn.kind, drawn.value[0].file_id) == ("multimodal", "sediment://file_C")
    assert (shown.kind, shown.value) == ("text", "The image is shown.")


def test_thoughts_are_reasoning_and_a_recap_is_only_its_summary() -> None:
    first, second, recap = parts(lifted("thoughts.json"), Reasoning)
    assert (first.text, first.summary) == ("About 384,400 km.", ["Recalling"])
    assert (second.text, second.summary) == ("Round it.", None)
    assert (recap.text, recap.summary) == ("", ["Thought for 3 seconds"])


@pytest.mark.parametrize(
    "content",
    [
        {"content_type": "starlight", "brightness": 3},
        {"content_type": "code", "text": 3},
        {"content_type": "thoughts"},
        {"content_type": "reasoning_recap"},
        {"content_type": "computer_output"},
        {"content_type": "user_editable_context", "user_profile": 3},
    ],
)
def test_a_content_that_is_not_understood_is_kept_whole(content: Any) -> None:
    assert lift_message(role="assistant", content=content).parts == [Opaque("chatgpt-export", content)]
    answer = EXPORT.lift(conversation(("m", None, {"author": {"role": "tool", "name": "f"}, "content": content})))
    assert parts(answer, ToolResult) == [ToolResult("call_1", "f", "data", content)]


@pytest.mark.parametrize(
    ("native", "reason"),
    [
        ({"metadata": {"finish_details": {"type": "stop"}}}, "stop"),
        ({"metadata": {"finish_details": {"type": "max_tokens"}}}, "length"),
        ({"status": "finished_partial_completion"}, "aborted"),
        ({"status": "finished_successfully"}, None),
    ],
)
def test_why_an_answer_ended(native: Any, reason: str | None) -> None:
    assert lift_message(role="assistant", **native).stop_reason == reason


# ---------------------------------------------------------------- files


def test_a_file_is_an_array_and_a_conversation_without_its_tree_does_not_stop_the_others(tmp_path: Path) -> None:
    broken = {"title": "Lost", "create_time": 1.5, "conversation_id": "c"}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([broken, sample("plain.json"), sample("calls.json")]))
    with opened(str(path)) as source:
        documents = list(source)
    assert (source.dialect, source.layout) == (EXPORT, "array")
    assert not any(isinstance(one, Skipped) for one in documents)
    assert [one.at for one in documents if isinstance(one, Document)] == ["/0", "/1", "/2"]
    findings = [[finding.code for finding in pipeline.validate(one, EXPORT)] for one in (broken, sample("plain.json"))]
    assert findings == [["missing-key"], []]


def test_losses_point_into_the_tree() -> None:
    losses = pipeline.convert(sample("branches.json"), EXPORT, CHAT).losses
    places = {(loss.field, loss.where) for loss in losses}
    assert {
        ("branch", "/mapping/a1/message"),
        ("message.parentId", "/mapping/a0/parent"),
        ("message.createdAt", "/mapping/a0/message/create_time"),
    } <= places


def test_it_is_only_read() -> None:
    with pytest.raises(JobError) as caught:
        pipeline.convert(sample("plain.json"), EXPORT, EXPORT)
    assert caught.value.code == "read-only-dialect"


@pytest.mark.parametrize("document", [{"mapping": {"a": 1}}, {"mapping": []}, {"create_time": 1}, []])
def test_other_mappings_are_no_conversations(document: Any) -> None:
    assert detection.evidence(document, EXPORT) is None


def test_an_empty_conversation_is_recognised() -> None:
    document = {"mapping": {}, "create_time": 1.5}
    assert detection.detect(document).dialect == "chatgpt-export"
    assert EXPORT.lift(document).messages == []
