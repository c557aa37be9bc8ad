"""Envelopes: which keys of a header, row or message are fields of a transcript, and which are extras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convcli.kit.objects import Keys, Native, as_text, omit
from convcli.kit.settings import Setting
from convcli.kit.values import milliseconds_of_time, time_of_milliseconds
from convcli.model.transcript import Message, Transcript
from convcli.wire import exact_json


class Envelope:
    """The keys of a header or row: fields of the transcript or message, and the rest.

    `order` is all keys in the vendor's order · `fields` maps keys to attributes (`{"timestamp": "created_at"}`), or to
    a Setting if the two sides write the value differently · keys of `content` are read by the dialect itself, all
    others are extras. The value of a field is a nonempty string; other values are extras.
    """

    __slots__ = ("_content", "_fields", "_keys")

    def __init__(self, order: str, fields: Mapping[str, str | Setting], *, content: str = "") -> None:
        self._fields = {key: _field(one) for key, one in fields.items()}
        self._content = frozenset(content.split())
        known = self._fields.keys() | self._content
        self._keys = Keys(order, extra=" ".join(key for key in order.split() if key not in known))

    def lift(self, native: Native, record: Transcript | Message) -> Native | None:
        """Sets the fields of the record. Returns the extras, in the order in which they will be written."""
        extra = self._keys.extra(native)
        for key, field in self._fields.items():
            value = native.get(key)
            if value is None or value == "":
                continue
            ours = field.lift(value)
            setattr(record, field.name, ours)
            if ours is None or (field.partial and not exact_json.exact(field.write(ours), value)):
                extra = {**(extra or {}), key: value}
        return {key: extra[key] for key in self._keys.sorted(extra)} if extra else None

    def write(self, record: Transcript | Message, extra: Native | None = None, **content: Any) -> Native:
        """Returns the object, in the vendor's order. The extra value of a field is used only if it still means the
        same."""
        native: Native = omit(extra, *self._fields) if extra else {}
        for key, field in self._fields.items():
            value = getattr(record, field.name)
            if extra and key in extra and exact_json.exact(field.lift(extra[key]), value):
                written = extra[key]
            else:
                written = None if value is None else field.write(value)
            if written is not None:
                native[key] = written
        return self._keys.put({**native, **content}, None, sort=True)


def _field(one: str | Setting) -> Setting:
    return one if isinstance(one, Setting) else Setting(one, as_text, as_text)


CREATED_IN_MILLISECONDS = Setting("created_at", time_of_milliseconds, milliseconds_of_time)
"""For an Envelope: the time of a row, which the vendor writes in milliseconds since 1970."""
REPLACES_ALL = Setting("replaces", lambda value: "all" if value is True else None, lambda value: value == "all" or None)
"""A mark of a row whose message replaces everything before it."""
