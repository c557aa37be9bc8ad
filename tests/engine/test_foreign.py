"""Formats that are known by name: each mark finds its own, and none finds a dialect that we read."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.engine import detection, foreign
from convcli.engine.foreign import FORMATS, LOOK_AT, Foreign, recognise
from convcli.model.document import Rows
from convcli.model.errors import ContentError
from tests.support import acceptable

MARKS = [(known, mark) for known in FORMATS for mark in known.marks]
ROW = {"type": "context.append_message", "id": "s"}
SAID = {"role": "user", "content": [{"type": "text", "text": "Hi."}]}


def marked(mark: str) -> dict[str, Any]:
    """The smallest object with this mark."""
    made: dict[str, Any] = {}
    for piece in mark.split():
        if not piece.startswith("!"):
            put(made, foreign.condition(piece).path, value_for(piece))
    return made


def value_for(piece: str) -> Any:
    sign = next((sign for sign in piece if sign in "=^:"), "")
    if sign == ":":
        return foreign.TYPES[piece.split(":")[1]]()
    return piece.split(sign)[1].split("|")[0] if sign else "x"


def put(into: Any, path: tuple[str, ...], value: Any) -> None:
    key, *rest = path
    if rest[:1] == ["*"]:
        items = into.setdefault(key, [{}])
        put(items[0], tuple(rest[1:]), value)
    elif rest:
        put(into.setdefault(key, {}), tuple(rest), value)
    else:
        into[key] = value


@pytest.mark.parametrize(("known", "mark"), MARKS, ids=[mark for _, mark in MARKS])
def test_each_mark_is_that_of_its_own_format(known: Foreign, mark: str) -> None:
    assert recognise([marked(mark)]) == known


@pytest.mark.parametrize("sample", acceptable(), ids=str)
def test_no_mark_is_seen_in_a_dialect_that_we_read(sample: Any) -> None:
    assert recognise([sample.document]) is None, "a format that is read now has no row in FORMATS any more"


def test_a_mark_is_looked_for_in_the_first_records_and_in_the_items_of_a_list() -> None:
    found = [recognise(values) for values in ([{}, ROW], [[{}, ROW]], [Rows([{}, ROW])])]
    assert [known and known.name for known in found] == ["a session of Kimi"] * 3
    assert recognise([{}] * LOOK_AT + [ROW]) is None
    assert recognise([[{}] * LOOK_AT + [ROW]]) is None


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (Rows([ROW, {"type": "message", "id": "a", "parentId": "s", "message": SAID}]), "a session of Kimi"),
        (
            [{"event.name": "gen_ai.client.inference.operation.details", "content": "Hi."}],
            "an event or a span of OpenTelemetry without messages",
        ),
        ({"question": "Hi?", "chosen": "Ho.", "rejected": "Hu."}, "a set of preference pairs with a question"),
    ],
)
def test_what_only_looks_like_a_dialect_is_told_by_its_name(document: Any, name: str) -> None:
    with pytest.raises(ContentError) as caught:
        detection.detect(document)
    assert caught.value.code == "unknown-dialect"
    assert caught.value.message == f"this looks like {name}; convcli does not read it yet"
    assert "--from" not in caught.value.help


def test_a_condition_can_ask_that_there_is_no_such_value() -> None:
    absent = foreign.condition("!a/b")
    assert [absent.holds(value) for value in ({"a": {"b": 1}}, {"a": {}}, {})] == [False, True, True]
