"""Anthropic Messages: requests, responses and bare lists of messages.

Specification: the Messages API reference, as typed by the Python SDK `anthropic` 2.10.0; read 2026-11-20.

Quirks
- Results are blocks of a user message: all those of one assistant turn in one message, before any text. Here each is a
  message of its own; how a message was divided is a spelling (`join`).
- System text stands beside the messages; newer models also take a `system` message in mid-conversation.
- Thinking is signed. It comes back only with its signature, even where its text is empty, and cannot be made up.
- Ids of calls are unique in the whole request; no text is blank; a failed result has content.
- Server tools (`server_tool_use`, `…_tool_result`) are calls that the service answers itself: opaque blocks, no calls.
- `usage.input_tokens` leaves out what was read from or written to the cache.
- Whether calls may be parallel is said inside `tool_choice`.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.anthropic.rules import RULES
from convcli.dialects.anthropic.shortcut import PLAIN
from convcli.families.anthropic import request as common
from convcli.families.anthropic.blocks import BlockReader, BlockWriter, express
from convcli.families.anthropic.messages import (
    NAME,
    ROLES,
    lift_system,
    lift_turns,
    lower_turn,
    split_system,
    turns_of,
)
from convcli.families.anthropic.places import ENVELOPE, PLACES
from convcli.families.anthropic.response import as_allowed, lift_response, lower_response
from convcli.kit.fitting import is_response
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, Origin, Transcript

REQUEST = Keys(
    "model max_tokens temperature top_p top_k stop_sequences stream system messages tools tool_choice thinking "
    "output_config metadata service_tier container cache_control",
    carried="thinking metadata service_tier container cache_control",
)


# ---------------------------------------------------------------- detect


def detect(document: Any) -> Clue | None:
    """By blocks of its own, `input_schema`, a `system` beside the messages, or the envelope of a response."""
    if isinstance(document, dict) and "messages" not in document:
        own = document.get("type") == "message" and document.get("role") == "assistant"
        return Clue(95, "a message with stop_reason") if own and "stop_reason" in document else None
    request = document if isinstance(document, dict) else {}
    messages = request.get("messages") if request else document
    if not isinstance(messages, list) or any(role not in ROLES for role in _roles_of(messages)):
        return None
    blocks = _blocks_of(messages)
    if not all("type" in block for block in blocks):
        return None
    marks = sorted({mark for block in blocks for mark in _marks(block)} | set(_request_marks(request)), reverse=True)
    return Clue(*marks[0]) if marks else None


def _roles_of(messages: list[Any]) -> set[str]:
    return {str(message["role"]) for message in messages if isinstance(message, dict) and "role" in message}


def _blocks_of(messages: list[Any]) -> list[Native]:
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    lists = [content for content in contents if isinstance(content, list)]
    return [block for content in lists for block in content if isinstance(block, dict)]


def _marks(block: Native) -> list[tuple[int, str]]:
    kind = block["type"]
    if kind == "tool_result" and "tool_use_id" in block:
        return [(95, "tool_result blocks with tool_use_id")]
    if kind in ("thinking", "redacted_thinking") and ("signature" in block or "data" in block):
        return [(90, "thinking blocks")]
    if kind in ("image", "document") and isinstance(block.get("source"), dict) and "type" in block["source"]:
        return [(90, "image or document blocks with a source")]
    if kind == "tool_use" and isinstance(block.get("input"), dict):
        return [(80, "tool_use blocks with input")]
    return [(60, "blocks with cache_control")] if "cache_control" in block else []


def _request_marks(request: Native) -> list[tuple[int, str]]:
    tools = request.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return [(95, "tools with input_schema")]
    first = next(iter(request.get("messages") or ()), None)
    if isinstance(first, dict) and first.get("role") == "system":
        return []
    texts = _blocks_of([{"content": request.get("system")}])
    if isinstance(request.get("system"), str) or any(block.keys() >= {"type", "text"} for block in texts):
        return [(60, "a system text beside the messages")]
    if "stop_sequences" in request or str(request.get("model")).startswith("claude"):
        return [(60, "the settings of a Messages request")]
    return []


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of messages."""
    origin = Origin(NAME, spot=("content",))
    pairing = Pairing(document)
    origin.invented = pairing.invented
    reader = BlockReader(NAME, origin, pairing)
    transcript = Transcript([], origin=origin)
    if isinstance(document, list):
        origin.document = {"form": "list"}
        lift_turns(document, (), reader, transcript.messages)
    elif "messages" in document:
        _lift_request(document, reader, transcript)
    else:
        lift_response(document, reader, transcript)
    return transcript


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only one answer of a model."""
    source = transcript.document_spelling(NAME)
    form = options.form or source.get("form") or ("response" if _is_answer(transcript) else "request")
    own = transcript.origin is not None and transcript.origin.dialect == NAME
    writer = BlockWriter(NAME, transcript.spelling(NAME), own=own)
    if own:
        messages = transcript.messages
    else:
        transcript, messages = as_allowed(transcript)
    if form == "response":
        return lower_response(transcript, messages, writer)
    bare = not own or source.get("form") == "response"
    if form == "list":
        return [lower_turn(turn, writer, bare) for turn in turns_of(messages, writer)]
    return _lower_request(transcript, messages, writer, bare)


def _is_answer(transcript: Transcript) -> bool:
    return is_response(transcript) and len(active(transcript)) == 1


def _lift_request(native: Native, reader: BlockReader, transcript: Transcript) -> None:
    carried, spelling = REQUEST.take(native)
    document = reader.origin.document
    document |= {"form": "request", **({"request": spelling} if spelling else {})}
    lift_system(native.get("system"), reader, transcript.messages)
    lift_turns(native["messages"], ("messages",), reader, transcript.messages)
    transcript.model = native.get("model")
    transcript.tools = common.lift_tools(native, NAME, reader.origin)
    extras = dict(carried or {})
    output = common.lift_settings(native, transcript, document)
    choice = common.lift_choice(native["tool_choice"], transcript, document) if native.get("tool_choice") else None
    extras |= {key: rest for key, rest in (("output_config", output), ("tool_choice", choice)) if rest}
    transcript.extras = extras_of(NAME, extras)


def _lower_request(transcript: Transcript, messages: list[Message], writer: BlockWriter, bare: bool) -> Native:
    spelling, own = transcript.document_spelling(NAME), writer.own
    carried = carried_by(transcript.extras, NAME)
    system, rest = split_system(messages, writer)
    native: Native = common.lower_settings(transcript, carried.get("output_config", {}), spelling, own=own)
    tools = common.lower_tools(transcript, NAME, transcript.spelling(NAME), own=own)
    choice = common.lower_choice(transcript, carried.get("tool_choice", {}), spelling, own=own)
    for key, value in (
        ("model", transcript.model),
        ("system", system),
        ("tools", tools),
        ("tool_choice", choice if own or tools else None),
    ):
        if value is not None:
            native[key] = value
    native["messages"] = [lower_turn(turn, writer, bare) for turn in turns_of(rest, writer)]
    outer = {key: value for key, value in carried.items() if key not in ("output_config", "tool_choice")}
    native = {key: native[key] for key in REQUEST.sorted(native)}
    return REQUEST.put(native, outer, spelling.get("request"))


DIALECT = Dialect(
    name=NAME,
    title="Anthropic Messages",
    specification="Messages API reference; Python SDK anthropic 2.10.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    plain=PLAIN,
    conventions=(
        Convention(
            express,
            {
                "data": ("changed", "a result holds text or blocks: the data is written as JSON"),
                "error": ("changed", "a result holds text or blocks: the data is written as JSON"),
                "multimodal": ("changed", "a result of one text is the same as that text"),
            },
        ),
    ),
    reasons={
        "reasoning": "Anthropic takes back only thinking that it signed",
        "reasoning.summary": "thinking has no summary",
        "refusal": "there is no block for a refusal: its words are written as text",
        "text": "the API takes no blank text",
        "message": "a user message must hold something that the API takes",
        "message.role": "Anthropic has the roles user, assistant and system",
        "message.grouping": "the API has one system text",
        "message.error": "a message has no field for a failed turn",
        "message.id": "messages of a request have no id",
        "message.parentId": "messages have no parent",
        "message.createdAt": "messages have no time",
        "message.name": "messages have no name",
        "message.model": "messages of a request have no model of their own",
        "message.usage": "only a response has usage",
        "message.usage.totalTokens": "usage has no total",
        "message.stopReason": "only a response has a stop reason, one of the vendor's list",
        "image": "images are PNG, JPEG, GIF or WebP as base64, or come from the web or the Files API, in user turns",
        "document": "documents are PDF as base64 or plain text, or come from the web or the Files API, in user turns",
        "audio": "the Messages API takes no audio",
        "video": "the Messages API takes no video",
        "image.name": "images have no name",
        "image.detail": "images have no detail",
        "opaque": "the block belongs to another vendor",
        "tool_call": "only an assistant calls tools",
        "tool_call.id": "ids are letters, digits, _ and -, unique in the request",
        "tool_call.name": "names are letters, digits, _ and -, at most 128",
        "tool_call.rawArguments": "the input of a call is an object",
        "tool_result.name": "a result names its call, not its tool",
        "tool_result.status": "a result has no status",
        "tool_result.toolCallId": "ids are letters, digits, _ and -, unique in the request",
        "tool_result.value": "a result holds text, images and documents; a failed one is not empty",
        "tool": "a tool that another vendor runs",
        "tool.name": "names are letters, digits, _ and -, at most 128",
        "tool.parameters": "input_schema must have the type object",
        "tool.outputSchema": "a tool has no schema for its results",
        "tool.title": "a tool has no title",
        "tool.annotations": "a tool has no annotations",
        "toolChoice": "a choice is auto, any, none or one tool, and only where there are tools",
        "settings.parallelToolCalls": "it is said in tool_choice, which needs tools",
        "settings.reasoningEffort": "effort is low, medium, high, xhigh or max",
        "settings.responseFormat": "only JSON by a schema, without a name, can be asked for",
        "settings.seed": "the Messages API has no seed",
        "moved": "results stand right behind their calls, instructions before the messages",
        "event": "no model ever saw this row",
    },
    places=PLACES,
    envelope=ENVELOPE,
)
