"""Cohere chat, version 2 (`/v2/chat`): requests, responses and bare lists of messages.

Specification: the API reference of v2 chat, as typed by the Python SDK `cohere` 7.3.1; read 2026-11-20.

Quirks
- `tool_plan` says before its calls what the model is going to do: reasoning. Other reasoning is a `thinking` part.
- A result is text or documents. One document is an object, several are a list of objects; their data may also be JSON
  in a string. A failure has no field: it is written as a document `{"error": …}`. Media of a result follow in a user
  message behind all results of the turn.
- Empty texts and messages are rejected, and so are unknown keys.
- Names of tools have letters, digits and `_`, no digit first: other names are rewritten.
- `tool_choice` is `REQUIRED` or `NONE`: absent is auto, and no tool can be named. `strict_tools` holds for all tools.
- `p` and `k` are top-p and top-k. A JSON Schema stands beside the format `json_object`.
- The reason STOP_SEQUENCE is read as `stop`, TIMEOUT as `error`. Counts of SDK dumps are floats.
- Documents of a request and citations ride in extras.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.cohere.messages import (
    NAME,
    express,
    is_own,
    lift_message,
    lift_messages,
    lower_message,
    lower_messages,
)
from convcli.families.openai import request as common
from convcli.kit.fitting import is_foreign_builtin, is_response
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.renaming import LETTERS, WORD, Alphabet, renamed
from convcli.kit.values import put_counts, take_counts
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, Origin, Path, ToolDefinition, Transcript
from convcli.validation.rules import answers, arguments, links, names, tools, turns
from convcli.validation.survey import telling, when_sent
from convcli.wire import exact_json

REQUEST = Keys(
    "model messages tools strict_tools tool_choice documents citation_options response_format safety_mode max_tokens "
    "stop_sequences temperature seed frequency_penalty presence_penalty k p logprobs thinking priority stream",
    carried="documents citation_options safety_mode logprobs priority",
)
RESPONSE = Keys("id finish_reason message usage logprobs", carried="logprobs")
SETTINGS = {
    "max_tokens": "maxOutputTokens",
    "stop_sequences": "stop",
    "temperature": "temperature",
    "seed": "seed",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "k": "topK",
    "p": "topP",
    "stream": "stream",
}
CHOICES = {"REQUIRED": "required", "NONE": "none"}
FINISH: dict[str, str] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
    "TIMEOUT": "error",
}
FINISH_OF = {
    "stop": "COMPLETE",
    "length": "MAX_TOKENS",
    "tool_calls": "TOOL_CALL",
    "error": "ERROR",
    "aborted": "ERROR",
    "content_filter": "ERROR",
}
COUNTS: common.Counts = {
    ("tokens", "input_tokens"): "inputTokens",
    ("tokens", "output_tokens"): "outputTokens",
    ("cached_tokens",): "cacheReadTokens",
}

OWN_SETTINGS = ("strict_tools", "citation_options", "safety_mode", "p", "k")
NAMES = Alphabet("letters, digits and _, no digit first", WORD, 0, first=LETTERS + "_")
"""No limit is known."""


def detect(document: Any) -> Clue | None:
    """By settings of its own, plans, documents as results, and responses with reasons in capitals."""
    found = document
    if isinstance(document, dict):
        reason = document.get("finish_reason")
        if isinstance(document.get("message"), dict) and isinstance(reason, str) and reason.isupper():
            return Clue(97, "a message with a finish reason in capitals")
        found = document.get("messages")
    if not isinstance(found, list) or not all(isinstance(message, dict) and "role" in message for message in found):
        return None
    if isinstance(document, dict):
        settings = [key for key in OWN_SETTINGS if document.get(key) is not None]
        if settings or document.get("tool_choice") in tuple(CHOICES):
            return Clue(97, f"the setting {settings[0] if settings else 'tool_choice in capitals'}")
    if any(isinstance(message.get("tool_plan"), str) for message in found):
        return Clue(97, "messages with tool_plan")
    return Clue(97, "results with documents") if any(map(_has_document, found)) else None


def _has_document(message: Native) -> bool:
    content = message.get("content")
    return (
        message.get("role") == "tool"
        and isinstance(content, list)
        and any(isinstance(part, dict) and isinstance(part.get("document"), dict) for part in content)
    )


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
    transcript = transcript if is_own(transcript) else _acceptable(transcript)
    if form == "response":
        return _lower_response(transcript)
    messages = lower_messages(transcript)
    return messages if form == "list" else _lower_request(transcript, messages)


def _form_of(transcript: Transcript) -> str:
    return "response" if is_response(transcript) and len(active(transcript)) == 1 else "request"


def _acceptable(transcript: Transcript) -> Transcript:
    """The transcript with the names and tool schemas that the API takes."""
    return common.with_parameters(renamed(transcript, NAMES), typed=True)


def _lift_request(native: Native, origin: Origin) -> Transcript:
    carried, spelling = REQUEST.take(native)
    origin.document = {"form": "request", **({"request": spelling} if spelling else {})}
    transcript = Transcript(lift_messages(native["messages"], ("messages",), native, origin), origin=origin)
    transcript.model = native.get("model")
    transcript.tool_choice = CHOICES[native["tool_choice"]] if native.get("tool_choice") else None
    extras = {**(carried or {}), **_lift_settings(native, transcript), **_lift_tools(native, transcript, origin)}
    transcript.extras = extras_of(NAME, extras)
    return transcript


def _lower_request(transcript: Transcript, messages: list[Native]) -> Native:
    spelling = transcript.document_spelling(NAME)
    carried = carried_by(transcript.extras, NAME)
    native: Native = {} if transcript.model is None else {"model": transcript.model}
    native["messages"] = messages
    native |= _lower_tools(transcript)
    native |= _lower_settings(transcript.settings or {})
    native = {key: native[key] for key in REQUEST.sorted(native)}
    return REQUEST.put(native, carried, spelling.get("request"))


# ---------------------------------------------------------------- tools and settings


def _lift_tools(native: Native, transcript: Transcript, origin: Origin) -> Native:
    """Set the tools, which are strict together or not at all."""
    if native.get("tools") is not None:
        transcript.tools = [_lift_tool(tool, origin, ("tools", i)) for i, tool in enumerate(native["tools"])]
    strict = native.get("strict_tools")
    if strict is None or not transcript.tools:
        return {} if strict is None else {"strict_tools": strict}
    for tool in transcript.tools:
        tool.strict = strict
    return {}


def _lift_tool(native: Native, origin: Origin, path: Path) -> ToolDefinition:
    """A tool; a key strict of its function means nothing here, and is carried."""
    tool = common.lift_tool(native, NAME, origin, path)
    if tool.strict is not None:
        carried = carried_by(tool.extras, NAME)
        function = {**carried.get("function", {}), "strict": tool.strict}
        tool.strict, tool.extras = None, extras_of(NAME, {**carried, "function": function})
    return tool


def _lower_tools(transcript: Transcript) -> Native:
    native = common.lower_tools(transcript, NAME, strict=False)
    strict = {tool.strict for tool in transcript.tools or () if is_own(transcript) or not is_foreign_builtin(tool)}
    if native and strict in ({True}, {False}):
        native["strict_tools"] = strict.pop()
    choice = transcript.tool_choice
    if choice is not None and choice != "auto" and (native or is_own(transcript)):
        native["tool_choice"] = "NONE" if choice == "none" else "REQUIRED"
    return native


def _lift_settings(native: Native, transcript: Transcript) -> Native:
    """Set the settings; what the intermediate format cannot say of them is carried."""
    settings = {ours: native[theirs] for theirs, ours in SETTINGS.items() if native.get(theirs) not in (None, [])}
    given = {key: native[key] for key in ("response_format", "thinking") if native.get(key)}
    format_ = given.get("response_format", {})
    if format_.get("type") == "json_object" and format_.get("json_schema"):
        settings["responseFormat"] = {"type": "json_schema", "schema": format_["json_schema"]}
    elif format_.get("type") in ("json_object", "text"):
        settings["responseFormat"] = {"type": "json" if format_["type"] == "json_object" else "text"}
    if given.get("thinking", {}).get("type") == "disabled":
        settings["reasoningEffort"] = "none"
    transcript.settings = settings or None
    written = _lower_settings(settings)
    return {key: value for key, value in given.items() if not exact_json.exact(written.get(key), value)}


def _lower_settings(settings: Native) -> Native:
    native: Native = {theirs: settings[ours] for theirs, ours in SETTINGS.items() if ours in settings}
    form = settings.get("responseFormat") or {}
    if form.get("type") in ("json", "json_schema"):
        schema = form.get("schema")
        native["response_format"] = {"type": "json_object", **({"json_schema": schema} if schema else {})}
    elif form.get("type") == "text":
        native["response_format"] = {"type": "text"}
    if settings.get("reasoningEffort") == "none":
        native["thinking"] = {"type": "disabled"}
    return native


# ---------------------------------------------------------------- response


def _lift_response(native: Native, origin: Origin) -> Transcript:
    carried, spelling = RESPONSE.take(native)
    origin.document = {"form": "response", **({"response": spelling} if spelling else {})}
    pairing = Pairing(native)
    origin.invented = pairing.invented
    message, spots = lift_message(native["message"], pairing, origin, listed=True)
    origin.places.append((("message",), spots))
    transcript = Transcript([message], id=native.get("id"), origin=origin)
    extras = dict(carried or {})
    finish: str | None = native.get("finish_reason")
    if finish:
        stop: str = FINISH.get(finish, finish)
        message.stop_reason = stop
        if FINISH_OF.get(stop, finish) != finish:
            extras["finish_reason"] = finish
    if native.get("usage"):
        usage, rest = take_counts(_whole(native["usage"]), COUNTS)
        message.usage = usage or None
        extras |= {"usage": rest} if rest else {}
        origin.document["usage"] = native["usage"]
    transcript.extras = extras_of(NAME, extras)
    return transcript


def _lower_response(transcript: Transcript) -> Native:
    spelling = transcript.document_spelling(NAME)
    spellings, own = transcript.spelling(NAME), is_own(transcript)
    answers = [message for message in active(transcript) if own or message.role == "assistant"]
    message = answers[-1] if answers else Message("assistant", [])
    carried = dict(carried_by(transcript.extras, NAME))
    native: Native = {} if transcript.id is None else {"id": transcript.id}
    if message.stop_reason is not None:
        native["finish_reason"] = FINISH_OF.get(message.stop_reason, message.stop_reason if own else "COMPLETE")
    native["message"] = lower_message(message, spellings, own, listed=True)
    usage = _lower_usage(message.usage or {}, carried.pop("usage", {}), spelling.get("usage"))
    if usage:
        native["usage"] = usage
    return RESPONSE.put(native, carried, spelling.get("response"))


def _lower_usage(usage: dict[str, int], rest: Native, written: Native | None) -> Native:
    """The usage, as its source wrote it where that still says the same."""
    if written is not None and take_counts(_whole(written), COUNTS) == (usage, rest):
        return written
    return put_counts(usage, rest, COUNTS)


def _whole(value: Any) -> Any:
    """Counts as integers, where they are whole: the SDK writes 17.0."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


RULES = (
    when_sent(answers.complete("id", "finish_reason")),
    when_sent(turns.some_message()),
    turns.not_empty(("user", "assistant", "system")),
    turns.not_blank(),
    turns.system_first(),
    turns.parts_in_roles({"tool_call": ("assistant",)}),
    links.results_identified("tool_call_id"),
    links.paired(links.Manner(where="later", unique="request", missing="warning")),
    names.of_tools(NAMES),
    arguments.readable(),
    arguments.not_filled(),
    telling(tools.chosen(), "tool-choice-without-tools"),
    tools.unique("warning"),
    tools.schemas(tools.Shape(bare=True)),
)

DIALECT = Dialect(
    name=NAME,
    title="Cohere",
    specification="API reference of v2 chat; Python SDK cohere 7.3.1; read 2026-11-20",
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
                "error": ("encoded", 'a result has no field for a failure: written as the document {"error": …}'),
                "data": ("changed", "only objects are documents: other data is written as JSON"),
                "multimodal": ("encoded", "a result is text or documents: the media follow in a user message"),
            },
        ),
    ),
    reasons={
        "message": "Cohere rejects an empty message",
        "message.role": "Cohere has no developer: the system says it",
        "message.name": "messages have no name",
        "message.error": "a message has no field for a failed turn",
        "message.id": "messages have no id",
        "message.parentId": "messages have no parent",
        "message.createdAt": "messages have no time",
        "message.model": "only a request names a model",
        "message.usage": "only a response has usage",
        "message.stopReason": "only a response has a finish reason, and Cohere has few",
        "text": "Cohere rejects an empty text",
        "reasoning.summary": "thinking has no summary",
        "refusal": "Cohere has no field for a refusal: the words are written as text",
        "metadata": "what another provider bound to the part means nothing to Cohere",
        "image": "Cohere takes images from users only, by URL",
        "audio": "Cohere takes images only",
        "video": "Cohere takes images only",
        "document": "Cohere takes images only",
        "model": "only a request names a model",
        "createdAt": "a response has no time",
        "settings.reasoningEffort": "Cohere thinks or does not; it knows no levels",
        "settings.responseFormat": "Cohere takes JSON or the schema alone",
        "settings.parallelToolCalls": "Cohere has no such setting",
        "toolChoice": "Cohere can require or forbid tools; it is auto by default, and no tool can be named",
        "tool.strict": "strictness holds for all tools or none",
        "tool.parameters": "Cohere needs the schema of an object: an empty one stands for none",
        "tool.name": "a name has letters, digits and _, no digit first",
        "tool_call.name": "a name has letters, digits and _, no digit first",
        "tool_result.name": "a result names its call, not its tool",
        "tool_result.status": "a result has no status",
        "tool_result.isError": "a result has no field for a failure",
        "event": "no model ever saw this row",
    },
    places={
        "message.stopReason": ("..", "finish_reason"),
        "message.usage": ("..", "usage"),
        **{f"message.usage.{ours}": ("..", "usage", *theirs) for theirs, ours in COUNTS.items()},
        **{f"settings.{ours}": (theirs,) for theirs, ours in SETTINGS.items()},
        "settings.responseFormat": ("response_format",),
        "settings.reasoningEffort": ("thinking",),
        "tool.name": ("function", "name"),
        "tool.parameters": ("function", "parameters"),
        "tool_call.id": ("id",),
        "tool_call.name": ("function", "name"),
        "tool_call.arguments": ("function", "arguments"),
        "tool_call.rawArguments": ("function", "arguments"),
        "tool_result.toolCallId": ("..", "tool_call_id"),
        "toolChoice": ("tool_choice",),
    },
    envelope=frozenset(("usage", "logprobs", "finish_reason")),
)
