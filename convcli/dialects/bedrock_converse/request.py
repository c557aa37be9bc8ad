"""The rest of a Converse request: tools, tool choice and settings."""

from __future__ import annotations

from typing import Any

from convcli.families.converse.blocks import cache_after, mark_cache
from convcli.families.converse.media import ConverseService, kind_of, other_keys
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras, omit, without_nulls
from convcli.kit.pairing import UNKNOWN
from convcli.kit.settings import Setting, Settings
from convcli.model.errors import ContentError
from convcli.model.transcript import ToolChoice, ToolDefinition, Transcript
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

NAME = "bedrock-converse"
SERVICE = ConverseService(NAME)

CONFIG = Keys("tools toolChoice")
TOOL_SPEC = Keys("name description inputSchema strict", groups="tool cachePoint")
SCHEMA = Keys("json")

CHOICES = {"auto": "auto", "any": "required"}
CHOICE_OF = {ours: theirs for theirs, ours in CHOICES.items()}

# ---------------------------------------------------------------- tools


def lift_tools(config: Native, transcript: Transcript, context: LiftContext) -> Native:
    """Sets tools and tool choice, and returns what must be kept of `toolConfig`."""
    transcript.tools = []
    for i, native in enumerate(config["tools"]):
        if not mark_cache(transcript.tools[-1] if transcript.tools else None, native, NAME):
            transcript.tools.append(_lift_tool(native))
            context.origin.tools.append(("toolConfig", "tools", i))
    extra = dict(CONFIG.extra(config) or {})
    choice = config.get("toolChoice")
    if choice:
        transcript.tool_choice = _lift_choice(choice)
        if transcript.tool_choice is None or not exact_json.exact(_write_choice(transcript.tool_choice), choice):
            extra["toolChoice"] = choice
    return extra


def write_tools(transcript: Transcript, extra: Native) -> Native | None:
    """Returns `toolConfig`, which the API accepts only with tools."""
    if transcript.tools is None:
        return None
    config: Native = {
        "tools": [native for tool in transcript.tools for native in (_write_tool(tool), *cache_after(tool, NAME))]
    }
    native, choice = extra.get("toolChoice"), transcript.tool_choice
    if choice is not None and (native is None or _lift_choice(native) != choice):
        native = _write_choice(choice)
    config |= {} if native is None else {"toolChoice": native}
    return CONFIG.put(config, omit(extra, "toolChoice"))


def _lift_tool(native: Native) -> ToolDefinition:
    """Returns a tool definition; a tool that the service runs is kept whole in extras."""
    kind = kind_of(native)
    if kind != "toolSpec":
        body = native.get(kind)
        name = body.get("name") if isinstance(body, dict) else None
        return ToolDefinition(
            name if isinstance(name, str) and name else kind or UNKNOWN, extras={NAME: {"tool": native}}
        )
    spec = native[kind]
    return ToolDefinition(
        spec["name"],
        spec.get("description") or None,
        spec["inputSchema"]["json"],
        spec.get("strict"),
        extras=make_extras(NAME, TOOL_SPEC.extra(spec), inputSchema=SCHEMA.extra(spec["inputSchema"])),
    )


def _write_tool(tool: ToolDefinition) -> Native:
    extra = other_keys(tool, NAME)
    if tool.parameters is None and "tool" in extra:
        whole: Native = extra["tool"]
        return whole
    schema = SCHEMA.put({"json": tool.parameters}, extra.pop("inputSchema", None))
    native = {"name": tool.name, "description": tool.description, "inputSchema": schema, "strict": tool.strict}
    return {"toolSpec": TOOL_SPEC.put(without_nulls(native), omit(extra, "tool"))}


def _lift_choice(native: Native) -> ToolChoice | None:
    kind = kind_of(native)
    return {"name": native[kind]["name"]} if kind == "tool" else CHOICES.get(kind)


def _write_choice(choice: ToolChoice) -> Native:
    return {CHOICE_OF[choice]: {}} if isinstance(choice, str) else {"tool": {"name": choice["name"]}}


# ---------------------------------------------------------------- settings


def lift_format(native: Native) -> dict[str, Any] | None:
    """Returns the response format, whose schema is JSON in a string."""
    stated = _json_schema(native)
    schema = _parsed(stated.get("schema"))
    named = {key: stated[key] for key in ("name", "description") if stated.get(key)}
    return None if schema is None else {"type": "json_schema", **named, "schema": schema}


def write_format(format_: dict[str, Any]) -> Native | None:
    """Returns a JSON response format by a schema, else None; strictness has no key."""
    if format_.get("type") != "json_schema" or not isinstance(format_.get("schema"), dict):
        return None
    stated: Native = {"schema": exact_json.write_text(format_["schema"])}
    stated |= {key: format_[key] for key in ("name", "description") if key in format_}
    return {"type": "json_schema", "structure": {"jsonSchema": stated}}


def _has_more(native: Native) -> bool:
    """True if a response format has more content than convcli reads. The layout of its schema does not count."""
    ours, stated = lift_format(native), _json_schema(native)
    compact = {**stated, "schema": exact_json.write_text(_parsed(stated.get("schema")))}
    same = {**native, "structure": {**(native.get("structure") or {}), "jsonSchema": compact}}
    return ours is not None and same != write_format(ours)


def _json_schema(native: Native) -> Native:
    structure = native.get("structure") or {}
    stated: Native = structure.get("jsonSchema") or {}
    return stated if native.get("type") == "json_schema" else {}


def _parsed(text: str | None) -> dict[str, Any] | None:
    try:
        value = exact_json.parse(text or "")
    except ContentError:
        return None
    return value if isinstance(value, dict) else None


def _check_metadata(native: Native) -> Native | None:
    """Returns metadata whose values the service accepts, else None."""
    texts = [value for value in native.values() if isinstance(value, str)]
    return native if len(texts) == len(native) and all(map(METADATA_VALUE.fullmatch, texts)) else None


METADATA_VALUE = pattern(r"[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}")
TIERS = {tier: tier for tier in ("priority", "default", "flex", "reserved")}

SETTINGS = Settings(
    {
        "inferenceConfig/maxTokens": "maxOutputTokens",
        "inferenceConfig/temperature": "temperature",
        "inferenceConfig/topP": "topP",
        "inferenceConfig/stopSequences": "stop",
        "requestMetadata": Setting("metadata", _check_metadata, _check_metadata),
        "serviceTier/type": Setting("serviceTier", TIERS.get, TIERS.get),
        "outputConfig/textFormat": Setting("responseFormat", lift_format, write_format),
        "outputConfig/effort": "reasoningEffort",
    }
)


def lift_settings(native: Native, transcript: Transcript) -> Native:
    """Sets the settings, and returns what must be kept of them, under the keys of the request."""
    settings, extra = SETTINGS.lift(native)
    transcript.settings = settings or None
    format_ = (native.get("outputConfig") or {}).get("textFormat")
    if format_ and _has_more(format_):
        extra["outputConfig"] = {**extra.get("outputConfig", {}), "textFormat": format_}
    return extra


def write_settings(transcript: Transcript, extra: Native) -> Native:
    """Returns the settings that the API has, with the kept extras."""
    return SETTINGS.write(transcript.settings or {}, extra)
