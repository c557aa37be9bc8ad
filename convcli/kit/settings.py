"""Converts the settings of a request in both directions by one table.

A setting that the intermediate format cannot express exactly is kept in extras, next to its best reading. In its own
dialect the kept value is written only if it still has that reading: an edited setting wins. A setting that is a member
of an object has the key `object/member`; other members of such objects are kept under its key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.kit.objects import Native, has_content, omit
from convcli.model.transcript import Transcript
from convcli.wire import exact_json


class Setting(msgspec.Struct, frozen=True):
    """A setting whose value differs between the two sides. `lift` and `write` return None for what the other side
    cannot express.

    `partial`: our value does not cover everything. A value that writing would not restore is kept in extras. `member`:
    the value is this member of the object that is our value.
    """

    name: str
    lift: Callable[[Any], Any]
    write: Callable[[Any], Any]
    partial: bool = False
    member: str = ""


BUDGET, EFFORT, OFF = "reasoningBudget", "reasoningEffort", "none"


def off_as_effort(settings: dict[str, Any]) -> dict[str, Any]:
    """Replaces a reasoning budget of zero by the effort `none`, unless there is another effort."""
    if settings.get(BUDGET) != 0 or EFFORT in settings:
        return settings
    return {**omit(settings, BUDGET), EFFORT: OFF}


def off_as_budget(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse, for services that disable reasoning by its budget."""
    if settings.get(EFFORT) != OFF or BUDGET in settings:
        return dict(settings)
    return {**omit(settings, EFFORT), BUDGET: 0}


class Settings:
    """The settings of a dialect: the vendor's keys, in the vendor's order, and our name or a Setting for each.

    Several keys may have one name (`max_tokens`, `max_completion_tokens`): all are read, the first is written.
    """

    __slots__ = ("_first", "_keys", "_objects", "_outer", "_settings")

    def __init__(self, table: Mapping[str, str | Setting]) -> None:
        self._settings = {key: _setting(one) for key, one in table.items()}
        self._objects = frozenset(key.partition("/")[0] for key in table if "/" in key)
        self._keys = self._objects.union(self._settings)
        self._outer = tuple(dict.fromkeys(key.partition("/")[0] for key in table))
        self._first: dict[str, str] = {}
        for key, setting in self._settings.items():
            self._first.setdefault(setting.name, key)

    def lift(self, native: Native) -> tuple[dict[str, Any], Native]:
        """Returns our settings, and the extras that would not come back otherwise."""
        if self._keys.isdisjoint(native):
            return {}, {}
        settings: dict[str, Any] = {}
        extra: Native = {}
        flat = self._flat(native)
        for key, setting in self._settings.items():
            value = flat.pop(key, None)
            if value is None or not has_content(value):
                continue
            ours = setting.lift(value)
            if ours is not None:
                settings.setdefault(setting.name, ours)
            if ours is None or not exact_json.exact(settings[setting.name], ours) or _loses(setting, ours, value):
                extra[key] = value
        other_members = {key: value for key, value in flat.items() if "/" in key and value is not None}
        return off_as_effort(settings), _nested({**extra, **other_members})

    def write(self, settings: Mapping[str, Any], extra: Mapping[str, Any]) -> Native:
        """Returns the vendor's keys. The extra value of a setting is used only if it still means the same."""
        if not settings and self._keys.isdisjoint(extra):
            return {}
        native: Native = {}
        settings = off_as_budget(settings) if BUDGET in self._first else settings
        stated = self._flat(extra)
        for key, setting in self._settings.items():
            kept, ours = stated.pop(key, None), settings.get(setting.name)
            if kept is None and ours is None:  # most settings
                continue
            is_first = self._first[setting.name] == key
            if kept is not None and (not is_first or self._still_says(setting, kept, ours)):
                native[key] = kept
            elif ours is not None and is_first:
                value = setting.write(ours)
                native |= {} if value is None else {key: value}
        return _nested({**native, **{key: value for key, value in stated.items() if "/" in key}})

    def _flat(self, native: Mapping[str, Any]) -> Native:
        """Returns the object with members of the setting objects under `object/member`."""
        flat: Native = {}
        for key, value in native.items():
            if key not in self._objects:
                flat[key] = value
            elif isinstance(value, dict):
                flat |= {f"{key}/{member}": inner for member, inner in value.items()}
        return flat

    @staticmethod
    def _still_says(setting: Setting, extra: Any, ours: Any) -> bool:
        reading = setting.lift(extra)
        return ours is None if reading is None else exact_json.exact(reading, ours)

    def fits(self, transcript: Transcript, *others: Settings) -> Transcript:
        """Pass: keeps only the settings that come back when they are written; `others` are further tables."""
        if not transcript.settings:
            return transcript if transcript.settings is None else replace(transcript, settings=None)
        kept: dict[str, Any] = {}
        for table in (self, *others):
            kept |= table.lift(table.write(transcript.settings, {}))[0]
        settings = {name: kept[name] for name in transcript.settings if name in kept}
        return (
            transcript
            if exact_json.exact(settings, transcript.settings)
            else replace(transcript, settings=settings or None)
        )

    def rest(self, extra: Native) -> Native:
        """Returns the extras that are not settings."""
        return omit(extra, *self._outer)

    def keys(self) -> tuple[str, ...]:
        """Returns the vendor's keys; for members that of their object."""
        return self._outer

    def names(self) -> tuple[str, ...]:
        """Returns our names of the settings."""
        return tuple(self._first)

    def supports(self) -> frozenset[str]:
        """Returns the names of the settings in losses."""
        return frozenset(self.places())

    def places(self, *prefix: str) -> dict[str, tuple[str, ...]]:
        """Returns the path of each setting."""
        return {f"settings.{name}": (*prefix, *key.split("/")) for name, key in self._first.items()}


def _nested(flat: Native) -> Native:
    """Returns the object with `object/member` keys nested again."""
    native: Native = {}
    for key, value in flat.items():
        outer, _, member = key.partition("/")
        if member:
            native.setdefault(outer, {})[member] = value
        else:
            native[key] = value
    return native


def in_snake_case(keys: str) -> dict[str, str]:
    """Returns settings that have our name in snake case."""
    return {key: re.sub("_(.)", lambda match: match[1].upper(), key) for key in keys.split()}


def _setting(one: str | Setting) -> Setting:
    return one if isinstance(one, Setting) else Setting(one, same, same)


def _loses(setting: Setting, ours: Any, value: Any) -> bool:
    return setting.partial and bool(setting.write(ours) != value)


def same(value: Any) -> Any:
    """Returns the value: for a setting that both sides write alike."""
    return value


def whole(name: str) -> Setting:
    """A field whose value may be empty, such as a text."""
    return Setting(name, same, same)
