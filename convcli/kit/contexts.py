"""What the lift of one document adds to: its messages, where they stand, and the pairing of its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from convcli.kit.objects import Native
from convcli.kit.pairing import Pairing
from convcli.model.transcript import Message, Origin, Path, Spots, Transcript


class LiftContext:
    """One document while it is lifted, in the name of one dialect, which a family is lent.

    `dialect` is the name under which keys without a field are carried · `spot` is where the parts of a message stand,
    relative to it, unless they have places of their own.
    """

    __slots__ = ("dialect", "messages", "origin", "pairing")

    def __init__(self, dialect: str, document: Any, *, owner: str = "", spot: Path = ("content",)) -> None:
        self.dialect = owner or dialect
        self.pairing = Pairing(document)
        self.origin = Origin(dialect, spot=spot, invented=self.pairing.invented)
        self.messages: list[Message] = []

    def add(self, message: Message, path: Path, spots: Spots = None) -> None:
        """One more message, and where it and its parts stand."""
        self.messages.append(message)
        self.origin.places.append((path, spots))

    def each(self, natives: Iterable[Any], prefix: Path, lift_one: LiftOne) -> None:
        """The messages of a list that stands at `prefix`, one for each item."""
        messages, places = self.messages, self.origin.places
        for index, native in enumerate(natives):
            message, spots = lift_one(native, self)
            messages.append(message)
            places.append(((*prefix, index), spots))

    def transcript(self, **fields: Any) -> Transcript:
        """The transcript of the messages so far."""
        return Transcript(self.messages, origin=self.origin, **fields)


LiftOne: TypeAlias = Callable[[Native, LiftContext], tuple[Message, Spots]]
"""Lifts one item of a list of messages: the message, and where its parts stand relative to it."""


LiftWhole: TypeAlias = Callable[[Native, LiftContext], Transcript]
"""Lifts what stands around the messages of a request, or a whole answer."""


def lift_forms(
    name: str, lift_one: LiftOne, request: LiftWhole, answer: LiftWhole, *, answers: str = ""
) -> Callable[[Any], Transcript]:
    """The lift of a dialect whose documents are bare lists of messages, requests with `messages`, or what a service
    answered: those with the key `answers`, or without `messages`."""

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
