"""Findings of the rules of a dialect: on a document, or on an output with the places of the source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from msgspec.structs import replace

from convcli.model.dialect import Dialect
from convcli.model.findings import Finding
from convcli.model.rule import NO_INDEX, Breach, NodeRef, Rule
from convcli.model.transcript import Message, Path, Transcript
from convcli.proof.places import Places
from convcli.proof.records import fields_of
from convcli.validation.rules.kinds import known_types
from convcli.validation.survey import Purpose, Survey, path_of
from convcli.wire import pointers

Placing = Callable[[NodeRef], Path]


def findings(
    document: Any, transcript: Transcript, dialect: Dialect, rules: Sequence[Rule], purpose: Purpose = "document"
) -> list[Finding]:
    """What these rules say of a document of this dialect and its transcript."""
    if not rules:
        return []
    survey = Survey(transcript, document, dialect, purpose)
    return [_finding(breach, survey.shown) for breach in _breaches(survey, rules)]


def rules_of(dialect: Dialect) -> tuple[Rule, ...]:
    """What a document of this dialect is judged by: its own rules, and that its parts have types which it knows."""
    return dialect.rules if dialect.carries_all else (*dialect.rules, known_types(dialect.name))


def of_input(document: Any, transcript: Transcript, source: Dialect) -> list[Finding]:
    """What is wrong with a document that the output will not show, as warnings: see `Rule.of_input`."""
    rules = _of_input(source)
    told = {code for rule in rules for code in rule.of_input}
    found = findings(document, transcript, source, rules)
    return [replace(finding, severity="warning") for finding in found if finding.code in told]


@cache
def _of_input(dialect: Dialect) -> tuple[Rule, ...]:
    return tuple(rule for rule in dialect.rules if rule.of_input)


def of_output(
    written: Any,
    after: Transcript,
    target: Dialect,
    before: Transcript,
    source: Dialect | None,
    *,
    purpose: Purpose = "document",
) -> list[Finding]:
    """What the rules of the target say of an output, at the places of the source that the output was made from."""
    if not target.rules:
        return []
    breaches = _breaches(Survey(after, written, target, purpose), target.rules)
    if all(breach.at == ROOT and not breach.notes for breach in breaches):
        return [_finding(breach, _whole) for breach in breaches]
    placing, places = _in_source(before, after, source), Places(before, source)
    return [_finding(breach, lambda at: places.existing(placing(at))) for breach in breaches]


ROOT = NodeRef()


def _whole(_: NodeRef) -> Path:
    return ()


def _breaches(survey: Survey, rules: Iterable[Rule]) -> list[Breach]:
    """All breaches, in the order of the transcript: of the whole, of messages and parts, of tools."""
    breaches = [breach for rule in rules for breach in rule.check(survey)]
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


def _in_source(before: Transcript, after: Transcript, source: Dialect | None) -> Placing:
    """Where a node of `after` stands in the document of `before`; what was made up, where what precedes it stands."""
    places = Places(before, source)
    tools = {tool.name: i for i, tool in enumerate(before.tools or ())}
    in_message: Placing | None = None

    def placing(at: NodeRef) -> Path:
        nonlocal in_message
        if at.tool != NO_INDEX:
            name = (after.tools or [])[at.tool].name if at.tool < len(after.tools or ()) else ""
            index = tools.get(name, at.tool)
            return path_of(places, replace(at, tool=index) if index < len(tools) else NodeRef(field="tools"))
        if at.message == NO_INDEX:
            return path_of(places, replace(at, steps=()))
        if in_message is None:
            in_message = _in_message(before, after, places)
        return in_message(at)

    return placing


def _in_message(before: Transcript, after: Transcript, places: Places) -> Placing:
    """The same of messages and their parts, for which the messages of both are aligned."""
    from bisect import bisect_right  # not at the top: most findings are about the whole document

    from convcli.proof.align import align

    invented = [transcript.origin.invented for transcript in (before, after) if transcript.origin is not None]
    alignment = align(before.messages, after.messages, set().union(*invented))
    parts = {spot: origin for origin, spot in alignment.part_of.items()}
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
            is_said = getattr(before.messages[index], _attribute(at.field), None) is not None
            return path_of(places, NodeRef(index, field=at.field if is_said else ""))
        near = bisect_right(known, at.message)
        return path_of(places, NodeRef(messages[known[near - 1]]) if near else NodeRef())

    return placing


@cache
def _attribute(field: str) -> str:
    """The attribute of a message that has this field; of what is no field, what every message has."""
    return next((name for name, known in fields_of(Message, "message")[1] if known == field), "role")
