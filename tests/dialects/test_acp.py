"""Agent Client Protocol: what is read from session updates."""

from __future__ import annotations

from convcli import dialects
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

ACP = dialects.get("acp")


def lifted(name: str) -> Transcript:
    return ACP.lift(next(one.document for one in samples_of("acp") if one.path.stem == name))


def spoken(name: str) -> list[Message]:
    return [message for message in lifted(name).messages if message.role != "event"]


def test_chunks_become_messages_and_finished_calls_become_results() -> None:
    transcript = lifted("session")
    assert (transcript.id, transcript.cwd) == ("s-1", "/home/user/tides")
    user, answer, first, second, last = spoken("session")
    assert [type(part) for part in user.parts] == [Text, Opaque]
    assert answer.parts[:2] == [Reasoning("Two calls."), Text("I look.")]
    calls = [part for part in answer.parts if isinstance(part, ToolCall)]
    assert [(call.name, call.arguments) for call in calls] == [("ls", {"command": "ls"}), ("read", {"path": "a.csv"})]
    assert first.parts == [ToolResult("c1", "ls", "text", "a.csv")]
    assert second.parts == [ToolResult("c2", "read", "error", "no such file")]
    assert (last.stop_reason, last.usage) == ("stop", {"inputTokens": 40, "outputTokens": 9, "totalTokens": 49})


def test_file_changes_and_raw_outputs_are_data() -> None:
    results = [part for one in spoken("edits") for part in one.parts if isinstance(part, ToolResult)]
    assert [(one.kind, type(one.value)) for one in results] == [("data", list), ("data", dict)]
    assert results[0].extras == {"acp": {"rawOutput": {"lines": 1}}}


def test_a_chunk_that_names_another_message_begins_one() -> None:
    assert [(one.role, one.id) for one in spoken("messages")] == [
        *(("user", "m1"), ("user", "m2")),
        *(("assistant", "m3"), ("assistant", "m4")),
    ]


def test_updates_stand_alone_too() -> None:
    assert [one.role for one in spoken("bare-updates")] == ["user", "assistant"]
    assert lifted("parameters").id == "s-2"


def test_an_update_of_a_running_call_is_an_event() -> None:
    assert [one.role for one in lifted("parameters").messages] == ["user", "assistant", "event"]


def test_a_repeated_end_adds_nothing() -> None:
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed", "rawOutput": "ok"}
    rows = [{"sessionUpdate": "tool_call", "toolCallId": "1", "title": "f"}, done, {**done, "rawOutput": None}]
    assert [one.role for one in ACP.lift(Rows(rows)).messages] == ["assistant", "tool"]
