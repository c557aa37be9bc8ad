"""Cohere chat, version 2 (`/v2/chat`): requests, responses and bare lists of messages.

Specification: the API reference of v2 chat, as typed by the Python SDK `cohere` 7.3.1; read 2026-11-20.

Quirks
- `tool_plan` is the model's plan before its calls: reasoning. Other reasoning is a `thinking` part.
- A result is text or documents. One document is an object, several are a list of objects; their data may also be JSON
  in a string. A failure has no field: it is written as a document `{"error": …}`. Media of a result follow in a user
  message after all results of the turn.
- Cohere rejects empty texts, empty messages and unknown keys.
- Tool names have letters, digits and `_`, no digit first; convcli rewrites other names.
- `tool_choice` is `REQUIRED` or `NONE`: absent is auto, and no tool can be named. `strict_tools` applies to all tools.
- `p` and `k` are top-p and top-k. The format `json_object` has its JSON Schema as a second key.
- The reason STOP_SEQUENCE is read as `stop`, TIMEOUT as `error`. Token counts in SDK dumps are floats.
- Documents and citations of a request are kept in extras.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.cohere.messages import CONTENT, NAME, express, lift_message, write_message
from convcli.families.openai import request as common
from convcli.families.openai import tables
from convcli.families.openai.calls import kind_in_turn
from convcli.families.openai.fitting import of_conversations
from convcli.families.openai.tables import OF_CALLS, REASONS
from convcli.kit import fitting
from convcli.kit.contexts import LiftContext, lift_forms
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.passes import MEDIA, fused, on_each_message, on_parts
from convcli.kit.renaming import LETTERS, WORD, Alphabet, rename_tools_and_ids
from convcli.kit.settings import BUDGET, Setting, Settings, in_snake_case
from convcli.kit.supported import SENT, counted, fields, lacking, media
from convcli.kit.values import pairs, put_counts, take_counts, usage_places
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.transcript import Media, Message, Part, Reasoning, Refusal, Text, ToolDefinition, Transcript
from convcli.validation.rules import arguments, keys, links, models, names, tools, turns
from convcli.validation.survey import for_outputs, for_requests, limited_to

REQUEST = Keys(
    "model= messages= tools= strict_tools= tool_choice= documents citation_options response_format= "
    "safety_mode max_tokens= stop_sequences= temperature= seed= frequency_penalty= presence_penalty= k= p= "
    "logprobs= thinking= priority stream="
)
RESPONSE = Keys("id= finish_reason= message= usage= logprobs")


def _lift_format(native: Native) -> Native | None:
    kind, schema = native.get("type"), native.get("json_schema")
    if kind == "json_object" and schema:
        return {"type": "json_schema", "schema": schema}
    return {"type": "json" if kind == "json_object" else kind} if kind in ("json_object", "text") else None


def _write_format(format_: Native) -> Native | None:
    kind, schema = format_.get("type"), format_.get("schema")
    if kind == "text":
        return {"type": "text"}
    if kind not in ("json", "json_schema"):
        return None
    return {"type": "json_object", **({"json_schema": schema} if schema else {})}


def _lift_thinking(native: Native) -> int | None:
    kind, budget = native.get("type"), native.get("token_budget")
    return 0 if kind == "disabled" else budget if kind == "enabled" and budget and budget > 0 else None


def _write_thinking(budget: int) -> Native | None:
    if budget > 0:
        return {"type": "enabled", "token_budget": budget}
    return None if budget else {"type": "disabled"}


SETTINGS = Settings(
    {
        "max_tokens": "maxOutputTokens",
        "stop_sequences": "stop",
        **in_snake_case("temperature seed frequency_penalty presence_penalty"),
        "k": "topK",
        "p": "topP",
        "stream": "stream",
        "response_format": Setting("responseFormat", _lift_format, _write_format, partial=True),
        "logprobs": "logprobs",
        "thinking": Setting(BUDGET, _lift_thinking, _write_thinking, partial=True),
    }
)
CHOICES = {"REQUIRED": "required", "NONE": "none"}
FINISH = pairs("COMPLETE=stop STOP_SEQUENCE=stop MAX_TOKENS=length TOOL_CALL=tool_calls ERROR=error TIMEOUT=error")
FINISH_OF = pairs("stop=COMPLETE length=MAX_TOKENS tool_calls=TOOL_CALL error=ERROR aborted=ERROR content_filter=ERROR")
COUNTS: common.Counts = {
    ("tokens", "input_tokens"): "inputTokens",
    ("tokens", "output_tokens"): "outputTokens",
    ("cached_tokens",): "cacheReadTokens",
}

RESULTS = Convention(
    express,
    {
        "error": ("encoded", 'a Cohere result has no field for a failure: written as the document {"error": …}'),
        "data": ("changed", "Cohere documents are objects: other data is written as JSON"),
        "multimodal": ("encoded", "a Cohere result is text or documents: its media follow in a user message"),
    },
)

NAMES = Alphabet("letters, digits and _, no digit first", WORD, 0, first=LETTERS + "_")
"""Cohere documents no length limit."""


# ---------------------------------------------------------------- document


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    settings, extra = SETTINGS.lift(native)
    tools, carried_strict = _lift_tools(native, context)
    return context.transcript(
        model=native.get("model"),
        tools=tools,
        tool_choice=CHOICES[native["tool_choice"]] if native.get("tool_choice") else None,
        settings=settings or None,
        extras=make_extras(NAME, {**(REQUEST.extra(native) or {}), **extra, **carried_strict}),
    )


def _lift_response(native: Native, context: LiftContext) -> Transcript:
    context.origin.form = "response"
    message, part_paths = lift_message(native["message"], context)
    context.add(message, ("message",), part_paths)
    extra = dict(RESPONSE.extra(native) or {})
    finish: str | None = native.get("finish_reason")
    if finish:
        message.stop_reason = FINISH.get(finish, finish)
        if FINISH_OF.get(message.stop_reason, finish) != finish:
            extra["finish_reason"] = finish
    if native.get("usage"):
        usage, rest = take_counts(_whole_counts(native["usage"]), COUNTS)
        message.usage = usage or None
        extra |= {"usage": rest} if rest else {}
    return context.transcript(id=native.get("id"), extras=make_extras(NAME, extra))


def _whole_counts(value: Any) -> Any:
    """Converts whole floats to integers: the SDK writes 17.0."""
    if isinstance(value, dict):
        return {key: _whole_counts(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _lift_tools(native: Native, context: LiftContext) -> tuple[list[ToolDefinition] | None, Native]:
    """Returns the tools, which are strict together or not at all, and what must be kept of that."""
    tools = common.lift_tools({"tools": native.get("tools")}, context)
    for tool in tools or ():
        if tool.strict is not None:  # Cohere ignores this key of the function
            extra = get_extras(tool.extras, NAME)
            inner = {**extra.get("function", {}), "strict": tool.strict}
            tool.strict, tool.extras = None, make_extras(NAME, extra, function=inner)
    strict = native.get("strict_tools")
    if not (strict and tools):
        return tools, {"strict_tools": strict} if strict else {}
    for tool in tools:
        tool.strict = strict
    return tools, {}


lift = lift_forms(NAME, lift_message, _lift_request, _lift_response)


# ---------------------------------------------------------------- fit


def _keep_text(part: Part, _: Message) -> Part | None:
    """Turns a refusal into text, and drops empty text."""
    if isinstance(part, Refusal):
        part = Text(part.text, extras=part.extras)
    return part if not isinstance(part, (Text, Reasoning)) or part.text else None


def _keep_user_images(part: Part, message: Message) -> Part | None:
    """Drops media except images with a URL in user messages."""
    if not isinstance(part, Media):
        return part
    is_kept = message.role == "user" and _is_supported(part)
    return fitting.drop_unknown_detail(part, turns.DETAILS) if is_kept else None


def _is_supported(media: Media) -> bool:
    return CONTENT.write(media) is not None


def _drop_empty(message: Message) -> Message | None:
    return message if message.parts or get_extras(message.extras, NAME) else None


def _fit_strictness(transcript: Transcript) -> Transcript:
    """Drops strictness unless all tools share it."""
    strict = {tool.strict for tool in transcript.tools or ()}
    if len(strict) < 2:
        return transcript
    return replace(transcript, tools=[replace(tool, strict=None) for tool in transcript.tools or ()])


def _fit_tool_choice(transcript: Transcript) -> Transcript:
    """Reduces the tool choice to required or none, if there are tools; Cohere cannot name a tool or state auto."""
    choice = transcript.tool_choice
    if choice is None:
        return transcript
    kept = None if choice == "auto" or not transcript.tools else "none" if choice == "none" else "required"
    return transcript if kept == choice else replace(transcript, tool_choice=kept)


PARTS = (
    fitting.keep_parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    on_parts(_keep_user_images, *MEDIA),
    on_parts(_keep_text, "text", "reasoning", "refusal"),
    fitting.drop_other_opaque(NAME),
    fitting.sort_parts("text reasoning image opaque", "tool_call", kind=kind_in_turn),
)
MESSAGES = fused(
    rename_tools_and_ids(NAMES),
    *of_conversations(
        NAME, RESULTS, lambda media: CONTENT.write(media) is not None, fitting.roles({"developer": "system"})
    ),
    *PARTS,
    on_each_message(_drop_empty),
    fitting.keep_functions(NAME),
    fitting.add_parameters(typed=True),
    fitting.drop_empty_tools,
    _fit_strictness,
    _fit_tool_choice,
    SETTINGS.fits,
)
ANSWER = fused(
    rename_tools_and_ids(NAMES),
    fitting.keep_last_answer,
    fitting.keep_parts_of_roles({"tool_result": ()}),
    *PARTS,
    fitting.keep_known_finish(FINISH, FINISH_OF, "COMPLETE"),
)
FIT = {"request": MESSAGES, "list": MESSAGES, "response": ANSWER}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a request, a response or a list of messages."""
    if options.form == "response":
        return _write_response(transcript)
    messages = [write_message(message) for message in transcript.messages]
    return messages if options.form == "list" else _write_request(transcript, messages)


def _write_request(transcript: Transcript, messages: list[Native]) -> Native:
    extra, choice = get_extras(transcript.extras, NAME), transcript.tool_choice
    native = {
        "model": transcript.model,
        "messages": messages,
        **common.write_tools(transcript, NAME, strict=False),
        "strict_tools": next((tool.strict for tool in transcript.tools or () if tool.strict is not None), None),
        "tool_choice": choice and ("NONE" if choice == "none" else "REQUIRED"),
        **SETTINGS.write(transcript.settings or {}, extra),
    }
    return REQUEST.write(native, SETTINGS.rest(extra))


def _write_response(transcript: Transcript) -> Native:
    message = transcript.messages[0]
    extra = dict(get_extras(transcript.extras, NAME))
    native = {
        "id": transcript.id,
        "finish_reason": message.stop_reason and FINISH_OF.get(message.stop_reason, message.stop_reason),
        "message": write_message(message, listed=True),
        "usage": put_counts(message.usage or {}, extra.pop("usage", {}), COUNTS) or None,
    }
    return RESPONSE.write(native, extra)


RULES = (
    models.of("Cohere"),
    keys.complete("model", "id finish_reason"),
    for_outputs(turns.some_message()),
    for_requests(turns.known_details()),
    turns.not_empty(("user", "assistant", "system")),
    turns.not_blank(),
    turns.system_first(),
    turns.parts_of_roles({"tool_call": ("assistant",)}),
    links.results_identified(),
    links.paired(links.PairingRules(where="later", unique="request", missing="warning")),
    names.of_tools(NAMES),
    arguments.readable(),
    limited_to(tools.chosen(), "tool-choice-without-tools"),
    tools.unique("warning"),
    tools.schemas(tools.SchemaDemands(bare=True)),
    for_requests(tools.typed()),
)

SUPPORTS = lacking(tables.COMMON, "refusal") | media("image", "data url detail")

DIALECT = Dialect(
    name=NAME,
    title="Cohere",
    aliases=("command-r",),
    specification="API reference of v2 chat; Python SDK cohere 7.3.1; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=fitting.response_if_answered(single=True),
    rules=RULES,
    conventions=(RESULTS,),
    supports={
        "request": SUPPORTS | tables.OF_REQUESTS | SETTINGS.supports() | {"settings.reasoningEffort"},
        "list": SUPPORTS,
        "response": lacking(SUPPORTS, SENT) | counted(COUNTS) | fields("id message.stopReason"),
    },
    reasons={
        **REASONS,
        "message": "Cohere rejects an empty message",
        "message.role": "Cohere has no role developer: it becomes system",
        "message.model": "only a Cohere request names a model",
        "message.stopReason": "only a Cohere response has a finish reason, from a short list",
        "text": "Cohere rejects an empty text",
        "refusal": "Cohere has no field for a refusal: it is written as text",
        "metadata": "Cohere has no field for another provider's metadata",
        "image": "Cohere accepts images only in user messages, by URL",
        **dict.fromkeys(("audio", "video", "document"), "Cohere accepts no media but images"),
        "model": "only a Cohere request names a model",
        "createdAt": "a Cohere response has no time",
        "settings.reasoningBudget": "a Cohere budget is a number of tokens",
        "settings.reasoningEffort": "Cohere turns thinking on or off; it has no effort levels",
        "settings.responseFormat": "Cohere accepts only JSON or a bare schema",
        "settings.parallelToolCalls": "Cohere has no such setting",
        "toolChoice": "Cohere can only require or forbid tools; the default is auto, and no tool can be named",
        "tool.strict": "Cohere makes all tools strict or none",
        "tool.parameters": "Cohere requires an object schema: a missing one becomes an empty one",
        "tool.name": "Cohere names are letters, digits and _, no digit first",
        "tool_call.name": "Cohere names are letters, digits and _, no digit first",
        "tool_result.status": "a Cohere result has no status",
        "tool_result.isError": "a Cohere result has no field for a failure",
    },
    places={
        **CONTENT.places(),
        **OF_CALLS,
        "tool.strict": ("..", "..", "strict_tools"),
        **usage_places(COUNTS, "..", "usage"),
        **SETTINGS.places(),
    },
    envelope=frozenset(("usage", "logprobs", "finish_reason")),
)
