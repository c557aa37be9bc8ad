"""What pi and OpenClaw take of any transcript, as passes: a session of version 3, or a request."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from convcli.dialects.openclaw.answers import STOP_OF, read_usage, write_usage
from convcli.dialects.openclaw.blocks import NAME, SESSION, api_of, is_block, signatures
from convcli.dialects.openclaw.messages import SUMMARIES, is_bash
from convcli.dialects.openclaw.results import express
from convcli.dialects.openclaw.rows import TITLE, is_event, new_id, write_event, write_session
from convcli.kit.fitting import (
    expressed,
    functions_only,
    linear,
    on_each_message,
    on_parts,
    results_behind_calls,
    roles,
    separate_results,
    shared,
    without,
)
from convcli.kit.objects import carried_by
from convcli.kit.sessions import chained, events, results_between_events, timed, with_models, with_rows, with_session_id
from convcli.model.dialect import Convention, Pass
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)

RESULTS = Convention(
    express,
    {
        "error": ("changed", "a result holds text and pictures: the data is written as JSON"),
        "data": ("changed", "a result holds text and pictures: the data is written as JSON"),
        "multimodal": ("changed", "of media a result holds only pictures with their data"),
    },
)
Record = TypeVar("Record", Message, Transcript)
OF_ANSWERS = ("model", "stop_reason", "usage", "error")


# ---------------------------------------------------------------- messages


def _of_role(message: Message) -> Message:
    """Only answers have a model, usage and an end, and of the ends pi knows a few; counts are those that it writes."""
    if message.role == "event":
        return message
    if message.role != "assistant":
        stated = {name: None for name in OF_ANSWERS if getattr(message, name) is not None}
        return replace(message, **stated) if stated else message
    stop, usage = message.stop_reason, read_usage(write_usage(message))[0] or None
    stop = stop if stop is None or stop in STOP_OF else "stop"
    same = stop == message.stop_reason and usage == message.usage
    return message if same else replace(message, stop_reason=stop, usage=usage)


def _with_api(message: Message) -> Message:
    """Signatures belong to a provider, which is named by the API that made the message."""
    carried = carried_by(message.extras, NAME)
    api = None if message.role != "assistant" or "api" in carried else api_of(message)
    return message if api is None else replace(message, extras={**(message.extras or {}), NAME: {**carried, **api}})


def _summarised(message: Message) -> Message:
    """A summary is one text."""
    if carried_by(message.extras, NAME).get("role") not in SUMMARIES or message.role != "user":
        return message
    text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
    parts: list[Part] = [Text(text)] if text else []
    return message if parts == message.parts else replace(message, parts=parts)


def _as_user(message: Message) -> Message:
    """A request knows no messages that pi inserts: they are words of the user."""
    return _without_keys(message, "role", "row")


# ---------------------------------------------------------------- parts


def _parts(form: str) -> Pass:
    """Parts that this form has blocks for, in messages of their role, with the signatures of their provider."""

    def fits(part: Part, message: Message) -> Part | None:
        if message.role == "event":
            return part
        if isinstance(part, Opaque):
            is_kept = part.dialect == NAME and (is_block(part.value) or (form == SESSION and is_bash(part)))
            return part if is_kept else None
        if isinstance(part, (ToolCall, Reasoning)) and message.role != "assistant":
            return None
        if isinstance(part, Media) and message.role == "assistant":
            return None
        if isinstance(part, ToolResult):
            return _shown(part)
        return _block(part, carried_by(message.extras, NAME).get("api"))

    return on_parts(fits)


def _shown(result: ToolResult) -> ToolResult:
    """Of a result with parts the texts and pictures."""
    if result.kind != "multimodal":
        return result
    value = [_block(part) for part in result.value]
    return replace(result, value=shared(result.value, value))


def _block(part: Part, api: object = None) -> Part | None:
    if isinstance(part, Media):
        if part.type != "image" or part.data is None:
            return None
        plain = Media("image", data=part.data, media_type=part.media_type or "image/png", extras=part.extras)
        return part if plain == part else plain
    if isinstance(part, Refusal):
        return Text(part.text)
    if isinstance(part, ToolCall) and part.raw_arguments is not None:
        part = replace(part, raw_arguments=None)
    if isinstance(part, Reasoning) and part.summary is not None:
        part = replace(part, summary=None)
    known = signatures(part, api)
    metadata = {key: value for key, value in (part.metadata or {}).items() if key in known and value} or None
    return part if metadata == part.metadata else replace(part, metadata=metadata)


# ---------------------------------------------------------------- sessions


def _system_for_tools(transcript: Transcript) -> Transcript:
    """The tools stand in a system message before all others; none at all are told only where there is one."""
    first = next((message for message in transcript.messages if message.role != "event"), None)
    if transcript.tools is None:
        return on_each_message(_without_tools)(transcript)
    if first is not None and first.role == "system":
        return transcript
    if not transcript.tools:
        return replace(transcript, tools=None)
    return replace(transcript, messages=[Message("system", []), *transcript.messages])


def _without_tools(message: Message) -> Message:
    return _without_keys(message, "toolsAdded") if message.role == "system" else message


def _without_keys(record: Record, *keys: str) -> Record:
    """A message or a transcript without these keys of ours."""
    carried = carried_by(record.extras, NAME)
    if carried.keys().isdisjoint(keys):
        return record
    kept = {key: value for key, value in carried.items() if key not in keys}
    others = {name: extras for name, extras in (record.extras or {}).items() if name != NAME}
    return replace(record, extras=({**others, NAME: kept} if kept else others) or None)


def _one_definition(transcript: Transcript) -> Transcript:
    """Of definitions with one name the last counts."""
    tools = transcript.tools or []
    last = {tool.name: tool for tool in tools}
    return transcript if len(last) == len(tools) else replace(transcript, tools=list(last.values()))


def _title_as_event(transcript: Transcript) -> Transcript:
    """The title of a session is that of its last row of this type."""
    title = None
    for message in transcript.messages:
        part = message.parts[0] if message.role == "event" else None
        if isinstance(part, Opaque) and isinstance(part.value, dict) and part.value.get("type") == TITLE:
            title = part.value.get("name") or None
    if transcript.title is None or title == transcript.title:
        return transcript
    event = Message("event", [Opaque(NAME, {"type": TITLE, "name": transcript.title})])
    return replace(transcript, messages=[event, *transcript.messages])


def _unless_old(*passes: Pass) -> Pass:
    """A session of version 1 has neither ids nor parents, and its header names the model."""

    def fits(transcript: Transcript) -> Transcript:
        header = carried_by(transcript.extras, NAME).get("header")
        if isinstance(header, dict) and header.get("version") == 1:
            return transcript
        for one in passes:
            transcript = one(transcript)
        return transcript

    return fits


def _only_header(transcript: Transcript) -> Transcript:
    return _without_keys(transcript, *carried_by(transcript.extras, NAME).keys() - {"header"})


def _no_header(transcript: Transcript) -> Transcript:
    return _without_keys(transcript, "header")


def _own_row(message: Message) -> object:
    part = message.parts[0]
    return write_event(message) if isinstance(part, Opaque) and part.dialect == NAME else None


def _content(transcript: Transcript) -> list[object]:
    return write_session(transcript)[1:]


MESSAGES = (on_each_message(_of_role), on_each_message(_with_api), expressed(RESULTS))

FIT = {
    SESSION: (
        events(is_event),
        functions_only(""),
        _one_definition,
        roles({"developer": "system"}),
        _system_for_tools,
        _title_as_event,
        results_between_events,
        separate_results,
        without("message.name"),
        *MESSAGES,
        _parts(SESSION),
        on_each_message(_summarised),
        _only_header,
        _unless_old(with_models, chained(new_id)),
        timed,
        with_rows(_own_row),
        with_session_id(_content),
    ),
    "api": (
        linear,
        results_behind_calls,
        separate_results,
        *MESSAGES,
        _parts("api"),
        on_each_message(_as_user),
        _no_header,
    ),
}
