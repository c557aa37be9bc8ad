"""Google's Agent Development Kit: a session with its events, whose contents are those of the Gemini API.

Specification: google.adk.sessions.Session and google.adk.events.Event of google-adk 2.13; read 2026-11-22.

Quirks
- Keys are camelCase; in sessions of 2025 they are snake_case.
- `author` is the user or the name of an agent. An event without content records what an agent did.
- Times are seconds since 1970. Digits beyond milliseconds become an extra.
- Calls may have no id. Results are then paired with them by name.
- The results of one turn are in one event. System instructions and tools are in the agent's program.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from convcli.families.google import fitting, turns
from convcli.families.google.config import COUNTS, lift_usage, write_usage
from convcli.families.google.contents import adopt, lift_contents, write_contents
from convcli.families.google.keys import Service, Shape, Writer, names
from convcli.families.google.places import CONVENTIONS, LOSSES, OF_CALLS, OF_PARTS
from convcli.kit import custom, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import settle_by_reading_back
from convcli.kit.ids import set_session_id
from convcli.kit.objects import Native, get_extras, make_extras, omit, without_nulls
from convcli.kit.sessions import (
    add_event,
    keep_active_branch,
    keep_own_events,
    put_results_before_events,
    row_of_event,
    set_models_of_answers,
)
from convcli.kit.supported import TURNS, counted, fields
from convcli.kit.values import milliseconds_of_time, paths, time_of_milliseconds, usage_places
from convcli.model.branches import INSTRUCTIONS
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Message, Transcript
from convcli.validation.rules import links
from convcli.validation.rules import turns as turn_rules

NAME = "google-adk"
USER, AGENT = "user", "model"
"""The default authors."""
DEFAULTS = {"appName": "convcli", "userId": "user"}
"""The default owner of a session."""
SERVICE = Service(NAME, NAME, "models/", names(64))
_EXTRA_KEYS = (
    "invocationId branch actions partial turnComplete interrupted finishReason longRunningToolIds errorCode "
    "errorMessage groundingMetadata customMetadata"
)
EVENT = Shape(
    "event",
    f"id author timestamp content usageMetadata modelVersion {_EXTRA_KEYS}",
    extra=f"id author timestamp content usageMetadata modelVersion {_EXTRA_KEYS}",
)
SESSION = Shape(
    "session", "id appName userId state events lastUpdateTime", extra="id appName userId state lastUpdateTime"
)


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    for i, event in enumerate(document["events"]):
        _lift_event(event, i, context)
    adopt(context)
    transcript = context.transcript()
    _, extra = SESSION.read(document, context.origin)
    transcript.id = _take_string(extra, "id")
    transcript.updated_at = _take_time(extra, "lastUpdateTime")
    transcript.extras = make_extras(NAME, {key: value for key, value in extra.items() if DEFAULTS.get(key) != value})
    return transcript


def _take_string(extra: Native, key: str) -> str | None:
    """Removes and returns a non-empty string; any other value stays."""
    value = extra.get(key)
    if not isinstance(value, str) or not value:
        return None
    del extra[key]
    return value


def _take_time(extra: Native, key: str) -> str | None:
    """Returns a time, and removes it unless it has digits beyond milliseconds."""
    seconds = extra.get(key)
    if isinstance(seconds, (bool, str)) or seconds is None:
        return None
    text = time_of_milliseconds(round(float(seconds) * 1000)) if isfinite(seconds) else None
    if text is not None and _seconds(text) == seconds:
        del extra[key]
    return text


def _seconds(time: str | None) -> int | float | None:
    """Returns a time in seconds since 1970; whole seconds are an integer."""
    milliseconds = milliseconds_of_time(time)
    if milliseconds is None:
        return None
    return milliseconds // 1000 if milliseconds % 1000 == 0 else milliseconds / 1000


def _lift_event(event: Native, i: int, context: LiftContext) -> None:
    native, extra = EVENT.read(event, context.origin)
    content = native.get("content")
    if not isinstance(content, dict) or not content.get("parts"):
        add_event(context, event, ("events", i))
        return
    start = len(context.messages)
    lift_contents(content, ("events", i, "content"), context)
    message = context.messages[start]
    extra = omit(extra, "content")
    message.id, message.created_at = _take_string(extra, "id"), _take_time(extra, "timestamp")
    _lift_facts(message, extra)
    extras = {**get_extras(message.extras, NAME), **({"event": extra} if extra else {})}
    message.extras = make_extras(NAME, extras)


def _lift_facts(message: Message, extra: Native) -> None:
    """Lifts author, model and token counts of an event."""
    author = extra.get("author")
    if author == USER and message.role == "user":
        del extra["author"]
    elif isinstance(author, str) and message.role == "assistant":
        name = _take_string(extra, "author")
        message.name = name if name != AGENT else None
    elif author == AGENT and message.role == "tool":
        del extra["author"]
    message.model = _take_string(extra, "modelVersion") if message.role == "assistant" else None
    usage, rest = lift_usage(extra.pop("usageMetadata", None) or {})
    message.usage = usage or None
    extra |= {"usageMetadata": rest} if rest else {}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the session with its events."""
    writer = Writer(SERVICE)
    events = [_write_event(group, writer) for group in _groups(transcript.messages)]
    updated = _seconds(transcript.updated_at)
    native: Native = {**DEFAULTS, "id": transcript.id, "events": events}
    return SESSION.put(
        native if updated is None else {**native, "lastUpdateTime": updated}, writer.extra(transcript.extras)
    )


def _groups(messages: list[Message]) -> list[list[Message]]:
    """Groups messages by event: a message without fields of its own joins the tool result before it."""
    groups: list[list[Message]] = []
    for message in messages:
        is_bare = message == Message(message.role, message.parts) and message.role in ("tool", "user")
        if is_bare and groups and groups[-1][-1].role == "tool":
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _write_event(group: list[Message], writer: Writer) -> Any:
    first = group[0]
    if first.role == "event":
        return row_of_event(first, NAME)
    contents = write_contents(group, writer)
    content = {**contents[0], "parts": [part for one in contents for part in one["parts"]]}
    extra = dict(writer.extra(first.extras, "event"))
    author = USER if first.role == USER else first.name or AGENT
    native: Native = {"id": first.id, "author": author, "timestamp": _seconds(first.created_at), "invocationId": ""}
    native |= {"content": content, "modelVersion": first.model}
    usage = write_usage(first.usage or {}, extra.pop("usageMetadata", {}))
    native |= {"usageMetadata": usage} if usage else {}
    return EVENT.put(without_nulls(native), extra)


# ---------------------------------------------------------------- fit


def _drop_instructions(message: Message) -> Message | None:
    """Drops instructions (the program supplies its own) and empty messages."""
    return None if message.role in INSTRUCTIONS or not message.parts else message


FIT = (
    keep_active_branch,
    keep_own_events(NAME),
    fitting.without_blanks,
    custom.as_functions,
    results.separate_results,
    passes.on_each_message(turns.user_without_result),
    put_results_before_events,
    set_models_of_answers,
    fitting.expressible_parts,
    fitting.only_signed,
    passes.on_each_message(_drop_instructions),
    set_session_id(lambda transcript: [[one.role, one.created_at, len(one.parts)] for one in transcript.messages]),
    settle_by_reading_back(lift, write, "session"),
)

SUPPORTS = TURNS | OF_PARTS | counted(COUNTS)
SUPPORTS |= fields(
    "id updatedAt message.id message.name message.createdAt message.model tool_result.name tool_result.isError"
)

DIALECT = Dialect(
    name=NAME,
    title="Google ADK",
    aliases=("adk",),
    specification="sessions of google-adk 2.13; read 2026-11-22",
    framings=("document", "records"),
    forms=("session",),
    lift=lift,
    write=write,
    fit=FIT,
    supports=SUPPORTS,
    conventions=CONVENTIONS,
    reasons={
        **LOSSES,
        **sessions.NOTHING_SENT,
        "message": "Google ADK sessions do not store instructions: they are in the agent's program",
        "message.role": "Google ADK sessions do not store instructions: they are in the agent's program",
        "model": "Google ADK names the model on each answer",
        "message.model": "only answers name their model in Google ADK",
        "message.name": "only answers have an agent name in Google ADK",
    },
    rules=(links.paired(links.PairingRules(where="later", missing=None)), turn_rules.decodable()),
    repeats=frozenset(f"/events/*/{usage}/candidatesTokenCount" for usage in ("usageMetadata", "usage_metadata")),
    places=paths(
        "updatedAt=lastUpdateTime extras.event=.. message.id=../id message.createdAt=../timestamp "
        "message.name=../author "
        "message.model=../modelVersion"
    )
    | usage_places(COUNTS, "..", "usageMetadata")
    | OF_CALLS,
    envelope=frozenset(("event", "appName", "userId")),
)
