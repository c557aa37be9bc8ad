"""What pi and OpenClaw take of any transcript, as passes: a session of version 3, or a request."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.openclaw.blocks import NAME, REQUEST, RESULTS, SESSION, api_of, is_block
from convcli.dialects.openclaw.messages import STOP_OF, ZEROS, counted, is_bash, read_usage, write_usage
from convcli.dialects.openclaw.rows import TITLE, is_event, new_id, write_event, write_session
from convcli.kit import sessions
from convcli.kit.fitting import functions_only, last_definitions, linear, parts_in_roles, roles, without
from convcli.kit.ids import chained, with_session_id
from convcli.kit.objects import carried_by, omit, without_carried, without_keys
from convcli.kit.passes import on_each_message, on_parts
from convcli.kit.results import expressed, only_own, results_behind_calls, separate_results, with_parts
from convcli.model.dialect import Pass
from convcli.model.transcript import Media, Message, Opaque, Part, ToolResult, Transcript

OF_ANSWERS = ("model", "stop_reason", "usage", "error", "cost", "provider")

# ---------------------------------------------------------------- messages and parts


def _of_role(message: Message) -> Message:
    """Only answers have a model, usage and an end, and of the ends pi knows a few; counts are those that it writes."""
    if message.role != "assistant":
        stated = {name: None for name in OF_ANSWERS if getattr(message, name) is not None}
        return replace(message, **stated) if stated else message
    stop, (counts, cost, _) = message.stop_reason, read_usage(write_usage(message))
    stop, usage = stop if stop is None or stop in STOP_OF else "stop", counts or None
    same = (stop, usage, cost) == (message.stop_reason, message.usage, message.cost)
    return message if same else replace(message, stop_reason=stop, usage=usage, cost=cost)


def _summary(message: Message) -> Message:
    """What stands for others has a row of its own kind, which says how many tokens they had."""
    message = sessions.summary(message)
    if message.replaces is None:
        return message
    carried = omit(carried_by(message.extras, NAME), "role", "row")
    row = omit(carried_by(message.extras, NAME).get("row") or {}, "type")
    own = {"tokensBefore": 0, **carried, **({"row": row} if row else {})}
    same = own == carried_by(message.extras, NAME)
    return message if same else replace(message, extras={**(message.extras or {}), NAME: own})


def _with_api(message: Message) -> Message:
    """Signatures belong to a provider, which is named by the API that made the message."""
    carried = carried_by(message.extras, NAME)
    signed = None if message.role != "assistant" or "api" in carried else api_of(message)
    if signed is None:
        return message
    api, provider = signed
    extras = {**(message.extras or {}), NAME: {**carried, "api": api}}
    return replace(message, provider=message.provider or provider, extras=extras)


def _blocks(form: str) -> Pass:
    """Of media only pictures with their data, of opaque parts only blocks of our own, or a command in a session."""

    def fits(part: Part, message: Message) -> Part | None:
        if isinstance(part, Opaque) and message.role != "event":
            is_own = part.dialect == NAME and (is_block(part.value) or (form == SESSION and is_bash(part)))
            return part if is_own else None
        return with_parts(part, _picture_inside) if isinstance(part, ToolResult) else _picture(part)

    return on_parts(fits)


def _picture(part: Part) -> Part | None:
    if not isinstance(part, Media):
        return part
    if part.type != "image" or part.data is None:
        return None
    return part if part.media_type is not None else replace(part, media_type="image/png")


def _picture_inside(part: Part) -> Part | None:
    """A part of a result, with nothing that a picture has no place for."""
    stated = {"name": None, "detail": None} if isinstance(part, Media) else {}
    return _picture(only_own(part, NAME, **stated))


# ---------------------------------------------------------------- sessions


def _system_for_tools(transcript: Transcript) -> Transcript:
    """The tools stand in a system message before all others; that there are none is told only where there is one."""
    first = next((message for message in transcript.messages if message.role != "event"), None)
    if transcript.tools is None:
        return on_each_message(lambda message: without_carried(message, NAME, "toolsAdded"))(transcript)
    if first is not None and first.role == "system":
        return transcript
    if not transcript.tools:
        return replace(transcript, tools=None)
    return replace(transcript, messages=[Message("system", []), *transcript.messages])


def _title_as_event(transcript: Transcript) -> Transcript:
    """The title of a session is that of its last row of this type."""
    parts = [message.parts[0] for message in transcript.messages if message.role == "event" and message.parts]
    rows = [part.value for part in parts if isinstance(part, Opaque) and isinstance(part.value, dict)]
    titles = [None, *(row.get("name") or None for row in rows if row.get("type") == TITLE)]
    if transcript.title in (None, titles[-1]):
        return transcript
    event = Message("event", [Opaque(NAME, {"type": TITLE, "name": transcript.title})])
    return replace(transcript, messages=[event, *transcript.messages])


def _unless_old(*passes: Pass) -> Pass:
    """A session of version 1 has neither ids nor parents, and its header names the model."""

    def fits(transcript: Transcript) -> Transcript:
        is_old = (carried_by(transcript.extras, NAME).get("header") or {}).get("version") == 1
        for one in () if is_old else passes:
            transcript = one(transcript)
        return transcript

    return fits


def _states_time(record: Transcript | Message) -> bool:
    """Has its row a time that is no text?"""
    part = record.parts[0] if isinstance(record, Message) and record.role == "event" and record.parts else None
    row = part.value if isinstance(part, Opaque) and part.dialect == NAME else None
    outer = row or carried_by(record.extras, NAME).get("row" if isinstance(record, Message) else "header")
    return record.created_at is None and isinstance(outer, dict) and isinstance(outer.get("timestamp"), (int, float))


def _with_result(message: Message) -> Message:
    """The row of a result has one place for keys beside it: what its message carries rides with the result."""
    first = message.parts[0] if message.role == "tool" else None
    keys = [key for key in carried_by(message.extras, NAME) if key not in ("row", "timestamp")]
    if not isinstance(first, ToolResult) or not keys:
        return message
    carried = {key: carried_by(message.extras, NAME)[key] for key in keys} | carried_by(first.extras, NAME)
    result = replace(first, extras={**(first.extras or {}), NAME: carried})
    return replace(message, parts=[result], extras=without_keys(message.extras, NAME, *keys))


def _own_row(message: Message) -> Any:
    part = message.parts[0]
    return write_event(message) if isinstance(part, Opaque) and part.dialect == NAME else None


# ---------------------------------------------------------------- what only one of the forms has


def _only_header(transcript: Transcript) -> Transcript:
    return without_carried(transcript, NAME, *carried_by(transcript.extras, NAME).keys() - {"header"})


MESSAGES = (
    separate_results,
    on_each_message(_of_role),
    on_each_message(_with_api),
    expressed(RESULTS),
    parts_in_roles(
        {**dict.fromkeys(("tool_call", "reasoning"), ("assistant",)), "image": ("system", "developer", "user")}
    ),
)

FIT: dict[str, tuple[Pass, ...]] = {
    SESSION: (
        sessions.events(is_event),
        functions_only(""),
        last_definitions,
        roles({"developer": "system"}),
        on_each_message(_summary),
        _system_for_tools,
        _title_as_event,
        sessions.results_between_events,
        *MESSAGES,
        _blocks(SESSION),
        without("message.name"),
        on_each_message(_with_result),
        _only_header,
        on_each_message(lambda message: counted(message, ZEROS)),
        sessions.with_directory,
        _unless_old(sessions.with_models, chained(new_id)),
        sessions.timed_unless(_states_time),
        sessions.with_rows(_own_row),
        with_session_id(lambda transcript: write_session(transcript)[1:]),
    ),
    REQUEST: (
        linear,
        results_behind_calls,
        *MESSAGES,
        _blocks(REQUEST),
        without("message.replaces"),
        on_each_message(lambda message: without_carried(message, NAME, "role", "row")),
        on_each_message(lambda message: counted(message, {})),
        lambda transcript: without_carried(transcript, NAME, "header"),
    ),
}
