"""The database of Crush."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column, other_columns


def _session(query: Query, id_: str) -> Any:
    """A session: the columns of its row, and its messages, whose parts are read."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    rows = query.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid", id_)
    messages = [{**other_columns(one), "parts": query.json(one, "messages.parts")} for one in rows]
    return {**other_columns(row), "messages": messages}


_IDS = "SELECT id FROM sessions ORDER BY rowid"
DATABASE = ProgramDatabase(("sessions", "messages", "files"), column(_IDS), _session)
