"""Tools as servers of the Model Context Protocol list them."""

from __future__ import annotations

from typing import Any

from convcli.dialects.mcp.blocks import NAME
from convcli.kit.fitting import is_foreign_builtin
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.model.transcript import Origin, Path, ToolDefinition, Transcript

TOOL = Keys(
    "name title description inputSchema outputSchema annotations execution icons _meta", carried="execution icons _meta"
)


def lift_tool(native: Native, path: Path, origin: Origin) -> ToolDefinition:
    origin.tools.append(path)
    carried, spelling = TOOL.take(native)
    tool = ToolDefinition(
        native["name"],
        native.get("description") or None,
        native["inputSchema"],
        title=native.get("title") or None,
        output_schema=native.get("outputSchema"),
        annotations=native.get("annotations") or None,
        extras=extras_of(NAME, carried),
    )
    origin.spell(tool, spelling or {})
    return tool


def lower_tools(transcript: Transcript, own: bool) -> list[Native]:
    """The tools but those that a vendor runs by itself."""
    spellings = transcript.spelling(NAME)
    tools = [tool for tool in transcript.tools or () if own or not is_foreign_builtin(tool)]
    return [_lower_tool(tool, spellings, own) for tool in tools]


def _lower_tool(tool: ToolDefinition, spellings: dict[int, Any], own: bool) -> Native:
    """What a tool takes must be an object; what it answers, too, in the older version of the protocol."""
    schema, output = tool.parameters or {}, tool.output_schema
    answers = own or (isinstance(output, dict) and output.get("type") == "object")
    native: Native = {"name": tool.name}
    for key, value in (
        ("title", tool.title),
        ("description", tool.description),
        ("inputSchema", schema if own or schema.get("type") == "object" else {**schema, "type": "object"}),
        ("outputSchema", output if answers else None),
        ("annotations", tool.annotations),
    ):
        if value is not None:
            native[key] = value
    return TOOL.put(native, carried_by(tool.extras, NAME), spellings.get(id(tool)))
