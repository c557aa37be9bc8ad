"""OpenAI Chat Completions: requests, responses and bare message lists.

Specification: the API reference of Chat Completions, as typed by the Python SDK `openai` 3.51.0; read 2026-11-20.

Quirks
- `arguments` is a JSON string, and models write invalid JSON.
- A tool message is text only and has no failure field: an error is written as `{"error": …}`, and result media follow
  in a user message after all results of the turn.
- Text comes before the calls of the same message; the API has no other order.
- The API itself does not accept reasoning back; compatible servers answer with `reasoning_content` or `reasoning`, and
  some accept it back: it is written in a response, and in a request of the form `compatible`.
- Several choices of one response are siblings: a tree whose head is the first choice.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.openai_chat.clean import without_clean_messages
from convcli.families.openai import request as common
from convcli.families.openai import rules as of_openai
from convcli.families.openai import tables
from convcli.families.openai.fitting import NO_REASONING, RESULTS, of_answers, of_requests, parts_of_turns
from convcli.families.openai.messages import (
    lift_any,
    lift_message,
    write_message,
)
from convcli.families.openai.parts import IDS, NAMES
from convcli.families.openai.response import Answers, lift_response, write_response
from convcli.families.openai.tables import OF_ANSWERS, OF_REQUESTS, PLACES, REASONS
from convcli.kit import custom, fitting
from convcli.kit.contexts import LiftContext, lift_forms
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit, without_nulls
from convcli.kit.passes import fused
from convcli.kit.renaming import rename_tools_and_ids
from convcli.kit.supported import SENT, fields, lacking
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Transcript
from convcli.validation.rules import keys, links, models, tools, turns
from convcli.validation.survey import for_outputs, for_requests

NAME = "openai-chat"

REQUEST = Keys(
    "model messages tools tool_choice functions function_call parallel_tool_calls temperature top_p "
    "max_completion_tokens max_tokens stop seed presence_penalty frequency_penalty reasoning_effort response_format "
    "stream stream_options n modalities logprobs top_logprobs verbosity prediction service_tier store metadata user "
    "safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options moderation"
)
ANSWERS = Answers(NAME, lift_message, write_message, common.FINISH, common.FINISH_OF, common.USAGE)


# ---------------------------------------------------------------- document


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    settings, extra = common.REQUEST_SETTINGS.lift(native)
    if native.get("max_completion_tokens") is None:
        context.origin.aliases["max_completion_tokens"] = "max_tokens"
    tools = common.lift_tools(native, context, free=True)
    free = [tool.name for tool in tools or () if tool.custom is not None]
    choice, extra_choice = common.lift_choices(native, free)
    return context.transcript(
        model=native.get("model"),
        tools=tools,
        tool_choice=choice,
        settings=settings or None,
        extras=make_extras(NAME, {**(REQUEST.extra(native) or {}), **extra, **extra_choice}),
    )


lift = lift_forms(
    NAME,
    lift_any,
    _lift_request,
    lambda native, context: lift_response(native, context, ANSWERS),
    answers="choices",
)


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a request, a response or a message list."""
    if options.form == RESPONSE:
        return write_response(transcript, ANSWERS)
    messages = [write_message(message, NAME) for message in transcript.messages]
    return messages if options.form == "list" else _write_request(transcript, messages)


def _write_request(transcript: Transcript, messages: list[Native]) -> Native:
    extra = get_extras(transcript.extras, NAME)
    native = {
        "model": transcript.model,
        "messages": messages,
        **common.write_tools(transcript, NAME, free=True),
        **common.write_choices(transcript.tool_choice, extra, custom.names_of(transcript)),
        **common.REQUEST_SETTINGS.write(transcript.settings or {}, extra),
    }
    other_keys = omit(common.REQUEST_SETTINGS.rest(extra), *common.CHOICES)
    return REQUEST.put(without_nulls(native), other_keys)


RESPONSE, COMPATIBLE = "response", "compatible"
"""The forms that support reasoning: compatible servers answer with it, and some accept it back."""

MESSAGES = fused(
    *of_requests(NAME),
    fitting.keep_functions(NAME),
    custom.calls,
    custom.tools,
    fitting.drop_empty_tools,
    common.named_format,
    common.REQUEST_SETTINGS.fits,
)
ANSWER = fused(rename_tools_and_ids(NAMES, IDS), *of_answers(ANSWERS, *parts_of_turns(NAME)), custom.calls)
PLAIN_MESSAGES = fused(NO_REASONING, *MESSAGES)
FIT = {"request": PLAIN_MESSAGES, "list": PLAIN_MESSAGES, RESPONSE: ANSWER, COMPATIBLE: MESSAGES}

COMMON = tables.COMMON | tables.MEDIA | tables.ANSWERED | fields("message.name tool_call.custom")
REQUESTED = COMMON | OF_REQUESTS | common.REQUEST_SETTINGS.supports() | {"tool.custom"}

RULES = (
    links.results_identified(),
    *of_openai.MESSAGES,
    for_requests(turns.answered_by_assistant()),
    for_requests(turns.heard_with_data()),
    for_outputs(turns.some_message()),
    for_requests(turns.lists_not_empty("content", "tool_calls")),
    turns.stopped_for_calls(),
    models.of("OpenAI"),
    keys.complete(
        "model",
        "id object created model choices.*.finish_reason "
        "usage?.prompt_tokens usage?.completion_tokens usage?.total_tokens",
    ),
    tools.chosen(),
    *of_openai.TOOLS,
    tools.closed_response("json_schema", "schema"),
)

DIALECT = Dialect(
    name=NAME,
    title="OpenAI Chat Completions",
    aliases=(
        "openai",
        "gpt",
        "chatgpt",
        "completions",
        "azure",
    ),
    specification="Chat Completions API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", RESPONSE, "list", COMPATIBLE),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=fitting.response_if_answered(),
    rules=RULES,
    without_clean_messages=without_clean_messages,
    conventions=(RESULTS,),
    supports={
        "request": lacking(REQUESTED, "reasoning"),
        "list": lacking(COMMON, "reasoning"),
        RESPONSE: lacking(COMMON, SENT) | tables.ANSWERED | OF_ANSWERS,
        COMPATIBLE: REQUESTED,
    },
    reasons={
        **REASONS,
        "reasoning": "only requests of the form compatible can send it back",
        "reasoning.text": "a message has one text of thinking",
        "settings.responseFormat.name": "Chat Completions requires a name for the response schema",
        "settings.modalities": "Chat Completions answers are text or audio",
        "audio.mediaType": "input audio is WAV or MP3, and answered audio has no media type",
        "settings.serviceTier": "Chat Completions has no such service tier",
        "message.stopReason": "only a response has a finish reason",
        "settings.topK": "Chat Completions has no top_k",
        **dict.fromkeys(("tool.name", "tool_call.name"), "names have at most 64 characters: letters, digits, _ and -"),
        **dict.fromkeys(("tool_call.id", "tool_result.toolCallId"), "ids have at most 40 characters"),
        "video": "Chat Completions does not support video",
    },
    places=PLACES,
    envelope=frozenset(("object", "system_fingerprint", "service_tier", "choice", "created", "usage", "logprobs")),
)
