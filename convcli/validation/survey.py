"""A transcript as the rules see it: its messages, parts, calls and results, each with its node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import msgspec

from convcli.model.branches import active
from convcli.model.dialect import Dialect
from convcli.model.rule import NO_INDEX, NodeRef, Rule
from convcli.model.transcript import MEDIA_KINDS, Message, Path, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.proof.places import Places
from convcli.wire import pointers

KINDS = ("text", "reasoning", "refusal", "tool_call", "tool_result", "opaque", *MEDIA_KINDS)
"""The types of parts."""

Purpose: TypeAlias = Literal["document", "request", "output"]
"""Is the transcript judged as something that is kept, as a request that a service would be sent, or as an output that
may be either?"""


class LocatedCall(msgspec.Struct, frozen=True):
    """A call and where it is."""

    message: int
    part: int
    call: ToolCall

    def at(self, field: str = "", steps: Path = ()) -> NodeRef:
        """The node of the call, or of a field of it."""
        return NodeRef(self.message, self.part, field=field, steps=steps)


class LocatedResult(msgspec.Struct, frozen=True):
    """A result and where it is."""

    message: int
    part: int
    result: ToolResult

    def at(self, field: str = "") -> NodeRef:
        """The node of the result, or of a field of it."""
        return NodeRef(self.message, self.part, field=field)


class Survey:
    """One transcript with its document, gone through once for what most rules ask for.

    `parts` holds by their type the parts of all messages, each behind the indexes of its message and in it; `carrying`
    those of them that have extras. Most transcripts break no rule, so a rule looks there first and makes nodes only of
    what it has found.
    """

    def __init__(
        self, transcript: Transcript, document: Any, dialect: Dialect | None, purpose: Purpose = "document"
    ) -> None:
        self.transcript, self.document, self.purpose = transcript, document, purpose
        self.messages: list[Message] = transcript.messages
        self.tools: list[ToolDefinition] = transcript.tools or []
        self.places = Places(transcript, dialect)
        origin = transcript.origin
        self.form: str = origin.form if origin is not None else ""
        self.invented: set[str] = origin.invented if origin is not None else set()
        self.parts: dict[str, list[tuple[int, int, Any]]] = {kind: [] for kind in KINDS}
        self.carrying: list[tuple[int, int, Any]] = []
        for i, message in enumerate(transcript.messages):
            for k, part in enumerate(message.parts):
                spot = (i, k, part)
                self.parts[part.type].append(spot)
                if part.extras is not None:
                    self.carrying.append(spot)

    @cached_property
    def calls(self) -> list[LocatedCall]:
        """All calls, in order."""
        return [LocatedCall(*spot) for spot in self.parts["tool_call"]]

    @cached_property
    def results(self) -> list[LocatedResult]:
        """All results, in order."""
        return [LocatedResult(*spot) for spot in self.parts["tool_result"]]

    @cached_property
    def active_messages(self) -> list[Message]:
        """The messages that a service would see: no events, and of a tree the active branch."""
        return active(self.transcript)

    @cached_property
    def active_indexes(self) -> Sequence[int]:
        """Their indexes."""
        if self.active_messages is self.messages:
            return range(len(self.messages))
        ids = {id(message) for message in self.active_messages}
        return [i for i, message in enumerate(self.messages) if id(message) in ids]

    def path(self, at: NodeRef) -> Path:
        """Where a node stands in the document."""
        return path_of(self.places, at)

    def shown(self, at: NodeRef) -> Path:
        """Where a finding on a node is told: what a text of the document spells has the place of the text."""
        path, value = self.path(at), self.document
        for i, step in enumerate(path):
            if isinstance(value, str):
                return path[:i]
            value = _value(value, (step,))
        return path

    def native(self, at: NodeRef) -> Any:
        """What the document says there; None where it says nothing."""
        return _value(self.document, self.path(at))

    def native_message(self, index: int) -> Any:
        """What the document says where a message stands."""
        return _value(self.document, self.places.routed(self.places.message(index)))

    def is_one_turn(self, i: int, j: int) -> bool:
        """Do two messages stand in one object of the document?"""
        return self.places.message(i) == self.places.message(j)

    def turns(self) -> Iterator[list[int]]:
        """The messages of the line by the object of the document in which they stand."""
        turn: list[int] = []
        for i in self.active_indexes:
            if turn and not self.is_one_turn(i, turn[0]):
                yield turn
                turn = []
            turn.append(i)
        if turn:
            yield turn


def _value(document: Any, path: Path) -> Any:
    """The value at a path, None where there is none; tried as quickly as can be first."""
    value = document
    try:
        for step in path:
            if value.__class__ is str:
                return None
            value = value[step]
    except (LookupError, TypeError):
        try:
            return pointers.resolve(document, path)
        except LookupError:
            return None
    return value


def path_of(places: Places, at: NodeRef) -> Path:
    """The path of a node by the places of its transcript."""
    if at.tool != NO_INDEX:
        place = places.tool(at.tool)
    elif at.part != NO_INDEX:
        place = places.part(at.message, at.part)
    elif at.message != NO_INDEX:
        place = places.message(at.message)
    elif not at.field:
        return at.steps
    else:
        place = ()
    return (*places.routed(places.field(at.field, place, present=True) if at.field else place), *at.steps)


def limited_to(rule: Rule, *codes: str) -> Rule:
    """The rule, for a service where it can find nothing but these codes."""
    return Rule(codes, rule.check, tuple(code for code in rule.of_input if code in codes))


def for_requests(rule: Rule) -> Rule:
    """The rule, but only for what a service would be sent: a transcript that is kept may break it."""
    return Rule(rule.codes, lambda survey: rule.check(survey) if survey.purpose == "request" else ())


def for_outputs(rule: Rule) -> Rule:
    """The rule, for what a service would be sent and for what was written for it, but not for what somebody keeps."""
    return Rule(rule.codes, lambda survey: rule.check(survey) if survey.purpose != "document" else ())
