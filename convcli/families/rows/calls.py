"""Calls and tools of fine-tuning rows: `{"name", "arguments"}` and lists of them, as JSON strings."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.kit.passes import on_parts
from convcli.kit.values import read_json
from convcli.model.transcript import Path, ToolDefinition
from convcli.wire import exact_json

CALL = CallTable("name=name arguments=arguments")
TOOL = Keys("type function")
FUNCTION = Keys("name description parameters")


# ---------------------------------------------------------------- calls


def read_natives(text: str) -> list[Native] | None:
    """Returns the calls in a JSON string, an object or a list of them; None for any other string."""
    value = read_json(text)
    natives = value if isinstance(value, list) else [value]
    return natives if natives and all(map(is_call, natives)) else None


def is_call(value: Any) -> bool:
    """True for an object with the name of a tool, and readable arguments."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return False
    return value.get("arguments") is None or isinstance(value["arguments"], (dict, str))


without_raw_arguments = on_parts(
    lambda call, _: replace(call, raw_arguments=None) if call.raw_arguments else call, "tool_call"
)
"""Drops raw arguments: the arguments of a call are an object."""


def is_quoted(native: Native) -> bool:
    """True if the arguments of a call are a string, which training quotes again."""
    return isinstance(native.get("arguments"), str)


# ---------------------------------------------------------------- tools


def read_tools(text: str) -> list[Native] | None:
    """Returns the definitions in a JSON string; None for any other string."""
    value = read_json(text)
    return value if are_tools(value) else None


def are_tools(value: Any) -> bool:
    """True for a list of definitions."""
    return isinstance(value, list) and all(map(_is_tool, value))


def _is_tool(value: Any) -> bool:
    function = _function(value) if isinstance(value, dict) else {}
    return isinstance(function.get("name"), str) and all(
        isinstance(function.get(key), kind) or function.get(key) is None
        for key, kind in (("description", str), ("parameters", dict))
    )


def _function(native: Native) -> Native:
    inner = native.get("function")
    return inner if isinstance(inner, dict) else native


def lift_tool(native: Native, context: LiftContext, path: Path) -> ToolDefinition:
    """Lifts a definition, bare or under `function`."""
    context.origin.tools.append(path)
    function = _function(native)
    extra = FUNCTION.extra(function)
    if function is not native:
        outer = TOOL.extra(native) or {}
        outer |= {"type": native["type"]} if native.get("type") not in (None, "function") else {}
        extra = {**(extra or {}), **({"tool": outer} if outer else {})}
    elif extra and extra.get("type") == "function":
        extra = omit(extra, "type")
    description = function.get("description") or None
    extras = make_extras(context.dialect, extra)
    return ToolDefinition(function["name"], description, function.get("parameters"), extras=extras)


def write_tool(tool: ToolDefinition, dialect: str, *, wrapped: bool = False) -> Native:
    """Writes a definition: bare, or under `function` if there are other keys around it, or if all are `wrapped`."""
    extra = dict(get_extras(tool.extras, dialect))
    outer = extra.pop("tool", {} if wrapped else None)
    native: Native = {"name": tool.name}
    if tool.description is not None:
        native["description"] = tool.description
    if tool.parameters is not None:
        native["parameters"] = tool.parameters
    native = FUNCTION.put(native, extra)
    return native if outer is None else TOOL.put({"type": "function", "function": native}, outer)


def write_json(value: Any) -> str:
    """Returns the value as a JSON string."""
    return exact_json.write_text(value)
