"""Google's ADK: what is read of its sessions, in both cases of keys, and what is written."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.model.transcript import Media, Message, Part, Text, ToolCall, ToolResult, Transcript
from convcli.wire import exact_json
from convcli.wire.decimals import Decimal
from tests.support import samples_of

ADK = dialects.get("google-adk")


def lifted(name: str) -> Transcript:
    return ADK.lift(next(one.document for one in samples_of("google-adk") if one.path.name == f"{name}.json"))


def test_an_event_has_its_agent_its_model_and_its_counts() -> None:
    answer = lifted("session").messages[1]
    assert (answer.id, answer.name, answer.model) == ("e2", "tide_agent", "tide-large")
    assert answer.created_at == "2026-01-01T10:00:02.000Z"
    assert answer.usage == {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110}


def test_keys_in_snake_case_say_the_same() -> None:
    transcript = lifted("snake-case")
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool"]
    assert [message.created_at for message in transcript.messages] == [
        "2026-01-01T10:00:00.500Z",
        "2026-01-01T10:00:01.123Z",
        "2026-01-01T10:00:02.000Z",
    ]
    assert transcript.updated_at == "2026-01-01T10:00:09.000Z"


def test_a_time_beyond_milliseconds_is_carried() -> None:
    answer = lifted("snake-case").messages[1]
    assert float((answer.extras or {})["google-adk"]["event"]["timestamp"]) == 1767261601.123456


def test_calls_without_ids_are_answered_by_name() -> None:
    parts = [part for message in lifted("snake-case").messages for part in message.parts]
    [call] = [part for part in parts if isinstance(part, ToolCall)]
    [result] = [part for part in parts if isinstance(part, ToolResult)]
    assert call.id == result.tool_call_id


def test_each_result_of_an_event_is_a_message() -> None:
    results = [message.parts[0] for message in lifted("two-results").messages if message.role == "tool"]
    assert [one.kind for one in results if isinstance(one, ToolResult)] == ["text", "error"]


def test_events_without_a_content_are_events() -> None:
    assert [message.role for message in lifted("failed").messages] == ["user", "event", "assistant"]
    assert [message.role for message in lifted("hand-over").messages][3] == "event"


def test_media_are_parts() -> None:
    assert [type(part) for part in lifted("media").messages[0].parts][1:] == [Media, Media]


def test_the_answers_to_one_turn_are_one_event_of_its_agent() -> None:
    calls: list[Part] = [ToolCall("1", "f", {}), ToolCall("2", "g", {})]
    session = ADK.lower(
        Transcript(
            [
                Message("system", [Text("Be brief.")]),
                Message("user", [Text("Go on.")], created_at="2026-03-01T10:00:00.250Z"),
                Message("assistant", calls, model="m-1", usage={"inputTokens": 4, "outputTokens": 2}),
                Message("tool", [ToolResult("1", "f", "text", "ok")]),
                Message("tool", [ToolResult("2", "g", "error", "gone")]),
            ],
            id="s",
        )
    )
    assert (session["id"], session["appName"], session["userId"]) == ("s", "convcli", "user")
    asked, called, answered = session["events"]
    assert (asked["author"], asked["timestamp"]) == ("user", 1772359200.25)
    assert (called["author"], called["modelVersion"]) == ("model", "m-1")
    assert called["usageMetadata"]["promptTokenCount"] == 4
    responses = [part["functionResponse"]["response"] for part in answered["content"]["parts"]]
    assert responses == [{"output": "ok"}, {"error": "gone"}]


@pytest.mark.parametrize("time", [Decimal("1e400"), 2**80, -(2**80)])
def test_a_time_outside_of_all_years_is_kept_as_it_is(time: Any) -> None:
    session = next(one.document for one in samples_of("google-adk") if one.path.name == "session.json")
    transcript = ADK.lift({**session, "lastUpdateTime": time})
    assert transcript.updated_at is None
    assert exact_json.write(ADK.lower(transcript)["lastUpdateTime"]) == exact_json.write(time)
