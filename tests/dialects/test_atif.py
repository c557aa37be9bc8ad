"""ATIF: what an agent observes in its step, what has no field there, and the trajectories of subagents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.atif import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Media, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

CHAT = dialects.get("openai-chat")
AGENT = {"name": "walker", "version": "1"}
CALL = {"tool_call_id": "a", "function_name": "f", "arguments": {}}


def trajectory(*steps: Any, **more: Any) -> Any:
    number_messages = [{"step_id": i, **step} for i, step in enumerate(steps, 1)]
    return {"schema_version": "ATIF-v1.8", "agent": AGENT, "steps": number_messages, **more}


def agent(*calls: Any, results: Any = (), **more: Any) -> Any:
    observed = {"observation": {"results": list(results)}} if results else {}
    return {"source": "agent", "message": "", **({"tool_calls": list(calls)} if calls else {}), **observed, **more}


def lifted(*steps: Any, **more: Any) -> list[Message]:
    return DIALECT.lift(trajectory(*steps, **more)).messages


def written(*messages: Message, **fields: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages), **fields), DIALECT)
    losses = {f"{loss.kind} {loss.field}" for loss in conversion.losses}
    return conversion.document["steps"], losses - {"invented extras.atif.agent"}


def called(*ids: str) -> Message:
    return Message("assistant", [ToolCall(id_, "f", {}) for id_ in ids])


def answer(id_: str, kind: Any = "text", value: Any = "x", **fields: Any) -> Message:
    return Message("tool", [ToolResult(id_, "f", kind, value, **fields)])


ADDED: dict[int, Callable[[Any], Any]] = {
    1: lambda document: document.update(extra={"run": 7}),
    2: lambda document: step(document, 1).update(observation={"results": [{"content": "reset"}]}),
    3: lambda document: step(document, 3)["metrics"].update(completion_token_ids=[4, 5]),
    4: lambda document: step(document, 3)["metrics"].update(prompt_token_ids=[1, 2, 3]),
    5: lambda document: (
        document["agent"].update(tool_definitions=[{"type": "function", "function": {"name": "f", "parameters": {}}}]),
        step(document, 2).update(is_copied_context=True),
    ),
    6: lambda document: step(document, 2).update(
        message=[{"type": "text", "text": "Look."}, media("image", "image/png", "a.png")]
    ),
    7: lambda document: (
        document.update(
            trajectory_id="main",
            subagent_trajectories=[{**trajectory({"source": "agent", "message": "In."}), "trajectory_id": "sub"}],
        ),
        step(document, 3).update(llm_call_count=1),
        step(document, 3)["tool_calls"][0].update(extra={"n": 1}),
        step(document, 3)["observation"]["results"][0].update(
            extra={"score": 2}, subagent_trajectory_ref=[{"trajectory_id": "sub"}]
        ),
    ),
    8: lambda document: step(document, 2)["message"].append(media("audio", "audio/wav", "a.wav")),
}
"""What each version added to the first (docs/rfcs/0001-trajectory-format.md of Harbor, and its models; read
2026-11-23)."""


def step(document: Any, number: int) -> Any:
    return document["steps"][number - 1]


def media(kind: str, type_: str, path: str) -> Any:
    return {"type": kind, "source": {"media_type": type_, "path": path}}


def of_version(minor: int) -> Any:
    """Returns a trajectory with everything that this version supports."""
    document = trajectory(
        {"source": "system", "message": "Be brief."},
        {"source": "user", "message": "Look.", "timestamp": "2026-01-01T10:00:00Z"},
        agent(
            dict(CALL),
            results=[{"source_call_id": "a", "content": "fine"}],
            reasoning_content="Then look.",
            model_name="m",
            metrics={"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 3, "cost_usd": 0.5},
        ),
        session_id="s",
        schema_version=f"ATIF-v1.{minor}",
    )
    for version in range(1, minor + 1):
        ADDED[version](document)
    return document


@pytest.mark.parametrize("minor", range(9))
def test_everything_in_a_version_is_read_and_the_newest_is_written(minor: int) -> None:
    document = of_version(minor)
    assert detection.detect(document).dialect == "atif"
    assert pipeline.convert(document, DIALECT, DIALECT).document == document
    transcript = DIALECT.lift(document)
    parts = [part for message in transcript.messages for part in message.parts]
    of_agent = [message for message in transcript.messages if message.cost]
    assert [part.id for part in parts if isinstance(part, ToolCall)] == ["a"]
    assert sum(isinstance(part, ToolResult) for part in parts) == 1
    assert sum(message.role == "user" for message in transcript.messages) == (1 if minor < 2 else 2)
    assert sum(isinstance(part, Media) for part in parts) == (minor > 5) + (minor > 7)
    assert sum(message.parent_call_id == "a" for message in transcript.messages) == (minor > 6)
    assert (len(transcript.tools or ()), transcript.id) == (minor > 4, "s")
    assert [message.usage for message in of_agent] == [{"inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 3}]
    assert not pipeline.lower(transcript, DIALECT).findings
    through = pipeline.convert(pipeline.lower(transcript, CHAT).document, CHAT, DIALECT).document
    assert through["schema_version"] == "ATIF-v1.8"


def test_an_unknown_agent_is_invented_and_reported() -> None:
    conversion = pipeline.lower(Transcript([Message("user", [Text("Hi.")])], model="m"), DIALECT)
    assert conversion.document["agent"] == {"name": "unknown", "version": "unknown", "model_name": "m"}
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [("invented", "extras.atif.agent")]


def test_the_results_of_a_turn_are_in_its_step() -> None:
    steps, losses = written(called("a", "b"), answer("b"), answer("a"))
    assert [result["source_call_id"] for result in steps[0]["observation"]["results"]] == ["b", "a"]
    assert (len(steps), losses) == (1, set())


def test_a_result_that_names_no_call_answers_one_of_its_step_that_no_other_answers() -> None:
    step = agent(
        CALL, {**CALL, "tool_call_id": "b"}, results=[{"content": "1"}, {"source_call_id": "a", "content": "2"}]
    )
    assert [
        message.parts[0].tool_call_id for message in lifted(step)[1:] if isinstance(message.parts[0], ToolResult)
    ] == ["b", "a"]


def test_what_an_agent_observes_without_a_call_is_a_user_message_and_answers_no_earlier_call() -> None:
    document = trajectory(agent(CALL), agent(results=[{"content": "dark", "extra": {"is_error": True}}]))
    message = DIALECT.lift(document).messages[-1]
    assert (message.role, message.parts) == ("user", [Text("dark")])
    assert message.extras == {"atif": {"observed": {"extra": {"is_error": True}}}}
    codes = [(finding.code, finding.where) for finding in pipeline.validate(document, DIALECT)]
    assert codes == [("missing-tool-result", "/steps/0/tool_calls/0/tool_call_id")]


def test_results_without_calls_come_back_in_their_step() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    document = trajectory(agent(message="ls", results=[{"content": "x"}, {"content": blocks}]), agent(message="done"))
    transcript = DIALECT.lift(document)
    assert [message.role for message in transcript.messages] == ["assistant", "user", "user", "assistant"]
    conversion = pipeline.lower(transcript, DIALECT)
    assert conversion.document["steps"] == document["steps"]
    assert conversion.losses == []
    chat = pipeline.convert(document, DIALECT, CHAT)
    assert "orphan-tool-result" not in {finding.code for finding in chat.findings}


def test_a_result_without_its_call_is_observed_in_a_step_of_its_own() -> None:
    steps, losses = written(called("a", "b"), answer("a"), answer("zz"), answer("b"))
    assert [step["source"] for step in steps] == ["agent", "system"]
    assert [result["source_call_id"] for result in steps[0]["observation"]["results"]] == ["a", "b"]
    assert steps[1]["observation"] == {"results": [{"content": "x", "extra": {"source_call_id": "zz"}}]}
    assert losses == {"moved message", "dropped tool_result.name"}


@pytest.mark.parametrize(
    ("message", "native"),
    [
        (answer("a", "error", "No."), {"content": "No.", "extra": {"is_error": True}}),
        (answer("a", "text", "x", status="cancelled"), {"content": "x", "extra": {"status": "cancelled"}}),
        (
            answer("a", "multimodal", [Text("x"), Text("y")], is_error=True),
            {"content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}], "extra": {"is_error": True}},
        ),
    ],
)
def test_a_failure_is_in_the_extra_of_a_result(message: Message, native: Any) -> None:
    steps, losses = written(called("a"), message)
    assert steps[0]["observation"]["results"] == [{"source_call_id": "a", **native}]
    assert losses == set()


@pytest.mark.parametrize(
    ("parts", "step", "lost"),
    [
        ([Text("x"), ToolCall("a", "f", {}), Text("y")], {"tool_calls": [CALL]}, {"moved tool_call", "moved text"}),
        ([Reasoning("a"), Reasoning("b")], {"reasoning_content": "a\n\nb"}, {"changed reasoning.text"}),
        ([Reasoning("a", metadata={"x": "s"})], {"reasoning_content": "a"}, {"dropped reasoning.metadata.x"}),
        ([Refusal("No.")], {"message": "No."}, {"changed refusal"}),
        ([Media("image", data="YQ==", media_type="image/png")], {"message": ""}, {"dropped image"}),
        (
            [Media("image", url="https://example.com/a.png", media_type="image/png")],
            {"message": [{"type": "image", "source": {"media_type": "image/png", "path": "https://example.com/a.png"}}]},
            set(),
        ),
    ],
)  # fmt: skip
def test_what_an_agent_step_can_store(parts: list[Part], step: Any, lost: set[str]) -> None:
    steps, losses = written(Message("assistant", parts))
    assert {key: steps[0].get(key) for key in step} == step
    assert bool(losses) == bool(lost)
    assert losses & lost or not lost


def test_counts_and_costs_of_an_agent_are_metrics_and_those_of_others_are_lost() -> None:
    usage = {"inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 4}
    steps, losses = written(Message("assistant", [Text("x")], usage=usage, cost=0.5), Message("user", [], cost=1))
    metrics = {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 4, "cost_usd": 0.5}
    assert (steps[0]["metrics"], "metrics" in steps[1], losses) == (metrics, False, {"dropped message.cost"})


RUN = {"trajectory_id": "t-1", "agent": AGENT, "steps": [{"step_id": 1, "source": "agent", "message": "Here."}]}


def test_the_trajectory_of_a_subagent_belongs_to_the_call_whose_result_refers_to_it() -> None:
    result = {"source_call_id": "a", "content": "x", "subagent_trajectory_ref": [{"trajectory_id": "t-1"}]}
    document = trajectory(agent(CALL, results=[result]), subagent_trajectories=[RUN])
    transcript = DIALECT.lift(document)
    assert [message.parent_call_id for message in transcript.messages] == [None, None, "a"]
    conversion = pipeline.convert(document, DIALECT, dialects.get("openai-chat"))
    assert len(conversion.document["messages"]) == 2
    assert [loss.where for loss in conversion.losses if loss.field == "branch"] == ["/subagent_trajectories/0/steps/0"]
    assert pipeline.lower(transcript, DIALECT).document == {
        **document,
        "subagent_trajectories": [{**RUN, "steps": RUN["steps"]}],
    }


def test_a_run_that_another_dialect_knows_becomes_a_trajectory_with_the_id_of_its_call() -> None:
    run = Message("assistant", [Text("Here.")], parent_call_id="a")
    conversion = pipeline.lower(Transcript([called("a"), answer("a"), run]), DIALECT)
    native = conversion.document
    assert native["steps"][0]["observation"]["results"][0]["subagent_trajectory_ref"] == [{"trajectory_id": "a"}]
    assert native["subagent_trajectories"][0]["trajectory_id"] == "a"
    assert DIALECT.lift(native).messages[-1].parent_call_id == "a"
    assert not [loss for loss in conversion.losses if loss.field == "message.parentCallId"]
