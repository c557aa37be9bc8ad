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

from convcli.dialects.mcp import sampling
from convcli.dialects.mcp.blocks import CALL_RESULT, NAME, BlockReader, BlockWriter, express
from convcli.dialects.mcp.tools import lift_tool, lower_tools
from convcli.kit.fitting import is_response, results_first
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.renaming import WORD, Alphabet, renamed
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.rule import At, Breach, Rule
from convcli.model.transcript import Message, Origin, Path, Text, ToolResult, Transcript
from convcli.validation.rules import answers, arguments, links, names, tools
from convcli.validation.survey import Survey, when_sent

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


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a list of tools, a result, a sampling request or its answer."""
    origin = Origin(NAME)
    pairing = Pairing(document)
    origin.invented = pairing.invented
    transcript = Transcript([], origin=origin)
    if isinstance(document, list):
        origin.document = {"form": "list"}
        transcript.tools = [lift_tool(native, (i,), origin) for i, native in enumerate(document)]
        return transcript
    payload, prefix = _unwrap(document)
    origin.renamed = {ROOT: str(prefix[0]) if prefix else ".."}
    form = origin.document["form"] = _form_of(payload)
    _LIFT[form](payload, prefix, BlockReader(origin, pairing), transcript)
    if prefix:
        carried, spelling = RPC.take(document)
        origin.document["rpc"] = {"in": prefix[0], **(spelling or {})}
        extras = {**carried_by(transcript.extras, NAME), **({"rpc": carried} if carried else {})}
        transcript.extras = extras_of(NAME, extras)
    return transcript


def lower(transcript: Transcript, options: Options) -> Any:
    """What the source was; else a list of tools, a result, an answer, or a sampling request for a conversation."""
    document = transcript.document_spelling(NAME)
    form = options.form or document.get("form") or _usual_form(transcript)
    own = transcript.origin is not None and transcript.origin.dialect == NAME
    writer = BlockWriter(transcript.spelling(NAME), own=own)
    messages = active(transcript)
    if not own:
        transcript = renamed(transcript, NAMES)
        messages = results_first(active(transcript))
    if form == "list":
        return lower_tools(transcript, own)
    payload: Native = _LOWER[form](transcript, messages, writer)
    rpc = document.get("rpc")
    if rpc is None or form != document.get("form"):
        return payload
    return RPC.put({rpc["in"]: payload}, carried_by(transcript.extras, NAME).get("rpc"), rpc)


def _unwrap(document: Native) -> tuple[Native, Path]:
    """What a message of JSON-RPC is about, and where it stands in it."""
    key = next((key for key in ("result", "params") if key in document), None)
    return (document, ()) if key is None else (document[key], (key,))


def _form_of(payload: Native) -> str:
    for key, form in (("messages", "request"), ("tools", "tools"), ("role", "response")):
        if key in payload:
            return form
    return "result"


def _usual_form(transcript: Transcript) -> str:
    messages = active(transcript)
    if not messages:
        return "tools"
    if is_response(transcript):
        return "response"
    alone = len(messages) == 1 and transcript.tools is None
    return "result" if alone and any(isinstance(part, ToolResult) for part in messages[0].parts) else "request"


def _beside(transcript: Transcript, form: str) -> tuple[Native, Spelling | None]:
    """What is carried for the payload and how that was spelled, when the source had the same form."""
    document = transcript.document_spelling(NAME)
    if document.get("form", form) != form:
        return {}, None
    carried = carried_by(transcript.extras, NAME)
    aside = ("rpc",) if document.get("form") == form != "response" else ("rpc", "stopReason")
    return {key: carried[key] for key in carried if key not in aside}, document.get("payload")


# ---------------------------------------------------------------- tools


def _lift_list(native: Native, prefix: Path, reader: BlockReader, transcript: Transcript) -> None:
    carried, spelling = TOOLS.take(native)
    reader.origin.document |= {"payload": spelling} if spelling else {}
    transcript.tools = [lift_tool(tool, (*prefix, "tools", i), reader.origin) for i, tool in enumerate(native["tools"])]
    transcript.extras = extras_of(NAME, carried)


def _lower_list(transcript: Transcript, messages: list[Message], writer: BlockWriter) -> Native:
    native = {"tools": lower_tools(transcript, writer.own)}
    return TOOLS.put(native, *_beside(transcript, "tools"))


# ---------------------------------------------------------------- results


def _lift_result(native: Native, prefix: Path, reader: BlockReader, transcript: Transcript) -> None:
    transcript.messages.append(Message("tool", [reader.result(native, CALL_RESULT)]))
    reader.origin.places.append((prefix, [()]))


def _lower_result(transcript: Transcript, messages: list[Message], writer: BlockWriter) -> Native:
    """The last result, for a document holds one."""
    results = [part for message in messages for part in message.parts if isinstance(part, ToolResult)]
    return writer.result(results[-1], {}, CALL_RESULT) if results else {"content": []}


# ---------------------------------------------------------------- sampling


def _lift_request(native: Native, prefix: Path, reader: BlockReader, transcript: Transcript) -> None:
    carried, spelling = REQUEST.take(native)
    reader.origin.document |= {"payload": spelling} if spelling else {}
    if native.get("systemPrompt"):
        transcript.messages.append(Message("system", [Text(native["systemPrompt"])]))
        reader.origin.places.append(((*prefix, "systemPrompt"), [()]))
    sampling.lift_messages(native["messages"], (*prefix, "messages"), reader, transcript.messages)
    if native.get("tools") is not None:
        transcript.tools = [
            lift_tool(tool, (*prefix, "tools", i), reader.origin) for i, tool in enumerate(native["tools"])
        ]
    transcript.extras = extras_of(NAME, {**(carried or {}), **sampling.lift_request(native, transcript)})


def _lower_request(transcript: Transcript, messages: list[Message], writer: BlockWriter) -> Native:
    system, rest = sampling.split_system(messages, writer)
    turns = sampling.lower_messages(rest, writer)
    native: Native = {
        "messages": [
            sampling.MESSAGE.put(turn, carried_by(first.extras, NAME), writer.spelling(first)) for first, turn in turns
        ]
    }
    if system:
        native["systemPrompt"] = system
    carried, spelling = _beside(transcript, "request")
    native |= sampling.lower_request(transcript, carried, own=writer.own)
    if transcript.tools is not None:
        native["tools"] = lower_tools(transcript, writer.own)
    native = {key: native[key] for key in REQUEST.sorted(native)}
    return REQUEST.put(native, carried, spelling)


_LIFT = {
    "tools": _lift_list,
    "result": _lift_result,
    "request": _lift_request,
    "response": sampling.lift_answer,
}
_LOWER = {
    "tools": _lower_list,
    "result": _lower_result,
    "request": _lower_request,
    "response": sampling.lower_answer,
}


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
    """Up to 2025-11-25 tools answer objects. A list of tools says by its keys that it is newer; nothing else does."""
    carried = carried_by(survey.transcript.extras, NAME)
    return survey.form != "tools" or any(key in carried for key in ("resultType", "ttlMs", "cacheScope"))


PAIRED = links.paired(links.Manner(together=True))

RULES = (
    when_sent(answers.complete("model")),
    Rule(PAIRED.codes, _paired),
    Rule(("misplaced-part",), _results_alone),
    names.of_tools(NAMES),
    arguments.not_filled(),
    tools.unique("warning"),
    tools.schemas(),
    tools.output_schemas(free=_answers_anything),
)

DIALECT = Dialect(
    name=NAME,
    title="Model Context Protocol",
    specification="protocol versions 2025-11-25 and 2026-07-28; Python package mcp-types 2.3.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "tools", "result", "response", "list"),
    detect=detect,
    lift=lift,
    old_lower=lower,
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
