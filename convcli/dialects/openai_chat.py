"""OpenAI Chat Completions: requests, responses and bare lists of messages.

Specification: the API reference of Chat Completions, as typed by the Python SDK `openai` 3.51.0; read 2026-11-20.

Quirks
- `arguments` is JSON in a string, and models write broken JSON.
- A tool message holds text only and has no field for a failure: an error is written as `{"error": …}`, and media of
  a result follow in a user message behind all results of the turn.
- Text stands before the calls of the same message; the API has no other order.
- The API itself takes no reasoning back; compatible servers use `reasoning_content` or `reasoning`.
- Several choices of one response are siblings: a tree of which the first is the head.
- Fine-tuning files are JSONL of requests without a model.
"""

from __future__ import annotations

from typing import Any

from convcli.dialect import Clue, Convention, Dialect, Options
from convcli.dialects import _openai as common
from convcli.dialects._openai_messages import (
    NAME,
    express,
    is_own,
    lift_message,
    lift_messages,
    lower_message,
    lower_messages,
)
from convcli.fields import Keys, Native, Spelling, carried_by, epoch_of_time, extras_of, is_response, time_of_epoch
from convcli.pairing import Pairing
from convcli.transcript import Message, Origin, Transcript

ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "function"))

REQUEST = Keys(
    "model messages tools tool_choice functions function_call parallel_tool_calls temperature top_p "
    "max_completion_tokens max_tokens stop seed presence_penalty frequency_penalty reasoning_effort response_format stream"
)
RESPONSE = Keys(
    "id object created model choices usage service_tier system_fingerprint", carried="service_tier system_fingerprint"
)
CHOICE = Keys("index message logprobs finish_reason", carried="logprobs")


def detect(document: Any) -> Clue | None:
    """By `tool_calls`, `choices[].message`, roles of its own, or the shapes of its content parts."""
    if isinstance(document, dict):
        choices = document.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict) and "message" in choices[0]:
            return Clue(95, "choices with a message")
        messages = document.get("messages")
    else:
        messages = document
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    marks = {mark for message in messages for mark in _marks(message)}
    if marks:
        return Clue(90, sorted(marks)[0])
    if messages and all(message.get("role") in ROLES and _plain(message.get("content")) for message in messages):
        return Clue(40, "messages with the roles and plain content of Chat Completions")
    return None


def _marks(message: Native) -> list[str]:
    calls = message.get("tool_calls")
    found = []
    if isinstance(calls, list) and any(isinstance(call, dict) and "function" in call for call in calls):
        found.append("messages with tool_calls that hold a function")
    if message.get("role") == "tool" and "tool_call_id" in message and "content" in message:
        found.append("tool messages with tool_call_id")
    content = message.get("content")
    if isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") in ("image_url", "input_audio", "file", "refusal")
        for part in content
    ):
        found.append("content parts of Chat Completions")
    return found


def _plain(content: Any) -> bool:
    return (
        content is None
        or isinstance(content, str)
        or (
            isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content)
        )
    )


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of messages."""
    origin = Origin(NAME, spot=("content",))
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return Transcript(lift_messages(document, (), document, origin), origin=origin)
    if "choices" in document:
        return _lift_response(document, origin)
    return _lift_request(document, origin)


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only what a model answered."""
    form = (
        options.form
        or transcript.document_spelling(NAME).get("form")
        or ("response" if is_response(transcript) else "request")
    )
    if form == "response":
        return _lower_response(transcript)
    messages = lower_messages(transcript)
    return messages if form == "list" else _lower_request(transcript, messages)


def _lift_request(native: Native, origin: Origin) -> Transcript:
    carried, spelling = REQUEST.take(native)
    origin.document = {"form": "request", **({"request": spelling} if spelling else {})}
    transcript = Transcript(lift_messages(native["messages"], ("messages",), native, origin), origin=origin)
    transcript.model = native.get("model")
    extras = {**(carried or {}), **common.lift_settings(native, transcript), **common.lift_choices(native, transcript)}
    transcript.tools = common.lift_tools(native, NAME, origin)
    transcript.extras = extras_of(NAME, extras)
    return transcript


def _lower_request(transcript: Transcript, messages: list[Native]) -> Native:
    spelling = transcript.document_spelling(NAME)
    carried = carried_by(transcript.extras, NAME)
    native: Native = {} if transcript.model is None else {"model": transcript.model}
    native["messages"] = messages
    native |= common.lower_tools(transcript, NAME)
    native |= common.lower_choices(transcript, carried)
    native |= common.lower_settings(transcript.settings or {}, spelling, carried)
    return REQUEST.put(native, carried, spelling.get("request"))


def _lift_response(native: Native, origin: Origin) -> Transcript:
    carried, spelling = RESPONSE.take(native)
    origin.document = {"form": "response", **({"response": spelling} if spelling else {})}
    pairing = Pairing(native)
    origin.invented = pairing.invented
    transcript = Transcript(
        [_lift_choice(choice, i, pairing, origin) for i, choice in enumerate(native["choices"])], origin=origin
    )
    extras = dict(carried or {})
    transcript.id = native.get("id")
    transcript.model = native.get("model")
    _lift_created(native, transcript, extras)
    _lift_object(native, origin, extras)
    _name_siblings(transcript)
    if transcript.messages and native.get("usage"):
        common.lift_usage(native["usage"], transcript.messages[0], NAME, origin)
    elif native.get("usage"):
        extras["usage"] = native["usage"]
    transcript.extras = extras_of(NAME, extras)
    return transcript


def _lower_response(transcript: Transcript) -> Native:
    spelling = transcript.document_spelling(NAME)
    spellings = transcript.spelling(NAME)
    native: Native = {} if transcript.id is None else {"id": transcript.id}
    if spelling.get("object", True):
        native["object"] = "chat.completion"
    created = None if transcript.created_at is None else epoch_of_time(transcript.created_at)
    if created is not None:
        native["created"] = created
    if transcript.model is not None:
        native["model"] = transcript.model
    answers = [message for message in transcript.messages if message.role == "assistant"]
    native["choices"] = [_lower_choice(message, i, spellings, transcript) for i, message in enumerate(answers)]
    usage = next((message for message in answers if message.usage or _carried_usage(message)), None)
    if usage is not None:
        native["usage"] = common.lower_usage(usage, NAME, spellings)
    return RESPONSE.put(native, carried_by(transcript.extras, NAME), spelling.get("response"))


def _carried_usage(message: Message) -> Any:
    return carried_by(message.extras, NAME).get("usage")


def _lift_created(native: Native, transcript: Transcript, extras: Native) -> None:
    created = native.get("created")
    if created is None:
        return
    text = time_of_epoch(created) if isinstance(created, int) else None
    if text is None:
        extras["created"] = created
    else:
        transcript.created_at = text


def _lift_object(native: Native, origin: Origin, extras: Native) -> None:
    if native.get("object") is None:
        origin.document["object"] = False
    elif native["object"] != "chat.completion":
        extras["object"] = native["object"]


def _name_siblings(transcript: Transcript) -> None:
    """Several choices are alternatives: siblings of a tree, of which the first is the head."""
    if len(transcript.messages) < 2:
        return
    for i, message in enumerate(transcript.messages):
        message.id = f"choice_{i + 1}"
    transcript.head = "choice_1"


def _lift_choice(native: Native, index: int, pairing: Pairing, origin: Origin) -> Message:
    carried, spelling = CHOICE.take(native)
    message, spots = lift_message(native["message"], pairing, origin)
    origin.places.append((("choices", index, "message"), spots))
    extras = dict(carried or {})
    odd: Spelling = {} if "index" in native else {"index": False}
    if native.get("index", index) != index:
        extras["index"] = native["index"]
    finish = native.get("finish_reason")
    message.stop_reason = common.FINISH.get(finish, finish) if finish else None
    if extras:
        message.extras = extras_of(NAME, {**carried_by(message.extras, NAME), "choice": extras})
    if spelling or odd:
        origin.spell(message, {**origin.spellings.get(id(message), {}), "choice": {**(spelling or {}), **odd}})
    return message


def _lower_choice(message: Message, index: int, spellings: dict[int, Spelling], transcript: Transcript) -> Native:
    spelling = spellings.get(id(message), {}).get("choice", {})
    native: Native = {"index": index} if spelling.get("index", True) else {}
    native["message"] = lower_message(message, spellings, own=is_own(transcript))
    if message.stop_reason is not None:
        native["finish_reason"] = common.FINISH_OF.get(
            message.stop_reason, "stop" if not spellings else message.stop_reason
        )
    return CHOICE.put(native, carried_by(message.extras, NAME).get("choice"), spelling)


DIALECT = Dialect(
    name=NAME,
    title="OpenAI Chat Completions",
    specification="Chat Completions API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    lower=lower,
    conventions=(
        Convention(
            express,
            {
                "error": ("encoded", 'a tool message has no field for a failure: written as {"error": …}'),
                "data": ("changed", "a tool message holds text: the data is written as JSON"),
                "multimodal": ("encoded", "a tool message holds text only: the media follow in a user message"),
            },
        ),
    ),
    reasons={
        "reasoning": "Chat Completions takes no reasoning back",
        "message.error": "a message has no field for a failed turn",
        "message.id": "messages have no id",
        "message.parentId": "messages have no parent",
        "message.createdAt": "messages have no time",
        "message.model": "messages have no model of their own",
        "message.usage": "only a response has usage",
        "message.stopReason": "only a response has a finish reason",
        "settings.topK": "Chat Completions has no top_k",
        "tool_result.status": "a tool message has no status",
        "tool_result.isError": "a tool message has no field for a failure",
        "video": "Chat Completions takes no video",
        "event": "no model ever saw this row",
    },
    places={
        "message.stopReason": ("..", "finish_reason"),
        "message.usage": ("..", "..", "..", "usage"),
        "extras.choice": ("..",),
        "tool_call.name": ("function", "name"),
        "tool_call.arguments": ("function", "arguments"),
        "tool_call.rawArguments": ("function", "arguments"),
        "tool_result.value": ("content",),
        "tool_result.toolCallId": ("tool_call_id",),
    },
    envelope=frozenset(("object", "system_fingerprint", "service_tier", "choice", "created", "usage", "logprobs")),
)
