"""What a Messages request says beside its messages: tools, tool choice and settings; and the usage of a response."""

from __future__ import annotations

from typing import Any

from convcli.kit.fitting import is_foreign_builtin
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of, says_something
from convcli.kit.values import put_counts, take_counts
from convcli.model.transcript import Message, Origin, Path, ToolChoice, ToolDefinition, Transcript
from convcli.wire import exact_json

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

SETTINGS = {
    "max_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "stop_sequences": "stop",
    "stream": "stream",
}
"""Settings whose value is the same on both sides."""

EFFORTS = frozenset(("low", "medium", "high", "xhigh", "max"))


# ---------------------------------------------------------------- tools


def lift_tools(native: Native, dialect: str, origin: Origin) -> list[ToolDefinition] | None:
    """The tools of a request; None where it has no such key."""
    tools = native.get("tools")
    return None if tools is None else [lift_tool(tool, dialect, origin, ("tools", i)) for i, tool in enumerate(tools)]


def lift_tool(native: Native, dialect: str, origin: Origin, path: Path) -> ToolDefinition:
    """A tool definition; one that the service runs, or whose schema it knows, is kept whole in extras."""
    origin.tools.append(path)
    kind = native.get("type")
    if kind not in (None, "custom"):
        named = native.get("name")
        return ToolDefinition(named if isinstance(named, str) else kind, extras={dialect: {"tool": native}})
    carried, spelling = TOOL.take(native)
    tool = ToolDefinition(
        native["name"],
        native.get("description") or None,
        native["input_schema"],
        native.get("strict"),
        extras=extras_of(dialect, carried),
    )
    origin.spell(tool, {**(spelling or {}), **({"type": kind} if kind else {})})
    return tool


def lower_tools(
    transcript: Transcript, dialect: str, spellings: dict[int, Spelling], *, own: bool
) -> list[Native] | None:
    """The tools; those that another vendor runs are left out."""
    if transcript.tools is None:
        return None
    lowered = [_lower_tool(tool, dialect, spellings.get(id(tool), {}), own) for tool in transcript.tools]
    return [native for native in lowered if native is not None]


def _lower_tool(tool: ToolDefinition, dialect: str, spelling: Spelling, own: bool) -> Native | None:
    carried = carried_by(tool.extras, dialect)
    if tool.parameters is None and "tool" in carried:
        whole: Native = carried["tool"]
        return whole
    if is_foreign_builtin(tool):
        return None
    native: Native = {"type": spelling["type"]} if "type" in spelling else {}
    native["name"] = tool.name
    if tool.description is not None:
        native["description"] = tool.description
    parameters = tool.parameters or {}
    native["input_schema"] = parameters if own or "type" in parameters else {"type": "object", **parameters}
    if tool.strict is not None:
        native["strict"] = tool.strict
    return TOOL.put(native, carried, spelling)


# ---------------------------------------------------------------- tool choice


def lift_choice(native: Native, transcript: Transcript, spelling: Spelling) -> Native | None:
    """Set the tool choice and whether calls may be parallel; what must be carried of it."""
    kind = native["type"]
    carried, odd = (NAMED_CHOICE if kind == "tool" else CHOICE).take(native)
    if odd:
        spelling["tool_choice"] = odd
    transcript.tool_choice = {"name": native["name"]} if kind == "tool" else CHOICES[kind]
    alone = native.get("disable_parallel_tool_use")
    if alone is not None:
        transcript.settings = {**(transcript.settings or {}), "parallelToolCalls": not alone}
    return carried


def lower_choice(transcript: Transcript, carried: Native, spelling: Spelling, *, own: bool) -> Native | None:
    """The tool choice; the API takes none without tools, and says there too that calls must come one by one."""
    parallel = (transcript.settings or {}).get("parallelToolCalls")
    choice = transcript.tool_choice
    if choice is None and (parallel is not False or own):
        return None
    native = _lower_choice(choice or "auto")
    if parallel is not None and (own or native["type"] != "none"):
        native["disable_parallel_tool_use"] = not parallel
    keys = NAMED_CHOICE if native["type"] == "tool" else CHOICE
    return keys.put(native, carried, spelling.get("tool_choice"))


def _lower_choice(choice: ToolChoice) -> Native:
    """One of several names cannot be asked for: then any tool will do."""
    if isinstance(choice, str):
        return {"type": CHOICE_OF.get(choice, "auto")}
    names = choice.get("names") or [choice["name"]]
    return {"type": "tool", "name": names[0]} if len(names) == 1 else {"type": "any"}


# ---------------------------------------------------------------- settings


def lift_settings(native: Native, transcript: Transcript, spelling: Spelling) -> Native:
    """Set the settings; what must be carried of `output_config`."""
    settings = {ours: native[theirs] for theirs, ours in SETTINGS.items() if says_something(native.get(theirs))}
    output = native.get("output_config") or {}
    carried, odd = OUTPUT.take(output)
    if odd:
        spelling["output_config"] = odd
    carried = dict(carried or {})
    if output.get("effort"):
        settings["reasoningEffort"] = output["effort"]
    if output.get("format"):
        format_ = _lift_format(output["format"])
        if format_ is not None:
            settings["responseFormat"] = format_
        if format_ is None or not exact_json.exact(_lower_format(format_), output["format"]):
            carried["format"] = output["format"]
    transcript.settings = settings or None
    return carried


def lower_settings(transcript: Transcript, carried: Native, spelling: Spelling, *, own: bool) -> Native:
    """The settings that the API has, and `output_config` where something stands in it."""
    settings = transcript.settings or {}
    native: Native = {theirs: settings[ours] for theirs, ours in SETTINGS.items() if ours in settings}
    output: Native = {}
    effort = settings.get("reasoningEffort")
    if effort is not None and (own or effort in EFFORTS):
        output["effort"] = effort
    format_ = settings.get("responseFormat")
    lowered = None if format_ is None or "format" in carried else _lower_format(format_)
    if lowered is not None:
        output["format"] = lowered
    output = OUTPUT.put(output, carried, spelling.get("output_config"))
    return {**native, "output_config": output} if output else native


def _lift_format(native: Native) -> dict[str, Any] | None:
    schema = native.get("schema")
    known = native.get("type") == "json_schema" and isinstance(schema, dict)
    return {"type": "json_schema", "schema": schema} if known else None


def _lower_format(format_: dict[str, Any]) -> Native | None:
    """Only JSON by a schema; its name and strictness have no key."""
    known = format_.get("type") == "json_schema" and "schema" in format_
    return {"type": "json_schema", "schema": format_["schema"]} if known else None


# ---------------------------------------------------------------- usage

USAGE = {
    ("input_tokens",): "inputTokens",
    ("cache_creation_input_tokens",): "cacheWriteTokens",
    ("cache_read_input_tokens",): "cacheReadTokens",
    ("output_tokens",): "outputTokens",
    ("output_tokens_details", "thinking_tokens"): "reasoningTokens",
}
"""Counts by their path in `usage`. The vendor's `input_tokens` leaves out what went through a cache."""


def read_usage(native: Native) -> tuple[dict[str, int], Native]:
    """The counts, with cached tokens among the input tokens, and what must be carried."""
    usage, rest = take_counts(native, USAGE)
    if "inputTokens" in usage:
        usage["inputTokens"] += _cached(usage)
    return usage, rest


def lower_usage(message: Message, dialect: str, spelling: Spelling) -> Native:
    """The usage of a message, as its source wrote it where that still says the same."""
    written = spelling.get("usage")
    usage, rest = dict(message.usage or {}), carried_by(message.extras, dialect).get("usage", {})
    if written is not None and read_usage(written) == (usage, rest):
        return dict(written)
    if "inputTokens" in usage:
        usage["inputTokens"] = max(0, usage["inputTokens"] - _cached(usage))
    return put_counts(usage, rest, USAGE)


def _cached(usage: dict[str, int]) -> int:
    return usage.get("cacheReadTokens", 0) + usage.get("cacheWriteTokens", 0)
