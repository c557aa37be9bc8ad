"""Settings of a request by one table for both directions.

A setting that the intermediate format cannot say exactly rides in extras beside its best reading. Back in its dialect
the carried value is written only where it still says that reading: an edited setting wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from convcli.kit.objects import Native, says_something
from convcli.wire import exact_json


class Setting(NamedTuple):
    """A setting whose value has two shapes. `lift` and `write` give None for what the other side cannot say."""

    name: str
    lift: Callable[[Any], Any]
    write: Callable[[Any], Any]


class Settings:
    """The settings of a dialect: the vendor's key, and our name or a Setting. The order is the vendor's.

    Several keys may have one name (`max_tokens`, `max_completion_tokens`): all are read, and the first is written.
    """

    __slots__ = ("_first", "_settings")

    def __init__(self, table: Mapping[str, str | Setting]) -> None:
        self._settings = {key: _setting(one) for key, one in table.items()}
        self._first: dict[str, str] = {}
        for key, setting in self._settings.items():
            self._first.setdefault(setting.name, key)

    def lift(self, native: Native) -> tuple[dict[str, Any], Native]:
        """Our settings, and what must be carried since it would not come back."""
        settings: dict[str, Any] = {}
        carried: Native = {}
        for key, (name, lift, write) in self._settings.items():
            value = native.get(key)
            if value is None or not says_something(value):
                continue
            ours = lift(value)
            if ours is not None and name not in settings:
                settings[name] = ours
            same = ours is not None and exact_json.exact(settings[name], ours)
            if not same or not exact_json.exact(write(ours), value):
                carried[key] = value
        return settings, carried

    def write(self, settings: Mapping[str, Any], carried: Mapping[str, Any]) -> Native:
        """The vendor's keys; what was carried of a setting only where it still says the same."""
        native: Native = {}
        for key, (name, lift, write) in self._settings.items():
            if key in carried:
                ours = lift(carried[key])
                if ours is None or key != self._first[name] or exact_json.exact(ours, settings.get(name)):
                    native[key] = carried[key]
                    continue
            if name in settings and self._first[name] == key:
                value = write(settings[name])
                if value is not None:
                    native[key] = value
        return native

    def rest(self, carried: Native) -> Native:
        """What was carried beside the settings."""
        return {key: value for key, value in carried.items() if key not in self._settings}

    def places(self) -> dict[str, tuple[str, ...]]:
        """Where each setting stands."""
        return {f"settings.{name}": (key,) for name, key in self._first.items()}


def _setting(one: str | Setting) -> Setting:
    return one if isinstance(one, Setting) else Setting(one, _same, _same)


def _same(value: Any) -> Any:
    return value
