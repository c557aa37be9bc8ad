"""Tools, tool choice, settings and usage of the Gemini API and Vertex AI.

What the intermediate format cannot say of these objects rides in extras under their own key. Where an object is
written in a way that would not come back by itself (snake case, an order of its own), it is kept beside the records as
it was written, and used as long as it still says the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.families.google.keys import (
    FAMILY,
    Flavor,
    Reader,
    Shape,
    Writer,
    extras_of_family,
    listed,
    unlisted,
)
from convcli.families.google.schema import PARAMETERS, RESPONSE, lift_schema, lower_schema, read_subset
from convcli.kit.objects import Native, Spelling, carried_by, merge
from convcli.kit.values import put_counts, take_counts
from convcli.model.transcript import Path, ToolChoice, ToolDefinition, Transcript
from convcli.wire import exact_json

BUILTIN = (
    "googleSearch googleSearchRetrieval codeExecution urlContext googleMaps fileSearch computerUse mcpServers "
    "retrieval enterpriseWebSearch parallelAiSearch exaAiSearch"
)
TOOL = Shape("tools", f"functionDeclarations {BUILTIN}")
DECLARATION = Shape(
    "functionDeclarations",
    "name description parameters parametersJsonSchema response responseJsonSchema behavior",
    carried="behavior",
    odd="parametersJsonSchema responseJsonSchema",
)
TOOL_CONFIG = Shape("toolConfig", "functionCallingConfig retrievalConfig includeServerSideToolInvocations")
CALLING = Shape("functionCallingConfig", "mode allowedFunctionNames streamFunctionCallArguments")


def keep(key: str, written: Any, again: Any, reader: Reader) -> None:
    """Remember an object of the document that would not come back by itself."""
    if not exact_json.exact(written, again):
        reader.origin.document[key] = written


def kept(key: str, document: Spelling, now: Any, lift: Callable[[Any], Any]) -> Any:
    """The object as it was written, if it still says what is said now; None otherwise."""
    written = document.get(key)
    return written if written is not None and exact_json.exact(_json(lift(written)), _json(now)) else None


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# ---------------------------------------------------------------- tools


def lift_tools(value: Any, path: Path, reader: Reader) -> list[ToolDefinition] | None:
    """A definition for each declared function and for each built-in tool; None where the request has no tools."""
    if value is None:
        return None
    natives, single = listed(value)
    if single:
        reader.origin.document["tools"] = single
    tools: list[ToolDefinition] = []
    for i, native in enumerate(natives):
        place = path if single else (*path, i)
        items = list(_lift_tool(native, place, reader))
        for k, (tool, function) in enumerate(items):
            joins = function and bool(tools) and not is_builtin(tools[-1])
            odd = {} if joins == (k > 0) else {"split": True} if joins else {"join": True}
            reader.origin.spell(tool, {**reader.origin.spellings.get(id(tool), {}), **odd})
            tools.append(tool)
    return tools


def _lift_tool(native: Native, path: Path, reader: Reader) -> list[tuple[ToolDefinition, bool]]:
    """What one object of `tools` holds, and whether it is a function."""
    camel, snakes = TOOL.camel(native)
    written = dict(zip(camel, native, strict=True))
    found: list[tuple[ToolDefinition, bool]] = []
    for key, value in camel.items():
        odd: Spelling = {"snake": [key]} if key in snakes else {}
        if key != "functionDeclarations" or not value:
            tool = ToolDefinition(key, extras={FAMILY: {"tool": {key: value}}})
            reader.origin.spell(tool, odd)
            reader.origin.tools.append((*path, written[key]))
            found.append((tool, False))
            continue
        for i, declaration in enumerate(value):
            tool = lift_declaration(declaration, reader)
            reader.origin.spell(tool, {**reader.origin.spellings.get(id(tool), {}), **odd})
            reader.origin.tools.append((*path, written[key], i))
            found.append((tool, True))
    return found


def lift_declaration(native: Native, reader: Reader) -> ToolDefinition:
    """The definition of a function."""
    native, carried, spelling = reader.take(DECLARATION, native)
    parameters, rest, odd = lift_schema(native, PARAMETERS, reader.flavor)
    output, more, odder = lift_schema(native, RESPONSE, reader.flavor)
    for pair, schema in ((PARAMETERS, parameters), (RESPONSE, output)):
        if schema is not None and not isinstance(native.get(pair.subset), dict):
            reader.origin.renamed[pair.subset] = pair.whole
    tool = ToolDefinition(native["name"], native.get("description") or None, parameters, output_schema=output)
    tool.extras = extras_of_family(carried, rest, more)
    reader.origin.spell(tool, {**({"inner": spelling} if spelling else {}), **odd, **odder})
    return tool


def lower_tools(transcript: Transcript, writer: Writer) -> Any:
    """`tools`: all functions that stand in a row in one object, each built-in tool in one of its own."""
    natives: list[Native] = []
    last = False
    for tool in transcript.tools or ():
        spelling = writer.spelling(tool)
        builtin = _lower_builtin(tool, writer)
        if builtin is None and is_builtin(tool):
            continue
        joins = spelling.get("join") or (builtin is None and last and not spelling.get("split"))
        if not joins or not natives:
            natives.append({})
        _put_tool(natives[-1], builtin, tool, writer)
        last = builtin is None
    return unlisted(natives, transcript.document_spelling(writer.flavor.name).get("tools", {}))


def _put_tool(native: Native, builtin: Native | None, tool: ToolDefinition, writer: Writer) -> None:
    snakes = writer.spelling(tool).get("snake", [])
    if builtin is not None:
        native.update(TOOL.put(builtin, {}, {"snake": snakes}))
        return
    (key,) = TOOL.put({"functionDeclarations": None}, {}, {"snake": snakes})
    native.setdefault(key, []).append(lower_declaration(tool, writer))


def _lower_builtin(tool: ToolDefinition, writer: Writer) -> Native | None:
    return writer.known(_own_builtin(tool), TOOL) or None


def _own_builtin(tool: ToolDefinition) -> Native:
    whole = carried_by(tool.extras, FAMILY).get("tool")
    return whole if isinstance(whole, dict) and list(whole) == [tool.name] else {}


def is_builtin(tool: ToolDefinition) -> bool:
    """A tool that a vendor runs by itself has nothing but a name and its owner's own keys."""
    owned = any("tool" in carried for name, carried in (tool.extras or {}).items() if name != FAMILY)
    return bool(_own_builtin(tool)) or (owned and tool.description is None and tool.parameters is None)


def lower_declaration(tool: ToolDefinition, writer: Writer) -> Native:
    """The declaration of a function."""
    spelling = writer.spelling(tool)
    native: Native = {"name": writer.rename(tool.name)}
    if tool.description is not None:
        native["description"] = tool.description
    native |= lower_schema(tool.parameters, PARAMETERS, writer, spelling)
    native |= lower_schema(tool.output_schema, RESPONSE, writer, spelling)
    return DECLARATION.put(native, writer.carried(tool.extras, DECLARATION), spelling.get("inner", {}))


# ---------------------------------------------------------------- choice

MODES = {"AUTO": "auto", "NONE": "none", "ANY": "required", "VALIDATED": "auto"}
MODE_OF = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def lift_choice(value: Native, reader: Reader) -> tuple[ToolChoice | None, Native]:
    """The choice that `toolConfig` makes, and what it says beside that."""
    choice, rest = _read_choice(value)
    keep("toolConfig", value, _write_choice(choice, rest), reader)
    return choice, rest


def _read_choice(value: Native) -> tuple[ToolChoice | None, Native]:
    config, _ = TOOL_CONFIG.camel(value)
    rest = {key: inner for key, inner in config.items() if key != "functionCallingConfig" and inner is not None}
    native = config.get("functionCallingConfig")
    if not native:
        return None, rest
    calling, _ = CALLING.camel(native)
    choice = _nearest(calling)
    said = {key: inner for key, inner in calling.items() if inner not in (None, [])}
    if choice is None or _calling(choice) != said:
        rest["functionCallingConfig"] = calling
    return choice, TOOL_CONFIG.ordered(rest)


def _nearest(calling: Native) -> ToolChoice | None:
    names = calling.get("allowedFunctionNames") or []
    if calling.get("mode") == "ANY" and names:
        return {"name": names[0]} if len(names) == 1 else {"names": names}
    return MODES.get(calling.get("mode") or "")


def _calling(choice: ToolChoice, rename: Callable[[str], str] = str) -> Native:
    if isinstance(choice, str):
        return {"mode": MODE_OF[choice]}
    names = [choice["name"]] if "name" in choice else choice["names"]
    return {"mode": "ANY", "allowedFunctionNames": [rename(name) for name in names]}


def _write_choice(choice: ToolChoice | None, rest: Native, rename: Callable[[str], str] = str) -> Native:
    """What was carried of the choice comes before the nearest reading of it."""
    native = {} if choice is None else {"functionCallingConfig": _calling(choice, rename)}
    return TOOL_CONFIG.ordered({**native, **rest})


def lower_choice(transcript: Transcript, writer: Writer) -> Native:
    """`toolConfig`. Without functions the service takes no choice among them."""
    choice = transcript.tool_choice
    rest = writer.carried(transcript.extras, TOOL_CONFIG, "toolConfig")
    written = kept("toolConfig", transcript.document_spelling(writer.flavor.name), (choice, rest), _read_choice)
    if written is not None:
        return dict(written)
    if isinstance(rest.get("functionCallingConfig"), dict):
        rest = {**rest, "functionCallingConfig": writer.known(rest["functionCallingConfig"], CALLING)}
    return _write_choice(choice if writer.own else _usable(choice, transcript), rest, writer.rename)


def _usable(choice: ToolChoice | None, transcript: Transcript) -> ToolChoice | None:
    """The choice as far as it is one among declared functions."""
    declared = {tool.name for tool in transcript.tools or () if not is_builtin(tool)}
    if not isinstance(choice, dict):
        return choice if declared else None
    if "name" in choice:
        return choice if choice["name"] in declared else None
    names = [name for name in choice["names"] if name in declared]
    return {"names": names} if names else None


# ---------------------------------------------------------------- settings

SETTINGS = {
    "temperature": "temperature",
    "topP": "topP",
    "topK": "topK",
    "maxOutputTokens": "maxOutputTokens",
    "stopSequences": "stop",
    "presencePenalty": "presencePenalty",
    "frequencyPenalty": "frequencyPenalty",
    "seed": "seed",
}
"""Settings whose value is the same on both sides, in Google's order."""

GENERATION = Shape(
    "generationConfig",
    f"{' '.join(SETTINGS)} candidateCount responseLogprobs logprobs responseMimeType responseSchema responseJsonSchema "
    "responseModalities mediaResolution speechConfig thinkingConfig imageConfig enableEnhancedCivicAnswers "
    "audioTranscriptionConfig audioTimestamp enableAffectiveDialog responseFormat routingConfig translationConfig",
)
THINKING = Shape("thinkingConfig", "includeThoughts thinkingBudget thinkingLevel")
EFFORTS = frozenset(("minimal", "low", "medium", "high", "xhigh"))
JSON_TYPE = "application/json"


def lift_settings(value: Native, reader: Reader) -> tuple[dict[str, Any], Native]:
    """The settings that `generationConfig` makes, and what it says beside them."""
    settings, rest = _read_settings(value)
    keep("generationConfig", value, _write_settings(settings, rest, reader.flavor), reader)
    return settings, rest


def _read_settings(value: Native) -> tuple[dict[str, Any], Native]:
    native, _ = GENERATION.camel(value)
    settings = {ours: native[theirs] for theirs, ours in SETTINGS.items() if native.get(theirs) not in (None, [])}
    rest = {key: inner for key, inner in native.items() if key not in SETTINGS and inner is not None}
    format_, used = _lift_format(native)
    if format_ is not None:
        settings["responseFormat"] = format_
    rest = {key: inner for key, inner in rest.items() if key not in used}
    thinking, _ = THINKING.camel(rest.pop("thinkingConfig", {}))
    level = thinking.get("thinkingLevel")
    if isinstance(level, str) and level.isupper() and level.lower() in EFFORTS:
        settings["reasoningEffort"] = level.lower()
        thinking = {key: inner for key, inner in thinking.items() if key != "thinkingLevel"}
    return settings, GENERATION.ordered({**rest, "thinkingConfig": thinking} if thinking else rest)


def _lift_format(native: Native) -> tuple[Native | None, tuple[str, ...]]:
    """The response format and the keys that say it; a combination that it cannot say is carried."""
    kind, subset, whole = (native.get(key) for key in ("responseMimeType", "responseSchema", "responseJsonSchema"))
    if kind == JSON_TYPE and isinstance(subset, dict) and whole is None:
        return {"type": "json_schema", "schema": read_subset(subset)}, ("responseMimeType", "responseSchema")
    if kind == JSON_TYPE and isinstance(whole, dict) and subset is None:
        return {"type": "json_schema", "schema": whole}, ("responseMimeType", "responseJsonSchema")
    if subset is None and whole is None and kind in (JSON_TYPE, "text/plain"):
        return {"type": "json" if kind == JSON_TYPE else "text"}, ("responseMimeType",)
    return None, ()


def lower_settings(transcript: Transcript, writer: Writer) -> Native:
    """`generationConfig`."""
    settings = transcript.settings or {}
    rest = writer.carried(transcript.extras, GENERATION, "generationConfig")
    spelling = transcript.document_spelling(writer.flavor.name)
    written = kept("generationConfig", spelling, (settings, rest), _read_settings)
    return dict(written) if written is not None else _write_settings(settings, rest, writer.flavor)


def _write_settings(settings: dict[str, Any], rest: Native, flavor: Flavor) -> Native:
    native: Native = {theirs: settings[ours] for theirs, ours in SETTINGS.items() if ours in settings}
    effort = settings.get("reasoningEffort")
    if effort in EFFORTS and f"thinkingLevel.{effort.upper()}" not in flavor.lacks:
        native["thinkingConfig"] = {"thinkingLevel": effort.upper()}
    format_ = settings.get("responseFormat") or {}
    if "responseMimeType" not in rest and format_.get("type") in ("json", "json_schema", "text"):
        native["responseMimeType"] = "text/plain" if format_["type"] == "text" else JSON_TYPE
        if isinstance(format_.get("schema"), dict):
            native["responseJsonSchema"] = format_["schema"]
    return GENERATION.ordered(merge(native, rest))


# ---------------------------------------------------------------- usage

COUNTS: dict[tuple[str, ...], str] = {
    ("promptTokenCount",): "inputTokens",
    ("cachedContentTokenCount",): "cacheReadTokens",
    ("candidatesTokenCount",): "outputTokens",
    ("thoughtsTokenCount",): "reasoningTokens",
    ("totalTokenCount",): "totalTokens",
}
"""Counts by their key. What was read from a cache is part of the prompt; thoughts are not part of the candidates."""

USAGE = Shape(
    "usageMetadata",
    "promptTokenCount cachedContentTokenCount candidatesTokenCount toolUsePromptTokenCount thoughtsTokenCount "
    "totalTokenCount promptTokensDetails cacheTokensDetails candidatesTokensDetails toolUsePromptTokensDetails "
    "trafficType",
)


def read_usage(value: Native) -> tuple[dict[str, int], Native]:
    """The usage, in which the output holds the thoughts too, and what else was counted."""
    usage, rest = take_counts(USAGE.camel(value)[0], COUNTS)
    if "reasoningTokens" in usage and "outputTokens" in usage:
        usage["outputTokens"] += usage["reasoningTokens"]
    return usage, USAGE.ordered(rest)


def write_usage(usage: dict[str, int], rest: Native) -> Native:
    """`usageMetadata`."""
    if "reasoningTokens" in usage and "outputTokens" in usage:
        usage = {**usage, "outputTokens": usage["outputTokens"] - usage["reasoningTokens"]}
    return USAGE.ordered(put_counts(usage, rest, COUNTS))
