"""Passes that fit a transcript to pi and OpenClaw: a session of version 3, or a request."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.openclaw.blocks import NAME, REQUEST, RESULTS, SESSION, api_of, is_block
from convcli.dialects.openclaw.messages import STOP_OF, ZEROS, counted, is_bash, read_usage, write_usage
from convcli.dialects.openclaw.rows import TITLE, is_event, new_id, write_event, write_session
from convcli.kit import sessions
from convcli.kit.fitting import (
    keep_active_conversation,
    keep_functions,
    keep_last_definitions,
    keep_parts_of_roles,
    roles,
    without,
)
from convcli.kit.ids import chain_messages, set_session_id
from convcli.kit.objects import drop_extra_keys, drop_extras, get_extras, omit
from convcli.kit.passes import on_each_message, on_parts
from convcli.kit.results import apply_convention, only_own, results_behind_calls, separate_results, with_parts
from convcli.model.dialect import Pass
from convcli.model.transcript import Media, Message, Opaque, Part, ToolResult, Transcript

ANSWER_FIELDS = ("model", "stop_reason", "usage", "error", "cost", "provider")

# ---------------------------------------------------------------- messages and parts


def _keep_answer_fields(message: Message) -> Message:
    """Keeps model, usage and stop reason of answers only, and only the stop reasons and counts that pi writes."""
    if message.role != "assistant":
        stated = {name: None for name in ANSWER_FIELDS if getattr(message, name) is not None}
        return replace(message, **stated) if stated else message
    stop_reason, (counts, cost, _) = message.stop_reason, read_usage(write_usage(message))
    stop_reason, usage = stop_reason if stop_reason is None or stop_reason in STOP_OF else "stop", counts or None
    is_unchanged = (stop_reason, usage, cost) == (message.stop_reason, message.usage, message.cost)
    return message if is_unchanged else replace(message, stop_reason=stop_reason, usage=usage, cost=cost)


def _complete_summary(message: Message) -> Message:
    """Adds `tokensBefore` to a summary message: it has a row of its own kind."""
    message = sessions.summary(message)
    if message.replaces is None:
        return message
    extra = omit(get_extras(message.extras, NAME), "role", "row")
    row = omit(get_extras(message.extras, NAME).get("row") or {}, "type")
    own = {"tokensBefore": 0, **extra, **({"row": row} if row else {})}
    is_unchanged = own == get_extras(message.extras, NAME)
    return message if is_unchanged else replace(message, extras={**(message.extras or {}), NAME: own})


def _add_api(message: Message) -> Message:
    """Adds the API and provider that a message's signatures belong to."""
    extra = get_extras(message.extras, NAME)
    signed = None if message.role != "assistant" or "api" in extra else api_of(message)
    if signed is None:
        return message
    api, provider = signed
    extras = {**(message.extras or {}), NAME: {**extra, "api": api}}
    return replace(message, provider=message.provider or provider, extras=extras)


def _keep_blocks(form: str) -> Pass:
    """Keeps only images with data, blocks of OpenClaw's own, and commands in a session."""

    def keep_block(part: Part, message: Message) -> Part | None:
        if isinstance(part, Opaque) and message.role != "event":
            is_own = part.dialect == NAME and (is_block(part.value) or (form == SESSION and is_bash(part)))
            return part if is_own else None
        return with_parts(part, _keep_nested_image) if isinstance(part, ToolResult) else _keep_image(part)

    return on_parts(keep_block)


def _keep_image(part: Part) -> Part | None:
    if not isinstance(part, Media):
        return part
    if part.type != "image" or part.data is None:
        return None
    return part if part.media_type is not None else replace(part, media_type="image/png")


def _keep_nested_image(part: Part) -> Part | None:
    """Returns a part of a result without what an image block does not support."""
    stated = {"name": None, "detail": None} if isinstance(part, Media) else {}
    return _keep_image(only_own(part, NAME, **stated))


# ---------------------------------------------------------------- sessions


def _add_system_for_tools(transcript: Transcript) -> Transcript:
    """Adds a leading system message for the tools if there is none; an empty tool list alone is dropped."""
    first = next((message for message in transcript.messages if message.role != "event"), None)
    if transcript.tools is None:
        return on_each_message(_without_tools)(transcript)
    if first is not None and first.role == "system":
        return transcript
    if not transcript.tools:
        return replace(transcript, tools=None)
    return replace(transcript, messages=[Message("system", []), *transcript.messages])


def _without_tools(message: Message) -> Message:
    return drop_extras(message, NAME, "toolsAdded") if message.role == "system" else message


def _add_title_event(transcript: Transcript) -> Transcript:
    """Adds the title as an event: the last row of this type gives a session's title."""
    parts = [message.parts[0] for message in transcript.messages if message.role == "event" and message.parts]
    rows = [part.value for part in parts if isinstance(part, Opaque) and isinstance(part.value, dict)]
    titles = [None, *(row.get("name") or None for row in rows if row.get("type") == TITLE)]
    if transcript.title in (None, titles[-1]):
        return transcript
    event = Message("event", [Opaque(NAME, {"type": TITLE, "name": transcript.title})])
    return replace(transcript, messages=[event, *transcript.messages])


def _unless_old(*passes: Pass) -> Pass:
    """Skips these passes in sessions of version 1, which has no ids or parents, and its model in the header."""

    def apply_unless_old(transcript: Transcript) -> Transcript:
        is_old = (get_extras(transcript.extras, NAME).get("header") or {}).get("version") == 1
        for pass_ in () if is_old else passes:
            transcript = pass_(transcript)
        return transcript

    return apply_unless_old


def _states_time(record: Transcript | Message) -> bool:
    """True if the record's row has a numeric time."""
    part = record.parts[0] if isinstance(record, Message) and record.role == "event" and record.parts else None
    row = part.value if isinstance(part, Opaque) and part.dialect == NAME else None
    outer = row or get_extras(record.extras, NAME).get("row" if isinstance(record, Message) else "header")
    return record.created_at is None and isinstance(outer, dict) and isinstance(outer.get("timestamp"), (int, float))


def _move_extras_to_result(message: Message) -> Message:
    """Moves extras of a result's message to the result: its row has one place for other keys."""
    first = message.parts[0] if message.role == "tool" else None
    keys = [key for key in get_extras(message.extras, NAME) if key not in ("row", "timestamp")]
    if not isinstance(first, ToolResult) or not keys:
        return message
    extra = {key: get_extras(message.extras, NAME)[key] for key in keys} | get_extras(first.extras, NAME)
    result = replace(first, extras={**(first.extras or {}), NAME: extra})
    return replace(message, parts=[result], extras=drop_extra_keys(message.extras, NAME, *keys))


def _own_row(message: Message) -> Any:
    part = message.parts[0]
    return write_event(message) if isinstance(part, Opaque) and part.dialect == NAME else None


# ---------------------------------------------------------------- what only one of the forms has


def _keep_header(transcript: Transcript) -> Transcript:
    return drop_extras(transcript, NAME, *get_extras(transcript.extras, NAME).keys() - {"header"})


MESSAGES = (
    separate_results,
    on_each_message(_keep_answer_fields),
    on_each_message(_add_api),
    apply_convention(RESULTS),
    keep_parts_of_roles(
        {**dict.fromkeys(("tool_call", "reasoning"), ("assistant",)), "image": ("system", "developer", "user")}
    ),
)

FIT: dict[str, tuple[Pass, ...]] = {
    SESSION: (
        sessions.events(is_event),
        keep_functions(""),
        keep_last_definitions,
        roles({"developer": "system"}),
        on_each_message(_complete_summary),
        _add_system_for_tools,
        _add_title_event,
        sessions.put_results_before_events,
        *MESSAGES,
        _keep_blocks(SESSION),
        without("message.name"),
        on_each_message(_move_extras_to_result),
        _keep_header,
        on_each_message(lambda message: counted(message, ZEROS)),
        sessions.set_directory,
        _unless_old(sessions.set_models_of_answers, chain_messages(new_id)),
        sessions.set_times_unless(_states_time),
        sessions.with_rows(_own_row),
        set_session_id(lambda transcript: write_session(transcript)[1:]),
    ),
    REQUEST: (
        keep_active_conversation,
        results_behind_calls,
        *MESSAGES,
        _keep_blocks(REQUEST),
        without("message.replaces"),
        on_each_message(lambda message: drop_extras(message, NAME, "role", "row")),
        on_each_message(lambda message: counted(message, {})),
        lambda transcript: drop_extras(transcript, NAME, "header"),
    ),
}
