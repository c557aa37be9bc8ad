"""Runs of subagents: which messages stand below which call."""

from __future__ import annotations

from convcli.model.transcript import Message, Text, ToolCall, Transcript
from convcli.views.agent_runs import DEEPEST, runs_of, summary_of
from convcli.views.rows import CallPairs


def call(id_: str, parent: str | None = None) -> Message:
    return Message("assistant", [ToolCall(id_, "Task", {})], parent_call_id=parent)


def runs(*messages: Message) -> dict[int, list[int]]:
    """The indexes of the messages of each run, by the number of its call."""
    found, nested = runs_of(messages, CallPairs(Transcript(list(messages))))
    indexes = {number: [index for index, _ in run] for number, run in found.items()}
    assert nested == {index for run in indexes.values() for index in run}
    return indexes


def test_messages_that_name_a_call_before_them_are_its_run() -> None:
    inside = Message("user", [Text("Look.")], parent_call_id="a")
    assert runs(call("a"), inside, call("b", parent="a"), Message("user", [], parent_call_id="b")) == {
        0: [1, 2],
        1: [3],
    }
    assert runs(inside, call("a")) == runs(call("a", parent="a")) == {}


def test_runs_that_are_too_deep_stand_after_the_others() -> None:
    chain = [call(str(depth), parent=str(depth - 1)) for depth in range(DEEPEST + 2)]
    assert list(runs(*chain)) == list(range(DEEPEST))


def test_a_folded_run_says_how_long_it_is() -> None:
    run = [(1, Message("user", [Text("Look.")])), (2, call("b"))]
    assert summary_of(run) == "run of the agent: 2 messages, 1 call"
