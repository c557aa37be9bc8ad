"""Crush: parts of a type and data, ends of answers, summaries, and times in two units."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.crush import DIALECT
from convcli.engine import detection
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

CALL = {"type": "tool_call", "data": {"id": "c1", "name": "f", "input": '{"n":1}', "finished": True}}


def part(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def message(role: str, *parts: Any, **columns: Any) -> dict[str, Any]:
    return {"id": "m", "role": role, "parts": list(parts), **columns}


def session(*messages: Any, **columns: Any) -> dict[str, Any]:
    return {"id": "s", **columns, "messages": list(messages)}


def lifted(*messages: Any, **columns: Any) -> list[Message]:
    return DIALECT.lift(session(*messages, **columns)).messages


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        (part("text", text="Hi."), Text("Hi.")),
        (part("reasoning", thinking="Hm.", signature="c2ln"), Reasoning("Hm.", metadata={"signature": "c2ln"})),
        (
            part("reasoning", thinking="", thought_signature="dGhv", started_at=7),
            Reasoning("", metadata={"thoughtSignature": "dGhv"}, extras={"crush": {"started_at": 7}}),
        ),
        (CALL, ToolCall("c1", "f", {"n": 1})),
        (part("image_url", url="https://example.com/a.png"), Media("image", url="https://example.com/a.png")),
        (
            part("binary", Path="a.png", MIMEType="image/png", Data="aGk="),
            Media("image", data="aGk=", media_type="image/png", name="a.png"),
        ),
        (part("shell_command", command="ls"), Opaque("crush", part("shell_command", command="ls"))),
    ],
)
def test_each_type_of_part(native: Any, expected: Part) -> None:
    assert lifted(message("assistant", native))[0].parts == [expected]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"content": "one"}, ToolResult("c1", "f", "text", "one")),
        ({"content": "no", "is_error": True}, ToolResult("c1", "f", "error", "no")),
        (
            {"content": "", "data": "aGk=", "mime_type": "image/png"},
            ToolResult("c1", "f", "multimodal", [Media("image", data="aGk=", media_type="image/png")]),
        ),
    ],
)
def test_each_result_is_a_message(data: dict[str, Any], expected: ToolResult) -> None:
    native = part("tool_result", tool_call_id="c1", name="f", **data)
    _, *answers = lifted(message("assistant", CALL), message("tool", native, native))
    assert [answer.parts for answer in answers] == [[expected]] * 2


def test_the_end_of_an_answer_is_its_stop_reason() -> None:
    ends = [part("finish", reason=reason, time=7) for reason in ("end_turn", "canceled", "new")]
    messages = lifted(*(message("assistant", part("text", text="Hi."), end) for end in ends))
    assert [one.stop_reason for one in messages] == ["stop", "aborted", None]
    assert [len(one.parts) for one in messages] == [1, 1, 1]
    assert messages[2].extras == {"crush": {"finish": {"reason": "new", "time": 7}}}


def test_a_summary_is_marked_or_named_by_the_session() -> None:
    native = message("assistant", part("text", text="About tea."))
    assert lifted({**native, "is_summary_message": 1})[0].replaces == "all"
    assert lifted(native, summary_message_id="m")[0].replaces == "all"
    assert lifted({**native, "is_summary_message": 0})[0].replaces is None


@pytest.mark.parametrize("time", [1754000000, 1754000000000])
def test_times_are_in_seconds_or_milliseconds(time: int) -> None:
    transcript = DIALECT.lift(session(message("user", part("text", text="Hi.")), created_at=time))
    assert (transcript.created_at or "")[:19] == "2025-07-31T22:13:20"


def test_its_sessions_are_detected() -> None:
    assert detection.detect(session(message("user", part("text", text="Hi.")))).dialect == "crush"
    assert detection.evidence(session(message("user", {"type": "text", "text": "Hi."})), DIALECT) is None
