"""SQLite databases of programs as records: a session is like a line of JSON Lines.

A session is returned as its program exports it. Nothing is changed (`sqlite`). Sessions are read one at a time.
Tables: crates/goose/src/session/session_manager.rs of block/goose (version 17), and those that OpenCode 1.18.33 and
OpenClaw 2026.9.6 create; read 2026-11-23. Format: https://www.sqlite.org/fileformat.html"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from convcli.files.framing import Framing, Range, Record, open_stored
from convcli.files.packed import CountedFile, unpacked_value
from convcli.files.sqlite import Database, database_of, open_database, reason
from convcli.model.document import Rows
from convcli.model.errors import ContentError, ConvcliError
from convcli.wire.encodings import DATABASE, of_beginning
from convcli.wire.exact_json import parse
from convcli.wire.strict_json import DuplicateKeys

_TIMES = ("created", "updated", "compacting", "archived")


class _Query:
    """A database, with the options for its JSON strings."""

    def __init__(self, database: Database, keys: DuplicateKeys, name: str) -> None:
        self._database, self._keys, self._name = database, keys, name

    def rows(self, statement: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yields the rows as objects, without nulls."""
        return (
            {name: _number(value) for name, value in zip(names, row, strict=True) if value is not None}
            for names, row in self._database.rows(statement, *values)
        )

    def json(self, text: Any) -> Any:
        """Parses a JSON string; returns any other value unchanged."""
        return parse(text.encode(), duplicate_keys=self._keys) if isinstance(text, str) else text

    def unpacked(self, data: bytes) -> str:
        """Returns a string that is packed by zstd."""
        return unpacked_value(data, "zstd", self._name).decode()


def _number(value: Any) -> Any:
    """Writes whole numbers without a decimal point, as the programs do."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Program(NamedTuple):
    """A program's database: tables that identify it, the query for its sessions, and the export of one."""

    tables: tuple[str, ...]
    ids: str
    session: Callable[[_Query, str], Any]


# ---------------------------------------------------------------- goose


def _goose(query: _Query, id_: str) -> Any:
    """A session as `goose session export --format json` prints it."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    session = {_bare(name): _goose_value(query, name, value) for name, value in row.items()}
    statement = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
    return {**session, "conversation": [_goose_message(query, row) for row in query.rows(statement, id_)]}


def _bare(name: str) -> str:
    return name.removesuffix("_json")


def _goose_value(query: _Query, name: str, value: Any) -> Any:
    if name.endswith("_json") or name == "extension_data":
        return query.json(value)
    if name.endswith("_at") and isinstance(value, str):
        return value if "T" in value else f"{value.replace(' ', 'T')}Z"
    return bool(value) if name == "user_set_name" else value


def _goose_message(query: _Query, row: dict[str, Any]) -> Any:
    message = {"id": row.get("message_id"), "role": row["role"], "created": row["created_timestamp"]}
    message |= {"content": query.json(row["content_json"]), "metadata": query.json(row.get("metadata_json"))}
    return {key: value for key, value in message.items() if value is not None}


# ---------------------------------------------------------------- OpenCode

_OPENCODE_NAMES = {"project_id": "projectID", "workspace_id": "workspaceID", "parent_id": "parentID"}
_CHANGES = ("additions", "deletions", "files")
_OPENCODE_JSON = ("metadata", "revert", "permission", "model")


def _opencode(query: _Query, id_: str) -> Any:
    """A session as `opencode export` prints it."""
    [row] = query.rows("SELECT * FROM session WHERE id = ?", id_)
    parts: dict[str, list[Any]] = {}
    for part in query.rows("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", id_):
        ids = {"id": part["id"], "sessionID": id_, "messageID": part["message_id"]}
        parts.setdefault(part["message_id"], []).append({**query.json(part["data"]), **ids})
    messages = []
    for message in query.rows("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", id_):
        info = {**query.json(message["data"]), "id": message["id"], "sessionID": id_}
        messages.append({"info": info, "parts": parts.get(message["id"], [])})
    return {"info": _opencode_info(query, row), "messages": messages}


def _opencode_info(query: _Query, row: dict[str, Any]) -> Any:
    plain = ("id", "slug", *_OPENCODE_NAMES, "directory", "path", "title", "agent", *_OPENCODE_JSON, "version", "cost")
    info = {_OPENCODE_NAMES.get(name, name): row[name] for name in plain if name in row}
    info |= {name: query.json(info[name]) for name in _OPENCODE_JSON if name in info}
    tokens = {name: row.get(f"tokens_{name}") for name in ("input", "output", "reasoning")}
    tokens["cache"] = {name: row.get(f"tokens_cache_{name}") for name in ("read", "write")}
    times = {name: row[f"time_{name}"] for name in _TIMES if f"time_{name}" in row}
    changes = {name: row[f"summary_{name}"] for name in _CHANGES if f"summary_{name}" in row}
    changes |= {"diffs": query.json(row["summary_diffs"])} if "summary_diffs" in row else {}
    optional = {"share": {"url": row["share_url"]}} if "share_url" in row else {}
    optional |= {"summary": changes} if changes else {}
    return {**info, "tokens": tokens, **optional, "time": times}


# ---------------------------------------------------------------- OpenClaw


def _openclaw(query: _Query, id_: str) -> Any:
    """A session as the rows of its file; long rows are packed in the database."""
    statement = "SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ? ORDER BY seq"
    texts = (row.get("event_json") or query.unpacked(row["event_zstd"]) for row in query.rows(statement, id_))
    return Rows([query.json(text) for text in texts])


_PROGRAMS = (
    _Program(("sessions", "messages"), "SELECT id FROM sessions ORDER BY rowid", _goose),
    _Program(("session", "message", "part"), "SELECT id FROM session ORDER BY rowid", _opencode),
    _Program(
        ("transcript_events", "session_windows"),
        "SELECT session_id AS id FROM transcript_events GROUP BY session_id ORDER BY MIN(rowid)",
        _openclaw,
    ),
)


# ---------------------------------------------------------------- the source


class DatabaseSource:
    """An opened database. Sessions are counted from 1, like lines; `lines` of them were read.

    Raises ContentError `not-json` for one of another program, and `broken-compression` for one that is damaged."""

    framing: Framing = "jsonl"
    unpacked_size = 0
    grew = False
    blank = 0

    def __init__(self, stored: CountedFile, chunks: Iterable[bytes] | None, keys: DuplicateKeys) -> None:
        from sqlite3 import Error

        self.name, self._stored, self.lines = stored.name, stored, 0
        self._bytes = 0
        try:
            self._database = open_database(stored.name) if chunks is None else database_of(chunks)
            self._query = _Query(self._database, keys, stored.name)
            result = self._query.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {row["name"] for row in result}
            self._program = next((one for one in _PROGRAMS if tables.issuperset(one.tables)), None)
            self._ids = self._all_ids()
        except (Error, ValueError) as error:
            raise _named(reason(error, "the SQLite database is damaged or cut off"), self.name) from error
        self._bytes = os.path.getsize(self.name) if chunks is None else stored.count

    def _all_ids(self) -> list[Any]:
        """Returns the ids of the sessions: strings, unless the database is damaged; None for one that is missing."""
        if self._program is None:
            other = of_beginning(DATABASE)
            assert other is not None
            raise ContentError(other.code, other.message, file=self.name, help=other.help)
        return [row.get("id") for row in self._query.rows(self._program.ids)]

    @property
    def ids(self) -> list[str]:
        """Returns the ids of the sessions, in order; empty for one that is missing."""
        return ["" if id_ is None else str(id_) for id_ in self._ids]

    def __enter__(self) -> DatabaseSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()
        self._stored.close()

    @property
    def bytes_read(self) -> int:
        """The bytes of the file that count as read: all, once its first session is."""
        return self._bytes if self.lines else 0

    def each(self) -> Iterator[Record]:
        """Yields all sessions."""
        return self.records()

    def records(self, start: int = 0, stop: int | None = None, before: int = 0) -> Iterator[Record]:
        """Yields all sessions, whatever the range: there is only one. Unreadable ones are records with an error."""
        for number, id_ in enumerate(self._ids, before + 1):
            record, self.lines = Record(number, 0, 0, b""), number - before
            try:
                record.value = self._session(id_)
            except ContentError as error:
                record.error = ContentError(error.code, error.message, file=self.name, line=number, help=error.help)
            yield record

    def ranges(self, size: int) -> Iterator[Range]:
        """Yields one range for the whole database."""
        yield Range(0, 1, 0)

    def _session(self, id_: Any) -> Any:
        from sqlite3 import Error

        assert self._program is not None
        damage = "this session's rows do not match its program's format"
        if not isinstance(id_, str):
            raise ContentError("not-json", damage)
        self._database.begin()
        try:
            return self._program.session(self._query, id_)
        except (Error, LookupError, TypeError, ValueError) as error:  # the tables may contain anything
            raise reason(error, damage) from error


def ids_in(path: str) -> list[str]:
    """Returns the session ids of a database, in order. Raises as DatabaseSource does."""
    with DatabaseSource(open_stored(path), None, "last") as source:
        return source.ids


def _named(error: ConvcliError, file: str) -> ConvcliError:
    error.file = file
    return error
