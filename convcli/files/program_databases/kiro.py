"""The databases of Kiro and of its predecessor, Amazon Q."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column

_IDS = "SELECT conversation_id AS id FROM conversations_v2 GROUP BY conversation_id ORDER BY MIN(rowid)"


def _session(query: Query, id_: str) -> Any:
    """A conversation as `/save` writes it: the latest state of it in any directory."""
    statement = "SELECT value FROM conversations_v2 WHERE conversation_id = ? ORDER BY updated_at DESC LIMIT 1"
    [row] = query.rows(statement, id_)
    return query.json(row["value"])


def _session_of_amazon_q(query: Query, id_: str) -> Any:
    """The conversation of a directory."""
    [row] = query.rows("SELECT value FROM conversations WHERE key = ?", id_)
    return query.json(row["value"])


DATABASE = ProgramDatabase(("conversations_v2",), column(_IDS), _session)
OF_AMAZON_Q = ProgramDatabase(
    ("conversations", "state"), column("SELECT key AS id FROM conversations ORDER BY rowid"), _session_of_amazon_q
)
