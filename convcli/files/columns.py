"""Columns of an Arrow table as the JSON values of its rows.

A struct has all of its keys in every row, so the column type fills in null for keys that a row does not have. These
nulls are omitted, in fields and in columns, and `padding` counts them for each field, with the first position. Nulls in
lists and maps are kept, and those of objects whose nulls the reader keeps.
https://arrow.apache.org/docs/format/Columnar.html"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from importlib import import_module
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from convcli.model.errors import ContentError, JobError
from convcli.wire import decimals
from convcli.wire.exact_json import parse_text
from convcli.wire.pointers import pointer

Array: TypeAlias = Any
"""A `pyarrow.Array`; the package has no types, and may not be installed."""
Path: TypeAlias = tuple[str, ...]
ALL = "*"
"""The step of a path to each item of a list."""
MARK = b"convcli"
JSON, JSON_OR_TEXT, OBJECT_OR_TEXT, TEXT_OR_PARTS = b"json", b"json-or-text", b"object-or-text", b"text-or-parts"
"""The metadata key of a field that convcli has written, and its values: each value is a JSON string; lists and objects
are, or objects only, and other strings are plain; a string is stored as the only part of a list."""
Owner: TypeAlias = Callable[[int], tuple[int, Path]]
"""Maps an index in a column to its row and its path there."""
Read: TypeAlias = Callable[[Array, Owner], list[Any]]
JSON_TYPE = "arrow.json"
"""The type of JSON strings, as `datasets` 5 writes values of varying shape.
https://arrow.apache.org/docs/format/CanonicalExtensions.html"""
_EPOCH = datetime(1970, 1, 1)
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Padding(NamedTuple):
    """A field that the column type filled with null: its path, the first row and pointer, and the number of nulls."""

    path: Path
    row: int
    where: str
    times: int


class Changed(NamedTuple):
    """A column whose values have another type in JSON."""

    path: Path
    held: str
    becomes: str


def pyarrow(name: str = "") -> Any:
    """Imports pyarrow. Raises JobError `arrow-missing` if it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        message = "Parquet and Arrow files need the package pyarrow"
        raise JobError("arrow-missing", message, file=name, help="pip install 'convcli[arrow]'") from None


class ColumnReader:
    """Reads record batches of one schema as rows.

    `padding`: fields that were filled in · `changed`: columns of types that JSON does not have, and those of doubles
    once a value is whole · `keys`: those of each struct · `keeps`: true for paths of objects whose nulls are values.
    Raises ContentError `unread-column` for a type that has no JSON value, and `duplicate-key` for two columns with the
    same name.
    """

    def __init__(self, schema: Any, name: str, keeps: Callable[[Path], bool] = lambda _: False) -> None:
        self._arrow, self._name, self._keeps = pyarrow(name), name, keeps
        self.padding, self.changed = dict[Path, Padding](), dict[Path, Changed]()
        self.keys = dict[Path, frozenset[str]]()
        self._read = self._fields(list(schema), ())
        self._row, self._filled = 0, list[Padding]()

    def rows(self, batch: Any, row: int) -> list[dict[str, Any]]:
        """Returns the rows of a batch; `row` is the number of the first. Raises ValueError for non-JSON values."""
        self._row, self._filled = row, []
        rows = self._read(batch.to_struct_array(), lambda index: (index, ()))
        for filled in self._filled:
            before = self.padding.get(filled.path)
            self.padding[filled.path] = filled if before is None else before._replace(times=before.times + filled.times)
        return rows

    def _decoded(self, array: Array) -> Any:
        """Returns the values of a dictionary array. Arrow cannot look up views, which Polars writes."""
        values = array.dictionary
        if not any(
            is_view(values.type) for is_view in (self._arrow.types.is_string_view, self._arrow.types.is_binary_view)
        ):
            return array.dictionary_decode()
        chosen = (None if index is None else values[index].as_py() for index in array.indices.to_pylist())
        return self._arrow.array(chosen, values.type)

    def _reader(self, kind: Any, path: Path) -> Read:
        types = self._arrow.types
        if types.is_struct(kind):
            return self._fields([kind.field(i) for i in range(kind.num_fields)], path)
        if types.is_map(kind):
            return self._map(kind, path)
        if types.is_nested(kind) and hasattr(kind, "value_field"):
            return self._list(self._reader(kind.value_type, (*path, ALL)))
        if types.is_dictionary(kind):
            inner = self._reader(kind.value_type, path)
            return lambda array, owner: inner(self._decoded(array), owner)
        if isinstance(kind, self._arrow.BaseExtensionType):
            inner = self._reader(kind.storage_type, path)
            if getattr(kind, "extension_name", "") == JSON_TYPE:
                return lambda array, owner: list(map(_json, inner(array.storage, owner)))
            return lambda array, owner: inner(array.storage, owner)
        return self._leaf(kind, path)

    def _leaf(self, kind: Any, path: Path) -> Read:
        types = self._arrow.types
        if types.is_floating(kind):
            return self._floats(path)
        if types.is_timestamp(kind):
            self.changed[path] = Changed(path, "timestamps", "strings (RFC 3339)")
            return _timestamps(_UNITS[kind.unit], "Z" if kind.tz else "", self._arrow.int64())
        for is_kind, held, becomes, convert in _LEAVES:
            if any(getattr(types, name, _never)(kind) for name in is_kind):
                if becomes:
                    self.changed[path] = Changed(path, held, becomes)
                return _each(convert)
        if any(test(kind) for test in (types.is_integer, types.is_boolean, types.is_null, _is_text(types))):
            return lambda array, _: array.to_pylist()
        message = f"the column {'.'.join(path)} has the type {kind}, which JSON cannot represent"
        raise ContentError("unread-column", message, file=self._name)

    def _fields(self, fields: Sequence[Any], path: Path) -> Read:
        names = [field.name for field in fields]
        if len(set(names)) < len(names):
            where = f" of {'.'.join(path)}" if path else ""
            raise ContentError("duplicate-key", f"two columns{where} have the same name", file=self._name)
        readers = [_opening(field, self._reader(field.type, (*path, field.name))) for field in fields]
        keeps, self.keys[path] = self._keeps(path), frozenset(names)

        def read(array: Array, owner: Owner) -> list[Any]:
            columns = list[list[Any]]()
            for name, inner, child in zip(names, readers, array.flatten(), strict=True):
                columns.append(inner(child, lambda i, name=name: _below(owner(i), name)))  # type: ignore[misc]
                if child.null_count > array.null_count and not keeps:
                    self._fill((*path, name), array, child, owner)
            objects: list[Any] = [
                {name: value for name, value in zip(names, row, strict=True) if keeps or value is not None}
                for row in (zip(*columns, strict=True) if columns else ((),) * len(array))
            ]
            if array.null_count:
                objects = [
                    value if valid else None for value, valid in zip(objects, array.is_valid().to_pylist(), strict=True)
                ]
            return objects

        return read

    def _fill(self, path: Path, array: Array, child: Array, owner: Owner) -> None:
        row, where = 0, ""
        if path not in self.padding:
            present, has = array.is_valid().to_pylist(), child.is_valid().to_pylist()
            row, at = owner(next(i for i, valid in enumerate(present) if valid and not has[i]))
            where = pointer((*at, path[-1]))
        self._filled.append(Padding(path, self._row + row, where, child.null_count - array.null_count))

    def _floats(self, path: Path) -> Read:
        """Reads floats. A whole double may have been written as an integer, which cannot be distinguished."""

        def read(array: Array, _: Owner) -> list[Any]:
            values: list[Any] = array.to_pylist()
            if not all(value is None or isfinite(value) for value in values):
                raise ContentError("not-finite", "JSON has no NaN or infinity")
            if path not in self.changed and any(value is not None and value.is_integer() for value in values):
                self.changed[path] = Changed(path, "doubles", "numbers with a fraction, including whole ones")
            return values

        return read

    def _list(self, inner: Read) -> Read:
        def read(array: Array, owner: Owner) -> list[Any]:
            lengths = array.value_lengths().to_pylist()

            def of_item(index: int) -> tuple[int, Path]:
                for place, length in enumerate(lengths):
                    if index < (length or 0):
                        return _below(owner(place), str(index))
                    index -= length or 0
                raise IndexError(index)

            items, at, lists = inner(array.flatten(), of_item), 0, list[Any]()
            for length in lengths:
                lists.append(None if length is None else items[at : at + length])
                at += length or 0
            return lists

        return read

    def _map(self, kind: Any, path: Path) -> Read:
        if not _is_text(self._arrow.types)(kind.key_type):
            message = f"the column {'.'.join(path)} is a map whose keys are not strings"
            raise ContentError("unread-column", message, file=self._name)
        inner = self._reader(kind.item_type, (*path, ALL))

        def read(array: Array, owner: Owner) -> list[Any]:
            entries = array.to_pylist()
            pairs = [pair for row in entries for pair in row or ()]
            values_array = self._arrow.array([value for _, value in pairs], kind.item_type)
            values = iter(inner(values_array, lambda _: owner(0)))
            return [None if row is None else {key: next(values) for key, _ in row} for row in entries]

        return read


def _opening(field: Any, read: Read) -> Read:
    """Returns a reader for a field that parses its strings if the field has a mark."""
    opened = _OPENED.get((field.metadata or {}).get(MARK, b""))
    if opened is None:
        return read
    return lambda array, owner: [None if value is None else opened(value) for value in read(array, owner)]


def _json(value: Any) -> Any:
    return parse_text(value)[0] if isinstance(value, str) else value


def _json_or_text(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(ContentError):
            return parse_text(value)[0]
    return value


def _object_or_text(value: Any) -> Any:
    parsed = _json_or_text(value)
    return parsed if isinstance(parsed, dict) else value


def _text_or_parts(value: Any) -> Any:
    is_one = isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict)
    is_text = is_one and value[0].keys() == {"type", "text"} and value[0]["type"] == "text"
    return value[0]["text"] if is_text else value


_OPENED: dict[bytes, Callable[[Any], Any]] = {
    JSON: _json,
    JSON_OR_TEXT: _json_or_text,
    OBJECT_OR_TEXT: _object_or_text,
    TEXT_OR_PARTS: _text_or_parts,
}


def _below(place: tuple[int, Path], step: str) -> tuple[int, Path]:
    return place[0], (*place[1], step)


def _never(_: Any) -> bool:
    return False


def _is_text(types: Any) -> Callable[[Any], bool]:
    tests = [getattr(types, name, _never) for name in ("is_string", "is_large_string", "is_string_view")]
    return lambda kind: any(test(kind) for test in tests)


def _each(convert: Callable[[Any], Any]) -> Read:
    return lambda array, _: [None if value is None else convert(value) for value in array.to_pylist()]


def _timestamps(units: int, zone: str, integer: Any) -> Read:
    def text(value: int) -> str:
        seconds, fraction = divmod(value, units)
        digits = f".{fraction:0{len(str(units)) - 1}d}".rstrip("0") if fraction else ""
        return f"{(_EPOCH + timedelta(seconds=seconds)).isoformat()}{digits}{zone}"

    return lambda array, _: [None if value is None else text(value) for value in array.cast(integer).to_pylist()]


def _number(value: Any) -> Any:
    literal = format(value, "f")
    return decimals.read(literal) if "." in literal else int(literal)


_LEAVES: tuple[tuple[tuple[str, ...], str, str, Callable[[Any], Any]], ...] = (
    (("is_date",), "dates", "strings (RFC 3339)", lambda value: value.isoformat()),
    (("is_time",), "times", "strings (RFC 3339)", lambda value: value.isoformat()),
    (
        ("is_binary", "is_large_binary", "is_fixed_size_binary", "is_binary_view"),
        "bytes",
        "strings (base64)",
        lambda value: base64.b64encode(value).decode(),
    ),
    (("is_decimal",), "decimal numbers", "", _number),
)
"""Leaf types by the names of their tests: the old and new type in words, and the conversion."""
