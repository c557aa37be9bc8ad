"""Tools that take a free text: between the APIs that have them, and as a function for those that have not."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.kit import custom
from convcli.model.transcript import Message, ToolCall, ToolDefinition, Transcript

CHAT, RESPONSES = dialects.get("openai-chat"), dialects.get("openai-responses")
GRAMMAR = {"syntax": "lark", "definition": "start: x"}
TEXT = "Buy milk\nand eggs"
IN_CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "note", "input": TEXT}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ],
    "tools": [
        {"type": "custom", "custom": {"name": "note", "format": {"type": "grammar", "grammar": GRAMMAR}}},
        {"type": "custom", "custom": {"name": "free", "description": "Any text."}},
    ],
    "tool_choice": {"type": "custom", "custom": {"name": "note"}},
}
IN_RESPONSES: dict[str, Any] = {
    "model": "m",
    "input": [
        {"type": "message", "role": "user", "content": "Go."},
        {"type": "custom_tool_call", "call_id": "c1", "name": "note", "input": TEXT},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"},
    ],
    "tools": [
        {"type": "custom", "name": "note", "format": {"type": "grammar", **GRAMMAR}},
        {"type": "custom", "name": "free", "description": "Any text."},
    ],
    "tool_choice": {"type": "custom", "name": "note"},
}


def test_both_apis_of_openai_have_custom_tools_and_nothing_is_lost_between_them() -> None:
    there, back = pipeline.convert(IN_CHAT, CHAT, RESPONSES), pipeline.convert(IN_RESPONSES, RESPONSES, CHAT)
    assert (there.document, there.losses) == (IN_RESPONSES, [])
    assert (back.document, back.losses) == (IN_CHAT, [])


@pytest.mark.parametrize("name", ["anthropic", "gemini", "bedrock-converse", "mistral", "ollama", "cohere", "mcp"])
def test_others_get_a_function_that_takes_the_text_as_input(name: str) -> None:
    done = pipeline.convert(IN_RESPONSES, RESPONSES, dialects.get(name))
    written = dialects.get(name).lift(done.document)
    calls = [part for message in written.messages for part in message.parts if isinstance(part, ToolCall)]
    assert [call.arguments for call in calls] == [{"input": TEXT}]
    assert [(loss.kind, loss.where) for loss in done.losses if loss.field == "tool_call.custom"] == [
        ("encoded", "/input/1")
    ]
    if written.tools:
        assert [tool.parameters for tool in written.tools] == [custom.PARAMETERS] * 2


def test_the_output_of_an_earlier_call_keeps_its_type() -> None:
    output = {"type": "custom_tool_call_output", "call_id": "c0", "output": "ok"}
    document = {"previous_response_id": "resp_1", "input": [output]}
    again = RESPONSES.lower(RESPONSES.lift(document))
    assert again["input"][0]["type"] == "custom_tool_call_output"


def test_a_call_that_holds_more_than_a_text_is_that_of_a_function() -> None:
    call = ToolCall("c1", "note", {"input": TEXT, "more": 1}, custom=True)
    document = CHAT.lower(Transcript([Message("assistant", [call])]))
    assert document["messages"][0]["tool_calls"][0]["type"] == "function"
    assert custom.input_of(ToolCall("c1", "note", {"input": TEXT})) is None


def test_a_custom_tool_takes_a_text_and_nothing_else() -> None:
    fitted = custom.tools(Transcript([], tools=[ToolDefinition("note", parameters={}, strict=True, custom={})]))
    assert fitted.tools == [ToolDefinition("note", parameters=custom.PARAMETERS, custom=custom.TEXT)]
    assert custom.tools(fitted) is fitted
