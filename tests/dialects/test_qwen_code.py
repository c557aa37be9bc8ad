"""Qwen Code: what is read of its sessions, and what is written into them."""

from __future__ import annotations

from msgspec.structs import replace

from convcli import dialects
from convcli.dialects.qwen_code.fitting import SESSION_ID
from convcli.engine import pipeline
from convcli.model.branches import active, context
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

QWEN = dialects.get("qwen-code")


def lifted(name: str) -> Transcript:
    return QWEN.lift(next(one.document for one in samples_of("qwen-code") if one.path.name == f"{name}.jsonl"))


def results(name: str) -> list[ToolResult]:
    return [part for one in lifted(name).messages for part in one.parts if isinstance(part, ToolResult)]


def test_what_all_rows_have_in_common_belongs_to_the_session() -> None:
    transcript = lifted("session")
    assert (transcript.id, transcript.cwd) == ("5b1f0000-0000-4000-8000-000000000002", "/home/user/tides")
    assert transcript.extras == {"qwen-code": {"session": {"version": "0.21.13", "gitBranch": "main"}}}
    assert transcript.messages[4].extras is None


def test_counts_of_the_output_hold_the_thoughts() -> None:
    usage = lifted("session").messages[1].usage or {}
    assert (usage["outputTokens"], usage["reasoningTokens"]) == (13, 3)


def test_a_result_has_the_status_that_the_program_stored() -> None:
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


# ---------------------------------------------------------------- compactions, titles, rows outside of the tree


def test_a_compaction_has_the_whole_context_from_there_on() -> None:
    transcript = lifted("compaction")
    [summary] = [message for message in transcript.messages if message.replaces is not None]
    assert (summary.id, summary.parent_id, summary.replaces) == ("q5", "q4", "all")
    assert [message.role for message in context(transcript)] == [
        *("user", "assistant", "user", "assistant", "tool", "assistant", "event"),
    ]
    assert transcript.head is None


def test_a_last_row_with_only_the_title_is_not_an_event() -> None:
    transcript = lifted("titled")
    assert (transcript.title, len(transcript.messages)) == ("High water", 2)
    written = QWEN.lower(replace(transcript, title="Tides"))
    assert written[-1]["systemPayload"]["customTitle"] == "Tides"
    assert written[-1]["parentUuid"] == written[-2]["uuid"]


def test_spoken_rows_are_not_sent_and_artifacts_are_outside_of_the_tree() -> None:
    transcript = lifted("rows-beside")
    assert [message.role for message in transcript.messages] == [
        *("user", "assistant", "tool", "tool", "user", "event", "event", "assistant"),
    ]
    assert transcript.head is None


def test_the_screen_text_of_a_result_is_not_kept_if_it_is_the_result() -> None:
    assert lifted("rows-beside").messages[2].extras is None


# ---------------------------------------------------------------- what is written


def test_each_result_of_another_program_has_a_row_with_the_status_of_its_call() -> None:
    calls = [ToolCall(id_, "ls", {}) for id_ in ("c1", "c2", "c3")]
    results = [
        ToolResult("c1", "ls", "text", "a"),
        ToolResult("c2", "ls", "error", "none"),
        ToolResult("c3", "ls", "text", "", status="cancelled"),
    ]
    messages = [Message("assistant", list(calls)), *(Message("tool", [result]) for result in results)]
    rows = QWEN.lower(Transcript(messages))
    assert [row["type"] for row in rows] == ["assistant", *["tool_result"] * 3]
    assert [row["toolCallResult"]["status"] for row in rows[1:]] == ["success", "error", "cancelled"]
    assert [row["parentUuid"] for row in rows] == [None, *(row["uuid"] for row in rows[:-1])]


def test_the_id_of_a_session_is_one_by_which_the_program_finds_it() -> None:
    for id_ in (None, "tides", "019f0000-0000-7000-8000-000000000001"):
        [row] = QWEN.lower(Transcript([Message("user", [Text("Go.")])], id=id_))
        assert SESSION_ID.fullmatch(row["sessionId"])


def test_the_second_call_with_an_id_gets_another() -> None:
    turn = [Message("assistant", [ToolCall("c1", "ls", {})]), Message("tool", [ToolResult("c1", "ls", "text", "a")])]
    rows = QWEN.lower(Transcript([*turn, Message("user", [Text("Again.")]), *turn]))
    calls = [row["message"]["parts"][0]["functionCall"]["id"] for row in rows if row["type"] == "assistant"]
    assert len(set(calls)) == 2


def test_a_role_that_the_program_refuses_is_not_written() -> None:
    transcript = lifted("without-ids")
    assert {row["message"]["role"] for row in QWEN.lower(transcript)} == {"user", "model"}


def test_rows_of_the_program_name_the_session_in_which_they_are_written() -> None:
    moved = replace(lifted("session"), id="5b1f0000-0000-4000-8000-00000000000a", cwd="/home/user/other")
    assert {row["sessionId"] for row in QWEN.lower(moved)} == {"5b1f0000-0000-4000-8000-00000000000a"}


def test_a_message_keeps_the_rows_of_an_answer_when_something_else_changes() -> None:
    transcript = replace(lifted("answer-in-two-rows"), title="Two rows")
    rows = QWEN.lower(transcript)
    assert [row["uuid"] for row in rows[1:3]] == ["q2", "q2"]
    assert [row["timestamp"] for row in rows[1:3]] == [f"2026-01-01T10:00:0{n}.000Z" for n in (2, 3)]
    assert "usageMetadata" not in rows[1]
    assert rows[2]["usageMetadata"] == {"promptTokenCount": 5, "toolUsePromptTokenCount": 2}


def test_an_empty_answer_is_not_written_for_its_turn_would_not_be_sent() -> None:
    answers = [Message("assistant", []), Message("assistant", [Text("Ho."), Text("")])]
    conversion = pipeline.lower(Transcript([Message("user", [Text("Hi.")]), *answers]), QWEN)
    written = [row["message"]["parts"] for row in conversion.document]
    assert written == [[{"text": "Hi."}], [{"text": "Ho."}]]
    assert [(loss.kind, loss.field, loss.where) for loss in conversion.losses if loss.level == "content"] == [
        ("dropped", "message", "/messages/1"),
        ("dropped", "text", "/messages/2/parts/1"),
    ]
