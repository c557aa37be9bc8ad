"""modular-prompt, a TypeScript prompt library: messages with calls and results, and query results.

Specification: prompts/memos/tool-call-intermediate-format.v1.md, packages/core/src/types.ts and
packages/driver/src/types.ts of otolab/modular-prompt at commit c47f633 (2026-08-18); read 2026-11-20.

Quirks
- A message is a prompt element with `type: "message"`, or a driver's ChatMessage without it. The first is written.
- The kinds `text`, `data` and `error` are those of the intermediate format. `multimodal` is specified but no driver
  reads it yet: its value is written as attachments. An error that is not a string is data that failed.
- A call keeps `metadata` across turns, whatever the driver put there.
- The older form follows Chat Completions: calls with `function` and string arguments, results with `content`, tools
  and choice likewise. It is read, and written back unchanged.
- Files are attachments with a path and a type; images have a URL.
- A prompt keeps no thinking; only a query result has `thinkingContent`.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.modular_prompt.messages import (
    NAME,
    as_attachment,
    attached,
    express,
    flat,
    lift_message,
    lift_tool_call,
    write_message,
    write_tool_call,
)
from convcli.families.openai import request as common
from convcli.families.openai.messages import without_empty_text
from convcli.kit import fitting
from convcli.kit.contexts import LiftContext, lift_forms
from convcli.kit.definitions import Definitions, whole_of
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.passes import MEDIA, fused, on_each_message, on_parts, on_results
from convcli.kit.passes import on_messages as on_messages
from convcli.kit.renaming import identifiers, rename_tools_and_ids
from convcli.kit.results import apply_convention, one_result_each
from convcli.kit.settings import Settings
from convcli.kit.supported import CALLS, OPAQUE, SENT, TEXTS, TOOLS, counted, fields, lacking, media
from convcli.kit.texts import text_of
from convcli.kit.values import counts, pairs, put_counts, take_counts
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.transcript import (
    Message,
    Part,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    Transcript,
)
from convcli.validation.rules import links, tools, turns
from convcli.validation.survey import for_requests

REQUEST = Keys(
    "messages= tools= toolChoice= temperature= maxTokens= topP= topK= stream= reasoningEffort= mode apiStrategy cache"
)
RESULT = Keys("content= thinkingContent= structuredOutput usage= toolCalls= finishReason= logEntries errors")
DEFINITIONS = Definitions("name=name description=description parameters=parameters strict=strict")
SETTINGS = Settings(
    pairs(
        "temperature=temperature maxTokens=maxOutputTokens topP=topP topK=topK stream=stream "
        "reasoningEffort=reasoningEffort"
    )
)
USAGE: dict[tuple[str, ...], str] = counts(
    "promptTokens=inputTokens completionTokens=outputTokens totalTokens=totalTokens cacheReadTokens=cacheReadTokens "
    "cacheWriteTokens=cacheWriteTokens"
)
NAMES = identifiers(64)
FINISH_OF = {reason: reason for reason in ("stop", "length", "error", "tool_calls")} | {
    "content_filter": "error",
    "aborted": "error",
}
"""Maps the drivers' finish reasons to convcli's; any other is an ordinary stop."""
RESULTS = Convention(express, {"error": ("changed", "a failed result with a string value is an error, not data")})


# ---------------------------------------------------------------- document


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    tools, choice = native.get("tools"), native.get("toolChoice")
    settings, _ = SETTINGS.lift(native)
    return context.transcript(
        tools=None if tools is None else [_lift_tool(tool, context, ("tools", i)) for i, tool in enumerate(tools)],
        tool_choice=None if choice is None else _lift_choice(choice),
        settings=settings or None,
        extras=make_extras(NAME, {**(REQUEST.extra(native) or {}), **_carried_choice(choice)}),
    )


def _carried_choice(choice: Any) -> Native:
    """Returns a choice that has more than a tool name."""
    if not isinstance(choice, dict):
        return {}
    read = {"type", "function"} if "function" in choice else {"type", "name"}
    has_more_keys = choice.keys() - read or choice.get("function", choice).keys() - {"type", "name"}
    return {"toolChoice": choice} if has_more_keys else {}


def _lift_answer(native: Native, context: LiftContext) -> Transcript:
    context.origin.form = "result"
    lifted: list[tuple[Part, Path]] = []
    if native.get("thinkingContent"):
        lifted.append((Reasoning(native["thinkingContent"]), ("thinkingContent",)))
    if native["content"]:
        lifted.append((Text(native["content"]), ("content",)))
    for j, call in enumerate(native.get("toolCalls") or ()):
        lifted.append((lift_tool_call(call, context), ("toolCalls", j)))
    usage, rest = take_counts(native.get("usage") or {}, USAGE)
    reason = native.get("finishReason") or None
    message = Message("assistant", [part for part, _ in lifted], stop_reason=reason, usage=usage or None)
    context.add(message, (), [node_path for _, node_path in lifted])
    return context.transcript(extras=make_extras(NAME, RESULT.extra(native), usage=rest))


def _lift_tool(native: Native, context: LiftContext, path: Path) -> ToolDefinition:
    if "function" in native:
        tool = common.lift_tool(native, context, path)
        tool.extras = make_extras(NAME, flat(get_extras(tool.extras, NAME)))
        return tool
    context.origin.tools.append(path)
    return DEFINITIONS.lift(native, NAME)


def _lift_choice(native: Any) -> ToolChoice:
    """Reads a choice; the older form of a named choice is that of Chat Completions."""
    return native if isinstance(native, str) else {"name": native.get("function", native)["name"]}


lift = lift_forms(NAME, lift_message, _lift_request, _lift_answer)


# ---------------------------------------------------------------- fit


def _keep_first_answer(transcript: Transcript) -> Transcript:
    """Keeps the first answer only, with one text and one thought: a query returns one answer."""
    messages = [message for message in transcript.messages if message.role == "assistant"]
    answer = _join_parts(messages[0] if messages else Message("assistant", []))
    return transcript if transcript.messages == [answer] else replace(transcript, messages=[answer])


def _join_parts(message: Message) -> Message:
    texts = "\n".join(part.text for part in message.parts if isinstance(part, (Text, Refusal)))
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning)]
    thought = "\n".join(thoughts)
    parts: list[Part] = [*([Reasoning(thought)] if thought else []), *([Text(texts)] if texts else [])]
    parts += [part for part in message.parts if isinstance(part, ToolCall)]
    return message if parts == message.parts else replace(message, parts=parts)


MESSAGES = fused(
    rename_tools_and_ids(NAMES),
    fitting.keep_active_conversation,
    one_result_each,
    on_each_message(fitting.drop_empty_name),
    fitting.roles({"developer": "system"}),
    apply_convention(RESULTS),
    on_results(attached),
    on_parts(as_attachment, "refusal", "reasoning", *MEDIA),
    fitting.drop_other_opaque(NAME),
    fitting.sort_parts("text image audio video document opaque", "tool_call", of=("system", "user", "assistant")),
    without_empty_text(NAME),
    fitting.keep_functions(NAME),
    fitting.require_any_tool,
    SETTINGS.fits,
)
ANSWER = fused(
    rename_tools_and_ids(NAMES),
    fitting.keep_active_conversation,
    _keep_first_answer,
    fitting.keep_known_finish({}, FINISH_OF, "stop"),
)
FIT = {"request": MESSAGES, "list": MESSAGES, "result": ANSWER}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes messages with the options of their query, messages alone, or a query result."""
    if options.form == "result":
        return _write_answer(transcript)
    messages = [write_message(message) for message in transcript.messages]
    return messages if options.form == "list" else _write_request(transcript, messages)


def _write_request(transcript: Transcript, messages: list[Native]) -> Native:
    extra = dict(get_extras(transcript.extras, NAME))
    choice = extra.pop("toolChoice", None)
    is_unchanged = choice is not None and _lift_choice(choice) == transcript.tool_choice
    tools = transcript.tools
    native = {
        "messages": messages,
        "tools": None if tools is None else [whole_of(tool, NAME) or DEFINITIONS.write(tool, NAME) for tool in tools],
        "toolChoice": choice if is_unchanged else transcript.tool_choice,
        **SETTINGS.write(transcript.settings or {}, {}),
    }
    return REQUEST.write(native, extra)


def _write_answer(transcript: Transcript) -> Native:
    message = transcript.messages[0]
    extra = dict(get_extras(transcript.extras, NAME))
    native = {
        "content": text_of(message.parts),
        "thinkingContent": next((part.text for part in message.parts if isinstance(part, Reasoning)), None),
        "usage": put_counts(message.usage or {}, extra.pop("usage", {}), USAGE) or None,
        "toolCalls": [write_tool_call(part) for part in message.parts if isinstance(part, ToolCall)] or None,
        "finishReason": message.stop_reason,
    }
    return RESULT.write(native, extra)


RULES = (
    links.paired(links.PairingRules(where="later")),
    tools.chosen(alone=tools.EVERY),
    tools.unique(),
    tools.schemas(tools.SchemaDemands(bare=True)),
    for_requests(turns.media_typed("document")),
    for_requests(turns.stopped_with(*FINISH_OF, form="result")),
)

SUPPORTS = TEXTS | CALLS | media("image", "data url path") | media("audio video document", "path mediaType")
SUPPORTS |= fields("tool_call.metadata tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="modular-prompt",
    specification="tool-call-intermediate-format.v1.md and types of otolab/modular-prompt at c47f633; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "list", "result"),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=fitting.response_if_answered("result", single=True),
    rules=RULES,
    conventions=(RESULTS,),
    supports={
        "request": SUPPORTS | OPAQUE | TOOLS | SETTINGS.supports() | fields("toolChoice tool.strict message.name"),
        "list": SUPPORTS | OPAQUE | {"message.name"},
        "result": lacking(SUPPORTS, SENT) | counted(USAGE) | fields("reasoning.text message.stopReason"),
    },
    repeats=frozenset(("/toolChoice/type",)),
    reasons={
        "reasoning": "modular-prompt prompts have no thinking",
        "refusal": "modular-prompt has no refusal part: the refusal is written as text",
        "message.role": "modular-prompt has only one role for instructions",
        "message.stopReason": "only a query result has a finish reason, one of four",
        "message.usage": "only a query result has usage",
        "model": "the driver names the model, not the query",
        "toolChoice": "a tool choice names at most one tool",
        "tool_call.rawArguments": "arguments must be an object",
        "tool_result.isError": "only text and data results can be errors",
        "image": "an image needs a URL or a path",
        **dict.fromkeys(("audio", "video", "document"), "a file needs a path"),
        "image.mediaType": "an image URL has no media type, a file requires one",
        **dict.fromkeys(("audio.mediaType", "video.mediaType", "document.mediaType"), "a file requires a media type"),
    },
    places={
        **SETTINGS.places(),
        "tool_call.metadata": ("metadata",),
        "message.stopReason": ("finishReason",),
        "message.usage": ("usage",),
        "text.text": (),
    },
    envelope=frozenset(("logEntries", "errors", "usage")),
)
