"""What a request of the Responses API says beside its items: tools, the choice among them, settings."""

from __future__ import annotations

from typing import Any

from convcli.families.responses.parts import inner
from convcli.kit.fitting import is_foreign_builtin
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.model.transcript import Origin, ToolChoice, ToolDefinition, Transcript
from convcli.wire import exact_json

TOOL = Keys("type name description parameters strict output_schema")

# ---------------------------------------------------------------- tools and choice


def lift_tools(native: Native, dialect: str, origin: Origin) -> list[ToolDefinition] | None:
    """Definitions of functions; a tool of another type is kept whole in extras."""
    if native.get("tools") is None:
        return None
    origin.tools = [("tools", i) for i in range(len(native["tools"]))]
    return [_lift_tool(tool, dialect, origin) for tool in native["tools"]]


def _lift_tool(native: Native, dialect: str, origin: Origin) -> ToolDefinition:
    if native["type"] != "function":
        name = native.get("name")
        return ToolDefinition(name if isinstance(name, str) else native["type"], extras={dialect: {"tool": native}})
    carried, spelling = TOOL.take(native)
    tool = ToolDefinition(
        native["name"],
        native.get("description") or None,
        native.get("parameters"),
        native.get("strict"),
        output_schema=native.get("output_schema"),
        extras=extras_of(dialect, carried),
    )
    origin.spell(tool, spelling or {})
    return tool


def lower_tools(transcript: Transcript, dialect: str, *, own: bool) -> Native:
    """`tools`, without built-in tools of other vendors."""
    if transcript.tools is None:
        return {}
    spellings = transcript.spelling(dialect)
    tools = (_lower_tool(tool, dialect, spellings.get(id(tool)), own=own) for tool in transcript.tools)
    return {"tools": [tool for tool in tools if tool is not None]}


def _lower_tool(tool: ToolDefinition, dialect: str, spelling: Spelling | None, *, own: bool) -> Native | None:
    carried = carried_by(tool.extras, dialect)
    if "tool" in carried:
        whole: Native = carried["tool"]
        return whole
    if is_foreign_builtin(tool):
        return None
    said = {
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": tool.strict,
        "output_schema": tool.output_schema if isinstance(tool.output_schema, dict) else None,
    }
    must = () if own else ("parameters", "strict")
    native = {key: value for key, value in said.items() if value is not None or key in must}
    native = {"type": "function", "name": tool.name, **native}
    return TOOL.put(native, carried, spelling)


def lift_choice(native: Native, transcript: Transcript) -> Native:
    """Set the tool choice; what the intermediate format cannot say of it is carried."""
    given = native.get("tool_choice")
    if not given:
        return {}
    transcript.tool_choice = given if isinstance(given, str) else _lift_choice(given)
    choice = transcript.tool_choice
    return {} if choice is not None and exact_json.exact(_lower_choice(choice), given) else {"tool_choice": given}


def _lift_choice(native: Native) -> ToolChoice | None:
    if native["type"] in ("function", "custom"):
        return {"name": native["name"]}
    if native["type"] != "allowed_tools":
        return None
    names = [tool.get("name") for tool in native["tools"]]
    return {"names": names} if names and all(isinstance(name, str) for name in names) else None


def lower_choice(transcript: Transcript, carried: Native) -> Native:
    """`tool_choice`, where it does not come back from what was carried."""
    if transcript.tool_choice is None or "tool_choice" in carried:
        return {}
    return {"tool_choice": _lower_choice(transcript.tool_choice)}


def _lower_choice(choice: ToolChoice) -> Any:
    if isinstance(choice, str):
        return choice
    if "name" in choice:
        return {"type": "function", "name": choice["name"]}
    tools = [{"type": "function", "name": name} for name in choice["names"]]
    return {"type": "allowed_tools", "mode": "required", "tools": tools}


# ---------------------------------------------------------------- settings

SETTINGS = {
    "parallel_tool_calls": "parallelToolCalls",
    "temperature": "temperature",
    "top_p": "topP",
    "max_output_tokens": "maxOutputTokens",
    "stream": "stream",
}
"""Settings whose value is the same on both sides."""
INSIDE = {"reasoning": ("effort", "reasoningEffort"), "text": ("format", "responseFormat")}
"""Objects of which one member is a setting; the rest is carried."""


def lift_settings(native: Native, transcript: Transcript, origin: Origin) -> Native:
    """Set the settings; the carried rest is what the intermediate format cannot say of them."""
    settings = {ours: native[theirs] for theirs, ours in SETTINGS.items() if native.get(theirs) is not None}
    carried: Native = {}
    for key in INSIDE:
        whole = native.get(key)
        if whole:
            found, rest = _lift_inside(key, whole)
            settings |= found
            carried |= {key: rest} if rest else {}
            if not exact_json.exact(_lower_inside(key, found, rest), whole):
                origin.document[key] = whole
    transcript.settings = settings or None
    return carried


def lower_settings(transcript: Transcript, spelling: Spelling, carried: Native) -> Native:
    """The settings that the Responses API has; objects as their source wrote them where that still says the same."""
    settings = transcript.settings or {}
    native: Native = {theirs: settings[ours] for theirs, ours in SETTINGS.items() if ours in settings}
    for key, (_, ours) in INSIDE.items():
        found = {ours: settings[ours]} if ours in settings else {}
        rest = inner(carried, key)
        written = spelling.get(key)
        same = written is not None and exact_json.exact(list(_lift_inside(key, written)), [found, rest])
        whole = written if same else _lower_inside(key, found, rest)
        native |= {key: whole} if whole else {}
    return native


def _lift_inside(key: str, whole: Native) -> tuple[Native, Native]:
    member, ours = INSIDE[key]
    rest = {name: value for name, value in whole.items() if value is not None}
    given = rest.pop(member, None)
    if not given:
        return {}, rest
    if key == "reasoning":
        return {ours: given}, rest
    said = _lift_format(given)
    if said["type"] not in ("text", "json", "json_schema"):
        return {}, {member: given, **rest}
    return {ours: said}, rest if exact_json.exact(_lower_format(said), given) else {member: given, **rest}


def _lower_inside(key: str, found: Native, rest: Native) -> Native:
    member, ours = INSIDE[key]
    if ours not in found or member in rest:
        return rest
    return {member: _lower_format(found[ours]) if key == "text" else found[ours], **rest}


def _lift_format(native: Native) -> Native:
    """`{"type": "text" | "json" | "json_schema"}`, for the last with `name`, `description`, `schema`, `strict`."""
    kind = native["type"]
    if kind == "json_schema":
        return {key: value for key, value in native.items() if value is not None}
    return {"type": "json" if kind == "json_object" else kind}


def _lower_format(format_: Native) -> Native:
    """The format as the Responses API writes it; a schema needs a name there."""
    if format_.get("type") == "json_schema":
        return format_ if "name" in format_ else {"type": "json_schema", "name": "response", **format_}
    return {"type": "json_object" if format_.get("type") == "json" else format_.get("type")}
