"""The keys of a Messages request other than its messages: tools, tool choice and settings."""

from __future__ import annotations

from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import Definitions, kept_whole, whole_of
from convcli.kit.objects import Keys, Native
from convcli.kit.settings import BUDGET, EFFORT, Setting, Settings
from convcli.kit.supported import TOOLS, fields
from convcli.kit.values import pairs
from convcli.model.transcript import Path, ToolChoice, ToolDefinition, Transcript

DEFINITIONS = Definitions(
    "type= name=name description=description input_schema=parameters strict=strict defer_loading allowed_callers "
    "eager_input_streaming input_examples cache_control",
    {"input_schema": None},
)
CHOICE = Keys("type disable_parallel_tool_use")
NAMED_CHOICE = Keys("type name disable_parallel_tool_use")

CHOICES = {"auto": "auto", "any": "required", "none": "none"}
CHOICE_OF = {ours: theirs for theirs, ours in CHOICES.items()}


def lift_format(native: Native) -> dict[str, Any] | None:
    schema = native.get("schema")
    known = native.get("type") == "json_schema" and isinstance(schema, dict)
    return {"type": "json_schema", "schema": schema} if known else None


def write_format(format_: dict[str, Any]) -> Native | None:
    """Only JSON with a schema can be written; there is no key for its name and strictness."""
    known = format_.get("type") == "json_schema" and "schema" in format_
    return {"type": "json_schema", "schema": format_["schema"]} if known else None


def _lift_thinking(native: Native) -> int | None:
    """Returns the budget: zero for disabled thinking, any if the model decides."""
    kind, budget = native.get("type"), native.get("budget_tokens")
    return WITHOUT_BUDGET.get(str(kind), budget if kind == "enabled" and budget and budget > 0 else None)


def _write_thinking(budget: int) -> Native:
    kinds = {tokens: kind for kind, tokens in WITHOUT_BUDGET.items()}
    return {"type": kinds[budget]} if budget in kinds else {"type": "enabled", "budget_tokens": budget}


WITHOUT_BUDGET = {"disabled": 0, "adaptive": -1}
"""Thinking without a budget, and the number that represents it."""

SETTINGS = Settings(
    {
        **pairs("max_tokens=maxOutputTokens temperature=temperature top_p=topP top_k=topK"),
        **pairs("stop_sequences=stop stream=stream"),
        "thinking": Setting(BUDGET, _lift_thinking, _write_thinking, partial=True),
        "output_config/effort": EFFORT,
        "output_config/format": Setting("responseFormat", lift_format, write_format, partial=True),
        "metadata/user_id": "safetyIdentifier",
        "service_tier": Setting(
            "serviceTier",
            pairs("auto=auto standard_only=default").get,
            pairs("auto=auto default=standard_only").get,
        ),
    }
)
"""The settings of a request."""


PLACES: dict[str, Path] = {
    **SETTINGS.places(),
    "settings.parallelToolCalls": ("tool_choice", "disable_parallel_tool_use"),
    "toolChoice": ("tool_choice",),
    "tool.parameters": ("input_schema",),
    "extras.tool": (),
}
"""The paths of the fields of a request other than its messages."""
SUPPORTS = TOOLS.union(SETTINGS.supports(), fields("model toolChoice tool.strict settings.parallelToolCalls"))
"""These fields."""


# ---------------------------------------------------------------- tools


def lift_tools(native: Native, context: LiftContext) -> list[ToolDefinition] | None:
    """Lifts the tools of a request; None without that key."""
    tools = native.get("tools")
    if tools is None:
        return None
    context.origin.tools = [("tools", i) for i in range(len(tools))]
    return [lift_tool(tool, context.dialect) for tool in tools]


def lift_tool(native: Native, owner: str) -> ToolDefinition:
    """Lifts a tool definition. One that the service runs, or whose schema it knows, is kept whole in extras."""
    kind = native.get("type")
    if kind not in (None, "custom"):
        name = native.get("name") or kind
        return kept_whole(name if isinstance(name, str) else kind, native, owner)
    return DEFINITIONS.lift(native, owner)


def write_tool(tool: ToolDefinition, owner: str) -> Native:
    return whole_of(tool, owner) or DEFINITIONS.write(tool, owner)


# ---------------------------------------------------------------- tool choice


def lift_choice(native: Native, transcript: Transcript) -> Native | None:
    """Sets the tool choice, and whether calls may be parallel. Returns the extras."""
    kind = native["type"]
    transcript.tool_choice = {"name": native["name"]} if kind == "tool" else CHOICES[kind]
    alone = native.get("disable_parallel_tool_use")
    if alone is not None:
        transcript.settings = {**(transcript.settings or {}), "parallelToolCalls": not alone}
    return (NAMED_CHOICE if kind == "tool" else CHOICE).extra(native)


def write_choice(transcript: Transcript, extra: Native) -> Native | None:
    """Writes the tool choice, which in the API also states whether calls may be parallel."""
    if transcript.tool_choice is None:
        return None
    native = _write_choice(transcript.tool_choice)
    parallel = (transcript.settings or {}).get("parallelToolCalls")
    if parallel is not None:
        native["disable_parallel_tool_use"] = not parallel
    return (NAMED_CHOICE if native["type"] == "tool" else CHOICE).put(native, extra)


def _write_choice(choice: ToolChoice) -> Native:
    if isinstance(choice, str):
        return {"type": CHOICE_OF[choice]}
    return {"type": "tool", "name": choice["name"]}


# ---------------------------------------------------------------- settings


def lift_settings(native: Native, transcript: Transcript) -> Native:
    """Sets the settings. Returns their extras, under the keys of the request."""
    settings, extra = SETTINGS.lift(native)
    transcript.settings = settings or None
    return extra


def write_settings(transcript: Transcript, extra: Native) -> Native:
    """Writes the settings that the API has, with their extras."""
    return SETTINGS.write(transcript.settings or {}, extra)
