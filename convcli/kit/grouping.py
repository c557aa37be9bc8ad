"""Which messages share a row of a session: a row of the user may hold several results, and words behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec.structs import replace

from convcli.model.transcript import Message, Transcript

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


def main_path(transcript: Transcript) -> Transcript:
    """Without the runs that calls began, which would stand between a call and its result; a run alone stays."""
    messages = [message for message in transcript.messages if message.parent_call_id is None]
    return replace(transcript, messages=messages) if 0 < len(messages) < len(transcript.messages) else transcript
