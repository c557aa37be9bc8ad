"""Mistral chat completions: requests, responses and bare lists of messages.

Specification: the API reference of chat completions, as typed by the Python SDK `mistralai` 3.7.0; read 2026-11-20.

Quirks
- A relative of Chat Completions: what differs is listed here.
- Ids of calls have exactly 9 letters or digits up to tokenizer v11: other ids are rewritten. The SDK says `"null"` for
  a call without an id.
- `arguments` is JSON in a string or the object itself.
- Content is made of chunks. The types allow pictures in results too; the validator of `mistral_common` 1.13 does not.
- Thinking is a chunk; its pieces may be references. A picture is a URL or an object with one; audio is base64, a data
  URL or a URL.
- A system message stands at the top or beside one of a user, not behind an answer or a result.
- Chunks that point at sources (reference, tool_reference, resource …) are kept as they are.
- `tool_choice` has two words for one thing: `any` and `required`. One of several named tools cannot be asked for.
- Every function needs `parameters`. The last message is of a user or a tool, or has `prefix`.
- The reason `model_length` is read as `length`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from convcli.dialects.mistral.chunks import NAME
from convcli.dialects.mistral.messages import (
    express,
    is_own,
    lift_message,
    lift_messages,
    lower_message,
    lower_messages,
)
from convcli.families.openai import request as common
from convcli.families.openai.response import Answers, lift_response, lower_response
from convcli.kit.fitting import is_response
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.renaming import DIGITS, LETTERS, Alphabet, identifiers, renamed
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Origin, ToolChoice, Transcript
from convcli.validation.rules import answers, arguments, links, names, tools, turns
from convcli.validation.survey import when_sent
from convcli.wire import exact_json

REQUEST = Keys(
    "model messages tools tool_choice parallel_tool_calls temperature top_p top_k max_tokens stop random_seed "
    "presence_penalty frequency_penalty reasoning_effort response_format stream"
)
SETTINGS = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "random_seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "parallel_tool_calls": "parallelToolCalls",
    "reasoning_effort": "reasoningEffort",
    "stream": "stream",
}
LIMITS = ("max_tokens",)
NAMES, IDS = identifiers(64), Alphabet("letters and digits", LETTERS + DIGITS, 9, least=9)
EFFORTS = frozenset(("none", "minimal", "low", "medium", "high", "xhigh", "max"))

FINISH = {"model_length": "length"}
FINISH_OF = {name: name for name in ("stop", "length", "tool_calls", "error")} | {"aborted": "error"}
USAGE: common.Counts = {
    ("prompt_tokens",): "inputTokens",
    ("completion_tokens",): "outputTokens",
    ("total_tokens",): "totalTokens",
}
ANSWERS = Answers(NAME, lift_message, lower_message, FINISH, FINISH_OF, USAGE)

OWN_SETTINGS = ("random_seed", "safe_prompt", "prompt_mode", "guardrails")
OWN_CHUNKS = ("document_url", "reference", "tool_reference")
FOREIGN_KEYS = ("reasoning_content", "reasoning", "refusal", "function_call", "annotations", "audio", "tool_plan")
ID = re.compile("[a-zA-Z0-9]{9}")
MODEL = re.compile("(open-)?(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)-[^:/]*")


def detect(document: Any) -> Clue | None:
    """By keys, chunks and ids that only Mistral has, where no message has a key that Mistral lacks."""
    messages = _messages(document)
    if messages is None or any(key in message for message in messages for key in FOREIGN_KEYS):
        return None
    request = document if isinstance(document, dict) else {}
    mark = next(_marks(request, messages), None)
    if mark is not None:
        return Clue(96, mark)
    return Clue(60, "the tool choice any") if request.get("tool_choice") == "any" else None


def _messages(document: Any) -> list[Native] | None:
    """The messages of a request, a response or a list; None where it is none of these."""
    found = document
    if isinstance(document, dict):
        choices = document.get("choices")
        found = document.get("messages")
        if isinstance(choices, list):
            found = [choice.get("message") for choice in choices if isinstance(choice, dict)]
    if isinstance(found, list) and all(isinstance(message, dict) and "role" in message for message in found):
        return found
    return None


def _marks(document: Native, messages: list[Native]) -> Iterator[str]:
    yield from (f"the setting {key}" for key in OWN_SETTINGS if key in document)
    if any("prefix" in message for message in messages):
        yield "messages with prefix"
    if any(_is_own_chunk(chunk) for message in messages for chunk in _list(message.get("content"))):
        yield "content chunks of Mistral"
    ids = [call.get("id") for message in messages for call in _list(message.get("tool_calls"))]
    if ids and all(isinstance(id_, str) and ID.fullmatch(id_) for id_ in ids):
        yield "ids of 9 letters or digits"
    if isinstance(document.get("model"), str) and MODEL.fullmatch(document["model"]):
        yield "the name of the model"


def _list(value: Any) -> list[Native]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_own_chunk(chunk: Native) -> bool:
    kind = chunk.get("type")
    if kind == "thinking":
        return isinstance(chunk.get("thinking"), list)
    return kind in OWN_CHUNKS or (kind in ("image_url", "input_audio") and isinstance(chunk.get(kind), str))


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of messages."""
    origin = Origin(NAME, spot=("content",))
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return Transcript(lift_messages(document, (), document, origin), origin=origin)
    if "choices" in document:
        return lift_response(document, origin, ANSWERS)
    return _lift_request(document, origin)


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only what a model answered."""
    form = (
        options.form
        or transcript.document_spelling(NAME).get("form")
        or ("response" if is_response(transcript) else "request")
    )
    transcript = transcript if is_own(transcript) else _acceptable(transcript)
    if form == "response":
        return lower_response(transcript, ANSWERS)
    messages = lower_messages(transcript)
    return messages if form == "list" else _lower_request(transcript, messages)


def _acceptable(transcript: Transcript) -> Transcript:
    """The transcript with the names, ids, tool schemas and settings that the API takes."""
    return common.with_parameters(renamed(transcript, NAMES, IDS))


def _lift_request(native: Native, origin: Origin) -> Transcript:
    carried, spelling = REQUEST.take(native)
    origin.document = {"form": "request", **({"request": spelling} if spelling else {})}
    transcript = Transcript(lift_messages(native["messages"], ("messages",), native, origin), origin=origin)
    transcript.model = native.get("model")
    extras = {**(carried or {}), **common.lift_settings(native, transcript, SETTINGS, LIMITS)}
    if native.get("tools") is not None:
        tools = enumerate(native["tools"])
        transcript.tools = [common.lift_tool(tool, NAME, origin, ("tools", i)) for i, tool in tools]
    if native.get("tool_choice"):
        extras |= _lift_choice(native["tool_choice"], transcript, origin)
    transcript.extras = extras_of(NAME, extras)
    return transcript


def _lower_request(transcript: Transcript, messages: list[Native]) -> Native:
    spelling = transcript.document_spelling(NAME)
    carried = carried_by(transcript.extras, NAME)
    settings = dict(transcript.settings or {})
    if not is_own(transcript) and settings.get("reasoningEffort") not in EFFORTS:
        settings.pop("reasoningEffort", None)
    native: Native = {} if transcript.model is None else {"model": transcript.model}
    native["messages"] = messages
    native |= common.lower_tools(transcript, NAME)
    if transcript.tool_choice is not None and "tool_choice" not in carried:
        native["tool_choice"] = _lower_choice(transcript.tool_choice, spelling.get("tool_choice", "any"))
    native |= common.lower_settings(settings, spelling, carried, SETTINGS, LIMITS)
    return REQUEST.put(native, carried, spelling.get("request"))


def _lift_choice(native: Any, transcript: Transcript, origin: Origin) -> Native:
    """Set the tool choice; what the intermediate format cannot say of it is carried."""
    if native in ("any", "required"):
        transcript.tool_choice = "required"
        origin.document["tool_choice"] = native
        return {}
    transcript.tool_choice = native if isinstance(native, str) else {"name": native["function"]["name"]}
    return {} if exact_json.exact(_lower_choice(transcript.tool_choice, "any"), native) else {"tool_choice": native}


def _lower_choice(choice: ToolChoice, required: str) -> Any:
    if isinstance(choice, dict) and "name" in choice:
        return {"type": "function", "function": {"name": choice["name"]}}
    return choice if choice in ("auto", "none") else required


RULES = (
    when_sent(
        answers.complete(
            "id", "object", "created", "model", "usage.prompt_tokens", "usage.completion_tokens", "usage.total_tokens"
        )
    ),
    when_sent(turns.some_message()),
    when_sent(turns.ends_with_user()),
    when_sent(turns.answered_first()),
    when_sent(turns.system_not_behind("assistant", "tool")),
    turns.parts_in_roles({"tool_call": ("assistant",)}),
    links.results_identified("tool_call_id"),
    links.paired(links.Manner()),
    names.of_tools(NAMES),
    names.of_calls(IDS, "warning"),
    arguments.readable(),
    arguments.not_filled(),
    tools.chosen(alone=tools.EVERY),
    tools.unique("warning"),
    tools.schemas(tools.Shape(bare=True)),
)

DIALECT = Dialect(
    name=NAME,
    title="Mistral",
    specification="API reference of chat completions; Python SDK mistralai 3.7.0; read 2026-11-20",
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
                "multimodal": ("encoded", "the answer of a tool is text: the media follow in a user message"),
            },
        ),
    ),
    reasons={
        "message.role": "Mistral has no developer, and takes a system message only at the top or beside a user",
        "message.name": "only a tool message has a name",
        "message.error": "a message has no field for a failed turn",
        "message.id": "messages have no id",
        "message.parentId": "messages have no parent",
        "message.createdAt": "messages have no time",
        "message.model": "messages have no model of their own",
        "message.usage": "only a response has usage",
        "message.stopReason": "only a response has a finish reason, and Mistral has few",
        "reasoning.summary": "thinking has no summary",
        "refusal": "Mistral has no field for a refusal: the words are written as text",
        "metadata": "what another provider bound to the part means nothing to Mistral",
        "settings.reasoningEffort": "Mistral does not know this effort",
        "tool.parameters": "Mistral needs parameters: an empty object schema stands for none",
        "tool_call.id": "an id has exactly 9 letters or digits",
        "tool_result.toolCallId": "an id has exactly 9 letters or digits",
        "tool_call.name": "a name has up to 64 letters, digits, _ and -",
        "tool_result.name": "a name has up to 64 letters, digits, _ and -",
        "tool_result.status": "a tool message has no status",
        "tool_result.isError": "a tool message has no field for a failure",
        "toolChoice": "Mistral cannot ask for one of several named tools",
        "video": "Mistral takes no video",
        "event": "no model ever saw this row",
    },
    places={
        "message.stopReason": ("..", "finish_reason"),
        "message.usage": ("..", "..", "..", "usage"),
        **{f"message.usage.{ours}": ("..", "..", "..", "usage", *theirs) for theirs, ours in USAGE.items()},
        "extras.usage": ("..", "..", "..", "usage"),
        **{f"settings.{ours}": (theirs,) for theirs, ours in SETTINGS.items()},
        "settings.maxOutputTokens": ("max_tokens",),
        "settings.stop": ("stop",),
        "settings.responseFormat": ("response_format",),
        "extras.choice": ("..",),
        "tool.name": ("function", "name"),
        "tool.parameters": ("function", "parameters"),
        "tool_call.id": ("id",),
        "tool_call.name": ("function", "name"),
        "tool_call.arguments": ("function", "arguments"),
        "tool_call.rawArguments": ("function", "arguments"),
        "tool_result.toolCallId": ("..", "tool_call_id"),
        "toolChoice": ("tool_choice",),
    },
    envelope=frozenset(("object", "choice", "created", "usage", "logprobs", "index", "closed")),
)
