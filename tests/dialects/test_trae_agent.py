"""Trae Agent: the new messages of each call, results with an error, and what was not sent any more."""

from __future__ import annotations

import copy

import pytest

from convcli.dialects.trae_agent import DIALECT
from convcli.engine import detection
from convcli.model.transcript import Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

SAMPLES = {one.path.stem: one.document for one in samples_of("trae-agent")}


def lifted(name: str) -> Transcript:
    return DIALECT.lift(SAMPLES[name])


@pytest.mark.parametrize("name", SAMPLES)
def test_a_trajectory_is_recognized(name: str) -> None:
    assert detection.detect(SAMPLES[name]).dialect == "trae-agent"


def test_the_new_messages_of_each_call_are_the_conversation() -> None:
    transcript = lifted("run")
    assert [message.role for message in transcript.messages] == [
        *("system", "user", "assistant"),
        *("tool", "tool", "assistant", "assistant"),
    ]
    assert (transcript.model, transcript.messages[2].stop_reason) == ("claude-sonnet-4", "tool_calls")
    assert transcript.messages[2].usage == {
        "inputTokens": 120,
        "outputTokens": 40,
        "cacheWriteTokens": 0,
        "cacheReadTokens": 20,
        "reasoningTokens": 0,
    }


def test_a_failed_result_has_its_text_and_its_error() -> None:
    failed, read = (message.parts[0] for message in lifted("run").messages[3:5])
    assert failed == ToolResult(
        "toolu_1", "bash", "multimodal", [Text("1 failed"), Text("exit status 1")], is_error=True
    )
    assert read == ToolResult("toolu_2", "bash", "text", "def add(a, b):\n    return a - b\n")


def test_a_result_that_no_call_of_the_model_followed_is_read_from_the_last_step() -> None:
    transcript = lifted("step-limit")
    call, result = (message.parts[0] for message in transcript.messages[-2:])
    assert isinstance(call, ToolCall)
    assert call.extras == {"trae-agent": {"id": "fc_1"}}
    assert result == ToolResult("call_1", "bash", "text", "a.txt", extras={"trae-agent": {"id": "fc_1"}})
    assert transcript.origin is not None
    assert transcript.origin.places[-1][0] == ("agent_steps", 0, "llm_messages", 0)


def test_messages_of_a_call_that_failed_are_read() -> None:
    assert [message.role for message in lifted("failed-call").messages] == ["system", "user"]


def test_messages_that_were_sent_are_not_read_twice() -> None:
    document = copy.deepcopy(SAMPLES["run"])
    assert document["agent_steps"][-1]["llm_messages"] == document["llm_interactions"][-1]["input_messages"]


def test_a_model_that_differs_from_that_of_the_answer_is_kept() -> None:
    document = copy.deepcopy(SAMPLES["plain"])
    document["llm_interactions"][0]["model"] = "gemini-latest"
    answer = DIALECT.lift(document).messages[1]
    assert answer.model == "gemini-2.5-pro"
    assert (answer.extras or {})["trae-agent"]["model"] == "gemini-latest"
