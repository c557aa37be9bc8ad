"""Tools as MCP servers list them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from convcli.dialects.mcp.blocks import NAME
from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import Definitions
from convcli.kit.objects import Native, get_extras, without_nulls
from convcli.kit.passes import on_tools
from convcli.model.transcript import Path, ToolDefinition, Transcript

DEFINITIONS = Definitions(
    "name=name title=title description=description inputSchema=parameters outputSchema=output_schema "
    "annotations=annotations execution icons _meta"
)
NEWER = ("resultType", "ttlMs", "cacheScope")
"""Keys of a tool list that only 2026-07-28 has."""


def lift_tools(natives: Sequence[Native], prefix: Path, context: LiftContext) -> list[ToolDefinition]:
    """Returns the tools of the list at `prefix`."""
    tools = DEFINITIONS.lift_each(natives, prefix, context)
    for tool in tools:
        tool.annotations = without_nulls(tool.annotations or {}) or None
    return tools


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
    return [DEFINITIONS.write(tool, NAME) for tool in transcript.tools or ()]
