"""modular-prompt: messages with calls and results by kind, with the options of a query, and what a query returns.

Specification: prompts/memos/tool-call-intermediate-format.v1.md, packages/core/src/types.ts and
packages/driver/src/types.ts of otolab/modular-prompt at commit c47f633 (2026-08-18); read 2026-11-20.

Quirks
- A message is an element of a prompt, with `type: "message"`, or a ChatMessage of a driver, without. The first is
  written.
- The kinds `text`, `data` and `error` are those of the intermediate format. `multimodal` is specified but not yet read
  by any driver: its value is written as attachments. An error that is no string is data that failed.
- A call carries `metadata` from turn to turn, whatever the driver put there.
- The older form follows Chat Completions: calls with `function` and arguments as text, results with `content`, tools
  and choice likewise. It is read, and comes back as it was.
- Files stand in attachments by path, with a type; pictures by URL.
- A prompt keeps no thinking; only the result of a query has `thinkingContent`.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.modular_prompt.messages import NAME, Writer, express, lift_messages, lift_tool_call
from convcli.families.openai import request as common
from convcli.kit.fitting import is_foreign_builtin, is_response, results_first
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.renaming import identifiers, renamed
from convcli.kit.values import put_counts, take_counts
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import (
    Message,
    Origin,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    Transcript,
)
from convcli.validation.rules import arguments, links, tools

REQUEST = Keys(
    "messages tools toolChoice temperature maxTokens topP topK stream reasoningEffort mode apiStrategy cache",
    carried="mode apiStrategy cache",
)
RESULT = Keys(
    "content thinkingContent structuredOutput usage toolCalls finishReason logEntries errors",
    carried="structuredOutput logEntries errors",
)
TOOL = Keys("name description parameters strict")
SETTINGS = {
    "temperature": "temperature",
    "maxTokens": "maxOutputTokens",
    "topP": "topP",
    "topK": "topK",
    "stream": "stream",
    "reasoningEffort": "reasoningEffort",
}
USAGE: dict[tuple[str, ...], str] = {
    ("promptTokens",): "inputTokens",
    ("completionTokens",): "outputTokens",
    ("totalTokens",): "totalTokens",
    ("cacheReadTokens",): "cacheReadTokens",
    ("cacheWriteTokens",): "cacheWriteTokens",
}
NAMES = identifiers(64)
FINISH = ("stop", "length", "error", "tool_calls")
FINISH_OF = {"content_filter": "error", "aborted": "error"}
"""Other reasons; what is in neither table is an ordinary stop, as for the drivers."""


def detect(document: Any) -> Clue | None:
    """By calls and results with the keys of their own, or by what a query returns."""
    messages = document.get("messages") if isinstance(document, dict) else document
    if isinstance(document, dict) and messages is None:
        return _detect_result(document)
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    clues = [clue for message in messages for clue in _marks(message)]
    return max(clues, default=None)


def _detect_result(document: Native) -> Clue | None:
    usage = document.get("usage")
    counted = isinstance(usage, dict) and {"promptTokens", "completionTokens"} <= usage.keys()
    known = isinstance(document.get("content"), str) and "role" not in document
    return Clue(92, "the result of a query") if known and (counted or "finishReason" in document) else None


def _marks(message: Native) -> list[Clue]:
    marks: list[Clue] = []
    if message.get("role") == "tool" and "toolCallId" in message:
        kind = "kind" in message and "value" in message
        marks += [Clue(97, "results with a kind")] if kind else [Clue(93, "results with toolCallId")]
    calls = message.get("toolCalls") if message.get("role") == "assistant" else None
    if isinstance(calls, list) and any(isinstance(call, dict) and _is_call(call) for call in calls):
        marks.append(Clue(95, "messages with toolCalls"))
    if "cacheHint" in message and "role" in message:
        marks.append(Clue(90, "messages with a cacheHint"))
    if message.get("type") == "message" and _has_attachments(message.get("content")):
        marks.append(Clue(93, "messages with a type and attachments"))
    return marks


def _is_call(call: Native) -> bool:
    return isinstance(call.get("function"), dict) or {"name", "arguments"} <= call.keys()


def _has_attachments(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(item, dict) and item.get("type") in ("image_url", "file") for item in content
    )


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of messages, alone or with the options of a query, or of what a query returned."""
    origin = Origin(NAME, spot=("content",))
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return Transcript(lift_messages(document, (), document, origin), origin=origin)
    return _lift_request(document, origin) if "messages" in document else _lift_answer(document, origin)


def lower(transcript: Transcript, options: Options) -> Any:
    """Messages with the options of their query, or what the source was; for a lone answer, what a query returns."""
    spelling = transcript.document_spelling(NAME)
    writer = Writer(transcript)
    if not writer.own:
        transcript = renamed(transcript, NAMES)
    messages = active(transcript) if writer.own else results_first(active(transcript))
    alone = is_response(transcript) and len(messages) == 1
    form = options.form or spelling.get("form") or ("result" if alone else "request")
    same = spelling if spelling.get("form") == form else {}
    if form == "result":
        answer = next((message for message in messages if message.role == "assistant"), Message("assistant", []))
        return _lower_answer(answer, transcript, writer, same)
    natives = [writer.message(message) for message in messages]
    return natives if form == "list" else _lower_request(transcript, natives, writer, same)


def _lift_request(native: Native, origin: Origin) -> Transcript:
    carried, spelling = REQUEST.take(native)
    origin.document = {"form": "request", "keys": spelling or {}}
    transcript = Transcript(lift_messages(native["messages"], ("messages",), native, origin), origin=origin)
    if native.get("tools") is not None:
        transcript.tools = [_lift_tool(tool, origin, ("tools", i)) for i, tool in enumerate(native["tools"])]
    if native.get("toolChoice") is not None:
        transcript.tool_choice = _lift_choice(native["toolChoice"])
        origin.document |= {"choice": native["toolChoice"]} if transcript.tool_choice != native["toolChoice"] else {}
    settings = {ours: native[theirs] for theirs, ours in SETTINGS.items() if native.get(theirs) not in (None, "")}
    transcript.settings = settings or None
    transcript.extras = extras_of(NAME, carried)
    return transcript


def _lower_request(transcript: Transcript, messages: list[Native], writer: Writer, same: Spelling) -> Native:
    native: Native = {"messages": messages}
    if transcript.tools is not None:
        lowered = [_lower_tool(tool, writer.spelling(tool)) for tool in transcript.tools]
        native["tools"] = [tool for tool in lowered if tool is not None]
    if transcript.tool_choice is not None:
        native["toolChoice"] = _lower_choice(transcript.tool_choice, same.get("choice"))
    settings = transcript.settings or {}
    native |= {theirs: settings[ours] for theirs, ours in SETTINGS.items() if ours in settings}
    return REQUEST.put(native, carried_by(transcript.extras, NAME), same.get("keys"))


def _lift_answer(native: Native, origin: Origin) -> Transcript:
    carried, spelling = RESULT.take(native)
    origin.document = {"form": "result", "keys": spelling or {}}
    pairing = Pairing(native)
    origin.invented = pairing.invented
    message = Message("assistant", [], stop_reason=native.get("finishReason") or None)
    spots: list[Path] = []
    if native.get("thinkingContent"):
        message.parts.append(Reasoning(native["thinkingContent"]))
        spots.append(("thinkingContent",))
    if native["content"]:
        message.parts.append(Text(native["content"]))
        spots.append(("content",))
    for j, call in enumerate(native.get("toolCalls") or ()):
        message.parts.append(lift_tool_call(call, pairing, origin))
        spots.append(("toolCalls", j))
    if native.get("usage"):
        usage, rest = take_counts(native["usage"], USAGE)
        message.usage = usage or None
        carried = {**(carried or {}), **({"usage": rest} if rest else {})}
        origin.document["usage"] = native["usage"]
    origin.places.append(((), spots))
    return Transcript([message], extras=extras_of(NAME, carried), origin=origin)


def _lower_answer(message: Message, transcript: Transcript, writer: Writer, same: Spelling) -> Native:
    carried = dict(carried_by(transcript.extras, NAME))
    native: Native = {"content": "\n".join(part.text for part in message.parts if isinstance(part, (Text, Refusal)))}
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning)]
    if thoughts:
        native["thinkingContent"] = "\n".join(thoughts)
    usage = _lower_usage(message.usage or {}, carried.pop("usage", {}), same.get("usage"))
    if usage:
        native["usage"] = usage
    calls = [writer.call(part) for part in message.parts if isinstance(part, ToolCall)]
    if calls:
        native["toolCalls"] = calls
    reason = message.stop_reason
    if reason is not None:
        known = writer.own or reason in FINISH
        native["finishReason"] = reason if known else FINISH_OF.get(reason, "stop")
    return RESULT.put(native, carried, same.get("keys"))


def _lower_usage(usage: dict[str, int], rest: Native, written: Native | None) -> Native:
    """The counts, as the source wrote them where that still says the same."""
    if written is not None and take_counts(written, USAGE) == (usage, rest):
        return written
    return put_counts(usage, rest, USAGE)


# ---------------------------------------------------------------- tools and choice


def _lift_tool(native: Native, origin: Origin, path: Path) -> ToolDefinition:
    if "function" in native:
        tool = common.lift_tool(native, NAME, origin, path)
        origin.spell(tool, {**origin.spellings.get(id(tool), {}), "old": "typed" if "type" in native else "bare"})
        return tool
    origin.tools.append(path)
    carried, spelling = TOOL.take(native)
    tool = ToolDefinition(
        native["name"],
        native.get("description") or None,
        native.get("parameters"),
        native.get("strict"),
        extras=extras_of(NAME, carried),
    )
    origin.spell(tool, spelling or {})
    return tool


def _lower_tool(tool: ToolDefinition, spelling: Spelling) -> Native | None:
    """A definition; None for a tool that another vendor runs by itself."""
    if spelling.get("old"):
        old = common.lower_tool(tool, NAME, spelling)
        return {key: old[key] for key in old if key != "type" or spelling["old"] == "typed"} if old else None
    if is_foreign_builtin(tool):
        return None
    native = {"name": tool.name, "description": tool.description, "parameters": tool.parameters, "strict": tool.strict}
    said = {key: value for key, value in native.items() if value is not None}
    return TOOL.put(said, carried_by(tool.extras, NAME), spelling)


def _lift_choice(native: Any) -> ToolChoice:
    """A choice; the older form of a named one is that of Chat Completions."""
    if isinstance(native, str):
        return native
    return {"name": native.get("function", native)["name"]}


def _lower_choice(choice: ToolChoice, written: Native | None) -> Any:
    """A choice; several names can only be said as: some tool."""
    if written is not None and _lift_choice(written) == choice:
        return written
    return "required" if isinstance(choice, dict) and "names" in choice else choice


RULES = (
    links.paired(links.Manner(where="later")),
    arguments.not_filled(),
    tools.chosen(alone=tools.EVERY),
    tools.unique(),
    tools.schemas(tools.Shape(bare=True)),
)

DIALECT = Dialect(
    name=NAME,
    title="modular-prompt",
    specification="tool-call-intermediate-format.v1.md and types of otolab/modular-prompt at c47f633; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "list", "result"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=(
        Convention(express, {"error": ("changed", "a failure whose value is a string is an error, not data")}),
    ),
    reasons={
        "reasoning": "a prompt keeps no thinking",
        "refusal": "there is no part for a refusal: it is written as text",
        "message.role": "there is only one role for instructions",
        "message.stopReason": "only the result of a query has a finish reason, one of four",
        "message.usage": "only the result of a query has usage",
        "model": "the model is that of the driver, not of the query",
        "toolChoice": "a choice names one tool or none",
        "tool_call.rawArguments": "arguments are an object",
        "tool_result.isError": "only text and data have the kind error",
        "tool_result.status": "a result has no status",
        "image": "a picture has a URL or a path",
        "audio": "a file has a path",
        "video": "a file has a path",
        "document": "a file has a path",
        "image.mediaType": "a picture by URL has no type, a file needs one",
        "audio.mediaType": "a file needs a type",
        "video.mediaType": "a file needs a type",
        "document.mediaType": "a file needs a type",
    },
    places={
        "tools": ("tools",),
        "toolChoice": ("toolChoice",),
        **{f"settings.{ours}": (theirs,) for theirs, ours in SETTINGS.items()},
        "message.role": ("role",),
        "message.name": ("name",),
        "message.stopReason": ("finishReason",),
        "message.usage": ("usage",),
        "text.text": (),
        "tool_call.id": ("id",),
        "tool_call.name": ("name",),
        "tool_call.arguments": ("arguments",),
        "tool_call.metadata": ("metadata",),
        "tool_result.kind": ("kind",),
        "tool_result.value": ("value",),
        "tool_result.name": ("name",),
        "tool_result.toolCallId": ("toolCallId",),
        "tool.description": ("description",),
        "tool.parameters": ("parameters",),
        "tool.strict": ("strict",),
    },
    envelope=frozenset(("logEntries", "errors", "usage")),
)
