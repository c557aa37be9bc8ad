"""Model Context Protocol: lists of tools, results of tools, and requests for sampling with their answers.

Specification: the protocol in its versions 2025-11-25 and 2026-07-28, as typed by the Python package `mcp-types` 2.3.0;
read 2026-11-20. Documents stand alone or inside a message of JSON-RPC.

Quirks
- A list of tools is a transcript without messages. A result is one message whose call is unknown: its id is made up.
- Results say their data twice, as `structuredContent` and as JSON text for older clients. Where both are the same JSON
  value that is one fact; where they differ the content is the value and `structuredContent` is carried.
- Structured content is an object in 2025-11-25 and any JSON in 2026-07-28; only objects are written.
- Only the conversation of a sampling request can hold turns. A message with results holds nothing else, and links and
  resources stand only in results.
- A sampling request prefers a model by name and cannot demand one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.mcp import sampling
from convcli.dialects.mcp.blocks import CALL_RESULT, NAME, express, fit_media, fit_result, lift_result, write_result
from convcli.dialects.mcp.tools import fit_tool, fit_tools, is_newer, lift_tools, write_tools
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import (
    answers_only,
    functions_only,
    is_response,
    linear,
    on_each_message,
    on_messages,
    on_parts,
    on_results,
    only_own_opaque,
    parts_in_roles,
    refusals_as_texts,
    results_behind_calls,
    roles,
)
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.renaming import WORD, Alphabet, renaming
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.rule import At, Breach, Rule
from convcli.model.transcript import Media, Message, Part, Path, Text, ToolResult, Transcript
from convcli.validation.rules import answers, arguments, links, names, tools, turns
from convcli.validation.survey import MEDIA, Survey, when_sent

RPC = Keys("jsonrpc id method params result", carried="jsonrpc id method")
TOOLS = Keys(
    "resultType tools nextCursor ttlMs cacheScope _meta", carried="resultType nextCursor ttlMs cacheScope _meta"
)
REQUEST = Keys(
    "messages modelPreferences systemPrompt includeContext temperature maxTokens stopSequences metadata tools "
    "toolChoice task _meta",
    carried="includeContext metadata task _meta",
)
BESIDE = (
    *("nextCursor", "ttlMs", "cacheScope", "includeContext", "metadata", "task"),
    *("modelPreferences", "toolChoice", "stopReason"),
)
"""Carried keys that stand only in the payload itself."""

ROOT = "_root"
"""In `places`: the payload. It is the document, or what JSON-RPC wraps: `Origin.renamed` says where."""

NAMES = Alphabet("letters, digits, _, . and -", WORD + ".-", 128)


# ---------------------------------------------------------------- detect

BLOCK_MARKS = {
    "tool_use": "input",
    "tool_result": "toolUseId",
    "image": "mimeType",
    "audio": "mimeType",
    "resource_link": "uri",
    "resource": "resource",
}
"""The kinds of block that are not bare text, each with a key that it has."""
ANSWER_REASONS = frozenset(sampling.FINISH)


def detect(document: Any) -> Clue | None:
    """By `inputSchema`, the envelope of JSON-RPC, `structuredContent`, `isError` or sampling."""
    if isinstance(document, list):
        return Clue(95, "tools with inputSchema") if document and all(map(_is_tool, document)) else None
    if not isinstance(document, dict):
        return None
    payload = next((document[key] for key in ("result", "params") if isinstance(document.get(key), dict)), document)
    clue = _detect_payload(payload)
    wrapped = clue is not None and payload is not document and "jsonrpc" in document
    return Clue(97, f"JSON-RPC around {clue.reason}") if wrapped and clue is not None else clue


def _detect_payload(payload: Native) -> Clue | None:
    tools, content = payload.get("tools"), payload.get("content")
    if isinstance(payload.get("messages"), list):
        return _detect_sampling(payload)
    if isinstance(tools, list):
        return _detect_tools(payload, tools)
    if "role" in payload:
        answered = payload.get("stopReason") in ANSWER_REASONS and "model" in payload
        return Clue(91, "the answer to a sampling request") if answered else None
    if isinstance(content, list) and all(isinstance(block, dict) and "type" in block for block in content):
        marks = [key for key in ("structuredContent", "isError", "resultType") if key in payload]
        return Clue(92, f"content with {marks[0]}") if marks else Clue(60, "content blocks without a role")
    return None


def _detect_tools(payload: Native, tools: list[Any]) -> Clue | None:
    if tools:
        return Clue(95, "tools with inputSchema") if all(map(_is_tool, tools)) else None
    marks = [key for key in ("nextCursor", "resultType", "ttlMs", "cacheScope") if key in payload]
    if marks:
        return Clue(92, f"tools with {marks[0]}")
    return Clue(30, "an empty list of tools") if payload.keys() <= {"tools", "_meta"} else None


def _detect_sampling(payload: Native) -> Clue | None:
    tools = payload.get("tools")
    if isinstance(tools, list) and tools and all(map(_is_tool, tools)):
        return Clue(96, "tools with inputSchema")
    marks = [key for key in ("systemPrompt", "modelPreferences", "includeContext") if key in payload]
    if marks:
        return Clue(92, marks[0])
    contents = [message.get("content") for message in payload["messages"] if isinstance(message, dict)]
    if any(isinstance(content, dict) and ("text" in content or _has_mark(content)) for content in contents):
        return Clue(91, "content that is one block")
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    results = any(
        isinstance(block, dict) and block.get("type") == "tool_result" and _has_mark(block) for block in blocks
    )
    return Clue(91, "tool_result blocks with toolUseId") if results else None


def _is_tool(native: Any) -> bool:
    return isinstance(native, dict) and "inputSchema" in native and "name" in native


def _has_mark(block: Native) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in BLOCK_MARKS and BLOCK_MARKS[kind] in block


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of a list of tools, a result, a sampling request or its answer."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        context.origin.form = "list"
        return context.transcript(tools=lift_tools(document, (), context))
    payload, prefix = _unwrap(document)
    context.origin.renamed = {ROOT: str(prefix[0]) if prefix else ".."}
    context.origin.form = _form_of_payload(payload)
    transcript = _LIFT[context.origin.form](payload, prefix, context)
    rpc = RPC.carried(document) if prefix else None
    if rpc:
        transcript.extras = extras_of(NAME, {**carried_by(transcript.extras, NAME), "rpc": rpc})
    return transcript


def _unwrap(document: Native) -> tuple[Native, Path]:
    """What a message of JSON-RPC is about, and where it stands in it."""
    key = next((key for key in ("result", "params") if key in document), None)
    return (document, ()) if key is None else (document[key], (key,))


def _form_of_payload(payload: Native) -> str:
    for key, form in (("messages", "request"), ("tools", "tools"), ("role", "response")):
        if key in payload:
            return form
    return "result"


def _lift_list(native: Native, prefix: Path, context: LiftContext) -> Transcript:
    listed = lift_tools(native["tools"], (*prefix, "tools"), context)
    return context.transcript(tools=listed, extras=extras_of(NAME, TOOLS.carried(native)))


def _lift_result(native: Native, prefix: Path, context: LiftContext) -> Transcript:
    context.add(Message("tool", [lift_result(native, CALL_RESULT, context)]), prefix, [()])
    return context.transcript()


def _lift_request(native: Native, prefix: Path, context: LiftContext) -> Transcript:
    if native.get("systemPrompt"):
        context.add(Message("system", [Text(native["systemPrompt"])]), (*prefix, "systemPrompt"), [()])
    for i, message in enumerate(native["messages"]):
        sampling.lift_message(message, (*prefix, "messages", i), sampling.MESSAGE, context)
    transcript = context.transcript()
    if native.get("tools") is not None:
        transcript.tools = lift_tools(native["tools"], (*prefix, "tools"), context)
    carried = {**(REQUEST.carried(native) or {}), **sampling.lift_request(native, transcript)}
    transcript.extras = extras_of(NAME, carried)
    return transcript


_LIFT = {
    "tools": _lift_list,
    "result": _lift_result,
    "request": _lift_request,
    "response": sampling.lift_answer,
}


# ---------------------------------------------------------------- fit


def form_of(transcript: Transcript) -> str:
    """A list of tools, a result, an answer, or a sampling request for a conversation."""
    messages = active(transcript)
    if not messages:
        return "tools"
    if is_response(transcript):
        return "response"
    alone = len(messages) == 1 and transcript.tools is None
    return "result" if alone and any(isinstance(part, ToolResult) for part in messages[0].parts) else "request"


def _tools_only(transcript: Transcript) -> Transcript:
    return replace(transcript, messages=[], tools=transcript.tools or [])


def _last_result(messages: list[Message]) -> list[Message]:
    results = [message for message in messages if any(isinstance(part, ToolResult) for part in message.parts)]
    return messages if len(messages) == 1 and results else results[-1:]


def _fit_media(part: Part, _: Message) -> Part | None:
    return fit_media(part, in_result=False) if isinstance(part, Media) else part


def _saying(message: Message) -> Message | None:
    """A message must hold something that the protocol has."""
    return message if any(part.type != "reasoning" for part in message.parts) else None


TOOL_LIST = (functions_only(NAME), renaming(NAMES), fit_tools, _tools_only)
MESSAGES = (
    linear,
    results_behind_calls,
    renaming(NAMES),
    roles({"developer": "system"}),
    refusals_as_texts,
    parts_in_roles({"tool_call": ("assistant",)}),
    on_parts(_fit_media),
    only_own_opaque(NAME),
    on_results(fit_result),
    on_each_message(_saying),
)
FIT = {
    "request": (*MESSAGES, on_messages(sampling.one_system), functions_only(NAME), fit_tools, sampling.fit_choice),
    "tools": TOOL_LIST,
    "list": TOOL_LIST,
    "result": (*MESSAGES, on_messages(_last_result)),
    "response": (*MESSAGES, answers_only, sampling.last_answer),
}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """The document, inside the message of JSON-RPC of which something was carried."""
    form = options.form or "request"
    if form == "list":
        return write_tools(transcript)
    carried = carried_by(transcript.extras, NAME)
    payload = _WRITE[form](transcript, {key: carried[key] for key in carried if key not in _ELSEWHERE[form]})
    rpc = carried.get("rpc")
    return RPC.put({"params" if form == "request" else "result": payload}, rpc) if isinstance(rpc, dict) else payload


_OF_LISTS = frozenset(("resultType", "nextCursor", "ttlMs", "cacheScope"))
_OF_REQUESTS = frozenset(("includeContext", "metadata", "task", "modelPreferences", "toolChoice"))
_ELSEWHERE = {
    "request": _OF_LISTS | {"rpc", "stopReason"},
    "tools": _OF_REQUESTS | {"rpc", "stopReason"},
    "result": frozenset(("rpc",)),
    "response": frozenset(("rpc",)),
}
"""What is carried and stands in another form, or around the payload."""


def _write_list(transcript: Transcript, carried: Native) -> Native:
    return TOOLS.put({"tools": write_tools(transcript)}, carried)


def _write_result(transcript: Transcript, _: Native) -> Native:
    """A document holds one result."""
    results = [part for message in transcript.messages for part in message.parts if isinstance(part, ToolResult)]
    return write_result(results[-1], {}, CALL_RESULT) if results else {"content": []}


def _write_request(transcript: Transcript, carried: Native) -> Native:
    messages = transcript.messages
    system = messages[0] if messages and messages[0].role == "system" else None
    native: Native = {"messages": sampling.write_messages(messages if system is None else messages[1:])}
    if system is not None:
        native["systemPrompt"] = "\n\n".join(part.text for part in system.parts if isinstance(part, Text))
    native |= sampling.write_request(transcript, carried)
    if transcript.tools is not None:
        native["tools"] = write_tools(transcript)
    return REQUEST.put(native, carried, sort=True)


def _write_answer(transcript: Transcript, _: Native) -> Native:
    return sampling.write_answer(transcript)


_WRITE = {"tools": _write_list, "result": _write_result, "request": _write_request, "response": _write_answer}


# ---------------------------------------------------------------- rules


def _paired(survey: Survey) -> Iterable[Breach]:
    """Only a conversation has calls for its results; a result alone answers one that is not in the document."""
    return PAIRED.check(survey) if survey.form in ("request", "list") else ()


def _results_alone(survey: Survey) -> Iterator[Breach]:
    for turn in survey.turns():
        others = [i for i in turn if survey.messages[i].role != "tool"]
        if others and len(others) < len(turn):
            said = "a message with results holds nothing else"
            yield Breach("misplaced-part", At(others[0], 0), said)


def _answers_anything(survey: Survey) -> bool:
    return survey.form != "tools" or is_newer(survey.transcript)


def _as_sent(survey: Survey) -> Iterator[Breach]:
    """What is kept may be newer than 2025-11-25, or hold what only results hold; what is sent must not."""
    for i, tool in enumerate(survey.tools):
        if fit_tool(tool, newer=is_newer(survey.transcript)).output_schema != tool.output_schema:
            yield Breach(
                "schema-not-object", At(tool=i, field="tool.outputSchema"), "outputSchema is that of an object"
            )
    for answered in survey.results:
        if fit_result(answered.result) is not answered.result:
            yield Breach("result-not-object", answered.at("tool_result.value"), "structuredContent is an object")
    for kind in MEDIA:
        for i, k, media in survey.parts[kind]:
            if fit_media(media, in_result=False) is not media:
                yield Breach("misplaced-part", At(i, k), "only results hold links, resources and bytes of no type")


PAIRED = links.paired(links.Manner(together=True))

RULES = (
    when_sent(Rule(("schema-not-object", "result-not-object", "misplaced-part"), _as_sent)),
    when_sent(turns.parts_in_roles({"tool_call": ("assistant",)})),
    when_sent(turns.not_empty(("user", "assistant"))),
    when_sent(answers.complete("model")),
    Rule(PAIRED.codes, _paired),
    Rule(("misplaced-part",), _results_alone),
    names.of_tools(NAMES),
    arguments.not_filled(),
    tools.unique("warning"),
    tools.schemas(),
    tools.output_schemas(free=_answers_anything),
)

COMMON = frozenset(
    (
        *("id", "title", "cwd", "createdAt", "updatedAt", "head", "extras.mcp"),
        *("message.id", "message.parentId", "message.createdAt", "message.name", "message.model", "message.usage"),
        *("message.error", "reasoning", "text.metadata", "tool_call.rawArguments", "tool_call.metadata"),
        *(
            f"{kind}.{name}"
            for kind in ("image", "audio", "video", "document")
            for name in ("name", "detail", "metadata")
        ),
        *("tool_result.name", "tool_result.status", "tool_result.metadata", "tool.strict"),
    )
)
UNSET = frozenset(
    f"settings.{name}"
    for name in (
        *("topP", "topK", "seed", "presencePenalty", "frequencyPenalty", "parallelToolCalls"),
        *("reasoningEffort", "responseFormat", "stream"),
    )
)
ALONE = COMMON | {"model", "settings", "toolChoice"}
LACKS = {
    "request": COMMON | UNSET | {"message.stopReason"},
    "tools": ALONE,
    "list": ALONE,
    "result": ALONE | {"tools", "tool", "message.stopReason", "tool_result.toolCallId"},
    "response": COMMON | {"settings", "toolChoice", "tools", "tool"},
}

DIALECT = Dialect(
    name=NAME,
    title="Model Context Protocol",
    specification="protocol versions 2025-11-25 and 2026-07-28; Python package mcp-types 2.3.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "tools", "result", "response", "list"),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    form_of=form_of,
    lacks=LACKS,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "data": ("changed", "structured content is an object: other data is written as JSON text"),
                "error": ("changed", "structured content is an object: other data is written as JSON text"),
                "multimodal": ("changed", "a result of one text is the same as that text"),
            },
        ),
    ),
    reasons={
        "reasoning": "the protocol has no reasoning",
        "refusal": "there is no block for a refusal: its words are written as text",
        "opaque": "the block belongs to another vendor",
        "message": "a message must hold something that the protocol has",
        "message.role": "sampling has the roles user and assistant, beside one systemPrompt",
        "message.grouping": "there is one systemPrompt",
        "message.error": "a message has no field for a failed turn",
        "message.id": "messages have no id",
        "message.parentId": "messages have no parent",
        "message.createdAt": "messages have no time",
        "message.name": "messages have no name",
        "message.model": "messages have no model of their own",
        "message.usage": "the protocol does not count tokens",
        "message.stopReason": "only an answer has a stop reason",
        "text": "instructions are one systemPrompt",
        "text.text": "instructions are one systemPrompt",
        "image": "a picture is bytes of a known type; only results hold links",
        "audio": "sound is bytes of a known type; only results hold links",
        "video": "only results hold resources and links",
        "document": "only results hold resources and links",
        "document.name": "a resource has an address and no name",
        "image.detail": "pictures have no detail",
        "tool_call": "only an assistant calls tools",
        "tool_call.name": "names are at most 128 letters, digits and _.-",
        "tool_call.rawArguments": "the input of a call is an object",
        "tool_result.name": "a result does not name its tool",
        "tool_result.toolCallId": "a result alone does not say which call it answers",
        "tool_result.status": "a result has no status",
        "tool": "a tool that another vendor runs",
        "tool.name": "names are at most 128 letters, digits and _.-",
        "tool.parameters": "inputSchema must have the type object",
        "tool.outputSchema": "outputSchema must have the type object in 2025-11-25",
        "tool.strict": "a tool has no strictness",
        "tools": "there is always a list of tools",
        "toolChoice": "a choice is auto, none or required, and only in sampling",
        "model": "only sampling names a model",
        "settings": "only sampling has settings: temperature, maxTokens and stopSequences",
        "extras.mcp.resource": "a resource needs an address",
        "moved": "results stand right behind their calls, instructions before the messages",
    },
    places={
        "model": (ROOT, "modelPreferences"),
        "message.stopReason": ("stopReason",),
        "tool_call.arguments": ("input",),
        "tool_result.value": ("content",),
        "tool_result.kind": ("content",),
        "tool_result.isError": ("isError",),
        "text.text": ("text",),
        "tool.name": ("name",),
        "tool.title": ("title",),
        "tool.description": ("description",),
        "tool.parameters": ("inputSchema",),
        "tool.outputSchema": ("outputSchema",),
        "tool.annotations": ("annotations",),
        "toolChoice": (ROOT, "toolChoice"),
        "tools": (ROOT, "tools"),
        "settings.temperature": (ROOT, "temperature"),
        "settings.maxOutputTokens": (ROOT, "maxTokens"),
        "settings.stop": (ROOT, "stopSequences"),
        **{f"extras.{key}": (ROOT, key) for key in BESIDE},
        "extras.block": (),
        "extras.rpc": (),
    },
    envelope=frozenset(("rpc", "resultType", "ttlMs", "cacheScope", "task")),
)
