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

from convcli.dialects.openai_chat.shortcut import PLAIN
from convcli.families.openai import request as common
from convcli.families.openai.calls import is_custom
from convcli.families.openai.messages import (
    express,
    is_own,
    lift_message,
    lift_messages,
    lower_message,
    lower_messages,
)
from convcli.families.openai.parts import IDS, NAME, NAMES
from convcli.families.openai.places import PLACES
from convcli.families.openai.response import Answers, lift_response, lower_response
from convcli.kit.fitting import is_response
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.renaming import renamed
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Origin, Transcript
from convcli.validation.rules import answers, arguments, links, names, tools, turns
from convcli.validation.survey import when_sent

ROLES = ("system", "developer", "user", "assistant", "tool", "function")

REQUEST = Keys(
    "model messages tools tool_choice functions function_call parallel_tool_calls temperature top_p "
    "max_completion_tokens max_tokens stop seed presence_penalty frequency_penalty reasoning_effort response_format "
    "stream"
)
ANSWERS = Answers(NAME, lift_message, lower_message, common.FINISH, common.FINISH_OF, common.USAGE)


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
    said = any("content" in message for message in messages)
    if said and all(message.get("role") in ROLES and _plain(message.get("content")) for message in messages):
        return Clue(40, "messages with the roles and plain content of Chat Completions")
    if messages and all("role" in message and "content" in message for message in messages):
        return Clue(20, "messages with role and content")
    return Clue(10, "an empty list of messages") if messages == [] and isinstance(document, dict) else None


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
        return lift_response(document, origin, ANSWERS)
    return _lift_request(document, origin)


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only what a model answered."""
    transcript = transcript if is_own(transcript) else renamed(transcript, NAMES, IDS)
    form = (
        options.form
        or transcript.document_spelling(NAME).get("form")
        or ("response" if is_response(transcript) else "request")
    )
    if form == "response":
        return lower_response(transcript, ANSWERS)
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


RULES = (
    links.identified(),
    links.paired(links.Manner()),
    names.of_tools(NAMES),
    names.of_calls(IDS),
    arguments.as_text(),
    arguments.readable(free=is_custom),
    arguments.not_filled(),
    arguments.rows_not_filled("tool_calls", "function_call"),
    turns.content_not_null(),
    turns.parts_in_roles(
        {"image": ("user",), "document": ("user",), "audio": ("user", "assistant"), "tool_call": ("assistant",)}
    ),
    turns.files_as_urls(),
    turns.participants("<|\\/>"),
    when_sent(turns.some_message()),
    when_sent(turns.lists_not_empty("content", "tool_calls")),
    turns.stopped_for_calls(),
    when_sent(answers.complete("id", "object", "created", "model")),
    tools.chosen(),
    tools.unique("warning"),
    tools.not_more_than(128),
    tools.schemas(tools.Shape(items=True, closed=True)),
    tools.closed_response("json_schema", "schema"),
)

DIALECT = Dialect(
    name=NAME,
    title="OpenAI Chat Completions",
    specification="Chat Completions API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    plain=PLAIN,
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
        "tool.name": "names are letters, digits, _ and -, at most 64",
        "tool_call.name": "names are letters, digits, _ and -, at most 64",
        "tool_call.id": "ids have at most 40 characters",
        "tool_result.toolCallId": "ids have at most 40 characters",
        "tool_result.status": "a tool message has no status",
        "tool_result.isError": "a tool message has no field for a failure",
        "video": "Chat Completions takes no video",
        "event": "no model ever saw this row",
    },
    places=PLACES,
    envelope=frozenset(("object", "system_fingerprint", "service_tier", "choice", "created", "usage", "logprobs")),
)
