"""The size of rows that repeat values is known before the values are read."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.files.repeated import may_repeat, read_size

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.arrow
TEXTS = ["a" * length for length in (0, 5, 20, 300)] * 5
LISTS: list[Any] = [TEXTS[:3], [], None, TEXTS]
TYPES = [
    pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()),
    pa.list_(pa.string()), pa.large_list(pa.string_view()), pa.list_view(pa.string()), pa.list_(pa.null()),
    pa.list_(pa.dictionary(pa.int8(), pa.string())), pa.struct([("a", pa.string_view()), ("b", pa.null())]),
    pa.map_(pa.string(), pa.string_view()), pa.list_(pa.int64(), 3), pa.int64(), pa.null(),
]  # fmt: skip


def values(kind: Any) -> list[Any]:
    """Values of a type, of which some are null."""
    types = pa.types
    if types.is_null(kind):
        return [None] * 9
    if types.is_struct(kind):
        return [{field.name: None if types.is_null(field.type) else text for field in kind} for text in TEXTS]
    if types.is_map(kind):
        return [[(text, text) for text in TEXTS], [], None]
    if types.is_fixed_size_list(kind):
        return [[1, 2, 3], None]
    if types.is_nested(kind):
        return [[None, None], []] if types.is_null(kind.value_type) else LISTS
    return [1, None, 3] if types.is_integer(kind) else [None, *TEXTS]


def characters(value: Any) -> int:
    """The characters of all strings, and at least eight bytes for everything else that a size counts."""
    if isinstance(value, dict):
        return sum(map(characters, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(characters, value))
    return len(value) if isinstance(value, str) else 0


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_the_size_is_that_of_the_values_and_not_much_more(kind: Any) -> None:
    array = pa.array(values(kind), kind)
    for piece in (array, array[1:], array[:-1], array[1:2]):
        count = len(str(piece.to_pylist()))
        assert characters(piece.to_pylist()) <= read_size(piece) <= 2 * count + 16 * len(piece) + 400


def test_lists_that_share_items_count_them_each_time() -> None:
    shared = pa.ListViewArray.from_arrays(pa.array([0] * 50, pa.int32()), pa.array([4] * 50, pa.int32()), TEXTS[:4])
    assert characters(shared.to_pylist()) <= read_size(shared) <= 2 * 50 * (325 + 4 * 40)


def test_a_type_that_stores_each_value_cannot_repeat_it() -> None:
    plain = [pa.string(), pa.int64(), pa.list_(pa.struct([("a", pa.string())])), pa.map_(pa.string(), pa.string())]
    assert not any(map(may_repeat, plain))
    assert all(map(may_repeat, TYPES[2:4] + TYPES[5:12] + TYPES[13:]))
