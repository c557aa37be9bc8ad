"""The databases of Kiro and of its predecessor, Amazon Q."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column

_IDS = "SELECT conversation_id AS id FROM conversations_v2 GROUP BY conversation_id ORDER BY MIN(rowid)"


def _session(query: Query, id_: str) -> Any:
    """A conversation as `/save` writes it: the latest state of it in any directory. Other states with messages that the
    latest lacks come with their directory."""
    statement = "SELECT key, value FROM conversations_v2 WHERE conversation_id = ? ORDER BY updated_at DESC"
    states = [(row.get("key"), query.json(row["value"])) for row in query.rows(statement, id_)]
    latest = states[0][1]
    if not isinstance(latest, dict):
        return latest
    others = [{"key": key, "value": value} for key, value in states[1:] if not _begins(value, latest)]
    return {**latest, "otherStates": others} if others else latest


def _begins(state: Any, latest: Any) -> bool:
    """True if the latest state has all keys of another one, and all messages of it at its beginning."""
    earlier, later = (each.get("history") if isinstance(each, dict) else None for each in (state, latest))
    is_begin = isinstance(earlier, list) and isinstance(later, list) and later[: len(earlier)] == earlier
    return is_begin and state.keys() <= latest.keys()


def _session_of_amazon_q(query: Query, id_: str) -> Any:
    """The conversation of a directory."""
    [row] = query.rows("SELECT value FROM conversations WHERE key = ?", id_)
    return query.json(row["value"])


DATABASE = ProgramDatabase(("conversations_v2",), column(_IDS), _session)
OF_AMAZON_Q = ProgramDatabase(
    ("conversations", "state"), column("SELECT key AS id FROM conversations ORDER BY rowid"), _session_of_amazon_q
)
