"""The parts of a Responses API request outside of its items: tools, tool choice, settings."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from convcli.families.openai import request as common
from convcli.kit import custom
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, drop_extras, get_extras, make_extras, without_nulls
from convcli.kit.settings import Setting, Settings
from convcli.kit.values import pairs
from convcli.model.dialect import Pass
from convcli.model.transcript import ToolChoice, ToolDefinition, Transcript

CUSTOM = Keys("type name description format", groups="tool")
TOOL = Keys("type name description parameters strict output_schema", groups="tool")
CHOICE = "tool_choice"

# ---------------------------------------------------------------- tools and choice


def lift_tools(native: Native, context: LiftContext) -> list[ToolDefinition] | None:
    """Reads function definitions; a tool of another type is kept whole as an extra."""
    if native.get("tools") is None:
        return None
    context.origin.tools = [("tools", i) for i in range(len(native["tools"]))]
    return [_lift_tool(tool, context.dialect) for tool in native["tools"]]


def _lift_tool(native: Native, dialect: str) -> ToolDefinition:
    if native["type"] == "custom" and isinstance(native.get("name"), str):
        format_ = native.get("format") or custom.TEXT
        extras = make_extras(dialect, CUSTOM.extra(native))
        description = native.get("description") or None
        return ToolDefinition(native["name"], description, custom.PARAMETERS, custom=format_, extras=extras)
    if native["type"] != "function":
        name = native.get("name")
        return ToolDefinition(name if isinstance(name, str) else native["type"], extras={dialect: {"tool": native}})
    return ToolDefinition(
        native["name"],
        native.get("description") or None,
        native.get("parameters"),
        native.get("strict") is not False,
        output_schema=native.get("output_schema"),
        extras=make_extras(dialect, TOOL.extra(native)),
    )


def write_tools(transcript: Transcript, dialect: str) -> Native:
    """Returns `tools` if the transcript has a tool list, even an empty one."""
    return {} if transcript.tools is None else {"tools": [_write_tool(tool, dialect) for tool in transcript.tools]}


def _write_tool(tool: ToolDefinition, dialect: str) -> Native:
    """Always writes `parameters` and `strict`: without `strict` the service makes a function strict."""
    extra = get_extras(tool.extras, dialect)
    if "tool" in extra:
        whole: Native = extra["tool"]
        return whole
    if tool.custom is not None:
        stated = {"description": tool.description, "format": tool.custom}
        stated = {key: value for key, value in stated.items() if value not in (None, custom.TEXT)}
        return CUSTOM.put({"type": "custom", "name": tool.name, **stated}, extra)
    native: Native = {"type": "function", "name": tool.name}
    native |= {} if tool.description is None else {"description": tool.description}
    native |= {"parameters": tool.parameters, "strict": bool(tool.strict)}
    native |= {} if tool.output_schema is None else {"output_schema": tool.output_schema}
    return TOOL.put(native, extra)


def _lift_choice(native: Any) -> ToolChoice | None:
    if isinstance(native, str):
        return native
    if native["type"] in ("function", "custom"):
        return {"name": native["name"]}
    if native["type"] != "allowed_tools":
        return None
    names = [tool.get("name") for tool in native["tools"]]
    return {"names": names} if names and all(isinstance(name, str) for name in names) else None


def _write_choice(choice: ToolChoice, free: Collection[str]) -> Any:
    if isinstance(choice, str):
        return choice
    names = [choice["name"]] if "name" in choice else choice["names"]
    tools = [{"type": "custom" if name in free else "function", "name": name} for name in names]
    return tools[0] if "name" in choice else {"type": "allowed_tools", "mode": "required", "tools": tools}


def _choice(tools: list[ToolDefinition] | None) -> Setting:
    """Returns the setting that reads and writes a choice among these tools."""
    free = [tool.name for tool in tools or () if tool.custom is not None]
    return Setting(CHOICE, _lift_choice, lambda choice: _write_choice(choice, free), partial=True)


def lift_choice(native: Native, tools: list[ToolDefinition] | None) -> tuple[ToolChoice | None, Native]:
    """Returns the tool choice, and the extras that the intermediate format cannot store."""
    value = native.get(CHOICE)
    if not value:
        return None, {}
    choice = _lift_choice(value)
    return choice, {CHOICE: value} if _choice(tools).loses(choice, value) else {}


def write_choice(transcript: Transcript, extra: Native) -> Native:
    """Returns `tool_choice`, from the extras if they still agree with the transcript."""
    choice, kept = transcript.tool_choice, extra.get(CHOICE)
    if choice is None and kept is None:
        return {}
    value = _choice(transcript.tools).stated(choice, kept)
    return {} if value is None else {CHOICE: value}


def extra_choice(owner: str) -> Pass:
    """Returns a pass that drops the tool choice extra if it no longer agrees with the transcript."""

    def drop_outdated_choice(transcript: Transcript) -> Transcript:
        value = get_extras(transcript.extras, owner).get(CHOICE)
        if value is None or _lift_choice(value) == transcript.tool_choice:
            return transcript
        return drop_extras(transcript, owner, CHOICE)

    return drop_outdated_choice


# ---------------------------------------------------------------- settings


def _lift_format(native: Native) -> Native | None:
    """Reads `{"type": "text" | "json" | "json_schema"}`, the last with `name`, `description`, `schema`, `strict`."""
    kind = native.get("type")
    if kind == "json_schema":
        return without_nulls(native)
    return {"type": "json" if kind == "json_object" else kind} if kind in ("text", "json_object") else None


def _write_format(format_: Native) -> Native:
    kind = format_.get("type")
    return format_ if kind == "json_schema" else {"type": "json_object" if kind == "json" else kind}


LOGPROBS = "message.output_text.logprobs"
"""The `include` entry that requests log probabilities."""

SETTINGS = Settings(
    {
        **pairs(
            "parallel_tool_calls=parallelToolCalls temperature=temperature top_p=topP "
            "max_output_tokens=maxOutputTokens stream=stream reasoning/effort=reasoningEffort"
        ),
        "text/format": Setting("responseFormat", _lift_format, _write_format, partial=True),
        "text/verbosity": "verbosity",
        "include": Setting(
            "logprobs",
            lambda included: True if LOGPROBS in included else None,
            lambda is_requested: [LOGPROBS] if is_requested else None,
            partial=True,
        ),
        "top_logprobs": "topLogprobs",
        "service_tier": common.service_tier({**common.TIERS, "ultrafast": "ultrafast"}),
        **common.KEPT,
    }
)
"""The settings of a Responses API request."""
