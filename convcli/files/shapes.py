"""Chooses Arrow types for the rows of a file, and how each value is stored in them.

The types follow from all rows of a file and from the keys that the dialect's schema names, so columns have meaningful
keys. Open objects, such as tool parameters, are stored as JSON strings, because a struct would give each object the
keys of all others. A field of such strings has a mark in its metadata, by which they are parsed again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from convcli.files.columns import ALL, JSON, JSON_OR_TEXT, MARK, OBJECT_OR_TEXT, TEXT_OR_PARTS, Path, pyarrow
from convcli.model.row_columns import ColumnType
from convcli.wire.decimals import Decimal
from convcli.wire.exact_json import write_text

TEXT, BOOL, INT, LONG, FLOAT, BIG, LIST, OBJECT = (1 << n for n in range(8))
_KINDS = {str: TEXT, bool: BOOL, float: FLOAT, Decimal: BIG, list: LIST, dict: OBJECT}
_IN_DOUBLE, _IN_LONG = 1 << 53, 1 << 63
_PART = {"type", "text"}


class PathFacts(NamedTuple):
    """What a dialect allows at a path: whether it names keys there, and whether a string is allowed."""

    names_keys: Callable[[Path], bool]
    allows_text: Callable[[Path], bool]


class Stored(NamedTuple):
    """How values are stored: their Arrow type, the mark of a field of them, and the conversion of a value."""

    type: Any
    mark: bytes = b""
    store: Callable[[Any], Any] | None = None


class Shape:
    """The types of the values at one path, over all rows; open objects are not examined."""

    __slots__ = ("_known", "fields", "is_open", "items", "kinds", "path")

    def __init__(self, path: Path, known: PathFacts) -> None:
        self.path, self._known = path, known
        self.kinds, self.is_open = 0, False
        self.items: Shape | None = None
        self.fields: dict[str, Shape] | None = None

    @property
    def has_values(self) -> bool:
        """True if a value, or an item of a list, determines the type."""
        return bool(self.kinds & ~LIST) or self.items is not None

    def add(self, value: Any) -> None:
        """Adds a value."""
        if value is None:
            return
        kind = _KINDS.get(value.__class__) or _kind_of_integer(value)
        self.kinds |= kind
        if kind == OBJECT:
            self._add_object(value)
        elif kind == LIST and value:
            if self.items is None:
                self.items = Shape((*self.path, ALL), self._known)
            for item in value:
                self.items.add(item)

    def _add_object(self, value: dict[str, Any]) -> None:
        if self.fields is None and not self.is_open:
            self.is_open = not self._known.names_keys(self.path)
            self.fields = {}
        if self.is_open or self.fields is None:
            return
        for name, child in value.items():
            shape = self.fields.get(name)
            if shape is None:
                shape = self.fields[name] = Shape((*self.path, name), self._known)
            shape.add(child)

    def column(self) -> Stored:
        """Returns how a column of these values is stored: as JSON strings if no type fits."""
        return self._stored() or as_json()

    def _stored(self) -> Stored | None:
        arrow, kinds = pyarrow(), self.kinds
        for allowed, kind in (
            (0, "null"),
            (TEXT, "string"),
            (BOOL, "bool_"),
            (INT | LONG, "int64"),
            (INT | FLOAT, "float64"),
        ):
            if kinds | allowed == allowed:
                return Stored(getattr(arrow, kind)())
        if kinds == LIST:
            return self._list()
        if kinds == OBJECT and not self.is_open and self.fields:
            return self._struct(self.fields)
        return self._parts() if kinds == TEXT | LIST else None

    def _list(self) -> Stored | None:
        item = Stored(pyarrow().null()) if self.items is None else self.items._stored()
        if item is None or item.mark:
            return None
        each = item.store
        store = None if each is None else lambda values: [None if one is None else each(one) for one in values]
        return Stored(pyarrow().list_(item.type), b"", store)

    def _parts(self) -> Stored | None:
        """Mixed strings and lists of parts: all become lists of parts, which trainers expect in a column."""
        fields = self.items.fields if self.items is not None and self.items.kinds == OBJECT else None
        if fields is None or not fields.keys() >= _PART:
            return None
        parts = self._list()
        if parts is None:
            return None
        return parts._replace(mark=TEXT_OR_PARTS, store=lambda value: _as_parts(value, parts.store))

    def _struct(self, fields: dict[str, Shape]) -> Stored | None:
        arrow, columns = pyarrow(), dict[str, Stored]()
        for name, shape in fields.items():
            stored = shape._stored() or shape._text()
            if stored is None:
                return None
            columns[name] = stored
        kind = arrow.struct([field(name, stored) for name, stored in columns.items()])
        return Stored(kind, b"", storing(columns))

    def _text(self) -> Stored | None:
        """JSON strings for a field of an object, if the dialect also accepts a string there."""
        if not self.kinds & OBJECT or not self._known.allows_text(self.path):
            return None
        if self.kinds | OBJECT | LIST == OBJECT | LIST:
            return as_json()
        is_clean = self.kinds | OBJECT | LIST | TEXT == OBJECT | LIST | TEXT
        mark = JSON_OR_TEXT if self.kinds & LIST else OBJECT_OR_TEXT
        return Stored(pyarrow().string(), mark, _json_or_text) if is_clean else None


def of_type(kind: ColumnType) -> Stored:
    """Returns how a column of this type is stored."""
    arrow = pyarrow()
    types = {"string": arrow.string(), "integer": arrow.int64(), "strings": arrow.list_(arrow.string())}
    return Stored(types[kind])


def as_json() -> Stored:
    """Stores any value as a JSON string."""
    return Stored(pyarrow().string(), JSON, write_text)


def field(name: str, stored: Stored) -> Any:
    """Returns a field of an Arrow schema."""
    return pyarrow().field(name, stored.type, metadata={MARK: stored.mark} if stored.mark else None)


def storing(columns: dict[str, Stored]) -> Callable[[Any], Any] | None:
    """Returns a function that converts an object's values for storage; None if it can stay as it is."""
    stores = {name: stored.store for name, stored in columns.items() if stored.store is not None}
    if not stores:
        return None

    def store(value: dict[str, Any]) -> dict[str, Any]:
        changed = {name: stores[name](child) for name, child in value.items() if name in stores and child is not None}
        return {**value, **changed} if changed else value

    return store


def _kind_of_integer(value: int) -> int:
    if -_IN_DOUBLE <= value <= _IN_DOUBLE:
        return INT
    return LONG if -_IN_LONG <= value < _IN_LONG else BIG


def _as_parts(value: Any, store: Callable[[Any], Any] | None) -> Any:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return value if store is None else store(value)


def _json_or_text(value: Any) -> str:
    return value if isinstance(value, str) else write_text(value)
