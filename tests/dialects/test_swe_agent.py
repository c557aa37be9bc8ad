"""SWE-agent: what is read of its trajectories."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.engine import detection
from convcli.model.transcript import Media, ToolCall, ToolResult, Transcript
from tests.support import samples_of

SWE = dialects.get("swe-agent")


def lifted(name: str) -> Transcript:
    return SWE.lift(next(one.document for one in samples_of("swe-agent") if one.path.name == f"{name}.json"))


def test_the_history_is_the_conversation_and_the_steps_are_kept() -> None:
    transcript = lifted("trajectory")
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert set((transcript.extras or {})["swe-agent"]) == {"environment", "trajectory", "info", "replay_config"}


def test_a_result_answers_the_first_call_that_it_names() -> None:
    for name, others in (("history", None), ("parts", ["call_2"])):
        message = next(one for one in lifted(name).messages if one.role == "tool")
        [result] = message.parts
        assert isinstance(result, ToolResult)
        assert (result.tool_call_id, result.name) == ("call_1", "bash")
        assert (message.extras or {})["swe-agent"].get("tool_call_ids") == others


def test_text_that_describes_actions_is_not_a_call() -> None:
    parts = [part for message in lifted("without-tools").messages for part in message.parts]
    assert not any(isinstance(part, (ToolCall, ToolResult)) for part in parts)


def test_images_are_media() -> None:
    [_, image] = lifted("images").messages[0].parts
    assert isinstance(image, Media)


@pytest.mark.parametrize("sample", samples_of("swe-agent"), ids=str)
def test_a_trajectory_is_no_request_of_chat_completions(sample: object) -> None:
    assert detection.detect(sample.document).dialect == "swe-agent"  # type: ignore[attr-defined]
