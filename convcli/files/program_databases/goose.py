"""The database of goose: crates/goose/src/session/session_manager.rs of block/goose (version 17); read 2026-11-23."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column, other_columns

_MESSAGE = {
    "message_id": "id",
    "role": "role",
    "created_timestamp": "created",
    "content_json": "content",
    "metadata_json": "metadata",
}
_ROW = ("id", "session_id", "timestamp")
"""Columns of a message that repeat others, or name its row."""


def _session(query: Query, id_: str) -> Any:
    """A session as `goose session export --format json` prints it."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    session = other_columns({_bare(name): _value(query, name, value) for name, value in row.items()})
    statement = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
    return {**session, "conversation": [_message(query, row) for row in query.rows(statement, id_)]}


def _bare(name: str) -> str:
    return name.removesuffix("_json")


def _value(query: Query, name: str, value: Any) -> Any:
    if name.endswith("_json") or name == "extension_data":
        return query.json(value)
    if name.endswith("_at") and isinstance(value, str):
        return value if "T" in value else f"{value.replace(' ', 'T')}Z"
    return bool(value) if name == "user_set_name" else value


def _message(query: Query, row: dict[str, Any]) -> Any:
    read = {name: query.json(row[name]) if name.endswith("_json") else row[name] for name in _MESSAGE if name in row}
    return {_MESSAGE[name]: value for name, value in read.items()} | other_columns(row, *_MESSAGE, *_ROW)


DATABASE = ProgramDatabase(("sessions", "messages"), column("SELECT id FROM sessions ORDER BY rowid"), _session)
