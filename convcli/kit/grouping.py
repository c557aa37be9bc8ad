"""Messages and the rows of a session: a user row may have several results and text after them, and an answer may have
several rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec.structs import replace

from convcli.kit.objects import get_extras
from convcli.kit.passes import shared
from convcli.model.dialect import Pass
from convcli.model.transcript import Message, Part, Transcript

Continues: TypeAlias = Callable[[Message, Message, Message], bool]
"""True if a message belongs to the row of the previous one. The third argument is the first message of that row."""

_SHARED = (("tool", "tool"), ("tool", "user"), ("user", "tool"))


def are_of_user(before: Message, message: Message) -> bool:
    """True if two consecutive messages may share one user row."""
    return (before.role, message.role) in _SHARED


def begins(messages: Sequence[Message], continues: Continues) -> list[int]:
    """Returns the indexes of the messages that start a row."""
    starts: list[int] = []
    for k, message in enumerate(messages):
        if not starts or not continues(message, messages[k - 1], messages[starts[-1]]):
            starts.append(k)
    return starts


def groups(messages: Sequence[Message], continues: Continues) -> list[list[Message]]:
    """Returns the messages of each row."""
    starts = begins(messages, continues)
    return [list(messages[start:end]) for start, end in pairwise([*starts, len(messages)])]


def on_rows(transcript: Transcript, starts: Sequence[int], *passes: Pass) -> Transcript:
    """Applies passes only to the messages that start a row: the others get none of the ids and times that these passes
    generate."""
    messages = transcript.messages
    rows = replace(transcript, messages=[messages[k] for k in starts])
    for fits in passes:
        rows = fits(rows)
    fitted = list(messages)
    for k, row in zip(starts, rows.messages, strict=True):
        fitted[k] = row
    return replace(rows, messages=shared(messages, fitted))


def lines(message: Message, owner: str, key: str) -> list[list[Part]]:
    """Returns the parts of each row of an answer. A part that starts a further row has the row's extras under this
    key."""
    rows: list[list[Part]] = [[]]
    for part in message.parts:
        if rows[-1] and key in get_extras(part.extras, owner):
            rows.append([])
        rows[-1].append(part)
    return rows


def drop_subagent_runs(transcript: Transcript) -> Transcript:
    """Drops subagent runs, which would separate a call from its result. A run on its own stays."""
    messages = [message for message in transcript.messages if message.parent_call_id is None]
    return replace(transcript, messages=messages) if 0 < len(messages) < len(transcript.messages) else transcript
