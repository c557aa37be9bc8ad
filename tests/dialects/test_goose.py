"""goose: what is read of its sessions, and what is written."""

from __future__ import annotations

import copy

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.testing import assert_same
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


def test_a_status_that_contradicts_its_key_is_kept_and_reported() -> None:
    document = copy.deepcopy(next(one.document for one in samples_of("goose") if one.path.stem == "session"))
    answered = [part for message in document["conversation"] for part in message["content"] if "toolResult" in part]
    answered[0]["toolResult"]["status"] = "error"
    assert_same(GOOSE, document)
    losses = pipeline.convert(document, GOOSE, dialects.get("openai-chat")).losses
    assert [loss.before for loss in losses if "outcome" in loss.field] == [{"status": "error"}]


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


# ---------------------------------------------------------------- what is written


def test_a_result_of_another_program_has_a_message_of_its_own_and_says_whether_it_failed() -> None:
    calls = [ToolCall(id_, "ls", {}) for id_ in ("c1", "c2", "c3")]
    results = [
        ToolResult("c1", "ls", "text", "a"),
        ToolResult("c2", "ls", "error", "none"),
        ToolResult("c3", "ls", "data", {"n": 1}),
    ]
    messages = [Message("assistant", list(calls)), *(Message("tool", [result]) for result in results)]
    rows = GOOSE.lower(Transcript(messages))["conversation"]
    assert [row["role"] for row in rows] == ["assistant", *["user"] * 3]
    values = [row["content"][0]["toolResult"]["value"] for row in rows[1:]]
    assert [value["isError"] for value in values] == [False, True, False]
    assert [value["content"][0]["text"] for value in values] == ["a", "none", '{"n":1}']


def test_a_session_has_all_that_the_program_wants_of_one_to_import() -> None:
    session = GOOSE.lower(Transcript([Message("user", [Text("Go.")])]))
    assert (session["working_dir"], session["name"], session["message_count"]) == ("", "", 1)
    assert session["created_at"] == session["updated_at"] == "1970-01-01T00:00:00.000Z"
    assert session["conversation"][0]["metadata"] == {"userVisible": True, "agentVisible": True}


def test_an_answer_names_its_model_and_a_provider_which_may_be_empty() -> None:
    session = GOOSE.lower(Transcript([Message("assistant", [Text("Yes.")], model="claude-x")]))
    assert session["conversation"][0]["metadata"]["inference"] == {"provider": "", "requestedModel": "claude-x"}


def test_what_a_summary_stands_for_is_seen_by_the_user_alone() -> None:
    messages = [Message("user", [Text("When?")]), Message("user", [Text("They asked.")], replaces="all")]
    session = GOOSE.lower(Transcript([*messages, Message("assistant", [Text("At noon.")])]))
    seen = [(row["metadata"]["userVisible"], row["metadata"]["agentVisible"]) for row in session["conversation"]]
    assert seen == [(True, False), (False, True), (True, True)]
    assert [one.replaces for one in GOOSE.lift(session).messages] == [None, "all", None]


def test_contents_that_are_no_text_and_no_image_stay_as_they_are() -> None:
    resource = [{"type": "resource_link", "uri": "file:///a", "name": "a"}]
    result = Message("tool", [ToolResult("c1", "ls", "data", resource)])
    session = GOOSE.lower(Transcript([Message("assistant", [ToolCall("c1", "ls", {})]), result]))
    assert session["conversation"][1]["content"][0]["toolResult"]["value"]["content"] == resource


def test_no_message_has_a_time_before_that_of_the_last_one_since_goose_sorts_them() -> None:
    times = ("2026-03-01T09:00:05Z", "2026-03-01T09:00:01Z", "2026-03-01T09:00:05.500Z")
    session = GOOSE.lower(Transcript([Message("user", [Text("Go.")], created_at=time) for time in times]))
    assert [row["created"] for row in session["conversation"]] == [1772355605] * 3


def test_an_error_next_to_a_value_is_kept_and_written() -> None:
    document = copy.deepcopy(next(one.document for one in samples_of("goose") if one.path.stem == "session"))
    called = [part for message in document["conversation"] for part in message["content"] if "toolCall" in part]
    called[0]["toolCall"]["error"] = "late"
    called[0]["value"] = "of the vendor"
    part = next(one for message in GOOSE.lift(document).messages for one in message.parts if one.type == "tool_call")
    assert part.extras is not None
    assert part.extras["goose"]["outcome"]["error"] == "late"
    assert part.extras["goose"]["@"] == {"value": "of the vendor"}
    assert_same(GOOSE, document)
