"""The database of llm: those that versions up to 0.36 and its migrations create; read 2026-11-28."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, Row, column, is_blank, other_columns
from convcli.model.document import Rows

_CHAIN = """
WITH RECURSIVE chain(hash) AS (
    SELECT tip_message_hash FROM turns WHERE thread_id = ?1
    UNION SELECT parent_hash FROM messages JOIN chain USING (hash) WHERE parent_hash IS NOT NULL
)
"""
"""The messages of a thread."""
_TURNS = f"""{_CHAIN}, line(id) AS (
    SELECT ?1 UNION SELECT forked_from FROM threads JOIN line USING (id) WHERE forked_from IS NOT NULL
)
SELECT turns.*, threads.name AS conversation_name, schemas.content AS schema_json FROM turns
LEFT JOIN threads ON threads.id = ?1 LEFT JOIN schemas ON schemas.id = schema_id
WHERE thread_id = ?1 OR (thread_id IN line AND turns.tip_message_hash IN chain) ORDER BY turns.id
"""
"""The turns of a thread, and those of the threads that it was forked from, up to the fork."""
_CHAINS = f"{_CHAIN} SELECT messages.* FROM messages JOIN chain USING (hash)"
_THREAD = "SELECT * FROM threads WHERE id = ?"
_ROW_OF_THREAD, _ROW_OF_PART = (
    ("id", "name", "tip_message_hash"),
    ("id", "message_hash", "position", "tool_name", "payload"),
)
"""Columns of a thread and of a part that are read, that say where it belongs, or that repeat its payload."""
_JSON = ("prompt_json", "options_json", "response_json", "schema_json", "token_details", "provider_metadata")
_OLD = """
SELECT responses.*, conversations.name AS conversation_name, conversations.model AS conversation_model
FROM responses LEFT JOIN conversations ON conversations.id = conversation_id
WHERE conversation_id = ? ORDER BY responses.id
"""


def _session(query: Query, id_: str) -> Any:
    """The turns of a conversation, with their messages; those of older versions as `llm logs --json` prints them."""
    tables = query.tables()
    turns = list(query.rows(_TURNS, id_)) if "turns" in tables else []
    stored = {row["hash"]: row for row in query.rows(_CHAINS, id_)} if turns else {}
    rows = {row["id"]: _turn(query, {**row, "thread_id": id_}, stored) for row in turns}
    thread = [other_columns(one, *_ROW_OF_THREAD) for one in query.rows(_THREAD, id_)] if turns else []
    if thread and thread[0]:
        rows[turns[0]["id"]]["thread"] = thread[0]
    older = list(query.rows(_OLD, id_)) if "responses" in tables else []
    rows |= {row["id"]: _response(query, row, tables) for row in older if row["id"] not in rows}
    return Rows([rows[key] for key in sorted(rows)])


def _turn(query: Query, row: Row, stored: dict[str, Row]) -> Any:
    """A turn, with the messages since the answer before it, and the instruction."""
    parent, tip = row.pop("parent_message_hash", None), row.pop("tip_message_hash", None)
    before, new = list(_chain(parent, stored)), list(_chain(tip, stored))
    asked = list(takewhile(lambda message: message["role"] in ("user", "tool"), before))
    answered = takewhile(lambda message: message["hash"] != parent, new)
    system = before[-1] if before and before[-1]["role"] == "system" else None
    instruction = {} if system is None else _message(query, system)
    parts = instruction.pop("parts", [])
    messages = [_message(query, one) for one in (*reversed(asked), *reversed(list(answered)))]
    tools = query.rows("SELECT tools.* FROM turn_tools JOIN tools ON tools.id = tool_id WHERE turn_id = ?", row["id"])
    native = {"conversation_id": row.pop("thread_id"), **_read(query, row, "turns")}
    native |= {"system": "".join(part.get("text", "") for part in parts)} if parts else {}
    unread = [part for part in parts if part.keys() != {"type", "text"}]
    others = {**other_columns(instruction, "role"), **({"parts": unread} if unread else {})}
    native |= {"system_message": others} if others else {}
    return {**native, "tools": [_tool(query, tool) for tool in tools], "messages": messages}


def _chain(tip: Any, stored: dict[str, Row]) -> Iterator[Row]:
    """Yields a message and those before it, the last first. In a damaged database they can form a circle."""
    passed = set[Any]()
    while tip in stored and tip not in passed:
        passed.add(tip)
        yield stored[tip]
        tip = stored[tip].get("parent_hash")


def _message(query: Query, row: Row) -> Any:
    kept = other_columns(_read(query, row, "messages"), "hash", "parent_hash")
    return {**kept, "parts": _parts(query, row["hash"])}


def _parts(query: Query, hash_: str) -> list[Any]:
    """The parts of a message, with the fragments and files that they name."""
    rows = query.rows("SELECT * FROM parts WHERE message_hash = ? ORDER BY position", hash_)
    return [_part(query, row) for row in rows]


def _part(query: Query, row: Row) -> Any:
    payload = {} if is_blank(row.get("payload")) else query.object(row, "parts.payload")
    pieces = payload.pop("text_ref", ())
    if pieces:
        row["text"] = "".join(piece.get("literal") or _fragment(query, piece.get("fragment")) for piece in pieces)
    part = {**other_columns(row, *_ROW_OF_PART), **payload}
    if "attachment" in part:
        part["attachment"] = _file(query, part["attachment"])
    if "attachments" in part:
        part["attachments"] = [_file(query, one) for one in part["attachments"]]
    return part


def _fragment(query: Query, id_: Any) -> str:
    return "".join(row["content"] for row in query.rows("SELECT content FROM fragments WHERE id = ?", id_))


def _file(query: Query, named: Row) -> Any:
    """An attachment, with its content in base64."""
    rows = query.rows("SELECT * FROM attachments WHERE id = ?", named.get("id"))
    return next(map(other_columns, rows), named)


def _tool(query: Query, row: Row) -> Any:
    return {**other_columns(row), "input_schema": query.optional(row, "tools.input_schema") or {}}


def _read(query: Query, row: Row, table: str) -> Row:
    """The columns of a row. The program takes an empty string for no value."""
    read = {key: query.optional(row, f"{table}.{key}") if key in _JSON else value for key, value in row.items()}
    return other_columns({key: value for key, value in read.items() if value is not None})


_RELATED = {
    "tool_calls": "SELECT * FROM tool_calls WHERE response_id = ? ORDER BY id",
    "tool_results": "SELECT * FROM tool_results WHERE response_id = ? ORDER BY id",
    "tool_responses": "SELECT tools.* FROM tool_responses JOIN tools ON tools.id = tool_id WHERE response_id = ?",
    "prompt_attachments": """SELECT attachments.* FROM prompt_attachments
        JOIN attachments ON attachments.id = attachment_id WHERE response_id = ? ORDER BY "order\"""",
    "prompt_fragments": """SELECT hash, content FROM prompt_fragments
        JOIN fragments ON fragments.id = fragment_id WHERE response_id = ? ORDER BY "order\"""",
    "system_fragments": """SELECT hash, content FROM system_fragments
        JOIN fragments ON fragments.id = fragment_id WHERE response_id = ? ORDER BY "order\"""",
}
"""What belongs to a response of an older version, by the table that relates it. Not each version has each table."""


def _response(query: Query, row: Row, tables: set[str]) -> Any:
    """A turn as older versions stored it."""
    related: dict[str, list[Row]] = {
        table: list(map(other_columns, query.rows(statement, row["id"]))) if table in tables else []
        for table, statement in _RELATED.items()
    }
    related["tools"] = [_tool(query, tool) for tool in related.pop("tool_responses")]
    related["attachments"] = related.pop("prompt_attachments")
    for call in related["tool_calls"]:
        call["arguments"] = query.optional(call, "tool_calls.arguments") or {}
    for one in (*related["tool_calls"], *related["tool_results"]):
        one.pop("response_id", None)
    return {**_read(query, row, "responses"), **{key: value for key, value in related.items() if value}}


_OLD_IDS = "SELECT DISTINCT conversation_id AS id FROM responses"
_IDS = f"SELECT DISTINCT thread_id AS id FROM turns UNION {_OLD_IDS} ORDER BY id"
DATABASE = ProgramDatabase(("threads", "turns", "responses"), column(_IDS), _session)
OF_OLDER_VERSIONS = ProgramDatabase(("responses", "conversations"), column(f"{_OLD_IDS} ORDER BY id"), _session)
