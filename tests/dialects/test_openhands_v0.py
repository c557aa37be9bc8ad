"""OpenHands, version 0: what is read of the events of a conversation."""

from __future__ import annotations

from convcli import dialects
from convcli.model.transcript import Media, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

OPENHANDS = dialects.get("openhands-v0")


def lifted(name: str) -> Transcript:
    return OPENHANDS.lift(next(one.document for one in samples_of("openhands-v0") if one.path.stem == name))


def results(name: str) -> list[ToolResult]:
    return [part for one in lifted(name).messages for part in one.parts if isinstance(part, ToolResult)]


def calls(name: str) -> list[ToolCall]:
    return [part for one in lifted(name).messages for part in one.parts if isinstance(part, ToolCall)]


def test_actions_of_one_response_are_one_answer_with_its_thought() -> None:
    messages = lifted("session").messages
    roles = ["system", "user", "event", "assistant", "tool", "tool", "assistant"]
    assert [message.role for message in messages] == roles
    assert messages[3].parts[0] == Text("I look.")
    assert [(call.name, call.arguments) for call in calls("session")] == [
        ("execute_bash", {"command": "ls"}),
        ("str_replace_editor", {"command": "view", "path": "/a.csv"}),
    ]


def test_what_failed_is_a_failure_and_what_was_rejected_was_denied() -> None:
    assert [(one.kind, one.value) for one in results("session")] == [("text", "a.csv"), ("error", "no such file")]
    assert [(one.kind, one.value, one.status) for one in results("rejected")] == [("error", "Not this.", "denied")]


def test_without_a_response_the_arguments_are_those_of_the_action() -> None:
    assert [call.arguments for call in calls("without-response")] == [{"command": "ls"}]


def test_images_of_a_message_and_what_no_model_saw() -> None:
    assert lifted("images").messages[0].parts[1] == Media("image", url="https://example.org/a.png")
    assert [message.role for message in lifted("recalls").messages] == ["user", "event", "event", "assistant"]
