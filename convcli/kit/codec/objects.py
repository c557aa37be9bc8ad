"""Values at paths of an object, and what is left of the object when they are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeAlias

import msgspec

from convcli.kit.objects import Native
from convcli.model.transcript import Path
from convcli.wire import exact_json

Tree: TypeAlias = dict[str, "Tree | None"]
"""The paths of an object that are read, by their first step; None where a path ends."""


def steps(path: str) -> Path:
    """Returns the steps of a path whose keys are joined by `/`."""
    return tuple(path.split("/"))


def tree_of(paths: Iterable[Path]) -> Tree:
    """Returns these paths as a tree."""
    tree: Tree = {}
    for path in paths:
        node = tree
        for step in path[:-1]:
            below = node.get(str(step)) or {}
            node[str(step)] = below
            node = below
        node.setdefault(str(path[-1]), None)
    return tree


def value_at(native: Any, path: Path) -> Any:
    """Returns the value at a path; None if there is none."""
    for step in path:
        if native.__class__ is not dict:
            return None
        native = native.get(step)
    return native


def put(native: Native, path: Path, value: Any) -> None:
    """Sets the value at a path."""
    for step in path[:-1]:
        below = native.get(str(step))
        if below.__class__ is not dict:
            below = native[str(step)] = {}
        native = below
    native[str(path[-1])] = value


def rest_of(native: Native, tree: Tree, kept: Collection[Path] = (), at: Path = ()) -> Native:
    """Returns the object without nulls and without the values at the paths of the tree, except those that are kept."""
    rest: Native = {}
    for key, value in native.items():
        if key not in tree:
            if value is not None:
                rest[key] = value
            continue
        below = tree[key]
        if below is None:
            if kept and (*at, key) in kept:
                rest[key] = value
        elif isinstance(value, dict):
            inner = rest_of(value, below, kept, (*at, key))
            if inner:
                rest[key] = inner
        elif value is not None:
            rest[key] = value
    return rest


def with_rest(native: Native, rest: Native) -> Native:
    """Adds what is left of an object, except where there is a value already."""
    for key, value in rest.items():
        own = native.get(key)
        if own.__class__ is dict and isinstance(value, dict):
            native[key] = with_rest(dict(own), value)
        elif key not in native:
            native[key] = value
    return native


class Field(msgspec.Struct, frozen=True):
    """A value that is a field of a record. `lift` and `write` return None for what the other side cannot express.

    `partial`: a value that writing does not restore is also left in extras, and is written while it means the same.
    """

    path: Path
    name: str
    lift: Callable[[Any], Any]
    write: Callable[[Any], Any]
    partial: bool = False


def lift_fields(native: Native, record: Any, fields: Iterable[Field], kept: list[Path]) -> None:
    """Sets the fields of a record. Adds the paths of values that stay in extras."""
    for field in fields:
        value = value_at(native, field.path)
        if value is None or value == "":
            continue
        ours = field.lift(value)
        if ours is not None:
            setattr(record, field.name, ours)
        if ours is None or (field.partial and not exact_json.exact(field.write(ours), value)):
            kept.append(field.path)


def write_field(native: Native, record: Any, field: Field, extra: Native) -> None:
    """Writes a field: the value in extras if it still means the same."""
    ours = getattr(record, field.name)
    value = value_at(extra, field.path) if extra else None
    if value is None or not exact_json.exact(field.lift(value), ours):
        value = None if ours is None else field.write(ours)
    if value is not None:
        put(native, field.path, value)
