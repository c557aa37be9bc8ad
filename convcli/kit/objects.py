"""Take the keys that a dialect knows, carry the rest: helpers that every lift and lower share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from convcli.model.transcript import Extras

Native = dict[str, Any]
"""An object as the vendor wrote it."""

Spelling = dict[str, Any]
"""How an object was spelled: `keys` its keys in order, `blank` its keys whose value says nothing; dialects add more."""


class Shape(NamedTuple):
    """What the keys of an object say without a look at its values."""

    plain: bool
    carried: tuple[str, ...]
    ordered: bool


class Keys:
    """The keys of one kind of object, in the order in which the vendor writes them.

    Those in `carried` have no field in the intermediate format: they ride in extras, as unknown keys do.
    """

    __slots__ = ("_carried", "_rank", "shape")

    def __init__(self, order: str, *, carried: str = "") -> None:
        self._rank = {name: rank for rank, name in enumerate(order.split())}
        self._carried = frozenset(carried.split())
        if not self._carried <= self._rank.keys():
            raise ValueError("carried keys must have a place in the order")
        self.shape: Callable[[tuple[str, ...]], Shape] = lru_cache(maxsize=1024)(self._shape)

    def _shape(self, keys: tuple[str, ...]) -> Shape:
        carried = tuple(key for key in keys if key in self._carried or key not in self._rank)
        ordered = list(keys) == self.sorted(keys)
        return Shape(not carried and ordered, carried, ordered)

    def sorted(self, keys: Iterable[str]) -> list[str]:
        """The keys in the order of the vendor, unknown ones last."""
        last = len(self._rank)
        return sorted(keys, key=lambda key: self._rank.get(key, last))

    def carried(self, native: Native) -> Native | None:
        """What must be carried: keys that the format has no field for, unless their value says nothing."""
        shape = self.shape(tuple(native))
        if shape.plain:
            return None
        carried = {key: native[key] for key in shape.carried if not self._is_blank(key, native[key])}
        return carried or None

    def take(self, native: Native) -> tuple[Native | None, Spelling | None]:
        """What must be carried, and how the object was spelled; None where there is nothing to say."""
        shape = self.shape(tuple(native))
        if shape.plain and all(native.values()):
            return None, None
        return self._take(native, shape)

    def _take(self, native: Native, shape: Shape) -> tuple[Native | None, Spelling | None]:
        blank = {key: value for key, value in native.items() if self._is_blank(key, value)}
        carried = {key: native[key] for key in shape.carried if key not in blank}
        spelling: Spelling = {}
        if blank or not shape.ordered:
            spelling["keys"] = list(native)
        if blank:
            spelling["blank"] = blank
        return carried or None, spelling or None

    def _is_blank(self, key: str, value: Any) -> bool:
        """Null says nothing; an empty string, list or object says nothing under a key that we know."""
        if value is None:
            return True
        return key in self._rank and not value and not isinstance(value, (bool, int, float))

    def put(
        self, native: Native, carried: Native | None, spelling: Spelling | None = None, *, sort: bool = False
    ) -> Native:
        """The object as its vendor writes it: with what was carried, in the vendor's order."""
        if carried:
            native = {**native, **carried}
        if carried or sort:
            native = {key: native[key] for key in self.sorted(native)}
        return respell(native, spelling) if spelling else native


def respell(native: Native, spelling: Spelling) -> Native:
    """`native` in the order of its source; of keys that say nothing, those that the source had."""
    blank: Native = spelling.get("blank", {})
    out: Native = {}
    for key in spelling.get("keys", ()):
        if key in native and (key not in blank or says_something(native[key])):
            out[key] = native[key]
        elif key in blank:
            out[key] = blank[key]
    whole = "keys" in spelling
    out.update(
        (key, value) for key, value in native.items() if key not in out and not (whole and not says_something(value))
    )
    return out


def says_something(value: Any) -> bool:
    """False for null and for an empty string, list or object."""
    return bool(value) or isinstance(value, (bool, int, float))


def extras_of(dialect: str, carried: Native | None) -> Extras | None:
    """`carried` as extras of `dialect`."""
    return {dialect: carried} if carried else None


def carried_by(extras: Extras | None, dialect: str) -> Native:
    """What `dialect` carries in `extras`."""
    return extras.get(dialect, {}) if extras else {}


def merge(base: Native, more: Native) -> Native:
    """Both objects in one, merged where both hold an object under the same key."""
    out = dict(base)
    for key, value in more.items():
        mine = out.get(key)
        out[key] = merge(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return out
