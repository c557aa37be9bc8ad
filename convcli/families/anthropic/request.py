"""What a Messages request says beside its messages: tools, tool choice and settings."""

from __future__ import annotations

from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.settings import Setting, Settings
from convcli.kit.values import pairs
from convcli.model.transcript import ToolChoice, ToolDefinition, Transcript

TOOL = Keys(
    "type name description input_schema strict defer_loading allowed_callers eager_input_streaming input_examples "
    "cache_control",
    carried="defer_loading allowed_callers eager_input_streaming input_examples cache_control",
)
CHOICE = Keys("type disable_parallel_tool_use")
NAMED_CHOICE = Keys("type name disable_parallel_tool_use")
OUTPUT = Keys("effort format")

CHOICES = {"auto": "auto", "any": "required", "none": "none"}
CHOICE_OF = {ours: theirs for theirs, ours in CHOICES.items()}


def lift_format(native: Native) -> dict[str, Any] | None:
    schema = native.get("schema")
    known = native.get("type") == "json_schema" and isinstance(schema, dict)
    return {"type": "json_schema", "schema": schema} if known else None


def write_format(format_: dict[str, Any]) -> Native | None:
    """Only JSON by a schema; its name and strictness have no key."""
    known = format_.get("type") == "json_schema" and "schema" in format_
    return {"type": "json_schema", "schema": format_["schema"]} if known else None


SETTINGS = Settings(
    pairs("max_tokens=maxOutputTokens temperature=temperature top_p=topP top_k=topK stop_sequences=stop stream=stream")
)
OUTPUT_SETTINGS = Settings(
    {"effort": "reasoningEffort", "format": Setting("responseFormat", lift_format, write_format, partial=True)}
)
"""The settings of a request, and those in its `output_config`."""


# ---------------------------------------------------------------- tools


def lift_tools(native: Native, context: LiftContext) -> list[ToolDefinition] | None:
    """The tools of a request; None where it has no such key."""
    tools = native.get("tools")
    if tools is None:
        return None
    context.origin.tools = [("tools", i) for i in range(len(tools))]
    return [lift_tool(tool, context.dialect) for tool in tools]


def lift_tool(native: Native, owner: str) -> ToolDefinition:
    """A tool definition; one that the service runs, or whose schema it knows, is kept whole in extras."""
    kind = native.get("type")
    if kind not in (None, "custom"):
        name = native.get("name") or kind
        return ToolDefinition(name if isinstance(name, str) else kind, extras={owner: {"tool": native}})
    return ToolDefinition(
        native["name"],
        native.get("description") or None,
        native["input_schema"],
        native.get("strict"),
        extras=extras_of(owner, TOOL.carried(native)),
    )


def write_tool(tool: ToolDefinition, owner: str) -> Native:
    carried = carried_by(tool.extras, owner)
    if tool.parameters is None and "tool" in carried:
        whole: Native = carried["tool"]
        return whole
    native: Native = {"name": tool.name}
    if tool.description is not None:
        native["description"] = tool.description
    native["input_schema"] = tool.parameters
    if tool.strict is not None:
        native["strict"] = tool.strict
    return TOOL.put(native, carried)


# ---------------------------------------------------------------- tool choice


def lift_choice(native: Native, transcript: Transcript) -> Native | None:
    """Set the tool choice and whether calls may be parallel; what must be carried of it."""
    kind = native["type"]
    transcript.tool_choice = {"name": native["name"]} if kind == "tool" else CHOICES[kind]
    alone = native.get("disable_parallel_tool_use")
    if alone is not None:
        transcript.settings = {**(transcript.settings or {}), "parallelToolCalls": not alone}
    return (NAMED_CHOICE if kind == "tool" else CHOICE).carried(native)


def write_choice(transcript: Transcript, carried: Native) -> Native | None:
    """The tool choice, where the API also says whether calls may be parallel."""
    if transcript.tool_choice is None:
        return None
    native = _write_choice(transcript.tool_choice)
    parallel = (transcript.settings or {}).get("parallelToolCalls")
    if parallel is not None:
        native["disable_parallel_tool_use"] = not parallel
    return (NAMED_CHOICE if native["type"] == "tool" else CHOICE).put(native, carried)


def _write_choice(choice: ToolChoice) -> Native:
    if isinstance(choice, str):
        return {"type": CHOICE_OF[choice]}
    return {"type": "tool", "name": choice["name"]}


# ---------------------------------------------------------------- settings


def lift_settings(native: Native, transcript: Transcript) -> Native:
    """Set the settings; what must be carried of `output_config`."""
    output = native.get("output_config") or {}
    settings, _ = SETTINGS.lift(native)
    more, carried = OUTPUT_SETTINGS.lift(output)
    transcript.settings = settings | more or None
    return {**(OUTPUT.carried(output) or {}), **carried}


def write_settings(transcript: Transcript, carried: Native) -> Native:
    """The settings that the API has, and `output_config` where something stands in it."""
    settings = transcript.settings or {}
    written = OUTPUT_SETTINGS.write(settings, carried)
    output = OUTPUT.put(written, OUTPUT_SETTINGS.rest(carried))
    return {**SETTINGS.write(settings, {}), **({"output_config": output} if output else {})}
