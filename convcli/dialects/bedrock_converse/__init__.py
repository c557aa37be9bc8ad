"""Amazon Bedrock Converse: requests, responses and bare lists of messages.

Specification: the service model `bedrock-runtime` 2023-09-30 of botocore 1.44.5; read 2026-11-20.

Quirks
- A block, a source, a tool and a tool choice are objects with one member, whose name says the kind.
- Bytes are base64 in JSON.
- Roles alternate: what one side says in a row is one message. Results are blocks of a user message; here each is a
  message of its own, and only where the source did not join what can be joined is that kept (`split`).
- Text is not blank, a message is not empty, the first one is a user's. Nothing is made up to fill one.
- A cache point is a block of its own; here it belongs to what stands before it.
- A result holds JSON only as an object. There is no tool choice `none`.
- The service answers server tools itself (`server_tool_use`): those calls and results are opaque.
- The signature of reasoning is Claude's, which Anthropic documents to be valid on all platforms of Claude.
- Documents need a name, made of few characters, that no other document of the request has.
- `usage.inputTokens` leaves out what was read from or written to the cache.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.bedrock_converse import request as common
from convcli.dialects.bedrock_converse.blocks import MEMBERS, BlockReader, BlockWriter, express
from convcli.dialects.bedrock_converse.media import NAME
from convcli.dialects.bedrock_converse.messages import (
    lift_blocks,
    lift_message,
    lift_messages,
    lower_messages,
    split_system,
)
from convcli.dialects.bedrock_converse.rules import IDS, NAMES, RULES
from convcli.kit.fitting import is_response, results_first
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.renaming import distinct, renamed
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, Origin, Transcript

REQUEST = Keys(
    "modelId messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables "
    "additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig",
    carried="guardrailConfig additionalModelRequestFields promptVariables additionalModelResponseFieldPaths "
    "requestMetadata performanceConfig serviceTier",
)
RESPONSE = Keys(
    "ResponseMetadata output stopReason usage metrics additionalModelResponseFields trace performanceConfig "
    "serviceTier",
    carried="ResponseMetadata metrics additionalModelResponseFields trace performanceConfig serviceTier",
)
OUTPUT = Keys("message")

IN_REQUESTS = frozenset(("inferenceConfig", "outputConfig", "toolConfig"))
IN_RESPONSES = frozenset(("output", "usage", "stopReason"))
"""Members of extras that hold what is carried inside the vendor's own keys."""

FINISH = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filtered": "content_filter",
    "stop_sequence": "stop",
    "guardrail_intervened": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
    "model_context_window_exceeded": "length",
}
"""`stopReason` of a response; of several with one meaning the first is written."""
FINISH_OF = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filtered",
    "refusal": "content_filtered",
}


# ---------------------------------------------------------------- detect

BLOCKS = frozenset(MEMBERS.split()) - {"text", "json"}
REQUEST_MARKS = ("toolConfig", "inferenceConfig", "guardrailConfig", "additionalModelRequestFields", "modelId")


def detect(document: Any) -> Clue | None:
    """By `output.message`, keys of a request, or blocks without a type."""
    messages = document.get("messages") if isinstance(document, dict) else document
    if isinstance(document, dict):
        output = document.get("output")
        if isinstance(output, dict) and isinstance(output.get("message"), dict):
            return Clue(95, "output.message")
        marks = [key for key in REQUEST_MARKS if key in document]
        if marks and isinstance(messages, list):
            return Clue(92, marks[0])
    if not isinstance(messages, list):
        return None
    blocks = _blocks_of(messages)
    if any(BLOCKS & block.keys() for block in blocks):
        return Clue(91, "content blocks of Converse")
    return Clue(70, "text blocks without a type") if blocks else None


def _blocks_of(messages: list[Any]) -> list[Native]:
    """All blocks; none where some message is not made of blocks without a type."""
    blocks: list[Native] = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list) or "role" not in message:
            return []
        if not all(isinstance(block, dict) and "type" not in block for block in content):
            return []
        blocks += content
    return [block for block in blocks if "text" in block or BLOCKS & block.keys()]


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of messages."""
    origin = Origin(NAME, spot=("content",))
    pairing = Pairing(document)
    origin.invented = pairing.invented
    reader = BlockReader(origin, pairing)
    transcript = Transcript([], origin=origin)
    if isinstance(document, list):
        origin.document = {"form": "list"}
        lift_messages(document, (), reader, transcript.messages)
    elif "messages" in document:
        _lift_request(document, reader, transcript)
    else:
        _lift_response(document, reader, transcript)
    return transcript


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only what a model answered."""
    source = transcript.document_spelling(NAME)
    form = options.form or source.get("form") or ("response" if is_response(transcript) else "request")
    own = transcript.origin is not None and transcript.origin.dialect == NAME
    writer = BlockWriter(transcript.spelling(NAME), own=own)
    messages = active(transcript)
    if not own:
        transcript = renamed(transcript, NAMES, IDS)
        messages = distinct(results_first(active(transcript)), IDS)
    if form == "response":
        return _lower_response(transcript, messages, writer)
    if form == "list":
        return lower_messages(messages, writer)
    return _lower_request(transcript, messages, writer)


def _lift_request(native: Native, reader: BlockReader, transcript: Transcript) -> None:
    carried, spelling = REQUEST.take(native)
    document = reader.origin.document
    document |= {"form": "request", **({"request": spelling} if spelling else {})}
    if native.get("system"):
        parts, spots = lift_blocks(native["system"], (), reader)
        transcript.messages.append(Message("system", parts))
        reader.origin.places.append((("system",), spots))
    lift_messages(native["messages"], ("messages",), reader, transcript.messages)
    transcript.model = native.get("modelId") or None
    extras = {**(carried or {}), **common.lift_settings(native, transcript, document)}
    if native.get("toolConfig"):
        config = common.lift_tools(native["toolConfig"], transcript, reader.origin)
        extras |= {"toolConfig": config} if config else {}
    transcript.extras = extras_of(NAME, extras)


def _lower_request(transcript: Transcript, messages: list[Message], writer: BlockWriter) -> Native:
    carried, document = carried_by(transcript.extras, NAME), transcript.document_spelling(NAME)
    system, rest = split_system(messages, writer)
    native: Native = {"modelId": transcript.model} if transcript.model else {}
    native["messages"] = lower_messages(rest, writer)
    blocks = [block for message in system for block in writer.blocks(message.parts, "system")]
    if blocks:
        native["system"] = blocks
    native |= common.lower_settings(transcript, carried, document, own=writer.own)
    tools = common.lower_tools(transcript, carried.get("toolConfig", {}), document, own=writer.own)
    if tools is not None:
        native["toolConfig"] = tools
    native = {key: native[key] for key in REQUEST.sorted(native)}
    return REQUEST.put(native, _outer(carried, IN_REQUESTS, document, "request"), document.get("request"))


def _lift_response(native: Native, reader: BlockReader, transcript: Transcript) -> None:
    carried, spelling = RESPONSE.take(native)
    rest, odd = OUTPUT.take(native["output"])
    document = {"form": "response", "response": spelling, "output": odd}
    reader.origin.document = {key: said for key, said in document.items() if said}
    extras = {**(carried or {}), **({"output": rest} if rest else {})}
    lift_message(native["output"]["message"], ("output", "message"), reader, transcript.messages)
    answer = transcript.messages[0]
    reason: str = native.get("stopReason") or ""
    if reason:
        ours = answer.stop_reason = FINISH.get(reason, reason)
        extras |= {"stopReason": reason} if FINISH_OF.get(ours, reason) != reason else {}
    if native.get("usage"):
        usage, beside = common.read_usage(native["usage"])
        answer.usage = usage or None
        extras |= {"usage": beside} if beside else {}
        said = reader.origin.spellings.get(id(answer), {})
        reader.origin.spell(answer, {**said, "usage": native["usage"]})
    transcript.extras = extras_of(NAME, extras)


def _lower_response(transcript: Transcript, messages: list[Message], writer: BlockWriter) -> Native:
    """The last answer, with the last reason to stop and the first usage that are stated."""
    carried, document = carried_by(transcript.extras, NAME), transcript.document_spelling(NAME)
    said = [message for message in messages if message.role == "assistant"]
    answers = lower_messages(said, writer) or [{"role": "assistant", "content": []}]
    native: Native = {"output": OUTPUT.put({"message": answers[-1]}, carried.get("output"), document.get("output"))}
    reason = next((message.stop_reason for message in reversed(said) if message.stop_reason), None)
    if reason:
        kept = carried.get("stopReason")
        usual = FINISH_OF.get(reason, reason if writer.own else "end_turn")
        native["stopReason"] = kept if kept and FINISH.get(kept, kept) == reason else usual
    counted = next((message for message in said if message.usage or "usage" in writer.spelling(message)), None)
    if counted is not None:
        written = writer.spelling(counted).get("usage")
        native["usage"] = common.lower_usage(counted, carried.get("usage", {}), written)
    native = {key: native[key] for key in RESPONSE.sorted(native)}
    return RESPONSE.put(native, _outer(carried, IN_RESPONSES, document, "response"), document.get("response"))


def _outer(carried: Native, inside: frozenset[str], document: Native, form: str) -> Native:
    """What is carried for the document itself: not what stands `inside` one of its keys, or in another form."""
    others = inside if document.get("form") == form else IN_REQUESTS | IN_RESPONSES
    return {key: value for key, value in carried.items() if key not in others}


DIALECT = Dialect(
    name=NAME,
    title="Amazon Bedrock Converse",
    specification="service model bedrock-runtime 2023-09-30 of botocore 1.44.5; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "data": ("changed", "a result holds JSON objects or text: other data is written as JSON text"),
                "error": ("changed", "a result holds JSON objects or text: other data is written as JSON text"),
                "multimodal": ("changed", "a result of one text is the same as that text"),
            },
        ),
    ),
    reasons={
        "reasoning": "Converse takes back only reasoning that was signed or redacted for it",
        "reasoning.summary": "reasoning has no summary",
        "refusal": "there is no block for a refusal: its words are written as text",
        "text": "the API takes no blank text",
        "message": "a message must hold something that the API takes",
        "message.role": "Converse has the roles user, assistant and system",
        "message.grouping": "roles alternate: what one side says in a row is one message",
        "message.error": "a message has no field for a failed turn",
        "message.id": "messages have no id",
        "message.parentId": "messages have no parent",
        "message.createdAt": "messages have no time",
        "message.name": "messages have no name",
        "message.model": "messages have no model of their own",
        "message.usage": "only a response has usage",
        "message.usage.reasoningTokens": "reasoning is not counted apart",
        "message.stopReason": "only a response has a stop reason, one of the vendor's list",
        "id": "a response has no id",
        "createdAt": "a response has no time",
        "model": "only a request names its model",
        "image": "images are PNG, JPEG, GIF or WebP, as base64 or in S3, in user turns",
        "document": "documents are base64, text or in S3, in user turns",
        "document.name": "names of documents are letters, digits, spaces and -()[], no two the same",
        "audio": "audio is base64 or in S3, of a known format, in user turns",
        "video": "video is base64 or in S3, of a known format, in user turns",
        "image.name": "images have no name",
        "image.detail": "images have no detail",
        "opaque": "the block belongs to another vendor",
        "tool_call": "only an assistant calls tools",
        "tool_call.id": "ids are at most 64 letters, digits and _.:-, unique in the request",
        "tool_call.name": "names are at most 64 letters, digits, _ and -",
        "tool_call.rawArguments": "the input of a call is an object",
        "tool_result.name": "a result names its call, not its tool",
        "tool_result.status": "the status of a result is success or error",
        "tool_result.toolCallId": "ids are at most 64 letters, digits and _.:-, unique in the request",
        "tool_result.value": "a result holds JSON objects, text, images, documents and video, no blank text",
        "tool": "a tool that another vendor runs",
        "tools": "toolConfig holds at least one tool",
        "tool.name": "names are at most 64 letters, digits, _ and -",
        "tool.description": "a description is not empty",
        "tool.parameters": "a schema must have the type object",
        "tool.outputSchema": "a tool has no schema for its results",
        "tool.title": "a tool has no title",
        "tool.annotations": "a tool has no annotations",
        "toolChoice": "a choice is auto, any or one tool, and only where there are tools",
        "settings.temperature": "temperature lies between 0 and 1",
        "settings.topP": "topP lies between 0 and 1",
        "settings.topK": "inferenceConfig has no topK; some models take it in additionalModelRequestFields",
        "settings.parallelToolCalls": "it cannot be said whether calls may be parallel",
        "settings.responseFormat": "only JSON by a schema can be asked for",
        "settings.seed": "inferenceConfig has no seed",
        "settings.stream": "streaming is an operation of its own",
        "moved": "results stand right behind their calls, instructions before the messages",
    },
    places={
        "model": ("modelId",),
        "message.stopReason": ("..", "..", "stopReason"),
        "message.usage": ("..", "..", "usage"),
        "tool_call.id": ("toolUse", "toolUseId"),
        "tool_call.name": ("toolUse", "name"),
        "tool_call.arguments": ("toolUse", "input"),
        "tool_result.toolCallId": ("toolResult", "toolUseId"),
        "tool_result.value": ("toolResult", "content"),
        "tool_result.kind": ("toolResult", "content"),
        "tool_result.isError": ("toolResult", "status"),
        "text.text": ("text",),
        "reasoning.text": ("reasoningContent", "reasoningText", "text"),
        "reasoning.metadata.signature": ("reasoningContent", "reasoningText", "signature"),
        "reasoning.metadata.redactedData": ("reasoningContent", "redactedContent"),
        "document.name": ("document", "name"),
        "tools": ("toolConfig", "tools"),
        "tool.description": ("toolSpec", "description"),
        "tool.parameters": ("toolSpec", "inputSchema", "json"),
        "tool.strict": ("toolSpec", "strict"),
        "toolChoice": ("toolConfig", "toolChoice"),
        "settings.temperature": ("inferenceConfig", "temperature"),
        "settings.topP": ("inferenceConfig", "topP"),
        "settings.maxOutputTokens": ("inferenceConfig", "maxTokens"),
        "settings.stop": ("inferenceConfig", "stopSequences"),
        "settings.reasoningEffort": ("outputConfig", "effort"),
        "settings.responseFormat": ("outputConfig", "textFormat"),
        "extras.tool": (),
        "extras.cachePoint": ("..",),
        "extras.context": ("document", "context"),
        "extras.citations": ("document", "citations"),
        "extras.type": (),
        "extras.error": (),
        "extras.block": (),
        "extras.source": (),
    },
    envelope=frozenset(("ResponseMetadata", "metrics", "trace", "performanceConfig", "serviceTier", "usage", "type")),
)
