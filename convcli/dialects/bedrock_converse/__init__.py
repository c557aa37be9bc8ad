"""Amazon Bedrock Converse: requests, responses and bare lists of messages.

Specification: the service model `bedrock-runtime` 2023-09-30 of botocore 1.44.5; read 2026-11-20.

Quirks
- A block, a source, a tool and a tool choice are objects with one member, whose name states the kind.
- Bytes are base64 in JSON. The sessions of Strands Agents store them as `{"__bytes_encoded__": true, "data": …}`.
- Roles alternate: consecutive messages of one side are one message. Results are blocks of a user message; convcli reads
  each result as a message of its own.
- Text is not blank, a message is not empty, and the first message is a user's. convcli invents nothing to fill one.
- A cache point is a block of its own; convcli attaches it to the block before it.
- A result stores JSON only as an object. There is no tool choice `none`.
- The service answers server tools itself (`server_tool_use`): those calls and results are opaque.
- The signature of reasoning is Claude's, which Anthropic documents to be valid on all platforms of Claude.
- Documents need a name with a limited character set, unique in the request.
- `usage.inputTokens` excludes tokens read from or written to the cache.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.bedrock_converse import fitting
from convcli.dialects.bedrock_converse import request as common
from convcli.dialects.bedrock_converse.fitting import FINISH, FINISH_OF
from convcli.dialects.bedrock_converse.request import NAME, SERVICE
from convcli.dialects.bedrock_converse.rules import RULES
from convcli.families.anthropic import policy as shared
from convcli.families.anthropic.usage import lift_usage, write_usage
from convcli.families.converse import policy
from convcli.families.converse.blocks import write_blocks
from convcli.families.converse.messages import USAGE, lift_blocks, lift_message, lift_messages, write_messages
from convcli.families.converse.places import PLACES, REASONS, SUPPORTS
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import drop_empty_tools, keep_answers, keep_last_answer, response_if_answered, roles, without
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.kit.passes import fused
from convcli.kit.supported import SENT, TOOLS, counted, fields, lacking
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.transcript import Message, Transcript

REQUEST = Keys(
    "modelId= messages= system= inferenceConfig= toolConfig= guardrailConfig additionalModelRequestFields "
    "promptVariables additionalModelResponseFieldPaths requestMetadata= performanceConfig serviceTier= "
    "outputConfig="
)
RESPONSE = Keys(
    "ResponseMetadata output= stopReason= usage= metrics additionalModelResponseFields trace "
    "performanceConfig serviceTier"
)
OUTPUT = Keys("message")

IN_REQUESTS = ("toolConfig",)
IN_RESPONSES = ("output", "usage", "stopReason")
"""Extras that are stored inside the API's own keys."""


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """Returns the transcript of a request, a response or a list of messages."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        context.origin.form = "list"
        lift_messages(document, (), context, SERVICE)
        return context.transcript()
    return _lift_request(document, context) if "messages" in document else _lift_response(document, context)


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    context.origin.form = "request"
    if native.get("system"):
        parts, part_paths = lift_blocks(native["system"], (), context, SERVICE)
        context.add(Message("system", parts), ("system",), part_paths)
    lift_messages(native["messages"], ("messages",), context, SERVICE)
    transcript = context.transcript(model=native.get("modelId") or None)
    extra = {**(REQUEST.extra(native) or {}), **common.lift_settings(native, transcript)}
    if native.get("toolConfig"):
        config = common.lift_tools(native["toolConfig"], transcript, context)
        extra |= {"toolConfig": config} if config else {}
    transcript.extras = make_extras(NAME, extra)
    return transcript


def _lift_response(native: Native, context: LiftContext) -> Transcript:
    context.origin.form = "response"
    lift_message(native["output"]["message"], ("output", "message"), context, SERVICE)
    answer = context.messages[0]
    own_keys: Native = {"output": OUTPUT.extra(native["output"])}
    reason: str = native.get("stopReason") or ""
    answer.stop_reason = FINISH.get(reason, reason) or None
    if FINISH_OF.get(answer.stop_reason or "", reason) != reason:
        own_keys["stopReason"] = reason
    usage, own_keys["usage"] = lift_usage(native.get("usage") or {}, USAGE)
    answer.usage = usage or None
    extra = {**(RESPONSE.extra(native) or {}), **{key: value for key, value in own_keys.items() if value}}
    return context.transcript(extras=make_extras(NAME, extra))


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a request, a response or a list of messages."""
    if options.form == "list":
        return write_messages(transcript.messages, SERVICE)
    return _write_response(transcript) if options.form == "response" else _write_request(transcript)


def _write_request(transcript: Transcript) -> Native:
    extra, messages = get_extras(transcript.extras, NAME), transcript.messages
    leading = bool(messages) and messages[0].role == "system"
    native = {
        "modelId": transcript.model,
        "messages": write_messages(messages[leading:], SERVICE),
        "system": write_blocks(messages[0].parts, SERVICE) if leading else None,
        "toolConfig": common.write_tools(transcript, extra.get("toolConfig", {})),
        **common.write_settings(transcript, extra),
    }
    return REQUEST.write(native, common.SETTINGS.rest(_without_own_keys(extra, IN_REQUESTS)))


def _write_response(transcript: Transcript) -> Native:
    extra = get_extras(transcript.extras, NAME)
    answer = transcript.messages[0] if transcript.messages else Message("assistant", [])
    reason, stated = answer.stop_reason, extra.get("stopReason")
    is_stated = stated and FINISH.get(stated, stated) == reason
    native = {
        "output": OUTPUT.put({"message": write_messages([answer], SERVICE)[0]}, extra.get("output")),
        "stopReason": stated if is_stated else reason and FINISH_OF[reason],
        "usage": write_usage(answer.usage or {}, extra.get("usage", {}), USAGE) or None,
    }
    return RESPONSE.write(native, _without_own_keys(extra, IN_RESPONSES))


def _without_own_keys(extra: Native, own_keys: tuple[str, ...]) -> Native:
    return omit(extra, *own_keys)


TURNS = policy.keep_supported_turns(SERVICE)
REQUESTED: tuple[Pass, ...] = (
    *TURNS,
    policy.not_empty,
    shared.join_leading_instructions,
    policy.joined,
    without("message.stop_reason", "message.usage"),
    shared.add_schema_types(NAME, fitting.typed_object),
    drop_empty_tools,
    fitting.keep_supported_settings,
    shared.fit_tool_choice,
)
LISTED: tuple[Pass, ...] = (*TURNS, policy.not_empty, roles({"developer": "system"}), policy.joined)
ANSWER: tuple[Pass, ...] = (
    keep_answers,
    *TURNS,
    policy.joined,
    keep_last_answer,
    fitting.keep_supported_finish,
    without("tools", "tool_choice", "settings", "model"),
)
DIALECT = Dialect(
    name=NAME,
    title="Amazon Bedrock Converse",
    aliases=("aws", "amazon", "converse"),
    specification="service model bedrock-runtime 2023-09-30 of botocore 1.44.5; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    lift=lift,
    write=write,
    fit={"request": fused(*REQUESTED), "list": fused(*LISTED), "response": fused(*ANSWER)},
    form_of=response_if_answered(),
    rules=RULES,
    repeats=frozenset(("/usage/inputTokens",)),  # cached tokens are added to it
    conventions=(policy.RESULTS,),
    supports={
        "request": SUPPORTS | TOOLS | common.SETTINGS.supports() | fields("model toolChoice tool.strict"),
        "list": SUPPORTS,
        "response": lacking(SUPPORTS, SENT) | counted(USAGE) | {"message.stopReason"},
    },
    reasons={
        **REASONS,
        "reasoning": "Converse accepts only reasoning that was signed or redacted for it",
        "message.role": "Converse has the roles user, assistant and system",
        "message.usage": "only a Converse response has usage",
        "message.stopReason": "only a Converse response has a stop reason, from a fixed list",
        "id": "a Converse response has no id",
        "createdAt": "a Converse response has no time",
        "model": "only a Converse request names its model",
        "document": "Converse accepts documents in user messages only: base64, text, or in S3",
        "tool": "only another vendor can run this tool",
        "tools": "Converse requires at least one tool in `toolConfig`",
        "tool.description": "Converse rejects an empty description",
        "tool.parameters": "Converse requires the type object in a schema",
        "toolChoice": "Converse accepts auto, any or one tool, and only with tools",
        **{f"settings.{name}": f"Converse requires {name} between 0 and 1" for name in ("temperature", "topP")},
        "settings.topK": (
            "Converse has no topK in `inferenceConfig`; some models accept it in `additionalModelRequestFields`"
        ),
        "settings.parallelToolCalls": "Converse has no setting for parallel calls",
        "settings.responseFormat": "Converse supports only JSON by a schema, without strictness",
        "settings.seed": "Converse has no seed in `inferenceConfig`",
        "settings.serviceTier": "Converse has no such tier",
        "settings.metadata": "Converse metadata values are at most 256 letters, digits, spaces and _:@$#=/+,.-",
        "settings.stream": "Converse streams through a separate operation",
        "moved": "Converse requires results right after their calls, and instructions before the messages",
    },
    places={
        **PLACES,
        **paths(
            "model=modelId message.stopReason=../../stopReason message.usage=../../usage tools=toolConfig/tools "
            "tool.description=toolSpec/description tool.strict=toolSpec/strict "
            "tool.parameters=toolSpec/inputSchema/json toolChoice=toolConfig/toolChoice"
        ),
        **common.SETTINGS.places(),
        "extras.tool": (),
    },
    envelope=frozenset(("ResponseMetadata", "metrics", "trace", "performanceConfig", "serviceTier", "usage", "type")),
)
