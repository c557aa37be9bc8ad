"""What a dialect does not know is content where it holds language; what it knows is metadata."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Dialect
from convcli.model.transcript import Path
from convcli.proof.levels import Knowledge, row_type

SENTENCE = "The answer is forty-two."
SCHEMA: dict[Path, frozenset[str]] = {
    (): frozenset(("rows", "notes")),
    ("notes", "*"): frozenset(("title",)),
    ("rows", "*"): frozenset(("remark", "detail")),
    ("rows", "*", "detail"): frozenset(("summary",)),
}


@pytest.fixture
def known() -> Knowledge:
    dialect: Dialect = replace(
        dialects.get(dialects.names()[0]), name="one", family="", metadata=frozenset(("plan", "log/b"))
    )
    return Knowledge(dialect, SCHEMA.get, frozenset().union(*SCHEMA.values()))


def test_an_unknown_key_is_content_where_it_holds_language(known: Knowledge) -> None:
    assert known.key(("zz",), SENTENCE) == ("zz",)
    assert known.key(("zz",), "0.2.17") is None


def test_a_key_is_known_only_at_the_path_where_the_schema_names_it(known: Knowledge) -> None:
    assert known.key(("rows", 3, "remark"), SENTENCE) is None
    assert known.key(("remark",), SENTENCE) == ("remark",)


def test_a_key_of_one_object_is_not_known_in_another_at_the_same_depth(known: Knowledge) -> None:
    assert known.key(("rows", 3, "remark"), {"any": SENTENCE}) is None
    assert known.key(("notes", 3, "remark"), {"any": SENTENCE}) == ("notes", 3, "remark")


def test_content_is_found_inside_of_a_known_key(known: Knowledge) -> None:
    value = {"summary": SENTENCE, "zz": SENTENCE}
    assert known.key(("rows", 3, "detail"), value) == ("rows", 3, "detail", "zz")


def test_what_the_dialect_declares_is_metadata(known: Knowledge) -> None:
    assert known.key(("rows", 3, "plan"), SENTENCE) is None


def test_a_row_is_known_by_its_type(known: Knowledge) -> None:
    assert known.row((0,), {"type": "plan", "text": SENTENCE}) is None
    assert known.row((0,), {"type": "log", "payload": {"type": "b", "text": SENTENCE}}) is None
    assert known.row((0,), {"type": "log", "payload": {"type": "c", "text": SENTENCE}}) == (0,)


def test_a_word_that_somebody_says_in_an_unknown_row_is_content(known: Knowledge) -> None:
    assert known.row((0,), {"type": "reply", "content": "Yes"}) == (0,)
    assert known.row((0,), {"type": "reply", "status": "done"}) is None


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"type": "a"}, "a"),
        ({"type": "a", "payload": {"type": "b"}}, "a/b"),
        ({"method": "m", "params": {"update": {"sessionUpdate": "plan"}}}, "plan"),
        ({"other": 1}, ""),
        ("text", ""),
    ],
)
def test_the_type_of_a_row_has_those_of_what_it_wraps(row: object, expected: str) -> None:
    assert row_type(row) == expected


@pytest.mark.parametrize(
    ("tools", "expected"),
    [([], ("tools", "context")), ([{"name": "f", "description": "Does it."}], ("tool", "content"))],
)
def test_a_list_is_content_where_it_has_items(tools: list[object], expected: tuple[str, str]) -> None:
    """Function-calling sets state an empty list for conversations without tools."""
    turns = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yo"}]
    document = {"conversations": turns, "tools": json.dumps(tools)}
    converted = pipeline.convert(document, dialects.get("sharegpt"), dialects.get("cline"))
    assert [(loss.field, loss.level) for loss in converted.losses if loss.field.startswith("tool")] == [expected]
