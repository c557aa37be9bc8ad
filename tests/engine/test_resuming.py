"""A session for another program: each call has one result, and what was added or changed is reported."""

from __future__ import annotations

from convcli import dialects
from convcli.engine.resuming import INTERRUPTED, resumed
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript

CODEX, SESSION = dialects.get("codex"), dialects.get("openclaw")
CONTEXT = Options(branch="active", view="context")
ID = "0c0ffee0-0000-4000-8000-000000000001"


def result(id_: str, value: str = "one") -> Message:
    return Message("tool", [ToolResult(id_, "f", "text", value)])


def call(*ids: str) -> Message:
    return Message("assistant", [ToolCall(id_, "f", {}) for id_ in ids])


def user(text: str = "Go on.") -> Message:
    return Message("user", [Text(text)])


def parts(messages: list[Message]) -> list[tuple[str, ...]]:
    """Returns what is left of a session in Codex's words, and what was reported."""
    conversion = resumed(Transcript(messages, id=ID), CODEX, SESSION, CONTEXT, "/here")
    reported = [f"{loss.kind} {loss.field}" for loss in conversion.losses if loss.level == "content"]
    read = CODEX.lift(conversion.document)
    lines = [
        (part.type, part.tool_call_id, str(part.value))
        if isinstance(part, ToolResult)
        else (part.type, part.id)
        if isinstance(part, ToolCall)
        else (part.type, getattr(part, "text", ""))
        for message in read.messages
        for part in message.parts
    ]
    return [*lines, ("told", *reported)]


def test_paired_calls_stay_as_they_are() -> None:
    assert parts([user(), call("a"), result("a")]) == [
        ("text", "Go on."),
        ("tool_call", "a"),
        ("tool_result", "a", "one"),
        ("told",),
    ]


def test_a_call_without_a_result_gets_one_that_says_so_and_it_is_reported() -> None:
    assert parts([user(), call("a", "b"), result("a"), user("Well?")]) == [
        ("text", "Go on."),
        ("tool_call", "a"),
        ("tool_call", "b"),
        ("tool_result", "a", "one"),
        ("tool_result", "b", f'{{"error":"{INTERRUPTED}"}}'),
        ("text", "Well?"),
        ("told", "invented message"),
    ]


def test_a_result_of_an_earlier_turn_does_not_hide_an_open_call_with_the_same_id() -> None:
    called = [user(), result("a", "cut off"), call("a"), result("a"), call("a")]
    written = [part[0] for part in parts(called)]
    assert written == ["text", "text", "tool_call", "tool_result", "tool_call", "tool_result", "told"]


def test_a_result_that_answers_no_call_is_written_as_text() -> None:
    found = parts([user(), call("a"), result("a"), result("a", "two"), result("b", "three")])
    assert found[2:-1] == [("tool_result", "a", "one"), ("text", "Result of f: two"), ("text", "Result of f: three")]
    assert found[-1].count("dropped tool_result") == 2


def test_the_directory_is_the_new_one_and_an_id_that_is_no_uuid_is_replaced() -> None:
    transcript = Transcript([user()], id="../../x", cwd="/there")
    conversion = resumed(transcript, CODEX, SESSION, CONTEXT, "/here")
    read = CODEX.lift(conversion.document)
    assert read.cwd == "/here"
    assert read.id not in (None, "../../x")
    assert {"id", "cwd"} <= {loss.field for loss in conversion.losses}


def test_only_the_context_goes_on() -> None:
    summary = Message("user", [Text("In short.")], replaces="all")
    found = parts([user("Old."), summary, user("New.")])
    assert ("text", "Old.") not in found
    assert "dropped history" in found[-1]
