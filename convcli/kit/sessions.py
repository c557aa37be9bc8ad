"""What every format of sessions needs, lent to any dialect.

A session is a header and rows, each with an `Envelope`. Lifting: `add_event` (a row that no model saw, in its place),
`head_of` (the active branch of a tree), `joined` (rows that are one message) and `Repeats` (rows that only repeat
others). What a new session must have and a transcript of strangers has not is made by passes of `fit` (`with_models`,
`timed`, `with_rows`; ids and parents are in `kit/ids`), so that `write` invents nothing; what a pass made up is found
as `invented` when the output is read back.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from convcli.kit import lacking
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.passes import on_each_message, on_messages, shared
from convcli.kit.results import results_first
from convcli.kit.texts import text_of
from convcli.model.branches import active
from convcli.model.dialect import Pass, SessionFacts
from convcli.model.transcript import Message, Opaque, Part, Path, Text, Transcript

Record = TypeVar("Record", Transcript, Message, Part)
EPOCH = "1970-01-01T00:00:00.000Z"

# ---------------------------------------------------------------- rows


def event_of(owner: str, row: Any, envelope: Envelope | None = None) -> Message:
    """A row that no model saw: whole in an opaque part, with the fields of its envelope beside it."""
    message = Message("event", [Opaque(owner, row)])
    if envelope is not None and isinstance(row, dict):
        envelope.lift(row, message)
    return message


def add_event(
    context: LiftContext, row: Any, path: Path, envelope: Envelope | None = None, *, taken_back: bool = False
) -> None:
    """The event of a row, in its place; `taken_back`: it was a turn before the session went back behind it."""
    if taken_back:
        context.origin.taken_back.add(len(context.messages))
    context.add(event_of(context.dialect, row, envelope), path, [()])


def row_of_event(message: Message, owner: str, envelope: Envelope | None = None) -> Any:
    """The row of an event of this owner, with the fields that its message has now; None for any other."""
    part = message.parts[0] if len(message.parts) == 1 else None
    if not isinstance(part, Opaque) or part.dialect != owner:
        return None
    if envelope is None or not isinstance(part.value, dict):
        return part.value
    return {**part.value, **envelope.write(message, part.value)}


def head_of(links: Sequence[tuple[Any, Any]]) -> str | None:
    """The id of the last row, if the rows branch: pairs of id and parent, where a row without a parent has None.

    Rows branch where a parent is known and is not the row before, or where it is null. A parent that no row has is no
    branch: the row follows the one before it.
    """
    known = {id_ for id_, _ in links}
    for (before, _), (_, parent) in itertools.pairwise(links):
        if parent != before and (parent is None or parent in known):
            last = links[-1][0]
            return last if isinstance(last, str) else None
    return None


def head_at(current: Any, links: Sequence[tuple[Any, Any]]) -> str | None:
    """The id of the row that a session says is its last, else that of the last row if the rows branch; None where they
    are a line that ends with it."""
    last = head_of(links)
    known = current if isinstance(current, str) and any(id_ == current for id_, _ in links) else None
    return None if last is None and known in (None, *(id_ for id_, _ in links[-1:])) else known or last


def joined(keys: Iterable[Hashable | None]) -> list[list[int]]:
    """The rows of each message, by their indexes: those with the same key are one, those without a key are alone."""
    groups: list[list[int]] = []
    group_of: dict[Hashable, list[int]] = {}
    for index, key in enumerate(keys):
        group = [] if key is None else group_of.setdefault(key, [])
        if not group:
            groups.append(group)
        group.append(index)
    return groups


class Repeats:
    """Values that other rows may say once more: each is taken once, in order, wherever its repetition stands."""

    __slots__ = ("_indexes",)

    def __init__(self, values: Iterable[Any]) -> None:
        self._indexes: dict[Hashable, deque[int]] = {}
        for index, value in enumerate(values):
            self._indexes.setdefault(_key(value), deque()).append(index)

    def take(self, value: Any) -> int | None:
        """The index of the first value like this one that nothing has repeated yet; None where there is none."""
        indexes = self._indexes.get(_key(value))
        return indexes.popleft() if indexes else None


def _key(value: Any) -> Hashable:
    """The same for the same JSON value: a list of texts is looked up as it is, since these may be long."""
    if isinstance(value, list) and all(item is None or isinstance(item, str) for item in value):
        return tuple(value)
    return json.dumps(value, sort_keys=True, default=str)


# ---------------------------------------------------------------- passes: what a new session must have


def summary(message: Message, *, of_all: bool = False) -> Message:
    """What stands for others is one text of the user, and nothing else stands for others; `of_all`: for all of them."""
    if message.replaces is None:
        return message
    text = text_of(message.parts, "\n\n")
    if message.role not in ("user", "system", "developer") or not text:
        return replace(message, replaces=None)
    replaced = "all" if of_all else message.replaces
    same = message.role == "user" and message.replaces == replaced and len(message.parts) == 1
    return message if same else replace(message, role="user", replaces=replaced, parts=[Text(text)])


def replacing_all(message: Message) -> Message:
    """A summary stands for all before it, where the row of a compaction holds all that the model sees from there on."""
    return message if message.replaces in (None, "all") else replace(message, replaces="all")


def with_rows(row_of: Callable[[Message], Any]) -> Pass:
    """Events hold their rows as they are written: with the ids, parents and times that their messages have now."""

    def fits(message: Message) -> Message:
        part = message.parts[0] if message.role == "event" and len(message.parts) == 1 else None
        if not isinstance(part, Opaque):
            return message
        row = row_of(message)
        return message if row is None or row == part.value else replace(message, parts=[replace(part, value=row)])

    return on_each_message(fits)


def active_branch(transcript: Transcript) -> Transcript:
    """Of a tree only the messages of the active branch; what is no tree keeps its events."""
    return transcript if transcript.head is None else replace(transcript, messages=active(transcript), head=None)


def latest_branch(is_end: Callable[[Message], bool] = lambda _: True) -> Pass:
    """Of a tree of which the active branch does not end last only that branch: a program goes on with the last one.
    `is_end`: may a branch end with this message?"""

    def fits(transcript: Transcript) -> Transcript:
        ids = [message.id for message in transcript.messages if message.id is not None and is_end(message)]
        is_last = transcript.head is None or ids[-1:] == [transcript.head]
        return transcript if is_last else active_branch(transcript)

    return fits


def _results_between_events(messages: list[Message]) -> list[Message]:
    turns = [message for message in messages if message.role != "event"]
    ordered = results_first(turns)
    if ordered is turns:
        return messages
    events: list[Message] = []
    before: dict[int, list[Message]] = {}
    for message in messages:
        if message.role == "event":
            events.append(message)
        elif events:
            before[id(message)], events = events, []
    return [one for message in ordered for one in (*before.get(id(message), ()), message)] + events


def results_between_events(transcript: Transcript) -> Transcript:
    """Every result directly behind the turn that called, unless links say what belongs together; events stay before the
    message that they stood before."""
    return transcript if transcript.head is not None else _ordered(transcript)


_ordered = on_messages(_results_between_events)


def events(keeps: Callable[[Message], bool]) -> Pass:
    """Only the events for which the session has rows; what named one of the others as its parent names its parent."""

    def fits(transcript: Transcript) -> Transcript:
        gone: dict[str | None, str | None] = {}
        for message in transcript.messages:
            if message.role == "event" and not keeps(message):
                gone.setdefault(message.id, gone.get(message.parent_id, message.parent_id))
        if not gone:
            return transcript
        kept = [message for message in transcript.messages if message.role != "event" or keeps(message)]
        gone.pop(None, None)
        messages = [_relinked(message, gone) for message in kept]
        return replace(transcript, messages=messages, head=gone.get(transcript.head, transcript.head))

    return fits


def own_events(owner: str, is_turn: Callable[[Any], bool] = lambda _: False) -> Pass:
    """Of events only those with a row of this owner that is read as an event again: `is_turn` says which is not."""

    def keeps(message: Message) -> bool:
        row = row_of_event(message, owner)
        return row is not None and not is_turn(row)

    return events(keeps)


def _relinked(message: Message, parents: Mapping[str | None, str | None]) -> Message:
    parent = message.parent_id
    return replace(message, parent_id=parents[parent]) if parent in parents else message


def with_models(transcript: Transcript) -> Transcript:
    """Every answer names its model: one that does not was made by that of the whole, which a session does not name."""
    model = transcript.model
    if model is None:
        return transcript
    fits = on_each_message(lambda one: replace(one, model=model) if _is_unnamed(one) else one)
    return replace(fits(transcript), model=None)


def _is_unnamed(message: Message) -> bool:
    return message.role == "assistant" and message.model is None


def timed_unless(states: Callable[[Transcript | Message], bool]) -> Pass:
    """The session and every message have a time: their own, else that of the message before, of the first that has one,
    or 1970. Not those that state it in another way, which is carried."""

    def fits(transcript: Transcript) -> Transcript:
        messages = transcript.messages
        start = transcript.created_at or next((m.created_at for m in messages if m.created_at is not None), EPOCH)
        times = itertools.accumulate((m.created_at for m in messages), lambda last, own: own or last, initial=start)
        pairs = zip(messages, list(times)[1:], strict=True)
        timed_messages = [m if m.created_at == time or states(m) else replace(m, created_at=time) for m, time in pairs]
        created_at = transcript.created_at if states(transcript) else start
        return replace(transcript, messages=shared(messages, timed_messages), created_at=created_at)

    return fits


timed = timed_unless(lambda _: False)


def with_directory(transcript: Transcript) -> Transcript:
    """A session names the directory in which it ran, with an empty text where nobody knows it."""
    return transcript if transcript.cwd is not None else replace(transcript, cwd="")


def folder_of(facts: SessionFacts) -> str:
    """The folder in which programs keep the sessions of a directory: its real path in letters and digits."""
    return re.sub("[^a-zA-Z0-9]", "-", os.path.realpath(facts.cwd))


def in_real_directory(transcript: Transcript) -> Transcript:
    """The directory by its real path, for programs that know their own by no other name."""
    return replace(transcript, cwd=os.path.realpath(transcript.cwd or ""))


def without_empty_directory(transcript: Transcript) -> Transcript:
    """An empty directory is none."""
    return replace(transcript, cwd=None) if transcript.cwd == "" else transcript


def settled(again: Callable[[Transcript], Transcript]) -> Pass:
    """Of what is carried only that which comes back: what goes without saying there is not carried. `again` writes the
    transcript and lifts what was written, with the same messages and parts."""

    def fits(transcript: Transcript) -> Transcript:
        lifted = again(transcript)
        pairs = zip(transcript.messages, lifted.messages, strict=True)
        messages = shared(transcript.messages, [_with_extras_of(one, other) for one, other in pairs])
        whole = _as_carried(transcript, lifted)
        return whole if messages is whole.messages else replace(whole, messages=messages)

    return fits


def _with_extras_of(message: Message, other: Message) -> Message:
    parts = [_as_carried(part, again) for part, again in zip(message.parts, other.parts, strict=True)]
    message = _as_carried(message, other)
    same = all(part is one for part, one in zip(parts, message.parts, strict=True))
    return message if same else replace(message, parts=parts)


def _as_carried(record: Record, other: Record) -> Record:
    return record if record.extras == other.extras else replace(record, extras=other.extras)


# ---------------------------------------------------------------- why a session loses something

REASONS = {
    "event": "a session has rows only for events of its own",
    "id": "a session has an id: it is made of the content",
    "model": "each answer names its model, a session does not",
    "message.createdAt": "every row has a time: that of the row before it, or 1970",
}
"""True of most sessions; a dialect says behind them what is otherwise in its own."""
NO_REQUEST = {
    "toolChoice": "a session does not say which tools may be called",
    "settings": "a session has no settings of the request",
}
NOTHING_SENT = dict.fromkeys((*lacking.TOOLS, *NO_REQUEST), "a session does not say what the model was sent")
"""For sessions that do not hold the definitions of tools either."""
