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


# ---------------------------------------------------------------- version 2


def whole(kind: str, id_: str, *texts: str) -> dict[str, object]:
    return {"sessionUpdate": kind, "messageId": id_, "content": [{"type": "text", "text": one} for one in texts]}


def chunk(kind: str, id_: str, text: str) -> dict[str, object]:
    return {"sessionUpdate": kind, "messageId": id_, "content": {"type": "text", "text": text}}


def test_a_session_of_version_2_has_whole_messages_calls_and_results() -> None:
    user, thought, result, last = spoken("version-2")
    assert (user.id, user.parts) == ("u1", [Text("List the files.")])
    assert thought.parts == [
        Reasoning("I must list them."),
        ToolCall("c1", "bash", {"command": "ls"}, extras={"acp": {"title": "List files", "kind": "execute"}}),
    ]
    assert result.parts == [ToolResult("c1", "bash", "text", "a.txt")]
    assert (last.id, last.parts, last.stop_reason) == ("a1", [Text("There is a.txt.")], "stop")


def test_a_whole_message_replaces_what_was_stated_of_it_at_its_place() -> None:
    rows = [
        chunk("agent_message_chunk", "a", "On"),
        whole("user_message", "u", "Hi."),
        whole("agent_message", "a", "Two"),
    ]
    rows += [whole("agent_message", "a", "Three"), chunk("agent_message_chunk", "a", " four")]
    messages = ACP.lift(Rows(rows)).messages
    assert [one.parts for one in messages if one.role == "assistant"] == [[Text("Three")], [Text(" four")]]
    assert [one.role for one in messages] == ["event", "assistant", "user", "event", "assistant"]


def test_a_message_that_is_cleared_is_an_event() -> None:
    rows = [whole("user_message", "u", "Hi."), whole("agent_message", "a", "One"), whole("agent_message", "a")]
    assert [one.role for one in ACP.lift(Rows(rows)).messages] == ["user", "event", "event"]


def test_content_of_a_call_that_never_ends_is_its_result() -> None:
    text = {"type": "content", "content": {"type": "text", "text": "half"}}
    begin = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "name": "f"}
    rows = [begin, {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "1", "content": text}]
    assert ACP.lift(Rows(rows)).messages[1].parts == [ToolResult("1", "f", "text", "half")]


def test_a_cancelled_call_has_failed() -> None:
    rows = [
        whole("user_message", "u", "Hi."),
        {"sessionUpdate": "tool_call_update", "toolCallId": "1", "name": "f", "status": "cancelled", "rawOutput": "no"},
    ]
    assert ACP.lift(Rows(rows)).messages[2].parts == [
        ToolResult("1", "f", "error", "no", extras={"acp": {"status": "cancelled"}})
    ]
