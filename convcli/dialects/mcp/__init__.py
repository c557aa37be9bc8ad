"""Model Context Protocol: tool lists, tool results, and sampling requests with their answers.

Specification: https://modelcontextprotocol.io/specification in its versions 2025-11-25 and 2026-07-28, as typed by the
Python package `mcp-types` 2.3.0; read 2026-11-20. Documents are bare or inside a JSON-RPC message.

Quirks
- A tool list is a transcript without messages. A result is one message whose call is unknown: its id is generated.
- Results have their data twice, as `structuredContent` and as JSON text for older clients. If both are the same JSON
  value, it is the value. If they differ, the content is the value and `structuredContent` an extra.
- Structured content is an object in 2025-11-25 and any JSON in 2026-07-28. convcli writes only objects.
- Only a sampling request has turns. A message with results has nothing else; links and resources are only in results.
- A sampling request can prefer a model by name but not require it.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.mcp import sampling
from convcli.dialects.mcp.blocks import (
    CALL_RESULT,
    NAME,
    TOOL_USE,
    express,
    fit_media,
    fit_result,
    lift_result,
    write_result,
)
from convcli.dialects.mcp.rules import NAMES, RULES
from convcli.dialects.mcp.sampling import SETTINGS
from convcli.dialects.mcp.tools import fit_tools, lift_tools, write_tools
from convcli.kit import fitting, passes, results
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, add_extras, get_extras, make_extras
from convcli.kit.renaming import rename_tools_and_ids
from convcli.kit.supported import CALLS, LIST, SENT, fields, lacking, media
from convcli.kit.supported import TOOLS as TOOL_FIELDS
from convcli.kit.texts import text_of
from convcli.model.branches import active
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.transcript import Media, Message, Part, Path, Text, ToolResult, Transcript

RPC = Keys("jsonrpc id method params= result=")
OF_LISTS = "resultType nextCursor ttlMs cacheScope"
OF_REQUESTS = "includeContext metadata task modelPreferences toolChoice"
TOOLS = Keys("resultType tools= nextCursor ttlMs cacheScope _meta", groups=f"{OF_REQUESTS} stopReason")
REQUEST = Keys(
    "messages= modelPreferences= systemPrompt= includeContext temperature= maxTokens= stopSequences= metadata "
    "tools= toolChoice= task _meta",
    groups=f"{OF_LISTS} stopReason",
)
PAYLOAD_EXTRAS = (
    *("nextCursor", "ttlMs", "cacheScope", "includeContext", "metadata", "task"),
    *("modelPreferences", "toolChoice", "stopReason"),
)
"""Extras that are keys of the payload only."""

ROOT = "_root"
"""In `places`: the payload. It is the document, or what JSON-RPC wraps; `Origin.aliases` has its key."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a tool list, a result, a sampling request or its answer."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        context.origin.form = "list"
        return context.transcript(tools=lift_tools(document, (), context))
    payload, prefix = _unwrap(document)
    context.origin.aliases = {ROOT: str(prefix[0]) if prefix else ".."}
    context.origin.form = _form_of_payload(payload)
    transcript = _LIFT[context.origin.form](payload, prefix, context)
    others = [key for key in ("params", "result") if key in document and (key,) != prefix]
    rpc = {**(RPC.extra(document) or {}), **{key: document[key] for key in others}} if prefix else None
    add_extras(transcript, NAME, None, rpc=rpc)
    return transcript


def _unwrap(document: Native) -> tuple[Native, Path]:
    """Returns the payload of a JSON-RPC message, or the document itself, and its path."""
    key = next((key for key in ("result", "params") if key in document), None)
    return (document, ()) if key is None else (document[key], (key,))


def _form_of_payload(payload: Native) -> str:
    for key, form in (("messages", "request"), ("tools", "tools"), ("role", "response")):
        if key in payload:
            return form
    return "result"


def _lift_list(native: Native, prefix: Path, context: LiftContext) -> Transcript:
    listed = lift_tools(native["tools"], (*prefix, "tools"), context)
    return context.transcript(tools=listed, extras=make_extras(NAME, TOOLS.extra(native)))


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
    extra = {**(REQUEST.extra(native) or {}), **sampling.lift_request(native, transcript)}
    transcript.extras = make_extras(NAME, extra)
    return transcript


_LIFT = {"tools": _lift_list, "result": _lift_result, "request": _lift_request, "response": sampling.lift_answer}


# ---------------------------------------------------------------- fit


def form_of(transcript: Transcript) -> str:
    """Returns the form for a transcript: a tool list, a result, an answer, or a sampling request."""
    messages = active(transcript)
    if not messages:
        return "tools"
    if fitting.is_response(transcript):
        return "response"
    alone = len(messages) == 1 and transcript.tools is None
    return "result" if alone and any(isinstance(part, ToolResult) for part in messages[0].parts) else "request"


def _keep_tools(transcript: Transcript) -> Transcript:
    return replace(transcript, messages=[], tools=transcript.tools or [])


def _keep_last_result(messages: list[Message]) -> list[Message]:
    results = [message for message in messages if any(isinstance(part, ToolResult) for part in message.parts)]
    return messages if len(messages) == 1 and results else results[-1:]


def _fit_media(part: Part, _: Message) -> Part | None:
    return fit_media(part, in_result=False) if isinstance(part, Media) else part


def _drop_empty(message: Message) -> Message | None:
    """Drops messages that are empty or have only reasoning."""
    return message if any(part.type != "reasoning" for part in message.parts) else None


TOOL_LIST = (fitting.keep_functions(NAME), rename_tools_and_ids(NAMES), fit_tools, _keep_tools)
MESSAGES = (
    fitting.keep_active_conversation,
    results.results_behind_calls,
    rename_tools_and_ids(NAMES),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.keep_parts_of_roles({"tool_call": ("assistant",)}),
    passes.on_parts(_fit_media),
    fitting.drop_other_opaque(NAME),
    passes.on_results(fit_result),
    passes.on_each_message(_drop_empty),
)
FIT = {
    "request": (
        *MESSAGES,
        passes.on_messages(sampling.one_system),
        fitting.keep_functions(NAME),
        fit_tools,
        sampling.fit_choice,
    ),
    "tools": TOOL_LIST,
    "list": TOOL_LIST,
    "result": (*MESSAGES, passes.on_messages(_keep_last_result)),
    "response": (*MESSAGES, fitting.keep_answers, sampling.keep_last_answer),
}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the document, inside a JSON-RPC message if the transcript has extras of one."""
    form = options.form or "request"
    if form == "list":
        return write_tools(transcript)
    extra = get_extras(transcript.extras, NAME)
    payload = _WRITE[form](transcript, {key: extra[key] for key in extra if key not in _ELSEWHERE[form]})
    rpc = extra.get("rpc")
    return RPC.put({"params" if form == "request" else "result": payload}, rpc) if isinstance(rpc, dict) else payload


_ELSEWHERE = {
    "request": fields(f"{OF_LISTS} rpc stopReason"),
    "tools": fields(f"{OF_REQUESTS} rpc stopReason"),
    "result": fields("rpc"),
    "response": fields("rpc"),
}
"""Extras that belong to another form, or to the JSON-RPC message."""


def _write_list(transcript: Transcript, extra: Native) -> Native:
    return TOOLS.put({"tools": write_tools(transcript)}, extra)


def _write_result(transcript: Transcript, _: Native) -> Native:
    """Returns the last result: a document has only one."""
    results = [part for message in transcript.messages for part in message.parts if isinstance(part, ToolResult)]
    return write_result(results[-1], {}, CALL_RESULT) if results else {"content": []}


def _write_request(transcript: Transcript, extra: Native) -> Native:
    messages = transcript.messages
    system = messages[0] if messages and messages[0].role == "system" else None
    native = {
        "messages": sampling.write_messages(messages if system is None else messages[1:]),
        "systemPrompt": None if system is None else text_of(system.parts, "\n\n"),
        **sampling.write_request(transcript, extra),
        "tools": None if transcript.tools is None else write_tools(transcript),
    }
    return REQUEST.write(native, extra)


def _write_answer(transcript: Transcript, _: Native) -> Native:
    return sampling.write_answer(transcript)


_WRITE = {"tools": _write_list, "result": _write_result, "request": _write_request, "response": _write_answer}


SAMPLED = media("image audio", "data mediaType")
RESULTS = LIST | fields("tool_result.kind tool_result.value tool_result.isError")
RESULTS |= media(names="data url text mediaType")
TURNS = RESULTS | CALLS
DEFINED = TOOL_FIELDS | fields("tool.title tool.outputSchema tool.annotations")
SUPPORTS = {
    "request": TURNS | DEFINED | fields("model toolChoice settings.temperature settings.maxOutputTokens settings.stop"),
    "tools": LIST | DEFINED,
    "list": LIST | DEFINED,
    "result": RESULTS,
    "response": lacking(TURNS, SENT) | SAMPLED | fields("model message.stopReason"),
}

DIALECT = Dialect(
    name=NAME,
    title="Model Context Protocol",
    aliases=("model-context-protocol", "sampling"),
    specification="protocol versions 2025-11-25 and 2026-07-28; Python package mcp-types 2.3.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "tools", "result", "response", "list"),
    lift=lift,
    write=write,
    fit=FIT,
    form_of=form_of,
    supports=SUPPORTS,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "data": ("changed", "MCP's structured content is an object: other data is written as JSON text"),
                "error": ("changed", "MCP's structured content is an object: other data is written as JSON text"),
                "multimodal": ("changed", "in MCP, a result of one text equals that text"),
            },
        ),
    ),
    reasons={
        "reasoning": "MCP has no reasoning",
        "refusal": "MCP has no block for a refusal: it is written as text",
        "message": "an MCP message needs content that MCP supports",
        "message.role": "MCP sampling has the roles user and assistant, and one systemPrompt",
        "message.grouping": "MCP sampling has one systemPrompt",
        "message.usage": "MCP has no token counts",
        "message.stopReason": "in MCP, only an answer has a stop reason",
        **dict.fromkeys(("text", "text.text"), "MCP instructions are one systemPrompt"),
        "image": "an MCP image needs data of a known type; only results have links",
        "audio": "MCP audio needs data of a known type; only results have links",
        **dict.fromkeys(("video", "document"), "in MCP, only results have resources and links"),
        "document.name": "an MCP resource has a URI and no name",
        "image.detail": "MCP images have no detail",
        "tool_call": "in MCP, only the assistant calls tools",
        **dict.fromkeys(("tool_call.name", "tool.name"), "MCP names have at most 128 letters, digits and _.-"),
        "tool_call.rawArguments": "the input of an MCP call is an object",
        "tool_result.name": "an MCP result does not name its tool",
        "tool_result.toolCallId": "a single MCP result does not name its call",
        "tool": "MCP cannot list a tool that another vendor runs",
        "tool.parameters": "MCP requires inputSchema to have type object",
        "tool.outputSchema": "MCP 2025-11-25 requires outputSchema to have type object",
        "tool.strict": "MCP tools have no strict mode",
        "tools": "an MCP tool list is required",
        "toolChoice": "an MCP tool choice is auto, none or required, and only in sampling",
        "model": "in MCP, only sampling names a model",
        "settings": "in MCP, only sampling has settings: temperature, maxTokens and stopSequences",
        "extras.mcp.resource": "an MCP resource needs a URI",
        "moved": "in MCP, results directly follow their calls, and instructions precede the messages",
    },
    places={
        "model": (ROOT, "modelPreferences"),
        **TOOL_USE.places,
        **dict.fromkeys(("tool_result.value", "tool_result.kind"), ("content",)),
        "tool.parameters": ("inputSchema",),
        "tool.outputSchema": ("outputSchema",),
        "toolChoice": (ROOT, "toolChoice"),
        **{name: (ROOT, *steps) for name, steps in SETTINGS.places().items()},
        **{f"extras.{key}": (ROOT, key) for key in PAYLOAD_EXTRAS},
        "extras.rpc": (),
    },
    envelope=frozenset(("rpc", "resultType", "ttlMs", "cacheScope", "task")),
)
