"""Envelopes: which keys of a header, a row or a message are fields of a transcript, and which are carried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convcli.kit.objects import Keys, Native, as_text, omit
from convcli.kit.settings import Setting
from convcli.kit.values import milliseconds_of_time, time_of_milliseconds
from convcli.model.transcript import Message, Transcript
from convcli.wire import exact_json


class Envelope:
    """The keys of a header or of a row: those that say a field of the transcript or of its message, and the rest.

    `order` are all keys in the order of the vendor · `fields` gives for a key the attribute that it says
    (`{"timestamp": "created_at"}`), or a Setting where the two sides write it differently · keys of `content` are read
    by the dialect itself, all others are carried. A field is a string that is not empty: other values are carried.
    """

    __slots__ = ("_content", "_fields", "_keys")

    def __init__(self, order: str, fields: Mapping[str, str | Setting], *, content: str = "") -> None:
        self._fields = {key: _field(one) for key, one in fields.items()}
        self._content = frozenset(content.split())
        known = self._fields.keys() | self._content
        self._keys = Keys(order, carried=" ".join(key for key in order.split() if key not in known))

    def lift(self, native: Native, record: Transcript | Message) -> Native | None:
        """Set the fields of the record; what must be carried, in the order in which it will be written."""
        carried = self._keys.carried(native)
        for key, field in self._fields.items():
            value = native.get(key)
            if value is None or value == "":
                continue
            ours = field.lift(value)
            setattr(record, field.name, ours)
            if ours is None or (field.partial and not exact_json.exact(field.write(ours), value)):
                carried = {**(carried or {}), key: value}
        return {key: carried[key] for key in self._keys.sorted(carried)} if carried else None

    def write(self, record: Transcript | Message, carried: Native | None = None, **content: Any) -> Native:
        """The object, in the order of the vendor; what was carried of a field only where it still says the same."""
        native: Native = omit(carried, *self._fields) if carried else {}
        for key, field in self._fields.items():
            value = getattr(record, field.name)
            if carried and key in carried and exact_json.exact(field.lift(carried[key]), value):
                written = carried[key]
            else:
                written = None if value is None else field.write(value)
            if written is not None:
                native[key] = written
        return self._keys.put({**native, **content}, None, sort=True)


def _field(one: str | Setting) -> Setting:
    return one if isinstance(one, Setting) else Setting(one, as_text, as_text)


CREATED_IN_MILLISECONDS = Setting("created_at", time_of_milliseconds, milliseconds_of_time)
"""The time of a row, for an Envelope, which the vendor writes as milliseconds since 1970."""
REPLACES_ALL = Setting("replaces", lambda value: "all" if value is True else None, lambda value: value == "all" or None)
"""A mark of a row whose message stands for all that came before it."""
