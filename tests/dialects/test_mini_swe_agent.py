"""mini-swe-agent: both versions, the Responses API, answers that the program refused, and the last row."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.mini_swe_agent import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

SAMPLES = {one.path.stem: one.document for one in samples_of("mini-swe-agent")}


def lifted(name: str) -> Transcript:
    return DIALECT.lift(SAMPLES[name])


def roles(transcript: Transcript) -> list[str]:
    return [message.role for message in transcript.messages]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_trajectory_is_no_list_of_another_dialect(name: str) -> None:
    assert detection.detect(SAMPLES[name]).dialect == "mini-swe-agent"


@pytest.mark.parametrize("name", ["calls", "responses"])
def test_calls_and_results_are_read_from_both_apis(name: str) -> None:
    messages = lifted(name).messages
    text, call = messages[2].parts[:2]
    assert text == Text("I list them.")
    assert isinstance(call, ToolCall)
    assert (call.id, call.name, call.arguments) == ("call_1", "bash", {"command": "ls"})
    [result] = messages[3].parts
    assert isinstance(result, ToolResult)
    assert (result.tool_call_id, result.name) == ("call_1", "bash")
    assert result.value.startswith("<returncode>0</returncode>\n<output>\na.txt")
    assert messages[3].created_at is not None


def test_version_1_is_texts_with_times() -> None:
    transcript = lifted("text-version-1")
    assert roles(transcript) == ["system", "user", *["assistant", "user"] * 3]
    assert all(message.created_at for message in transcript.messages)
    assert transcript.model == "deterministic"


def test_an_answer_has_the_model_and_the_counts_of_its_response() -> None:
    answer = lifted("step-limit").messages[2]
    assert (answer.model, answer.stop_reason) == ("gpt-4o", "stop")
    assert answer.usage == {"inputTokens": 10, "outputTokens": 20, "totalTokens": 30}


def test_a_response_of_the_responses_api_has_its_own_facts() -> None:
    document = copy.deepcopy(SAMPLES["responses"])
    document["messages"][2] |= {
        "model": "gpt-5",
        "status": "completed",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    document["messages"][4]["output"] = []
    messages = DIALECT.lift(document).messages
    assert (messages[2].model, messages[2].stop_reason) == ("gpt-5", "tool_calls")
    assert messages[2].usage == {"inputTokens": 3, "outputTokens": 4}
    assert (messages[4].role, messages[4].parts) == ("assistant", [])


def test_an_answer_that_the_program_refused_is_an_event_whose_loss_is_content() -> None:
    assert roles(lifted("refused-answers")) == ["system", "user", *["event", "user"] * 2]
    losses = pipeline.convert(SAMPLES["refused-answers"], DIALECT, dialects.get("openai-chat")).losses
    assert [loss.where for loss in losses if loss.level == "content"] == [
        "/messages/2/extra/response",
        "/messages/3/extra/response",
    ]


@pytest.mark.parametrize(
    ("changed", "is_event"), [({}, False), ({"content": "Two."}, True), ({"extra": {}}, True), ({"note": "x"}, True)]
)
def test_the_last_row_is_an_event_only_if_it_does_not_repeat_the_end(changed: dict[str, Any], is_event: bool) -> None:
    document = copy.deepcopy(SAMPLES["calls"])
    document["messages"][-1] |= changed
    assert (roles(DIALECT.lift(document))[-1] == "event") is is_event


def test_a_row_of_the_program_between_messages_is_an_event() -> None:
    document = copy.deepcopy(SAMPLES["calls"])
    document["messages"].append({"role": "user", "content": "Go on."})
    messages = DIALECT.lift(document).messages
    assert [message.role for message in messages[-2:]] == ["event", "user"]
    assert messages[-1] == Message("user", [Text("Go on.")])
