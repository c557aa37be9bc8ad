"""Mistral chat completions: requests, responses, bare message lists, and fine-tuning rows.

Specification: the API reference of chat completions, as typed by the Python SDK `mistralai` 3.7.0; read 2026-11-20.

Quirks
- The format derives from Chat Completions. Only the differences are listed here.
- Call ids have exactly 9 letters or digits up to tokenizer v11. Other ids are rewritten. The SDK writes `"null"` for a
  call without an id.
- `arguments` is a JSON string or the object itself.
- Content is a list of chunks. The types allow images in results too; the validator of `mistral_common` 1.13 does not.
- Thinking is a chunk; its pieces may be references. An image is a URL or an object with one; audio is base64, a data
  URL or a URL.
- A system message may be at the top or next to a user message, not after an answer or a result.
- Chunks that point at sources (reference, tool_reference, resource …) are kept unchanged.
- `tool_choice` has two words for one meaning: `any` and `required`. It cannot require one of several named tools.
- Every function needs `parameters`. The last message has the role user or tool, or has `prefix`.
- The finish reason `model_length` is read as `length`.
- A fine-tuning row (`--form row`) has only messages and tools. It ends with an answer. An answer has either text or
  calls; its content is written as a string (`mistral_common` 1.13.1, validator of tokenizer v3, `finetuning`; read
  2026-11-23).
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.mistral import rows
from convcli.dialects.mistral.chunks import CHUNKS, NAME
from convcli.dialects.mistral.messages import (
    express,
    instructions_of_user,
    is_prefix,
    lift_any,
    lift_message,
    write_message,
)
from convcli.families.openai import request as common
from convcli.families.openai import tables
from convcli.families.openai.calls import AS_TEXT, kind_in_turn
from convcli.families.openai.fitting import of_answers, of_conversations
from convcli.families.openai.messages import without_empty_text
from convcli.families.openai.response import Answers, lift_response, write_response
from convcli.families.openai.tables import OF_CALLS, REASONS, TO_RESPONSE
from convcli.kit import fitting
from convcli.kit.contexts import LiftContext, lift_forms
from convcli.kit.objects import (
    Keys,
    Native,
    get_extras,
    make_extras,
    omit,
    without_nulls,
)
from convcli.kit.passes import MEDIA, fused, on_messages, on_parts
from convcli.kit.renaming import DIGITS, LETTERS, Alphabet, identifiers, rename_tools_and_ids
from convcli.kit.settings import Settings, in_snake_case
from convcli.kit.supported import CALLS, LIST, SENT, TOOLS, counted, fields, lacking, media
from convcli.kit.values import usage_places
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.dialect import Evidence as Evidence
from convcli.model.transcript import Media, Message, Part, Refusal, Text, ToolChoice, Transcript
from convcli.validation.rules import arguments, keys, links, models, names, tools, turns
from convcli.validation.survey import for_outputs, for_requests
from convcli.wire import exact_json

REQUEST = Keys(
    "model messages tools tool_choice parallel_tool_calls temperature top_p top_k max_tokens stop random_seed "
    "presence_penalty frequency_penalty reasoning_effort response_format stream n logprobs top_logprobs prediction "
    "service_tier metadata prompt_cache_key"
)
SETTINGS = Settings(
    {
        **in_snake_case("temperature top_p top_k"),
        "random_seed": "seed",
        **in_snake_case("presence_penalty frequency_penalty parallel_tool_calls reasoning_effort stream"),
        "max_tokens": "maxOutputTokens",
        "stop": common.STOP,
        "response_format": common.RESPONSE_FORMAT,
        "n": "candidateCount",
        **in_snake_case("logprobs top_logprobs"),
        "prediction": common.PREDICTION,
        "service_tier": common.service_tier({"auto": "auto", "standard_only": "default"}),
        "metadata": common.METADATA,
        "prompt_cache_key": "promptCacheKey",
    }
)
NAMES, IDS = identifiers(64), Alphabet("letters and digits", LETTERS + DIGITS, 9, least=9)
EFFORTS = frozenset(("none", "minimal", "low", "medium", "high", "xhigh", "max"))

FINISH = {"model_length": "length"}
FINISH_OF = {name: name for name in ("stop", "length", "tool_calls", "error")} | {"aborted": "error"}
USAGE: common.Counts = {
    ("prompt_tokens",): "inputTokens",
    ("completion_tokens",): "outputTokens",
    ("total_tokens",): "totalTokens",
}
ANSWERS = Answers(NAME, lift_message, write_message, FINISH, FINISH_OF, USAGE)
RESULTS = Convention(
    express, {**AS_TEXT, "multimodal": ("encoded", "a tool answer is text: the media follow in a user message")}
)


# ---------------------------------------------------------------- document


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    if rows.is_row(native):
        context.origin.form = rows.FORM
        rows.lift_weights(native, context.messages)
    settings, extra = SETTINGS.lift(native)
    choice = _lift_choice(native["tool_choice"]) if native.get("tool_choice") else None
    if choice is not None and not exact_json.exact(_write_choice(choice), native["tool_choice"]):
        extra |= {} if native["tool_choice"] == "required" else {"tool_choice": native["tool_choice"]}
    return context.transcript(
        model=native.get("model"),
        tools=common.lift_tools({"tools": native.get("tools")}, context),
        tool_choice=choice,
        settings=settings or None,
        extras=make_extras(NAME, {**(REQUEST.extra(native) or {}), **extra}),
    )


def _lift_choice(native: Any) -> ToolChoice:
    if isinstance(native, str):
        return "required" if native == "any" else native
    return {"name": native["function"]["name"]}


lift = lift_forms(
    NAME,
    lift_any,
    _lift_request,
    lambda native, context: lift_response(native, context, ANSWERS),
    answers="choices",
)


# ---------------------------------------------------------------- fit


def _drop_unknown_effort(transcript: Transcript) -> Transcript:
    settings = transcript.settings or {}
    if settings.get("reasoningEffort", "none") in EFFORTS:
        return transcript
    return replace(transcript, settings=omit(settings, "reasoningEffort") or None)


def _drop_audio_url_type(media: Media) -> Media:
    """Drops the type of audio by URL, which has no field for it."""
    is_untyped = media.type == "audio" and media.data is None and media.media_type is not None
    return replace(media, media_type=None) if is_untyped else media


def _keep_supported_media(part: Part, message: Message) -> Part | None:
    """Keeps media that the API supports, in user messages only; a refusal becomes text."""
    if isinstance(part, Refusal):
        return Text(part.text, extras=part.extras)
    if isinstance(part, Media):
        is_supported = message.role == "user" and CHUNKS.write(part) is not None
        return fitting.drop_unknown_detail(_drop_audio_url_type(part), turns.DETAILS) if is_supported else None
    return part


PARTS = (
    fitting.keep_parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    on_parts(_keep_supported_media, "refusal", *MEDIA),
    fitting.drop_other_opaque(NAME),
    without_empty_text(NAME),
    fitting.sort_parts("text reasoning image document audio opaque", "tool_call", kind=kind_in_turn),
)
MESSAGES = fused(
    rename_tools_and_ids(NAMES, IDS),
    *of_conversations(
        NAME,
        RESULTS,
        lambda media: CHUNKS.write(media) is not None,
        fitting.roles({"developer": "system"}),
        on_messages(instructions_of_user),
    ),
    *PARTS,
    fitting.keep_functions(NAME),
    fitting.add_parameters(),
    common.named_format,
    SETTINGS.fits,
    _drop_unknown_effort,
    fitting.require_any_tool,
)
ANSWER = fused(rename_tools_and_ids(NAMES, IDS), *of_answers(ANSWERS, *PARTS))
FIT = {"request": MESSAGES, "list": MESSAGES, "response": ANSWER, rows.FORM: (*MESSAGES, *rows.FIT)}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a request, a response or a message list."""
    if options.form == "response":
        return write_response(transcript, ANSWERS)
    messages = [write_message(message) for message in transcript.messages]
    if options.form == rows.FORM:
        messages = list(map(rows.write_weight, transcript.messages, messages))
        return {"messages": messages, **common.write_tools(transcript, NAME)}
    return messages if options.form == "list" else _write_request(transcript, messages)


def _write_request(transcript: Transcript, messages: list[Native]) -> Native:
    extra = get_extras(transcript.extras, NAME)
    native = {
        "model": transcript.model,
        "messages": messages,
        **common.write_tools(transcript, NAME),
        **_write_choices(transcript.tool_choice, extra),
        **SETTINGS.write(transcript.settings or {}, extra),
    }
    return REQUEST.put(without_nulls(native), omit(SETTINGS.rest(extra), "tool_choice"))


def _write_choices(choice: ToolChoice | None, extra: Native) -> Native:
    if choice is None:
        return {}
    kept = extra.get("tool_choice")
    return {"tool_choice": kept if kept and _lift_choice(kept) == choice else _write_choice(choice)}


def _write_choice(choice: ToolChoice) -> Any:
    if isinstance(choice, dict):
        return {"type": "function", "function": {"name": choice["name"]}}
    return "any" if choice == "required" else choice


RULES = (
    models.of("Mistral"),
    keys.complete(
        "model",
        "id object created model choices.*.finish_reason "
        "usage.prompt_tokens usage.completion_tokens usage.total_tokens",
    ),
    for_outputs(turns.some_message()),
    for_outputs(turns.begins_with_user(or_instruction=True)),
    for_requests(turns.known_details()),
    for_requests(turns.ends_with_user(goes_on=is_prefix)),
    for_requests(turns.answered_first()),
    for_requests(turns.system_not_behind("assistant", "tool")),
    turns.parts_of_roles({"tool_call": ("assistant",)}),
    links.results_identified(),
    links.paired(links.PairingRules()),
    names.of_tools(NAMES),
    names.of_calls(IDS, "warning"),
    arguments.readable(),
    tools.chosen(alone=tools.EVERY),
    tools.unique("warning"),
    tools.schemas(tools.SchemaDemands(bare=True)),
    *rows.RULES,
)

SUPPORTS = lacking(tables.COMMON, "refusal") | media("image", "data url detail") | media("audio", "data url mediaType")
SUPPORTS |= media("document", "data url fileId") | {"tool_result.name"}
OF_ROWS = LIST | TOOLS | CALLS
OF_ROWS |= fields("message.weight tool.strict tool_call.rawArguments tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="Mistral",
    aliases=("mistralai", "le-chat"),
    specification="API reference of chat completions; Python SDK mistralai 3.7.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list", rows.FORM),
    on_demand=frozenset((rows.FORM,)),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=fitting.response_if_answered(),
    rules=RULES,
    conventions=(RESULTS,),
    supports={
        "request": SUPPORTS | tables.OF_REQUESTS | SETTINGS.supports(),
        "list": SUPPORTS,
        "response": lacking(SUPPORTS, SENT) | counted(USAGE) | fields("id createdAt model message.stopReason"),
        rows.FORM: OF_ROWS,
    },
    reasons={
        **REASONS,
        "message.role": "Mistral has no developer role; system messages go at the top or next to a user message",
        "message.name": "only a tool message has a name",
        "message.stopReason": "only a response has a finish reason, and Mistral supports few",
        "refusal": "Mistral has no refusal field: the refusal is written as text",
        "metadata": "Mistral cannot use metadata of another provider",
        "settings.reasoningEffort": "Mistral has no such reasoning effort",
        "settings.responseFormat.name": "Mistral requires a name for the response schema",
        "settings.serviceTier": "Mistral has only the service tiers auto and standard_only",
        "tool.parameters": "Mistral requires `parameters`: an empty object schema is written",
        "tool_call.id": "Mistral ids have exactly 9 letters or digits",
        "tool_result.toolCallId": "Mistral ids have exactly 9 letters or digits",
        "tool_call.name": "a tool name has at most 64 characters: letters, digits, _ and -",
        "tool_result.name": "a tool name has at most 64 characters: letters, digits, _ and -",
        "toolChoice": "Mistral cannot require one of several named tools",
        "video": "Mistral does not support video",
        "message": "a row ends with an answer, and an answer follows a user message",
        "message.weight": "only an answer in a row has a weight",
        "message.grouping": "an answer in a row has either text or calls",
    },
    places={
        **CHUNKS.places(),
        **OF_CALLS,
        "tool_result.name": ("..", "name"),
        **usage_places(USAGE, *TO_RESPONSE, "usage"),
        "extras.usage": ("..", "..", "..", "usage"),
        **SETTINGS.places(),
        "extras.choice": ("..",),
    },
    envelope=frozenset(("object", "choice", "created", "usage", "logprobs", "index", "closed")),
)
