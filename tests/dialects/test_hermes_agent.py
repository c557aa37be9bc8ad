"""Hermes Agent: the columns of a session, reasoning that is stored twice, and marks that mean nothing."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.hermes_agent import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"n":1}'}}
ORDINARY = {"observed": 0, "active": 1, "compacted": 0, "tool_name": None, "reasoning": None, "token_count": None}


def session(*messages: Any, **columns: Any) -> dict[str, Any]:
    return {"id": "s", "source": "cli", "started_at": 7.5, **columns, "messages": list(messages)}


def lifted(*messages: Any, **columns: Any) -> list[Message]:
    return DIALECT.lift(session(*messages, **columns)).messages


def test_the_prompt_of_a_session_is_the_instruction() -> None:
    messages = lifted({"role": "user", "content": "Hi."}, system_prompt="Be brief.")
    assert messages == [Message("system", [Text("Be brief.")]), Message("user", [Text("Hi.")])]


def test_a_call_and_its_result() -> None:
    answer = {"role": "assistant", "content": "", "tool_calls": [CALL], "finish_reason": "tool_calls"}
    result = {"role": "tool", "content": "1", "tool_call_id": "c1", "tool_name": "f"}
    assert lifted(answer, result) == [
        Message("assistant", [ToolCall("c1", "f", {"n": 1})], stop_reason="tool_calls"),
        Message("tool", [ToolResult("c1", "f", "text", "1")]),
    ]


@pytest.mark.parametrize("calls", ["", None, []])
def test_an_empty_string_means_no_calls(calls: Any) -> None:
    document = session({"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yo.", "tool_calls": calls})
    assert pipeline.validate(document, DIALECT) == []
    assert DIALECT.lift(document).messages[1] == Message("assistant", [Text("Yo.")])


def test_a_string_is_no_list_of_calls() -> None:
    (finding,) = pipeline.validate(session({"role": "assistant", "content": "Yo.", "tool_calls": "[{"}), DIALECT)
    assert (finding.severity, finding.where) == ("error", "/messages/0/tool_calls")


@pytest.mark.parametrize(
    ("keys", "extras"),
    [
        ({"reasoning": "Hm.", "reasoning_content": "Hm."}, None),
        ({"reasoning": "Hm."}, None),
        ({"reasoning_content": "Hm."}, None),
        ({"reasoning": "H.", "reasoning_content": "Hm."}, {"hermes-agent": {"reasoning": "H."}}),
    ],
)
def test_what_is_sent_back_is_the_reasoning(keys: dict[str, str], extras: Any) -> None:
    (message,) = lifted({"role": "assistant", "content": "One.", **keys})
    assert (message.parts, message.extras) == ([Reasoning("Hm."), Text("One.")], extras)


def test_ordinary_marks_and_counts_mean_nothing() -> None:
    native = {"role": "user", "content": "Hi.", "session_id": "s", **ORDINARY}
    transcript = DIALECT.lift(session(native, message_count=1, tool_call_count=0, rewind_count=0, title=None))
    assert transcript.messages == [Message("user", [Text("Hi.")])]
    assert transcript.extras == {"hermes-agent": {"source": "cli"}}
    (unusual,) = lifted({**native, "active": 0, "observed": True}, message_count=3)
    assert unusual.extras == {"hermes-agent": {"active": 0, "observed": True}}


def test_times_have_fractions() -> None:
    transcript = DIALECT.lift(session({"role": "user", "content": "Hi.", "timestamp": 1.25}))
    assert (transcript.created_at, transcript.messages[0].created_at) == (
        "1970-01-01T00:00:07.500000Z",
        "1970-01-01T00:00:01.250000Z",
    )


def test_contents_of_several_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    (message,) = lifted({"role": "user", "content": [{"type": "text", "text": "Look."}, image]})
    assert message.parts == [Text("Look."), Media("image", url="https://example.com/a.png")]


def test_a_row_with_a_role_of_its_own_is_an_event() -> None:
    assert [message.role for message in lifted({"role": "session_meta", "content": "x"})] == ["event"]


def test_a_session_from_another_program_gets_an_id_and_no_time() -> None:
    thoughts = [Reasoning("One."), Reasoning("Two."), Text("Yes.")]
    messages = [Message("developer", [Text("Be brief.")]), Message("assistant", thoughts)]
    native = pipeline.lower(Transcript(messages), DIALECT).document
    assert (native["source"], native["started_at"], native["system_prompt"]) == ("import", None, "Be brief.")
    assert native["id"]
    assert native["messages"] == [
        {"role": "assistant", "content": "Yes.", "reasoning": "One.\n\nTwo.", "reasoning_content": "One.\n\nTwo."}
    ]


def test_a_result_keeps_a_thought_that_it_has_no_part_for() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    stated = {"reasoning": "Why?", "reasoning_content": "Hm."}
    result = lifted(call, {"role": "tool", "content": "1", "tool_call_id": "c1", "tool_name": "f", **stated})[1]
    assert result.extras == {"hermes-agent": stated}


def test_its_sessions_are_detected() -> None:
    assert detection.detect(session({"role": "user", "content": "Hi."})).dialect == "hermes-agent"
    assert detection.evidence({"started_at": 7.5, "messages": [{"role": "user", "content": "Hi."}]}, DIALECT) is None
