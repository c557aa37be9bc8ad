"""Google's Agent Development Kit: a session with its events, whose contents are those of the Gemini API.

Specification: google.adk.sessions.Session and google.adk.events.Event of google-adk 2.13; read 2026-11-22.

Quirks
- Keys are in camel case, and in sessions of 2025 in snake case.
- `author` is the user or the name of an agent. An event without a content says what an agent did.
- Times are seconds since 1970; what they say beyond milliseconds is carried.
- Calls may have no id: results are paired with them by name.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google.config import lift_usage
from convcli.families.google.contents import adopt, lift_contents
from convcli.families.google.keys import Shape
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, carried_by, extras_of
from convcli.kit.sessions import add_event
from convcli.kit.values import paths, time_of_milliseconds
from convcli.model.dialect import Clue, Dialect
from convcli.model.transcript import Message, Transcript
from convcli.validation.rules import links, turns

NAME = "google-adk"
USER = "user"
_ASIDE = (
    "invocationId branch actions partial turnComplete interrupted finishReason longRunningToolIds errorCode "
    "errorMessage groundingMetadata customMetadata"
)
EVENT = Shape(
    "event",
    f"id author timestamp content usageMetadata modelVersion {_ASIDE}",
    carried=f"id author timestamp content usageMetadata modelVersion {_ASIDE}",
)
SESSION = Shape(
    "session", "id appName userId state events lastUpdateTime", carried="id appName userId state lastUpdateTime"
)


def detect(document: Any) -> Clue | None:
    """By events with an author and an invocation."""
    events = document.get("events") if isinstance(document, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        return None
    known = any(
        "author" in event and not event.keys().isdisjoint(("invocationId", "invocation_id")) for event in events
    )
    return Clue(98, "events with an author and an invocation") if known else None


def lift(document: Any) -> Transcript:
    """The transcript of a session."""
    context = LiftContext(NAME, document)
    for i, event in enumerate(document["events"]):
        _lift_event(event, i, context)
    adopt(context)
    transcript = context.transcript()
    _, carried = SESSION.read(document, context.origin)
    transcript.id = _taken(carried, "id")
    transcript.updated_at = _taken_time(carried, "lastUpdateTime")
    transcript.extras = extras_of(NAME, carried)
    return transcript


def _taken(carried: Native, key: str) -> str | None:
    """A text, which is then taken out; what is none stays."""
    value = carried.get(key)
    if not isinstance(value, str) or not value:
        return None
    del carried[key]
    return value


def _taken_time(carried: Native, key: str) -> str | None:
    """A time; what it says beyond milliseconds stays."""
    seconds = carried.get(key)
    if isinstance(seconds, (bool, str)) or seconds is None:
        return None
    text = time_of_milliseconds(round(float(seconds) * 1000))
    if text is not None and isinstance(seconds, int):
        del carried[key]
    return text


def _lift_event(event: Native, i: int, context: LiftContext) -> None:
    native, carried = EVENT.read(event, context.origin)
    content = native.get("content")
    if not isinstance(content, dict) or not content.get("parts"):
        add_event(context, event, ("events", i))
        return
    start = len(context.messages)
    lift_contents(content, ("events", i, "content"), context)
    message = context.messages[start]
    carried = {key: value for key, value in carried.items() if key != "content"}
    message.id, message.created_at = _taken(carried, "id"), _taken_time(carried, "timestamp")
    _lift_facts(message, carried)
    beside = {**carried_by(message.extras, NAME), **({"event": carried} if carried else {})}
    message.extras = extras_of(NAME, beside)


def _lift_facts(message: Message, carried: Native) -> None:
    """Who spoke, with which model, and how many tokens it took."""
    author = carried.get("author")
    if author == USER and message.role == "user":
        del carried["author"]
    elif isinstance(author, str) and message.role == "assistant":
        message.name = _taken(carried, "author")
    message.model = _taken(carried, "modelVersion") if message.role == "assistant" else None
    usage, rest = lift_usage(carried.pop("usageMetadata", None) or {})
    message.usage = usage or None
    carried |= {"usageMetadata": rest} if rest else {}


DIALECT = Dialect(
    name=NAME,
    title="Google ADK",
    aliases=("adk",),
    specification="sessions of google-adk 2.13; read 2026-11-22",
    framings=("document", "records"),
    forms=("session",),
    detect=detect,
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), turns.decodable()),
    repeats=frozenset(f"/events/*/{usage}/candidatesTokenCount" for usage in ("usageMetadata", "usage_metadata")),
    places=paths(
        "updatedAt=lastUpdateTime extras.event=.. message.id=../id message.createdAt=../timestamp "
        "message.name=../author "
        "message.model=../modelVersion message.usage=../usageMetadata "
        "message.usage.inputTokens=../usageMetadata/promptTokenCount "
        "message.usage.outputTokens=../usageMetadata/candidatesTokenCount "
        "message.usage.reasoningTokens=../usageMetadata/thoughtsTokenCount "
        "message.usage.cacheReadTokens=../usageMetadata/cachedContentTokenCount "
        "message.usage.totalTokens=../usageMetadata/totalTokenCount "
        "tool_call.id=functionCall/id tool_call.name=functionCall/name tool_call.arguments=functionCall/args "
        "tool_result.toolCallId=functionResponse/id tool_result.name=functionResponse/name "
        "tool_result.value=functionResponse/response tool_result.kind=functionResponse/response"
    ),
    envelope=frozenset(("event", "appName", "userId")),
)
