"""The database of Hermes Agent: hermes_state.py of hermes-agent 0.19.0; read 2026-11-28."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column, other_columns

_CONTENT = "\0json:"
"""The begin of a content that is JSON, not text."""


def _session(query: Query, id_: str) -> Any:
    """A session as `hermes sessions export` prints it. Messages that were rewound or compacted are apart."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    rows = list(query.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY id", id_))
    active = [_message(query, one) for one in rows if one.get("active") == 1]
    inactive = [_message(query, one) for one in rows if one.get("active") != 1]
    return {**other_columns(row), "messages": active, **({"inactive_messages": inactive} if inactive else {})}


def _message(query: Query, row: dict[str, Any]) -> Any:
    content, calls = row.get("content"), row.get("tool_calls")
    if isinstance(content, str) and content.startswith(_CONTENT):
        row["content"] = query.json(content.removeprefix(_CONTENT))
    return other_columns(row if calls is None else {**row, "tool_calls": query.json(calls)})


DATABASE = ProgramDatabase(
    ("sessions", "messages", "state_meta"), column("SELECT id FROM sessions ORDER BY rowid"), _session
)
