"""Ollama's native chat (`/api/chat`): requests, responses and bare lists of messages.

Specification: api/types.go of the server, August 2026, and the Python package `ollama` 0.6.3; read 2026-11-20.

Quirks
- A message has one text. The texts of a user's turn are written as several messages, which is the same to the server;
  those of the assistant are joined by a blank line, since the server keeps the calls of the first of two only.
- Arguments are objects. Ids of calls are optional and older servers do not know them: results name their tool.
- Pictures are base64 without a type: the type is read from their first bytes. Other media cannot be said.
- There is no tool choice and no strict mode: unknown keys are ignored in silence, so they are not written.
- `options` are settings under llama.cpp's names. A negative `num_predict` is no limit, and rides in extras.
- `think` is a boolean or a level; `true` has no level, and rides in extras.
- `format` is `"json"` or a JSON Schema.
- The answer of a call ends with the reason `stop`. Durations count nanoseconds.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.ollama.messages import (
    NAME,
    express,
    is_own,
    lift_message,
    lift_messages,
    lower_message,
    lower_messages,
)
from convcli.families.openai import request as common
from convcli.kit.fitting import is_response
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, Origin, Transcript
from convcli.validation.rules import arguments, links, tools, turns
from convcli.validation.survey import when_sent
from convcli.wire import exact_json

REQUEST = Keys(
    "model messages tools format options think stream keep_alive truncate shift logprobs top_logprobs",
    carried="keep_alive truncate shift logprobs top_logprobs",
)
RESPONSE = Keys(
    "model remote_model remote_host created_at message done done_reason total_duration load_duration "
    "prompt_eval_count prompt_eval_duration eval_count eval_duration logprobs",
    carried="remote_model remote_host total_duration load_duration prompt_eval_duration eval_duration logprobs",
)
OPTIONS = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "num_predict": "maxOutputTokens",
    "stop": "stop",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
OPTION_KEYS = Keys(" ".join(OPTIONS))
COUNTS = {"prompt_eval_count": "inputTokens", "eval_count": "outputTokens"}
THINK: dict[str, Any] = {
    "none": False, "minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "max", "max": "max"
}  # fmt: skip
"""`think` for a reasoning effort: the nearest level."""

FINISH = frozenset(("stop", "length"))


def detect(document: Any) -> Clue | None:
    """By `message` beside `done`, by request keys of its own, by pictures and calls as only Ollama writes them."""
    found = document
    if isinstance(document, dict):
        if isinstance(document.get("message"), dict) and "done" in document and "role" in document["message"]:
            return Clue(97, "message and done")
        found = document.get("messages")
    if not isinstance(found, list) or not all(isinstance(message, dict) and "role" in message for message in found):
        return None
    if isinstance(document, dict) and any(_is_own_setting(document, key) for key in ("options", "keep_alive", "think")):
        return Clue(93, "the settings of Ollama")
    if any(isinstance(message.get(key), str) for message in found for key in ("tool_name", "thinking")):
        return Clue(93, "messages with tool_name or thinking")
    if any(_is_images(message.get("images")) for message in found):
        return Clue(93, "messages with images")
    listed = (message.get("tool_calls") for message in found)
    calls = [call for some in listed if isinstance(some, list) for call in some]
    return Clue(91, "calls with object arguments and no type") if calls and all(map(_is_own_call, calls)) else None


def _is_own_setting(document: Native, key: str) -> bool:
    return isinstance(document.get(key), dict) if key == "options" else document.get(key) is not None


def _is_images(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _is_own_call(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) and "type" not in call else None
    return isinstance(function, dict) and isinstance(function.get("arguments"), dict)


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of messages."""
    origin = Origin(NAME, spot=("content",))
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return Transcript(lift_messages(document, (), document, origin), origin=origin)
    if "messages" in document:
        return _lift_request(document, origin)
    return _lift_response(document, origin)


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only one answer of a model."""
    form = options.form or transcript.document_spelling(NAME).get("form") or _form_of(transcript)
    transcript = transcript if is_own(transcript) else common.with_parameters(transcript)
    if form == "response":
        return _lower_response(transcript)
    messages = lower_messages(transcript)
    return messages if form == "list" else _lower_request(transcript, messages)


def _form_of(transcript: Transcript) -> str:
    return "response" if is_response(transcript) and len(active(transcript)) == 1 else "request"


def _lift_request(native: Native, origin: Origin) -> Transcript:
    carried, spelling = REQUEST.take(native)
    origin.document = {"form": "request", **({"request": spelling} if spelling else {})}
    transcript = Transcript(lift_messages(native["messages"], ("messages",), native, origin), origin=origin)
    transcript.model = native.get("model")
    settings: Native = {}
    extras = {**(carried or {}), **_lift_options(native, settings, origin), **_lift_modes(native, settings)}
    if native.get("stream") is not None:
        settings["stream"] = native["stream"]
    transcript.settings = settings or None
    if native.get("tools") is not None:
        tools = enumerate(native["tools"])
        transcript.tools = [common.lift_tool(tool, NAME, origin, ("tools", i)) for i, tool in tools]
    transcript.extras = extras_of(NAME, extras)
    return transcript


def _lower_request(transcript: Transcript, messages: list[Native]) -> Native:
    spelling = transcript.document_spelling(NAME)
    carried = dict(carried_by(transcript.extras, NAME))
    settings = transcript.settings or {}
    native: Native = {} if transcript.model is None else {"model": transcript.model}
    native["messages"] = messages
    native |= common.lower_tools(transcript, NAME, strict=is_own(transcript))
    native |= _lower_modes(settings)
    options = {theirs: settings[ours] for theirs, ours in OPTIONS.items() if ours in settings}
    options = OPTION_KEYS.put(options, carried.pop("options", None), spelling.get("options"))
    if options:
        native["options"] = options
    if "stream" in settings:
        native["stream"] = settings["stream"]
    native = {key: native[key] for key in REQUEST.sorted(native)}
    return REQUEST.put(native, carried, spelling.get("request"))


# ---------------------------------------------------------------- settings


def _lift_options(native: Native, settings: Native, origin: Origin) -> Native:
    """Set the settings that options hold; the other options are carried."""
    options = native.get("options") or {}
    carried, spelling = OPTION_KEYS.take(options)
    carried = carried or {}
    for theirs, ours in OPTIONS.items():
        value = options.get(theirs)
        if theirs == "num_predict" and value is not None and value < 0:
            carried[theirs] = value
        elif value is not None and value != []:
            settings[ours] = value
    if spelling:
        origin.document["options"] = spelling
    return {"options": carried} if carried else {}


def _lift_modes(native: Native, settings: Native) -> Native:
    """Set what `think` and `format` say; what the intermediate format cannot say of them is carried."""
    think, format_ = native.get("think"), native.get("format")
    if think is False:
        settings["reasoningEffort"] = "none"
    elif think and isinstance(think, str):
        settings["reasoningEffort"] = think
    if format_ == "json":
        settings["responseFormat"] = {"type": "json"}
    elif format_ and isinstance(format_, dict):
        settings["responseFormat"] = {"type": "json_schema", "schema": format_}
    written = _lower_modes(settings)
    given = {key: value for key, value in (("think", think), ("format", format_)) if value not in (None, "", {}, [])}
    return {key: value for key, value in given.items() if not exact_json.exact(written.get(key), value)}


def _lower_modes(settings: Native) -> Native:
    native: Native = {}
    form = settings.get("responseFormat") or {}
    schema = form.get("schema")
    if form.get("type") == "json_schema" and schema and isinstance(schema, dict):
        native["format"] = schema
    elif form.get("type") in ("json", "json_schema"):
        native["format"] = "json"
    if settings.get("reasoningEffort") in THINK:
        native["think"] = THINK[settings["reasoningEffort"]]
    return native


# ---------------------------------------------------------------- response


def _lift_response(native: Native, origin: Origin) -> Transcript:
    carried, spelling = RESPONSE.take(native)
    origin.document = {"form": "response", **({"response": spelling} if spelling else {})}
    pairing = Pairing(native)
    origin.invented = pairing.invented
    message, spots = lift_message(native["message"], pairing, origin)
    origin.places.append((("message",), spots))
    transcript = Transcript(
        [message], model=native.get("model"), created_at=native.get("created_at") or None, origin=origin
    )
    message.stop_reason = native.get("done_reason") or None
    message.usage = {ours: native[key] for key, ours in COUNTS.items() if native.get(key) is not None} or None
    extras = dict(carried or {})
    if native.get("done") is None:
        origin.document["done"] = False
    elif native["done"] is False:
        extras["done"] = False
    transcript.extras = extras_of(NAME, extras)
    return transcript


def _lower_response(transcript: Transcript) -> Native:
    spelling = transcript.document_spelling(NAME)
    spellings, own = transcript.spelling(NAME), is_own(transcript)
    answers = [message for message in active(transcript) if own or message.role == "assistant"]
    message = answers[-1] if answers else Message("assistant", [])
    native: Native = {"model": transcript.model, "created_at": transcript.created_at}
    native = {key: value for key, value in native.items() if value is not None}
    native["message"] = lower_message(message, spellings, own)[0]
    if spelling.get("done", True):
        native["done"] = True
    if message.stop_reason is not None:
        native["done_reason"] = message.stop_reason if own or message.stop_reason in FINISH else "stop"
    native |= {
        theirs: message.usage[ours] for theirs, ours in COUNTS.items() if message.usage and ours in message.usage
    }
    native = {key: native[key] for key in RESPONSE.sorted(native)}
    return RESPONSE.put(native, carried_by(transcript.extras, NAME), spelling.get("response"))


RULES = (
    when_sent(turns.some_message()),
    turns.decodable(),
    links.paired(links.Manner(where="later", severity="warning", missing=None)),
    arguments.not_filled(),
    tools.unique("warning"),
    tools.schemas(tools.Shape(bare=True)),
)

DIALECT = Dialect(
    name=NAME,
    title="Ollama",
    specification="api/types.go of the server, August 2026; Python package ollama 0.6.3; read 2026-11-20",
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
                "error": ("encoded", 'a tool message has no field for a failure: written as {"error": …}'),
                "data": ("changed", "a tool message holds text: the data is written as JSON"),
                "multimodal": ("changed", "a tool message has one text, and its pictures beside it"),
            },
        ),
    ),
    reasons={
        "message.role": "Ollama has no developer: the system says it",
        "message.name": "messages have no name",
        "message.error": "a message has no field for a failed turn",
        "message.id": "messages have no id",
        "message.parentId": "messages have no parent",
        "message.createdAt": "only a response has a time",
        "message.model": "only a request and a response name a model",
        "message.usage": "only a response has counts, of the prompt and of the answer",
        "message.stopReason": "only a response has a reason: stop or length",
        "text": "a message has one text: several of the assistant are joined by a blank line",
        "reasoning": "a message has one thinking: several are joined by a blank line",
        "reasoning.summary": "thinking has no summary",
        "refusal": "Ollama has no field for a refusal: the words are written as text",
        "metadata": "what a provider bound to the part means nothing to Ollama",
        "image": "Ollama takes pictures as base64 only",
        "image.mediaType": "pictures have no type: it is read from their first bytes",
        "audio": "Ollama takes pictures only",
        "video": "Ollama takes pictures only",
        "document": "Ollama takes pictures only",
        "settings.reasoningEffort": "Ollama knows other levels of thinking",
        "settings.responseFormat": "Ollama takes JSON or the schema alone",
        "toolChoice": "Ollama has no tool choice",
        "tool.strict": "Ollama has no strict mode",
        "tool.parameters": "Ollama reads parameters: an empty object schema stands for none",
        "tool_call.rawArguments": "arguments are an object",
        "tool_result.status": "a tool message has no status",
        "tool_result.isError": "a tool message has no field for a failure",
        "event": "no model ever saw this row",
    },
    places={
        "message.stopReason": ("..", "done_reason"),
        "message.usage": ("..",),
        **{f"message.usage.{ours}": ("..", theirs) for theirs, ours in COUNTS.items()},
        **{f"settings.{ours}": ("options", theirs) for theirs, ours in OPTIONS.items()},
        "settings.reasoningEffort": ("think",),
        "settings.responseFormat": ("format",),
        "tool.name": ("function", "name"),
        "tool.parameters": ("function", "parameters"),
        "tool_call.id": ("id",),
        "tool_call.name": ("function", "name"),
        "tool_call.arguments": ("function", "arguments"),
        "tool_result.value": ("content",),
        "tool_result.kind": ("content",),
        "tool_result.toolCallId": ("tool_call_id",),
        "tool_result.name": ("tool_name",),
        "createdAt": ("created_at",),
    },
    envelope=frozenset(
        (
            "total_duration", "load_duration", "prompt_eval_duration", "eval_duration", "logprobs", "done",
            "remote_model", "remote_host", "function",
        )
    ),
)  # fmt: skip
