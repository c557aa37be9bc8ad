"""Tools, tool choice, settings and usage of the Gemini API and Vertex AI.

What the intermediate format cannot express of these objects is kept in extras under their own key.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google.keys import Shape, Writer, listed, owned, snake
from convcli.families.google.schema import PARAMETERS, RESPONSE, lift_schema, read_subset, write_schema
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, except_keys, get_extras, merge, omit, without_nulls
from convcli.kit.settings import BUDGET, EFFORT, Settings, off_as_budget, off_as_effort
from convcli.kit.values import counts, pairs, put_counts, take_counts
from convcli.model.transcript import Origin, Path, ToolChoice, ToolDefinition, Transcript

BUILTIN = (
    "googleSearch googleSearchRetrieval codeExecution urlContext googleMaps fileSearch computerUse mcpServers "
    "retrieval enterpriseWebSearch parallelAiSearch exaAiSearch"
)
TOOL = Shape("tools", f"functionDeclarations {BUILTIN}")
DECLARATION = Shape(
    "functionDeclarations",
    "name description parameters parametersJsonSchema response responseJsonSchema behavior",
    extra="behavior",
    partly="parametersJsonSchema responseJsonSchema",
    groups="tool",
)
TOOL_CONFIG = Shape("toolConfig", "functionCallingConfig retrievalConfig includeServerSideToolInvocations")
CALLING = Shape("functionCallingConfig", "mode allowedFunctionNames streamFunctionCallArguments")


# ---------------------------------------------------------------- tools


def lift_tools(value: Any, path: Path, context: LiftContext) -> list[ToolDefinition] | None:
    """Lifts a definition for each function declaration and for each built-in tool; None if the request has no tools."""
    if value is None:
        return None
    tools: list[ToolDefinition] = []
    for i, native in enumerate(listed(value)):
        tools += _lift_tool(native, path if isinstance(value, dict) else (*path, i), context)
    return tools


def _lift_tool(native: Native, path: Path, context: LiftContext) -> list[ToolDefinition]:
    """Lifts the tools in one object of `tools`."""
    camel, _ = TOOL.camel(native)
    tools: list[ToolDefinition] = []
    for (key, value), written in zip(camel.items(), native, strict=True):
        if key == "functionDeclarations" and value:
            tools += [_lift_declaration(declaration, context) for declaration in value]
            context.origin.tools += [(*path, written, i) for i in range(len(value))]
        else:
            tools.append(ToolDefinition(key, extras={context.dialect: {"tool": {key: value}}}))
            context.origin.tools.append((*path, written))
    return tools


def _lift_declaration(native: Native, context: LiftContext) -> ToolDefinition:
    """Lifts the definition of a function."""
    native, extra = DECLARATION.read(native, context.origin)
    for pair in (PARAMETERS, RESPONSE):
        if isinstance(native.get(pair.whole), (dict, bool)) and not isinstance(native.get(pair.subset), dict):
            context.origin.aliases[pair.subset] = pair.whole
    parameters, schema_extras = lift_schema(native, PARAMETERS)
    output, output_extras = lift_schema(native, RESPONSE)
    extras = owned(context.dialect, extra, schema_extras, output_extras)
    description = native.get("description") or None
    return ToolDefinition(native["name"], description, parameters, output_schema=output, extras=extras)


def write_tools(tools: list[ToolDefinition], writer: Writer) -> list[Native]:
    """Writes `tools`: consecutive functions in one object, each built-in tool in its own."""
    natives: list[Native] = []
    last = False
    for tool in tools:
        builtin = builtin_of(tool, writer.service.owner)
        if builtin:
            natives.append(builtin)
        elif last:
            natives[-1]["functionDeclarations"].append(_write_declaration(tool, writer))
        else:
            natives.append({"functionDeclarations": [_write_declaration(tool, writer)]})
        last = not builtin
    return natives


def builtin_of(tool: ToolDefinition, owner: str) -> Native:
    """Returns a tool that the service runs itself in the service's form; nothing for a function."""
    whole = get_extras(tool.extras, owner).get("tool")
    return whole if isinstance(whole, dict) and list(whole) == [tool.name] else {}


def _write_declaration(tool: ToolDefinition, writer: Writer) -> Native:
    """Writes the declaration of a function."""
    native = {
        "name": tool.name,
        "description": tool.description,
        **write_schema(tool.parameters, PARAMETERS, writer.service),
        **write_schema(tool.output_schema, RESPONSE, writer.service),
    }
    return DECLARATION.put(without_nulls(native), writer.extra(tool.extras))


# ---------------------------------------------------------------- choice

MODES = {"AUTO": "auto", "NONE": "none", "ANY": "required", "VALIDATED": "auto"}
MODE_NUMBERS = {1: "AUTO", 2: "ANY", 3: "NONE"}
"""The numbers that clients with the REST transport write for a mode."""
MODE_OF = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def lift_choice(value: Native) -> tuple[ToolChoice | None, Native]:
    """Returns the choice in `toolConfig`, and the extras."""
    config, _ = TOOL_CONFIG.camel(value)
    other_keys = except_keys(config, "functionCallingConfig")
    native = config.get("functionCallingConfig")
    if not native:
        return None, other_keys
    calling, _ = CALLING.camel(native)
    if isinstance(calling.get("mode"), int):
        calling = {**calling, "mode": mode_of(calling) or calling["mode"]}
    choice = nearest_choice(calling)
    stated = {
        key: one for key, one in calling.items() if one is not None and (key, one) != ("allowedFunctionNames", [])
    }
    if choice is None or _write_calling(choice) != stated:
        other_keys["functionCallingConfig"] = calling
    return choice, TOOL_CONFIG.ordered(other_keys)


def nearest_choice(calling: Native) -> ToolChoice | None:
    """Returns the choice nearest to `functionCallingConfig`."""
    names, mode = calling.get("allowedFunctionNames") or [], mode_of(calling)
    if mode == "ANY" and names:
        return {"name": names[0]} if len(names) == 1 else {"names": names}
    return MODES.get(mode or "")


def mode_of(calling: Native) -> str | None:
    """Returns the mode of `functionCallingConfig` by its name; None without a known one."""
    mode = calling.get("mode")
    return mode if isinstance(mode, str) else MODE_NUMBERS.get(mode or 0)


def _write_calling(choice: ToolChoice) -> Native:
    if isinstance(choice, str):
        return {"mode": MODE_OF[choice]}
    return {"mode": "ANY", "allowedFunctionNames": [choice["name"]] if "name" in choice else choice["names"]}


def write_choice(transcript: Transcript, writer: Writer) -> Native:
    """Writes `toolConfig`. The extra form of the choice is used if it still means the same."""
    extra = writer.extra(transcript.extras, TOOL_CONFIG.name)
    choice = transcript.tool_choice
    native = {} if choice is None else {"functionCallingConfig": _write_calling(choice)}
    calling = extra.get("functionCallingConfig")
    if native and calling and nearest_choice(calling) != choice:
        extra = omit(extra, "functionCallingConfig")
    return TOOL_CONFIG.ordered({**native, **extra})


# ---------------------------------------------------------------- settings

SETTINGS = pairs(
    "temperature=temperature topP=topP topK=topK maxOutputTokens=maxOutputTokens stopSequences=stop "
    "presencePenalty=presencePenalty frequencyPenalty=frequencyPenalty seed=seed candidateCount=candidateCount "
    "responseLogprobs=logprobs logprobs=topLogprobs"
)
"""Settings with the same value on both sides, in Google's order."""
SAME = Settings(SETTINGS)

GENERATION = Shape(
    "generationConfig",
    f"{' '.join(SETTINGS)} responseMimeType responseSchema responseJsonSchema "
    "responseModalities mediaResolution speechConfig thinkingConfig imageConfig enableEnhancedCivicAnswers "
    "audioTranscriptionConfig audioTimestamp enableAffectiveDialog responseFormat routingConfig translationConfig",
)
THINKING = Shape("thinkingConfig", "includeThoughts thinkingBudget thinkingLevel")
EFFORTS = frozenset(("minimal", "low", "medium", "high", "xhigh"))
JSON_TYPE = "application/json"
MODALITIES = frozenset(("text", "image", "audio", "video"))
TIERS = pairs("standard=default flex=flex priority=priority")
TIER_OF = {ours: theirs for theirs, ours in TIERS.items()}


def lift_settings(value: Native, origin: Origin) -> tuple[Native, Native]:
    """Returns the settings in `generationConfig`, and the extras."""
    native, snakes = GENERATION.camel(value)
    for key in snakes:
        origin.aliases.setdefault(key, snake(key))
    settings, _ = SAME.lift(native)
    other_keys = except_keys(native, *SETTINGS)
    format_, used = _lift_format(native)
    if format_ is not None:
        settings["responseFormat"] = format_
        for key in ("responseMimeType", "responseSchema"):  # with a schema, the type adds nothing
            origin.aliases[key] = origin.aliases.get(used[-1], used[-1])
    kinds = [kind.lower() for kind in other_keys.get("responseModalities") or ()]
    if kinds and MODALITIES.issuperset(kinds):
        settings["modalities"] = kinds
        used = (*used, "responseModalities")
    thinking = _lift_thinking(other_keys.pop("thinkingConfig", {}), settings)
    other_keys = omit(other_keys, *used)
    return off_as_effort(settings), GENERATION.ordered(
        {**other_keys, "thinkingConfig": thinking} if thinking else other_keys
    )


def _lift_thinking(value: Native, settings: Native) -> Native:
    """Sets effort and budget. Returns the extras of `thinkingConfig`."""
    thinking, _ = THINKING.camel(value)
    level, budget = thinking.get("thinkingLevel"), thinking.get("thinkingBudget")
    used = []
    if isinstance(level, str) and level.isupper() and level.lower() in EFFORTS:
        settings[EFFORT] = level.lower()
        used.append("thinkingLevel")
    if budget is not None:
        settings[BUDGET] = budget
        used.append("thinkingBudget")
    return omit(thinking, *used)


def _lift_format(native: Native) -> tuple[Native | None, tuple[str, ...]]:
    """Returns the response format and the keys that express it; a combination that it cannot express is kept in
    extras."""
    kind, subset, whole = (native.get(key) for key in ("responseMimeType", "responseSchema", "responseJsonSchema"))
    if kind == JSON_TYPE and isinstance(subset, dict) and whole is None:
        return {"type": "json_schema", "schema": read_subset(subset)}, ("responseMimeType", "responseSchema")
    if kind == JSON_TYPE and isinstance(whole, dict) and subset is None:
        return {"type": "json_schema", "schema": whole}, ("responseMimeType", "responseJsonSchema")
    if subset is None and whole is None and kind in (JSON_TYPE, "text/plain"):
        return {"type": "json" if kind == JSON_TYPE else "text"}, ("responseMimeType",)
    return None, ()


def write_settings(transcript: Transcript, writer: Writer) -> Native:
    """Writes `generationConfig`."""
    settings = off_as_budget(transcript.settings or {})
    extra = writer.extra(transcript.extras, GENERATION.name)
    native = SAME.write(settings, {})
    level = settings[EFFORT].upper() if EFFORT in settings else None
    thinking = without_nulls({"thinkingLevel": level, "thinkingBudget": settings.get(BUDGET)})
    native |= {"thinkingConfig": thinking} if thinking else {}
    if "modalities" in settings:
        native["responseModalities"] = [kind.upper() for kind in settings["modalities"]]
    if "responseFormat" in settings and "responseMimeType" not in extra:
        native |= _write_format(settings["responseFormat"])
    return GENERATION.ordered(merge(native, extra))


def _write_format(format_: Native) -> Native:
    schema = {"responseJsonSchema": format_["schema"]} if isinstance(format_.get("schema"), dict) else {}
    return {"responseMimeType": "text/plain" if format_.get("type") == "text" else JSON_TYPE, **schema}


# ---------------------------------------------------------------- usage

COUNTS: dict[tuple[str, ...], str] = counts(
    "promptTokenCount=inputTokens cachedContentTokenCount=cacheReadTokens candidatesTokenCount=outputTokens "
    "thoughtsTokenCount=reasoningTokens totalTokenCount=totalTokens"
)
"""Counts by their key. Tokens read from a cache are part of the prompt; thoughts are not part of the candidates."""

USAGE = Shape(
    "usageMetadata",
    "promptTokenCount cachedContentTokenCount candidatesTokenCount toolUsePromptTokenCount thoughtsTokenCount "
    "totalTokenCount promptTokensDetails cacheTokensDetails candidatesTokensDetails toolUsePromptTokensDetails "
    "trafficType",
)


def lift_usage(value: Native) -> tuple[dict[str, int], Native]:
    """Returns the usage, in which thoughts count as output, and the other counts."""
    usage, other_counts = take_counts(USAGE.camel(value)[0], COUNTS)
    return with_thoughts(usage), USAGE.ordered(other_counts)


def write_usage(usage: dict[str, int], other_counts: Native) -> Native:
    """Writes `usageMetadata`."""
    return USAGE.ordered(put_counts(without_thoughts(usage), other_counts, COUNTS))


def with_thoughts(usage: dict[str, int]) -> dict[str, int]:
    """Returns the usage in which thoughts count as output; Google counts them apart."""
    if not {"reasoningTokens", "outputTokens"} <= usage.keys():
        return usage
    return {**usage, "outputTokens": usage["outputTokens"] + usage["reasoningTokens"]}


def without_thoughts(usage: dict[str, int]) -> dict[str, int]:
    """The inverse of `with_thoughts`."""
    if not {"reasoningTokens", "outputTokens"} <= usage.keys():
        return usage
    return {**usage, "outputTokens": usage["outputTokens"] - usage["reasoningTokens"]}
