"""OpenAI Responses: requests, responses and bare item lists, such as Agents SDK sessions.

Specification: the [API reference](https://platform.openai.com/docs/api-reference/responses) of Responses, as typed by
the Python SDK `openai` 3.51.0; read 2026-11-20.

Quirks
- The conversation is a flat list of items; one answer has several. Item ids are not call ids: the first are context of
  the provider (`metadata.itemId`), the second tie a result to its call.
- `instructions` is the leading system message. A request may be just a string.
- A reasoning item must be followed by the item that it produced, and only the provider's own can be sent back.
- An output has text, images and files, and no failure field: an error is written as `{"error": …}`.
- `strict` and `parameters` of a function and `detail` of an image must be written. Null and `auto` are defaults, but a
  function without `strict` is made strict: its schema is closed.
- A response repeats the tools and settings of its request. They are kept as extras, since no model answered them.
- There is no finish reason: `status` and `incomplete_details` give the reason why a response ended.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.openai_responses import request
from convcli.dialects.openai_responses.clean import without_clean_items
from convcli.dialects.openai_responses.rules import RULES
from convcli.families.openai.request import named_format
from convcli.families.responses.facts import COMMON, ENVELOPE, OF_REQUESTS, OF_RESPONSES, PLACES, REASONS
from convcli.families.responses.fitting import OTHER_EVENTS, as_input, as_response
from convcli.families.responses.parts import RESULTS
from convcli.families.responses.response import lift_response, write_response
from convcli.families.responses.turns import ItemReader, ItemWriter
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import response_if_answered, without_extras
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit, without_nulls
from convcli.kit.supported import fields
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Message, Text, Transcript

NAME = "openai-responses"

REQUEST = Keys(
    "model instructions input tools tool_choice parallel_tool_calls temperature top_p max_output_tokens reasoning text "
    "stream include top_logprobs service_tier store metadata user safety_identifier prompt_cache_key "
    "prompt_cache_retention prompt_cache_options moderation stream_options"
)


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """Reads a request, a response or an item list."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        context.origin.form = "list"
        ItemReader(context).all(document, ())
        return context.transcript()
    return lift_response(document, context) if "output" in document else _lift_request(document, context)


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    context.origin.form = "request"
    if native.get("instructions"):
        context.add(Message("system", [Text(native["instructions"])]), ("instructions",), [()])
    input_ = native.get("input")
    if isinstance(input_, str):
        context.add(Message("user", [Text(input_)] if input_ else []), ("input",), [()])
    else:
        ItemReader(context).all(input_ or [], ("input",))
    tools = request.lift_tools(native, context)
    choice, extra_choice = request.lift_choice(native, tools)
    settings, carried_settings = request.SETTINGS.lift(native)
    return context.transcript(
        model=native.get("model") or None,
        tools=tools,
        tool_choice=choice,
        settings=settings or None,
        extras=make_extras(NAME, {**(REQUEST.extra(native) or {}), **extra_choice, **carried_settings}),
    )


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a request, a response or an item list."""
    if options.form == "response":
        return write_response(transcript, NAME)
    writer = ItemWriter(NAME)
    return writer.all(transcript.messages) if options.form == "list" else _write_request(transcript, writer)


def _write_request(transcript: Transcript, writer: ItemWriter) -> Native:
    extra = get_extras(transcript.extras, NAME)
    messages = transcript.messages
    instructions = _instructions(messages[0]) if messages else None
    native = {
        "model": transcript.model,
        "instructions": instructions,
        "input": writer.all(messages if instructions is None else messages[1:]),
        **request.write_tools(transcript, NAME),
        **request.write_choice(transcript, extra),
        **request.SETTINGS.write(transcript.settings or {}, extra),
    }
    return REQUEST.put(without_nulls(native), omit(request.SETTINGS.rest(extra), "tool_choice"))


def _instructions(message: Message) -> str | None:
    """Returns the text of a leading system message that has nothing else."""
    part = message.parts[0] if len(message.parts) == 1 and message.role == "system" else None
    is_bare = isinstance(part, Text) and not get_extras(part.extras, NAME) and not get_extras(message.extras, NAME)
    return part.text or None if is_bare else None  # type: ignore[union-attr]


DOCUMENT = without_extras(NAME, OTHER_EVENTS)
FIT_INPUT = (*as_input(NAME), DOCUMENT, request.extra_choice(NAME), named_format, request.SETTINGS.fits)
FIT = {"request": FIT_INPUT, "list": FIT_INPUT, "response": (*as_response(NAME), DOCUMENT)}


DIALECT = Dialect(
    name=NAME,
    title="OpenAI Responses",
    aliases=("responses", "openai-agents"),
    specification="Responses API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=response_if_answered(),
    rules=RULES,
    without_clean_messages=without_clean_items,
    conventions=(RESULTS,),
    supports={
        "request": COMMON | OF_REQUESTS | request.SETTINGS.supports(),
        "list": COMMON - {"extras"},
        "response": COMMON | OF_RESPONSES,
    },
    reasons={
        **REASONS,
        "message.error": "only a response has an error",
        "message.model": "items have no model of their own",
        "message.usage": "only a response has usage",
        "message.stopReason": "only a response has a stop reason",
        "settings.topK": "the Responses API has no top_k",
        "settings.responseFormat.name": "the Responses API requires a name for the response schema",
        "settings.candidateCount": "the Responses API gives one answer",
        "settings.logprobs": "log probabilities require their `include` entry",
        "settings.serviceTier": "the Responses API has no such service tier",
        "settings.stop": "the Responses API has no stop sequences",
        "settings.seed": "the Responses API has no seed",
        "settings.presencePenalty": "the Responses API has no penalties",
        "settings.frequencyPenalty": "the Responses API has no penalties",
        "image.detail": "`auto` is the default image detail",
        "audio": "the Responses API does not support audio",
        "video": "the Responses API does not support video",
    },
    places={**PLACES, **request.SETTINGS.places()},
    metadata=fields("additional_tools"),
    envelope=ENVELOPE,
)
