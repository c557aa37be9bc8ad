"""The size of rows in which a table may repeat values without storing them again.

A dictionary, a view or a list of nulls takes a few bytes for each value, which may be megabytes once it is read.
https://arrow.apache.org/docs/format/Columnar.html"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from convcli.files.columns import Array

_OBJECT = 8
"""The least bytes of any value that was read."""
_MAY = ("is_dictionary", "is_null", "is_fixed_size_list", "is_string_view", "is_binary_view")
_LIST_VIEWS = ("is_list_view", "is_large_list_view")
_VIEWS = ("is_string_view", "is_binary_view")
_BYTES = ("is_string", "is_large_string", "is_binary", "is_large_binary")


def may_repeat(kind: Any) -> bool:
    """True if values of this type may take far fewer bytes in the file than when they are read."""
    if _is(kind, *_MAY, *_LIST_VIEWS):
        return True
    inner = getattr(kind, "storage_type", None)
    if inner is not None:
        return may_repeat(inner)
    return any(may_repeat(kind.field(index).type) for index in range(kind.num_fields))


def read_size(array: Array) -> int:
    """Returns the bytes that the values need once each is read, at least."""
    kind, count = array.type, len(array)
    if hasattr(array, "storage"):
        return read_size(array.storage)
    if _is(kind, "is_dictionary"):
        return _dictionary_size(array)
    if _is(kind, *_VIEWS):
        return sum(_lengths(array)) + count * _OBJECT
    if _is(kind, "is_struct"):
        return count * _OBJECT + sum(read_size(array.field(index)) for index in range(kind.num_fields))
    if _is(kind, "is_fixed_size_list"):
        size = kind.list_size
        return count * _OBJECT + read_size(array.values.slice(array.offset * size, count * size))
    if _is(kind, *_LIST_VIEWS):
        return _list_view_size(array)
    if _is(kind, "is_list", "is_large_list"):
        first, last = array.offsets[0].as_py(), array.offsets[count].as_py()
        return count * _OBJECT + read_size(array.values.slice(first, last - first))
    if _is(kind, "is_map"):
        first, last = array.offsets[0].as_py(), array.offsets[count].as_py()
        return sum(read_size(child.slice(first, last - first)) for child in (array.keys, array.items))
    return int(array.nbytes) + count * _OBJECT


def _dictionary_size(array: Array) -> int:
    """The bytes of the chosen values; of all of them for each row if the values are lists or objects."""
    values, count = array.dictionary, len(array)
    if _is(values.type, *_BYTES):
        compute = import_module("pyarrow.compute")
        lengths = compute.take(compute.binary_length(values), array.indices)
        return int(compute.sum(lengths).as_py() or 0) + count * _OBJECT
    if _is(values.type, *_VIEWS):
        lengths = _lengths(values)
        chosen = (index for index in array.indices.to_pylist() if index is not None)
        return int(sum(lengths[index] for index in chosen)) + count * _OBJECT
    return count * max(read_size(values), _OBJECT)


def _lengths(views: Array) -> list[int]:
    """Returns the length of each string, which is the first part of its view; that of a null may be anything."""
    lengths = memoryview(views.buffers()[1]).cast("i")[views.offset * 4 : (views.offset + len(views)) * 4 : 4]
    return [max(length, 0) for length in lengths]


def _list_view_size(array: Array) -> int:
    """The bytes of all lists; lists that share items repeat them."""
    ranges = sorted(
        (start, start + size)
        for start, size in zip(array.offsets.to_pylist(), array.sizes.to_pylist(), strict=True)
        if size
    )
    if not ranges:
        return len(array) * _OBJECT
    first, last = ranges[0][0], max(stop for _, stop in ranges)
    size, items = read_size(array.values.slice(first, last - first)), sum(stop - start for start, stop in ranges)
    return len(array) * _OBJECT + size * (-(-items // (last - first)) if items > last - first else 1)


def _is(kind: Any, *names: str) -> bool:
    types = import_module("pyarrow").types
    tests: list[Callable[[Any], bool]] = [getattr(types, name) for name in names if hasattr(types, name)]
    return any(test(kind) for test in tests)
