"""Compares two records: fields, keys, values and extras. Each difference is one loss with its path.

`difference` has decided which records are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import compress
from operator import is_not
from typing import Any

from msgspec.structs import astuple, replace

from convcli.model.dialect import CUSTOM, Dialect, LossKind
from convcli.model.transcript import Path, Transcript, camel
from convcli.proof.equality import exact_values
from convcli.proof.levels import EVENT, Knowledge, may_be_content
from convcli.proof.places import Places
from convcli.proof.reasons import MISSING, UNKNOWN_ROW, FoundLoss, KeysOf, Level, LossType, Within, types_of
from convcli.wire import exact_json

SCHEMAS = frozenset(("tool.parameters", "tool.outputSchema"))
"""Fields whose differences are reported key by key."""

SPLIT = "tool_result.value"
"""The field whose parts may be in different positions."""

GENERATED = frozenset(
    ("message.id", "message.parentId", "head", "tool_call.id", "tool_result.toolCallId", "tool_result.name")
)
"""Fields whose value a lift generates if the source has none."""


class Differences:
    """The losses between two transcripts so far, and the tables for their paths and reasons."""

    def __init__(
        self,
        before: Transcript,
        after: Transcript,
        source: Dialect | None,
        target: Dialect | None,
        keys: KeysOf,
        known: Knowledge | None = None,
    ) -> None:
        self.target, self.known = target, known
        self.losses: list[FoundLoss] = []
        self.places = Places(before, source)
        origin = before.origin
        self.generated = origin.generated_ids if origin is not None else set()
        self.generated_again = after.origin.generated_ids if after.origin is not None else set()
        self.generated_once = self.generated ^ self.generated_again
        """Ids and names that differ even if they are equal: only one of the two transcripts states them."""
        self.types = types_of(source, target, keys, after.origin.form if after.origin is not None else "")
        self.certain = {} if self.generated or self.generated_again else self.types.of_absent_values
        """Fields that are lost if the output has no value for them, with the type of that loss."""

    def record(self, before: Any, after: Any, node: str, place: Path, skip: tuple[str, ...] = ()) -> None:
        """Compares every field of two records of one type."""
        fields = fields_of(before.__class__, node)
        ours = astuple(before)
        is_same_type = after.__class__ is before.__class__
        theirs = astuple(after) if is_same_type else [getattr(after, each[0], None) for each in fields]
        certain = self.certain
        each: Iterator[Any] = zip(fields, ours, theirs)  # noqa: B905  (equal lengths; strict costs)
        if not self.generated_once:
            each = compress(each, map(is_not, ours, theirs))
        for (name, field), x, y in each:
            if y is None and field in certain:  # most losses of sessions
                self.losses.append((certain[field], place, True, x, MISSING))
                continue
            if x is y and field not in GENERATED:
                continue
            if not field or name in skip:
                continue
            if name == "metadata" or field == "message.usage":
                self.keys(x or {}, y or {}, field, place)
            else:
                self.values(x, y, field, place, is_split=field == SPLIT and before.kind == "multimodal")
        if before.extras is not after.extras:
            self.extras(before.extras, after.extras, place)

    def values(self, x: Any, y: Any, field: str, place: Path, *, is_split: bool = False) -> None:
        """Compares the values of a field of two records; an absent one is None. `is_split`: some parts of the list may
        be elsewhere."""
        if field in GENERATED:
            x = None if x in self.generated else x
            y = None if y in self.generated_again else y
        if x is y:
            return
        if x is None or y is None:
            kind: LossKind = "invented" if x is None else "encoded" if field in CUSTOM else "dropped"
            x, y = MISSING if x is None else x, MISSING if y is None else y
        elif exact_values(x, y):
            return
        elif field in SCHEMAS and isinstance(x, dict) and isinstance(y, dict):
            self.tree(x, y, field, self.places.field(field, place))
            return
        else:
            kind = "changed"
        self.add(kind, place, field, x, y, within=not is_split)

    def tree(self, before: Any, after: Any, field: str, place: Path) -> None:
        """Reports the difference of two JSON values down to the keys and items that cause it."""
        count = len(self.losses)
        if isinstance(before, dict) and isinstance(after, dict):
            steps: list[Any] = [*before, *(key for key in after if key not in before)]
        else:
            both = isinstance(before, list) and isinstance(after, list) and len(before) == len(after)
            steps = list(range(len(before))) if both else []
        for step in steps:
            x, y = (value.get(step, MISSING) if isinstance(value, dict) else value[step] for value in (before, after))
            if x is MISSING or y is MISSING:
                self.add("dropped" if y is MISSING else "invented", (*place, step), field, x, y)
            elif not exact_json.exact(x, y):
                self.tree(x, y, field, (*place, step))
        if len(self.losses) == count:
            self.add("changed", place, field, before, after)

    def keys(self, before: dict[str, Any], after: dict[str, Any], field: str, place: Path) -> None:
        """Compares the keys of two objects, one loss each."""
        if not after:
            for key, x in before.items():
                self.add("dropped", place, f"{field}.{key}", x, within=True)
            return
        if before == after and exact_json.exact(before, after):
            return
        for key in before | after:
            x, y = before.get(key, MISSING), after.get(key, MISSING)
            if x is MISSING or y is MISSING or not exact_values(x, y):
                name = f"{field}.{key}"
                if field == "settings" and isinstance(x, dict) and isinstance(y, dict):
                    self.members(x, y, name, place)
                else:
                    self.add(_kind(x, y), place, name, x, y, within=True)

    def members(self, before: dict[str, Any], after: dict[str, Any], field: str, place: Path) -> None:
        """Compares the members of a setting that is an object. The order of its keys has no meaning."""
        for key in before | after:
            x, y = before.get(key, MISSING), after.get(key, MISSING)
            if x is MISSING or y is MISSING or not exact_json.exact(x, y):
                self.add(_kind(x, y), self.places.member(field, key, place), f"{field}.{key}", x, y)

    def extras(self, before: Any, after: Any, place: Path) -> None:
        """Compares extras, by dialect and key."""
        if before is after or (before == after and exact_json.exact(before, after)):
            return
        before, after = before or {}, after or {}
        for dialect in before | after if after else before:
            mine, other = before.get(dialect, {}), after.get(dialect, {})
            for key in mine | other if other else mine:
                x, y = mine.get(key, MISSING), other.get(key, MISSING)
                if x is MISSING or y is MISSING or not exact_json.exact(x, y):
                    self.extra(dialect, key, x, y, place)
            if (not mine and not other) and (dialect in before) != (dialect in after):
                self.add("dropped" if dialect in before else "invented", place, f"extras.{dialect}", mine, other)

    def extra(self, dialect: str, key: str, x: Any, y: Any, place: Path) -> None:
        """Compares one key of extras; a group of keys member by member."""
        field = f"extras.{dialect}.{key}"
        other = {} if y is MISSING else y
        grouped = isinstance(x, dict) and isinstance(other, dict)
        group = self.places.group(dialect, key, place, x) if grouped else None
        if group is None:
            self.add(_kind(x, y), place, field, x, y, within=(dialect, key))
            return
        for inner in x | other:
            mine, theirs = x.get(inner, MISSING), other.get(inner, MISSING)
            if mine is MISSING or theirs is MISSING or not exact_json.exact(mine, theirs):
                self.add(_kind(mine, theirs), (*group, inner), f"{field}.{inner}", mine, theirs)

    def add(
        self,
        kind: LossKind,
        place: Path,
        field: str,
        before: Any = MISSING,
        after: Any = MISSING,
        *,
        within: Within = False,
        why: str = "",
        level: Level | None = None,
    ) -> None:
        """Adds a loss at this place, or `within` the node there. Its reason and level follow from the field, unless
        they are given; its level also from the value."""
        type_ = self.types[kind, field]
        if before.__class__ is list and not before and kind == "dropped" and type_.level == "content":
            type_ = replace(type_, level="context")  # a model reads nothing of an empty list
        if why or level:
            type_ = replace(type_, why=why or type_.why, level=level or type_.level)
        if type_.is_judged:
            type_ = self._judged(type_, place, within, before)
        self.losses.append((type_, place, within, before, after))

    def path_of(self, loss: FoundLoss) -> Path:
        """Returns the path of a loss in the source document, which it has unless the loss is of an invented key."""
        type_, place, within, before, _ = loss
        return self.places.existing(self._usual(type_, place, within, before), invented=type_.kind == "invented")

    def _usual(self, type_: LossType, place: Path, within: Within, value: Any) -> Path:
        if isinstance(within, tuple):
            return self.places.extras(*within, place, value is not MISSING)
        return self.places.field(type_.field, place) if within else place

    def _judged(self, type_: LossType, place: Path, within: Within, value: Any) -> LossType:
        """Returns the type of the loss of this value: that of content if it holds content that is not known."""
        if self.known is None:
            return type_
        if type_.field == EVENT:
            is_content = self.known.event(self.places.routed(place), value) is not None
            why = self.known.dialect.event_reason or UNKNOWN_ROW
            return replace(type_, level="content", why=why) if is_content else type_
        if not may_be_content(value):
            return type_
        path = self.places.routed(self._usual(type_, place, within, value))
        is_content = self.known.unknown_content(type_.field, path, value) is not None
        return replace(type_, level="content") if is_content else type_


def _kind(x: Any, y: Any) -> LossKind:
    return "invented" if x is MISSING else "dropped" if y is MISSING else "changed"


@cache
def fields_of(type_: Any, node: str) -> tuple[tuple[str, str], ...]:
    """Returns the names of the fields of this record type, and their names in losses; those that are not compared as
    one value have none."""
    names: tuple[str, ...] = type_.__struct_fields__
    return tuple((name, "" if name in ("parts", "extras") else f"{node}.{camel(name)}") for name in names)
