"""Writes the first draft of a table from the documents of a log, by the names and the values of their keys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from convcli.kit.codec.key_values import (
    AFTER,
    BEFORE,
    NAMES,
    TURNS,
    KeyValues,
    are_booleans,
    are_identifiers,
    are_objects,
    are_string_lists,
    are_strings,
    are_text_lists,
    are_times,
    are_words,
    calls_in,
    is_json_object,
    members_of,
    unit_of_times,
)
from convcli.kit.codec.objects import value_at
from convcli.kit.objects import Native, objects_in
from convcli.model.errors import ContentError
from convcli.model.transcript import Path

KINDS = ("type", "kind", "event", "record_type")
"""The usual names of the key that distinguishes rows."""


class LogRows(NamedTuple):
    """The rows of all documents, the documents around them (or the lines that begin them), and where the rows stand.

    `object` leads to the message in its row. `where` are the key and the value of rows that are messages, and `begin`
    those of the first line.
    """

    rows: list[Native]
    around: list[Native]
    path: Path
    lines: bool
    object: Path = ()
    where: Mapping[str, Any] | None = None
    begin: Mapping[str, Any] | None = None


def draft(values: Sequence[Any], *, lines: bool) -> str:
    """Returns a table for these documents, or for the lines of a file. Raises ContentError if they have no list of
    objects."""
    found = _rows_of(values, lines=lines)
    if not found.rows:
        raise ContentError("no-messages", "there is no list of objects in these documents", help="a log has messages")
    return _Draft(_unwrapped(found)).text()


def _unwrapped(found: LogRows) -> LogRows:
    """Returns the messages without the line that begins them, and out of the objects that rows have them in."""
    columns = KeyValues(found.rows)
    path = columns.role()[0]
    if path is None:
        return found
    wrapped = [row for row in found.rows if value_at(row, path) is not None or _is_call(value_at(row, path[:-1]))]
    others = [row for row in found.rows if row not in wrapped]
    if found.lines and others[:1] == found.rows[:1]:
        begin = _kind_of(others[:1], wrapped)
        header = [row for row in others if (begin.items() <= row.items() if begin else row.keys() == others[0].keys())]
        found = found._replace(rows=[row for row in found.rows if row not in header], around=header, begin=begin or {})
    messages = [value_at(row, path[:-1]) for row in wrapped]
    if len(path) == 1 or KeyValues(messages).find("text", lambda _: True) is None:
        return found
    return found._replace(rows=messages, object=path[:-1], where=_kind_of(wrapped, others))


def _kind_of(rows: Sequence[Native], others: Sequence[Native]) -> Mapping[str, Any] | None:
    """Returns the key and the value by which rows differ from all others; None if there is none, or no others."""
    for key in KINDS if others else ():
        value = rows[0].get(key)
        if isinstance(value, str) and all(row.get(key) == value for row in rows):
            return None if any(row.get(key) == value for row in others) else {key: value}
    return None


def _is_call(native: Any) -> bool:
    """True for an object with the name and the arguments of a call."""
    columns = KeyValues([native] if isinstance(native, dict) else [])
    return (
        columns.find("call.arguments", are_objects) is not None and columns.find("call.name", are_strings) is not None
    )


def _rows_of(values: Sequence[Any], *, lines: bool) -> LogRows:
    objects = objects_in(list(values))
    best = max(_lists(objects), key=lambda each: (_likeness(each[1]), len(each[1])), default=((), []))
    if best[1] and (_likeness(best[1]) > 0 or not _likeness(objects)):
        return LogRows(best[1], objects, best[0], lines=False)
    listed = [row for value in values if isinstance(value, list) for row in objects_in(value)]
    if listed:
        inner = _rows_of(listed, lines=False)
        return inner if inner.path else LogRows(listed, [], (), lines=False)
    return LogRows(objects, [], (), lines=lines and len(objects) > 1)


def _lists(objects: Iterable[Native], prefix: Path = ()) -> Iterator[tuple[Path, list[Native]]]:
    """Yields the paths of lists of objects, with the items of all documents."""
    lists: dict[Path, list[Native]] = {}
    for native in objects:
        for path, value in members_of(native, prefix):
            if isinstance(value, list) and objects_in(value):
                lists.setdefault(path, []).extend(objects_in(value))
    yield from lists.items()


def _likeness(rows: Sequence[Native]) -> int:
    """Returns how many of the rows have a role or two texts of a turn."""
    columns = KeyValues(rows)
    return max(columns.role()[1], len(rows) if len(columns.turns()) > 1 else 0)


class _Draft:
    """The table while it is drafted. Tools and results are looked for before ids and names."""

    def __init__(self, found: LogRows) -> None:
        self.found, self.columns, self.around = found, KeyValues(found.rows), KeyValues(found.around)
        self.spoken = self.columns
        """The rows that are not tool results or events."""
        self.roles: set[str | None] = set()
        self.role_of: dict[Any, str | None] = {}
        self.calls: dict[str, Any] | None = None
        self.link: Path | None = None
        """The key of the id of a call in its result."""
        self.lines: list[str] = []

    def text(self) -> str:
        """Returns the table as TOML."""
        found = self.found
        if found.lines:
            self.add("lines", True)
        if found.where:
            self.add("where", dict(found.where))
        if found.object:
            self.add("object", found.object)
        if found.path:
            self.around.used.add(found.path)
            self._add_texts("before", self.around, BEFORE)
            self.add("messages", found.path)
            self._add_texts("after", self.around, AFTER)
        self._add_roles()
        self._add_content()
        self._add_fields()
        self._add_whole()
        self._add_rest()
        return "\n".join(self.lines) + "\n"

    def add(self, key: str, value: Any) -> None:
        """Adds a line of the table."""
        self.lines.append(f"{key} = {_toml(value)}")

    def _add_texts(self, key: str, columns: KeyValues, names: dict[str, str]) -> bool:
        keys = columns.texts_named(names)
        columns.used |= {(name,) for name in keys}
        if keys:
            self.add(key, keys)
        return bool(keys)

    def _add_roles(self) -> None:
        columns = self.columns
        path, known = columns.role()
        if path is None or not known:
            self.roles = {"assistant"}
            if len(columns.turns()) < 2 or not self._add_texts("turns", columns, TURNS):
                self.calls = self._calls()
                self.add("default-role", "assistant")
            return
        columns.used.add(path)
        self.calls = self._calls()
        self.add("role", path)
        words = Counter(json.dumps(value) if not isinstance(value, str) else value for value in columns.values[path])
        roles = {word: self._meaning(path, _value(word)) for word in words}
        if "assistant" not in roles.values():  # the program is called the system
            roles = {word: "assistant" if role == "system" else role for word, role in roles.items()}
        self.add("roles", {word: role for word, role in roles.items() if role is not None})
        others = [word for word, role in roles.items() if role is None]
        if others:
            self.lines.append(f"# roles of other rows, which are events: {', '.join(map(_toml, others))}")
        if any(value_at(row, path) is None and _is_call(row) for row in self.found.rows):
            self.add("default-role", "assistant")
        self.roles, self.role_of = set(roles.values()), {_value(word): role for word, role in roles.items()}
        self.spoken = KeyValues([row for row in self.found.rows if self._role_of(row) not in (None, "tool")])
        self.spoken.used = columns.used

    def _meaning(self, path: Path, word: Any) -> str | None:
        """Returns the role that a word means: usually, or because its rows have calls or name the id of one."""
        role = self.columns.word_role(path, word)
        if role is not None:
            return role
        rows = [row for row in self.found.rows if value_at(row, path) == word]
        if self.link and any(value_at(row, self.link) is not None for row in rows):
            return "tool"
        at = (self.calls or {}).get("at")
        return "assistant" if at and any(value_at(row, at) for row in rows) else None

    @property
    def _has_turns(self) -> bool:
        return any(line.startswith("turns") for line in self.lines)

    def _add_content(self) -> None:
        columns = self.columns
        has_turns = self._has_turns
        calls = self.calls
        result = self._results() if "tool" in self.roles else None
        reasoning = self.spoken.find("reasoning", are_strings)
        if reasoning:
            self.add("reasoning", reasoning)
        text = None if has_turns else self.spoken.find("text", are_strings) or self._longest()
        texts = None if text or has_turns else self.spoken.find("text", are_text_lists)
        if text or texts:
            self.add("text" if text else "texts", text or texts)
        images = columns.find("images", are_string_lists)
        if images:
            self.add("images", images)
        if calls:
            self.add("calls", calls)
        if result is not None:
            self.add("results", {**result, "value": result.get("value") or text or texts or ("content",)})

    def _longest(self) -> Path | None:
        """Returns the path of the longest texts, if they have no usual name."""
        sizes = {
            path: sum(map(len, values)) / len(values)
            for path, values in self.spoken.values.items()
            if path not in self.columns.used and are_strings(values) and any(" " in value for value in values)
        }
        path = max(sizes, key=lambda each: sizes[each], default=None)
        self.columns.used |= {path} if path else set()
        return path

    def _calls(self) -> dict[str, Any] | None:
        """Returns the keys of calls: in a list of each message, in an object, or of the message itself."""
        at = self.columns.find("calls", lambda values: any(map(calls_in, values))) or self._call_lists()
        items = [item for value in self.columns.values[at] for item in calls_in(value)] if at else []
        columns = KeyValues(items) if at else self.columns
        before = set(columns.used)
        arguments = columns.find("call.arguments", lambda values: all(isinstance(v, (dict, str)) for v in values))
        arguments = arguments or (columns.find_only(are_objects) if at else None)
        id_ = columns.find("call.id", are_words) or self._linked(columns) if at else None
        name = columns.find("call.name", are_strings) if at or arguments else None
        name = name or (columns.find_only(are_identifiers) if at else None)
        if name is None:
            columns.used &= before  # in place: the columns of the messages share it
            return None
        self.link = self._link(columns.values[id_]) if id_ else None
        is_alone = at is not None and not id_ and all(isinstance(value, dict) for value in self.columns.values[at])
        prefix = at if at and is_alone else ()
        keys: dict[str, Any] = {"at": None if is_alone else at, "id": id_, "name": (*prefix, *name)}
        keys["arguments"] = (*prefix, *arguments) if arguments else None
        if arguments and any(isinstance(value, str) for value in columns.values[arguments]):
            are_json = all(is_json_object(value) for value in columns.values[arguments])
            keys["arguments-as"] = "json" if are_json else "text"
        result = columns.find("call.result", lambda _: True)
        around = self.columns.find("call.result", lambda _: True) if is_alone and not result else None
        keys["result"] = (*prefix, *result) if result else around
        if at and ("type",) in columns.values and set(map(str, columns.values["type",])) == {"function"}:
            keys["constants"] = {"type": "function"}
        return {key: value for key, value in keys.items() if value is not None}

    def _call_lists(self) -> Path | None:
        """Returns the path of lists whose items have the keys of a call, if they have no usual name."""
        for path, values in self.columns.values.items():
            items = KeyValues([item for value in values for item in objects_in(value)])
            is_text = str(path[-1]).lower() in NAMES["text"].split()
            is_call = items.find("call.arguments", are_objects) or (
                items.find_only(are_objects) and self._linked(items)
            )
            if self.columns.is_free(path) and not is_text and is_call:
                self.columns.used.add(path)
                return path
        return None

    def _linked(self, items: KeyValues) -> Path | None:
        """Returns the key of calls whose values other rows have too: their ids."""
        names = NAMES["call.name"].split()
        linked = {
            path: len(set(values))
            for path, values in items.values.items()
            if len(path) == 1 and items.is_free(path) and path[0] not in names and are_strings(values)
            if self._link(values)
        }
        path = max(linked, key=lambda each: linked[each], default=None)
        items.used |= {path} if path else set()
        return path

    def _link(self, ids: Iterable[Any]) -> Path | None:
        """Returns the path of values in rows that are ids of calls."""
        known = {value for value in ids if isinstance(value, str)}
        for path, values in self.columns.values.items():
            if self.columns.is_free(path) and all(isinstance(value, str) and value in known for value in values):
                return path
        return None

    def _results(self) -> dict[str, Any]:
        columns = KeyValues([row for row in self.found.rows if self._role_of(row) == "tool"])
        columns.used |= {self.link} if self.link else set()
        kinds = {"call": are_words, "name": are_strings, "value": lambda _: True, "failed": are_booleans}
        keys = {key: columns.find(f"result.{key}", accepts) for key, accepts in kinds.items()}
        keys["call"] = self.link or keys["call"]
        self.columns.used |= columns.used
        return {key: value for key, value in keys.items() if value is not None}

    def _role_of(self, row: Native) -> str | None:
        path = self.columns.role()[0]
        word = None if path is None else value_at(row, path)
        if word is None:
            return "assistant" if _is_call(row) else None
        return self.role_of.get(word) if isinstance(word, (str, bool)) else None

    def _add_fields(self) -> None:
        columns = self.columns
        if self.found.lines and not self.found.object:
            split = columns.find("split", lambda values: are_words(values) and len(values) == len(self.found.rows))
            if split:
                self.add("split", split)
            elif self._has_turns:  # each row is a conversation of its own
                self.lines.remove("lines = true")
        for key in ("id", "time", "model", "name", "stop-reason"):
            path = columns.find(key, are_times if key == "time" else are_words)
            if path:
                self.add(key, path)
                unit = unit_of_times(columns.values[path]) if key == "time" else ""
                self.lines += [f'time-in = "{unit}"'] if unit else []

    def _add_whole(self) -> None:
        columns = self.around
        if not self.found.path and self.found.begin is None:
            return
        keys = {key: columns.find(f"whole.{key}", are_words) for key in ("id", "title", "model", "cwd", "created")}
        keys["updated"] = columns.find("whole.updated", are_words)
        begin = dict(self.found.begin or {})
        stated: dict[str, Any] = {"where": begin} if begin else {}
        stated |= {key: value for key, value in keys.items() if value is not None}
        if stated:
            self.add("conversation", stated)
        columns.used |= {(key,) for key in begin}

    def _add_rest(self) -> None:
        """Lists numbers and flags as metadata, and names the other keys in a comment."""
        others = {str(path[0]): values for columns in (self.around, self.columns) for path, values in _unused(columns)}
        plain = [key for key, values in others.items() if all(isinstance(each, (int, float)) for each in values)]
        self.add("metadata", plain)
        unknown = [key for key in others if key not in plain]
        if unknown:
            self.lines.append("# Keys that this table does not explain; those that are not content go into metadata:")
            self.lines.append(f"# {', '.join(map(_toml, unknown))}")


def _unused(columns: KeyValues) -> Iterator[tuple[Path, list[Any]]]:
    used = {path[0] for path in columns.used}
    return ((path, values) for path, values in columns.values.items() if len(path) == 1 and path[0] not in used)


def _value(word: str) -> Any:
    return word == "true" if word in ("true", "false") else word


def _toml(value: Any) -> str:
    """Returns a value as TOML: paths as strings, objects in one line."""
    if isinstance(value, tuple):
        value = "/".join(map(str, value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)
