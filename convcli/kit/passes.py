"""Builds passes from functions on messages, parts, results and tools, and fuses consecutive ones.

A pass adapts a transcript to a target. It does not change its input, and shares what it leaves unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from convcli.model.dialect import Pass
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


def on_messages(fits: Callable[[list[Message]], list[Message]]) -> Pass:
    """Returns a pass that changes only messages."""

    def change_messages(transcript: Transcript) -> Transcript:
        messages = fits(transcript.messages)
        return transcript if messages is transcript.messages else replace(transcript, messages=messages)

    return change_messages


def on_each_message(fits: Callable[[Message], Message | None]) -> Pass:
    """Returns a pass over single messages; None drops the message."""
    return on_messages(lambda messages: shared(messages, [fits(message) for message in messages]))


PartFit: TypeAlias = Callable[[Any, Message], Part | None]
"""Adapts a part, given its message; None drops it. May be called twice for one part."""


class PartPass:
    """A pass over single parts, of these types or of any.

    Consecutive ones walk a transcript once (`fused`). Most parts stay unchanged, so this is checked first, without
    copying anything.
    """

    __slots__ = ("_of_type", "_steps")

    def __init__(self, *steps: tuple[frozenset[str], PartFit]) -> None:
        self._steps = steps
        kinds = frozenset[str]().union(*(types for types, _ in steps))
        self._of_type = {kind: tuple(fits for types, fits in steps if kind in types) for kind in kinds}

    def __call__(self, transcript: Transcript) -> Transcript:
        messages, of_type = transcript.messages, self._of_type
        changed: dict[int, None] = {}
        for index, message in enumerate(messages):
            for part in message.parts:
                for fits in of_type.get(part.type, ()):
                    if fits(part, message) is not part:
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
        for types, fits in self._steps:
            if part is None:
                return None
            if part.type in types:
                part = fits(part, message)
        return part

    def then(self, other: PartPass) -> PartPass:
        """Returns both passes as one walk."""
        return PartPass(*self._steps, *other._steps)


MEDIA = MEDIA_KINDS
PART_TYPES = ("text", "reasoning", "refusal", *MEDIA, "tool_call", "tool_result", "opaque")


def on_parts(fits: PartFit, *types: str) -> PartPass:
    """Returns a pass over single parts, with their message, of these types or of any; None drops the part."""
    return PartPass((frozenset(types or PART_TYPES), fits))


def on_each_part(fits: Callable[[Part], Part]) -> Pass:
    """Returns a pass that visits every part once, in order, for functions with state, such as unique names."""

    def change_parts(message: Message) -> Message:
        parts = shared(message.parts, [fits(part) for part in message.parts])
        return message if parts is message.parts else replace(message, parts=parts)

    return on_each_message(change_parts)


def on_results(fits: Callable[[ToolResult], ToolResult]) -> PartPass:
    """Returns a pass over tool results only."""
    return on_parts(lambda result, _: fits(result), "tool_result")


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
