"""A schema whose cases are decided by halves accepts the same documents, and tries fewer cases."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from convcli import dialects
from convcli.validation import schemas
from convcli.validation.cases import with_decided_cases
from tests import support


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


MANY = [case("role", {"const": role}, NUMBER if role < "c" else TEXT) for role in "abcde"]
DEFINED = [{"$ref": "#/$defs/cases"}, case("role", {"const": "d"}, NUMBER)]
GROUPS = {"one": EXCLUSIVE[:1], "exclusive": EXCLUSIVE, "overlapping": OVERLAPPING, "many": MANY, "defined": DEFINED}


@pytest.mark.parametrize("members", GROUPS.values(), ids=GROUPS)
def test_a_schema_with_decisions_accepts_the_same_values(members: list[Any]) -> None:
    plain = {"$defs": {"cases": {"description": "cases", "allOf": EXCLUSIVE}}, "allOf": members}
    verdicts = [Draft202012Validator(plain).is_valid(value) for value in VALUES]
    assert [Draft202012Validator(with_decided_cases(plain)).is_valid(value) for value in VALUES] == verdicts
    assert {True, False} == {*verdicts}


def test_the_cases_of_a_key_become_one_decision() -> None:
    (decision,) = with_decided_cases({"allOf": EXCLUSIVE})["allOf"]
    assert decision["then"] == {
        "if": {"properties": {"role": {"enum": ["a"]}}},
        "then": NUMBER,
        "else": {"if": {"properties": {"role": {"enum": ["b", "c"]}}}, "then": TEXT},
    }
    assert len(with_decided_cases({"allOf": OVERLAPPING})["allOf"]) == 4


def test_the_cases_of_a_definition_are_among_them() -> None:
    schema = {"$defs": {"cases": {"allOf": EXCLUSIVE}, "more": {"type": "object", "allOf": EXCLUSIVE}}}
    assert len(with_decided_cases({**schema, "allOf": DEFINED})["allOf"]) == 1
    assert len(with_decided_cases({**schema, "allOf": [{"$ref": "#/$defs/more"}, DEFINED[1]]})["allOf"]) == 2
    inner = {"$id": "urn:inner", "allOf": DEFINED}
    assert len(with_decided_cases({**schema, "items": inner})["items"]["allOf"]) == 2


@pytest.mark.parametrize("name", schemas.names())
def test_each_schema_with_decisions_accepts_the_same_samples(name: str) -> None:
    plain, fast = schemas.fast_validator(name), schemas.fast_validator(name, decides=True)
    files = [path for folder in (".", "bad") for path in support.sample_files(name, folder)]
    documents = [document for file in files for document in support.documents(file, dialects.get(name))]
    assert [fast.is_valid(document) for document in documents] == [plain.is_valid(document) for document in documents]


def test_a_schema_itself_stays_as_it_is() -> None:
    before = repr(schemas.schema("codex"))
    assert with_decided_cases(schemas.schema("codex")) != schemas.schema("codex")
    assert repr(schemas.schema("codex")) == before


def test_values_are_no_schemas() -> None:
    schema = {"const": {"allOf": EXCLUSIVE}, "enum": [{"allOf": EXCLUSIVE}]}
    assert with_decided_cases(schema) == schema
