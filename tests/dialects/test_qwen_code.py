"""Qwen Code: what is read of its sessions."""

from __future__ import annotations

from convcli import dialects
from convcli.model.branches import active
from convcli.model.transcript import Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

QWEN = dialects.get("qwen-code")


def lifted(name: str) -> Transcript:
    return QWEN.lift(next(one.document for one in samples_of("qwen-code") if one.path.name == f"{name}.jsonl"))


def results(name: str) -> list[ToolResult]:
    return [part for one in lifted(name).messages for part in one.parts if isinstance(part, ToolResult)]


def test_what_all_rows_say_is_said_of_the_session() -> None:
    transcript = lifted("session")
    assert (transcript.id, transcript.cwd) == ("5b1f0000-0000-4000-8000-000000000002", "/home/user/tides")
    assert transcript.extras == {"qwen-code": {"session": {"version": "0.21.13", "gitBranch": "main"}}}
    assert transcript.messages[4].extras is None


def test_counts_of_the_output_hold_the_thoughts() -> None:
    usage = lifted("session").messages[1].usage or {}
    assert (usage["outputTokens"], usage["reasoningTokens"]) == (13, 3)


def test_a_result_has_failed_or_was_cancelled_where_the_program_says_so() -> None:
    assert [(one.kind, one.is_error) for one in results("session")] == [("text", None), ("error", None)]
    assert [(one.kind, one.is_error) for one in results("data")] == [("data", True)]
    assert [one.status for one in results("answer-in-two-rows")] == ["cancelled"]


def test_rows_of_one_answer_are_one_message() -> None:
    messages = lifted("answer-in-two-rows").messages
    assert [message.role for message in messages] == ["user", "assistant", "tool"]
    assert [type(part) for part in messages[1].parts] == [Reasoning, ToolCall]
    assert (messages[1].model, messages[1].usage) == ("tide-large", {"inputTokens": 5})


def test_the_branch_of_the_last_row_is_active() -> None:
    transcript = lifted("rewound")
    texts = [part.text for one in active(transcript) for part in one.parts if isinstance(part, Text)]
    assert texts == ["Say a word.", "Another.", "Two."]
    assert transcript.title == "Two words"


def test_a_call_without_an_id_is_answered_by_name() -> None:
    [result] = results("without-ids")
    calls = [part for one in lifted("without-ids").messages for part in one.parts if isinstance(part, ToolCall)]
    assert [call.id for call in calls] == [result.tool_call_id]
