"""The compiled form of a table: paths as tuples, words as maps, and functions that read and write objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from convcli.kit.codec.code import reader, writer
from convcli.kit.codec.objects import ReadKeys, steps, tree_of, value_at
from convcli.kit.codec.table import CallKeys, ConversationKeys, LogTable, ResultKeys
from convcli.kit.objects import Keys, Native, as_text
from convcli.kit.settings import Setting
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
NO_PATHS = ("title", "default-role", "time-in", "arguments-as")
"""The keys of a table whose values are no paths."""
ROLES = ("system", "user", "assistant", "tool")
"""The words of a table that states none."""


class CallLayout:
    """The compiled form of `CallKeys`. `read` returns id, name, arguments and result of a call; `write` has all of
    these but the result, and the constants."""

    __slots__ = (
        *("arguments", "at", "constants", "fixed", "form", "id", "keys", "name", "read", "result", "stated", "tree"),
        "write",
    )

    def __init__(self, calls: CallKeys, order: list[Path], owner: str) -> None:
        self.at, self.id, self.name = _path(calls.at), _path(calls.id), steps(calls.name)
        self.arguments, self.form, self.result = _path(calls.arguments), calls.arguments_as, _path(calls.result)
        self.stated = _stated(self.name, self.id, self.arguments, self.result)
        constant = constants(calls.constants)
        self.constants = tuple(value for _, value in constant)
        self.fixed = (*constant, *constants(calls.defaults))
        """Constants and defaults: values that mean nothing."""
        self.tree = tree_of([*self.stated, *(path for path, _ in self.fixed)])
        self.read = reader(f"{owner}: call", (self.id, self.name, self.arguments, self.result))
        written = (self.id, self.name, self.arguments, *(path for path, _ in constant))
        self.write = writer(f"{owner}: call", written, order)
        self.keys = keys_of(order)


class ResultLayout:
    """The compiled form of `ResultKeys`. `read` returns value, id of the call, name and failure."""

    __slots__ = ("call", "failed", "json", "name", "read", "value")

    def __init__(self, results: ResultKeys, owner: str) -> None:
        self.value, self.call = steps(results.value), _path(results.call)
        self.name, self.failed, self.json = _path(results.name), _path(results.failed), results.json
        self.read = reader(f"{owner}: result", self.stated)

    @property
    def stated(self) -> tuple[Path | None, ...]:
        """The paths of a result, in the order of `read`."""
        return self.value, self.call, self.name, self.failed


class WholeLayout:
    """The compiled form of `ConversationKeys`."""

    __slots__ = ("constants", "fields", "keys", "order", "read", "tree", "where")

    def __init__(self, whole: ConversationKeys, other: Iterable[Path], order: list[Path], owner: str) -> None:
        self.fields = tuple(
            text_field(path, ours) for name, ours in FIELDS.items() if (path := _path(getattr(whole, name, None)))
        )
        self.where, self.constants = constants(whole.where), constants(whole.constants)
        fixed = (path for path, _ in (*self.where, *self.constants))
        self.keys = [field.path for field in self.fields]
        self.tree = tree_of([*fixed, *self.keys, *other])
        self.read = reader(f"{owner}: conversation", self.keys)
        self.order = keys_of(order)


class LogLayout:
    """The compiled form of a table. `owner` is the name of its extras.

    Of a message, `read` returns reasoning, text, texts, images and calls, and `read_fields` the values of its fields.
    `write` and `write_result` have the role and the fields before the content.
    """

    __slots__ = (
        *("after", "always", "before", "call", "default_role", "field_tree", "fields", "images", "lines", "messages"),
        *("object", "owner", "read", "read_fields", "reasoning", "result", "result_tree", "role", "row_keys"),
        *(
            "row_tree",
            "split",
            "table",
            "text",
            "texts",
            "tree",
            "turns",
            "where",
            "whole",
            "without_text",
            "word_of",
            "words",
        ),
        *("keys", "marks", "read_row", "write", "write_result", "write_row"),
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
        self.call = None if table.calls is None else CallLayout(table.calls, _paths_in(table, "calls"), owner)
        self.result = None if table.results is None else ResultLayout(table.results, owner)
        self.fields = tuple(_fields_of(table))
        self.where = constants(table.where)
        always = list(map(steps, table.always))
        self.without_text = "" if self.text in always else None
        self.always = [path for path in always if path != self.text]
        """The keys that are always written, except the text."""
        self._build_trees()
        self._build_functions(table)

    def _build_trees(self) -> None:
        common = [self.role, *(field.path for field in self.fields)]
        own = [self.text, self.texts, self.reasoning, self.images, *(path for path, _ in self.turns)]
        if self.call is not None:
            call = self.call
            own += [call.at] if call.at else [*call.stated, *(path for path, _ in call.fixed)]
        of_result = self.result.stated if self.result is not None else ()
        around = _stated(self.split, *(path for path, _ in self.where))
        inside = [] if self.object else around
        self.tree: ReadKeys = tree_of([*inside, *_stated(*common, *own)])
        self.result_tree: ReadKeys = tree_of([*inside, *_stated(*common, *of_result)])
        self.row_tree: ReadKeys = tree_of([*around, *_stated(self.object)])
        self.field_tree = tree_of(field.path for field in self.fields)

    def _build_functions(self, table: LogTable) -> None:
        names = dict.fromkeys(name.partition(".")[0] for name in table.order)
        order = [path for name in names for path in _paths_of(table, name)]
        others = _stated(self.messages, *(path for path, _ in (*self.before, *self.after)))
        whole_order = [*_paths_in(table, "conversation"), *order]
        self.whole = WholeLayout(table.conversation, others, whole_order, self.owner)
        row_order = [*_paths_of(table, "where"), *_stated(self.object, self.split)]
        self.keys, self.row_keys = keys_of(order), keys_of(row_order if self.object else order)
        marks = [path for path, _ in self.where]
        self.marks = [value for _, value in self.where]
        role = (*self.object, *self.role) if self.object and self.role else self.role
        self.read_row = reader(f"{self.owner}: row", (self.object or (), role, *marks))
        self.write_row = writer(f"{self.owner}: row", (self.object, self.split, *marks), row_order)
        name, fields = f"{self.owner}: message", [field.path for field in self.fields]
        content = (self.reasoning, self.text, self.texts, self.images, self.call.at if self.call else None)
        self.read, self.read_fields = reader(name, content), reader(name, fields)
        self.write = writer(name, (self.role, *fields, *content), order)
        of_result = self.result.stated if self.result is not None else ()
        self.write_result = writer(name, (self.role, *fields, *of_result), order)

    def message_in(self, row: Any) -> tuple[Native, str | None] | None:
        """Returns the message in a row, and its role; no role if its keys are messages. None for a row that is an event
        of the program that wrote the log."""
        if row.__class__ is not dict:
            return None
        native, role, *marks = self.read_row(row)
        if native.__class__ is not dict or (marks and marks != self.marks):
            return None
        if self.turns:
            return (native, None) if any(isinstance(value_at(native, path), str) for path, _ in self.turns) else None
        role = self.words.get(role) if role.__class__ is str else self._role_of(role)
        return None if role is None or (role == "tool" and self.result is None) else (native, role)

    def _role_of(self, word: Any) -> str | None:
        """Returns the role of a word that is not a string."""
        if word is None:
            return self.default_role
        return self.words.get(json.dumps(word)) if isinstance(word, (bool, int)) else None


def constants(table: Mapping[str, Any]) -> Constants:
    """Returns paths with the values that stand there."""
    return tuple((steps(key), value) for key, value in table.items())


def text_field(path: Path, name: str) -> Setting:
    """Returns the field of a nonempty string. Whole numbers, as in ids, are read as strings."""
    return Setting(name, as_word, as_text, path=path)


def as_word(value: Any) -> str | None:
    """Returns a nonempty string, or a whole number as one."""
    return str(value) if value.__class__ is int else as_text(value)


def _fields_of(table: LogTable) -> Iterable[Setting]:
    for name in ("id", "time", "name", "model", "stop_reason"):
        path = _path(getattr(table, name))
        if path and name == "time" and table.time_in == "seconds":
            yield Setting("created_at", time_of_seconds, _seconds_of_time, partial=True, path=path)
        elif path and name == "time" and table.time_in == "milliseconds":
            yield Setting("created_at", time_of_milliseconds, milliseconds_of_time, path=path)
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
    if isinstance(value, CallKeys) and value.at is not None:
        return [steps(value.at)]
    if isinstance(value, (CallKeys, ResultKeys, ConversationKeys)):
        return _paths_in(table, name)
    return [] if name == "roles" else _paths(name, value)


def _paths_in(table: LogTable, name: str) -> list[Path]:
    """Returns the paths that the keys of an inner table state, in order."""
    record = getattr(table, name)
    keys = [key.partition(".")[2] for key in table.order if key.startswith(f"{name}.")]
    return [path for key in keys for path in _paths(key, getattr(record, key.replace("-", "_")))]


def _paths(name: str, value: Any) -> list[Path]:
    """Returns the paths in the value of a key: one, or the keys of an object."""
    if isinstance(value, str):
        return [] if name in NO_PATHS else [steps(value)]
    return [steps(key) for key in value] if isinstance(value, dict) else []


def keys_of(order: Iterable[Path]) -> Keys:
    """Returns the keys of an object, in the order of the table."""
    return Keys(dict.fromkeys(str(path[0]) for path in order))


def _path(key: str | None) -> Path | None:
    return None if key is None else steps(key)


def _stated(*paths: Path | None) -> list[Path]:
    return [path for path in paths if path is not None]
