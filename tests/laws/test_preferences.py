"""A preference pair reaches every dialect that has them, whatever the program added to the messages of both lines."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import conversion
from convcli.families.rows.pairs import pair_of
from convcli.kit.texts import text_of
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Message, Text, Transcript

PAIRED = [one for one in dialects.builtin() if one.is_written and "preference" in one.forms]
OF_PROGRAM: list[dict[str, Any]] = [
    {},
    {"created_at": "2026-01-02T03:04:05Z"},
    {"cost": 0.25, "provider": "p", "parent_call_id": "c", "replaces": "all"},
    {"extras": {"claude-code": {"uuid": "1"}}},
    {"parts": [Text("Which wind?", metadata={"signature": "s"})]},
]
"""What the second line's copy of the question has: rows store none of it."""


@pytest.mark.parametrize("facts", OF_PROGRAM)
@pytest.mark.parametrize("dialect", PAIRED, ids=lambda one: one.name)
def test_the_question_of_both_answers_is_the_prompt(dialect: Dialect, facts: dict[str, Any]) -> None:
    ask, again = (Message("user", [Text("Which wind?")], id=name) for name in ("1", "3"))
    for name, value in facts.items():
        setattr(again, name, value)
    good = Message("assistant", [Text("The foehn.")], id="2", parent_id="1", label="chosen")
    bad = Message("assistant", [Text("None.")], id="4", parent_id="3", label="rejected")
    lowered = conversion.lower(Transcript([ask, good, again, bad], head="2"), dialect, Options(form="preference"))
    assert lowered.document is not None
    pair = pair_of(dialect.lift(lowered.document))
    assert pair is not None
    assert [[text_of(one.parts) for one in line] for line in pair] == [["Which wind?"], ["The foehn."], ["None."]]
