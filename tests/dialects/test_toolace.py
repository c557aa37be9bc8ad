"""Rows of ToolACE: calls as Python writes them, results in a list, and tools in the middle of the instruction."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli.dialects.toolace import DIALECT
from convcli.engine import detection
from convcli.families.rows.signatures import read_calls
from convcli.model.transcript import Message, Text, ToolResult


def row(*turns: tuple[str, str], system: str = "Call.") -> dict[str, Any]:
    return {"system": system, "conversations": [{"from": tag, "value": value} for tag, value in turns]}


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('[f(a="x")]', [("f", {"a": "x"})]),
        ("[f(), g(b=[1, 2.5], c={'k': None})]", [("f", {}), ("g", {"b": [1, 2.5], "c": {"k": None}})]),
        ('[News/Search.v2 of All(q="a, b) ]", n=-1)]', [("News/Search.v2 of All", {"q": "a, b) ]", "n": -1})]),
        (r"""[f(a='it\'s', b="say \"hi\"")]""", [("f", {"a": "it's", "b": 'say "hi"'})]),
        ("[f(a=true, b=null, c=True, d=None)]", [("f", {"a": True, "b": None, "c": True, "d": None})]),
        (' [f(a="x")]\n', [("f", {"a": "x"})]),
    ],
)
def test_calls_are_read_as_python_writes_them(text: str, calls: Any) -> None:
    assert read_calls(text) == [{"name": name, "arguments": arguments} for name, arguments in calls]


@pytest.mark.parametrize(
    "text",
    [
        "[f(a=Oslo)]",
        '[f("Oslo")]',
        "[f(a=1, a=2)]",
        "[f(a=1)] and more",
        "f(a=1)",
        "[]",
        "[f]",
        "[f(a={1, 2})]",
        "[f(a=1e999)]",
        "[(a=1)]",
    ],
)
def test_other_texts_are_no_calls(text: str) -> None:
    assert read_calls(text) is None


@pytest.mark.parametrize("text", ["[f(a=" + "[" * 9999 + ")]", "[f(a=" + "-" * 9999 + "1)]", "[" * 9999 + ")]"])
def test_a_deep_literal_is_no_call(text: str) -> None:
    assert read_calls(text) is None


def test_each_result_of_a_list_answers_its_call() -> None:
    results = [{"name": "f", "results": {"x": 1}}, {"name": "g", "results": "y", "cached": True}]
    messages = DIALECT.lift(row(("assistant", "[f(), g()]"), ("tool", json.dumps(results)))).messages
    assert messages[2:] == [
        Message("tool", [ToolResult("call_1", "f", "data", {"x": 1})]),
        Message("tool", [ToolResult("call_2", "g", "text", "y", extras={"toolace": {"cached": True}})]),
    ]


@pytest.mark.parametrize("value", ["done", "[]", '[{"name": "f", "results": 1}]', '[{"name": "f"}, {"name": "g"}]'])
def test_a_value_that_is_not_one_result_for_each_call_is_a_text(value: str) -> None:
    messages = DIALECT.lift(row(("assistant", "[f(), g()]"), ("tool", value))).messages
    assert messages[2:] == [Message("tool", [ToolResult("call_1", "f", "text", value)])]


def test_the_list_of_tools_is_cut_out_of_the_instruction() -> None:
    tools = [{"name": "f", "description": "F.", "parameters": {"type": "dict", "properties": {"a": {"type": "float"}}}}]
    transcript = DIALECT.lift(row(("user", "Hi?"), system=f"Before:\n{json.dumps(tools)}\nAfter."))
    assert transcript.messages[0] == Message("system", [Text("Before:\nAfter.")])
    (tool,) = transcript.tools or []
    assert tool.parameters == {"type": "object", "properties": {"a": {"type": "number"}}}
    assert tool.extras == {"toolace": {"types": {"": "dict", "/a": "float"}}}


def test_rows_of_sharegpt_stay_sharegpts() -> None:
    document = row(("user", "Hi?"), ("assistant", "Yo."))
    assert detection.detect(document).dialect == "sharegpt"
    assert detection.detect(row(("user", "Hi?"), ("assistant", "[f(a=1)]"))).dialect == "toolace"
