"""Which types hold the rows of a file, and how values are stored in them."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.files.columns import ColumnReader
from convcli.files.shapes import PathFacts, Shape, field, storing
from convcli.wire.decimals import Decimal
from convcli.wire.exact_json import exact

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.arrow

OPEN = {("open",), ("m", "*", "open"), ("m", "*", "argument")}
KNOWN = PathFacts(lambda path: path not in OPEN, lambda path: path[-1:] == ("argument",))


def stored(*rows: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The schema for these rows, and the rows as they are read again."""
    shape = Shape((), KNOWN)
    for row in rows:
        shape.add(row)
    columns = {name: below.column() for name, below in (shape.fields or {}).items()}
    schema = pa.schema([field(name, kind) for name, kind in columns.items()])
    store = storing(columns) or (lambda row: row)
    batch = pa.RecordBatch.from_pylist(list(map(store, rows)), schema)
    return schema, ColumnReader(schema, "t").rows(batch, 1)


def kind(*values: Any) -> str:
    """The type of a column of these values, which come back the same; with the mark of its field."""
    rows = [{"c": value} for value in values]
    schema, read = stored(*rows)
    assert all(exact(got.get("c"), row["c"]) for got, row in zip(read, rows, strict=True))
    mark = (schema.field("c").metadata or {}).get(b"convcli", b"").decode()
    return f"{schema.field('c').type}{mark and ' ' + mark}"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["x", None, "大"], "string"),
        ([True, False], "bool"),
        ([1, -(2**63)], "int64"),
        ([1, 2**63], "string json"),
        ([1.5, None, 2.0], "double"),
        ([1.5, Decimal("0.1000000000000000055511151231257827")], "string json"),
        ([1.5, 2**60], "string json"),
        ([1, "1", "[1]"], "string json"),
        ([True, 1], "string json"),
        ([None], "null"),
        ([[1], [], [None]], "list<element: int64>"),
        ([[1], ["x"]], "string json"),
        ([[], []], "list<element: null>"),
        ([{}, {}], "string json"),
        ([{"a": 1}, {"b": "x"}], "struct<a: int64, b: string>"),
        ([{"a": {"b": [1]}}], "struct<a: struct<b: list<element: int64>>>"),
        ([{"a": 1}, "x"], "string json"),
        ([[{"a": 1}, None]], "list<element: struct<a: int64>>"),
    ],
)
def test_a_column_has_the_type_that_holds_all_of_its_values(values: list[Any], expected: str) -> None:
    assert kind(*values).replace("list<item: ", "list<element: ") == expected


def test_integers_next_to_fractions_are_doubles() -> None:
    _, read = stored({"c": 1}, {"c": 0.5})
    assert exact(read, [{"c": 1.0}, {"c": 0.5}])


def test_an_open_object_is_json_in_a_text_as_a_field_only_where_the_dialect_takes_a_text() -> None:
    rows = [{"m": [{"argument": {"k": None}}, {"argument": {}}]}, {"m": [{"argument": {"l": [1, "x"]}}]}]
    schema, read = stored(*rows)
    assert str(schema.field("m").type.value_type) == "struct<argument: string>"
    assert read == rows
    rows = [{"m": [{"open": {"k": None}}]}, {"open": {"k": None}}]
    schema, read = stored(*rows)
    assert [str(each.type) for each in schema] == ["string", "string"]
    assert read == rows


def test_texts_next_to_open_objects_stay_as_they_are() -> None:
    rows = [{"m": [{"argument": {"k": 1}}, {"argument": "no {json"}, {"argument": "[no json"}]}]
    schema, read = stored(*rows)
    assert str(schema.field("m").type.value_type) == "struct<argument: string>"
    assert read == rows
    assert kind({"a": 1}, {"argument": {"a": 1}}) == "struct<a: int64, argument: struct<a: int64>>"


def test_texts_next_to_lists_of_parts_are_a_part_and_come_back_as_texts() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    rows = [
        {"m": [{"content": "plain"}, {"content": [{"type": "text", "text": "two"}, image]}]},
        {"m": [{"content": [{"type": "text", "text": "of"}, {"type": "text", "text": "them"}]}, {"content": []}]},
    ]
    schema, read = stored(*rows)
    assert "content: list<" in str(schema.field("m").type)
    assert read == rows
    rows = [{"m": [{"content": "plain"}, {"content": [1]}]}]
    schema, read = stored(*rows)
    assert str(schema.field("m").type) == "string"
    assert read == rows


def test_a_null_of_a_key_that_the_dialect_names_is_absent_and_one_of_an_open_object_is_kept() -> None:
    _, read = stored({"m": [{"argument": {"x": None}, "content": None}]}, {"m": [{"content": "x"}]})
    assert read == [{"m": [{"argument": {"x": None}}]}, {"m": [{"content": "x"}]}]
