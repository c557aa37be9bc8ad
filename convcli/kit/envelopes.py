"""Envelopes: which keys of a header, row or message are fields of a transcript, and which are extras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import astuple

from convcli.kit.codec.code import reader
from convcli.kit.codec.objects import Field, field_values, lift_fields, places_of, value_at
from convcli.kit.objects import Keys, Native, Record, as_text, omit
from convcli.kit.settings import Setting
from convcli.kit.values import milliseconds_of_time, time_of_milliseconds
from convcli.model.transcript import Path


class Envelope:
    """The keys of a header, row, message or part: fields of the record that it becomes, and the rest.

    `table` is all keys in the vendor's order: `timestamp=created_at` is a field, `type=` is read by the dialect itself,
    and any other key is an extra. A field is a nonempty string; other values are extras.

    `fields` has a Setting for each key whose value the two sides write differently. Where tables share their keys, it
    also maps keys to fields, and `content` names those that the dialect reads itself.
    """

    __slots__ = ("_fields", "_keys", "_names", "_read")

    def __init__(self, table: str, fields: Mapping[str, str | Setting] | None = None, *, content: str = "") -> None:
        words = [word.partition("=") for word in table.split()]
        named = {key: field for key, _, field in words if field}
        if fields and not named.keys().isdisjoint(fields):
            raise ValueError("a key has one field, in the table or in `fields`")
        stated: dict[str, str | Setting] = {**named, **(fields or {})}
        known = {key for key, sign, _ in words if sign} | stated.keys() | set(content.split())
        self._fields = tuple(_field(key, one) for key, one in stated.items())
        self._names = tuple(stated)
        order = [key for key, _, _ in words]
        self._keys = Keys(order, extra=" ".join(key for key in order if key not in known))
        self._read = reader("envelope", [field.path for field in self._fields])

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that the table states, in the vendor's order."""
        return tuple(dict.fromkeys((*self._keys.names, *self._names)))

    def lift(self, native: Native, record: Record) -> Native | None:
        """Sets the fields of the record. Returns the extras, in the order in which they will be written."""
        extra = self._keys.extra(native)
        kept: list[Path] = []
        lift_fields(self._read(native), record, self._fields, kept)
        if kept:
            extra = {**(extra or {}), **{str(path[0]): value_at(native, path) for path in kept}}
        return self._keys.ordered(extra) if extra else None

    def write(self, record: Record, extra: Native | None = None, **content: Any) -> Native:
        """Returns the object, in the vendor's order. The extra value of a field is used only if it still means the
        same."""
        native: Native = omit(extra, *self._names) if extra else {}
        for key, value in zip(self._names, field_values(record, self._fields, extra or {}), strict=True):
            if value is not None:
                native[key] = value
        return self._keys.ordered({**native, **content})

    def places(self, node: str = "", *above: str) -> dict[str, Path]:
        """Returns the paths of the fields, by their names in losses.

        `node` is the kind of the record (`message`), empty for the transcript; `above` leads from it to the object.
        """
        return places_of(self._fields, node, above)

    def supports(self, node: str = "") -> frozenset[str]:
        """Returns the names of the fields."""
        return frozenset(self.places(node))


def _field(key: str, one: str | Setting) -> Field:
    setting = one if isinstance(one, Setting) else Setting(one, as_text, as_text)
    return Field((key,), *astuple(setting))


CREATED_IN_MILLISECONDS = Setting("created_at", time_of_milliseconds, milliseconds_of_time)
"""For an Envelope: the time of a row, which the vendor writes in milliseconds since 1970."""
REPLACES_ALL = Setting("replaces", lambda value: "all" if value is True else None, lambda value: value == "all" or None)
"""A mark of a row whose message replaces everything before it."""
