"""A schema with chains of cases accepts the same documents, and tries fewer cases."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from convcli.validation import schemas
from convcli.validation.cases import with_chained_cases


def case(key: str, stated: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"required": [key], "properties": {key: stated}}, "then": then}


NUMBER = {"properties": {"n": {"type": "integer"}}}
TEXT = {"required": ["t"], "type": "object"}
EXCLUSIVE = [case("role", {"const": "a"}, NUMBER), case("role", {"enum": ["b", "c"]}, TEXT)]
OVERLAPPING = [
    *EXCLUSIVE,
    case("role", {"const": "c"}, NUMBER),
    case("kind", {"const": "a"}, TEXT),
    {"not": {"const": 3}},
]
VALUES: list[Any] = [
    *(
        {"role": role, **rest}
        for role in ("a", "b", "c", "d", 1, None)
        for rest in ({}, {"n": 1}, {"n": "1"}, {"t": 1})
    ),
    {"role": "c", "t": 1, "n": "1"},
    {"kind": "a"},
    {},
    *("a", 3, 4, None, [], [{"role": "b"}]),
]


@pytest.mark.parametrize("members", [EXCLUSIVE, OVERLAPPING], ids=["exclusive", "overlapping"])
def test_a_schema_with_chains_accepts_the_same_values(members: list[Any]) -> None:
    plain, chained = ({"allOf": members}, with_chained_cases({"allOf": members}))
    verdicts = [Draft202012Validator(plain).is_valid(value) for value in VALUES]
    assert [Draft202012Validator(chained).is_valid(value) for value in VALUES] == verdicts
    assert {True, False} == {*verdicts}


def test_the_cases_of_a_key_become_one_chain() -> None:
    (chain,) = with_chained_cases({"allOf": EXCLUSIVE})["allOf"]
    assert chain["then"] == {**EXCLUSIVE[0], "else": EXCLUSIVE[1]}
    assert len(with_chained_cases({"allOf": OVERLAPPING})["allOf"]) == 4


def test_a_schema_itself_stays_as_it_is() -> None:
    before = repr(schemas.schema("codex"))
    assert with_chained_cases(schemas.schema("codex")) != schemas.schema("codex")
    assert repr(schemas.schema("codex")) == before


def test_values_are_no_schemas() -> None:
    schema = {"const": {"allOf": EXCLUSIVE}, "enum": [{"allOf": EXCLUSIVE}]}
    assert with_chained_cases(schema) == schema
