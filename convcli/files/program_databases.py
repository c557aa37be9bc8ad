"""What the databases of programs contain: their tables, the ids of their sessions, and the export of one session.

Tables: crates/goose/src/session/session_manager.rs of block/goose (version 17), and those that OpenCode 1.18.33 and
OpenClaw 2026.9.6 create; read 2026-11-23."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from convcli.files.packed import unpacked_value
from convcli.files.sqlite import Database
from convcli.model.document import Rows
from convcli.wire.exact_json import parse
from convcli.wire.strict_json import DuplicateKeys

_TIMES = ("created", "updated", "compacting", "archived")


class Query:
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


class ProgramDatabase(NamedTuple):
    """A program's database: its tables, the ids of its sessions, and the export of one."""

    tables: tuple[str, ...]
    ids: Callable[[Query], list[Any]]
    session: Callable[[Query, str], Any]


def _column(statement: str) -> Callable[[Query], list[Any]]:
    """Returns a function for the ids that a statement selects: None for one that is missing."""
    return lambda query: [row.get("id") for row in query.rows(statement)]


# ---------------------------------------------------------------- goose


def _goose(query: Query, id_: str) -> Any:
    """A session as `goose session export --format json` prints it."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    session = {_bare(name): _goose_value(query, name, value) for name, value in row.items()}
    statement = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
    return {**session, "conversation": [_goose_message(query, row) for row in query.rows(statement, id_)]}


def _bare(name: str) -> str:
    return name.removesuffix("_json")


def _goose_value(query: Query, name: str, value: Any) -> Any:
    if name.endswith("_json") or name == "extension_data":
        return query.json(value)
    if name.endswith("_at") and isinstance(value, str):
        return value if "T" in value else f"{value.replace(' ', 'T')}Z"
    return bool(value) if name == "user_set_name" else value


def _goose_message(query: Query, row: dict[str, Any]) -> Any:
    message = {"id": row.get("message_id"), "role": row["role"], "created": row["created_timestamp"]}
    message |= {"content": query.json(row["content_json"]), "metadata": query.json(row.get("metadata_json"))}
    return {key: value for key, value in message.items() if value is not None}


# ---------------------------------------------------------------- OpenCode

_OPENCODE_NAMES = {"project_id": "projectID", "workspace_id": "workspaceID", "parent_id": "parentID"}
_CHANGES = ("additions", "deletions", "files")
_OPENCODE_JSON = ("metadata", "revert", "permission", "model")


def _opencode(query: Query, id_: str) -> Any:
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


def _opencode_info(query: Query, row: dict[str, Any]) -> Any:
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


def _openclaw(query: Query, id_: str) -> Any:
    """A session as the rows of its file; long rows are packed in the database."""
    statement = "SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ? ORDER BY seq"
    texts = (row.get("event_json") or query.unpacked(row["event_zstd"]) for row in query.rows(statement, id_))
    return Rows([query.json(text) for text in texts])


# ---------------------------------------------------------------- all programs

_PROGRAMS = (
    ProgramDatabase(("sessions", "messages"), _column("SELECT id FROM sessions ORDER BY rowid"), _goose),
    ProgramDatabase(("session", "message", "part"), _column("SELECT id FROM session ORDER BY rowid"), _opencode),
    ProgramDatabase(
        ("transcript_events", "session_windows"),
        _column("SELECT session_id AS id FROM transcript_events GROUP BY session_id ORDER BY MIN(rowid)"),
        _openclaw,
    ),
)


def program_with(query: Query) -> ProgramDatabase | None:
    """Returns the program that has such a database."""
    tables = {row["name"] for row in query.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return next((one for one in _PROGRAMS if tables.issuperset(one.tables)), None)
