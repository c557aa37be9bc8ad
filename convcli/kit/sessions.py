"""Tools for every session format.

A session is a header and rows, each with an `Envelope`. Lifting: `add_event` (a row that is not part of the
conversation), `head_of` (the active branch of a tree), `joined` (rows that are one message) and `Repeats` (rows that
only repeat others). Passes of `fit` add what a new session requires and a transcript from elsewhere lacks
(`set_models_of_answers`, `set_times`, `with_rows`; ids and parents: `kit/ids`), so `write` invents nothing. What a pass
adds is found as `invented` when the output is read back.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from convcli.kit import custom
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.fitting import refusals_as_texts, roles
from convcli.kit.passes import on_each_message, on_messages, shared, when
from convcli.kit.results import apply_convention, are_displaced, one_result_each, put_results_first, separate_results
from convcli.kit.texts import text_of
from convcli.model.branches import INSTRUCTIONS, active
from convcli.model.dialect import Convention, Pass, SessionFacts
from convcli.model.inventory import Informed, Inventory, apply_all, has_role
from convcli.model.transcript import Message, Opaque, Part, Path, Text, Transcript

Record = TypeVar("Record", Transcript, Message, Part)
EPOCH = "1970-01-01T00:00:00.000Z"
HAS_EVENTS = has_role("event")

# ---------------------------------------------------------------- rows


def event_of(owner: str, row: Any, envelope: Envelope | None = None) -> Message:
    """Returns a row as an event: whole in an opaque part, with the fields of its envelope."""
    message = Message("event", [Opaque(owner, row)])
    if envelope is not None and isinstance(row, dict):
        envelope.lift(row, message)
    return message


def add_event(
    context: LiftContext, row: Any, path: Path, envelope: Envelope | None = None, *, rolled_back: bool = False
) -> None:
    """Adds the event of a row; `rolled_back`: it was a message before the session was rolled back."""
    if rolled_back:
        context.origin.rolled_back.add(len(context.messages))
    context.add(event_of(context.dialect, row, envelope), path, [()])


def row_of_event(message: Message, owner: str, envelope: Envelope | None = None) -> Any:
    """Returns the row of an event of this owner, with its message's current fields; None for any other."""
    part = message.parts[0] if len(message.parts) == 1 else None
    if not isinstance(part, Opaque) or part.dialect != owner:
        return None
    if envelope is None or not isinstance(part.value, dict):
        return part.value
    return {**part.value, **envelope.write(message, part.value)}


def head_of(links: Sequence[tuple[Any, Any]]) -> str | None:
    """Returns the id of the last row if the rows branch. `links` are pairs of id and parent; a row without a parent has
    None.

    Rows branch where a parent is null, or is known and not the previous row. A parent that no row has is not a branch:
    the row follows the previous one.
    """
    known = {id_ for id_, _ in links}
    for (before, _), (_, parent) in itertools.pairwise(links):
        if parent != before and (parent is None or parent in known):
            last = links[-1][0]
            return last if isinstance(last, str) else None
    return None


def head_at(current: Any, links: Sequence[tuple[Any, Any]]) -> str | None:
    """Returns the id of the row that the session names as its last, else the last row's if the rows branch; None if
    they form a line that ends with it."""
    last = head_of(links)
    known = current if isinstance(current, str) and any(id_ == current for id_, _ in links) else None
    return None if last is None and known in (None, *(id_ for id_, _ in links[-1:])) else known or last


def parents_first(parents: Mapping[str, str | None]) -> list[str]:
    """Returns the ids of a tree with parents before their children, otherwise in the given order."""
    done: dict[str, None] = {}
    for start in parents:
        line: dict[str, None] = {}
        at: str | None = start
        while at is not None and at in parents and at not in done and at not in line:
            line[at] = None
            at = parents[at]
        done |= dict.fromkeys(reversed(line))
    return list(done)


def other_children(listed: Any, id_: str, parents: Mapping[str, Any]) -> list[Any]:
    """Returns what a node lists as its children although no node with this id names it as its parent."""
    children = listed if isinstance(listed, list) else []
    return [child for child in children if not isinstance(child, str) or parents.get(child) != id_]


def joined(keys: Iterable[Hashable | None]) -> list[list[int]]:
    """Returns the row indexes of each message: rows with the same key are one message, those without a key are
    alone."""
    groups: list[list[int]] = []
    group_of: dict[Hashable, list[int]] = {}
    for index, key in enumerate(keys):
        group = [] if key is None else group_of.setdefault(key, [])
        if not group:
            groups.append(group)
        group.append(index)
    return groups


class Repeats:
    """Values that other rows may repeat: each is taken once, in order, wherever its repetition is. A value repeats an
    equal one, and one with an equal `key`."""

    __slots__ = ("_begin", "_key", "_later", "_values")

    def __init__(self, values: Sequence[Any], key: Callable[[Any], Hashable]) -> None:
        self._values, self._key, self._begin = values, key, 0
        self._later: dict[Hashable, deque[int]] | None = None
        """The indexes of each key, from the first value that was not repeated in order."""

    def take(self, value: Any) -> int | None:
        """Returns the index of the first such value that nothing has repeated yet; None if there is none."""
        if self._later is None:
            index = self._begin
            following = self._values[index] if index < len(self._values) else None
            if following is not None and (following == value or self._key(following) == self._key(value)):  # most rows
                self._begin += 1
                return index
            self._later = {}
            for later in range(index, len(self._values)):
                self._later.setdefault(self._key(self._values[later]), deque()).append(later)
        indexes = self._later.get(self._key(value))
        return indexes.popleft() if indexes else None


# ---------------------------------------------------------------- passes: what a new session requires


def summary(message: Message, *, of_all: bool = False) -> Message:
    """Reduces a summary to one user text, and removes `replaces` from messages that cannot be one; `of_all`: it
    replaces all."""
    if message.replaces is None:
        return message
    text = text_of(message.parts, "\n\n")
    if message.role not in ("user", *INSTRUCTIONS) or not text:
        return replace(message, replaces=None)
    replaced = "all" if of_all else message.replaces
    same = message.role == "user" and message.replaces == replaced and len(message.parts) == 1
    return message if same else replace(message, role="user", replaces=replaced, parts=[Text(text)])


def replacing_all(message: Message) -> Message:
    """Makes a summary replace everything before it, for compaction rows that store all that the model sees
    afterwards."""
    return message if message.replaces in (None, "all") else replace(message, replaces="all")


def with_rows(row_of: Callable[[Message], Any]) -> Pass:
    """Updates the rows of events to the current ids, parents and times of their messages."""

    def update_row(message: Message) -> Message:
        part = message.parts[0] if message.role == "event" and len(message.parts) == 1 else None
        if not isinstance(part, Opaque):
            return message
        row = row_of(message)
        return message if row is None or row == part.value else replace(message, parts=[replace(part, value=row)])

    return on_each_message(update_row, HAS_EVENTS)


def keep_active_branch(transcript: Transcript) -> Transcript:
    """Keeps only the active branch of a tree. Without a tree, events stay too."""
    return transcript if transcript.head is None else replace(transcript, messages=active(transcript), head=None)


def keep_latest_branch(is_end: Callable[[Message], bool] = lambda _: True) -> Pass:
    """Keeps only the active branch if it is not the last one, because a program resumes with the last branch. `is_end`:
    true if a branch may end with this message."""

    def keep_latest(transcript: Transcript) -> Transcript:
        ids = [message.id for message in transcript.messages if message.id is not None and is_end(message)]
        is_last = transcript.head is None or ids[-1:] == [transcript.head]
        return transcript if is_last else keep_active_branch(transcript)

    return keep_latest


def _results_between_events(messages: list[Message]) -> list[Message]:
    turns = [message for message in messages if message.role != "event"]
    ordered = put_results_first(turns)
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


_ordered = on_messages(_results_between_events, are_displaced)


def _put_results_before_events(transcript: Transcript, inventory: Inventory) -> Transcript:
    return transcript if transcript.head is not None else apply_all((_ordered,), transcript, inventory)


put_results_before_events: Pass = Informed(_put_results_before_events)
"""Moves every result directly behind the turn that called, unless links define the order. Events stay before the
message that they preceded."""


def plain_turns(convention: Convention) -> tuple[Pass, ...]:
    """Returns passes for turns of texts, function calls, and results that follow their calls, each in a row."""
    return (
        roles({"developer": "system"}),
        refusals_as_texts,
        custom.as_functions,
        separate_results,
        one_result_each,
        put_results_before_events,
        apply_convention(convention),
    )


def events(keeps: Callable[[Message], bool]) -> Pass:
    """Keeps only the events for which the session has rows. Children of a dropped event get its parent."""

    def keep_events(transcript: Transcript) -> Transcript:
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

    return when(HAS_EVENTS, keep_events)


def keep_own_events(owner: str, is_turn: Callable[[Any], bool] = lambda _: False) -> Pass:
    """Keeps only events with a row of this owner that is read as an event again; `is_turn` identifies rows that are
    not."""

    def keeps(message: Message) -> bool:
        row = row_of_event(message, owner)
        return row is not None and not is_turn(row)

    return events(keeps)


def _relinked(message: Message, parents: Mapping[str | None, str | None]) -> Message:
    parent = message.parent_id
    return replace(message, parent_id=parents[parent]) if parent in parents else message


drop_instructions = on_each_message(
    lambda message: None if message.role in INSTRUCTIONS else message, has_role(*INSTRUCTIONS)
)
"""Drops instructions, for programs that send only their own."""


def set_models_of_answers(transcript: Transcript) -> Transcript:
    """Gives every answer a model, by default the transcript's, because a session stores no model for the whole."""
    model = transcript.model
    if model is None:
        return transcript
    fits = on_each_message(lambda one: replace(one, model=model) if _is_unnamed(one) else one)
    return replace(fits(transcript), model=None)


def _is_unnamed(message: Message) -> bool:
    return message.role == "assistant" and message.model is None


def set_times_unless(states: Callable[[Transcript | Message], bool]) -> Pass:
    """Gives the session and every message a time: its own, the previous message's, the first that there is, or 1970.
    Skips those whose extras state the time in another way."""

    def add_times(transcript: Transcript) -> Transcript:
        messages = transcript.messages
        start = transcript.created_at or next((m.created_at for m in messages if m.created_at is not None), EPOCH)
        times = itertools.accumulate((m.created_at for m in messages), lambda last, own: own or last, initial=start)
        pairs = zip(messages, list(times)[1:], strict=True)
        timed_messages = [m if m.created_at == time or states(m) else replace(m, created_at=time) for m, time in pairs]
        created_at = transcript.created_at if states(transcript) else start
        return replace(transcript, messages=shared(messages, timed_messages), created_at=created_at)

    return add_times


set_times = set_times_unless(lambda _: False)


def set_directory(transcript: Transcript) -> Transcript:
    """Gives a session a directory: an empty string if it is unknown."""
    return transcript if transcript.cwd is not None else replace(transcript, cwd="")


def folder_of(facts: SessionFacts) -> str:
    """Returns the folder in which programs keep the sessions of a directory: its real path in letters and digits."""
    return re.sub("[^a-zA-Z0-9]", "-", os.path.realpath(facts.cwd))


def resolve_directory(transcript: Transcript) -> Transcript:
    """Replaces the directory by its real path, for programs that recognize no other."""
    return replace(transcript, cwd=os.path.realpath(transcript.cwd or ""))


def drop_empty_directory(transcript: Transcript) -> Transcript:
    """Removes an empty directory."""
    return replace(transcript, cwd=None) if transcript.cwd == "" else transcript


def settle_extras(again: Callable[[Transcript], Transcript]) -> Pass:
    """Keeps only the extras that come back; those with a default value do not. `again` writes the transcript and lifts
    the output, with the same messages and parts."""

    def keep_lasting_extras(transcript: Transcript) -> Transcript:
        lifted = again(transcript)
        pairs = zip(transcript.messages, lifted.messages, strict=True)
        messages = shared(transcript.messages, [_with_extras_of(one, other) for one, other in pairs])
        whole = _with_kept_extras(transcript, lifted)
        return whole if messages is whole.messages else replace(whole, messages=messages)

    return keep_lasting_extras


def _with_extras_of(message: Message, other: Message) -> Message:
    parts = [_with_kept_extras(part, again) for part, again in zip(message.parts, other.parts, strict=True)]
    message = _with_kept_extras(message, other)
    same = all(part is one for part, one in zip(parts, message.parts, strict=True))
    return message if same else replace(message, parts=parts)


def _with_kept_extras(record: Record, other: Record) -> Record:
    return record if record.extras == other.extras else replace(record, extras=other.extras)


# ---------------------------------------------------------------- why a session loses something

REASONS = {
    "event": "a session stores only events of its own agent program",
    "id": "a session requires an id; it is derived from the content",
    "model": "a session stores the model of each answer, not one for the whole",
    "message.createdAt": "every row requires a time: that of the previous row, or 1970",
}
"""True of most sessions; a dialect overrides them."""
NO_REQUEST = {
    "toolChoice": "a session does not store which tools may be called",
    "settings": "a session does not store request settings",
}
NOTHING_SENT = dict.fromkeys(("tools", "tool", *NO_REQUEST), "a session does not store what the model was sent")
"""For sessions that do not store tool definitions either."""
