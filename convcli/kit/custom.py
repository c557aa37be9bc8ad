"""OpenAI's custom tools, whose input is a free text, and how other formats write them: as an object with that text."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.kit.passes import on_parts, on_tools, when
from convcli.model import inventory as inventories
from convcli.model.dialect import Pass
from convcli.model.inventory import Inventory
from convcli.model.transcript import Message, ToolCall, ToolDefinition, Transcript

INPUT = "input"
PARAMETERS: dict[str, Any] = {"type": "object", "properties": {INPUT: {"type": "string"}}, "required": [INPUT]}
"""The input of a custom tool, as the parameters of a function."""
TEXT = {"type": "text"}
"""The default input format."""


def lift_input(text: str) -> dict[str, Any]:
    """Returns the arguments with this text."""
    return {INPUT: text}


def input_of(call: ToolCall) -> str | None:
    """Returns the text of a custom tool's call; None for any other call."""
    if not call.custom or call.raw_arguments is not None or len(call.arguments) != 1:
        return None
    text = call.arguments.get(INPUT)
    return text if isinstance(text, str) else None


def names_of(transcript: Transcript) -> frozenset[str]:
    """Returns the names of the custom tools."""
    return frozenset(tool.name for tool in transcript.tools or () if tool.custom is not None)


def _call(call: ToolCall, _: Message) -> ToolCall:
    return replace(call, custom=None) if call.custom and input_of(call) is None else call


def _tool(tool: ToolDefinition) -> ToolDefinition:
    if tool.custom is None:
        return tool
    fitted = replace(tool, custom=tool.custom or TEXT, parameters=PARAMETERS, strict=None, output_schema=None)
    return tool if fitted == tool else fitted


def has_custom(inventory: Inventory) -> bool:
    """Asks whether any call is of a custom tool."""
    return True in [call.custom for call in inventory.ask(inventories.calls)]


calls: Pass = when(has_custom, on_parts(_call, "tool_call"))
"""The call of a custom tool has only a text."""
tools: Pass = on_tools(_tool)
"""A custom tool's input is only a text."""
as_functions: Pass = when(
    has_custom, on_parts(lambda call, _: replace(call, custom=None) if call.custom else call, "tool_call")
)
"""Writes custom calls as function calls, for formats that borrow a writer that knows both."""
