"""τ²-bench: one transcript for each simulation, the user's own tools, and what is around the simulations."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.tau2 import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Text, ToolCall, ToolResult
from tests.cli_cases import run
from tests.support import samples_of

SIMULATIONS = {one.path.stem: one.document for one in samples_of("tau2")}
RESULTS = {
    "timestamp": "2026-08-18T10:00:09.000000",
    "info": {"environment_info": {"domain_name": "airline", "policy": "Cancel only with a reason."}},
    "tasks": [{"id": "1", "user_scenario": {"instructions": "You want to cancel booking B7."}}],
    "simulations": [SIMULATIONS["plain"], SIMULATIONS["user-tools"]],
    "simulation_index": None,
}


def simulation(name: str) -> Any:
    return copy.deepcopy(SIMULATIONS[name])


@pytest.mark.parametrize("document", [RESULTS, *SIMULATIONS.values()])
def test_results_and_a_single_simulation_are_recognized(document: Any) -> None:
    assert detection.detect(document).dialect == "tau2"


def test_an_answer_states_calls_model_and_token_counts() -> None:
    transcript = DIALECT.lift(simulation("plain"))
    assert (transcript.id, transcript.created_at) == ("sim-1", "2026-08-18T10:00:00.000000")
    answer = transcript.messages[2]
    assert answer.parts == [ToolCall("call_1", "get_booking", {"id": "B7"})]
    assert (answer.model, answer.usage) == ("gpt-4.1-2025-04-14", {"inputTokens": 100, "outputTokens": 20})
    assert transcript.messages[3].parts == [
        ToolResult("call_1", "get_booking", "text", '{"id": "B7", "state": "open"}')
    ]


def test_calls_of_the_simulated_user_are_events_whose_loss_is_content() -> None:
    document = simulation("user-tools")
    messages = DIALECT.lift(document).messages
    assert [message.role for message in messages] == ["assistant", "user", "assistant", "event", "event", "user"]
    conversion = pipeline.convert(document, DIALECT, dialects.get("openai-chat"))
    assert [one["role"] for one in conversion.document["messages"]] == ["assistant", "user", "assistant", "user"]
    lost = [loss for loss in conversion.losses if loss.level == "content"]
    assert [loss.where for loss in lost] == ["/messages/3", "/messages/4"]
    assert {loss.why for loss in lost} == {"the agent does not see what the simulated user calls"}


def test_several_results_are_a_message_each_and_a_failure_is_an_error() -> None:
    messages = DIALECT.lift(simulation("several-results")).messages
    assert [message.parts[0] for message in messages if message.role == "tool"] == [
        ToolResult("c1", "get_booking", "text", '{"id": "B7"}'),
        ToolResult("c2", "get_booking", "error", "Error: no such booking"),
    ]


def test_a_call_of_the_agent_may_be_stated_as_that_of_another() -> None:
    document = simulation("plain")
    document["messages"][2]["tool_calls"][0]["requestor"] = "user"
    [call] = DIALECT.lift(document).messages[2].parts
    assert call.extras == {"tau2": {"requestor": "user"}}


def test_a_simulation_begins_with_its_own_policy() -> None:
    first = DIALECT.lift(simulation("policy")).messages[0]
    assert (first.role, first.parts) == ("system", [Text("Answer from the knowledge base only.")])


def test_calls_without_ids_are_paired_by_their_order() -> None:
    call, result = (message.parts[0] for message in DIALECT.lift(simulation("no-ids")).messages[2:4])
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert call.id == result.tool_call_id != ""


def test_info_and_tasks_come_back_from_a_restore_file(tmp_path: Path) -> None:
    source, chats, kept, again = (tmp_path / name for name in ("in.json", "out.json", "kept.jsonl", "again.json"))
    source.write_text(json.dumps(RESULTS))
    assert run("convert", source, "--to", "openai-chat", "-o", chats, "--restore-file", kept).returncode == 0
    assert run("restore", chats, "--restore-file", kept, "-o", again).returncode == 0
    assert json.loads(again.read_bytes()) == RESULTS
