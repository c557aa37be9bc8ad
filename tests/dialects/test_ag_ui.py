"""AG-UI: turns, runs and the input of an agent in its events."""

from __future__ import annotations

from typing import Any

from convcli import dialects
from convcli.engine import conversion
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

AG_UI = dialects.get("ag-ui")
IDS = {"threadId": "t", "runId": "run_1"}
BEGIN, END = {"type": "RUN_STARTED", **IDS}, {"type": "RUN_FINISHED", **IDS}


def lift(*events: Any) -> Transcript:
    return AG_UI.lift(Rows([BEGIN, *events, END]))


def lifted(name: str) -> Transcript:
    return AG_UI.lift(next(one.document for one in samples_of("ag-ui") if one.path.name == f"{name}.jsonl"))


def written(*messages: Message) -> list[Any]:
    return list(AG_UI.lower(Transcript(list(messages)), Options()))


def text(id_: str, *deltas: str) -> list[Any]:
    grows = [{"type": "TEXT_MESSAGE_CONTENT", "messageId": id_, "delta": delta} for delta in deltas]
    start = {"type": "TEXT_MESSAGE_START", "messageId": id_, "role": "assistant"}
    return [start, *grows, {"type": "TEXT_MESSAGE_END", "messageId": id_}]


def call(id_: str, **more: Any) -> list[Any]:
    start = {"type": "TOOL_CALL_START", "toolCallId": id_, "toolCallName": "f", **more}
    return [start, {"type": "TOOL_CALL_ARGS", "toolCallId": id_, "delta": "{}"}]


def result(id_: str) -> Any:
    return {"type": "TOOL_CALL_RESULT", "messageId": f"of-{id_}", "toolCallId": id_, "content": "ok"}


def test_calls_without_a_message_are_of_one_turn_until_a_result_comes() -> None:
    messages = lift(*call("1"), *call("2"), result("1"), result("2"), *call("3")).messages
    assert [[part.type for part in message.parts] for message in messages] == [
        ["tool_call", "tool_call"],
        ["tool_result"],
        ["tool_result"],
        ["tool_call"],
    ]


def test_a_call_belongs_to_the_message_that_it_names() -> None:
    [first, second] = lift(*text("a", "Hi."), *call("1", parentMessageId="a"), *call("2", parentMessageId="b")).messages
    assert (first.id, len(first.parts)) == ("a", 2)
    assert (second.id, len(second.parts)) == ("b", 1)


def test_thoughts_precede_the_text_of_their_turn_and_interleaved_texts_stay_separate() -> None:
    thought = [
        {"type": "REASONING_MESSAGE_CHUNK", "messageId": "r", "delta": "Hm"},
        {"type": "REASONING_MESSAGE_CHUNK", "delta": "."},
    ]
    first, second = text("a", "1", "2"), text("b", "3", "4")
    mixed = [first[0], second[0], first[1], second[1], first[2], second[2]]
    messages = lift(*thought, *mixed).messages
    assert [type(part) for part in messages[0].parts] == [Reasoning, Text]
    assert [part.text for message in messages for part in message.parts if isinstance(part, Text)] == ["12", "34"]


def test_the_id_of_a_group_without_thoughts_is_kept() -> None:
    events = [{"type": f"REASONING_{step}", "messageId": "g"} for step in ("START", "END")]
    transcript = lift(*events, *text("m", "Hi."))
    assert [part.value for message in transcript.messages[:2] for part in message.parts] == events  # type: ignore[union-attr]
    assert AG_UI.lower(transcript, Options()) == [BEGIN, *events, *text("m", "Hi."), END]
    assert events[0] in [part.value for message in lift(events[0]).messages for part in message.parts]  # type: ignore[union-attr]


def test_agent_input_is_read_once() -> None:
    messages = [message for message in lifted("two-runs").messages if message.role != "event"]
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    [failed] = messages[2].parts
    assert isinstance(failed, ToolResult)
    assert (failed.kind, failed.value, failed.name) == ("error", "no such page", "open_page")


def test_a_snapshot_is_read_where_nothing_came_before() -> None:
    roles = [message.role for message in lifted("snapshot-first").messages]
    assert roles == ["system", "user", "assistant", "tool", "user", "assistant"]


def test_a_subagent_of_another_dialect_is_lost_for_a_true_reason() -> None:
    other = Transcript([Message("user", [Text("Hi.")]), Message("assistant", [Text("Noon.")], parent_call_id="c1")])
    [why] = [loss.why for loss in conversion.lower(other, AG_UI).losses if loss.field == "message.parentCallId"]
    assert why == "convcli does not write subagent events, which name the call that began the subagent"


def test_subagent_output_belongs_to_the_call_that_began_it() -> None:
    assert [one.parent_call_id for one in lifted("subagent").messages if one.role == "assistant"] == [None, "c1", None]


def test_a_failure_ends_the_turn_that_is_open() -> None:
    rows = [BEGIN, *text("a", "Hi."), {"type": "RUN_ERROR", "message": "no tokens", "code": "quota"}]
    [message] = AG_UI.lift(Rows(rows)).messages
    assert (message.stop_reason, message.error) == ("error", "no tokens")
    assert message.extras == {"ag-ui": {"error": {"code": "quota"}}}


def test_everything_before_the_last_question_is_input_with_its_media_and_failures() -> None:
    events = written(
        Message("user", [Text("Which?"), Media("image", data="aGk=", media_type="image/png")]),
        Message("assistant", [ToolCall("1", "f", {})]),
        Message("tool", [ToolResult("1", "f", "error", "gone")]),
        Message("user", [Text("And now?")]),
        Message("assistant", [Text("None.")]),
    )
    given = events[0]["input"]["messages"]
    assert [message["role"] for message in given] == ["user", "assistant", "tool", "user"]
    assert given[0]["content"][1]["source"] == {"type": "data", "value": "aGk=", "mimeType": "image/png"}
    assert (given[2]["content"], given[2]["error"]) == ("gone", "gone")
    assert [event["type"] for event in events[1:]] == [
        *(f"TEXT_MESSAGE_{step}" for step in ("START", "CONTENT", "END")),
        "RUN_FINISHED",
    ]
