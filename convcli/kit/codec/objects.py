"""Values at paths of an object, and what is left of the object when they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from convcli.kit.objects import Native
from convcli.model.caches import Cached
from convcli.model.transcript import Path


class ReadKeys:
    """The keys of an object that are read; `below` maps each to the keys that are read in its value, or to None if all
    of it is."""

    __slots__ = ("_others", "below")

    def __init__(self, below: dict[str, ReadKeys | None]) -> None:
        self.below = below
        self._others = Cached(self._without_read)

    def others(self, native: Native) -> tuple[str, ...]:
        """Returns the keys of an object whose values are not read, or not all of them."""
        return self._others[tuple(native)]

    def _without_read(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(key for key in keys if self.below.get(key, self) is not None)


def steps(path: str) -> Path:
    """Returns the steps of a path whose keys are joined by `/`."""
    return tuple(path.split("/"))


def tree_of(paths: Iterable[Path]) -> ReadKeys:
    """Returns these paths as a tree."""
    tree = ReadKeys({})
    for path in paths:
        node = tree
        for step in path[:-1]:
            below = node.below.get(str(step)) or ReadKeys({})
            node.below[str(step)] = below
            node = below
        node.below.setdefault(str(path[-1]), None)
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
    if len(path) == 1:
        native[path[0]] = value  # type: ignore[index]
        return
    for step in path[:-1]:
        below = native.get(str(step))
        if below.__class__ is not dict:
            below = native[str(step)] = {}
        native = below
    native[str(path[-1])] = value


def rest_of(native: Native, tree: ReadKeys, kept: Collection[Path] = (), at: Path = ()) -> Native:
    """Returns the object without nulls and without the values at the paths of the tree, except those that are kept."""
    rest: Native = {}
    keys = native if kept else tree.others(native)
    for key in keys:
        value = native[key]
        if key not in tree.below:
            if value is not None:
                rest[key] = value
            continue
        below = tree.below[key]
        if below is None:
            if (*at, key) in kept:
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
