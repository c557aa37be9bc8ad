"""Tool definitions in the OpenTelemetry GenAI conventions, and lists that may be JSON strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.dialects.otel_genai.messages import NAME
from convcli.kit.objects import Keys, Native, except_keys, get_extras, make_extras, without_nulls
from convcli.model.errors import ContentError
from convcli.model.transcript import ToolDefinition
from convcli.wire import exact_json

TOOL = Keys("type name description parameters strict", groups="tool")


def listed(value: Any, accepts: Callable[[Any], bool]) -> list[Any] | None:
    """Returns the items of an attribute, which may be a JSON string; None for anything else."""
    if isinstance(value, str):
        try:
            value = exact_json.parse_text(value)[0]
        except ContentError:
            return None
    return value if isinstance(value, list) and all(map(accepts, value)) else None


def is_tool(native: Any) -> bool:
    """True for a tool definition."""
    body = native.get("function", native) if isinstance(native, dict) else None
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        return False
    typed = isinstance(body.get("parameters") or {}, dict) and isinstance(body.get("strict") or False, bool)
    return typed and isinstance(body.get("description") or "", str)


def lift_tool(native: Native) -> ToolDefinition:
    """Reads a definition, which some frameworks nest under `function`; one of another type is kept whole."""
    if (native.get("type") or "function") != "function":
        return ToolDefinition(native.get("name") or str(native["type"]), extras={NAME: {"tool": native}})
    body = native.get("function", native)
    outer = {} if body is native else except_keys(native, "type", "function")
    description, strict = body.get("description") or None, body.get("strict")
    return ToolDefinition(
        body["name"],
        description,
        body.get("parameters"),
        strict,
        extras=make_extras(NAME, TOOL.extra(body), beside=outer),
    )


def write_tool(tool: ToolDefinition) -> Native:
    """Writes a tool definition, flat."""
    extra = dict(get_extras(tool.extras, NAME))
    if "tool" in extra:
        whole: Native = extra["tool"]
        return whole
    stated = {"name": tool.name, "description": tool.description, "parameters": tool.parameters, "strict": tool.strict}
    native = {"type": "function", **without_nulls(stated)}
    return TOOL.put({**native, **extra.pop("beside", {})}, extra)
