"""Anthropic Messages: requests, responses and bare lists of messages.

Specification: https://platform.claude.com/docs/en/api/messages, as typed by the Python SDK `anthropic` 2.10.0; read
2026-11-20.

Quirks
- Results are blocks of a user message: one message has all results for an assistant message, before any text. convcli
  reads each result as a message of its own.
- System text is outside the messages; newer models also accept a `system` message in mid-conversation.
- Thinking is signed. It is accepted back only with its signature, even if its text is empty, and cannot be invented.
- Call ids are unique in the whole request; no text is blank; a failed result has content.
- Server tools (`server_tool_use`, `…_tool_result`) are calls that the service answers itself. They are read as opaque
  blocks, not as calls.
- `usage.input_tokens` excludes tokens read from or written to the cache.
- `tool_choice` states whether calls may be parallel.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.anthropic.clean import without_clean_messages
from convcli.dialects.anthropic.rules import NAME, RULES
from convcli.families.anthropic import policy
from convcli.families.anthropic import request as common
from convcli.families.anthropic.blocks import REASONS, Blocks, usual_blocks
from convcli.families.anthropic.messages import ROLES as ROLES
from convcli.families.anthropic.messages import Turns, lift_system, split_system
from convcli.families.anthropic.response import ENVELOPE, PLACES, lift_response, responses, write_response
from convcli.families.anthropic.usage import USAGE
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import is_response, keep_last_answer, roles, without
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.passes import fused
from convcli.kit.supported import SENT, TEXTS, counted, fields, lacking
from convcli.model.branches import active
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.dialect import Evidence as Evidence
from convcli.model.transcript import Transcript

BLOCKS = Blocks(NAME, *usual_blocks(NAME))
TURNS, RESPONSES = Turns(BLOCKS), responses(BLOCKS)
REQUEST = Keys(
    "model= max_tokens= temperature= top_p= top_k= stop_sequences= stream= system= messages= tools= "
    "tool_choice= thinking= output_config= metadata= service_tier= container cache_control"
)


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """Returns the transcript of a request, a response or a list of messages."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        context.origin.form = "list"
        TURNS.lift_each(document, (), context)
        return context.transcript()
    return _lift_request(document, context) if "messages" in document else lift_response(document, context, RESPONSES)


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    context.origin.form = "request"
    lift_system(native.get("system"), "system", context, BLOCKS)
    TURNS.lift_each(native["messages"], ("messages",), context)
    transcript = context.transcript(model=native.get("model"), tools=common.lift_tools(native, context))
    extra = {**(REQUEST.extra(native) or {}), **common.lift_settings(native, transcript)}
    choice = common.lift_choice(native["tool_choice"], transcript) if native.get("tool_choice") else None
    transcript.extras = make_extras(NAME, extra, tool_choice=choice)
    return transcript


def form_of(transcript: Transcript) -> str:
    """Returns the response form if the only message is a model's answer, else the request form."""
    return "response" if is_response(transcript) and len(active(transcript)) == 1 else "request"


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a request, a response or a list of messages."""
    if options.form == "response":
        return write_response(transcript, RESPONSES)
    return TURNS.write(transcript.messages) if options.form == "list" else _write_request(transcript)


def _write_request(transcript: Transcript) -> Native:
    extra = dict(get_extras(transcript.extras, NAME))
    tools = transcript.tools
    system, messages = split_system(transcript.messages, TURNS)
    native = {
        **common.write_settings(transcript, extra),
        "model": transcript.model,
        "system": system,
        "tools": None if tools is None else [common.write_tool(tool, NAME) for tool in tools],
        "tool_choice": common.write_choice(transcript, extra.pop("tool_choice", {})),
        "messages": TURNS.write(messages),
    }
    return REQUEST.write(native, common.SETTINGS.rest(extra))


MESSAGES = (*policy.pair_turns(), *policy.keep_supported_parts(BLOCKS), policy.said_by_users)
REQUESTED: tuple[Pass, ...] = (
    *MESSAGES,
    without("message.id", "message.model", "message.stop_reason", "message.usage", "message.extras"),
    policy.join_leading_instructions,
    policy.add_schema_types(NAME),
    policy.fit_tool_choice,
    policy.keep_supported_settings,
)
LISTED: tuple[Pass, ...] = (
    *MESSAGES,
    policy.keep_supported_finish(),
    policy.drop_other_events(NAME),
    roles({"developer": "system"}),
)
ANSWER: tuple[Pass, ...] = (
    *policy.pair_turns(),
    keep_last_answer,
    *policy.keep_supported_parts(BLOCKS),
    policy.keep_supported_finish(),
    policy.drop_other_events(NAME),
    policy.drop_empty_model,
    without("message.id", "message.model", "tools", "tool_choice", "settings", "extras"),
)
COMMON = TEXTS | BLOCKS.supports()
OF_ANSWERS = counted(USAGE) | {"message.stopReason"}

DIALECT = Dialect(
    name=NAME,
    title="Anthropic Messages",
    aliases=("claude", "claude-api", "messages"),
    specification="Messages API reference; Python SDK anthropic 2.10.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    lift=lift,
    write=write,
    fit={"request": fused(*REQUESTED), "list": fused(*LISTED), "response": fused(*ANSWER)},
    form_of=form_of,
    rules=RULES,
    repeats=frozenset(("/usage/input_tokens", "/messages/*/usage/input_tokens", "/*/usage/input_tokens")),
    without_clean_messages=without_clean_messages,
    conventions=(policy.results_of(BLOCKS),),
    supports={
        "request": COMMON | common.SUPPORTS,
        "list": COMMON | OF_ANSWERS | fields("message.id message.model"),
        "response": lacking(COMMON, SENT) | OF_ANSWERS | fields("id model"),
    },
    reasons={
        **REASONS,
        "reasoning": "Anthropic accepts only thinking that it signed",
        "message": "Anthropic rejects an empty user message",
        "message.role": "Anthropic has the roles user, assistant and system",
        "message.grouping": "Anthropic has one system text",
        "message.id": "messages of an Anthropic request have no id",
        "message.model": "messages of an Anthropic request name no model",
        "message.usage": "only an Anthropic response has usage",
        "message.usage.totalTokens": "Anthropic usage has no total",
        "message.stopReason": "only an Anthropic response has a stop reason, from a fixed list",
        "image": "Anthropic accepts images in user messages only: base64 PNG, JPEG, GIF or WebP, a URL, or a file id",
        "document": "Anthropic accepts documents in user messages only: base64 PDF, plain text, a URL, or a file id",
        "image.mediaType": "Anthropic stores no media type for a URL or a file id",
        "document.mediaType": "Anthropic documents are plain text or PDF data; a URL or a file id has no media type",
        "audio": "Anthropic accepts no audio",
        "video": "Anthropic accepts no video",
        **dict.fromkeys(
            ("tool_call.id", "tool_result.toolCallId"),
            "Anthropic ids are letters, digits, _ and -, unique in the request",
        ),
        **dict.fromkeys(("tool.name", "tool_call.name"), "Anthropic names are at most 128 letters, digits, _ and -"),
        "tool": "only another vendor can run this tool",
        "tool.parameters": "Anthropic requires the type object in `input_schema`",
        "toolChoice": "Anthropic accepts auto, any, none or one tool, and only with tools",
        "settings.parallelToolCalls": "Anthropic sets this in `tool_choice`, which requires tools",
        "settings.reasoningEffort": "Anthropic effort is low, medium, high, xhigh or max",
        "settings.reasoningBudget": (
            "Anthropic requires a budget of 1,024 tokens or more, less than `max_tokens`, and no forced tool"
        ),
        "settings.serviceTier": "Anthropic has the tiers auto and standard_only",
        "settings.metadata": "Anthropic request metadata has only `user_id`",
        "settings.user": "`metadata.user_id`, Anthropic's only user identifier, already has the safety identifier",
        "settings.safetyIdentifier": "`metadata.user_id` already has the user of the source",
        "settings.responseFormat": "Anthropic supports only JSON by a schema without a name",
        "settings.seed": "Anthropic has no seed",
        "moved": "Anthropic requires results right after their calls, and instructions before the messages",
    },
    places={**BLOCKS.places(), **common.PLACES, **PLACES},
    envelope=ENVELOPE,
)
