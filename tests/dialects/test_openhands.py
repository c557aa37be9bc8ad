"""OpenHands: what is read of the events of a conversation."""

from __future__ import annotations

from convcli import dialects
from convcli.model.transcript import Media, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

OPENHANDS = dialects.get("openhands")


def lifted(name: str) -> Transcript:
    return OPENHANDS.lift(next(one.document for one in samples_of("openhands") if one.path.name == f"{name}.jsonl"))


def results(name: str) -> list[ToolResult]:
    return [part for one in lifted(name).messages for part in one.parts if isinstance(part, ToolResult)]


def test_actions_of_one_response_are_one_answer() -> None:
    messages = lifted("session").messages
    roles = ["event", "system", "user", "assistant", "tool", "tool", "assistant"]
    assert [message.role for message in messages] == roles
    assert [type(part) for part in messages[3].parts] == [Reasoning, Text, ToolCall, ToolCall]
    assert [type(part) for part in messages[6].parts] == [ToolCall]


def test_actions_of_two_responses_are_two_answers() -> None:
    assert [message.role for message in lifted("without-observation").messages] == ["user", "assistant", "assistant"]


def test_an_observation_has_whether_its_tool_failed() -> None:
    assert [(one.tool_call_id, one.kind) for one in results("session")] == [("c1", "text"), ("c2", "error")]


def test_a_refusal_and_an_error_of_the_agent_are_results() -> None:
    assert [(one.value, one.status) for one in results("refused")] == [
        ("No.", "denied"),
        ("There is no tool nothing.", None),
    ]


def test_images_are_media_and_several_in_one_are_kept_as_they_are() -> None:
    parts = lifted("images").messages[0].parts
    assert [type(part) for part in parts] == [Text, Media, Opaque]
    [result] = results("images")
    assert [type(part) for part in result.value] == [Text, Media]


def test_other_keys_of_an_action_are_kept_with_the_call() -> None:
    calls = [part for part in lifted("session").messages[3].parts if isinstance(part, ToolCall)]
    events = [(call.extras or {})["openhands"]["event"] for call in calls]
    assert [event["summary"] for event in events] == ["list", "read"]
    assert [event.get("id") for event in events] == [None, "e4"]


def test_a_message_has_the_skills_that_the_model_read_with_it() -> None:
    texts = [part.text for part in lifted("skills").messages[0].parts if isinstance(part, Text)]
    assert texts == ["When is high water?", "<EXTRA_INFO>\nTides are in tides.csv.\n</EXTRA_INFO>"]
