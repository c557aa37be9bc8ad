"""OpenTelemetry GenAI conventions: the attributes of a span or an event, or a list of their messages.

Specification: semantic-conventions-genai, JSON Schemas in model/gen-ai; read 2026-11-22.

Quirks
- Attributes store messages as values, or as JSON strings. Input and output are one conversation; the last model answer
  is the output, and has the finish reason.
- Counts, the id, the model and the provider of the answer are attributes of their own.
- A tool response is any value, without a failure field. Some frameworks call it `result`, put it into a user message,
  and nest tool definitions under `function`.
- Call ids may be missing, and may repeat those of other calls.
- A span may have the messages in one of its events. OTLP writes attributes as a list of keys and typed values; the
  spans of an OTLP file are picked with `--at otlp`.
- Before 1.37 each message was an event, of a span, of a log or in a list: they are read, and never written. Each log
  line is a transcript of its own.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.otel_genai.definitions import is_tool, lift_tool, listed, write_tool
from convcli.dialects.otel_genai.events import lift_event, name_of
from convcli.dialects.otel_genai.messages import (
    ANSWER,
    NAME,
    PARTS,
    express,
    is_written,
    lift_message,
    write_messages,
)
from convcli.dialects.otel_genai.spans import EVENTS, attributes_in, in_span
from convcli.families.openai.fitting import of_conversations
from convcli.kit import custom, fitting
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, get_extras, make_extras, omit, together, without_nulls
from convcli.kit.settings import Settings
from convcli.kit.supported import CALLS, TEXTS, fields
from convcli.kit.supported import TOOLS as TOOL_FIELDS
from convcli.kit.values import paths
from convcli.model.dialect import Convention, Dialect, Evidence, Options, Pass
from convcli.model.transcript import MEDIA_KINDS, Message, Opaque, Text, Transcript
from convcli.validation.rules import arguments, links, tools
from convcli.wire import exact_json

INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
INSTRUCTIONS, TOOLS = "gen_ai.system_instructions", "gen_ai.tool.definitions"
MESSAGES = (INSTRUCTIONS, INPUT, OUTPUT)
SETTINGS = Settings(
    {
        f"gen_ai.request.{key}": name
        for key, name in {
            "max_tokens": "maxOutputTokens",
            "temperature": "temperature",
            "top_p": "topP",
            "top_k": "topK",
            "stop_sequences": "stop",
            "seed": "seed",
            "presence_penalty": "presencePenalty",
            "frequency_penalty": "frequencyPenalty",
        }.items()
    }
)
ANSWER_ATTRIBUTES = {
    "gen_ai.provider.name": "provider",
    "gen_ai.response.id": "id",
    "gen_ai.response.model": "model",
}
"""Attributes of the last answer."""
USAGE = {
    f"gen_ai.usage.{key}": name
    for key, name in {
        "input_tokens": "inputTokens",
        "output_tokens": "outputTokens",
        "cache_read.input_tokens": "cacheReadTokens",
        "cache_creation.input_tokens": "cacheWriteTokens",
        "reasoning.output_tokens": "reasoningTokens",
    }.items()
}
MODEL, CONVERSATION = "gen_ai.request.model", "gen_ai.conversation.id"
REQUEST_SETTINGS = frozenset(SETTINGS.keys())
STOP, MAX_TOKENS, SEED = (f"gen_ai.request.{key}" for key in ("stop_sequences", "max_tokens", "seed"))
KNOWN = frozenset((*REQUEST_SETTINGS, *ANSWER_ATTRIBUTES, *USAGE, MODEL, CONVERSATION, *MESSAGES, TOOLS))


def detect(document: Any) -> Evidence | None:
    """Matches attributes with messages, or messages of parts with a type and a content.

    Attributes are objects, lists of keys and values, or on events of a span: more than marks can state.
    """
    if isinstance(document, dict):
        has_messages = attributes_in(document, KNOWN, MESSAGES).values.keys() & {INPUT, OUTPUT}
        is_event = name_of(document) is not None or _events(document)
        return (
            Evidence(97, "attributes with messages")
            if has_messages
            else Evidence(96, "message events")
            if is_event
            else None
        )
    if isinstance(document, list) and any(name_of(native) is not None for native in document):
        return Evidence(96, "message events") if all(isinstance(native, dict) for native in document) else None
    is_list = isinstance(document, list) and all(map(_is_message, document))
    part_lists = [message["parts"] for message in document if message["parts"]] if is_list else []
    return Evidence(93, "messages of parts with content") if part_lists else None


def _events(span: Native) -> list[int]:
    """Returns the indexes of a span's events that are messages."""
    events = span.get(EVENTS)
    return [i for i, event in enumerate(events) if name_of(event) is not None] if isinstance(events, list) else []


def _is_message(native: Any) -> bool:
    if not isinstance(native, dict) or not isinstance(native.get("role"), str):
        return False
    parts, texts = native.get("parts"), (native.get("name"), native.get("finish_reason"))
    is_named = all(isinstance(text or "", str) for text in texts)
    return is_named and isinstance(parts, list) and all(map(_is_part, parts))


def _is_part(part: Any) -> bool:
    """True if the part has the keys of its type, as the conventions define them."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return False
    if part["type"] in ("text", "reasoning"):
        return isinstance(part.get("content"), str)
    if part["type"] == "tool_call":
        return isinstance(part.get("name"), str) and isinstance(part.get("id") or "", str) and "input" not in part
    if part["type"] == ANSWER:
        return isinstance(part.get("id") or "", str)
    texts = [part.get(key) for key in ("modality", "mime_type", "uri", "file_id", "content")]
    return part["type"] not in ("blob", "uri", "file") or all(isinstance(text or "", str) for text in texts)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads attributes, a message list, or events; a span without a message becomes one event."""
    context = LiftContext(NAME, document)
    if isinstance(document, list) or name_of(document) is not None:
        context.origin.form = "messages"
        natives = (
            [((i,), native) for i, native in enumerate(document)] if isinstance(document, list) else [((), document)]
        )
        for path, native in natives:
            (lift_message if "parts" in native else lift_event)(native, path, context)
        return context.transcript()
    context.origin.form = "attributes"
    attributes, places, surrounding = attributes_in(document, KNOWN, MESSAGES)
    rest = without_nulls(attributes)
    has_no_messages = rest.keys().isdisjoint(MESSAGES)
    if has_no_messages and surrounding is not None:
        surrounding = _lift_events(document, surrounding, context)
    if has_no_messages and not context.messages:
        context.add(Message("event", [Opaque(NAME, document)]), (), [()])
        return context.transcript()
    context.origin.routes |= places
    return _lift_attributes(rest, surrounding, context)


def _lift_events(span: Native, surrounding: Native, context: LiftContext) -> Native:
    """Reads the span's events that are messages; returns what is left around them."""
    message_indexes = _events(span)
    for i in message_indexes:
        lift_event(span[EVENTS][i], (EVENTS, i), context)
    left = [event for i, event in enumerate(span.get(EVENTS) or ()) if i not in message_indexes]
    return {**omit(surrounding, EVENTS), **({EVENTS: left} if left else {})}


def _lift_attributes(rest: Native, surrounding: Native | None, context: LiftContext) -> Transcript:
    """Reads the attributes of a span, whose events may have been messages."""
    for key in MESSAGES:
        values = listed(rest.get(key), _is_part if key == INSTRUCTIONS else _is_message)
        if values is None:
            continue
        del rest[key]
        if key == INSTRUCTIONS:
            parts = [PARTS.lift(part, context) for part in values]
            context.add(Message("system", parts), (key,), [(i,) for i in range(len(parts))])
            continue
        for i, native in enumerate(values):
            lift_message(native, (key, i), context)
    transcript = context.transcript()
    natives = listed(rest.get(TOOLS), is_tool)
    if natives is not None:
        del rest[TOOLS]
        transcript.tools = [lift_tool(native) for native in natives]
        context.origin.tools = [(TOOLS, i) for i in range(len(natives))]
    settings, unread = SETTINGS.lift({key: rest.pop(key) for key in [*rest] if _is_setting(key, rest[key])})
    transcript.settings = settings or None
    for key, name in ((MODEL, "model"), (CONVERSATION, "id")):
        if isinstance(rest.get(key), str) and rest[key]:
            setattr(transcript, name, rest.pop(key))
    _lift_answer(rest, context.messages)
    extra = get_extras(make_extras(NAME, {**rest, **unread}, span=None), NAME)
    transcript.extras = make_extras(NAME, {**extra, **({} if surrounding is None else {"span": surrounding})})
    return transcript


def _is_setting(key: str, value: Any) -> bool:
    """True for a setting with a value of its type; OTLP writes any."""
    if key in (STOP, MAX_TOKENS, SEED):
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return is_list if key == STOP else type(value) is int
    return key in REQUEST_SETTINGS and isinstance(value, (int, float)) and not isinstance(value, bool)


def _lift_answer(rest: Native, messages: list[Message]) -> None:
    """Reads the attributes of the last answer, if there is one."""
    answer = messages[-1] if messages and messages[-1].role == "assistant" else None
    if answer is None:
        return
    for key, name in ANSWER_ATTRIBUTES.items():
        if isinstance(rest.get(key), str) and rest[key]:
            setattr(answer, name, rest.pop(key))
    counts = {name: rest.pop(key) for key, name in USAGE.items() if type(rest.get(key)) is int}
    answer.usage = counts or None


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes the attributes, in their span if they had one, or the messages alone."""
    messages = transcript.messages
    if options.form == "messages":
        return write_messages(messages)
    extra = dict(get_extras(transcript.extras, NAME))
    span = extra.pop("span", None)
    system = messages[0] if messages and _is_instruction(messages[0]) else None
    answer = messages[-1] if messages and messages[-1].role == "assistant" else None
    native: Native = {}
    for key, value in ((CONVERSATION, transcript.id), (MODEL, transcript.model)):
        native |= {} if value is None else {key: value}
    native |= SETTINGS.write(transcript.settings or {}, extra)
    if answer is not None:
        native |= {
            key: getattr(answer, name) for key, name in ANSWER_ATTRIBUTES.items() if getattr(answer, name) is not None
        }
        native |= {key: (answer.usage or {})[name] for key, name in USAGE.items() if name in (answer.usage or {})}
    if system is not None:
        native[INSTRUCTIONS] = [PARTS.write(part) for part in system.parts]
    between = messages[system is not None : -1 if answer is not None else None]
    if between or answer is None:
        native[INPUT] = write_messages(between)
    if answer is not None:
        native[OUTPUT] = write_messages([answer])
    if transcript.tools is not None:
        native[TOOLS] = [write_tool(tool) for tool in transcript.tools]
    attributes = {**native, **omit(together(extra), *REQUEST_SETTINGS)}
    if span is None:
        return attributes
    texts = {key: exact_json.write_text(value) for key, value in native.items() if key in (*MESSAGES, TOOLS)}
    return in_span(span, {**attributes, **texts} if isinstance(span.get("attributes"), list) else attributes)


def _is_instruction(message: Message) -> bool:
    """True if the message is only system text."""
    bare = Message("system", [Text(part.text) for part in message.parts if isinstance(part, Text)])
    return bool(message.parts) and message == bare


# ---------------------------------------------------------------- fit


def _add_finish_reason(transcript: Transcript) -> Transcript:
    """Adds a finish reason to an output without one."""
    last = transcript.messages[-1] if transcript.messages else None
    if last is None or last.role != "assistant" or last.stop_reason is not None:
        return transcript
    reason = "tool_calls" if any(part.type == "tool_call" for part in last.parts) else "stop"
    return replace(transcript, messages=[*transcript.messages[:-1], replace(last, stop_reason=reason)])


RESULTS = Convention(
    express,
    {
        "error": ("encoded", 'a tool response has no failure field: written as {"error": …}'),
        "data": ("changed", "a tool response that is a string is always text"),
        "multimodal": ("encoded", "a tool response is one value: its texts are joined, media follow in a user message"),
    },
)
CONVERSATION_PASSES: tuple[Pass, ...] = (
    *of_conversations(NAME, RESULTS, is_written),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.keep_functions(NAME),
    custom.as_functions,
)
FIT = {
    "attributes": (*CONVERSATION_PASSES, _add_finish_reason, fitting.settle_by_reading_back(lift, write, "attributes")),
    "messages": (*CONVERSATION_PASSES, fitting.settle_by_reading_back(lift, write, "messages")),
}

SUPPORTS = TEXTS | CALLS | PARTS.supports()
SUPPORTS |= fields("message.name message.stopReason")
OF_ATTRIBUTES = TOOL_FIELDS | SETTINGS.supports()
OF_ATTRIBUTES |= fields("id model message.provider message.id message.model message.usage tool.strict")

DIALECT = Dialect(
    name=NAME,
    title="OpenTelemetry GenAI",
    aliases=("otel", "opentelemetry", "gen-ai"),
    specification="semantic-conventions-genai, model/gen-ai; read 2026-11-22",
    framings=("document", "records"),
    forms=("attributes", "messages"),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    rules=(
        links.paired(links.PairingRules(where="later")),
        arguments.readable(),
        tools.schemas(tools.SchemaDemands()),
    ),
    conventions=(RESULTS,),
    supports={"attributes": SUPPORTS | OF_ATTRIBUTES, "messages": SUPPORTS},
    reasons={
        "message.role": "the conventions have only one role for instructions",
        "message.stopReason": "an output must have a finish reason",
        "message.id": "attributes have it for the last answer only",
        "message.model": "attributes have it for the last answer only",
        "message.provider": "attributes have it for the last answer only",
        "message.usage": "attributes have token counts for the last answer only, without a total",
        "refusal": "the conventions have no refusal part: the refusal is written as text",
        "tool_result.isError": "a tool response has no failure field",
        **dict.fromkeys(MEDIA_KINDS, "media need data, a URL or a file id"),
    },
    places={
        **PARTS.places(),
        **SETTINGS.places(),
        **paths("message.stopReason=finish_reason tool_result.toolCallId=id tool_result.value=response"),
        **{f"message.{name}": ("..", "..", key) for key, name in ANSWER_ATTRIBUTES.items()},
        **{f"message.usage.{name}": ("..", "..", key) for key, name in USAGE.items()},
        "model": (MODEL,),
        "id": (CONVERSATION,),
        "extras.span": (),
        "text.text": ("content",),
        "reasoning.text": ("content",),
        "tool_result.kind": ("response",),
    },
)
