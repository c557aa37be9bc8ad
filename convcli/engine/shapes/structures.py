"""Compiles functions that read documents of one structure: a shape without its constants.

Rows of a data set have few structures. A function for one reads in less than half the time of `reading.read`, and finds
the same free values; for documents of another structure it returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Generic, TypeAlias, TypeVar

from convcli.engine.shapes import values as free
from convcli.engine.shapes.reading import LIST, MEMBER, OBJECT, SAME, Format, Shape
from convcli.engine.shapes.values import ARGUMENTS, NAME, TEXT, UnreadableError

T = TypeVar("T")
Found: TypeAlias = tuple[tuple[Any, ...], list[Any]]
"""The constants of a document, and its free values."""
Reader: TypeAlias = Callable[[dict[str, Any]], Found | None]
"""Reads a document of one structure. Raises UnreadableError as `reading.read` does."""

MOST = 1024
"""Structures whose functions are kept."""
MOST_ALIKE = 8
"""Structures with the same outline that are tried in turn."""
FUNCTIONS: dict[str, Any] = {
    "arguments_of": free.arguments_of,
    "check_arguments": free.check_arguments,
    "id_class": free.id_class,
    "is_json": free.is_json,
    "is_name": free.is_name,
}
"""What the source of a reader calls."""
_CONSTANTS = {bool: "bool", int: "int", float: "float"}


def reader(shape: Shape, form: Format) -> Reader:
    """Returns the function for documents with the structure of this shape. Raises UnreadableError if there is none."""
    return _compiled(_ReaderSource(shape, form).text())


class Structures(Generic[T]):
    """Something for each of some shapes, found by documents that have them."""

    def __init__(self, form: Format) -> None:
        self._form = form
        self._known: dict[tuple[Any, ...], list[tuple[Reader, dict[tuple[Any, ...], T]]]] = {}

    def add(self, document: dict[str, Any], shape: Shape, item: T) -> bool:
        """Adds the item for the shape of this document; returns True if its structure is new.

        Raises UnreadableError if there is no function for it."""
        alike = self._known.setdefault(_outline(document), [])
        read = reader(shape, self._form)
        found = read(document)
        items = next((items for other, items in alike if other is read), None)
        is_new = items is None and len(alike) < MOST_ALIKE
        if is_new:
            alike.append((read, items := {}))
        if found is not None and items is not None:
            items[found[0]] = item
        return is_new

    def find(self, document: dict[str, Any]) -> tuple[T, list[Any]] | None:
        """Returns the item for the shape of a document, and its free values. Raises UnreadableError."""
        for read, items in self._known.get(_outline(document), ()):
            found = read(document)
            if found is not None and (item := items.get(found[0])) is not None:
                return item, found[1]
        return None


def _outline(document: dict[str, Any]) -> tuple[Any, ...]:
    """Returns what is equal in all documents of one structure and costs little to find: keys, and the number of keys
    of each object in lists. Raises TypeError if there are numbers among these objects."""
    outline: list[Any] = [*document]
    for value in document.values():
        if value.__class__ is list and value and value[0].__class__ is dict:
            outline += map(len, value)
    return tuple(outline)


@lru_cache(MOST)
def _compiled(source: str) -> Reader:
    names = dict(FUNCTIONS)
    exec(source, names)
    made: Reader = names["read"]
    return made


class _ReaderSource:
    """The source of one function. Each value of the document has a variable, in reading order."""

    def __init__(self, shape: Shape, form: Format) -> None:
        self._rest: Iterator[Any] = iter(shape)
        self._form = form
        self._lines = list[str]()
        self._constants, self._values, self._ids = list[str](), list[str](), list[str]()
        self._checked = list[str]()
        """Arguments that are objects."""
        self._count = 0
        excludes = (form.without_tags, f" or {free.TAG!r} in {{0}}"), (form.without_json, " or is_json({0})")
        self._excludes = "".join(condition for is_set, condition in excludes if is_set)

    def text(self) -> str:
        """Returns the source. Raises UnreadableError for a constant of a type that JSON does not have."""
        members = dict[str, str]()
        for key in self._rest:
            variable = members[key] = self._variable()
            entry = next(self._rest)
            if entry.__class__ is tuple:
                self._value(entry[0], variable, next(self._rest))
            else:
                self._free(variable, entry)
        body, self._lines = self._lines, ["def read(document):"]
        self._unpack(tuple(members), "document", list(members.values()))
        self._lines += body
        if len(self._ids) > 1:
            self._refuse(f"len({{{', '.join(self._ids)}}}) != {len(self._ids)}")
        self._lines += [f"check_arguments({variable})" for variable in self._checked]
        constants = "".join(f"{constant}, " for constant in self._constants)
        self._lines.append(f"return ({constants}), [{', '.join(self._values)}]")
        return "\n ".join(self._lines)

    def _variable(self) -> str:
        self._count += 1
        return f"a{self._count}"

    def _refuse(self, condition: str) -> None:
        self._lines.append(f"if {condition}: return None")

    def _unpack(self, keys: tuple[str, ...], variable: str, members: list[str]) -> None:
        self._refuse(f"tuple({variable}) != {keys!r}")
        if members:
            self._lines.append(f"{', '.join(members)}, = {variable}.values()")

    def _free(self, variable: str, type_: type) -> None:
        """Reads a value under a root key that no schema names."""
        if type_ is str:
            self._text(variable)
        else:
            self._refuse(f"{variable}.__class__ is not {_CONSTANTS[type_]}")
            self._values.append(variable)

    def _text(self, variable: str) -> None:
        excluded = self._excludes.format(variable)
        self._refuse(f"{variable}.__class__ is not str or not {variable} or {variable}.isspace(){excluded}")
        self._values.append(variable)

    def _value(self, key: str, variable: str, entry: Any) -> None:
        """Reads the value of a key, which begins with this entry of the shape."""
        if entry.__class__ is tuple:
            self._object(key, variable, entry)
        elif entry.__class__ is str:
            self._refuse(f"{variable}.__class__ is not str")
            self._constants.append(variable)
        elif entry.__class__ is not int:
            self._constant(variable, entry)
        elif entry == TEXT:
            self._text(variable)
        elif entry == LIST:
            self._list(key, variable)
        elif entry == OBJECT:
            self._refuse(f"{variable}.__class__ is not dict or not {variable}")
            self._values.append(variable)
            self._checked += [] if self._form.is_output else [variable]
        else:
            self._refuse(f"{variable}.__class__ is not str")
            self._string(variable, entry)

    def _string(self, variable: str, kind: int) -> None:
        """Reads an id, a name, or arguments."""
        if kind == SAME:
            self._refuse(f"{variable} != {self._ids[next(self._rest)]}")
        elif kind == NAME:
            self._refuse(f"not is_name({variable})")
            self._ids += [] if self._form.is_output else [variable]
            self._values.append(variable)
        elif self._form.is_output:
            self._values.append(variable)
        elif kind == ARGUMENTS:
            self._values.append(f"arguments_of({variable})")
        else:
            next(self._rest), next(self._rest)  # the class of the id, a constant
            class_ = self._variable()
            self._lines.append(f"{class_} = id_class({variable})")
            self._refuse(f"{class_} is None")
            self._constants.append(class_)
            self._ids.append(variable)
            self._values.append(variable)

    def _constant(self, variable: str, type_: type) -> None:
        value = next(self._rest)
        if value is None:
            self._refuse(f"{variable} is not None")
        elif type_ in _CONSTANTS:
            self._refuse(f"{variable}.__class__ is not {_CONSTANTS[type_]}")
            self._constants.append(f"repr({variable})" if type_ is float else variable)
        else:
            raise UnreadableError

    def _list(self, key: str, variable: str) -> None:
        members = [self._variable() for _ in range(next(self._rest))]
        self._refuse(f"{variable}.__class__ is not list or len({variable}) != {len(members)}")
        if members:
            self._lines.append(f"{', '.join(members)}, = {variable}")
        for member in members:
            entry = next(self._rest)
            if entry == MEMBER:
                next(self._rest)
                self._refuse(f"{member}.__class__ is dict")
                self._value(key, member, next(self._rest))
            else:
                self._object("", member, entry)

    def _object(self, key: str, variable: str, keys: tuple[str, ...]) -> None:
        members = [self._variable() for _ in keys]
        self._refuse(f"{variable}.__class__ is not dict")
        self._unpack(keys, variable, members)
        if key and "id" in keys and not self._form.is_output:
            self._refuse(f"{members[keys.index('id')]} == {key!r}")
        for name, member in zip(keys, members, strict=True):
            self._value(name, member, next(self._rest))
