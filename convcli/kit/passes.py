"""Builds passes from functions on messages, parts, results and tools, and fuses consecutive ones.

A pass adapts a transcript to a target. It does not change its input, and shares what it leaves unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import is_
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from convcli.model.dialect import Pass
from convcli.model.inventory import RESULT_KINDS, Informed, Inventory, Question, groups, kind_of
from convcli.model.transcript import (
    MEDIA_KINDS,
    Message,
    Part,
    ToolDefinition,
    ToolResult,
    Transcript,
)

Record = TypeVar("Record", Message, Part, ToolDefinition)


# ---------------------------------------------------------------- passes


def on_messages(fits: Callable[[list[Message]], list[Message]], when: Question | None = None) -> Pass:
    """Returns a pass that changes only messages; with `when` only if the answer to that question is yes."""

    def change_messages(transcript: Transcript, inventory: Inventory) -> Transcript:
        if when is not None and not inventory.ask(when):
            return transcript
        messages = fits(transcript.messages)
        return transcript if messages is transcript.messages else replace(transcript, messages=messages)

    return Informed(change_messages)


def on_each_message(fits: Callable[[Message], Message | None], when: Question | None = None) -> Pass:
    """Returns a pass over single messages; None drops the message."""
    return on_messages(lambda messages: shared(messages, list(map(fits, messages))), when)


PartFit: TypeAlias = Callable[[Any, Message], Part | None]
"""Adapts a part, given its message; None drops it. May be called twice for one part."""
Subject: TypeAlias = Callable[[str, str], bool]
"""True for the roles and kinds of parts that a function on parts looks at."""


class PartPass(Informed):
    """A pass over single parts: functions with the parts that they look at.

    Consecutive ones walk a transcript once (`fused`), and each visits only its own parts. Most parts stay unchanged, so
    this is checked first, without copying anything.
    """

    __slots__ = ("_fits_of", "_steps")

    def __init__(self, *steps: tuple[Subject, PartFit]) -> None:
        super().__init__(self._change_parts)
        self._steps = steps
        self._fits_of: Callable[[str, str], tuple[PartFit, ...]] = lru_cache(maxsize=256)(self._looking_at)

    def _looking_at(self, role: str, kind: str) -> tuple[PartFit, ...]:
        """Returns the functions that look at parts of this kind, in messages of this role."""
        return tuple(fits for subject, fits in self._steps if subject(role, kind))

    def _change_parts(self, transcript: Transcript, inventory: Inventory) -> Transcript:
        messages, fits_of = transcript.messages, self._fits_of
        changed: dict[int, None] = {}
        for group, members in inventory.ask(groups).items():
            for fits in fits_of(*group):
                for index, part in members:
                    if fits(part, messages[index]) is not part:
                        changed[index] = None
        if not changed:
            return transcript
        fitted = list(messages)
        for index in changed:
            fitted[index] = self._fitted(messages[index])
        return replace(transcript, messages=fitted)

    def _fitted(self, message: Message) -> Message:
        parts = shared(message.parts, [self._step(part, message) for part in message.parts])
        return message if parts is message.parts else replace(message, parts=parts)

    def _step(self, part: Part | None, message: Message) -> Part | None:
        for subject, fits in self._steps:
            if part is None:
                return None
            if subject(message.role, kind_of(part)):
                part = fits(part, message)
        return part

    def then(self, other: PartPass) -> PartPass:
        """Returns both passes as one walk."""
        return PartPass(*self._steps, *other._steps)


MEDIA = MEDIA_KINDS
NOT_TEXT = tuple(kind for kind in RESULT_KINDS if kind != "text")
"""The kinds of results that need more than a text."""


def on_parts(fits: PartFit, *types: str) -> PartPass:
    """Returns a pass over single parts, with their message, of these types or of any; None drops the part."""
    return PartPass((lambda _, kind: not types or kind.partition(".")[0] in types, fits))


def on_each_part(fits: Callable[[Part], Part]) -> Pass:
    """Returns a pass that visits every part once, in order, for functions with state, such as unique names."""

    def change_parts(message: Message) -> Message:
        parts = shared(message.parts, [fits(part) for part in message.parts])
        return message if parts is message.parts else replace(message, parts=parts)

    return on_each_message(change_parts)


def on_results(fits: Callable[[ToolResult], ToolResult], *kinds: str) -> PartPass:
    """Returns a pass over tool results only, of these kinds or of any."""
    looked_at = {RESULT_KINDS[kind] for kind in kinds or RESULT_KINDS}
    return PartPass((lambda _, kind: kind in looked_at, lambda result, _: fits(result)))


def fused(*passes: Pass) -> tuple[Pass, ...]:
    """Fuses consecutive passes over parts into one."""
    fused_passes: list[Pass] = []
    for one in passes:
        before = fused_passes[-1] if fused_passes else None
        if isinstance(one, PartPass) and isinstance(before, PartPass):
            fused_passes[-1] = before.then(one)
        else:
            fused_passes.append(one)
    return tuple(fused_passes)


def on_tools(fits: Callable[[ToolDefinition], ToolDefinition | None]) -> Pass:
    """Returns a pass over single tool definitions; None drops the tool."""

    def change_tools(transcript: Transcript) -> Transcript:
        if not transcript.tools:
            return transcript
        tools = shared(transcript.tools, [fits(tool) for tool in transcript.tools])
        return transcript if tools is transcript.tools else replace(transcript, tools=tools or None)

    return change_tools


def shared(before: list[Record], after: Sequence[Record | None]) -> list[Record]:
    """Returns `after` without None; `before` itself if nothing has changed."""
    if len(before) == len(after) and all(map(is_, before, after)):
        return before
    return [record for record in after if record is not None]


def shared_all(before: list[Message], split: Callable[[Message], list[Message]]) -> list[Message]:
    """Splits each message; returns `before` itself if nothing was split."""
    pieces = [split(message) for message in before]
    whole = all(len(piece) == 1 and piece[0] is message for piece, message in zip(pieces, before, strict=True))
    return before if whole else [message for piece in pieces for message in piece]
