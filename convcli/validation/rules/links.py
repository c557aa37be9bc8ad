"""Rules that match calls with results: each call is answered once, by a result in the right place."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Literal

import msgspec

from convcli.kit.pairing import calls_answered
from convcli.kit.results import are_irregular
from convcli.model.findings import Severity
from convcli.model.rule import NO_INDEX, Breach, NodeRef, Rule
from convcli.model.transcript import Message, Path, ToolCall, ToolResult
from convcli.validation.survey import LINKED, LocatedCall, LocatedResult, Survey
from convcli.validation.wording import brief_hint, did_you_mean, shown_key

UNFINISHED = ("aborted", "error")
"""Stop reasons of messages whose calls need no result."""
MOST_NAMED = 3


class PairingRules(msgspec.Struct, frozen=True):
    """Where and how a service requires results.

    `where`: directly after the message that called, or anywhere later · `merged`: consecutive assistant messages count
    as one · `together`: all results of a message are in one message · `unique`: scope in which call ids are unique ·
    `severity`: of these findings · `missing`: severity of a missing result, None if it may be missing.
    """

    where: Literal["next", "later"] = "next"
    merged: bool = False
    together: bool = False
    unique: Literal["turn", "request"] = "turn"
    severity: Severity = "error"
    missing: Severity | None = "error"


def paired(rules: PairingRules) -> Rule:
    """Every call has its result and every result its call.

    Open calls at the end of a transcript are allowed: the tools may still be running. In a request, a service refuses
    them if some of the results are present, and usually otherwise too.
    """
    codes = (
        *("orphan-tool-result", "duplicate-tool-result", "duplicate-call-id"),
        *(("missing-tool-result",) if rules.missing else ()),
        *(("misplaced-tool-result",) if rules.where == "next" else ()),
        *(("split-tool-results",) if rules.together else ()),
    )
    of_sent = ("missing-tool-result",) if rules.missing and rules.where == "next" else ()
    return Rule(
        codes,
        lambda survey: () if is_clean(survey, rules) else PairWalk(survey, rules).breaches(),
        of_sent=of_sent,
        subjects=LINKED,
    )


def is_clean(survey: Survey, rules: PairingRules) -> bool:
    """True if each call is answered once, in its place, as in nearly all transcripts. False is no verdict yet."""
    calls, results, roles = survey.parts["tool_call"], survey.parts["tool_result"], survey.roles
    if len(survey.active_indexes) == len(roles) and not survey.inventory.ask(are_irregular):
        return not (rules.together and _is_split(survey))
    if rules.where == "next":
        return False
    line = {index: at for at, index in enumerate(survey.active_indexes)}
    places = {result.tool_call_id: line.get(i, NO_INDEX) for i, _, result in results}
    if len(places) < len(results) or any(roles[i] != "tool" for i, _, _ in results):
        return False
    for i, _, call in calls:
        if roles[i] != "assistant" or i not in line or places.pop(call.id, NO_INDEX) < line[i]:
            return False
    return not places and not (rules.together and _is_split(survey))


def _is_split(survey: Survey) -> bool:
    """True if consecutive results stand in two messages of the document."""
    located = survey.parts["tool_result"]
    pairs = pairwise(i for i, _, _ in located)
    return any(j == i + 1 and not survey.is_one_turn(i, j) for i, j in pairs)


class PairWalk:
    """Walks the messages, tracking which calls are open, answered or left unanswered."""

    def __init__(self, survey: Survey, rules: PairingRules) -> None:
        self.survey, self.rules = survey, rules
        self.turn: dict[str, LocatedCall] = {}
        self.open: OrderedDict[str, deque[LocatedCall]] = OrderedDict()  # a dict may find its first key slowly
        self.waiting = 0
        self.left: dict[str, LocatedCall] = {}
        self.answered: dict[str, LocatedResult] = {}
        self.ids: dict[str, LocatedCall] = {}
        self.reported: list[Breach] = []
        self.place: Path | None = None

    def breaches(self) -> list[Breach]:
        """Returns all breaches, in transcript order."""
        before = ""
        for i in self.survey.active_indexes:
            message = self.survey.messages[i]
            if message.role == "tool":
                self._results(i, message)
            else:
                if not (self.rules.merged and message.role == before == "assistant"):
                    self._next_turn()
                self._calls(i, message)
            before = message.role
        self._end()
        self._report_missing(self.left.values())
        half = before == "tool" and self.survey.purpose == "output"
        is_sent = self.survey.purpose == "request" or half
        if is_sent and self.rules.where == "next" and self.survey.form != "response":
            waiting = (called for each in self.open.values() for called in each)
            self._report_missing(waiting, None if before == "tool" else "warning")
        return sorted(self.reported, key=lambda breach: (breach.at.message, breach.at.part))

    def _next_turn(self) -> None:
        self.turn, self.place = {}, None
        if self.rules.where == "next":
            self._leave(self.open)
            self.open, self.waiting = OrderedDict(), 0

    def _leave(self, calls: Mapping[str, Iterable[LocatedCall]]) -> None:
        self.left |= {
            id_: called
            for id_, each in calls.items()
            for called in each
            if self.survey.messages[called.message].stop_reason not in UNFINISHED
        }

    def _end(self) -> None:
        """Leaves the unanswered calls, except those of the last turn if later answers are allowed."""
        if self.rules.where == "later":
            tail = self._tail()
            self._leave({id_: [one for one in each if one.message < tail] for id_, each in self.open.items()})

    def _tail(self) -> int:
        """Returns the index at which the final run of calls and results begins."""
        line, messages = self.survey.active_indexes, self.survey.messages
        at = len(line)
        while at and (messages[line[at - 1]].role == "tool" or _calls_something(messages[line[at - 1]])):
            at -= 1
        return line[at] if at < len(line) else len(messages)

    def _calls(self, i: int, message: Message) -> None:
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                self._call(LocatedCall(i, k, part))

    def _call(self, called: LocatedCall) -> None:
        id_ = called.call.id
        first = (self.ids if self.rules.unique == "request" else self.turn).get(id_)
        if first is not None:
            message = f"another call in this {self.rules.unique} has the same id"
            self._report("duplicate-call-id", called.at("tool_call.id"), message, ("the first", first.at()))
        self.turn.setdefault(id_, called)
        self.ids.setdefault(id_, called)
        self.answered.pop(id_, None)
        if id_ in self.left:
            self._report_missing([self.left.pop(id_)])
        self.open.setdefault(id_, deque()).append(called)
        self.waiting += 1

    def _results(self, i: int, message: Message) -> None:
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolResult):
                self._result(LocatedResult(i, k, part))

    def _result(self, answered: LocatedResult) -> None:
        id_, at = answered.result.tool_call_id, answered.at("tool_result.toolCallId")
        if id_ in self.open:
            self._close(id_, answered)
        elif id_ in self.answered:
            note = ("the first", self.answered[id_].at())
            self._report("duplicate-tool-result", at, "the call already has a result", note)
        elif id_ in self.left:
            self._report(
                "misplaced-tool-result",
                at,
                "the tool result does not directly follow the message with its call",
                ("the call", self.left.pop(id_).at()),
            )
            self.answered[id_] = answered
        else:
            self._orphan(answered)

    def _close(self, id_: str, answered: LocatedResult) -> None:
        calls = self.open[id_]
        calls.popleft()
        self.waiting -= 1
        if not calls:
            del self.open[id_]
            self.answered[id_] = answered
        if self.rules.together:
            place = self.survey.places.message(answered.message)
            if self.place is not None and place != self.place:
                message = "all results for one message must be in one message"
                self._report("split-tool-results", answered.at(), message)
            self.place = self.place or place

    def _orphan(self, answered: LocatedResult) -> None:
        calls = islice((called for each in self.open.values() for called in each), MOST_NAMED)
        more = self.waiting - MOST_NAMED
        notes = [(f"open call {shown_key(one.call.id)} of {shown_key(one.call.name)}", one.at()) for one in calls]
        known = answered.result.tool_call_id not in self.survey.invented
        self.reported.append(
            Breach(
                "orphan-tool-result",
                answered.at("tool_result.toolCallId" if known else ""),
                "the tool result answers no open call",
                self.rules.severity,
                help=brief_hint(answered.result.tool_call_id, self.open) if known else "",
                notes=(*notes, *([(f"and {more:,} more", None)] if more > 0 else ())),
            )
        )

    def _report_missing(self, calls: Iterable[LocatedCall], severity: Severity | None = None) -> None:
        for called in calls if self.rules.missing is not None else ():
            known = called.call.id not in self.survey.invented
            message = f"the call to {shown_key(called.call.name)} has no result"
            at = called.at("tool_call.id" if known else "")
            self.reported.append(Breach("missing-tool-result", at, message, severity or self.rules.missing or "error"))

    def _report(self, code: str, at: NodeRef, message: str, *notes: tuple[str, NodeRef | None]) -> None:
        self.reported.append(Breach(code, at, message, self.rules.severity, notes=notes))


def _calls_something(message: Message) -> bool:
    return any(isinstance(part, ToolCall) for part in message.parts)


def identified(severity: Severity = "error") -> Rule:
    """Every call has an id."""

    def check(survey: Survey) -> Iterator[Breach]:
        for called in survey.calls:
            alone = isinstance(survey.path(called.at())[-1], str)  # a call outside a list needs no id
            if called.call.id in survey.invented and not alone:
                message = f"the call to {shown_key(called.call.name)} has no id"
                yield Breach("missing-call-id", called.at(), message, severity)

    return Rule(("missing-call-id",), check, subjects=("generated ids",))


ID_KEY = "tool_call_id"


def results_identified() -> Rule:
    """Every tool message has its call's id; older function results name the function instead."""

    def check(survey: Survey) -> Iterator[Breach]:
        natives = survey.natives
        for i, _, _ in survey.parts["tool_result"]:
            native = natives[i]
            if isinstance(native, dict) and native.get("role") == "tool" and not native.get(ID_KEY):
                near = did_you_mean(ID_KEY, native.keys() - {ID_KEY}, f'found {{}}: did you mean "{ID_KEY}"?')
                yield Breach("missing-call-id", NodeRef(i), f"the result has no {ID_KEY}", help=near)

    return Rule(("missing-call-id",), check, subjects=("tool_result",))


def same_names() -> Rule:
    """A result names the same tool as its call."""

    def check(survey: Survey) -> Iterator[Breach]:
        names = {call.id: call.name for _, _, call in survey.parts["tool_call"]}
        if len(names) == len(survey.parts["tool_call"]) and all(
            names.get(result.tool_call_id) == result.name for _, _, result in survey.parts["tool_result"]
        ):
            return
        parts = (part for message in survey.messages for part in message.parts)
        for answered, index in zip(survey.results, calls_answered(parts, is_ordered=True), strict=True):
            called = None if index is None else survey.calls[index]
            if called is not None and called.call.name != answered.result.name:
                message = f"the result names {shown_key(answered.result.name)}, its call {shown_key(called.call.name)}"
                at = answered.at("tool_result.name")
                yield Breach("result-name-mismatch", at, message, notes=(("the call", called.at()),))

    return Rule(("result-name-mismatch",), check, subjects=("tool_result",))
