"""The syntax of a model's text without tool support: answers and results as JSON, tools in the system text."""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Native
from convcli.model.errors import ContentError
from convcli.model.transcript import ToolDefinition
from convcli.wire import exact_json

HEAD = "You can call these tools:\n\n"
PARAMETERS = "  Parameters: "
"""The prefix of a tool's schema, which is on one line."""
TAIL = """

Answer with one JSON object and with nothing else.
To call a tool: {"thought": "why", "tool_call": {"name": "its name", "input": {}}}
To answer: {"thought": "why", "response": "your answer"}
Call one tool at a time. What it gave comes as {"tool_result": {"name": "its name", "result": "what it gave"}}"""


# ---------------------------------------------------------------- JSON in the text


def read_object(text: str) -> Native | None:
    """Returns the JSON object of the text, bare or in a code fence; None for any other text."""
    text = _unfenced(text)
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = exact_json.parse(text)
    except ContentError:
        return None
    return value if isinstance(value, dict) else None


def _unfenced(text: str) -> str:
    text = text.strip()
    if not text.startswith("```"):
        return text
    lines = text.split("\n")
    return "\n".join(lines[1:-1] if lines[-1].strip() == "```" else lines[1:]).strip()


def is_answer(value: Native) -> bool:
    """True for an answer in the requested format. A call takes precedence over a response."""
    call, response = value.get("tool_call"), value.get("response")
    texts = all(value.get(key) is None or isinstance(value[key], str) for key in ("thought", "response"))
    return texts and (_is_call(call) if call is not None else response is not None)


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("input", {}), dict)


def is_result(value: Native) -> bool:
    """True for an object with only a tool result."""
    inner = value.get("tool_result")
    return len(value) == 1 and isinstance(inner, dict) and isinstance(inner.get("name"), str) and "result" in inner


# ---------------------------------------------------------------- tools in the system text


def system_text(text: str, tools: list[ToolDefinition]) -> str:
    """Returns the system text with the tools, if there are any."""
    if not tools:
        return text
    return (text and text + "\n\n") + HEAD + "\n".join(map(_describe, tools)) + TAIL


def _describe(tool: ToolDefinition) -> str:
    schema = "none" if tool.parameters is None else exact_json.write_text(tool.parameters)
    return f"- {tool.name}: {tool.description or ''}\n{PARAMETERS}{schema}"


def read_system(content: str) -> tuple[str, list[ToolDefinition]] | None:
    """Returns text and tools of a system text if convcli would write it exactly so, else None."""
    if not content.endswith(TAIL):
        return None
    before, _, listed = content[: -len(TAIL)].partition(HEAD)
    text = before.removesuffix("\n\n")
    tools = _read_tools(listed)
    return (text, tools) if tools and system_text(text, tools) == content else None


def _read_tools(listed: str) -> list[ToolDefinition] | None:
    """Returns one tool per schema line; the caller checks the other lines by writing the tools again."""
    tools: list[ToolDefinition] = []
    head: list[str] = []
    for line in listed.split("\n"):
        if not line.startswith(PARAMETERS):
            head.append(line)
            continue
        written = line.removeprefix(PARAMETERS)
        schema = None if written == "none" else read_object(written)
        if schema is None and written != "none":
            return None
        name, _, description = "\n".join(head).removeprefix("- ").partition(": ")
        tools.append(ToolDefinition(name, description or None, schema))
        head = []
    return tools
