"""Messages and the rows of a session: a row of the user may hold several results, and words behind them; an answer may
have several rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec.structs import replace

from convcli.kit.objects import carried_by
from convcli.kit.passes import shared
from convcli.model.dialect import Pass
from convcli.model.transcript import Message, Part, Transcript

Continues: TypeAlias = Callable[[Message, Message, Message], bool]
"""Does a message stand in the row of the one before it? The third is the one with which that row begins."""

_SHARED = (("tool", "tool"), ("tool", "user"), ("user", "tool"))


def are_of_user(before: Message, message: Message) -> bool:
    """Can two messages that follow one another stand in one row of the user?"""
    return (before.role, message.role) in _SHARED


def begins(messages: Sequence[Message], continues: Continues) -> list[int]:
    """The messages with which rows begin, by their indexes."""
    starts: list[int] = []
    for k, message in enumerate(messages):
        if not starts or not continues(message, messages[k - 1], messages[starts[-1]]):
            starts.append(k)
    return starts


def groups(messages: Sequence[Message], continues: Continues) -> list[list[Message]]:
    """The messages of each row."""
    starts = begins(messages, continues)
    return [list(messages[start:end]) for start, end in pairwise([*starts, len(messages)])]


def on_rows(transcript: Transcript, starts: Sequence[int], *passes: Pass) -> Transcript:
    """The transcript after passes that see only the messages with which rows begin: the others have neither the ids nor
    the times that these passes make up."""
    messages = transcript.messages
    rows = replace(transcript, messages=[messages[k] for k in starts])
    for fits in passes:
        rows = fits(rows)
    fitted = list(messages)
    for k, row in zip(starts, rows.messages, strict=True):
        fitted[k] = row
    return replace(rows, messages=shared(messages, fitted))


def lines(message: Message, owner: str, key: str) -> list[list[Part]]:
    """The parts of each row of an answer; one with which a further row begins carries under this key what that says."""
    rows: list[list[Part]] = [[]]
    for part in message.parts:
        if rows[-1] and key in carried_by(part.extras, owner):
            rows.append([])
        rows[-1].append(part)
    return rows


def main_path(transcript: Transcript) -> Transcript:
    """Without the runs that calls began, which would stand between a call and its result; a run alone stays."""
    messages = [message for message in transcript.messages if message.parent_call_id is None]
    return replace(transcript, messages=messages) if 0 < len(messages) < len(transcript.messages) else transcript
