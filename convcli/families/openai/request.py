"""What Chat Completions shares with the dialects of its shape: tools, choice, media, finish reasons."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from msgspec.structs import replace

from convcli.kit import custom
from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import kept_whole
from convcli.kit.envelopes import Envelope
from convcli.kit.fitting import is_vendor_builtin
from convcli.kit.objects import Native, as_text, get_extras, make_extras, omit
from convcli.kit.settings import Setting, Settings, in_snake_case, whole
from convcli.kit.values import DATA_URL, counts, put_counts, split_data_url, take_counts
from convcli.model.transcript import Media, Message, Path, ToolChoice, ToolDefinition, Transcript

FINISH = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}
"""Our words for a choice's `finish_reason`; any other word is the same on both sides."""

AUDIO_FORMATS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
AUDIO_TYPES = {media_type: name for name, media_type in AUDIO_FORMATS.items()} | {
    "audio/mp3": "mp3",
    "audio/x-wav": "wav",
}


def _lift_input_format(native: Native) -> Native | None:
    """Lifts the input format of a custom tool: a grammar is next to its type, as in Responses."""
    return {**omit(native, "grammar"), **(native.get("grammar") or {})}


def _write_input_format(format_: Native) -> Native | None:
    grammar = omit(format_, "type")
    written = {"type": format_.get("type"), **({"grammar": grammar} if grammar else {})}
    return None if written == custom.TEXT else written


NAMED = {key: whole(key) for key in ("name", "description")}
FUNCTION = NAMED | {key: whole(key) for key in ("parameters", "strict")}
CUSTOM = NAMED | {"format": Setting("custom", _lift_input_format, _write_input_format)}
TOOLS = {
    kind: Envelope(f"type= {kind}", nested={kind: Envelope(" ".join(fields), fields)}, groups="tool")
    for kind, fields in (("function", FUNCTION), ("custom", CUSTOM))
}
"""The keys of a tool definition, by its type: its body is under the same name."""


def lift_tool(native: Native, context: LiftContext, path: Path, *, free: bool = False) -> ToolDefinition:
    """Lifts a tool definition; one that is not a function is kept whole in extras. `free`: there are custom tools
    too."""
    context.origin.tools.append(path)
    kind = native.get("type") or "function"
    body = native.get(kind)
    is_known = kind == "function" or (free and kind == "custom" and _is_custom(body))
    if not is_known or not isinstance(body, dict) or "name" not in body:
        return _lift_builtin(native, context.dialect)
    tool = ToolDefinition("") if kind == "function" else ToolDefinition("", None, custom.PARAMETERS, custom=custom.TEXT)
    tool.extras = make_extras(context.dialect, TOOLS[kind].lift(native, tool))
    tool.strict = tool.strict or None
    return tool


def _is_custom(body: Any) -> bool:
    """True for a custom tool whose format is readable."""
    format_ = body.get("format") or custom.TEXT if isinstance(body, dict) else None
    if not isinstance(format_, dict) or not format_.keys() <= {"type", "grammar"}:
        return False
    kind, grammar = format_.get("type"), format_.get("grammar")
    is_grammar = kind == "grammar" and isinstance(grammar, dict) and "type" not in grammar
    return (kind == "text" and grammar is None) or is_grammar


def _lift_builtin(native: Native, dialect: str) -> ToolDefinition:
    kind = native.get("type") or "function"
    inner = native.get(kind)
    name = as_text((inner if isinstance(inner, dict) else native).get("name"))
    return kept_whole(name or str(kind), native, dialect)


def write_tool(tool: ToolDefinition, dialect: str, *, strict: bool = True, free: bool = False) -> Native | None:
    """Writes a definition in the vendor's form, `strict` where the vendor has it there, custom where there are such
    tools; None for another vendor's built-in tool."""
    extra = get_extras(tool.extras, dialect)
    if "tool" in extra:
        whole: Native = extra["tool"]
        return whole
    if is_vendor_builtin(tool):
        return None
    kind = "custom" if tool.custom is not None and free else "function"
    if not strict:
        tool = replace(tool, strict=extra.get(kind, {}).get("strict"))
    return TOOLS[kind].write(tool, extra, type=kind)


def lift_choice(native: Any) -> ToolChoice | None:
    """Lifts a tool choice; None if the intermediate format cannot express it."""
    if isinstance(native, str):
        return native if native in ("auto", "none", "required") else None
    kind = native.get("type")
    if kind == "allowed_tools":
        return _lift_allowed(native)
    body = native.get(kind) if isinstance(kind, str) else None
    name = body.get("name") if isinstance(body, dict) else None
    return {"name": name} if isinstance(name, str) else None


def _lift_allowed(native: Native) -> ToolChoice | None:
    tools = (native.get("allowed_tools") or {}).get("tools") or []
    bodies = [tool.get("function") or tool.get("custom") for tool in tools if isinstance(tool, dict)]
    names = [body.get("name") for body in bodies if isinstance(body, dict)]
    return {"names": names} if names and all(name and isinstance(name, str) for name in names) else None


def write_choice(choice: ToolChoice, free: Collection[str] = ()) -> Any:
    """Writes a tool choice as Chat Completions does; `free` are the names of custom tools."""
    if isinstance(choice, str):
        return choice
    if "name" in choice:
        return _named(choice["name"], free)
    tools = [_named(name, free) for name in choice["names"]]
    return {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": tools}}


def _named(name: str, free: Collection[str]) -> Native:
    kind = "custom" if name in free else "function"
    return {"type": kind, kind: {"name": name}}


def media_of_url(kind: Any, url: str, **fields: Any) -> Media:
    """Lifts media by URL; a base64 data URL becomes data and media type."""
    split = split_data_url(url)
    if split is None:
        return Media(kind, url=url, **fields)
    return Media(kind, data=split[1], media_type=split[0], **fields)


def url_of_media(media: Media) -> str | None:
    """Returns the URL of media that have one or can be written as a data URL."""
    if media.url is not None:
        return media.url
    if media.data is not None:
        return DATA_URL.format(media.media_type or "application/octet-stream", media.data)
    return None


# ---------------------------------------------------------------- tools, choice, settings, usage of a request

FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()} | {"refusal": "content_filter"}

SETTINGS = in_snake_case(
    "temperature top_p seed presence_penalty frequency_penalty parallel_tool_calls reasoning_effort stream"
)
"""Settings with the same value on both sides."""

LIMITS = {"max_completion_tokens": "maxOutputTokens", "max_tokens": "maxOutputTokens"}
"""The names of the limit on output tokens, the current one first."""


def lift_tools(native: Native, context: LiftContext, *, free: bool = False) -> list[ToolDefinition] | None:
    """Lifts `tools` and the older `functions`; None if the request has neither."""
    if native.get("tools") is None and native.get("functions") is None:
        return None
    tools = [lift_tool(tool, context, ("tools", i), free=free) for i, tool in enumerate(native.get("tools") or ())]
    for i, function in enumerate(native.get("functions") or ()):
        tools.append(lift_tool({"type": "function", "function": function}, context, ("functions", i)))
    return tools


def write_tools(transcript: Transcript, dialect: str, *, strict: bool = True, free: bool = False) -> Native:
    """Writes `tools`, without those that the vendor cannot express."""
    if transcript.tools is None:
        return {}
    written = [write_tool(tool, dialect, strict=strict, free=free) for tool in transcript.tools]
    return {"tools": [tool for tool in written if tool is not None]}


CHOICES = ("tool_choice", "function_call")


def lift_choices(native: Native, free: Collection[str] = ()) -> tuple[ToolChoice | None, Native]:
    """Lifts the tool choice. Returns it, and the extras that the intermediate format cannot express."""
    extra: Native = {}
    choice: ToolChoice | None = None
    for key in CHOICES:
        value = native.get(key)
        if value is None:
            continue
        lifted = _lift_choice_of(key, value)
        choice = lifted if choice is None else choice
        if key == "function_call" or lifted is None or write_choice(lifted, free) != value:
            extra[key] = value
    return choice, extra


def _lift_choice_of(key: str, value: Any) -> ToolChoice | None:
    is_older = key == "function_call" and isinstance(value, dict)
    return lift_choice({"type": "function", "function": value} if is_older else value)


def write_choices(choice: ToolChoice | None, extra: Native, free: Collection[str] = ()) -> Native:
    """Writes the tool choice; its extra form is used if it still means the same."""
    kept = {key: extra[key] for key in CHOICES if key in extra}
    readings = [_lift_choice_of(key, value) for key, value in kept.items()]
    if kept and next((reading for reading in readings if reading is not None), None) == choice:
        return kept
    return {} if choice is None else {"tool_choice": write_choice(choice, free)}


def _lift_response_format(native: Any) -> Any:
    kind = native.get("type") if isinstance(native, dict) else None
    is_known = kind in ("text", "json_object") or (kind == "json_schema" and isinstance(native.get(kind), dict))
    return lift_format(native) if is_known else None


STOP = Setting("stop", lambda stop: [stop] if isinstance(stop, str) else stop, lambda stop: stop)


def lift_format(native: Native) -> dict[str, Any]:
    """Lifts `{"type": "text" | "json" | "json_schema"}`, the last with `name`, `description`, `schema`, `strict`."""
    kind = native.get("type")
    inner = native.get("json_schema")
    if kind == "json_schema" and isinstance(inner, dict):
        return {"type": "json_schema", **{key: inner[key] for key in inner if key != "type" and inner[key] is not None}}
    return {"type": "json" if kind == "json_object" else kind}


def write_format(format_: dict[str, Any]) -> Native:
    """Writes the response format as Chat Completions does."""
    kind = format_.get("type")
    if kind != "json_schema":
        return {"type": "json_object" if kind == "json" else kind}
    return {"type": "json_schema", "json_schema": omit(format_, "type")}


def named_format(transcript: Transcript) -> Transcript:
    """Gives the schema of a response format a name."""
    format_ = (transcript.settings or {}).get("responseFormat")
    if not isinstance(format_, dict) or format_.get("type") != "json_schema" or "name" in format_:
        return transcript
    named = {"type": "json_schema", "name": "response", **format_}
    return replace(transcript, settings={**(transcript.settings or {}), "responseFormat": named})


RESPONSE_FORMAT = Setting("responseFormat", _lift_response_format, write_format, partial=True)

COMPATIBLE: dict[str, str | Setting] = {**SETTINGS, **LIMITS, "stop": STOP, "response_format": RESPONSE_FORMAT}
"""Settings of every service that accepts Chat Completions requests."""
COMPATIBLE_SETTINGS = Settings(COMPATIBLE)


def _lift_metadata(native: Native) -> Native | None:
    """Lifts strings by name; other values have no meaning here."""
    return native if all(isinstance(value, str) for value in native.values()) else None


METADATA = Setting("metadata", _lift_metadata, _lift_metadata)


def service_tier(names: Mapping[str, str]) -> Setting:
    """Returns the setting for a service with these tiers, and our name for each."""
    return Setting("serviceTier", dict(names).get, {ours: theirs for theirs, ours in names.items()}.get)


TIERS = {tier: tier for tier in ("auto", "default", "flex", "scale", "priority", "fast")}

KEPT: dict[str, str | Setting] = {
    "store": "store",
    "metadata": METADATA,
    **in_snake_case("user safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options moderation"),
    "stream_options/include_obfuscation": "streamObfuscation",
}
"""Settings with the same key in both APIs of OpenAI, other than those of compatible services."""


def _lift_prediction(native: Native) -> str | None:
    text = native.get("content")
    return text or None if native.get("type") == "content" and isinstance(text, str) else None


PREDICTION = Setting("prediction", _lift_prediction, lambda text: {"type": "content", "content": text}, partial=True)
MODALITIES = ("text", "audio")


def _modalities(values: list[str]) -> list[str] | None:
    return values if all(value in MODALITIES for value in values) else None


REQUEST_SETTINGS = Settings(
    {
        **COMPATIBLE,
        "n": "candidateCount",
        "modalities": Setting("modalities", _modalities, _modalities),
        **in_snake_case("logprobs top_logprobs verbosity"),
        "prediction": PREDICTION,
        "service_tier": service_tier(TIERS),
        **KEPT,
    }
)
"""The settings of a Chat Completions request."""

Counts: TypeAlias = Mapping[tuple[str, ...], str]

USAGE: Counts = counts(
    "prompt_tokens=inputTokens completion_tokens=outputTokens total_tokens=totalTokens "
    "prompt_tokens_details/cached_tokens=cacheReadTokens prompt_tokens_details/cache_write_tokens=cacheWriteTokens "
    "completion_tokens_details/reasoning_tokens=reasoningTokens"
)
"""Counts by their path in `usage`. `inputTokens` includes tokens read from or written to a cache."""


def lift_usage(native: Native, message: Message, dialect: str, counts: Counts) -> None:
    """Sets the usage of `message`; counts that the intermediate format does not have are extras."""
    usage, rest = take_counts(native, counts)
    message.usage = usage or None
    if rest:
        message.extras = {**(message.extras or {}), dialect: {**get_extras(message.extras, dialect), "usage": rest}}


def write_usage(message: Message, dialect: str, counts: Counts) -> Native:
    """Writes the usage of `message`, with the extra counts."""
    return put_counts(message.usage or {}, get_extras(message.extras, dialect).get("usage", {}), counts)
