"""OpenCode: sessions as they are exported, what others receive of them, and what OpenCode takes of others."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation import schemas
from tests.support import samples_of

OPENCODE = dialects.get("opencode")
CALL = Message("assistant", [ToolCall("c1", "ls", {"path": "."})])
DATA = "iVBORw0KGgo="


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("opencode") if sample.path.name == name)


def written(*messages: Message, **fields: Any) -> pipeline.Conversion:
    conversion = pipeline.lower(Transcript(list(messages), **fields), OPENCODE)
    assert schemas.findings("opencode", conversion.document) == []
    return conversion


def parts_of(conversion: pipeline.Conversion) -> list[Any]:
    return [part for message in conversion.document["messages"] for part in message["parts"]]


# ---------------------------------------------------------------- reading


def test_a_part_of_a_tool_is_a_call_and_its_result() -> None:
    messages = OPENCODE.lift(sample("session.json")).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    answer, done, failed = messages[1:4]
    assert [type(part) for part in answer.parts] == [Reasoning, Text, ToolCall, ToolCall]
    assert (answer.stop_reason, answer.model, answer.provider, answer.cost) == (
        "tool_calls",
        "tide-large",
        "openrouter",
        0.002,
    )
    assert [(one.parts[0].kind, one.parts[0].value) for one in (done, failed)] == [  # type: ignore[union-attr]
        ("text", "tides.csv\n"),
        ("error", "File not found: tides.txt"),
    ]
    assert done.created_at == "2026-01-01T10:00:02.150Z"


def test_counts_of_input_hold_what_was_cached_and_zero_is_none() -> None:
    messages = OPENCODE.lift(sample("session.json")).messages
    assert messages[1].usage == {
        "totalTokens": 162,
        "inputTokens": 147,
        "outputTokens": 10,
        "reasoningTokens": 5,
        "cacheReadTokens": 40,
        "cacheWriteTokens": 7,
    }
    assert messages[4].usage == {"totalTokens": 312, "inputTokens": 300, "outputTokens": 12}
    assert messages[4].cost is None


def test_the_order_is_that_of_the_ids() -> None:
    transcript = OPENCODE.lift(sample("order-of-ids.json"))
    texts = [part.text for message in transcript.messages for part in message.parts if isinstance(part, Text)]
    assert texts == ["Say two words.", "first", "second"]


def test_files_of_an_output_are_media_of_the_result() -> None:
    result = OPENCODE.lift(sample("media.json")).messages[2].parts[0]
    assert isinstance(result, ToolResult)
    assert result.kind == "multimodal"
    assert [type(part) for part in result.value] == [Text, Media]


def test_calls_that_were_not_finished_have_no_result() -> None:
    messages = OPENCODE.lift(sample("open-calls.json")).messages
    assert [message.role for message in messages] == ["user", "assistant"]
    states = [(part.extras or {}).get("opencode", {}).get("state") for part in messages[1].parts]
    assert [state and state.get("status", "pending") for state in states] == ["running", "pending", None]


def test_a_summary_replaces_all_before_it_and_an_error_has_its_message() -> None:
    assert OPENCODE.lift(sample("compaction.json")).messages[3].replaces == "all"
    answers = OPENCODE.lift(sample("failed.json")).messages[1:]
    assert [answer.error for answer in answers] == ["The operation was aborted.", "cut off"]


def test_steps_and_patches_are_no_parts_of_the_conversation() -> None:
    for name in ("session.json", "failed.json"):
        messages = OPENCODE.lift(sample(name)).messages
        opaque = [part for message in messages for part in message.parts if isinstance(part, Opaque)]
        assert [part.value["type"] for part in opaque] == (["agent"] if name == "failed.json" else [])


# ---------------------------------------------------------------- writing


def test_ids_of_others_become_ids_that_ascend() -> None:
    conversion = written(Message("user", [Text("a")], id="z"), Message("user", [Text("b")], id="a"), id="x")
    ids = [message["info"]["id"] for message in conversion.document["messages"]]
    assert ids == ["msg_000000000001", "msg_000000000002"]
    assert conversion.document["info"]["id"].startswith("ses_")
    parts = [part["id"] for part in parts_of(conversion)]
    assert parts == sorted(parts)
    assert len(set(parts)) == 2


def test_ids_of_messages_that_ascend_stay() -> None:
    conversion = written(Message("user", [Text("a")], id="msg_1"), Message("user", [Text("b")], id="msg_2"), id="ses_1")
    assert [message["info"]["id"] for message in conversion.document["messages"]] == ["msg_1", "msg_2"]
    assert conversion.document["info"]["id"] == "ses_1"


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (ToolResult("c1", "ls", "text", "a"), {"status": "completed", "output": "a"}),
        (ToolResult("c1", "ls", "error", "a"), {"status": "error", "error": "a"}),
        (ToolResult("c1", "ls", "data", {"a": 1}), {"status": "completed", "output": '{"a":1}'}),
        (ToolResult("c1", "ls", "data", {"a": 1}, is_error=True), {"status": "error", "error": '{"a":1}'}),
        (ToolResult("c1", "ls", "multimodal", [Text("a"), Text("b")]), {"status": "completed", "output": "a\nb"}),
    ],
)
def test_a_result_is_in_the_state_of_its_call(result: ToolResult, state: dict[str, Any]) -> None:
    [part] = parts_of(written(CALL, Message("tool", [result])))
    assert part["state"].items() >= {**state, "input": {"path": "."}}.items()


def test_media_of_a_result_are_files_after_its_output() -> None:
    image = Media("image", data=DATA, media_type="image/png")
    [part] = parts_of(written(CALL, Message("tool", [ToolResult("c1", "ls", "multimodal", [image])])))
    assert part["state"]["output"] == ""
    assert [file["url"] for file in part["state"]["attachments"]] == [f"data:image/png;base64,{DATA}"]


def test_a_call_without_a_result_waits() -> None:
    [part] = parts_of(written(CALL))
    assert part["state"] == {"status": "pending", "input": {"path": "."}, "raw": ""}


def test_a_message_of_the_user_names_the_model_that_answers() -> None:
    answer = Message("assistant", [Text("b")], model="tide", provider="sea")
    conversion = written(Message("user", [Text("a")]), answer)
    assert conversion.document["messages"][0]["info"]["model"] == {"providerID": "sea", "modelID": "tide"}


def test_instructions_second_results_and_results_without_a_call_are_reported_as_lost() -> None:
    results = [Message("tool", [ToolResult(id_, "ls", "text", id_)]) for id_ in ("c1", "c1", "c2")]
    conversion = written(Message("system", [Text("Be brief.")]), CALL, *results)
    lost = [loss for loss in conversion.losses if loss.kind == "dropped"]
    assert len([loss for loss in lost if loss.field == "tool_result"]) == 2
    assert any(loss.field == "text" and loss.why == "OpenCode supplies its own instructions" for loss in lost)


def test_a_printed_run_is_a_session_of_answers() -> None:
    messages = OPENCODE.lift(sample("printed.jsonl")).messages
    assert [message.role for message in messages] == [
        "assistant",
        "tool",
        "tool",
        "assistant",
        "event",
        "event",
        "event",
    ]
    first, second = messages[0], messages[3]
    assert [call.id for call in first.parts if isinstance(call, ToolCall)] == ["call_1", "call_2"]
    assert (first.stop_reason, first.cost, first.usage) == (
        "tool_calls",
        0.002,
        {"totalTokens": 110, "inputTokens": 100, "outputTokens": 10},
    )
    assert first.created_at == "2026-01-01T10:00:01.000Z"
    assert isinstance(second.parts[0], Reasoning)


def test_a_loss_of_a_printed_run_is_at_its_row() -> None:
    conversion = pipeline.convert(sample("printed.jsonl"), OPENCODE, dialects.get("openai-chat"))
    assert {loss.where for loss in conversion.losses if loss.field == "reasoning"} == {"/5/part"}
    assert {loss.where for loss in conversion.losses if loss.field == "message.stopReason"} == {"/4/part/reason"}


def test_an_answer_with_an_error_is_written_so_that_it_is_sent_again() -> None:
    conversion = written(Message("user", [Text("Hi")]), Message("assistant", [Text("Ho")], error="overloaded"))
    assert conversion.document["messages"][1]["info"]["error"]["name"] == "MessageAbortedError"
