"""Antigravity: results in the order of the calls, arguments in strings, notes of the program, and what it left out."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.antigravity import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, Text, ToolCall, ToolResult

ASKED = {"source": "USER_EXPLICIT", "type": "USER_INPUT", "content": "Hi."}


def log(*steps: Any) -> Rows:
    return Rows([{"step_index": i, "status": "DONE", **step} for i, step in enumerate(steps)])


def lifted(*steps: Any) -> list[Message]:
    return DIALECT.lift(log(*steps)).messages


def answer(**keys: Any) -> dict[str, Any]:
    return {"source": "MODEL", "type": "PLANNER_RESPONSE", **keys}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "args": arguments}


def result(kind: str, **keys: Any) -> dict[str, Any]:
    return {"source": "MODEL", "type": kind, **keys}


def test_an_answer_has_its_thought_its_text_and_its_calls() -> None:
    (message,) = lifted(answer(thinking="Hm.", content="Yes.", tool_calls=[call("list_dir", Path='"/p"')]))
    assert message.parts == [Reasoning("Hm."), Text("Yes."), ToolCall("call_1", "list_dir", {"Path": "/p"})]


@pytest.mark.parametrize(("text", "value"), [('"a"', "a"), ("[1,2]", [1, 2]), ("/tmp/a b", "/tmp/a b"), ("null", None)])
def test_an_argument_that_is_no_json_stays_a_string(text: str, value: Any) -> None:
    (message,) = lifted(answer(tool_calls=[call("f", n=text)]))
    assert message.parts == [ToolCall("call_1", "f", {"n": value})]


def test_results_answer_the_calls_in_order() -> None:
    calls = answer(tool_calls=[call("list_dir"), call("view_file")])
    messages = lifted(calls, result("LIST_DIRECTORY", content="a"), result("VIEW_FILE", content="b"))
    assert [message.parts for message in messages[1:]] == [
        [ToolResult("call_1", "list_dir", "text", "a")],
        [ToolResult("call_2", "view_file", "text", "b")],
    ]


def test_a_result_without_a_call_is_that_of_the_tool_that_the_step_names() -> None:
    (message,) = lifted(result("SEARCH_WEB", content="a"))
    assert message.parts == [ToolResult("call_1", "search_web", "text", "a")]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"status": "ERROR", "error": "no rule"}, ToolResult("call_1", "f", "error", "no rule")),
        ({"status": "CANCELED"}, ToolResult("call_1", "f", "error", "", status="cancelled")),
    ],
)
def test_a_step_may_fail(keys: dict[str, Any], expected: ToolResult) -> None:
    _, message = lifted(answer(tool_calls=[call("f")]), result("RUN_COMMAND", **keys))
    assert message.parts == [expected]


def test_a_checkpoint_replaces_everything_before_it_and_histories_are_events() -> None:
    history = {"source": "SYSTEM", "type": "CONVERSATION_HISTORY"}
    _, summary, event = lifted(ASKED, {"source": "SYSTEM", "type": "CHECKPOINT", "content": "# Resuming"}, history)
    assert (summary.role, summary.parts, summary.replaces) == ("user", [Text("# Resuming")], "all")
    assert event == Message("event", [Opaque("antigravity", log({}, {}, history)[2])])


def test_values_that_the_program_cut_are_reported() -> None:
    document = log(ASKED, answer(content="Yes", truncated_fields=["content"]))
    (finding,) = pipeline.validate(document, DIALECT)
    assert (finding.code, finding.where) == ("displayed-only", "/1/truncated_fields")


def test_its_steps_are_detected() -> None:
    assert detection.detect(log(ASKED, answer(content="Yo."))).dialect == "antigravity"
    assert detection.evidence(Rows([{"type": "USER_INPUT", "content": "Hi."}]), DIALECT) is None


def test_a_step_of_an_unknown_source_is_a_result() -> None:
    (message,) = lifted({"source": "SANDBOX", "type": "GENERIC", "content": "Done."})
    assert message.parts == [ToolResult("call_1", "generic", "text", "Done.")]
