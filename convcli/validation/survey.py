"""A transcript prepared for rules: its messages, parts, calls and results, each with its node."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.model.branches import INSTRUCTIONS, active
from convcli.model.dialect import Dialect
from convcli.model.inventory import RESULT_KINDS, Inventory, kinds
from convcli.model.rule import NO_INDEX, Breach, NodeRef, Purpose, Rule
from convcli.model.transcript import MEDIA_KINDS, ROLES, Message, Path, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.proof.places import Places
from convcli.wire import pointers

KINDS = ("text", "reasoning", "refusal", "tool_call", "tool_result", "opaque", *MEDIA_KINDS)
"""The types of parts."""
CONVERSATION = frozenset(ROLES).difference(INSTRUCTIONS)
"""The roles of messages that are no instructions."""
LINKED = ("tool_call", "tool_result")
"""Parts that must match each other."""

ANY, EMPTY, RESPONSE, UNSPOKEN = "any", "empty message", "response", "no conversation"
FIELDS = ("tools", "toolChoice", "settings", "model", "generated ids")
SUBJECTS = frozenset((*ROLES, *KINDS, *RESULT_KINDS.values(), EMPTY, "extras", *FIELDS, RESPONSE, UNSPOKEN, ANY))
"""What rules can be about: roles, types of parts, kinds of results, a message without parts, extras of parts, fields of
the transcript, ids that the document does not have, a document that contains only a model's answer, and one without
messages besides instructions; `any` stands for every transcript."""


class LocatedCall(msgspec.Struct, frozen=True):
    """A call and its position."""

    message: int
    part: int
    call: ToolCall

    def at(self, field: str = "") -> NodeRef:
        """Returns the node of the call, or of one of its fields."""
        return NodeRef(self.message, self.part, field=field)


class LocatedResult(msgspec.Struct, frozen=True):
    """A result and its position."""

    message: int
    part: int
    result: ToolResult

    def at(self, field: str = "") -> NodeRef:
        """Returns the node of the result, or of one of its fields."""
        return NodeRef(self.message, self.part, field=field)


class Survey:
    """One transcript with its document and its inventory, for the rules. A given inventory is that of its messages, or
    of equal ones.

    `active_indexes` are the messages that a service would see, and `subjects` is what the transcript has of `SUBJECTS`.
    Most transcripts break no rule, so rules look there first and create nodes only for breaches.
    """

    def __init__(
        self,
        transcript: Transcript,
        document: Any,
        dialect: Dialect | None,
        purpose: Purpose = "document",
        inventory: Inventory | None = None,
    ) -> None:
        self.transcript, self.document, self.purpose, self.dialect = transcript, document, purpose, dialect
        self.messages: list[Message] = transcript.messages
        self.tools: list[ToolDefinition] = transcript.tools or []
        origin = transcript.origin
        self.form: str = origin.form if origin is not None else ""
        self.invented: set[str] = origin.generated_ids if origin is not None else set()
        self.inventory = inventory = inventory or Inventory(self.messages)
        self.roles, self.parts, self.carrying = inventory.roles, inventory.parts, inventory.carrying
        self.subjects = self._subjects()
        self.active_indexes = self._active_indexes()

    def _subjects(self) -> set[str]:
        subjects = {ANY, *self.roles}
        if subjects.isdisjoint(CONVERSATION):
            subjects.add(UNSPOKEN)
        subjects.update(self.inventory.ask(kinds))
        if self.parts["tool_result"]:
            subjects.add("tool_result")
        if self.form == RESPONSE:
            subjects.add(RESPONSE)
        if self.inventory.empty:
            subjects.add(EMPTY)
        if self.carrying:
            subjects.add("extras")
        if self.tools:
            subjects.add("tools")
        if self.transcript.tool_choice is not None:
            subjects.add("toolChoice")
        if self.transcript.settings:
            subjects.add("settings")
        if self.transcript.model:
            subjects.add("model")
        if self.invented:
            subjects.add("generated ids")
        return subjects

    def _active_indexes(self) -> Sequence[int]:
        """The indexes of the messages that a service would see: no events, and only the active branch of a tree."""
        if self.transcript.head is None and "event" not in self.subjects:
            return range(len(self.roles))
        ids = {id(message) for message in active(self.transcript)}
        return [i for i, message in enumerate(self.messages) if id(message) in ids]

    def breaches(self, rules: Iterable[Rule]) -> list[Breach]:
        """Returns the breaches of the rules, in their order; only those are called that apply."""
        return [breach for rule in applicable(rules, self.purpose, self.subjects) for breach in rule.check(self)]

    @cached_property
    def places(self) -> Places:
        """The paths of the transcript's nodes: most transcripts need none."""
        return Places(self.transcript, self.dialect)

    @cached_property
    def calls(self) -> list[LocatedCall]:
        """All calls, in order."""
        return [LocatedCall(*entry) for entry in self.parts["tool_call"]]

    @cached_property
    def results(self) -> list[LocatedResult]:
        """All results, in order."""
        return [LocatedResult(*entry) for entry in self.parts["tool_result"]]

    def path(self, at: NodeRef) -> Path:
        """Returns the path of a node in the document."""
        return path_of(self.places, at)

    def shown(self, at: NodeRef) -> Path:
        """Returns the path at which a finding is reported: that of the innermost node which the document has. A JSON
        string has no nodes inside."""
        path, value = self.path(at), self.document
        for i, step in enumerate(path):
            if isinstance(value, str):
                return path[:i]
            try:
                value = value[step]
            except (LookupError, TypeError):
                return path[:i]
        return path

    def native(self, at: NodeRef) -> Any:
        """Returns the document's value for a node, None if there is none."""
        return _value(self.document, self.path(at))

    def native_part(self, index: int, part: int) -> Any:
        """Returns the document's value for a part of a message, None if there is none."""
        return _value(self.document, self.places.routed(self.places.part(index, part)))

    @cached_property
    def message_paths(self) -> list[Path]:
        """The path of each message in the document: several messages may come from one object."""
        origin, count = self.transcript.origin, len(self.messages)
        if origin is None or len(origin.places) != count:
            return [("messages", index) for index in range(count)]
        paths = [path for path, _ in origin.places]
        return list(map(self.places.routed, paths)) if origin.routes else paths

    @cached_property
    def natives(self) -> list[Any]:
        """The document's value for each message, None if there is none."""
        document, paths = self.document, self.message_paths
        try:  # the items of a list, as in most documents
            values = [document[key][index] for key, index in paths]
        except (LookupError, TypeError, ValueError):
            return [_value(document, path) for path in paths]
        return [_value(document, path) for path in paths] if str in map(type, values) else values

    def native_message(self, index: int) -> Any:
        """Returns the document's value for a message, None if there is none."""
        return _value(self.document, self.message_paths[index])

    def is_one_turn(self, i: int, j: int) -> bool:
        """True if two messages come from one object of the document."""
        return self.message_paths[i] == self.message_paths[j]

    def turns(self) -> Iterator[list[int]]:
        """Groups the active messages by the object of the document that they come from."""
        turn: list[int] = []
        place: Path | None = None
        for i in self.active_indexes:
            before, place = place, self.message_paths[i]
            if turn and place != before:
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


def applicable(rules: Iterable[Rule], purpose: Purpose, subjects: Collection[str]) -> list[Rule]:
    """Returns the rules that apply to transcripts judged as this which have these subjects, and no others."""
    return [rule for rule in rules if purpose in rule.purposes and any(one in subjects for one in rule.subjects)]


def limited_to(rule: Rule, *codes: str) -> Rule:
    """Restricts a rule to a service where it can report only these codes."""
    of_input, of_sent = (tuple(code for code in each if code in codes) for each in (rule.of_input, rule.of_sent))
    return replace(rule, codes=codes, of_input=of_input, of_sent=of_sent)


def for_requests(rule: Rule) -> Rule:
    """Restricts a rule to requests: a stored transcript may break it."""
    return replace(rule, purposes=("request",), of_sent=rule.codes)


def for_outputs(rule: Rule) -> Rule:
    """Restricts a rule to requests and outputs: a stored document may break it."""
    return replace(rule, purposes=("request", "output"), of_sent=rule.codes)
