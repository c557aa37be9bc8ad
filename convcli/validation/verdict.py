"""Turns rule breaches into findings: on a document, or on an output with pointers into its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

from msgspec.structs import replace

from convcli.model.dialect import Dialect
from convcli.model.fields import is_supported
from convcli.model.findings import Finding
from convcli.model.inventory import Inventory
from convcli.model.rule import NO_INDEX, Breach, NodeRef, Purpose, Rule
from convcli.model.transcript import Message, Path, Transcript
from convcli.proof.places import Places
from convcli.proof.records import fields_of
from convcli.validation.rules import arguments, tools, turns
from convcli.validation.rules.kinds import known_types
from convcli.validation.survey import Survey, applicable, path_of
from convcli.wire import pointers

Placing = Callable[[NodeRef], Path]


def findings(document: Any, transcript: Transcript, dialect: Dialect, rules: Sequence[Rule]) -> list[Finding]:
    """Returns the findings of these rules on a document of this dialect and its transcript."""
    if not rules:
        return []
    survey = Survey(transcript, document, dialect)
    return [_finding(breach, survey.shown) for breach in _in_order(survey.breaches(rules))]


def of_document(
    document: Any, transcript: Transcript, dialect: Dialect, purpose: Purpose = "document", more: Sequence[Rule] = ()
) -> list[Finding]:
    """Returns the findings of the dialect's rules, and of more, on one of its documents and its transcript."""
    survey = Survey(transcript, document, dialect, purpose)
    breaches = _breaches(survey, dialect) + survey.breaches(more)
    return [_finding(breach, survey.shown) for breach in _in_order(breaches)]


OF_ALL = (turns.decodable("warning"), arguments.readable(), tools.sound())
"""What is wrong with a document whatever a service demands. An output shows it too, or a loss names its place."""


@cache
def rules_of(dialect: Dialect) -> tuple[Rule, ...]:
    """Returns the rules for documents of this dialect: its own, that its part types are known, and those of all
    dialects that it does not state itself. Arguments are compared with tools where it can store any."""
    types = () if dialect.carries_all else (known_types(dialect.name),)
    stated = {code for rule in dialect.rules for code in rule.codes}
    has_tools = any(is_supported("tool", dialect.supports_in(form)) for form in dialect.forms)
    filled = (arguments.not_filled(),) if has_tools else ()
    return (*dialect.rules, *types, *filled, *(rule for rule in OF_ALL if stated.isdisjoint(rule.codes)))


def of_input(document: Any, transcript: Transcript, source: Dialect, target: Dialect) -> list[Finding]:
    """Returns, as warnings, findings on a document that the output will not show: see `Rule.of_input`."""
    rules = _of_input(source, target)
    codes = {code for rule in rules for code in rule.of_input}
    all_findings = findings(document, transcript, source, rules)
    return [replace(finding, severity="warning") for finding in all_findings if finding.code in codes]


@cache
def _of_input(source: Dialect, target: Dialect) -> tuple[Rule, ...]:
    """The rules for the input; the same rule of the target finds the same in the output, if that has the tools."""
    known = rules_of(target) if is_supported("tool", target.supports_in(target.forms[0])) else ()
    return tuple(rule for rule in rules_of(source) if rule.of_input and rule not in known)


def of_output(
    written: Any,
    after: Transcript,
    target: Dialect,
    before: Transcript,
    source: Dialect | None,
    *,
    purpose: Purpose = "document",
    inventory: Inventory | None = None,
) -> list[Finding]:
    """Returns the findings of the target's rules on an output, with pointers into its source. `inventory` is that of
    the messages of `after`, or of equal ones."""
    if not rules_of(target):
        return []
    breaches = _in_order(_breaches(Survey(after, written, target, purpose, inventory), target))
    if all(breach.at == ROOT and not breach.notes for breach in breaches):
        return [_finding(breach, _whole) for breach in breaches]
    places = Places(before, source)
    placing = _in_source(before, after, places)
    return [_finding(breach, lambda at: places.present(placing(at))) for breach in breaches]


ROOT = NodeRef()


def _whole(_: NodeRef) -> Path:
    return ()


def _breaches(survey: Survey, dialect: Dialect) -> list[Breach]:
    rules = _applicable(dialect, survey.purpose, frozenset(survey.subjects))
    return [breach for rule in rules for breach in rule.check(survey)]


@lru_cache(maxsize=4096)
def _applicable(dialect: Dialect, purpose: Purpose, subjects: frozenset[str]) -> list[Rule]:
    """A table of the dialect: which of its rules a transcript with these subjects can break."""
    return applicable(rules_of(dialect), purpose, subjects)


def _in_order(breaches: list[Breach]) -> list[Breach]:
    """Returns the breaches in transcript order: the whole, messages and parts, tools."""
    if len(breaches) < 2:
        return breaches
    return sorted(breaches, key=lambda breach: (breach.at.tool, breach.at.message, breach.at.part))


def _finding(breach: Breach, placing: Placing) -> Finding:
    notes = tuple(
        text if at is None else f"{text}: {pointers.pointer(placing(at)) or '/'}" for text, at in breach.notes
    )
    return Finding(
        breach.code,
        breach.severity,
        breach.message,
        pointers.pointer(placing(breach.at)),
        help=breach.help,
        notes=notes,
    )


def _in_source(before: Transcript, after: Transcript, places: Places) -> Placing:
    """Maps nodes of `after` to paths in the document of `before`; a generated node maps to the one before it."""
    names = [tool.name for tool in before.tools or ()]
    first = {name: index for index, name in reversed(list(enumerate(names)))}
    in_message: Placing | None = None

    def placing(at: NodeRef) -> Path:
        nonlocal in_message
        if at.tool != NO_INDEX:
            name = (after.tools or [])[at.tool].name if at.tool < len(after.tools or ()) else ""
            index = at.tool if names[at.tool : at.tool + 1] == [name] else first.get(name, at.tool)
            return path_of(places, replace(at, tool=index) if index < len(names) else NodeRef(field="tools"))
        if at.message == NO_INDEX:
            return path_of(places, replace(at, steps=()))
        if in_message is None:
            in_message = _in_message(before, after, places)
        return in_message(at)

    return placing


def _in_message(before: Transcript, after: Transcript, places: Places) -> Placing:
    """Maps nodes of messages and parts, after aligning the messages of both."""
    from bisect import bisect_right  # not at the top: most findings are about the whole document

    from convcli.proof.align import align

    invented = [transcript.origin.generated_ids for transcript in (before, after) if transcript.origin is not None]
    alignment = align(before.messages, after.messages, set().union(*invented))
    parts = {output: origin for origin, output in alignment.all_parts(before.messages).items()}
    messages: dict[int, int] = {}
    for i, j in enumerate(alignment.message_of):
        if j is not None:
            messages.setdefault(j, i)
    known = sorted(messages)

    def placing(at: NodeRef) -> Path:
        if (at.message, at.part) in parts:
            i, k = parts[at.message, at.part]
            return path_of(places, replace(at, message=i, part=k))
        if at.message in messages and at.part == NO_INDEX:
            index = messages[at.message]
            is_set = getattr(before.messages[index], _attribute(at.field), None) is not None
            return path_of(places, NodeRef(index, field=at.field if is_set else ""))
        near = bisect_right(known, at.message)
        return path_of(places, NodeRef(messages[known[near - 1]]) if near else NodeRef())

    return placing


@cache
def _attribute(field: str) -> str:
    """Returns the message attribute for this field; "role", which every message has, if there is none."""
    return next((name for name, known in fields_of(Message, "message") if known == field != ""), "role")
