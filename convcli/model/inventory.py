"""What a transcript holds, found once for all passes of `fit` that look at it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from convcli.model.transcript import Message, Part, ToolCall, ToolResult, Transcript

Answer = TypeVar("Answer")

RESULT_KINDS = {kind: f"tool_result.{kind}" for kind in ("text", "data", "error", "multimodal")}
"""The kinds of results as parts, by their own kind."""


Entry: TypeAlias = tuple[int, int, Any]
"""A part and its position: the index of its message, its own, and the part."""


class Inventory:
    """The messages of a transcript, indexed in one walk. Nobody changes them while it is used.

    `roles` are those of the messages. `parts` maps each type to its parts in all messages; `carrying` has those with
    extras. `empty` and `several` are the indexes of messages with no part and with more than one. A question is a
    function on an inventory; each is answered once.
    """

    __slots__ = ("_answers", "carrying", "empty", "messages", "parts", "roles", "several")

    def __init__(self, messages: list[Message]) -> None:
        self.index(messages)

    def index(self, messages: list[Message]) -> None:
        """Becomes the inventory of these messages."""
        self.messages = messages
        self.roles = [message.role for message in messages]
        self.parts: dict[str, list[Entry]] = defaultdict(list)
        self.carrying: list[Entry] = []
        self.empty: list[int] = []
        self.several: list[int] = []
        self._answers: dict[Callable[[Inventory], Any], Any] = {}
        parts, carrying = self.parts, self.carrying
        for i, message in enumerate(messages):
            k = 0
            for part in message.parts:
                entry = (i, k, part)
                parts[part.type].append(entry)
                if part.extras is not None:
                    carrying.append(entry)
                k += 1  # an enumeration for each message would take longer
            if k > 1:
                self.several.append(i)
            elif not k:
                self.empty.append(i)

    def ask(self, question: Callable[[Inventory], Answer]) -> Answer:
        """Returns the answer to a question."""
        answers = self._answers
        if question not in answers:
            answers[question] = question(self)
        return answers[question]  # type: ignore[no-any-return]


Question: TypeAlias = Callable[[Inventory], bool]


def kind_of(part: Part) -> str:
    """Returns the type of a part, and for a result also its kind: `text`, `tool_result.data`."""
    return RESULT_KINDS[part.kind] if part.__class__ is ToolResult else part.type


# ---------------------------------------------------------------- questions


def calls(inventory: Inventory) -> list[ToolCall]:
    """All calls."""
    return [call for _, _, call in inventory.parts["tool_call"]]


def results(inventory: Inventory) -> list[ToolResult]:
    """All results."""
    return [result for _, _, result in inventory.parts["tool_result"]]


def texts(inventory: Inventory) -> list[str]:
    """The texts of all text parts."""
    return [part.text for _, _, part in inventory.parts["text"]]


def kinds(inventory: Inventory) -> frozenset[str]:
    """The kinds of all parts."""
    found = {kind for kind, entries in inventory.parts.items() if entries and kind != "tool_result"}
    found.update([RESULT_KINDS[result.kind] for _, _, result in inventory.parts["tool_result"]])
    return frozenset(found)


@cache
def has_role(*names: str) -> Question:
    """Asks whether any message has one of these roles."""
    wanted = frozenset(names)
    return lambda inventory: not wanted.isdisjoint(inventory.roles)


@cache
def has_kind(*names: str) -> Question:
    """Asks whether any part is of one of these kinds."""
    wanted = frozenset(names)
    return lambda inventory: not wanted.isdisjoint(inventory.ask(kinds))


@cache
def has_field(*names: str) -> Question:
    """Asks whether any message has one of these fields."""
    values: Callable[[Message], Any] = attrgetter(*names)
    nothing = (None,) * len(names) if len(names) > 1 else None

    def is_set(inventory: Inventory) -> bool:
        found = list(map(values, inventory.messages))
        return found.count(nothing) < len(found)

    return is_set


@cache
def has_part_field(name: str) -> Question:
    """Asks whether any part has this field, `metadata` or `extras`."""
    if name == "extras":
        return lambda inventory: bool(inventory.carrying)
    value = attrgetter(name)
    return lambda inventory: any(value(part) is not None for each in inventory.parts.values() for _, _, part in each)


def has_empty(inventory: Inventory) -> bool:
    """Asks whether any message has no parts."""
    return bool(inventory.empty)


def has_empty_text(inventory: Inventory) -> bool:
    """Asks whether any text is empty."""
    return "" in inventory.ask(texts)


def has_blank_text(inventory: Inventory) -> bool:
    """Asks whether any text is empty or nothing but white space."""
    return "" in inventory.ask(texts) or any(map(str.isspace, inventory.ask(texts)))


@cache
def any_of(*questions: Question) -> Question:
    """Asks several questions: true if one of the answers is yes."""
    return lambda inventory: any(map(inventory.ask, questions))


# ---------------------------------------------------------------- passes


class Informed:
    """A pass that asks what a transcript holds, so that it need not look at every message."""

    __slots__ = ("fit",)

    def __init__(self, fit: Callable[[Transcript, Inventory], Transcript]) -> None:
        self.fit = fit

    def __call__(self, transcript: Transcript) -> Transcript:
        return self.fit(transcript, Inventory(transcript.messages))


def in_turn(*passes: Callable[[Transcript], Transcript]) -> Informed:
    """Returns several passes as one."""
    return Informed(lambda transcript, inventory: apply_all(passes, transcript, inventory))


def apply_all(
    passes: Iterable[Callable[[Transcript], Transcript]], transcript: Transcript, inventory: Inventory | None = None
) -> Transcript:
    """Returns the transcript after these passes. Its messages are indexed again only when a pass has changed them."""
    inventory = inventory or Inventory(transcript.messages)
    for one in passes:
        if not isinstance(one, Informed):
            transcript = one(transcript)
        else:
            if transcript.messages is not inventory.messages:
                inventory.index(transcript.messages)
            transcript = one.fit(transcript, inventory)
    return transcript
