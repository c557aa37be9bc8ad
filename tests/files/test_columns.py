"""Columns of Arrow as JSON values: what storage filled is absent, and no value is guessed."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from convcli.files.columns import ColumnReader
from convcli.model.errors import ContentError
from convcli.wire.exact_json import write_text

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.arrow


def read(kind: Any, *values: Any) -> list[Any]:
    """The values of a column of this type, as they are read."""
    return [row.get("c") for row in rows(kind, *values)[0]]


def rows(kind: Any, *values: Any) -> tuple[list[dict[str, Any]], ColumnReader]:
    batch = pa.record_batch([pa.array(values, kind)], names=["c"])
    reader = ColumnReader(batch.schema, "t.parquet")
    return reader.rows(batch, 1), reader


STRUCT = [("a", "int64"), ("b", "string")]
NOON = datetime.datetime(2026, 1, 2, 12, tzinfo=datetime.timezone.utc)  # noqa: UP017


def struct(*fields: tuple[str, Any]) -> Any:
    return pa.struct([(name, getattr(pa, kind)() if isinstance(kind, str) else kind) for name, kind in fields])


def test_a_null_of_a_field_or_a_column_is_absent_whatever_stands_next_to_it() -> None:
    kind = struct(*STRUCT)
    got, _ = rows(kind, {"a": 1}, {"b": "x"}, None, {"a": 2, "b": "y"}, {})
    assert got == [{"c": {"a": 1}}, {"c": {"b": "x"}}, {}, {"c": {"a": 2, "b": "y"}}, {"c": {}}]


def test_a_null_of_a_list_or_a_map_is_a_value() -> None:
    assert read(pa.list_(pa.int64()), [1, None], None, []) == [[1, None], None, []]
    assert read(pa.list_(struct(*STRUCT)), [{"a": 1}, None]) == [[{"a": 1}, None]]
    assert read(pa.map_(pa.string(), pa.int64()), [("k", None), ("l", 2)], None) == [{"k": None, "l": 2}, None]


def test_a_field_that_was_filled_is_noted_once_with_its_first_row_and_place() -> None:
    kind = pa.list_(struct(("role", "string"), ("calls", pa.list_(struct(*STRUCT)))))
    full = {"role": "r", "calls": [{"a": 1, "b": "x"}]}
    got, reader = rows(kind, [full], [], [full, {"role": "r", "calls": [{"a": 1, "b": "x"}, {"b": "y"}]}], [{}])
    assert got[2]["c"][1]["calls"] == [{"a": 1, "b": "x"}, {"b": "y"}]
    assert {padding.path: padding[1:] for padding in reader.padding.values()} == {
        ("c", "*", "calls", "*", "a"): (3, "/c/1/calls/1/a", 1),
        ("c", "*", "role"): (4, "/c/0/role", 1),
        ("c", "*", "calls"): (4, "/c/0/calls", 1),
    }


def test_nulls_are_counted_over_all_batches_and_not_where_an_object_is_null() -> None:
    batch = pa.record_batch([pa.array([{"a": 1}, None, {"b": "x"}, {}], struct(*STRUCT))], names=["c"])
    reader = ColumnReader(batch.schema, "t.parquet")
    for row in (1, 5):
        reader.rows(batch, row)
    assert [padding[1:] for padding in reader.padding.values()] == [(3, "/c/a", 4), (1, "/c/b", 4), (2, "/c", 2)]


def test_a_batch_that_cannot_be_read_counts_once_when_its_rows_are_read() -> None:
    kind = struct(("a", "int64"), ("n", "float64"))
    batch = pa.record_batch([pa.array([{"n": 0.5}, {"n": float("nan")}, {"a": 1}], kind)], names=["c"])
    reader = ColumnReader(batch.schema, "t.parquet")
    with pytest.raises(ContentError):
        reader.rows(batch, 1)
    assert reader.padding == {}
    reader.rows(batch.slice(0, 1), 1)
    assert reader.padding["c", "a"].times == 1


def test_nulls_are_values_in_the_objects_that_are_kept() -> None:
    kind = struct(("open", struct(*STRUCT)), ("n", "int64"))
    batch = pa.record_batch([pa.array([{"open": {"a": 1}}, {"open": {}, "n": 1}, {"n": 2}], kind)], names=["c"])
    reader = ColumnReader(batch.schema, "t.parquet", lambda path: path == ("c", "open"))
    assert [row["c"] for row in reader.rows(batch, 1)] == [
        {"open": {"a": 1, "b": None}},
        {"open": {"a": None, "b": None}, "n": 1},
        {"n": 2},
    ]
    assert list(reader.padding) == [("c", "open"), ("c", "n")]


def test_what_is_cut_out_of_a_longer_column_is_read_alike() -> None:
    values = [{"a": n, "b": None if n % 2 else "x"} for n in range(10)]
    batch = pa.record_batch([pa.array([[value] for value in values], pa.list_(struct(*STRUCT)))], names=["c"])
    reader = ColumnReader(batch.schema, "t.parquet")
    assert reader.rows(batch.slice(3, 2), 4) == [{"c": [{"a": 3}]}, {"c": [{"a": 4, "b": "x"}]}]
    assert reader.padding["c", "*", "b"].row == 4


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("bool_", True, "true"),
        ("uint64", 2**64 - 1, str(2**64 - 1)),
        ("float64", 1, "1.0"),
        ("large_string", "大", '"大"'),
        ("binary", b"\x00\xff", '"AP8="'),
        ("date32", NOON.date(), '"2026-01-02"'),
        (("timestamp", "s"), NOON.replace(tzinfo=None), '"2026-01-02T12:00:00"'),
        (("timestamp", "us", "UTC"), NOON.replace(microsecond=500), '"2026-01-02T12:00:00.0005Z"'),
        (("timestamp", "ns", "Asia/Tokyo"), NOON, '"2026-01-02T12:00:00Z"'),
        (("timestamp", "ms"), datetime.datetime(1969, 12, 31, 23, 59, 59, 1000), '"1969-12-31T23:59:59.001"'),
        (("decimal128", 25, 3), Decimal("1234567890123456789.125"), "1234567890123456789.125"),
        (("decimal128", 25), Decimal(12345678901234567890), "12345678901234567890"),
    ],
)
def test_a_value_is_read_as_what_json_has_for_its_type(kind: Any, value: Any, text: str) -> None:
    name, *more = (kind,) if isinstance(kind, str) else kind
    made = getattr(pa, name)(*more)
    assert write_text(read(made, value, None)) == f"[{text},null]"
    assert write_text(read(pa.list_(made), [value])) == f"[[{text}]]"


def test_types_that_become_texts_are_reported() -> None:
    _, reader = rows(struct(("at", pa.timestamp("s")), ("raw", pa.binary()), ("n", pa.int8())), {})
    assert [(changed.path, changed.held) for changed in reader.changed.values()] == [
        (("c", "at"), "timestamps"),
        (("c", "raw"), "bytes"),
    ]


def test_doubles_are_reported_as_soon_as_one_of_them_is_whole_and_are_never_made_integers() -> None:
    got, reader = rows(pa.list_(pa.float64()), [0.5, None], [1.5])
    assert reader.changed == {}
    got, reader = rows(pa.list_(pa.float64()), [0.5, None], [2])
    assert (list(reader.changed), write_text(got[1]["c"])) == ([("c", "*")], "[2.0]")


def test_dictionaries_and_fixed_lists_are_read_as_what_they_hold() -> None:
    assert read(pa.dictionary(pa.int8(), pa.string()), "x", None, "x") == ["x", None, "x"]
    assert read(pa.list_(pa.int8(), 2), [1, 2], None, [3, 4]) == [[1, 2], None, [3, 4]]
    assert read(pa.large_list(pa.string()), ["x"], []) == [["x"], []]


def test_texts_of_the_type_for_json_are_read_as_what_they_hold() -> None:
    kind = pa.json_()
    texts = ['{"b": 1, "a": null}', '"x"', "[1.0]", "null", None]
    storage = pa.array([texts], pa.list_(pa.string()))
    batch = pa.record_batch([storage.cast(pa.list_(kind))], names=["c"])
    (row,) = ColumnReader(batch.schema, "t.parquet").rows(batch, 1)
    assert write_text(row) == '{"c":[{"b":1,"a":null},"x",[1.0],null,null]}'


@pytest.mark.parametrize("kind", ["duration", "map", "union"])
def test_a_type_for_which_json_has_no_value_is_refused_by_its_name(kind: str) -> None:
    made = {
        "duration": lambda: pa.duration("s"),
        "map": lambda: pa.map_(pa.int8(), pa.int8()),
        "union": lambda: pa.sparse_union([pa.field("x", pa.int8())]),
    }[kind]()
    with pytest.raises(ContentError, match=r"column a\.b") as caught:
        ColumnReader(pa.schema([("a", pa.struct([("b", made)]))]), "t.parquet")
    assert (caught.value.code, caught.value.file) == ("unread-column", "t.parquet")


def test_two_columns_of_one_name_are_refused() -> None:
    field = pa.field("a", pa.int8())
    for schema in (pa.schema([field, field]), pa.schema([("b", pa.struct([field, field]))])):
        with pytest.raises(ContentError) as caught:
            ColumnReader(schema, "t.parquet")
        assert caught.value.code == "duplicate-key"


def test_numbers_that_json_does_not_have_are_refused() -> None:
    for number in (float("nan"), float("inf")):
        with pytest.raises(ContentError) as caught:
            read(pa.float64(), 1.5, number)
        assert caught.value.code == "not-finite"
