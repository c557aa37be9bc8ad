"""The database of OpenCode, as version 1.18.33 creates it; read 2026-11-23."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column, other_columns

_TIMES = ("created", "updated", "compacting", "archived")
_NAMES = {"project_id": "projectID", "workspace_id": "workspaceID", "parent_id": "parentID"}
_CHANGES = ("additions", "deletions", "files")
_ROW = ("id", "session_id", "time_created", "time_updated", "data")
"""Columns of a message or part that `opencode export` prints otherwise, and the times of its row, which it does not."""
_JSON = ("metadata", "revert", "permission", "model")


def _session(query: Query, id_: str) -> Any:
    """A session as `opencode export` prints it."""
    [row] = query.rows("SELECT * FROM session WHERE id = ?", id_)
    parts: dict[str, list[Any]] = {}
    for part in query.rows("SELECT * FROM part WHERE session_id = ? ORDER BY id", id_):
        ids = {"id": part["id"], "sessionID": id_, "messageID": part["message_id"]}
        one = {**query.object(part, "part.data"), **ids, **other_columns(part, *_ROW, "message_id")}
        parts.setdefault(part["message_id"], []).append(one)
    messages = []
    for message in query.rows("SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id", id_):
        info = {**query.object(message, "message.data"), "id": message["id"], "sessionID": id_}
        info |= other_columns(message, *_ROW)
        messages.append({"info": info, "parts": parts.pop(message["id"], [])})
    unlisted = [part for rest in parts.values() for part in rest]
    return {"info": _info(query, row), "messages": messages, **({"unlistedParts": unlisted} if unlisted else {})}


def _info(query: Query, row: dict[str, Any]) -> Any:
    plain = ("id", "slug", *_NAMES, "directory", "path", "title", "agent", *_JSON, "version", "cost")
    info = {_NAMES.get(name, name): row[name] for name in plain if name in row}
    info |= {name: query.optional(row, f"session.{name}") for name in _JSON if name in info}
    tokens = {name: row.get(f"tokens_{name}") for name in ("input", "output", "reasoning")}
    tokens["cache"] = {name: row.get(f"tokens_cache_{name}") for name in ("read", "write")}
    times = {name: row[f"time_{name}"] for name in _TIMES if f"time_{name}" in row}
    changes = {name: row[f"summary_{name}"] for name in _CHANGES if f"summary_{name}" in row}
    changes |= {"diffs": query.optional(row, "session.summary_diffs")} if "summary_diffs" in row else {}
    optional = {"share": {"url": row["share_url"]}} if "share_url" in row else {}
    optional |= {"summary": changes} if changes else {}
    read = [name for name in row if name in plain or name.startswith(("tokens_", "summary_", "time_", "share_url"))]
    return {**info, "tokens": tokens, **optional, "time": times, **other_columns(row, *read)}


DATABASE = ProgramDatabase(("session", "message", "part"), column("SELECT id FROM session ORDER BY rowid"), _session)
