"""Droid: what is read of its sessions, and what is written."""

from __future__ import annotations

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

DROID = dialects.get("droid")


def lifted(name: str) -> Transcript:
    return DROID.lift(next(one.document for one in samples_of("droid") if one.path.name == f"{name}.jsonl"))


def thoughts(messages: list[Message]) -> list[Reasoning]:
    return [part for message in messages for part in message.parts if isinstance(part, Reasoning)]


def test_the_first_row_says_which_session_it_is() -> None:
    transcript = lifted("session")
    assert transcript.id == "5b1f0000-0000-4000-8000-000000000001"
    assert (transcript.title, transcript.cwd) == ("Tides of the week", "/home/user/tides")
    assert lifted("rows-of-others").title is None


def test_results_are_messages_and_say_whether_they_failed() -> None:
    results = [part for one in lifted("session").messages for part in one.parts if isinstance(part, ToolResult)]
    assert [(result.name, result.kind) for result in results] == [("LS", "text"), ("Read", "error")]


def test_only_what_anthropic_signed_is_a_signature() -> None:
    [other] = thoughts(lifted("session").messages)
    assert other.metadata is None
    assert (other.extras or {})["droid"]["signature"] == "reasoning_content"
    assert thoughts(lifted("signed").messages)[0].metadata == {"signature": "c2ln"}


def test_a_row_that_goes_back_begins_a_branch() -> None:
    transcript = lifted("branches")
    assert transcript.head == "m4"
    assert lifted("session").head is None


def test_the_session_may_be_the_parent_of_its_first_message() -> None:
    assert lifted("signed").head is None


def test_what_the_first_row_says_is_lost_there() -> None:
    first, *rest = next(one.document for one in samples_of("droid") if one.path.name == "session.jsonl")
    document = Rows([{**first, "sessionTitleAutoStage": "first_message"}, *rest], list(range(1, len(rest) + 2)))
    losses = pipeline.convert(document, DROID, dialects.get("openai-chat")).losses
    stages = [loss.where for loss in losses if loss.field == "extras.droid.sessionTitleAutoStage"]
    assert stages == ["/0/sessionTitleAutoStage"]


# ---------------------------------------------------------------- what is written


def test_the_results_of_a_turn_stand_in_one_row() -> None:
    calls = [ToolCall(id_, "LS", {}) for id_ in ("c1", "c2")]
    results = [ToolResult("c1", "LS", "text", "a"), ToolResult("c2", "LS", "error", "none")]
    messages = [Message("tool", [result], id=f"m{n}") for n, result in enumerate(results)]
    rows = DROID.lower(Transcript([Message("assistant", list(calls), id="m"), *messages]))
    assert [row["type"] for row in rows] == ["session_start", "message", "message"]
    assert [block.get("is_error", False) for block in rows[2]["message"]["content"]] == [False, True]
    assert rows[2]["parentId"] == rows[1]["id"]


def test_the_first_row_has_what_the_program_asks_of_it() -> None:
    header = DROID.lower(Transcript([Message("user", [Text("Go.")])], title="Tides", cwd="/home/user"))[0]
    assert (header["title"], header["owner"], header["version"], header["cwd"]) == ("Tides", "unknown", 2, "/home/user")
    assert "hostId" not in header


def test_a_session_that_is_resumed_is_of_this_host_and_of_the_version_that_is_read() -> None:
    [program] = DROID.programs
    assert program.fit is not None
    header = DROID.lower(program.fit(lifted("signed")))[0]
    assert header["version"] == 2
    assert "hostId" not in header
