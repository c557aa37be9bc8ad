"""The databases of Kiro and of its predecessor, Amazon Q."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column, other_columns

_TABLE = "conversations_v2"
_IDS = "SELECT conversation_id AS id FROM conversations_v2 GROUP BY conversation_id ORDER BY MIN(rowid)"


def _session(query: Query, id_: str) -> Any:
    """A conversation as `/save` writes it, with its directory and times: the latest state of it in any directory. Other
    states have messages that the latest lacks, and other directories none."""
    statement = "SELECT * FROM conversations_v2 WHERE conversation_id = ? ORDER BY updated_at DESC"
    newest, *older = query.rows(statement, id_)
    latest = query.object(newest, f"{_TABLE}.value")
    states, directories = list[Any](), list[Any]()
    for row in older:
        value, about = query.optional(row, f"{_TABLE}.value"), other_columns(row, "conversation_id", "value")
        if _begins(value, latest):
            directories.append(about)
        else:
            states.append({**about, "value": value})
    others = {"otherStates": states, "otherDirectories": directories}
    about = other_columns(newest, "conversation_id", "value")
    return {**about, **latest, **{key: each for key, each in others.items() if each}}


def _begins(state: Any, latest: Any) -> bool:
    """True if the latest state has all keys of another one, and all messages of it at its beginning."""
    earlier, later = (each.get("history") if isinstance(each, dict) else None for each in (state, latest))
    is_begin = isinstance(earlier, list) and isinstance(later, list) and later[: len(earlier)] == earlier
    return is_begin and state.keys() <= latest.keys()


def _session_of_amazon_q(query: Query, id_: str) -> Any:
    """The conversation of a directory."""
    [row] = query.rows("SELECT * FROM conversations WHERE key = ?", id_)
    return {**other_columns(row, "value"), **query.object(row, "conversations.value")}


DATABASE = ProgramDatabase(("conversations_v2",), column(_IDS), _session)
OF_AMAZON_Q = ProgramDatabase(
    ("conversations", "state"), column("SELECT key AS id FROM conversations ORDER BY rowid"), _session_of_amazon_q
)
