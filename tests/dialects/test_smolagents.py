"""smolagents: calls of failed steps, code, observations of several calls, plans, and where the instructions are."""

from __future__ import annotations

from typing import Any

from convcli.dialects.smolagents import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of


def sample(name: str) -> Any:
    return next(one.document for one in samples_of("smolagents") if one.path.name == f"{name}.json")


def lifted(*steps: Any) -> list[Message]:
    return DIALECT.lift(list(steps)).messages


def result_of(message: Message) -> ToolResult:
    [result] = message.parts
    assert isinstance(result, ToolResult)
    return result


def test_the_instructions_are_those_of_the_first_input() -> None:
    messages = lifted(*sample("tool-calling"))
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert isinstance(messages[0].parts[0], Text)
    assert [message.role for message in lifted(*sample("succinct"))][:2] == ["user", "assistant"]


def test_a_step_has_text_calls_usage_and_time() -> None:
    answer = lifted(*sample("plain"))[2]
    assert answer.parts == [Text("Four."), ToolCall("c1", "final_answer", {"answer": "4"})]
    assert answer.usage == {"inputTokens": 9, "outputTokens": 3, "totalTokens": 12}
    assert answer.created_at == "2026-11-23T23:12:24.250000Z"


def test_observations_of_several_calls_are_the_result_of_the_first() -> None:
    _, _, observed, *_ = lifted(*sample("errors"))
    result = result_of(observed)
    assert (result.tool_call_id, result.value) == ("c1", "22 C in Tokyo\n22 C in Osaka")


def test_a_failed_step_has_the_calls_of_the_message_of_the_model() -> None:
    messages = lifted(*sample("errors"))
    call, failed = messages[3], result_of(messages[4])
    assert [part.id for part in call.parts if isinstance(part, ToolCall)] == ["c3"]
    assert failed.kind == "error"
    assert failed.value.startswith("Error executing tool 'get_weather'")
    assert messages[4].extras == {"smolagents": {"error": {"type": "AgentToolExecutionError"}}}


def test_an_error_without_a_call_is_one_of_the_answer() -> None:
    answer = lifted(*sample("errors"))[5]
    assert answer.parts == [Text("no call at all")]
    assert answer.error is not None
    assert answer.error.startswith("Error while parsing tool call")


def test_code_is_the_text_of_a_custom_tool() -> None:
    [call] = [part for part in lifted(*sample("code"))[1].parts if isinstance(part, ToolCall)]
    assert (call.custom, call.arguments) == (True, {"input": "print(get_weather(city='Tokyo'))"})


def test_a_plan_is_an_answer() -> None:
    plan = lifted(*sample("planning"))[1]
    assert (plan.role, len(plan.parts)) == ("assistant", 1)
    assert plan.usage == {"inputTokens": 30, "outputTokens": 8, "totalTokens": 38}


def test_an_unknown_step_is_an_event() -> None:
    step = {"step_number": 1, "model_output": "Hi.", "observations": None}
    assert [message.role for message in lifted(step, {"new": {"a": 1}})] == ["assistant", "event"]


def test_its_steps_are_detected() -> None:
    assert detection.detect(sample("code")).dialect == "smolagents"
    assert isinstance(DIALECT.lift(sample("code")), Transcript)
    assert pipeline.validate(sample("code"), DIALECT) == []
