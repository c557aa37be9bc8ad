"""Rows of ToolBench: thoughts, actions and their input as text, and tools as Python writes a list."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.toolbench import DIALECT
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult

TOOLS = [{"name": "f", "description": "It's F.", "parameters": {"type": "object", "properties": {}, "optional": []}}]
SYSTEM = f"Specifically, you have access to the following APIs: {TOOLS!r}"


def row(*turns: tuple[str, str]) -> dict[str, Any]:
    return {"id": "Step 1", "conversations": [{"from": tag, "value": value} for tag, value in turns]}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            '\nThought: I look.\nAction: f\nAction Input: {"a": 1}',
            [Reasoning("I look."), ToolCall("call_1", "f", {"a": 1})],
        ),
        ('\nThought: \nAction: f\nAction Input: {\n "a": 1\n}', [ToolCall("call_1", "f", {"a": 1})]),
        (
            "Thought: One.\nTwo.\nAction: f\nAction Input: {'a': None}",
            [Reasoning("One.\nTwo."), ToolCall("call_1", "f", {"a": None})],
        ),
        ("Action: f\nAction Input: {}", [ToolCall("call_1", "f", {})]),
        ('Action: f\nAction Input: {"a": ', [Text('Action: f\nAction Input: {"a": ')]),
        ("Action: f\nAction Input: cake", [Text("Action: f\nAction Input: cake")]),
        ("Thought: No action.", [Text("Thought: No action.")]),
    ],
)
def test_an_answer_is_a_thought_and_a_call(text: str, parts: Any) -> None:
    assert DIALECT.lift(row(("assistant", text))).messages == [Message("assistant", parts)]


def test_a_function_turn_answers_the_call_before_it() -> None:
    messages = DIALECT.lift(row(("assistant", "Action: f\nAction Input: {}"), ("function", "{}"))).messages
    assert messages[1] == Message("tool", [ToolResult("call_1", "f", "text", "{}")])


def test_the_tools_are_a_list_as_python_writes_it() -> None:
    transcript = DIALECT.lift(row(("system", SYSTEM), ("user", "Hi?")))
    (tool,) = transcript.tools or []
    assert (tool.name, tool.description, tool.parameters) == ("f", "It's F.", TOOLS[0]["parameters"])
    assert transcript.messages[0] == Message("system", [Text(SYSTEM.partition(" [")[0])])
    assert transcript.id == "Step 1"


@pytest.mark.parametrize("system", [SYSTEM[:-9], SYSTEM.partition("[")[0], SYSTEM.partition("[")[0] + "[1]"])
def test_a_list_of_tools_that_is_cut_off_stays_a_text(system: str) -> None:
    transcript = DIALECT.lift(row(("system", system)))
    assert (transcript.tools, transcript.messages[0].parts) == (None, [Text(system)])
