"""A transcript prepared for rules: its messages, parts, calls and results, each with its node."""

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
"""What the transcript is judged as: a stored document, a request to a service, or an output that may be either."""


class LocatedCall(msgspec.Struct, frozen=True):
    """A call and its position."""

    message: int
    part: int
    call: ToolCall

    def at(self, field: str = "", steps: Path = ()) -> NodeRef:
        """Returns the node of the call, or of one of its fields."""
        return NodeRef(self.message, self.part, field=field, steps=steps)


class LocatedResult(msgspec.Struct, frozen=True):
    """A result and its position."""

    message: int
    part: int
    result: ToolResult

    def at(self, field: str = "") -> NodeRef:
        """Returns the node of the result, or of one of its fields."""
        return NodeRef(self.message, self.part, field=field)


class Survey:
    """One transcript with its document, indexed once for the rules.

    `parts` maps each type to its parts in all messages, as (message index, part index, part); `carrying` has those
    with extras. Most transcripts break no rule, so rules look there first and create nodes only for breaches.
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
        self.invented: set[str] = origin.generated_ids if origin is not None else set()
        self.parts: dict[str, list[tuple[int, int, Any]]] = {kind: [] for kind in KINDS}
        self.carrying: list[tuple[int, int, Any]] = []
        for i, message in enumerate(transcript.messages):
            for k, part in enumerate(message.parts):
                entry = (i, k, part)
                self.parts[part.type].append(entry)
                if part.extras is not None:
                    self.carrying.append(entry)

    @cached_property
    def calls(self) -> list[LocatedCall]:
        """All calls, in order."""
        return [LocatedCall(*entry) for entry in self.parts["tool_call"]]

    @cached_property
    def results(self) -> list[LocatedResult]:
        """All results, in order."""
        return [LocatedResult(*entry) for entry in self.parts["tool_result"]]

    @cached_property
    def active_messages(self) -> list[Message]:
        """The messages that a service would see: no events, and only the active branch of a tree."""
        return active(self.transcript)

    @cached_property
    def active_indexes(self) -> Sequence[int]:
        """The indexes of the active messages."""
        if self.active_messages is self.messages:
            return range(len(self.messages))
        ids = {id(message) for message in self.active_messages}
        return [i for i, message in enumerate(self.messages) if id(message) in ids]

    def path(self, at: NodeRef) -> Path:
        """Returns the path of a node in the document."""
        return path_of(self.places, at)

    def shown(self, at: NodeRef) -> Path:
        """Returns the path at which a finding is reported: inside a JSON string, the path of the string."""
        path, value = self.path(at), self.document
        for i, step in enumerate(path):
            if isinstance(value, str):
                return path[:i]
            value = _value(value, (step,))
        return path

    def native(self, at: NodeRef) -> Any:
        """Returns the document's value for a node, None if there is none."""
        return _value(self.document, self.path(at))

    def native_part(self, index: int, part: int) -> Any:
        """Returns the document's value for a part of a message, None if there is none."""
        return _value(self.document, self.places.routed(self.places.part(index, part)))

    def native_message(self, index: int) -> Any:
        """Returns the document's value for a message, None if there is none."""
        return _value(self.document, self.places.routed(self.places.message(index)))

    def is_one_turn(self, i: int, j: int) -> bool:
        """True if two messages come from one object of the document."""
        return self.places.message(i) == self.places.message(j)

    def turns(self) -> Iterator[list[int]]:
        """Groups the active messages by the object of the document that they come from."""
        turn: list[int] = []
        for i in self.active_indexes:
            if turn and not self.is_one_turn(i, turn[0]):
                yield turn
                turn = []
            turn.append(i)
        if turn:
            yield turn


def _value(document: Any, path: Path) -> Any:
    """Returns the value at a path, None if there is none; the fast way is tried first."""
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
    """Returns the path of a node, given the places of its transcript."""
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
    """Restricts a rule to a service where it can report only these codes."""
    of_input, of_sent = (tuple(code for code in each if code in codes) for each in (rule.of_input, rule.of_sent))
    return Rule(codes, rule.check, of_input, of_sent)


def for_requests(rule: Rule) -> Rule:
    """Restricts a rule to requests: a stored transcript may break it."""
    return Rule(
        rule.codes, lambda survey: rule.check(survey) if survey.purpose == "request" else (), of_sent=rule.codes
    )


def for_outputs(rule: Rule) -> Rule:
    """Restricts a rule to requests and outputs: a stored document may break it."""
    return Rule(
        rule.codes, lambda survey: rule.check(survey) if survey.purpose != "document" else (), of_sent=rule.codes
    )
