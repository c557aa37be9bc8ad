"""What Chat Completions shares with the dialects that follow its shapes: tools, choice, media, finish reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec.structs import replace

from convcli.kit.fitting import is_foreign_builtin
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.values import DATA_URL, put_counts, split_data_url, take_counts
from convcli.model.transcript import Media, Message, Origin, Path, ToolChoice, ToolDefinition, Transcript
from convcli.wire import exact_json

FINISH = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}
"""`finish_reason` of a choice; what is not here is the same word on both sides."""

AUDIO_FORMATS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
AUDIO_TYPES = {media_type: name for name, media_type in AUDIO_FORMATS.items()} | {
    "audio/mp3": "mp3",
    "audio/x-wav": "wav",
}

TOOL = Keys("type function")
FUNCTION = Keys("name description parameters strict")


def lift_tool(native: Native, dialect: str, origin: Origin, path: Path) -> ToolDefinition:
    """A tool definition; one that is no function is kept whole in extras."""
    origin.tools.append(path)
    function = native.get("function")
    if native.get("type", "function") != "function" or not isinstance(function, dict) or "name" not in function:
        return _lift_builtin(native, dialect)
    outer, outer_spelling = TOOL.take(native)
    inner, inner_spelling = FUNCTION.take(function)
    carried = {**(outer or {}), **({"function": inner} if inner else {})}
    tool = ToolDefinition(
        function["name"],
        function.get("description") or None,
        function.get("parameters"),
        function.get("strict"),
        extras=extras_of(dialect, carried),
    )
    spelling = {"tool": outer_spelling, "function": inner_spelling}
    origin.spell(tool, {key: value for key, value in spelling.items() if value})
    return tool


def _lift_builtin(native: Native, dialect: str) -> ToolDefinition:
    kind = native.get("type", "function")
    inner = native.get(kind)
    named = inner.get("name") if isinstance(inner, dict) else native.get("name")
    return ToolDefinition(named if isinstance(named, str) else str(kind), extras={dialect: {"tool": native}})


def lower_tool(tool: ToolDefinition, dialect: str, spelling: dict[str, Any], *, strict: bool = True) -> Native | None:
    """The definition as the vendor writes it, `strict` where it says so there; None for another's built-in tool."""
    carried = carried_by(tool.extras, dialect)
    if "tool" in carried:
        whole: Native = carried["tool"]
        return whole
    if is_foreign_builtin(tool):
        return None
    native: Native = {"name": tool.name}
    for key, value in (("description", tool.description), ("parameters", tool.parameters), ("strict", tool.strict)):
        if value is not None and (strict or key != "strict"):
            native[key] = value
    function = FUNCTION.put(native, carried.get("function"), spelling.get("function"))
    outer = {key: value for key, value in carried.items() if key != "function"}
    return TOOL.put({"type": "function", "function": function}, outer, spelling.get("tool"))


def with_parameters(transcript: Transcript, *, typed: bool = False) -> Transcript:
    """The transcript with a schema for every function, empty where it has none; `typed`: with a root type."""
    if not transcript.tools:
        return transcript
    return replace(transcript, tools=[_with_parameters(tool, typed) for tool in transcript.tools])


def _with_parameters(tool: ToolDefinition, typed: bool) -> ToolDefinition:
    if is_foreign_builtin(tool) or (tool.parameters is not None and ("type" in tool.parameters or not typed)):
        return tool
    given = {"properties": {}} if tool.parameters is None else tool.parameters
    return replace(tool, parameters={"type": "object", **given})


def lift_choice(native: Any) -> ToolChoice | None:
    """A tool choice; None for a form that the intermediate format cannot say."""
    if isinstance(native, str):
        return native if native in ("auto", "none", "required") else None
    kind = native.get("type")
    if kind == "allowed_tools":
        return _lift_allowed(native)
    named = native.get(kind) if isinstance(kind, str) else None
    name = named.get("name") if isinstance(named, dict) else None
    return {"name": name} if isinstance(name, str) else None


def _lift_allowed(native: Native) -> ToolChoice | None:
    tools = (native.get("allowed_tools") or {}).get("tools") or []
    bodies = [tool.get("function") or tool.get("custom") for tool in tools if isinstance(tool, dict)]
    names = [body.get("name") for body in bodies if isinstance(body, dict)]
    return {"names": names} if names and all(isinstance(name, str) for name in names) else None


def lower_choice(choice: ToolChoice) -> Any:
    """A tool choice as Chat Completions writes it."""
    if isinstance(choice, str):
        return choice
    if "name" in choice:
        return {"type": "function", "function": {"name": choice["name"]}}
    tools = [{"type": "function", "function": {"name": name}} for name in choice["names"]]
    return {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": tools}}


def media_of_url(kind: Any, url: str, **fields: Any) -> Media:
    """Media by URL; a base64 data URL becomes data and media type."""
    split = split_data_url(url)
    if split is None:
        return Media(kind, url=url, **fields)
    return Media(kind, data=split[1], media_type=split[0], **fields)


def url_of_media(media: Media) -> str | None:
    """The URL of media that has one or can be written as a data URL."""
    if media.url is not None:
        return media.url
    if media.data is not None:
        return DATA_URL.format(media.media_type or "application/octet-stream", media.data)
    return None


# ---------------------------------------------------------------- tools, choice, settings, usage of a request

FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()} | {"refusal": "content_filter"}

SETTINGS = {
    "temperature": "temperature",
    "top_p": "topP",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "parallel_tool_calls": "parallelToolCalls",
    "reasoning_effort": "reasoningEffort",
    "stream": "stream",
}
"""Settings whose value is the same on both sides."""

LIMITS = ("max_completion_tokens", "max_tokens")
"""The names of the limit on output tokens, today's first."""


def lift_tools(native: Native, dialect: str, origin: Origin) -> list[ToolDefinition] | None:
    """`tools` and the older `functions`; None where the request has neither."""
    tools = [lift_tool(tool, dialect, origin, ("tools", i)) for i, tool in enumerate(native.get("tools") or ())]
    for i, function in enumerate(native.get("functions") or ()):
        tool = lift_tool({"type": "function", "function": function}, dialect, origin, ("functions", i))
        origin.spell(tool, {**origin.spellings.get(id(tool), {}), "legacy": True})
        tools.append(tool)
    given = native.get("tools") is not None or native.get("functions") is not None
    return tools if given else None


def lower_tools(transcript: Transcript, dialect: str, *, strict: bool = True) -> Native:
    """`tools`, and `functions` where the source wrote those."""
    spellings = transcript.spelling(dialect)
    native: dict[str, Any] = {}
    for tool in transcript.tools or ():
        spelling = spellings.get(id(tool), {})
        lowered = lower_tool(tool, dialect, spelling, strict=strict)
        if lowered is not None:
            legacy = bool(spelling.get("legacy"))
            native.setdefault("functions" if legacy else "tools", []).append(lowered["function"] if legacy else lowered)
    return native


def lift_choices(native: Native, transcript: Transcript) -> Native:
    """Set the tool choice; what the intermediate format cannot say of it is carried."""
    carried: Native = {}
    for key in ("tool_choice", "function_call"):
        value = native.get(key)
        if value is None:
            continue
        legacy = key == "function_call"
        choice = lift_choice({"type": "function", "function": value} if legacy and isinstance(value, dict) else value)
        if transcript.tool_choice is None:
            transcript.tool_choice = choice
        if legacy or choice is None or not exact_json.exact(lower_choice(choice), value):
            carried[key] = value
    return carried


def lower_choices(transcript: Transcript, carried: Native) -> Native:
    """`tool_choice`, where it does not come back from what was carried."""
    if transcript.tool_choice is None or "tool_choice" in carried or "function_call" in carried:
        return {}
    return {"tool_choice": lower_choice(transcript.tool_choice)}


def lift_settings(
    native: Native,
    transcript: Transcript,
    table: Mapping[str, str] = SETTINGS,
    limits: tuple[str, ...] = LIMITS,
) -> Native:
    """Set the settings; the carried rest is what the intermediate format cannot say of them."""
    settings = {ours: native[theirs] for theirs, ours in table.items() if native.get(theirs) is not None}
    document = transcript.origin.document if transcript.origin else {}
    carried = _lift_limit(native, settings, document, limits)
    stop = native.get("stop")
    if stop:
        settings["stop"] = [stop] if isinstance(stop, str) else stop
        if isinstance(stop, str):
            document["stop"] = "string"
    if native.get("response_format"):
        carried |= _lift_response_format(native["response_format"], settings, document)
    transcript.settings = settings or None
    return carried


def _lift_response_format(native: Native, settings: dict[str, Any], document: dict[str, Any]) -> Native:
    if native.get("type") not in ("text", "json_object", "json_schema"):
        return {"response_format": native}
    settings["responseFormat"] = lift_format(native)
    again = lower_format(settings["responseFormat"])
    if again != native:
        return {"response_format": native}
    if not exact_json.exact(again, native):
        document["response_format"] = native
    return {}


def _lift_limit(native: Native, settings: dict[str, Any], document: dict[str, Any], limits: tuple[str, ...]) -> Native:
    """Both names of the limit on output tokens are one setting; two different limits are not."""
    given = [key for key in limits if native.get(key) is not None]
    if not given:
        return {}
    settings["maxOutputTokens"] = native[given[0]]
    document["limit"] = [key for key in given if exact_json.exact(native[key], native[given[0]])]
    return {key: native[key] for key in given if key not in document["limit"]}


def lower_settings(
    settings: dict[str, Any],
    spelling: dict[str, Any],
    carried: Native,
    table: Mapping[str, str] = SETTINGS,
    limits: tuple[str, ...] = LIMITS,
) -> Native:
    """The settings that the table has; of the names for the limit on output tokens the first."""
    native: Native = {theirs: settings[ours] for theirs, ours in table.items() if ours in settings}
    if "maxOutputTokens" in settings:
        native |= dict.fromkeys(spelling.get("limit", limits[:1]), settings["maxOutputTokens"])
    stop = settings.get("stop")
    if stop is not None:
        native["stop"] = stop[0] if spelling.get("stop") == "string" and len(stop) == 1 else stop
    if "responseFormat" in settings and "response_format" not in carried:
        written = lower_format(settings["responseFormat"])
        native["response_format"] = (
            spelling["response_format"] if spelling.get("response_format") == written else written
        )
    return native


def lift_format(native: Native) -> dict[str, Any]:
    """`{"type": "text" | "json" | "json_schema"}`, for the last with `name`, `description`, `schema`, `strict`."""
    kind = native.get("type")
    inner = native.get("json_schema")
    if kind == "json_schema" and isinstance(inner, dict):
        return {"type": "json_schema", **{key: inner[key] for key in inner if key != "type" and inner[key] is not None}}
    return {"type": "json" if kind == "json_object" else kind}


def lower_format(format_: dict[str, Any]) -> Native:
    """The response format as Chat Completions writes it; a schema needs a name there."""
    kind = format_.get("type")
    if kind != "json_schema":
        return {"type": "json_object" if kind == "json" else kind}
    inner = {key: value for key, value in format_.items() if key != "type"}
    return {"type": "json_schema", "json_schema": inner if "name" in inner else {"name": "response", **inner}}


Counts: TypeAlias = Mapping[tuple[str, ...], str]

USAGE: Counts = {
    ("prompt_tokens",): "inputTokens",
    ("completion_tokens",): "outputTokens",
    ("total_tokens",): "totalTokens",
    ("prompt_tokens_details", "cached_tokens"): "cacheReadTokens",
    ("prompt_tokens_details", "cache_write_tokens"): "cacheWriteTokens",
    ("completion_tokens_details", "reasoning_tokens"): "reasoningTokens",
}
"""Counts by their path in `usage`. `inputTokens` includes what was read from or written to a cache."""


def lift_usage(native: Native, message: Message, dialect: str, origin: Origin, counts: Counts) -> None:
    """Set the usage of `message`; counts that the intermediate format does not have are carried."""
    usage, rest = take_counts(native, counts)
    message.usage = usage or None
    if rest:
        message.extras = {**(message.extras or {}), dialect: {**carried_by(message.extras, dialect), "usage": rest}}
    origin.spell(message, {**origin.spellings.get(id(message), {}), "usage": native})


def lower_usage(message: Message, dialect: str, spellings: dict[int, Any], counts: Counts) -> Native:
    """The usage of `message`, as its source wrote it where that still says the same."""
    written = spellings.get(id(message), {}).get("usage")
    rest = carried_by(message.extras, dialect).get("usage", {})
    if written is not None and take_counts(written, counts) == (message.usage or {}, rest):
        return dict(written)
    return put_counts(message.usage or {}, rest, counts)
