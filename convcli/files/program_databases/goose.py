"""The database of goose: crates/goose/src/session/session_manager.rs of block/goose (version 17); read 2026-11-23."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, Row, column, other_columns

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
    session = other_columns({_bare(name): _value(query, row, name) for name in row})
    statement = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
    return {**session, "conversation": [_message(query, row) for row in query.rows(statement, id_)]}


def _bare(name: str) -> str:
    return name.removesuffix("_json")


def _value(query: Query, row: Row, name: str) -> Any:
    value = row[name]
    if name.endswith("_json") or name == "extension_data":
        return query.optional(row, f"sessions.{name}")
    if name.endswith("_at") and isinstance(value, str):
        return value if "T" in value else f"{value.replace(' ', 'T')}Z"
    return bool(value) if name == "user_set_name" and value in (0, 1) else value


def _message(query: Query, row: Row) -> Any:
    read = {**row, "content_json": query.json(row, "messages.content_json")}
    read["metadata_json"] = query.optional(row, "messages.metadata_json")
    message = {key: read[name] for name, key in _MESSAGE.items() if read.get(name) is not None}
    return message | other_columns(row, *_MESSAGE, *_ROW)


DATABASE = ProgramDatabase(("sessions", "messages"), column("SELECT id FROM sessions ORDER BY rowid"), _session)
