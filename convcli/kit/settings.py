"""Settings of a request by one table for both directions.

A setting that the intermediate format cannot say exactly rides in extras beside its best reading. Back in its dialect
the carried value is written only where it still says that reading: an edited setting wins. A setting that is a member
of an object has the key `object/member`; the members of such objects that are no settings are carried under its key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.kit.objects import Native, omit, says_something
from convcli.model.transcript import Transcript
from convcli.wire import exact_json


class Setting(msgspec.Struct, frozen=True):
    """A setting whose value has two shapes. `lift` and `write` give None for what the other side cannot say.

    Of a `partial` one our value does not say all: what writing it would not give back is carried.
    """

    name: str
    lift: Callable[[Any], Any]
    write: Callable[[Any], Any]
    partial: bool = False


BUDGET, EFFORT, OFF = "reasoningBudget", "reasoningEffort", "none"


def off_as_effort(settings: dict[str, Any]) -> dict[str, Any]:
    """Reasoning without a single token is the effort `none`, where no other is asked for."""
    if settings.get(BUDGET) != 0 or EFFORT in settings:
        return settings
    return {**omit(settings, BUDGET), EFFORT: OFF}


def off_as_budget(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse, for services that switch reasoning off by its budget."""
    if settings.get(EFFORT) != OFF or BUDGET in settings:
        return dict(settings)
    return {**omit(settings, EFFORT), BUDGET: 0}


class Settings:
    """The settings of a dialect: the vendor's key, and our name or a Setting. The order is the vendor's.

    Several keys may have one name (`max_tokens`, `max_completion_tokens`): all are read, and the first is written.
    """

    __slots__ = ("_first", "_keys", "_objects", "_settings")

    def __init__(self, table: Mapping[str, str | Setting]) -> None:
        self._settings = {key: _setting(one) for key, one in table.items()}
        self._objects = frozenset(key.partition("/")[0] for key in table if "/" in key)
        self._keys = self._objects.union(self._settings)
        self._first: dict[str, str] = {}
        for key, setting in self._settings.items():
            self._first.setdefault(setting.name, key)

    def lift(self, native: Native) -> tuple[dict[str, Any], Native]:
        """Our settings, and what must be carried since it would not come back."""
        if self._keys.isdisjoint(native):
            return {}, {}
        settings: dict[str, Any] = {}
        carried: Native = {}
        flat = self._flat(native)
        for key, setting in self._settings.items():
            value = flat.pop(key, None)
            if value is None or not says_something(value):
                continue
            ours = setting.lift(value)
            if ours is not None:
                settings.setdefault(setting.name, ours)
            if ours is None or not exact_json.exact(settings[setting.name], ours) or _loses(setting, ours, value):
                carried[key] = value
        beside = {key: value for key, value in flat.items() if "/" in key and value is not None}
        return off_as_effort(settings), _nested({**carried, **beside})

    def write(self, settings: Mapping[str, Any], carried: Mapping[str, Any]) -> Native:
        """The vendor's keys; what was carried of a setting only where it still says the same."""
        if not settings and self._keys.isdisjoint(carried):
            return {}
        native: Native = {}
        settings = off_as_budget(settings) if BUDGET in self._first else settings
        beside = self._flat(carried)
        for key, setting in self._settings.items():
            is_first = self._first[setting.name] == key
            kept, ours = beside.pop(key, None), settings.get(setting.name)
            if kept is not None and (not is_first or self._still_says(setting, kept, ours)):
                native[key] = kept
            elif ours is not None and is_first:
                value = setting.write(ours)
                native |= {} if value is None else {key: value}
        return _nested({**native, **{key: value for key, value in beside.items() if "/" in key}})

    def _flat(self, native: Mapping[str, Any]) -> Native:
        """The object with the members of those objects that hold settings, under both keys."""
        flat: Native = {}
        for key, value in native.items():
            if key not in self._objects:
                flat[key] = value
            elif isinstance(value, dict):
                flat |= {f"{key}/{member}": inner for member, inner in value.items()}
        return flat

    @staticmethod
    def _still_says(setting: Setting, carried: Any, ours: Any) -> bool:
        reading = setting.lift(carried)
        return ours is None if reading is None else exact_json.exact(reading, ours)

    def fits(self, transcript: Transcript, *beside: Settings) -> Transcript:
        """The pass that leaves of the settings what comes back when it is written; `beside` are further tables."""
        if not transcript.settings:
            return transcript if transcript.settings is None else replace(transcript, settings=None)
        kept: dict[str, Any] = {}
        for table in (self, *beside):
            kept |= table.lift(table.write(transcript.settings, {}))[0]
        settings = {name: kept[name] for name in transcript.settings if name in kept}
        return (
            transcript
            if exact_json.exact(settings, transcript.settings)
            else replace(transcript, settings=settings or None)
        )

    def rest(self, carried: Native) -> Native:
        """What was carried beside the settings."""
        return omit(carried, *self.keys())

    def keys(self) -> tuple[str, ...]:
        """The vendor's keys: of members that of their object."""
        return tuple(dict.fromkeys(key.partition("/")[0] for key in self._settings))

    def names(self) -> tuple[str, ...]:
        """Our names of the settings."""
        return tuple(self._first)

    def places(self, *prefix: str) -> dict[str, tuple[str, ...]]:
        """Where each setting stands."""
        return {f"settings.{name}": (*prefix, *key.split("/")) for name, key in self._first.items()}


def _nested(flat: Native) -> Native:
    """The object in which members stand in their objects again."""
    native: Native = {}
    for key, value in flat.items():
        outer, _, member = key.partition("/")
        if member:
            native.setdefault(outer, {})[member] = value
        else:
            native[key] = value
    return native


def in_snake_case(keys: str) -> dict[str, str]:
    """Settings that the vendor calls as we do, but in snake case."""
    return {key: re.sub("_(.)", lambda match: match[1].upper(), key) for key in keys.split()}


def _setting(one: str | Setting) -> Setting:
    return one if isinstance(one, Setting) else Setting(one, _same, _same)


def _loses(setting: Setting, ours: Any, value: Any) -> bool:
    return setting.partial and bool(setting.write(ours) != value)


def _same(value: Any) -> Any:
    return value
