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
from convcli.families.responses.facts import COMMONLY_UNSUPPORTED, ENVELOPE, OF_REQUESTS, OF_RESPONSES, PLACES, REASONS
from convcli.families.responses.fitting import OTHER_EVENTS, as_input, as_response
from convcli.families.responses.parts import RESULTS
from convcli.families.responses.response import lift_response, write_response
from convcli.families.responses.turns import ItemReader, ItemWriter
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import response_if_answered, without_extras
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit, without_nulls
from convcli.kit.unsupported import fields, settings_but
from convcli.model.dialect import CUSTOM, Dialect, Evidence, Options
from convcli.model.transcript import Message, Text, Transcript

NAME = "openai-responses"

REQUEST = Keys(
    "model instructions input tools tool_choice parallel_tool_calls temperature top_p max_output_tokens reasoning text "
    "stream include top_logprobs service_tier store metadata user safety_identifier prompt_cache_key "
    "prompt_cache_retention prompt_cache_options moderation stream_options"
)
ITEM_TYPES = fields(
    "function_call function_call_output custom_tool_call custom_tool_call_output reasoning item_reference "
    "web_search_call file_search_call computer_call computer_call_output code_interpreter_call image_generation_call "
    "local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output "
    "mcp_call mcp_list_tools mcp_approval_request mcp_approval_response tool_search_call tool_search_output compaction "
    "additional_tools"
)
PART_TYPES = fields("input_text output_text input_image input_file")
ENVELOPES = fields("payload message messages record_type event delta data cwd")
"""Keys of rows that wrap items, in logs and streams."""
ROLES = frozenset(("system", "developer", "user", "assistant"))
OWN_KEYS = ("instructions", "max_output_tokens", "text", "tools", "tool_choice", "previous_response_id", "prompt")
"""Request keys next to `input`, which other formats have too."""


def detect(document: Any) -> Evidence | None:
    """Matches `output` of a response, types of items and content parts, or `input` with keys of its own."""
    items = document
    if isinstance(document, dict):
        items = document.get("output", document.get("input"))
        if document.get("object") == "response" and isinstance(document.get("output"), list):
            return Evidence(95, "a response with output")
        if not items or isinstance(items, str):
            return Evidence(60, "Responses API request keys") if _is_request(document) else None
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        return None
    if any(map(_is_own_item, items)) and all(item.keys().isdisjoint(ENVELOPES) for item in items):
        return Evidence(92, "Responses API items and content parts")
    if isinstance(document, dict):
        return Evidence(60, "an input of messages") if "input" in document and all(map(_is_clean, items)) else None
    typed = all(map(_is_clean, items)) and any(item.get("type") == "message" for item in items)
    return Evidence(45, "messages with a type") if typed else None


def _is_request(document: Native) -> bool:
    is_input = isinstance(document.get("input"), (str, list, type(None)))
    if "messages" in document or "output" in document or not is_input:
        return False
    prompt = document.get("prompt")
    reference = isinstance(document.get("previous_response_id"), str) or (isinstance(prompt, dict) and "id" in prompt)
    return reference or ("input" in document and not document.keys().isdisjoint(("model", *OWN_KEYS)))


def _is_own_item(item: Native) -> bool:
    """True if an item's type, or the type of one of its parts, exists in no other dialect."""
    kind, role = item.get("type"), item.get("role")
    if isinstance(kind, str) and kind in ITEM_TYPES:
        return True
    content = item.get("content") if isinstance(role, str) and role in ROLES else None
    return isinstance(content, list) and any(
        isinstance(part, dict) and str(part.get("type")) in PART_TYPES for part in content
    )


def _is_clean(item: Native) -> bool:
    content = item.get("content")
    role = item.get("role")
    known = item.get("type", "message") == "message" and isinstance(role, str) and role in ROLES
    return known and (isinstance(content, str) or content == [])


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

ALWAYS_UNSUPPORTED = (
    COMMONLY_UNSUPPORTED | settings_but(*request.SETTINGS.names()) | fields("tool.title tool.annotations")
)
UNSUPPORTED = {
    "request": ALWAYS_UNSUPPORTED | OF_RESPONSES,
    "list": ALWAYS_UNSUPPORTED | OF_RESPONSES | OF_REQUESTS | {"model", "extras"},
    "response": ALWAYS_UNSUPPORTED | OF_REQUESTS,
}

DIALECT = Dialect(
    name=NAME,
    title="OpenAI Responses",
    aliases=("responses", "openai-agents"),
    specification="Responses API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    form_of=response_if_answered(),
    rules=RULES,
    without_clean_messages=without_clean_items,
    conventions=(RESULTS,),
    unsupported=UNSUPPORTED,
    supports=CUSTOM,
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
