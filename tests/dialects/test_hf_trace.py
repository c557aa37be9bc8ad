"""Session traces of Hugging Face: what is read of them, and what is written for the viewer."""

from __future__ import annotations

from typing import Any

from convcli import dialects
from convcli.engine import detection
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

TRACE, PI = dialects.get("hf-trace"), dialects.get("openclaw")


def lifted(name: str) -> Transcript:
    return TRACE.lift(next(one.document for one in samples_of("hf-trace") if one.path.stem == name))


def written(*messages: Message) -> list[Any]:
    return list(TRACE.lower(Transcript(list(messages), id="s"), Options()))


def test_a_message_has_a_thought_a_text_and_calls() -> None:
    transcript = lifted("tools")
    assert transcript.messages[2].parts[:2] == [Reasoning("A table?"), Text("I look.")]
    assert transcript.messages[2].parts[2:] == [ToolCall("t1", "tides", {"day": 1}), ToolCall("t2", "clock", {})]
    assert transcript.messages[2].created_at == "2026-01-01T00:00:01.000Z"
    assert transcript.extras == {"hf-trace": {"harness": "my-agent", "version": "0.3"}}


def test_results_without_ids_answer_the_calls_in_their_order() -> None:
    assert lifted("without-ids").messages[2].parts == [ToolResult("call_1", "tides", "text", "six")]


def test_a_session_of_pi_with_a_harness_is_one_of_pi() -> None:
    header = {"type": "session", "version": 3, "id": "s", "cwd": "/", "harness": "my-agent"}
    row = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "Hi."}}
    assert detection.evidence([header, row], TRACE) is None
    assert detection.evidence([header, row], PI) is not None


def test_convcli_is_the_default_harness_and_a_failure_keeps_its_text() -> None:
    header, _, result = written(
        Message("assistant", [ToolCall("1", "f", {})]), Message("tool", [ToolResult("1", "f", "error", "gone")])
    )
    assert header == {"type": "session", "harness": "convcli", "id": "s"}
    assert result["message"] == {"role": "tool", "content": "gone", "toolCallId": "1"}
