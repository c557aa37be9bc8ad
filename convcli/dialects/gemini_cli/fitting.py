"""What a session of Gemini CLI takes: records with ids and times, results in their calls, rows that do not count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from convcli.dialects.gemini_cli.calls import NAME, SERVICE, STATES, write_answer
from convcli.dialects.gemini_cli.log import REWIND, kind_of, replay
from convcli.dialects.gemini_cli.records import EVENT, role_of
from convcli.dialects.gemini_cli.thoughts import lift_tokens, write_tokens
from convcli.dialects.gemini_cli.writing import groups, needs_content, with_results, write_rows
from convcli.families.google.carried import Carried, known
from convcli.families.google.fitting import expressible_parts, with_signature, without_blanks
from convcli.families.google.turns import user_without_result
from convcli.kit import sessions
from convcli.kit.fitting import without
from convcli.kit.ids import with_session_id
from convcli.kit.objects import carried_by, without_carried, without_keys
from convcli.kit.passes import on_each_message, on_messages, on_parts, on_results, shared
from convcli.kit.renaming import renaming
from convcli.kit.results import result_of, separate_results
from convcli.model.dialect import Pass
from convcli.model.transcript import Extras, Message, Part, ToolCall, ToolResult, Transcript

# ---------------------------------------------------------------- events


def _row(message: Message) -> Message:
    """Of a row that is no record of what the program showed, nothing counts: it has no id and no time of its own."""
    if message.role != "event" or message.id is message.created_at is None:
        return message
    row = sessions.row_of_event(message, NAME)
    counts = message.id is not None and kind_of(row) == "record" and role_of(row) is None
    return message if counts else replace(message, id=None, parent_id=None, created_at=None)


def _without_dead(messages: list[Message]) -> list[Message]:
    return shared(messages, [None if one.role == "event" and one.id is None else one for one in messages])


def _rows_that_count(transcript: Transcript) -> Transcript:
    """Rows that do not count any more, as long as the log still says that they do not, and that all others do."""
    messages = transcript.messages
    if all(message.id is not None for message in messages if message.role == "event"):
        return transcript
    firsts = [group[0] for group in groups(messages)]
    done = replay([sessions.row_of_event(one, NAME) if one.id is None else {"id": one.id} for one in firsts])
    if [row["id"] for _, row in done.live] == [one.id for one in firsts if one.id is not None]:
        return transcript
    return replace(transcript, messages=_without_dead(messages))


# ---------------------------------------------------------------- records


def _record(message: Message) -> Message:
    """Only an answer has a model and counts, and counts are not zero."""
    if message.role == "event":
        return message
    usage = lift_tokens(write_tokens(message) or {})[0] or None if message.role == "assistant" else None
    model = message.model or None if message.role == "assistant" else None
    extras = _without_text(message.extras, REWIND)  # the record would be read as something else
    same = usage == message.usage and model == message.model and extras is message.extras
    return message if same else replace(message, usage=usage, model=model, extras=extras)


def _without_text(extras: Extras | None, *keys: str) -> Extras | None:
    carried = carried_by(extras, NAME)
    gone = [key for key in keys if isinstance(carried.get(key), str)]
    return without_keys(extras, NAME, *gone) if gone else extras


def _framed(transcript: Transcript) -> Transcript:
    """Every record has an id of its own and a time; the results of an answer stand with it, unless they are two.

    A result that answers no call before it stays alone. So do two results of one call, for the answers in records of
    their own are the ones that count.
    """
    frames = _Frames(transcript)
    messages = shared(transcript.messages, [frames.framed(message) for message in transcript.messages])
    return transcript if messages is transcript.messages else replace(transcript, messages=messages)


class _Frames:
    """The records so far: `calls` are those of the last answer that have no result yet."""

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
        if message.role in ASIDE:
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
        """Does it stand in the record of the answer that called?

        Where calls stand in the content too, the program itself writes records for their results.
        """
        result = result_of(message)
        if result is None or result.tool_call_id not in self.calls or id(result) in self.twice:
            return False
        if carried_by(message.extras, NAME):  # only a record of its own has a place for it
            return False
        if self.has_content and (message.id is not None or self.is_user):
            return False
        self.calls.remove(result.tool_call_id)
        return True

    def continues(self, message: Message, before: Message | None) -> bool:
        """Does it stand in the record of the user before it, which alternates between answers and words?"""
        roles = None if before is None else (before.role, message.role)
        return message.id is None and bool(message.parts) and roles in USER and self.is_user

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


INSTRUCTIONS = ("system", "developer")
ASIDE = ("event", *INSTRUCTIONS)
USER = (("tool", "tool"), ("tool", "user"), ("user", "tool"))


def _twice_answered(messages: list[Message]) -> set[int]:
    """The results of calls that have more than one before the model speaks again, by identity."""
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


def _whole(messages: list[Message]) -> list[Message]:
    """What stands in one record stands together, before the events that were between it, results as their calls."""
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


def _entries(messages: list[Message]) -> list[Message]:
    """A call holds a result beside its own only where a later record has another, and a time where no result has."""
    entries = [_entry(row, behind) for row, behind in with_results(messages)]
    return shared(messages, [message for row in entries for message in row])


def _entry(row: list[Message], later: Mapping[str, ToolResult]) -> list[Message]:
    first = row[0]
    if first.role != "assistant":
        return row
    joined = {result.tool_call_id for one in row[1:] if (result := result_of(one)) is not None}

    def fits(part: Part) -> Part:
        if not isinstance(part, ToolCall) or not part.extras:
            return part
        answer = None if part.id in joined else later.get(part.id)
        differs = answer is not None and carried_by(part.extras, NAME).get("result") != [write_answer(answer)]
        gone = [key for key, goes in (("result", not differs), ("timestamp", part.id in joined)) if goes]
        return without_carried(part, NAME, *gone)

    parts = shared(first.parts, [fits(part) for part in first.parts])
    return row if parts is first.parts else [replace(first, parts=parts), *row[1:]]


def _own(record: Any, _: Any = None) -> Any:
    """What other dialects carry has no place in a session."""
    if not record.extras:
        return record
    own = {name: carried for name, carried in record.extras.items() if name in (NAME, SERVICE.owner)}
    return record if len(own) == len(record.extras) else replace(record, extras=own or None)


def _states(messages: list[Message]) -> list[Message]:
    """The first result of a call says what the state of its call can: that it was cancelled, or is not there yet."""
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


def _session(transcript: Transcript) -> Transcript:
    """A session has the hash of its directory, and the times of its first and last record."""
    times = [one.created_at for one in transcript.messages if one.created_at is not None and one.id is not None]
    start = transcript.created_at or next(iter(times), sessions.EPOCH)
    end = transcript.updated_at or max([start, *times])
    carried = carried_by(transcript.extras, NAME)
    if isinstance(carried.get("projectHash"), str):
        extras = transcript.extras
    else:
        from hashlib import sha256  # slow to import, and few calls need it

        digest = sha256((transcript.cwd or "").encode("utf-8", "surrogatepass")).hexdigest()
        extras = {**(transcript.extras or {}), NAME: {**carried, "projectHash": digest}}
    return replace(transcript, created_at=start, updated_at=end, extras=extras)


def _header(transcript: Transcript) -> Transcript:
    """The first row of a log is no record, and does not go back."""
    extras = _without_text(transcript.extras, "id", REWIND)
    return transcript if extras is transcript.extras else replace(transcript, extras=extras)


RECORDS: tuple[Pass, ...] = (
    without_blanks,
    renaming(SERVICE.names),
    sessions.active_branch,
    sessions.own_events(NAME),
    on_each_message(_row),
    separate_results,
    on_each_message(user_without_result),
    sessions.results_between_events,
    sessions.with_models,
    known(SERVICE, Carried(None), Carried(None)),
    _own,
    on_each_message(_own),
    on_parts(_own),
    expressible_parts,
    on_results(with_signature),
    on_each_message(_record),
    _framed,
    on_each_message(lambda message: None if message.role in INSTRUCTIONS else message),
    on_messages(_whole),
    sessions.with_rows(lambda message: sessions.row_of_event(message, NAME, None if message.id is None else EVENT)),
    on_messages(_entries),
    on_messages(_states),
    without("tools", "tool_choice", "settings"),
)
SESSION: tuple[Pass, ...] = (_session, with_session_id(lambda transcript: write_rows(transcript.messages)))
FIT = {
    "log": (*RECORDS, _rows_that_count, _header, *SESSION),
    "json": (*RECORDS, on_messages(_without_dead), *SESSION),
}
