"""goose: what is read of its sessions."""

from __future__ import annotations

from convcli import dialects
from convcli.model.transcript import Media, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

GOOSE = dialects.get("goose")


def lifted(name: str) -> Transcript:
    return GOOSE.lift(next(one.document for one in samples_of("goose") if one.path.stem == name))


def results(name: str) -> list[ToolResult]:
    return [part for one in lifted(name).messages for part in one.parts if isinstance(part, ToolResult)]


def test_results_are_messages_and_say_whether_they_failed() -> None:
    transcript = lifted("session")
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [(one.name, one.kind) for one in results("session")] == [
        ("developer__shell", "text"),
        ("developer__read", "error"),
    ]
    assert (transcript.title, transcript.cwd) == ("Tides of the week", "/home/user/tides")
    assert (transcript.messages[1].model, transcript.messages[1].provider) == ("claude-x", "anthropic")
    assert transcript.messages[1].parts[0] == Reasoning("Two calls.", metadata={"signature": "c2lnbmVk"})


def test_the_first_versions_say_ok_and_err() -> None:
    transcript = lifted("first-versions")
    assert transcript.title == "Tides"
    calls = [part for one in transcript.messages for part in one.parts if isinstance(part, ToolCall)]
    assert [(call.name, call.arguments) for call in calls] == [("tides", {"day": 1}), ("tides", {"day": 2})]
    noon, failed = results("first-versions")
    assert [part.text for part in noon.value] == ["noon", "12:00"]
    assert (failed.kind, failed.is_error, failed.value) == ("data", True, {"ExecutionError": "station offline"})


def test_the_summary_stands_for_what_the_model_sees_no_more() -> None:
    assert [one.replaces for one in lifted("compacted").messages if one.role != "event"] == [
        *(None, None, "all"),
        *(None, None, None),
    ]


def test_media_and_other_contents_of_a_result_are_kept() -> None:
    seen, measured = results("media")
    assert (seen.kind, seen.value) == (
        "multimodal",
        [Text("seen"), Media("image", data="R0lGODlhAQABAAAAACw=", media_type="image/png")],
    )
    assert (measured.kind, measured.extras) == ("data", {"goose": {"value": {"structuredContent": {"height": 2.1}}}})


def test_a_call_that_was_written_wrongly_has_no_name_and_its_result_says_why() -> None:
    transcript = lifted("wrong-call")
    [call] = [part for one in transcript.messages for part in one.parts if isinstance(part, ToolCall)]
    assert (call.name, call.extras) == ("unknown", {"goose": {"error": "-32602: no such tool"}})
    assert [(one.kind, one.value) for one in results("wrong-call")] == [("error", "-32602: no such tool")]
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool", "event", "assistant"]
