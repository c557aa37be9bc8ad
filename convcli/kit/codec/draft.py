"""Writes the first draft of a table from the documents of a log, by the names and the values of their keys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from convcli.kit.codec.objects import value_at
from convcli.kit.objects import Native, objects_in
from convcli.model.errors import ContentError
from convcli.model.transcript import Path

WORDS = {
    "user": "user human customer client visitor prompter player me person question caller",
    "assistant": "assistant bot ai agent gpt model chatbot llm operator reply answer character",
    "system": "system setup rules instruction instructions sys",
    "developer": "developer",
    "tool": "tool function observation tool_result environment ipython fn tools",
}
"""The usual words for each role."""
ROLE_OF = {word: role for role, words in WORDS.items() for word in words.split()}
BOOLEANS = {"user": "is_user isuser from_user fromuser human", "assistant": "from_bot is_bot isbot bot is_ai from_ai"}
"""The usual names of keys that are true for a role."""
NAMES = {
    "role": "role speaker sender from who author type event kind sender_class",
    "text": "content text message body utterance value mes say msg parts",
    "reasoning": "reasoning thought thinking thoughts rationale think reasoning_content",
    "images": "images image image_url pics pictures photos",
    "id": "id uuid message_id msg_id mid nr",
    "time": "timestamp time ts date created_at created sent at send_date datetime",
    "model": "model model_name engine llm",
    "name": "name sender author username",
    "stop-reason": "stop_reason finish_reason end",
    "calls": "tool_calls calls tools actions function_calls functions tool_uses invocations fn",
    "call.name": "name tool tool_name action function function_name",
    "call.arguments": "arguments args input parameters params action_input tool_input",
    "call.id": "id call_id tool_call_id",
    "call.result": "result output observation outcome response",
    "result.call": "tool_call_id call_id tool_use_id for call in_reply_to",
    "result.name": "name tool tool_name",
    "result.value": "output result observation",
    "result.failed": "is_error failed error",
    "whole.id": "id conversation_id session_id chat_id dialogue_id dialog_id thread_id sid sender_id uuid run run_id",
    "whole.title": "title topic subject name",
    "whole.model": "model model_name engine llm",
    "whole.cwd": "cwd workdir working_directory dir directory",
    "whole.created": "created_at created create_date create_time start_time started_at",
    "whole.updated": "updated_at updated update_time end_time ended_at",
    "split": "conversation_id session_id chat_id thread_id session conversation thread sid",
}
"""The usual names of keys, the likeliest first."""
TURNS = {"user": "question prompt query input instruction user", "assistant": "answer response output completion reply"}
BEFORE = {"system": "system system_prompt instructions", "user": "task prompt question query goal"}
AFTER = {"assistant": "final_answer answer response output"}
MOST_WORDS = 12
DEEPEST = 3


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
    wrapped = [row for row in found.rows if isinstance(value_at(row, path), str)]
    others = [row for row in found.rows if row not in wrapped]
    begin = _kind_of(others[:1], wrapped) if found.lines and others[:1] == found.rows[:1] else None
    if begin:
        header = [row for row in others if begin.items() <= row.items()]
        found = found._replace(rows=[row for row in found.rows if row not in header], around=header, begin=begin)
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
        for path, value in _members(native, prefix):
            if isinstance(value, list) and objects_in(value):
                lists.setdefault(path, []).extend(objects_in(value))
    yield from lists.items()


def _members(native: Native, prefix: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields the values of an object and of the objects in it, with their paths."""
    for key, value in native.items():
        if not key or "/" in key:
            continue
        yield (*prefix, key), value
        if isinstance(value, dict) and len(prefix) < DEEPEST:
            yield from _members(value, (*prefix, key))


def _likeness(rows: Sequence[Native]) -> int:
    """Returns how many of the rows have a role or two texts of a turn."""
    columns = KeyValues(rows)
    return max(columns.role()[1], len(rows) if len(columns.turns()) > 1 else 0)


class KeyValues:
    """The values of the rows by their path."""

    def __init__(self, rows: Sequence[Native]) -> None:
        self.rows = rows
        self.values: dict[Path, list[Any]] = {}
        self.used: set[Path] = set()
        for row in rows:
            for path, value in _members(row):
                if value is not None:
                    self.values.setdefault(path, []).append(value)

    def find(self, names: str, accepts: Callable[[list[Any]], bool]) -> Path | None:
        """Returns the path of unused values with the likeliest name."""
        for name in NAMES[names].split():
            for path, values in self.values.items():
                if path not in self.used and str(path[-1]).lower() == name and accepts(values):
                    self.used.add(path)
                    return path
        return None

    def role(self) -> tuple[Path | None, int]:
        """Returns the path of the role, and how many of its values are usual words."""
        best: tuple[Path | None, int] = (None, 0)
        ranks = {name: -rank for rank, name in enumerate(NAMES["role"].split())}
        for path, values in sorted(
            self.values.items(), key=lambda item: ranks.get(str(item[0][-1]), -99), reverse=True
        ):
            known = sum(1 for value in values if self.word_role(path, value) is not None)
            if known > best[1] and len(set(map(str, values))) <= MOST_WORDS:
                best = (path, known)
        return best

    def word_role(self, path: Path, value: Any) -> str | None:
        """Returns the role that a value is usually a word for."""
        if isinstance(value, bool):
            name = str(path[-1]).lower()
            true = next((role for role, names in BOOLEANS.items() if name in names.split()), None)
            return true if value or true is None else "assistant" if true == "user" else "user"
        return ROLE_OF.get(value.lower()) if isinstance(value, str) else None

    def turns(self) -> dict[str, str]:
        """Returns the keys that are messages of their own, by their names."""
        return _texts_named(self, TURNS)


def _texts_named(columns: KeyValues, names: dict[str, str]) -> dict[str, str]:
    keys: dict[str, str] = {}
    for role, each in names.items():
        for name in each.split():
            if role not in keys.values() and (name,) in columns.values and _are_texts(columns.values[name,]):
                keys[name] = role
    return keys


class _Draft:
    """The table while it is drafted. Tools and results are looked for before ids and names."""

    def __init__(self, found: LogRows) -> None:
        self.found, self.columns, self.around = found, KeyValues(found.rows), KeyValues(found.around)
        self.spoken = self.columns
        """The rows that are not tool results or events."""
        self.roles: set[str | None] = set()
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
        keys = _texts_named(columns, names)
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
                self.add("default-role", "assistant")
            return
        columns.used.add(path)
        self.add("role", path)
        words = Counter(json.dumps(value) if not isinstance(value, str) else value for value in columns.values[path])
        roles = {word: columns.word_role(path, _value(word)) for word in words}
        if "assistant" not in roles.values():  # the program is called the system
            roles = {word: "assistant" if role == "system" else role for word, role in roles.items()}
        self.add("roles", {word: role for word, role in roles.items() if role is not None})
        others = [word for word, role in roles.items() if role is None]
        if others:
            self.lines.append(f"# roles of other rows, which are events: {', '.join(map(_toml, others))}")
        self.roles = set(roles.values())
        self.spoken = KeyValues([row for row in self.found.rows if self._role_of(row) not in (None, "tool")])
        self.spoken.used = columns.used

    def _add_content(self) -> None:
        columns = self.columns
        has_turns = any(line.startswith("turns") for line in self.lines)
        calls = None if has_turns else self._calls()
        result = self._results() if "tool" in self.roles else None
        reasoning = self.spoken.find("reasoning", _are_texts)
        if reasoning:
            self.add("reasoning", reasoning)
        text = None if has_turns else self.spoken.find("text", _are_texts) or self._longest()
        texts = None if text or has_turns else self.spoken.find("text", _are_text_lists)
        if text or texts:
            self.add("text" if text else "texts", text or texts)
        images = columns.find("images", _are_strings_or_lists)
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
            if path not in self.columns.used and _are_texts(values) and any(" " in value for value in values)
        }
        path = max(sizes, key=lambda each: sizes[each], default=None)
        self.columns.used |= {path} if path else set()
        return path

    def _calls(self) -> dict[str, Any] | None:
        """Returns the keys of calls: in a list of each message, or of the message itself."""
        at = self.columns.find("calls", lambda values: any(objects_in(value) for value in values)) or self._call_lists()
        items = [item for value in self.columns.values[at] for item in objects_in(value)] if at else []
        columns = KeyValues(items) if at else self.columns
        before = set(columns.used)
        arguments = columns.find("call.arguments", lambda values: all(isinstance(v, (dict, str)) for v in values))
        name = columns.find("call.name", _are_strings) if at or arguments else None
        if name is None:
            columns.used &= before  # in place: the columns of the messages share it
            return None
        keys: dict[str, Any] = {"at": at} if at else {}
        keys |= {"id": columns.find("call.id", _are_words)} if at else {}
        keys |= {"name": name, "arguments": arguments}
        if arguments and any(isinstance(value, str) for value in columns.values[arguments]):
            are_json = all(_is_json_object(value) for value in columns.values[arguments])
            keys["arguments-as"] = "json" if are_json else "text"
        keys["result"] = columns.find("call.result", lambda _: True)
        if at and ("type",) in columns.values and set(map(str, columns.values["type",])) == {"function"}:
            keys["constants"] = {"type": "function"}
        return {key: value for key, value in keys.items() if value is not None}

    def _call_lists(self) -> Path | None:
        """Returns the path of lists whose items have the keys of a call, if they have no usual name."""
        for path, values in self.columns.values.items():
            items = KeyValues([item for value in values for item in objects_in(value)])
            is_text = str(path[-1]).lower() in NAMES["text"].split()
            if path not in self.columns.used and not is_text and items.find("call.arguments", _are_objects):
                self.columns.used.add(path)
                return path
        return None

    def _results(self) -> dict[str, Any]:
        columns = KeyValues([row for row in self.found.rows if self._role_of(row) == "tool"])
        kinds = {"call": _are_words, "name": _are_strings, "value": lambda _: True, "failed": _are_booleans}
        keys = {key: columns.find(f"result.{key}", accepts) for key, accepts in kinds.items()}
        self.columns.used |= columns.used
        return {key: value for key, value in keys.items() if value is not None}

    def _role_of(self, row: Native) -> str | None:
        path = self.columns.role()[0]
        return None if path is None else self.columns.word_role(path, value_at(row, path))

    def _add_fields(self) -> None:
        columns = self.columns
        if self.found.lines:
            split = columns.find("split", lambda values: _are_words(values) and len(values) == len(self.found.rows))
            if split:
                self.add("split", split)
        for key in ("id", "time", "model", "name", "stop-reason"):
            path = columns.find(key, _are_times if key == "time" else _are_words)
            if path:
                self.add(key, path)
                unit = _unit(columns.values[path]) if key == "time" else ""
                self.lines += [f'time-in = "{unit}"'] if unit else []

    def _add_whole(self) -> None:
        columns = self.around
        if not self.found.path and not self.found.begin:
            return
        keys = {key: columns.find(f"whole.{key}", _are_words) for key in ("id", "title", "model", "cwd", "created")}
        keys["updated"] = columns.find("whole.updated", _are_words)
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


# ---------------------------------------------------------------- values


def _are_texts(values: list[Any]) -> bool:
    return any(values) and all(isinstance(value, str) for value in values)


_are_strings = _are_texts


def _are_words(values: list[Any]) -> bool:
    return all(type(value) in (str, int) for value in values)


def _are_objects(values: list[Any]) -> bool:
    return all(isinstance(value, dict) or _is_json_object(value) for value in values)


def _are_booleans(values: list[Any]) -> bool:
    return all(isinstance(value, bool) for value in values)


def _are_text_lists(values: list[Any]) -> bool:
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return bool(items) and all(isinstance(item, str) or _is_block(item) for item in items)


def _is_block(item: Any) -> bool:
    return isinstance(item, dict) and ("text" in item or isinstance(item.get("type"), str))


def _are_strings_or_lists(values: list[Any]) -> bool:
    return all(isinstance(item, str) for value in values for item in (value if isinstance(value, list) else [value]))


def _are_times(values: list[Any]) -> bool:
    return bool(_unit(values)) or all(isinstance(value, str) and _is_time(value) for value in values)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return any(character.isdigit() for character in text) and len(text) < 40
    return True


def _unit(values: list[Any]) -> str:
    """Returns the unit of times that are numbers; empty for any other values."""
    if not all(type(value) in (int, float) and value > 1e8 for value in values):
        return ""
    return "milliseconds" if min(values) > 1e11 else "seconds"


def _is_json_object(value: Any) -> bool:
    try:
        return isinstance(value, str) and isinstance(json.loads(value), dict)
    except ValueError:
        return False


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
