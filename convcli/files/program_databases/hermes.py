"""The database of Hermes Agent: hermes_state.py of hermes-agent 0.19.0; read 2026-11-28."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, Row, column, is_blank, other_columns

_CONTENT = "\0json:"
"""The begin of a content that is JSON, not text."""


def _session(query: Query, id_: str) -> Any:
    """A session as `hermes sessions export` prints it. Messages that were rewound or compacted are apart.

    Null means active: the program sets it when it starts."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    rows = list(query.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY id", id_))
    active = [_message(query, one, query.json) for one in rows if one.get("active", 1) == 1]
    inactive = [_message(query, one, query.optional) for one in rows if one.get("active", 1) != 1]
    return {**other_columns(row), "messages": active, **({"inactive_messages": inactive} if inactive else {})}


def _message(query: Query, row: Row, read: Callable[[Row, str], Any]) -> Any:
    """A message. The program takes an empty string for no calls, and a content that it cannot read for a text."""
    content, message = row.get("content"), dict(row)
    if isinstance(content, str) and content.startswith(_CONTENT):
        value = query.optional({**row, "content": content.removeprefix(_CONTENT)}, "messages.content")
        message["content"] = value if isinstance(value, dict | list) else content
    if not is_blank(row.get("tool_calls")):
        message["tool_calls"] = read(row, "messages.tool_calls")
    return other_columns(message)


DATABASE = ProgramDatabase(
    ("sessions", "messages", "state_meta"), column("SELECT id FROM sessions ORDER BY rowid"), _session
)
