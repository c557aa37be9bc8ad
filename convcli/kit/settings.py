"""Fields of records and settings of a request, converted in both directions by one table.

A value that the intermediate format cannot express exactly is kept in extras, next to its best reading. In its own
dialect the kept value is written only if it still has that reading: an edited field wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.kit.codec.objects import put, rest_of, tree_of, value_at, with_rest
from convcli.kit.objects import Native, has_content, omit
from convcli.model.transcript import Path, Transcript, camel
from convcli.wire import exact_json


class Setting(msgspec.Struct, frozen=True):
    """A field or a setting whose value differs between the two sides. `lift` and `write` return None for what the other
    side cannot express.

    `partial`: our value does not cover everything. A value that writing would not restore is kept in extras. `member`:
    the value is this member of the object that is our value. `path` leads to the value; tables set it.
    """

    name: str
    lift: Callable[[Any], Any]
    write: Callable[[Any], Any]
    partial: bool = False
    member: str = ""
    path: Path = ()

    def loses(self, ours: Any, value: Any) -> bool:
        """True if our value does not restore the vendor's."""
        return ours is None or (self.partial and not exact_json.exact(self.write(ours), value))

    def stated(self, ours: Any, extra: Any) -> Any:
        """Returns the vendor's value of ours: the extra one if it still means the same."""
        if extra is not None and exact_json.exact(self.lift(extra), ours):
            return extra
        return None if ours is None else self.write(ours)


def lift_fields(values: Iterable[Any], record: Any, fields: Iterable[Setting], kept: list[Path]) -> None:
    """Sets the fields of a record to their values. Adds the paths of values that stay in extras."""
    for field, value in zip(fields, values, strict=True):
        if value is None or value == "":
            continue
        ours = field.lift(value)
        if ours is not None:
            setattr(record, field.name, ours)
        if field.loses(ours, value):
            kept.append(field.path)


def field_values(record: Any, fields: Iterable[Setting], extra: Native) -> list[Any]:
    """Returns the values of fields: those in extras that still mean the same."""
    return [field.stated(getattr(record, field.name), value_at(extra, field.path)) for field in fields]


def places_of(fields: Iterable[Setting], node: str = "", above: Path = ()) -> dict[str, Path]:
    """Returns the paths of fields, by their names in losses (`metadata.signature`, `message.createdAt`). `node` is the
    kind of their record, empty for the transcript; `above` leads from its node to the object."""
    return {".".join(filter(None, (node, camel(field.name), field.member))): (*above, *field.path) for field in fields}


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
    """The settings of a dialect: the vendor's keys, in the vendor's order, and our name or a Setting for each. A member
    of an object has the key `object/member`; other members are kept in extras.

    Several keys may have one name (`max_tokens`, `max_completion_tokens`): all are read, the first is written.
    """

    __slots__ = ("_first", "_objects", "_outer", "_settings", "_steps")

    def __init__(self, table: Mapping[str, str | Setting]) -> None:
        self._settings = [_setting(key, one) for key, one in table.items()]
        self._steps = [(setting, setting.name, str(setting.path[0]), setting.path[1:]) for setting in self._settings]
        self._objects = tree_of(setting.path for setting in self._settings if len(setting.path) > 1)
        self._outer = dict.fromkeys(key.partition("/")[0] for key in table)
        self._first = {setting.name: setting for setting in reversed(self._settings)}

    def lift(self, native: Native) -> tuple[dict[str, Any], Native]:
        """Returns our settings, and the extras that would not come back otherwise."""
        if self._outer.keys().isdisjoint(native):
            return {}, {}
        settings: dict[str, Any] = {}
        extra: Native = {}
        for setting, name, key, member in self._steps:
            value = native.get(key)
            if value is None:  # most settings
                continue
            value = value_at(value, member)
            if not has_content(value):
                continue
            ours = setting.lift(value)
            if ours is not None:
                settings.setdefault(name, ours)
            if setting.loses(ours, value) or not exact_json.exact(settings[name], ours):
                put(extra, setting.path, value)
        return off_as_effort(settings), with_rest(extra, self._other_members(native))

    def write(self, settings: Mapping[str, Any], extra: Native) -> Native:
        """Returns the vendor's keys. The extra value of a setting is used only if it still means the same."""
        if not settings and self._outer.keys().isdisjoint(extra):
            return {}
        native: Native = {}
        settings = off_as_budget(settings) if BUDGET in self._first else settings
        for setting, name, key, member in self._steps:
            kept, ours = extra.get(key), settings.get(name)
            if kept is None and ours is None:  # most settings
                continue
            kept = value_at(kept, member)
            value = setting.stated(ours, kept) if self._first[name] is setting else kept
            if value is not None:
                put(native, setting.path, value)
        return with_rest(native, self._other_members(extra))

    def _other_members(self, native: Native) -> Native:
        """Returns the members of objects that are no settings."""
        objects = {key: native[key] for key in self._objects.below if isinstance(native.get(key), dict)}
        return rest_of(objects, self._objects) if objects else objects

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
        return tuple(self._outer)

    def names(self) -> tuple[str, ...]:
        """Returns our names of the settings."""
        return tuple(dict.fromkeys(setting.name for setting in self._settings))

    def supports(self) -> frozenset[str]:
        """Returns the names of the settings in losses."""
        return frozenset(self.places())

    def places(self, *prefix: str) -> dict[str, Path]:
        """Returns the path of each setting."""
        return {f"settings.{name}": (*prefix, *self._first[name].path) for name in self.names()}


def in_snake_case(keys: str) -> dict[str, str]:
    """Returns settings that have our name in snake case."""
    return {key: re.sub("_(.)", lambda match: match[1].upper(), key) for key in keys.split()}


def _setting(key: str, one: str | Setting) -> Setting:
    return replace(one if isinstance(one, Setting) else Setting(one, same, same), path=tuple(key.split("/")))


def same(value: Any) -> Any:
    """Returns the value: for a setting that both sides write alike."""
    return value


def whole(name: str) -> Setting:
    """A field whose value may be empty, such as a text."""
    return Setting(name, same, same)
