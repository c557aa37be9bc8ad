"""What Claude Code does not read in a session, or reads differently, although the schema allows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.claude_code.rows import LINKS, NAME, ROLES, is_turn, row_of
from convcli.families.anthropic.response import IDS
from convcli.kit.ids import is_uuid
from convcli.kit.objects import Native, get_extras
from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules import links, names, trees, turns
from convcli.validation.survey import Survey, for_requests


def _unread(survey: Survey) -> Iterator[Breach]:
    is_web = isinstance(survey.document, dict)
    rows = survey.document["loglines"] if is_web else survey.document
    prefix = ("loglines",) if is_web else ()
    message_rows = [(i, row) for i, row in enumerate(rows) if isinstance(row, dict) and row.get("type") in ROLES]
    if is_web:
        yield Breach("unread-row", NodeRef(steps=prefix), "Claude Code does not read documents of its web version")
    elif message_rows and not is_uuid(survey.transcript.id):
        yield Breach("unread-row", NodeRef(steps=(message_rows[0][0],)), "Claude Code finds a session only by a UUID")
    is_linked = any(isinstance(row.get("parentUuid"), str) for _, row in message_rows) or len(message_rows) < 2
    for i, row in message_rows:
        for problem, severity in _problems(row, is_linked):
            yield Breach("unread-row", NodeRef(steps=(*prefix, i)), problem, severity)
    first: dict[str, int] = {}
    for i, row in message_rows:
        uuid = row.get("uuid")
        if isinstance(uuid, str) and first.setdefault(uuid, i) != i:
            note = ("the first row", NodeRef(steps=(*prefix, first[uuid])))
            problem = "another row has the same uuid: only one of them is read"
            yield Breach("duplicate-message-id", NodeRef(steps=(*prefix, i)), problem, "warning", notes=(note,))


def _problems(row: Native, is_linked: bool) -> Iterator[tuple[str, Severity]]:
    if not is_turn(row):
        yield "Claude Code reads no message in this row", "warning"
    elif not (is_linked and isinstance(row.get("uuid"), str) and "parentUuid" in row):
        yield "Claude Code resumes only linked rows (`uuid` and `parentUuid`)", "error"
    elif "timestamp" not in row:
        yield "Claude Code writes a timestamp in every row", "warning"


def _cut(survey: Survey) -> Iterator[Breach]:
    problem = "no row has the uuid of this parent: Claude Code sends no earlier message"
    for i, message in enumerate(survey.messages):
        lines = [get_extras(part.extras, NAME).get("line", {}) for part in message.parts]
        for k, row_extras in enumerate([row_of(message), *lines]):
            if not row_extras.keys().isdisjoint(LINKS):
                at: Any = NodeRef(i, k - 1) if k else NodeRef(i, field="message.parentId")
                yield Breach("missing-parent", at, problem, "warning")


RULES = (
    for_requests(Rule(("unread-row", "duplicate-message-id"), _unread)),
    for_requests(Rule(("missing-parent",), _cut)),
    links.paired(links.PairingRules(where="later", missing="warning", unique="request")),
    turns.parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    turns.results_in_roles("user"),
    turns.decodable(),
    for_requests(turns.signed()),
    for_requests(turns.not_blank()),
    for_requests(names.of_calls(IDS)),
    trees.rooted(fixed=True),
)
