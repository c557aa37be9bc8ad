"""A text or an id with half of a surrogate pair is read as any other, however the half is spelled.

In capital letters it is a string of another class: `x.__class__ is str` is false for it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import answers
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import ConvcliError
from convcli.proof.places import Places
from convcli.wire.surrogates import Spelled
from tests.support import about, facts, names, samples_of

HALF = "\ud83d"
FREE = frozenset(
    (
        *("content", "text", "thinking", "output", "name", "title"),
        *("id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id"),
    )
)
"""Keys of texts and ids in many dialects."""


def with_halves(value: Any, *, capital: bool, key: str = "") -> Any:
    """The value with half of a pair at the end of every free text."""
    if isinstance(value, str) and key in FREE:
        literal = json.dumps(value + HALF, ensure_ascii=False)
        return Spelled(literal.replace(HALF, r"\uD83D")) if capital else value + HALF
    if isinstance(value, dict):
        return {name: with_halves(child, capital=capital, key=name) for name, child in value.items()}
    if isinstance(value, list):
        children = [with_halves(child, capital=capital, key=key) for child in value]
        return Rows(children) if isinstance(value, Rows) else children
    return value


def read(document: Any, dialect: Dialect) -> tuple[str, list[Any]]:
    """What a document says, without the case of its letters, and the paths of all parts."""
    transcript = answers.lift(document, dialect)
    places = Places(transcript, dialect)
    parts = [(i, k) for i, message in enumerate(transcript.messages) for k in range(len(message.parts))]
    return json.dumps(facts(transcript)).lower(), [places.part(i, k) for i, k in parts]


@pytest.mark.parametrize("name", names())
def test_half_of_a_pair_is_read_the_same_however_it_is_spelled(name: str) -> None:
    dialect = dialects.get(name)
    for sample in samples_of(name):
        small = None
        with suppress(ConvcliError):
            small = read(with_halves(sample.document, capital=False), dialect)
        with about(sample):
            assert small is None or read(with_halves(sample.document, capital=True), dialect) == small
