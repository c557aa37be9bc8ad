"""What a transcript holds, found once for all passes of `fit` that look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from convcli.model.transcript import Message, Part, ToolCall, ToolResult, Transcript

Answer = TypeVar("Answer")

Group: TypeAlias = tuple[str, str]
"""The role of a message, and the kind of a part (`kind_of`)."""

RESULT_KINDS = {kind: f"tool_result.{kind}" for kind in ("text", "data", "error", "multimodal")}
"""The kinds of results as parts, by their own kind."""


class Inventory:
    """The messages of a transcript with what is known about them. Nobody changes them while it is used.

    A question is a function on an inventory; each is answered once.
    """

    __slots__ = ("_answers", "messages")

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self._answers: dict[Callable[[Inventory], Any], Any] = {}

    def ask(self, question: Callable[[Inventory], Answer]) -> Answer:
        """Returns the answer to a question."""
        try:
            return self._answers[question]  # type: ignore[no-any-return]
        except KeyError:
            answer = self._answers[question] = question(self)
            return answer


Question: TypeAlias = Callable[[Inventory], bool]


def kind_of(part: Part) -> str:
    """Returns the type of a part, and for a result also its kind: `text`, `tool_result.data`."""
    return RESULT_KINDS[part.kind] if part.__class__ is ToolResult else part.type  # type: ignore[union-attr]


# ---------------------------------------------------------------- questions


def roles(inventory: Inventory) -> list[str]:
    """The role of every message."""
    return [message.role for message in inventory.messages]


def groups(inventory: Inventory) -> dict[Group, list[tuple[int, Any]]]:
    """All parts by role and kind, in order, each with the index of its message."""
    found: dict[Group, list[tuple[int, Any]]] = {}
    for index, message in enumerate(inventory.messages):
        role = message.role
        for part in message.parts:
            kind = RESULT_KINDS[part.kind] if part.__class__ is ToolResult else part.type  # type: ignore[union-attr]
            members = found.get((role, kind))
            if members is None:
                found[role, kind] = [(index, part)]
            else:
                members.append((index, part))
    return found


def calls(inventory: Inventory) -> list[tuple[int, ToolCall]]:
    """All calls, each with the index of its message, by the role of their messages."""
    by_group = inventory.ask(groups).items()
    return [member for (_, kind), members in by_group if kind == ToolCall.type for member in members]


def results(inventory: Inventory) -> list[tuple[int, ToolResult]]:
    """All results, each with the index of its message, by role and kind."""
    by_group = inventory.ask(groups).items()
    return [member for (_, kind), members in by_group if kind.startswith(ToolResult.type) for member in members]


def kinds(inventory: Inventory) -> frozenset[str]:
    """The kinds of all parts."""
    return frozenset([kind for _, kind in inventory.ask(groups)])


@cache
def has_role(*names: str) -> Question:
    """Asks whether any message has one of these roles."""
    wanted = frozenset(names)
    return lambda inventory: not wanted.isdisjoint(inventory.ask(roles))


@cache
def has_kind(*names: str) -> Question:
    """Asks whether any part is of one of these kinds."""
    wanted = frozenset(names)
    return lambda inventory: not wanted.isdisjoint(inventory.ask(kinds))


@cache
def has_field(*names: str) -> Question:
    """Asks whether any message has one of these fields."""
    values, nothing = attrgetter(*names), (None,) * len(names) if len(names) > 1 else None

    def is_set(inventory: Inventory) -> bool:
        found = list(map(values, inventory.messages))
        return found.count(nothing) < len(found)

    return is_set


# ---------------------------------------------------------------- passes


class Informed:
    """A pass that asks what a transcript holds, so that it need not look at every message."""

    __slots__ = ("fit",)

    def __init__(self, fit: Callable[[Transcript, Inventory], Transcript]) -> None:
        self.fit = fit

    def __call__(self, transcript: Transcript) -> Transcript:
        return self.fit(transcript, Inventory(transcript.messages))


def apply_all(passes: Iterable[Callable[[Transcript], Transcript]], transcript: Transcript) -> Transcript:
    """Returns the transcript after these passes. What it holds is found again only when its messages have changed."""
    inventory = Inventory(transcript.messages)
    for one in passes:
        if not isinstance(one, Informed):
            transcript = one(transcript)
        else:
            if transcript.messages is not inventory.messages:
                inventory = Inventory(transcript.messages)
            transcript = one.fit(transcript, inventory)
    return transcript
