"""Tools as MCP servers list them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from convcli.dialects.mcp.blocks import NAME
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, without_nulls
from convcli.kit.passes import on_tools
from convcli.model.transcript import Path, ToolDefinition, Transcript

TOOL = Keys("name= title= description= inputSchema= outputSchema= annotations= execution icons _meta")
NEWER = ("resultType", "ttlMs", "cacheScope")
"""Keys of a tool list that only 2026-07-28 has."""


def lift_tools(natives: Sequence[Native], prefix: Path, context: LiftContext) -> list[ToolDefinition]:
    """Returns the tools of the list at `prefix`."""
    context.origin.tools = [(*prefix, i) for i in range(len(natives))]
    return [_lift_tool(native) for native in natives]


def _lift_tool(native: Native) -> ToolDefinition:
    return ToolDefinition(
        native["name"],
        native.get("description") or None,
        native["inputSchema"],
        title=native.get("title") or None,
        output_schema=native.get("outputSchema"),
        annotations=without_nulls(native.get("annotations") or {}) or None,
        extras=make_extras(NAME, TOOL.extra(native)),
    )


def fit_tools(transcript: Transcript) -> Transcript:
    """Makes each tool's parameters an object; the older protocol version also drops output schemas of other types."""
    return on_tools(lambda tool: fit_tool(tool, newer=is_newer(transcript)))(transcript)


def is_newer(transcript: Transcript) -> bool:
    """True for a tool list with keys of the newer protocol version."""
    return any(key in get_extras(transcript.extras, NAME) for key in NEWER)


def fit_tool(tool: ToolDefinition, *, newer: bool) -> ToolDefinition:
    """Returns one tool with object schemas."""
    changes: dict[str, Any] = {}
    if (tool.parameters or {}).get("type") != "object":
        changes["parameters"] = {**(tool.parameters or {}), "type": "object"}
    schema = tool.output_schema
    if schema is not None and not newer and not (isinstance(schema, dict) and schema.get("type") == "object"):
        changes["output_schema"] = None
    return replace(tool, **changes) if changes else tool


def write_tools(transcript: Transcript) -> list[Native]:
    """Returns the list of the tools."""
    return [_write_tool(tool) for tool in transcript.tools or ()]


def _write_tool(tool: ToolDefinition) -> Native:
    fields = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.parameters or {},
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    }
    return TOOL.put(without_nulls(fields), get_extras(tool.extras, NAME))
