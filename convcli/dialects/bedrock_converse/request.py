"""What a Converse request says beside its messages: tools, tool choice and settings; and the usage of a response."""

from __future__ import annotations

from typing import Any

from convcli.dialects.bedrock_converse.blocks import cache_after, mark_cache
from convcli.dialects.bedrock_converse.media import NAME, kind_of
from convcli.kit.fitting import is_foreign_builtin
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of, says_something
from convcli.kit.pairing import UNKNOWN
from convcli.kit.values import put_counts, take_counts
from convcli.model.errors import ContentError
from convcli.model.transcript import Message, Origin, Path, ToolChoice, ToolDefinition, Transcript
from convcli.wire import exact_json

CONFIG = Keys("tools toolChoice")
TOOL = Keys("toolSpec systemTool cachePoint")
TOOL_SPEC = Keys("name description inputSchema strict")
SCHEMA = Keys("json")

CHOICES = {"auto": "auto", "any": "required"}
CHOICE_OF = {ours: theirs for theirs, ours in CHOICES.items()}

INFERENCE = Keys("maxTokens temperature topP stopSequences")
SETTINGS = {
    "maxTokens": "maxOutputTokens",
    "temperature": "temperature",
    "topP": "topP",
    "stopSequences": "stop",
}
"""Settings whose value is the same on both sides."""

OUTPUT = Keys("textFormat effort")
EFFORT_LIMIT = 16


# ---------------------------------------------------------------- tools


def lift_tools(config: Native, transcript: Transcript, origin: Origin) -> Native:
    """Set tools and tool choice; what must be carried of `toolConfig`."""
    carried, spelling = CONFIG.take(config)
    if spelling:
        origin.document["toolConfig"] = spelling
    transcript.tools = []
    for i, native in enumerate(config["tools"]):
        if not mark_cache(transcript.tools[-1] if transcript.tools else None, native):
            transcript.tools.append(_lift_tool(native, ("toolConfig", "tools", i), origin))
    carried = dict(carried or {})
    choice = config.get("toolChoice")
    if choice:
        transcript.tool_choice = _lift_choice(choice)
        if transcript.tool_choice is None or not exact_json.exact(_lower_choice(transcript.tool_choice), choice):
            carried["toolChoice"] = choice
    return carried


def lower_tools(transcript: Transcript, carried: Native, spelling: Spelling, *, own: bool) -> Native | None:
    """`toolConfig`; the API takes none without tools, and no choice without it."""
    natives: list[Native] = []
    for tool in transcript.tools or ():
        native = _lower_tool(tool, transcript.spelling(NAME).get(id(tool), {}), own)
        natives += [] if native is None else [native, *cache_after(tool)]
    if transcript.tools is None or (not natives and not own):
        return None
    config: Native = {"tools": natives}
    choice = transcript.tool_choice
    if choice is not None and choice != "none" and "toolChoice" not in carried:
        config["toolChoice"] = _lower_choice(choice)
    return CONFIG.put(config, carried, spelling.get("toolConfig"))


def _lift_tool(native: Native, path: Path, origin: Origin) -> ToolDefinition:
    """A tool definition; one that the service runs is kept whole in extras."""
    origin.tools.append(path)
    kind = kind_of(native)
    if kind != "toolSpec":
        body = native.get(kind)
        named = body.get("name") if isinstance(body, dict) else None
        name = named if isinstance(named, str) else kind or UNKNOWN
        return ToolDefinition(name, extras={NAME: {"tool": native}})
    spec = native[kind]
    _, outer = TOOL.take(native)
    carried, spelling = TOOL_SPEC.take(spec)
    rest, inner = SCHEMA.take(spec["inputSchema"])
    tool = ToolDefinition(
        spec["name"],
        spec.get("description") or None,
        spec["inputSchema"]["json"],
        spec.get("strict"),
        extras=extras_of(NAME, {**(carried or {}), **({"inputSchema": rest} if rest else {})}),
    )
    said = {"outer": outer, "spec": spelling, "inputSchema": inner}
    origin.spell(tool, {key: value for key, value in said.items() if value})
    return tool


def _lower_tool(tool: ToolDefinition, spelling: Spelling, own: bool) -> Native | None:
    carried = carried_by(tool.extras, NAME)
    if tool.parameters is None and "tool" in carried:
        whole: Native = carried["tool"]
        return whole
    if is_foreign_builtin(tool):
        return None
    native: Native = {"name": tool.name}
    if tool.description:
        native["description"] = tool.description
    schema = tool.parameters or {}
    schema = schema if own or schema.get("type") == "object" else {**schema, "type": "object"}
    native["inputSchema"] = SCHEMA.put({"json": schema}, carried.get("inputSchema"), spelling.get("inputSchema"))
    if tool.strict is not None:
        native["strict"] = tool.strict
    rest = {key: value for key, value in carried.items() if key not in ("inputSchema", "cachePoint", "tool")}
    return TOOL.put({"toolSpec": TOOL_SPEC.put(native, rest, spelling.get("spec"))}, None, spelling.get("outer"))


def _lift_choice(native: Native) -> ToolChoice | None:
    kind = kind_of(native)
    if kind == "tool":
        return {"name": native[kind]["name"]}
    return CHOICES.get(kind)


def _lower_choice(choice: ToolChoice) -> Native:
    """One of several names cannot be asked for: then any tool will do."""
    if isinstance(choice, str):
        return {CHOICE_OF.get(choice, "auto"): {}}
    names = choice.get("names") or [choice["name"]]
    return {"tool": {"name": names[0]}} if len(names) == 1 else {"any": {}}


# ---------------------------------------------------------------- settings


def lift_settings(native: Native, transcript: Transcript, document: Spelling) -> Native:
    """Set the settings; what must be carried of `inferenceConfig` and `outputConfig`, under their names."""
    inference, output = native.get("inferenceConfig") or {}, native.get("outputConfig") or {}
    settings = {ours: inference[theirs] for theirs, ours in SETTINGS.items() if says_something(inference.get(theirs))}
    rest, odd = INFERENCE.take(inference)
    more, other = OUTPUT.take(output)
    document |= {key: said for key, said in (("inferenceConfig", odd), ("outputConfig", other)) if said}
    more = dict(more or {})
    if output.get("effort"):
        settings["reasoningEffort"] = output["effort"]
    if output.get("textFormat"):
        more |= _lift_format(output["textFormat"], settings, document)
    transcript.settings = settings or None
    return {key: carried for key, carried in (("inferenceConfig", rest), ("outputConfig", more)) if carried}


def lower_settings(transcript: Transcript, carried: Native, document: Spelling, *, own: bool) -> Native:
    """`inferenceConfig` and `outputConfig`, where something stands in them."""
    settings = transcript.settings or {}
    inference = {theirs: settings[ours] for theirs, ours in SETTINGS.items() if ours in settings}
    if not own:
        inference = {key: value for key, value in inference.items() if _is_allowed(key, value)}
    output: Native = {}
    beside = carried.get("outputConfig", {})
    if "responseFormat" in settings and "textFormat" not in beside:
        written = _lower_format(settings["responseFormat"])
        if written is not None:
            same = document.get("textFormat")
            output["textFormat"] = same if same is not None and _compact(same) == written else written
    effort = settings.get("reasoningEffort")
    if effort is not None and (own or 0 < len(effort) <= EFFORT_LIMIT):
        output["effort"] = effort
    native: Native = {
        "inferenceConfig": INFERENCE.put(inference, carried.get("inferenceConfig"), document.get("inferenceConfig")),
        "outputConfig": OUTPUT.put(output, beside, document.get("outputConfig")),
    }
    return {key: value for key, value in native.items() if value}


def _is_allowed(key: str, value: Any) -> bool:
    """The limits that the service states."""
    if key == "maxTokens":
        return bool(value >= 1)
    return all(value) if key == "stopSequences" else 0 <= value <= 1


def _lift_format(native: Native, settings: dict[str, Any], document: Spelling) -> Native:
    """Set the response format, whose schema is JSON in a string here; what must be carried of it."""
    said = _json_schema(native)
    schema = _parsed(said.get("schema"))
    if schema is None:
        return {"textFormat": native}
    named = {key: said[key] for key in ("name", "description") if said.get(key)}
    settings["responseFormat"] = {"type": "json_schema", **named, "schema": schema}
    written = _lower_format(settings["responseFormat"])
    if _compact(native) != written:
        return {"textFormat": native}
    if not exact_json.exact(native, written):
        document["textFormat"] = native
    return {}


def _lower_format(format_: dict[str, Any]) -> Native | None:
    """Only JSON by a schema; strictness has no key."""
    if format_.get("type") != "json_schema" or not isinstance(format_.get("schema"), dict):
        return None
    said: Native = {"schema": exact_json.write_text(format_["schema"])}
    said |= {key: format_[key] for key in ("name", "description") if key in format_}
    return {"type": "json_schema", "structure": {"jsonSchema": said}}


def _compact(native: Native) -> Native:
    """The format with its schema as compact JSON."""
    said = _json_schema(native)
    schema = _parsed(said.get("schema"))
    if schema is None:
        return native
    return {
        **native,
        "structure": {**native["structure"], "jsonSchema": {**said, "schema": exact_json.write_text(schema)}},
    }


def _json_schema(native: Native) -> Native:
    structure = native.get("structure") or {}
    said: Native = structure.get("jsonSchema") or {}
    return said if native.get("type") == "json_schema" else {}


def _parsed(text: str | None) -> dict[str, Any] | None:
    try:
        value = exact_json.parse(text or "")
    except ContentError:
        return None
    return value if isinstance(value, dict) else None


# ---------------------------------------------------------------- usage

USAGE: dict[tuple[str, ...], str] = {
    ("inputTokens",): "inputTokens",
    ("outputTokens",): "outputTokens",
    ("totalTokens",): "totalTokens",
    ("cacheReadInputTokens",): "cacheReadTokens",
    ("cacheWriteInputTokens",): "cacheWriteTokens",
}
"""Counts by their path in `usage`. The vendor's `inputTokens` leaves out what went through a cache."""


def read_usage(native: Native) -> tuple[dict[str, int], Native]:
    """The counts, with cached tokens among the input tokens, and what must be carried."""
    usage, rest = take_counts(native, USAGE)
    if "inputTokens" in usage:
        usage["inputTokens"] += _cached(usage)
    return usage, rest


def lower_usage(message: Message, rest: Native, written: Native | None) -> Native:
    """The usage of a message, as its source wrote it where that still says the same."""
    usage = dict(message.usage or {})
    if written is not None and read_usage(written) == (usage, rest):
        return dict(written)
    if "inputTokens" in usage:
        usage["inputTokens"] = max(0, usage["inputTokens"] - _cached(usage))
    return put_counts(usage, rest, USAGE)


def _cached(usage: dict[str, int]) -> int:
    return usage.get("cacheReadTokens", 0) + usage.get("cacheWriteTokens", 0)
