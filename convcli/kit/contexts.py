"""The state of one lift: the messages, their paths, and the pairing of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from convcli.kit.objects import Native
from convcli.kit.pairing import Pairing
from convcli.model.transcript import Message, Origin, PartPaths, Path, Transcript


class LiftContext:
    """One document while it is lifted, for one dialect. Families borrow it.

    `dialect` owns keys without a field · `node_path` is the path of a message's parts, relative to it, unless
    they have paths of their own.
    """

    __slots__ = ("dialect", "messages", "origin", "pairing")

    def __init__(self, dialect: str, document: Any, *, owner: str = "", node_path: Path = ("content",)) -> None:
        self.dialect = owner or dialect
        self.pairing = Pairing(document)
        self.origin = Origin(dialect, node_path=node_path, generated_ids=self.pairing.invented)
        self.messages: list[Message] = []

    def add(self, message: Message, path: Path, part_paths: PartPaths = None) -> None:
        """Adds a message, with its path and those of its parts."""
        self.messages.append(message)
        self.origin.places.append((path, part_paths))

    def each(self, natives: Iterable[Any], prefix: Path, lift_one: LiftOne) -> None:
        """Adds the messages of the list at `prefix`, one for each item."""
        messages, places = self.messages, self.origin.places
        for index, native in enumerate(natives):
            message, part_paths = lift_one(native, self)
            messages.append(message)
            places.append(((*prefix, index), part_paths))

    def transcript(self, **fields: Any) -> Transcript:
        """Returns the transcript of the messages so far."""
        return Transcript(self.messages, origin=self.origin, **fields)


LiftOne: TypeAlias = Callable[[Native, LiftContext], tuple[Message, PartPaths]]
"""Lifts one item of a message list: returns the message, and the paths of its parts relative to it."""


LiftWhole: TypeAlias = Callable[[Native, LiftContext], Transcript]
"""Lifts what is around the messages of a request, or a whole response."""


def lift_forms(
    name: str, lift_one: LiftOne, request: LiftWhole, answer: LiftWhole, *, answers: str = ""
) -> Callable[[Any], Transcript]:
    """Returns the lift of a dialect whose documents are message lists, requests with `messages`, or responses: those
    with the key `answers`, or without `messages`."""

    def lift(document: Any) -> Transcript:
        context = LiftContext(name, document)
        if isinstance(document, list):
            context.origin.form = "list"
            context.each(document, (), lift_one)
            return context.transcript()
        if answers in document if answers else "messages" not in document:
            return answer(document, context)
        context.origin.form = "request"
        context.each(document["messages"], ("messages",), lift_one)
        return request(document, context)

    return lift
