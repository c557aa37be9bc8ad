"""Copilot CLI: sessions, what is printed of them, and what the program accepts from others."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation import schemas
from tests.support import samples_of

COPILOT = dialects.get("copilot-cli")
CALL = Message("assistant", [ToolCall("c1", "ls", {"path": "."})])
DATA = "iVBORw0KGgo="


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("copilot-cli") if sample.path.name == name)


def turns_of(name: str) -> list[Message]:
    return [message for message in COPILOT.lift(sample(name)).messages if message.role != "event"]


def written(*messages: Message, **fields: Any) -> pipeline.Conversion:
    conversion = pipeline.lower(Transcript(list(messages), **fields), COPILOT)
    assert schemas.findings("copilot-cli", conversion.document) == []
    return conversion


# ---------------------------------------------------------------- reading


def test_the_first_row_says_which_session_it_is() -> None:
    transcript = COPILOT.lift(sample("session.jsonl"))
    assert (transcript.id, transcript.cwd) == ("5b1f0000-0000-4000-8000-0000000003e7", "/home/user/tides")
    assert transcript.created_at == "2026-01-01T10:00:00.500Z"


def test_an_answer_has_a_thought_a_text_calls_and_the_counts_of_another_row() -> None:
    answer = turns_of("session.jsonl")[2]
    assert [type(part) for part in answer.parts] == [Reasoning, Text, ToolCall, ToolCall]
    assert answer.usage == {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 40}


def test_results_say_whether_they_failed_and_stand_as_they_came() -> None:
    results = [message.parts[0] for message in turns_of("session.jsonl") if message.role == "tool"]
    values = [(one.tool_call_id, one.name, one.kind, one.value) for one in results if isinstance(one, ToolResult)]
    assert values == [("call_2", "view", "error", "Path does not exist"), ("call_1", "bash", "text", "tides.csv")]


def test_files_of_results_have_the_data_of_their_assets() -> None:
    question, _, referring, holding = turns_of("files.jsonl")
    assert [type(part) for part in question.parts] == [Text, Media, Opaque]
    media = [part for message in (referring, holding) for part in message.parts[0].value]  # type: ignore[union-attr]
    assert [part.data[:12] for part in media if isinstance(part, Media)] == ["R0lGODlhAQAB", "R0lGODlhAQAB"]


def test_a_compaction_that_succeeded_replaces_all_before_it() -> None:
    messages = COPILOT.lift(sample("compaction.jsonl")).messages
    assert [message.replaces for message in messages] == [None, None, None, "all", None, None]


def test_calls_of_a_custom_tool_have_a_text_and_runs_of_subagents_name_their_call() -> None:
    turns = turns_of("calls.jsonl")
    calls = [part for part in turns[1].parts if isinstance(part, ToolCall)]
    assert [call.custom for call in calls] == [True, None, None, None]
    assert [turn.parent_call_id for turn in turns[2:]] == ["call_4", "call_4", None]


def test_ephemeral_rows_are_no_messages() -> None:
    messages = COPILOT.lift(sample("printed.jsonl")).messages
    assert [message.role for message in messages] == ["event", "user", "event", "assistant", "event"]


# ---------------------------------------------------------------- writing


def test_every_row_has_a_uuid_and_names_the_row_before_it() -> None:
    rows = written(Message("user", [Text("a")], id="m1"), CALL).document
    assert rows[0]["type"] == "session.start"
    assert [row["parentId"] for row in rows] == [None, *(row["id"] for row in rows[:-1])]


@pytest.mark.parametrize(
    ("result", "data"),
    [
        (ToolResult("c1", "ls", "text", "a"), {"success": True, "result": {"content": "a"}}),
        (ToolResult("c1", "ls", "error", "a"), {"success": False, "error": {"message": "a"}}),
        (ToolResult("c1", "ls", "data", {"a": 1}), {"success": True, "result": {"content": '{"a":1}'}}),
        (
            ToolResult("c1", "ls", "multimodal", [Media("image", data=DATA, media_type="image/png")]),
            {
                "success": True,
                "result": {
                    "content": "",
                    "binaryResultsForLlm": [{"type": "image", "mimeType": "image/png", "data": DATA}],
                },
            },
        ),
    ],
)
def test_a_result_is_a_row_of_the_execution(result: ToolResult, data: dict[str, Any]) -> None:
    row = written(CALL, Message("tool", [result])).document[-1]
    assert row["type"] == "tool.execution_complete"
    assert row["data"] == {"toolCallId": "c1", **data}


def test_a_summary_is_a_compaction_and_several_texts_are_one() -> None:
    summary = Message("system", [Text("All that was.")], replaces="m4")
    rows = written(summary, Message("user", [Text("a"), Text("b")])).document
    assert rows[1]["type"] == "session.compaction_complete"
    assert rows[2]["data"]["content"] == "a\n\nb"


def test_counts_other_than_those_of_the_output_are_reported_as_lost() -> None:
    answer = Message("assistant", [Text("a")], usage={"inputTokens": 5, "outputTokens": 2})
    conversion = written(answer)
    assert conversion.document[1]["data"]["outputTokens"] == 2
    assert [loss.field for loss in conversion.losses if loss.kind == "dropped"] == ["message.usage.inputTokens"]


def test_two_calls_with_one_id_get_different_ids_and_so_do_their_results() -> None:
    messages = [Message("user", [Text("Hi.")])]
    for value in ("1", "2"):
        messages.append(Message("assistant", [ToolCall("c", "f", {})]))
        messages.append(Message("tool", [ToolResult("c", "f", "text", value)]))
    after = COPILOT.lift(written(*messages).document)
    results = [part for message in after.messages for part in message.parts if isinstance(part, ToolResult)]
    assert [(result.tool_call_id, result.value) for result in results] == [("c", "1"), ("c_2", "2")]


def test_a_count_that_is_an_integral_float_is_a_count() -> None:
    sample = next(one for one in samples_of("copilot-cli") if one.path.name.startswith("twin-weather"))
    rows = [
        {**row, "data": {**row["data"], "outputTokens": 14.0}} if row["type"] == "assistant.message" else row
        for row in sample.document
    ]
    transcript = COPILOT.lift(Rows(rows))
    assert {m.usage["outputTokens"] for m in transcript.messages if m.usage} == {14}
