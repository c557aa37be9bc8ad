"""What Claude Code does not read of a session, or not as it stands there, though the schema allows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.claude_code.rows import LINKS, NAME, ROLES, is_turn, row_of
from convcli.families.anthropic.response import IDS
from convcli.kit.ids import is_uuid
from convcli.kit.objects import Native, carried_by
from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules import links, names, trees, turns
from convcli.validation.survey import Survey, for_requests


def _unread(survey: Survey) -> Iterator[Breach]:
    is_web = isinstance(survey.document, dict)
    rows = survey.document["loglines"] if is_web else survey.document
    prefix = ("loglines",) if is_web else ()
    held = [(i, row) for i, row in enumerate(rows) if isinstance(row, dict) and row.get("type") in ROLES]
    if is_web:
        yield Breach("unread-row", NodeRef(steps=prefix), "the program does not read what the web keeps")
    elif held and not is_uuid(survey.transcript.id):
        yield Breach("unread-row", NodeRef(steps=(held[0][0],)), "the program finds a session by a UUID")
    is_linked = any(isinstance(row.get("parentUuid"), str) for _, row in held) or len(held) < 2
    for i, row in held:
        for problem, severity in _problems(row, is_linked):
            yield Breach("unread-row", NodeRef(steps=(*prefix, i)), problem, severity)
    first: dict[str, int] = {}
    for i, row in held:
        uuid = row.get("uuid")
        if isinstance(uuid, str) and first.setdefault(uuid, i) != i:
            note = ("the first one", NodeRef(steps=(*prefix, first[uuid])))
            problem = "another row has this uuid too, and only one of them is read"
            yield Breach("duplicate-message-id", NodeRef(steps=(*prefix, i)), problem, "warning", notes=(note,))


def _problems(row: Native, is_linked: bool) -> Iterator[tuple[str, Severity]]:
    if not is_turn(row):
        yield "the program reads no message in this row", "warning"
    elif not (is_linked and isinstance(row.get("uuid"), str) and "parentUuid" in row):
        yield "the program goes on only with rows that are linked", "error"
    elif "timestamp" not in row:
        yield "the program writes the time of every row", "warning"


def _cut(survey: Survey) -> Iterator[Breach]:
    problem = "no row has the uuid of this parent, so the program sends nothing that stands before"
    for i, message in enumerate(survey.messages):
        lines = [carried_by(part.extras, NAME).get("line", {}) for part in message.parts]
        for k, beside in enumerate([row_of(message), *lines]):
            if not beside.keys().isdisjoint(LINKS):
                at: Any = NodeRef(i, k - 1) if k else NodeRef(i, field="message.parentId")
                yield Breach("missing-parent", at, problem, "warning")


RULES = (
    for_requests(Rule(("unread-row", "duplicate-message-id"), _unread)),
    for_requests(Rule(("missing-parent",), _cut)),
    links.paired(links.PairingRules(where="later", missing="warning", unique="request")),
    turns.parts_in_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    turns.results_in_roles("user"),
    turns.decodable(),
    for_requests(turns.signed()),
    for_requests(turns.not_blank()),
    for_requests(names.of_calls(IDS)),
    trees.rooted(mended=True),
)
