"""The shape of a document, its free values, and the same document with other values.

The shape is the document without its free values: keys and values in order, flat, with the kind of each free value.
Two documents have equal shapes exactly if they differ only in free values, and the same ids are equal in both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from convcli.engine.shapes import values as free
from convcli.engine.shapes.values import ARGUMENTS, ID, NAME, OF_KEY, OF_WRITTEN_KEY, SCALAR, TEXT, UnreadableError
from convcli.wire import exact_json

Shape: TypeAlias = tuple[Any, ...]
SAME, LIST, MEMBER, OBJECT = -1, -2, -3, -4
"""Markers before the number of an equal id, before the length of a list, and before its member that is no object; and
for arguments that are an object, not a string."""
LARGEST = 1500
"""Maximum number of entries of a shape."""


class Format(msgspec.Struct, frozen=True):
    """How documents are read.

    `named`: root keys that the schema names · `without_tags`, `without_json`: texts that may have tags, or be JSON, are
    not free values · `is_output`: values were already checked in the input.
    """

    named: frozenset[str]
    without_tags: bool = False
    without_json: bool = False
    is_output: bool = False

    def stricter(self) -> Format | None:
        """Returns the format with the next fewer texts as free values; None if there is none."""
        if self.without_tags and self.without_json:
            return None
        return replace(self, without_tags=not self.without_tags, without_json=self.without_tags or self.without_json)

    def excludes(self, text: str) -> bool:
        """True if a text is no free value, because a dialect looks for tags or JSON in it."""
        return (self.without_tags and free.TAG in text) or (self.without_json and free.is_json(text))


def read(document: dict[str, Any], form: Format) -> tuple[Shape, list[Any]]:
    """Returns the shape of a document and its free values. Raises UnreadableError."""
    reader, named = _ShapeReader(form), form.named
    for key, value in document.items():
        reader.add(key)
        if key in named:
            reader.walk({key: value})
        elif free.is_free_key(key, value):
            reader.add(value.__class__)
            reader.keep(value)
            if value.__class__ is str and form.excludes(value):
                raise UnreadableError
        else:
            reader.walk({"": value})
    if len(reader.shape) > LARGEST:
        raise UnreadableError
    return tuple(reader.shape), reader.values


class _ShapeReader:
    """The reading of one document."""

    def __init__(self, form: Format) -> None:
        self.is_output, self.excludes = form.is_output, form.excludes
        self.kinds = OF_WRITTEN_KEY if form.is_output else OF_KEY
        self.excludes_some = form.without_tags or form.without_json
        self.shape: list[Any] = []
        self.values: list[Any] = []
        self.add, self.keep = self.shape.append, self.values.append
        self.ids: dict[str, int] = {}

    def walk(self, node: dict[str, Any]) -> None:
        """Reads an object. The most frequent cases come first: every value of every document passes here."""
        add = self.add
        add(tuple(node))
        for key, value in node.items():
            type_ = value.__class__
            if type_ is str:
                kind = self.kinds.get(key)
                if kind == TEXT and value and not value.isspace():
                    add(TEXT)
                    self.keep(value)
                    if self.excludes_some and self.excludes(value):
                        raise UnreadableError
                elif kind is not None and kind != TEXT and (kind != NAME or free.is_name(value)):
                    self.text(kind, value)
                elif len(value) <= free.LONGEST:
                    add(value)
                else:
                    raise UnreadableError
            elif type_ is list:
                add(LIST)
                add(len(value))
                for child in value:
                    if child.__class__ is not dict:
                        add(MEMBER)
                        child = {key: child}
                    self.walk(child)
            elif type_ is not dict:
                add(type_)
                add(value if type_ is not float else repr(value))  # 0.0 and -0.0 are equal
            elif value and key in free.OBJECTS:
                add(OBJECT)
                self.keep(value)
                if not self.is_output:
                    free.check_arguments(value)
            elif not self.is_output and value.get("id") == key:  # a map by id: dialects compare the two
                raise UnreadableError
            else:
                self.walk(value)

    def text(self, kind: int, value: str) -> None:
        """Reads an id, a name, or arguments."""
        if self.is_output:
            self.add(kind)
            self.keep(value)
        elif kind == ARGUMENTS:
            self.add(ARGUMENTS)
            self.keep(free.arguments_of(value))
        elif value in self.ids:
            self.shape.extend((SAME, self.ids[value]))
        elif kind == NAME:
            self.ids[value] = len(self.ids)
            self.add(NAME)
            self.keep(value)
        else:
            known = free.id_class(value)
            if known is None:
                raise UnreadableError
            self.ids[value] = len(self.ids)
            self.shape.extend((ID, *known))
            self.keep(value)


# --- the same document with other values -----------------------------------------------------------------------------

Place: TypeAlias = tuple[Any, ...]
"""The keys that lead to a value; for each object on the way, its keys and fixed values."""
ValueOf: TypeAlias = Callable[[int, Any, Place], Any]
"""Returns a replacement for a free value, given its kind, old value and path."""


def filled(document: dict[str, Any], form: Format, value_of: ValueOf) -> dict[str, Any]:
    """Returns the document with its free values replaced, in reading order."""
    filler, new, named = _Filler(value_of), dict(document), form.named
    for key, value in document.items():
        if key in named or not free.is_free_key(key, value):
            new[key] = filler.walk(key if key in named else "", value, (key,))
        else:
            new[key] = value_of(TEXT if value.__class__ is str else SCALAR, value, (key,))
    return new


class _Filler:
    """Replaces what `_ShapeReader` reads in one document, in the same order."""

    def __init__(self, value_of: ValueOf) -> None:
        self.value_of = value_of
        self.ids: dict[str, str] = {}

    def walk(self, key: str, value: Any, place: Place) -> Any:
        if value.__class__ is list:
            return [self.walk("" if child.__class__ is dict else key, child, place) for child in value]
        if value.__class__ is dict and value and key in free.OBJECTS:
            return self.value_of(ARGUMENTS, value, place)
        if value.__class__ is dict:
            here = (*place, *map(_fixed, value.items()))
            return {name: self.walk(name, child, (*here, name)) for name, child in value.items()}
        kind = OF_KEY.get(key) if value.__class__ is str else None
        return value if kind is None else self.text(kind, value, place)

    def text(self, kind: int, value: str, place: Place) -> Any:
        if kind == ARGUMENTS:
            return exact_json.write_text(self.value_of(ARGUMENTS, free.arguments_of(value), place))
        if kind == TEXT:
            return self.value_of(TEXT, value, place) if free.is_text(value) else value
        if kind == NAME and not free.is_name(value):
            return value
        if value not in self.ids:
            self.ids[value] = self.value_of(kind, value, place)
        return self.ids[value]


def _fixed(member: tuple[str, Any]) -> Any:
    """Returns the fixed content of a member of an object."""
    key, value = member
    is_open = value.__class__ in (dict, list)
    if value.__class__ is str and key in OF_KEY:
        is_open = OF_KEY[key] != NAME or free.is_name(value)
    return key if is_open else (key, value.__class__, value if value.__class__ is not float else repr(value))
