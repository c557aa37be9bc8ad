"""AutoGen: model contexts, runs with a row for each kind of part, thoughts, sources and events."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.autogen import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.errors import ContentError
from convcli.model.transcript import Media, Message, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

CALL = ToolCall("c1", "f", {"n": 1})
NATIVE_CALL = {"id": "c1", "arguments": '{"n":1}', "name": "f"}
RESULT = {"content": "1", "name": "f", "call_id": "c1", "is_error": False}


def of_model(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"content": content, **more, "type": kind}


def of_run(kind: str, content: Any, source: str = "assistant", **more: Any) -> dict[str, Any]:
    return {"source": source, "models_usage": None, **more, "content": content, "type": kind}


def lifted(*natives: Any) -> list[Message]:
    return DIALECT.lift(list(natives)).messages


def written(*messages: Message, form: str = "list") -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(form=form))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_a_thought_is_text_next_to_calls_and_reasoning_next_to_a_text() -> None:
    acting = of_model("AssistantMessage", [NATIVE_CALL], thought="Let me see.", source="assistant")
    telling = of_model("AssistantMessage", "1.", thought="Easy.", source="assistant")
    messages = [
        Message("assistant", [Text("Let me see."), CALL]),
        Message("assistant", [Reasoning("Easy."), Text("1.")]),
    ]
    assert lifted(acting, telling) == messages
    assert written(*messages) == ([acting, telling], set())


def test_reasoning_next_to_calls_is_dropped_in_a_model_context_and_kept_in_a_run() -> None:
    answer = Message("assistant", [Reasoning("Hm."), Text("Let me see."), CALL])
    document, losses = written(answer)
    assert document == [of_model("AssistantMessage", [NATIVE_CALL], thought="Let me see.", source="assistant")]
    assert losses == {"dropped reasoning"}
    document, losses = written(answer, form="events")
    assert document == [
        of_run("ThoughtEvent", "Hm."),
        of_run("TextMessage", "Let me see."),
        of_run("ToolCallRequestEvent", [NATIVE_CALL]),
    ]
    assert losses == {"moved text", "moved tool_call", "invented message.grouping"}


def test_a_source_that_is_not_the_role_is_a_name() -> None:
    user, other = of_model("UserMessage", "Hi.", source="user"), of_model("UserMessage", "Hi.", source="critic")
    assert lifted(user, other) == [Message("user", [Text("Hi.")]), Message("user", [Text("Hi.")], name="critic")]
    assert written(*lifted(user, other)) == ([user, other], set())


def test_in_a_run_the_source_tells_the_user_from_agents() -> None:
    rows = [of_run("TextMessage", "Hi.", "user", id="1"), of_run("TextMessage", "Ho.", "writer")]
    assert [(one.role, one.name, one.id) for one in lifted(*rows)] == [
        ("user", None, "1"),
        ("assistant", "writer", None),
    ]


def test_results_of_one_turn_are_in_one_message() -> None:
    failed = {**RESULT, "content": "no", "call_id": "c2", "is_error": True}
    native = of_model("FunctionExecutionResultMessage", [RESULT, failed])
    messages = [
        Message("tool", [ToolResult("c1", "f", "text", "1")]),
        Message("tool", [ToolResult("c2", "f", "error", "no")]),
    ]
    assert lifted(native) == messages
    calls = Message("assistant", [CALL, ToolCall("c2", "f", {})])
    assert written(calls, *messages)[0][1] == native


def test_images_are_data_without_a_media_type_and_media_of_results_follow_them() -> None:
    image = Media("image", "iVBORw0KGgo=", media_type="image/png")
    native = of_model("UserMessage", ["Look.", {"data": "iVBORw0KGgo="}], source="user")
    assert lifted(native) == [Message("user", [Text("Look."), image])]
    seen = Message("tool", [ToolResult("c1", "f", "multimodal", [Text("A dot."), image])])
    document, _ = written(Message("assistant", [CALL]), seen)
    assert document[1]["content"] == [{**RESULT, "content": "A dot."}]
    assert document[2]["content"] == ["Attached to the result of f (c1):", {"data": "iVBORw0KGgo="}]


def test_a_run_has_usage_and_keeps_its_events_and_types() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    rows = [
        of_run("SelectSpeakerEvent", ["writer"], "manager"),
        of_run("StopMessage", "TERMINATE", id="2", models_usage=usage),
    ]
    event, stop = lifted(*rows)
    assert (event.role, stop.usage) == ("event", {"inputTokens": 3, "outputTokens": 2})
    assert stop.extras == {"autogen": {"type": "StopMessage"}}
    conversion = pipeline.convert(rows, DIALECT, DIALECT, Options(form="events"))
    assert (conversion.document, conversion.losses) == (rows, [])


def test_an_incomplete_usage_and_instructions_are_dropped_from_a_run() -> None:
    answer = Message("assistant", [Text("Hi.")], usage={"inputTokens": 3})
    document, losses = written(Message("system", [Text("Be brief.")]), answer, form="events")
    assert document == [of_run("TextMessage", "Hi.")]
    assert losses == {"dropped message", "dropped text", "dropped message.usage.inputTokens"}


def test_a_refusal_is_text() -> None:
    document, losses = written(Message("assistant", [Refusal("No.")]))
    assert (document[0]["content"], losses) == ("No.", {"changed refusal"})


def test_a_state_keeps_what_it_has_next_to_the_messages() -> None:
    context = {"messages": [of_model("UserMessage", "Hi.", source="user")], "k": 1}
    state = {"type": "AssistantAgentState", "version": "1.0.0", "llm_context": context}
    assert DIALECT.lift(state).extras == {"autogen": {"context": {"k": 1}}}
    assert pipeline.convert(state, DIALECT, DIALECT).document == state


def test_the_state_of_a_team_is_named_with_the_way_to_read_it() -> None:
    state = {"type": "TeamState", "version": "1.0.0", "agent_states": {"a": {"agent_state": {}}}}
    with pytest.raises(ContentError, match="the state of an AutoGen team") as refused:
        detection.detect(state)
    assert "--at '/agent_states/*/agent_state'" in (refused.value.help or "")
