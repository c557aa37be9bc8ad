"""Builds passes from functions on messages, parts, results and tools, and fuses consecutive ones.

A pass adapts a transcript to a target. It does not change its input, and shares what it leaves unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import is_
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from convcli.model.caches import Cached
from convcli.model.dialect import Pass
from convcli.model.inventory import RESULT_KINDS, Informed, Inventory, Question, kind_of, kinds
from convcli.model.transcript import MEDIA_KINDS, ROLES, Message, Part, ToolDefinition, ToolResult, Transcript

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


def when(question: Question, one: Pass) -> Pass:
    """Returns the pass, which is skipped unless the answer to the question is yes."""
    return Informed(lambda transcript, inventory: one(transcript) if inventory.ask(question) else transcript)


PartFit: TypeAlias = Callable[[Any, Message], Part | None]
"""Adapts a part, given its message; None drops it. May be called twice for one part."""
Subject: TypeAlias = Callable[[str, str], bool]
"""True for the roles and kinds of parts that a function on parts looks at."""


Steps: TypeAlias = tuple[tuple[frozenset[str], PartFit], ...]
"""Functions on parts, each with the kinds that it looks at."""


Visit: TypeAlias = tuple[str, str, dict[str, tuple[PartFit, ...]]]
"""The type of parts, the kind if they are results, and the functions on them by role; roles without any are missing."""
PART_KINDS = ("text", "reasoning", "refusal", "tool_call", "opaque", *MEDIA_KINDS, *RESULT_KINDS.values())


class PartStep(msgspec.Struct, frozen=True):
    """A function on parts, the parts that it looks at, and the question without which it changes none of them."""

    subject: Subject
    fits: PartFit
    when: Question | None = None


class PartPass(Informed):
    """A pass over single parts: functions with the parts that they look at.

    Consecutive ones walk a transcript once (`fused`), and each visits only its own parts. Most parts stay unchanged, so
    this is checked first, without copying anything. Which parts a pass looks at is found when it first runs: most
    passes become parts of others.
    """

    __slots__ = ("_questions", "_steps", "_steps_in", "_visits")

    def __init__(self, *steps: PartStep) -> None:
        super().__init__(self._change_parts)
        self._steps = steps
        self._questions = tuple(step.when for step in steps if step.when is not None)
        self._steps_in, self._visits = Cached(self._in_role), Cached(self._by_kind, most=256)

    def _in_role(self, role: str, without: Collection[Question] = ()) -> Steps:
        """Returns the functions for messages of this role, `without` those of the questions that are answered no."""
        steps = [step for step in self._steps if step.when not in without]
        kinds_of = [(frozenset(kind for kind in PART_KINDS if step.subject(role, kind)), step.fits) for step in steps]
        return tuple((of_kinds, fits) for of_kinds, fits in kinds_of if of_kinds)

    def _by_kind(self, given: tuple[frozenset[str], tuple[Question, ...]]) -> list[Visit]:
        """Returns the functions on the kinds of parts that are present, `without` those of these questions."""
        present, without = given
        steps = {role: self._in_role(role, without) for role in ROLES}
        visits = []
        for kind in sorted(present):
            in_roles = {role: tuple(fits for kinds, fits in steps[role] if kind in kinds) for role in ROLES}
            of_type, _, of_result = kind.partition(".")
            visits.append((of_type, of_result, {role: fits for role, fits in in_roles.items() if fits}))
        return [visit for visit in visits if visit[-1]]

    def _change_parts(self, transcript: Transcript, inventory: Inventory) -> Transcript:
        without = tuple([question for question in self._questions if not inventory.ask(question)])
        messages, roles = transcript.messages, inventory.roles
        changed: set[int] = set()
        for of_type, result_kind, fits_in in self._visits[inventory.ask(kinds), without]:
            for i, _, part in inventory.parts[of_type]:
                if roles[i] in fits_in and (not result_kind or part.kind == result_kind):
                    for fits in fits_in[roles[i]]:
                        if fits(part, messages[i]) is not part:
                            changed.add(i)
        if not changed:
            return transcript
        fitted = list(messages)
        for i in changed:
            message = messages[i]
            steps = self._steps_in[message.role]
            after = [_after(steps, part, message) for part in message.parts]
            fitted[i] = replace(message, parts=[part for part in after if part is not None])
        return replace(transcript, messages=fitted)

    def then(self, other: PartPass) -> PartPass:
        """Returns both passes as one walk."""
        return PartPass(*self._steps, *other._steps)


def _after(steps: Steps, part: Part, message: Message) -> Part | None:
    """Returns a part after these steps, each of which sees what those before it made of the part."""
    kind = kind_of(part)
    for of_kinds, fits in steps:
        if kind in of_kinds:
            fitted = fits(part, message)
            if fitted is None:
                return None
            if fitted is not part:
                part, kind = fitted, kind_of(fitted)
    return part


MEDIA = MEDIA_KINDS
NOT_TEXT = tuple(kind for kind in RESULT_KINDS if kind != "text")
"""The kinds of results that need more than a text."""


def on_parts(fits: PartFit, *types: str, when: Question | None = None) -> PartPass:
    """Returns a pass over single parts, with their message, of these types or of any; None drops the part. With `when`,
    it changes none of them unless the answer to that question is yes."""
    return PartPass(PartStep(lambda _, kind: not types or kind.partition(".")[0] in types, fits, when))


def on_each_part(fits: Callable[[Part], Part]) -> Pass:
    """Returns a pass that visits every part once, in order, for functions with state, such as unique names."""

    def change_parts(message: Message) -> Message:
        parts = shared(message.parts, [fits(part) for part in message.parts])
        return message if parts is message.parts else replace(message, parts=parts)

    return on_each_message(change_parts)


def on_results(fits: Callable[[ToolResult], ToolResult], *kinds: str) -> PartPass:
    """Returns a pass over tool results only, of these kinds or of any."""
    looked_at = {RESULT_KINDS[kind] for kind in kinds or RESULT_KINDS}
    return PartPass(PartStep(lambda _, kind: kind in looked_at, lambda result, _: fits(result)))


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
