"""Runs of subagents inside of a session: which messages stand below which call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from convcli.model.transcript import Message, ToolCall
from convcli.validation.wording import counted
from convcli.views.rows import CallPairs

DEEPEST = 4
"""Runs of subagents inside of each other; deeper ones are shown after the others."""
Numbered: TypeAlias = tuple[int, Message]
"""A message and its index in the session."""


def runs_of(messages: Sequence[Message], pairs: CallPairs) -> tuple[dict[int, list[Numbered]], set[int]]:
    """Returns the messages of each run, by the number of the call that started it, and the indexes of all of them.

    A call stands before its run, so runs cannot contain each other.
    """
    number_of = dict[str, int]()
    for number, (_, _, call) in enumerate(pairs.calls):
        number_of.setdefault(call.id, number)
    runs, depths = dict[int, list[Numbered]](), dict[int, int]()
    for index, message in enumerate(messages):
        number = number_of.get(message.parent_call_id or "", -1)
        if number >= 0 and (at := pairs.calls[number][0]) < index and depths.get(at, 0) < DEEPEST:
            runs.setdefault(number, []).append((index, message))
            depths[index] = depths.get(at, 0) + 1
    return runs, set(depths)


def summary_of(run: Sequence[Numbered]) -> str:
    """Returns the line that stands for a run while it is folded."""
    calls = sum(isinstance(part, ToolCall) for _, message in run for part in message.parts)
    return f"run of the agent: {counted(len(run), 'message')}, {counted(calls, 'call')}"
