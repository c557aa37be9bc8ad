"""Fits transcripts to Gemini CLI sessions: records with ids and times, results in their calls, superseded rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from convcli.dialects.gemini_cli.calls import NAME, SERVICE, STATES, write_answer
from convcli.dialects.gemini_cli.log import REWIND, kind_of, replay
from convcli.dialects.gemini_cli.records import EVENT, role_of
from convcli.dialects.gemini_cli.thoughts import has_lasting_tokens, lift_tokens, write_tokens
from convcli.dialects.gemini_cli.writing import groups, needs_content, with_results, write_rows
from convcli.families.google.extras import ExtraKeys, known
from convcli.families.google.fitting import expressible_parts, may_be_signed, with_signature, without_blanks
from convcli.families.google.turns import user_without_result
from convcli.kit import sessions
from convcli.kit.fitting import without
from convcli.kit.ids import set_session_id
from convcli.kit.objects import drop_extra_keys, drop_extras, get_extras
from convcli.kit.passes import on_each_message, on_messages, on_parts, on_results, shared, when
from convcli.kit.renaming import rename_tools_and_ids
from convcli.kit.results import are_mixed, result_of, separate_results
from convcli.model.branches import INSTRUCTIONS
from convcli.model.dialect import Pass
from convcli.model.inventory import Inventory, calls, has_field, has_part_field, results
from convcli.model.transcript import Extras, Message, Part, ToolCall, ToolResult, Transcript

# ---------------------------------------------------------------- events


def _clear_dead_event(message: Message) -> Message:
    """Removes id, parent and time of an event, unless it is a current record of something the program showed."""
    if message.role != "event" or message.id is message.created_at is None:
        return message
    row = sessions.row_of_event(message, NAME)
    counts = message.id is not None and kind_of(row) == "record" and role_of(row) is None
    return message if counts else replace(message, id=None, parent_id=None, created_at=None)


def _drop_dead_rows(messages: list[Message]) -> list[Message]:
    return shared(messages, [None if one.role == "event" and one.id is None else one for one in messages])


def _keep_consistent_dead_rows(transcript: Transcript) -> Transcript:
    """Keeps superseded rows only if a replay of the log still leaves exactly the other records."""
    messages = transcript.messages
    if all(message.id is not None for message in messages if message.role == "event"):
        return transcript
    firsts = [group[0] for group in groups(messages)]
    done = replay([sessions.row_of_event(one, NAME) if one.id is None else {"id": one.id} for one in firsts])
    if [row["id"] for _, row in done.live] == [one.id for one in firsts if one.id is not None]:
        return transcript
    return replace(transcript, messages=_drop_dead_rows(messages))


# ---------------------------------------------------------------- records


def _keep_answer_fields(message: Message) -> Message:
    """Keeps model and token counts on assistant messages only, and drops zero counts."""
    if message.role == "event":
        return message
    usage = model = None
    if message.role == "assistant":
        usage = message.usage if has_lasting_tokens(message) else lift_tokens(write_tokens(message) or {})[0]
        usage, model = usage or None, message.model or None
    extras = _without_text(message.extras, REWIND)  # with it, the record would be read as a rewind
    same = usage == message.usage and model == message.model and extras is message.extras
    return message if same else replace(message, usage=usage, model=model, extras=extras)


def _without_text(extras: Extras | None, *keys: str) -> Extras | None:
    if not extras:
        return extras
    extra = get_extras(extras, NAME)
    gone = [key for key in keys if isinstance(extra.get(key), str)]
    return drop_extra_keys(extras, NAME, *gone) if gone else extras


def _group_into_records(transcript: Transcript) -> Transcript:
    """Gives each record a unique id and a time, and puts the results of an assistant message into its record.

    A result without an earlier call stays alone. So do two results of the same call, since results in records of their
    own take precedence.
    """
    frames = _Frames(transcript)
    messages = shared(transcript.messages, [frames.framed(message) for message in transcript.messages])
    return transcript if messages is transcript.messages else replace(transcript, messages=messages)


class _Frames:
    """The records so far: `calls` are those of the last assistant message without a result."""

    def __init__(self, transcript: Transcript) -> None:
        messages = transcript.messages
        self.taken = {message.id for message in messages}
        self.used: set[str] = set()
        self.count = 0
        times = (message.created_at for message in messages if message.created_at is not None)
        self.time = transcript.created_at or next(times, sessions.EPOCH)
        self.twice = _twice_answered(messages)
        self.calls: set[str] = set()
        self.before: Message | None = None
        self.is_user = self.has_content = False

    def framed(self, message: Message) -> Message:
        if message.role in OUTSIDE_RECORDS:
            self.before = None
            return self.begun(message) if message.role == "event" and message.id is not None else message
        joins = self.joins(message)
        before, self.before = self.before, message
        if joins or self.continues(message, before):
            time = None if message.created_at == self.time or not joins else message.created_at
            same = message.id is None and message.created_at == time
            return message if same else replace(message, id=None, created_at=time)
        called = message.parts if message.role == "assistant" else []
        self.calls = {part.id for part in called if isinstance(part, ToolCall)}
        self.has_content = needs_content(called)
        return self.begun(message)

    def joins(self, message: Message) -> bool:
        """True if the message is a result inside the record of its call.

        If calls are in the content too, the program writes separate records for their results.
        """
        result = result_of(message)
        if result is None or result.tool_call_id not in self.calls or id(result) in self.twice:
            return False
        if get_extras(message.extras, NAME):  # only a separate record can store extras
            return False
        if self.has_content and (message.id is not None or self.is_user):
            return False
        self.calls.remove(result.tool_call_id)
        return True

    def continues(self, message: Message, before: Message | None) -> bool:
        """True if the message is part of the user record before it, which mixes results and text."""
        roles = None if before is None else (before.role, message.role)
        return message.id is None and bool(message.parts) and roles in USER_RECORD_PAIRS and self.is_user

    def begun(self, message: Message) -> Message:
        id_ = message.id
        self.is_user = bool(id_) and message.role in ("user", "tool")
        if not id_ or id_ in self.used:
            id_ = self.new_id()
        self.used.add(id_)
        self.time = message.created_at or self.time
        same = id_ == message.id and self.time == message.created_at
        return message if same else replace(message, id=id_, created_at=self.time)

    def new_id(self) -> str:
        while True:
            self.count += 1
            id_ = f"message_{self.count}"
            if id_ not in self.taken:
                return id_


OUTSIDE_RECORDS = ("event", *INSTRUCTIONS)
USER_RECORD_PAIRS = (("tool", "tool"), ("tool", "user"), ("user", "tool"))


def _twice_answered(messages: list[Message]) -> set[int]:
    """Returns the identities of results whose call has several results before the next assistant message."""
    twice: set[int] = set()
    seen: dict[str, int] = {}
    for message in messages:
        result = result_of(message)
        if message.role == "assistant":
            seen = {}
        elif result is not None and result.tool_call_id in seen:
            twice |= {id(result), seen[result.tool_call_id]}
        elif result is not None:
            seen[result.tool_call_id] = id(result)
    return twice


def _join_records(messages: list[Message]) -> list[Message]:
    """Moves the messages of one record together, before events between them, with results in the order of calls."""
    whole: list[Message] = []
    between: list[Message] = []
    for message in messages:
        if message.role == "event":
            between.append(message)
        elif message.id is None:
            whole.append(message)
        else:
            whole += [*between, message]
            between = []
    records = [one for group in groups(whole + between) for one in _in_order_of_calls(group)]
    return shared(messages, records)


def _in_order_of_calls(record: list[Message]) -> list[Message]:
    if len(record) < 3:
        return record
    first = record[0]
    calls = [part.id for part in first.parts if isinstance(part, ToolCall)] if first.role == "assistant" else []
    order = {id_: i for i, id_ in reversed(list(enumerate(calls)))}
    results = [(order.get(result.tool_call_id, 0) if (result := result_of(one)) else 0, one) for one in record[1:]]
    return [first, *(one for _, one in sorted(results, key=lambda pair: pair[0]))]


def _have_extras(inventory: Inventory) -> bool:
    """Asks whether any call has extras."""
    return any(call.extras for call in inventory.ask(calls))


def _clean_calls(messages: list[Message]) -> list[Message]:
    """Keeps a call's `result` only if a later record has a different one, and its `timestamp` only without a result."""
    entries = [_clean_call_extras(row, later_results) for row, later_results in with_results(messages)]
    return shared(messages, [message for row in entries for message in row])


def _clean_call_extras(row: list[Message], later: Mapping[str, ToolResult]) -> list[Message]:
    first = row[0]
    if first.role != "assistant":
        return row
    joined = {result.tool_call_id for one in row[1:] if (result := result_of(one)) is not None}

    def drop_part_extras(part: Part) -> Part:
        if not isinstance(part, ToolCall) or not part.extras:
            return part
        answer = None if part.id in joined else later.get(part.id)
        differs = answer is not None and get_extras(part.extras, NAME).get("result") != [write_answer(answer)]
        gone = [key for key, goes in (("result", not differs), ("timestamp", part.id in joined)) if goes]
        return drop_extras(part, NAME, *gone)

    parts = shared(first.parts, [drop_part_extras(part) for part in first.parts])
    return row if parts is first.parts else [replace(first, parts=parts), *row[1:]]


def _keep_own_extras(record: Any, _: Any = None) -> Any:
    """Drops the extras of other dialects."""
    if not record.extras:
        return record
    own = {name: extra for name, extra in record.extras.items() if name in (NAME, SERVICE.owner)}
    return record if len(own) == len(record.extras) else replace(record, extras=own or None)


def _have_states(inventory: Inventory) -> bool:
    """Asks whether any result has a status."""
    return any(result.status is not None for result in inventory.ask(results))


def _keep_known_states(messages: list[Message]) -> list[Message]:
    """Keeps a status only on the first result of a call, and only one that a call state can express."""
    calls: set[str] = set()
    stated: list[Message] = []
    for message in messages:
        result = result_of(message)
        if message.role == "assistant":
            calls = {part.id for part in message.parts if isinstance(part, ToolCall)}
        elif result is not None and (result.tool_call_id not in calls or result.status not in (None, *STATES)):
            message = message if result.status is None else replace(message, parts=[replace(result, status=None)])
        calls -= {result.tool_call_id} if result is not None else set()
        stated.append(message)
    return shared(messages, stated)


# ---------------------------------------------------------------- the session


def _set_hash_and_times(transcript: Transcript) -> Transcript:
    """Sets the hash of the directory, and the times of the first and last record."""
    times = [one.created_at for one in transcript.messages if one.created_at is not None and one.id is not None]
    start = transcript.created_at or next(iter(times), sessions.EPOCH)
    end = transcript.updated_at or max([start, *times])
    extra = get_extras(transcript.extras, NAME)
    if isinstance(extra.get("projectHash"), str):
        extras = transcript.extras
    else:
        from hashlib import sha256  # slow to import, and few calls need it

        digest = sha256((transcript.cwd or "").encode("utf-8", "surrogatepass")).hexdigest()
        extras = {**(transcript.extras or {}), NAME: {**extra, "projectHash": digest}}
    return replace(transcript, created_at=start, updated_at=end, extras=extras)


def _clean_header(transcript: Transcript) -> Transcript:
    """Removes extras that would make the first row of a log a record or a rewind."""
    extras = _without_text(transcript.extras, "id", REWIND)
    return transcript if extras is transcript.extras else replace(transcript, extras=extras)


RECORDS: tuple[Pass, ...] = (
    without_blanks,
    rename_tools_and_ids(SERVICE.names),
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME),
    on_each_message(_clear_dead_event, sessions.HAS_EVENTS),
    separate_results,
    on_each_message(user_without_result, are_mixed),
    sessions.put_results_before_events,
    sessions.set_models_of_answers,
    known(SERVICE, ExtraKeys(None), ExtraKeys(None)),
    _keep_own_extras,
    on_each_message(_keep_own_extras, has_field("extras")),
    on_parts(_keep_own_extras, when=has_part_field("extras")),
    expressible_parts,
    when(may_be_signed, on_results(with_signature)),
    on_each_message(_keep_answer_fields),
    _group_into_records,
    sessions.drop_instructions,
    on_messages(_join_records),
    sessions.with_rows(lambda message: sessions.row_of_event(message, NAME, None if message.id is None else EVENT)),
    on_messages(_clean_calls, _have_extras),
    on_messages(_keep_known_states, _have_states),
    without("tools", "tool_choice", "settings"),
)
SESSION: tuple[Pass, ...] = (_set_hash_and_times, set_session_id(lambda transcript: write_rows(transcript.messages)))
FIT = {
    "log": (*RECORDS, when(sessions.HAS_EVENTS, _keep_consistent_dead_rows), _clean_header, *SESSION),
    "json": (*RECORDS, on_messages(_drop_dead_rows), *SESSION),
}
