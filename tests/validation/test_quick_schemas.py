"""Quick validation: where it decides, it decides as the validators do; elsewhere it says that it cannot."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest

from convcli.validation import schemas
from convcli.validation.quick_schemas import QuickValidator, UndecidedError
from tests.support import names, samples


def quickly(name: str, document: Any) -> bool:
    """The verdict without a validator. Raises UndecidedError."""
    return QuickValidator(1_000_000).passes(schemas.schema(name), document)


@pytest.mark.parametrize("name", names())
def test_the_quick_verdict_is_that_of_the_validators_on_the_samples_of_all_dialects(name: str) -> None:
    for sample in samples():
        with suppress(UndecidedError):
            assert quickly(name, sample.document) == schemas.is_valid(name, sample.document), sample


@pytest.mark.parametrize(
    "schema", [{"pattern": "a"}, {"enum": [[]]}, {"not": {"const": {}}}, {"items": {"maximum": 1}}]
)
def test_what_a_schema_says_that_is_not_known_is_undecided(schema: Any) -> None:
    with pytest.raises(UndecidedError):
        QuickValidator(100).passes(schema, ["a"])


def test_quick_validation_ends_after_its_steps() -> None:
    validator = QuickValidator(50)
    with pytest.raises(UndecidedError):
        validator.passes({"items": {"type": "integer"}}, list(range(100)))
    with pytest.raises(UndecidedError):
        validator.passes({"type": "integer"}, 1)


def test_numbers_are_those_of_json_schema() -> None:
    one = {"const": 1}
    assert [QuickValidator(9).passes(one, value) for value in (1, 1.0, True, "1")] == [True, True, False, False]
    number = {"type": "number"}
    assert [QuickValidator(9).passes(number, value) for value in (1e300, math.inf, math.nan)] == [True, False, False]
    whole = {"type": "integer"}
    assert [QuickValidator(9).passes(whole, value) for value in (10**400, 2.0, 2.5, True)] == [True, True, False, False]


def test_the_first_items_stand_apart_from_the_others() -> None:
    schema = {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}
    verdicts = [QuickValidator(99).passes(schema, value) for value in (["a", 1], ["a"], [], {}, ["a", "b"], [1])]
    assert verdicts == [True, True, True, True, False, False]
