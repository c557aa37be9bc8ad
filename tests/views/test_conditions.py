"""What `--where` accepts, and what it says about the rest."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.model.errors import JobError
from convcli.views.columns import Kind
from convcli.views.conditions import conditions, of_transcripts, parsed

COLUMNS: dict[str, Kind] = {"model": "text", "errors": "number", "begin": "time"}
ROW = {"model": "gpt-4o, o3", "errors": 2, "begin": "2026-01-31T12:00:00+00:00"}
MISSING = {"model": None, "errors": None, "begin": None}


def holds(text: str, row: dict[str, Any]) -> bool:
    return all(condition.holds(row) for condition in conditions(text, COLUMNS))


@pytest.mark.parametrize(
    ("text", "is_true", "is_true_if_missing"),
    [
        ("model=o3", True, False),
        ("model=x,gpt-4o", True, False),
        ('model="gpt-4o, o3"', True, False),
        ("model=gpt", False, False),
        ("model=", False, True),
        ("model!=", True, False),
        ("model!=o3", False, True),
        ("model~^GPT", True, False),
        ("model~^$", False, True),
        ("errors=2", True, False),
        ("errors=2.0,7", True, False),
        ("errors=", False, True),
        ("errors!=2", False, True),
        ("errors>1", True, False),
        ("errors>2", False, False),
        ("errors >= 2", True, False),
        ("errors<=2", True, False),
        ("errors<2", False, False),
        ("errors~[1-9]", True, False),
        ("begin=2026-01", True, False),
        ("begin=2025,2026", True, False),
        ("begin!=2026-01", False, True),
        ("begin>2026-01", False, False),
        ("begin>=2026-01", True, False),
        ("begin<=2026-01", True, False),
        ("begin<2026-01", False, False),
        ("begin<2026-03", True, False),
        ("begin=2026-01-31T12:00:00Z", True, False),
        ("begin>=2026-01-31T12:00:00Z", True, False),
        ("begin<=2026-01-31T12:00:00Z", True, False),
        ("begin>2026-01-31T12:00:00Z", False, False),
        ("errors>1 and model=o3 AND begin>2025", True, False),
        ("errors>1 and model=o4", False, False),
    ],
)
def test_a_condition_holds_for_cells(text: str, is_true: bool, is_true_if_missing: bool) -> None:
    assert (holds(text, ROW), holds(text, MISSING)) == (is_true, is_true_if_missing)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("model=search and find", [("model", "=", ("search and find",))]),
        ("model~a and errors>1", [("model", "~", ("a",)), ("errors", ">", ("1",))]),
        ("model~'a and errors>1'", [("model", "~", ("a and errors>1",))]),
        ('model~"a" and errors>1', [("model", "~", ("a",)), ("errors", ">", ("1",))]),
        ("model='a,b',c", [("model", "=", ("a,b", "c"))]),
        ("model~a,b", [("model", "~", ("a,b",))]),
        ("model=a=b", [("model", "=", ("a=b",))]),
        ("model>=7", [("model", ">=", ("7",))]),
    ],
)
def test_a_value_ends_where_the_next_condition_begins(text: str, terms: list[Any]) -> None:
    assert [(term.column, term.sign, term.values) for term in parsed(text)] == terms


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("", 1, "expected a column"),
        ("model", 1, "expected a column"),
        ("model=a and >3", 0, ""),
        ('model="a" or errors=1', 10, 'expected the end, or "and"'),
        ("model=a and errors>many", 20, 'errors is a number, and "many" is none'),
        ("model>a", 1, "model is text, which has no order"),
        ("begin<soon", 7, '"soon" is no date'),
        ("errors=1 and model~a(", 21, "no regular expression: missing )"),
    ],
)
def test_a_mistake_is_reported_with_its_position(text: str, at: int, message: str) -> None:
    if not at:
        assert not holds(text, ROW)
        return
    with pytest.raises(JobError) as raised:
        conditions(text, COLUMNS)
    assert raised.value.message.startswith(f'character {at} of the condition "{text}": {message}')
    assert raised.value.help


def test_an_unknown_column_gets_the_nearest_one_and_heads_are_names_too() -> None:
    with pytest.raises(JobError, match="modl") as raised:
        conditions("modl=x", COLUMNS)
    assert (raised.value.code, raised.value.help) == ("unknown-column", 'did you mean "model"?')
    (condition,) = conditions("#=2", COLUMNS, {"errors": "#"})
    assert condition.column == "errors"


def test_notes_name_what_held_for_nothing_and_what_has_no_time() -> None:
    first, second, third = conditions("model=gpt4o and begin>2030 and errors=2", COLUMNS)
    for condition in (first, second, third):
        for row in (ROW, MISSING):
            condition.holds(row)
    assert list(first.notes()) == ['no row has model=gpt4o; did you mean "gpt-4o"?']
    assert list(second.notes()) == [
        "1 row has no time in begin, and begin>2030 is false there",
        "no row has begin>2030",
    ]
    assert list(third.notes()) == []


def test_without_conditions_there_is_no_filter_and_a_wrong_date_names_its_option() -> None:
    assert of_transcripts([]) is None
    with pytest.raises(JobError, match='since: "soon" is no date'):
        of_transcripts([], since="soon")
