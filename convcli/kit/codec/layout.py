"""The compiled form of a table: paths as tuples, words as maps, fields with their conversions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from convcli.kit.codec.objects import Field, Tree, steps, tree_of, value_at
from convcli.kit.codec.table import CallKeys, ConversationKeys, LogTable, ResultKeys
from convcli.kit.objects import Native, as_text
from convcli.kit.values import epoch_of_time, milliseconds_of_time, time_of_milliseconds, time_of_seconds
from convcli.model.transcript import Path

Constants = tuple[tuple[Path, Any], ...]
FIELDS = {
    "id": "id",
    "title": "title",
    "model": "model",
    "cwd": "cwd",
    "created": "created_at",
    "updated": "updated_at",
    "time": "created_at",
    "name": "name",
    "stop_reason": "stop_reason",
}
"""The fields of messages and conversations, by the name that a table has for them."""
NO_PATHS = ("title", "default-role", "time-in")
FORMS = ("object", "json", "text")
ROLES = ("system", "user", "assistant", "tool")
"""The words of a table that states none."""


class CallLayout:
    """The compiled form of `CallKeys`."""

    __slots__ = ("arguments", "at", "constants", "defaults", "form", "id", "name", "result", "tree")

    def __init__(self, calls: CallKeys) -> None:
        self.at = _path(calls.at)
        self.name, self.id = steps(calls.name), _path(calls.id)
        self.arguments, self.form, self.result = _path(calls.arguments), calls.arguments_as, _path(calls.result)
        self.constants, self.defaults = constants(calls.constants), constants(calls.defaults)
        fixed = (path for path, _ in (*self.constants, *self.defaults))
        self.tree = tree_of(_stated(self.name, self.id, self.arguments, self.result, *fixed))


class ResultLayout:
    """The compiled form of `ResultKeys`."""

    __slots__ = ("call", "failed", "json", "name", "value")

    def __init__(self, results: ResultKeys) -> None:
        self.value, self.call = steps(results.value), _path(results.call)
        self.name, self.failed, self.json = _path(results.name), _path(results.failed), results.json


class WholeLayout:
    """The compiled form of `ConversationKeys`."""

    __slots__ = ("constants", "fields", "keys", "rank", "tree", "where")

    def __init__(self, whole: ConversationKeys, other: Iterable[Path]) -> None:
        self.fields = tuple(
            text_field(path, ours) for name, ours in FIELDS.items() if (path := _path(getattr(whole, name, None)))
        )
        self.where, self.constants = constants(whole.where), constants(whole.constants)
        fixed = (path for path, _ in (*self.where, *self.constants))
        self.keys = [field.path for field in self.fields]
        self.tree = tree_of([*fixed, *self.keys, *other])
        self.rank: dict[str, int] = {}


class LogLayout:
    """The compiled form of a table. `owner` is the name of its extras."""

    __slots__ = (
        *("after", "always", "before", "call", "default_role", "field_tree", "fields", "images", "lines", "messages"),
        *("object", "order", "owner", "rank", "reasoning", "result", "result_tree", "role", "row_rank", "row_tree"),
        *("split", "table", "text", "texts", "tree", "turns", "where", "whole", "word_of", "words"),
    )

    def __init__(self, table: LogTable, owner: str) -> None:
        self.table, self.owner, self.lines = table, owner, table.lines
        self.messages, self.object, self.split = _path(table.messages), _path(table.object), _path(table.split)
        self.role, self.default_role = _path(table.role), table.default_role
        usual = {role: role for role in ROLES if self.role and (role != "tool" or table.results is not None)}
        self.words: dict[Any, str] = dict(table.roles or usual)
        self.word_of = {role: _scalar(word) for word, role in reversed(self.words.items())}
        self.turns = tuple((steps(key), role) for key, role in table.turns.items())
        self.before = tuple((steps(key), role) for key, role in table.before.items())
        self.after = tuple((steps(key), role) for key, role in table.after.items())
        self.text, self.texts = _path(table.text), _path(table.texts)
        self.reasoning, self.images = _path(table.reasoning), _path(table.images)
        self.call = None if table.calls is None else CallLayout(table.calls)
        self.result = None if table.results is None else ResultLayout(table.results)
        self.fields = tuple(_fields_of(table))
        self.where = constants(table.where)
        self.always = tuple(map(steps, table.always))
        self._build_trees(table)

    def _build_trees(self, table: LogTable) -> None:
        common = [self.role, *(field.path for field in self.fields)]
        own = [self.text, self.texts, self.reasoning, self.images, *(path for path, _ in self.turns)]
        if self.call is not None:
            call = self.call
            own += [call.at] if call.at else [call.name, call.id, call.arguments, call.result]
            own += [] if call.at else [path for path, _ in (*call.constants, *call.defaults)]
        of_result = self.result and [self.result.value, self.result.call, self.result.name, self.result.failed]
        around = _stated(self.split, *(path for path, _ in self.where))
        inside = [] if self.object else around
        self.tree: Tree = tree_of([*inside, *_stated(*common, *own)])
        self.result_tree: Tree = tree_of([*inside, *_stated(*common, *(of_result or ()))])
        self.row_tree: Tree = tree_of([*around, *_stated(self.object)])
        others = _stated(self.messages, *(path for path, _ in (*self.before, *self.after)))
        self.whole = WholeLayout(table.conversation, others)
        self.field_tree = tree_of(field.path for field in self.fields)
        self.order = tuple(dict.fromkeys(name.partition(".")[0] for name in table.order))
        stated = [path for name in self.order for path in _paths_of(table, name)]
        self.whole.rank = _ranks([*_paths_of(table, "conversation"), *stated])
        self.rank = _ranks(stated)
        self.row_rank = (
            _ranks([*_paths_of(table, "where"), *_stated(self.object, self.split)]) if self.object else self.rank
        )

    def matches(self, row: Any) -> bool:
        """True if a row is a message, and not an event of the program that wrote the log."""
        if row.__class__ is not dict or not all(value_at(row, path) == value for path, value in self.where):
            return False
        native = value_at(row, self.object) if self.object else row
        if native.__class__ is not dict:
            return False
        if self.turns:
            return any(isinstance(value_at(native, path), str) for path, _ in self.turns)
        role = self.role_of(native)
        return role is not None and (role != "tool" or self.result is not None)

    def role_of(self, native: Native) -> str | None:
        """Returns the role of a message; None if its word is unknown."""
        word = value_at(native, self.role) if self.role else None
        if word is None:
            return self.default_role
        if word.__class__ is not str:
            word = json.dumps(word) if isinstance(word, (bool, int)) else None
        return self.words.get(word)


def constants(table: Mapping[str, Any]) -> Constants:
    """Returns paths with the values that stand there."""
    return tuple((steps(key), value) for key, value in table.items())


def text_field(path: Path, name: str) -> Field:
    """Returns the field of a nonempty string. Whole numbers, as in ids, are read as strings."""
    return Field(path, name, as_word, as_text)


def as_word(value: Any) -> str | None:
    """Returns a nonempty string, or a whole number as one."""
    return str(value) if value.__class__ is int else as_text(value)


def _fields_of(table: LogTable) -> Iterable[Field]:
    for name in ("id", "time", "name", "model", "stop_reason"):
        path = _path(getattr(table, name))
        if path and name == "time" and table.time_in == "seconds":
            yield Field(path, "created_at", time_of_seconds, _seconds_of_time, True)
        elif path and name == "time" and table.time_in == "milliseconds":
            yield Field(path, "created_at", time_of_milliseconds, milliseconds_of_time, False)
        elif path:
            yield text_field(path, FIELDS[name])


def _seconds_of_time(time: str) -> int | float | None:
    milliseconds = milliseconds_of_time(time)
    whole = epoch_of_time(time)
    return whole if whole is not None or milliseconds is None else milliseconds / 1000


def _scalar(word: str) -> Any:
    """Returns the value of a role: `true`, `false` and whole numbers are JSON, any other word is a string."""
    return json.loads(word) if word in ("true", "false") or word.removeprefix("-").isdecimal() else word


def _paths_of(table: LogTable, name: str) -> list[Path]:
    """Returns the paths that a key of a table states, in order."""
    value = getattr(table, name.replace("-", "_"), None)
    if isinstance(value, str):
        return [] if name in NO_PATHS else [steps(value)]
    if isinstance(value, dict):
        return [] if name == "roles" else [steps(key) for key in value]
    if isinstance(value, CallKeys) and value.at is not None:
        return [steps(value.at)]
    if isinstance(value, (CallKeys, ResultKeys, ConversationKeys)):
        inner = (getattr(value, each) for each in value.__struct_fields__)
        paths = [[one] if isinstance(one, str) else list(one) if isinstance(one, dict) else [] for one in inner]
        return [steps(one) for each in paths for one in each if one not in FORMS]
    return []


def _ranks(paths: Iterable[Path]) -> dict[str, int]:
    """Returns the position of each first step."""
    return {key: rank for rank, key in enumerate(dict.fromkeys(str(path[0]) for path in paths))}


def ranked(native: Native, rank: Mapping[str, int]) -> Native:
    """Returns the object with its keys in the order of the table, others last."""
    last = len(rank)
    return dict(sorted(native.items(), key=lambda item: rank.get(item[0], last)))


def _path(key: str | None) -> Path | None:
    return None if key is None else steps(key)


def _stated(*paths: Path | None) -> list[Path]:
    return [path for path in paths if path is not None]
