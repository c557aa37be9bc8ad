"""What the databases of programs contain: their tables, the ids of their sessions, and the export of one session.

Tables: crates/goose/src/session/session_manager.rs of block/goose (version 17), and those that OpenCode 1.18.33 and
OpenClaw 2026.9.6 create; read 2026-11-23. Those of Cursor as other readers describe them: docs/formats/cursor.md and
src/harness/cursor_desktop.rs of skillsynchq/txcript at 6699e3ed; read 2026-11-27. That of Hermes Agent:
hermes_state.py of hermes-agent 0.19.0; that of llm: databases of llm 0.36 and its migrations; read 2026-11-28."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Any, NamedTuple

from convcli.files.packed import unpacked_value
from convcli.files.sqlite import Database
from convcli.model.document import Rows
from convcli.wire.exact_json import parse
from convcli.wire.strict_json import DuplicateKeys

_TIMES = ("created", "updated", "compacting", "archived")


class Query:
    """A database, with the options for its JSON strings."""

    def __init__(self, database: Database, keys: DuplicateKeys, name: str) -> None:
        self._database, self._keys, self._name = database, keys, name

    def rows(self, statement: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yields the rows as objects, without nulls."""
        return (
            {name: _number(value) for name, value in zip(names, row, strict=True) if value is not None}
            for names, row in self._database.rows(statement, *values)
        )

    def tables(self) -> set[str]:
        """Returns the names of the tables."""
        return {row["name"] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def json(self, text: Any) -> Any:
        """Parses a JSON string, which may be stored as bytes; returns any other value unchanged."""
        data = text.encode() if isinstance(text, str) else text
        return parse(data, duplicate_keys=self._keys) if isinstance(data, bytes) else data

    def unpacked(self, data: bytes) -> str:
        """Returns a string that is packed by zstd."""
        return unpacked_value(data, "zstd", self._name).decode()


def _number(value: Any) -> Any:
    """Writes whole numbers without a decimal point, as the programs do."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class ProgramDatabase(NamedTuple):
    """A program's database: its tables, the ids of its sessions, and the export of one."""

    tables: tuple[str, ...]
    ids: Callable[[Query], list[Any]]
    session: Callable[[Query, str], Any]


def _column(statement: str) -> Callable[[Query], list[Any]]:
    """Returns a function for the ids that a statement selects: None for one that is missing."""
    return lambda query: [row.get("id") for row in query.rows(statement)]


# ---------------------------------------------------------------- goose


def _goose(query: Query, id_: str) -> Any:
    """A session as `goose session export --format json` prints it."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    session = {_bare(name): _goose_value(query, name, value) for name, value in row.items()}
    statement = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
    return {**session, "conversation": [_goose_message(query, row) for row in query.rows(statement, id_)]}


def _bare(name: str) -> str:
    return name.removesuffix("_json")


def _goose_value(query: Query, name: str, value: Any) -> Any:
    if name.endswith("_json") or name == "extension_data":
        return query.json(value)
    if name.endswith("_at") and isinstance(value, str):
        return value if "T" in value else f"{value.replace(' ', 'T')}Z"
    return bool(value) if name == "user_set_name" else value


def _goose_message(query: Query, row: dict[str, Any]) -> Any:
    message = {"id": row.get("message_id"), "role": row["role"], "created": row["created_timestamp"]}
    message |= {"content": query.json(row["content_json"]), "metadata": query.json(row.get("metadata_json"))}
    return {key: value for key, value in message.items() if value is not None}


# ---------------------------------------------------------------- OpenCode

_OPENCODE_NAMES = {"project_id": "projectID", "workspace_id": "workspaceID", "parent_id": "parentID"}
_CHANGES = ("additions", "deletions", "files")
_OPENCODE_JSON = ("metadata", "revert", "permission", "model")


def _opencode(query: Query, id_: str) -> Any:
    """A session as `opencode export` prints it."""
    [row] = query.rows("SELECT * FROM session WHERE id = ?", id_)
    parts: dict[str, list[Any]] = {}
    for part in query.rows("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", id_):
        ids = {"id": part["id"], "sessionID": id_, "messageID": part["message_id"]}
        parts.setdefault(part["message_id"], []).append({**query.json(part["data"]), **ids})
    messages = []
    for message in query.rows("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", id_):
        info = {**query.json(message["data"]), "id": message["id"], "sessionID": id_}
        messages.append({"info": info, "parts": parts.get(message["id"], [])})
    return {"info": _opencode_info(query, row), "messages": messages}


def _opencode_info(query: Query, row: dict[str, Any]) -> Any:
    plain = ("id", "slug", *_OPENCODE_NAMES, "directory", "path", "title", "agent", *_OPENCODE_JSON, "version", "cost")
    info = {_OPENCODE_NAMES.get(name, name): row[name] for name in plain if name in row}
    info |= {name: query.json(info[name]) for name in _OPENCODE_JSON if name in info}
    tokens = {name: row.get(f"tokens_{name}") for name in ("input", "output", "reasoning")}
    tokens["cache"] = {name: row.get(f"tokens_cache_{name}") for name in ("read", "write")}
    times = {name: row[f"time_{name}"] for name in _TIMES if f"time_{name}" in row}
    changes = {name: row[f"summary_{name}"] for name in _CHANGES if f"summary_{name}" in row}
    changes |= {"diffs": query.json(row["summary_diffs"])} if "summary_diffs" in row else {}
    optional = {"share": {"url": row["share_url"]}} if "share_url" in row else {}
    optional |= {"summary": changes} if changes else {}
    return {**info, "tokens": tokens, **optional, "time": times}


# ---------------------------------------------------------------- OpenClaw


def _openclaw(query: Query, id_: str) -> Any:
    """A session as the rows of its file; long rows are packed in the database."""
    statement = "SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ? ORDER BY seq"
    texts = (row.get("event_json") or query.unpacked(row["event_zstd"]) for row in query.rows(statement, id_))
    return Rows([query.json(text) for text in texts])


# ---------------------------------------------------------------- Cursor

_LENGTH, _HASH = 2, 32
"""The wire type of Protobuf for bytes, and the size of the id of a blob."""


def _cursor_record(query: Query) -> dict[str, Any]:
    """The record of an agent: JSON, usually in hexadecimal digits."""
    [row] = query.rows("SELECT value FROM meta WHERE key = '0'")
    value = row["value"]
    record = query.json(value if value.startswith("{") else bytes.fromhex(value))
    return record if isinstance(record, dict) else {}


def _cursor_ids(query: Query) -> list[Any]:
    return [_cursor_record(query).get("agentId")]


def _cursor(query: Query, id_: str) -> Any:
    """A session of the command line program: the record of its agent, and its messages.

    The root names the messages in order. Without it, the order is that in which they were stored."""
    record = _cursor_record(query)
    select = "SELECT data FROM blobs WHERE id = ?"
    root = [row["data"] for row in query.rows(select, str(record.get("latestRootBlobId")))]
    ids = [id_ for data in root for id_ in _blob_ids(data)]
    rows = [row for id_ in ids for row in query.rows(select, id_)]
    messages = _cursor_messages(query, rows)
    return {
        **record,
        "messages": messages or _cursor_messages(query, query.rows("SELECT data FROM blobs ORDER BY rowid")),
    }


def _cursor_messages(query: Query, rows: Iterable[dict[str, Any]]) -> list[Any]:
    """Returns the blobs that are JSON of a message; others are the state of the agent."""
    blobs = [row["data"] for row in rows if "data" in row]
    texts = [blob for blob in blobs if blob[:1] in ("{", b"{")]
    return [message for text in texts if "role" in (message := query.json(text))]


def _blob_ids(data: bytes) -> list[str]:
    """Returns the ids in field 1 of a Protobuf message; none if it is not one."""
    ids: list[str] = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == _LENGTH:
            size, at = _varint(data, at)
            if tag >> 3 == 1 and size == _HASH:
                ids.append(data[at : at + size].hex())
            at += size
        elif tag & 7 == 0:
            _, at = _varint(data, at)
        else:
            at += 8 if tag & 7 == 1 else 4
    return ids


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns the number at an offset of a Protobuf message, and the offset behind it."""
    number = shift = 0
    while at < len(data):
        byte = data[at]
        number, shift, at = number | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80 or shift > 63:
            break
    return number, at


_COMPOSERS = """
SELECT substr(key, 14) AS id FROM cursorDiskKV AS composer
WHERE key > 'composerData:' AND key < 'composerData;' AND (
    EXISTS (
        SELECT 1 FROM cursorDiskKV AS bubble
        WHERE bubble.key > 'bubbleId:' || substr(composer.key, 14) || ':'
        AND bubble.key < 'bubbleId:' || substr(composer.key, 14) || ';'
    )
    OR instr(CAST(value AS TEXT), '"conversation":[{')
) ORDER BY rowid
"""
"""The sessions with messages: the editor also stores those that never began."""


def _cursor_editor(query: Query, id_: str) -> Any:
    """A session of the editor, with its bubbles in order."""
    [row] = query.rows("SELECT value FROM cursorDiskKV WHERE key = ?", f"composerData:{id_}")
    composer = query.json(row["value"])
    if composer.get("conversation"):
        return composer
    order = {header.get("bubbleId"): n for n, header in enumerate(composer.get("fullConversationHeadersOnly") or ())}
    statement = "SELECT value FROM cursorDiskKV WHERE key > ? AND key < ? ORDER BY rowid"
    values = query.rows(statement, f"bubbleId:{id_}:", f"bubbleId:{id_};")
    bubbles = [query.json(row["value"]) for row in values if "value" in row]
    kept = [bubble for bubble in bubbles if not order or bubble.get("bubbleId") in order]
    return {**composer, "bubbles": sorted(kept, key=lambda bubble: order.get(bubble.get("bubbleId"), 0))}


# ---------------------------------------------------------------- Zed


def _zed(query: Query, id_: str) -> Any:
    """A thread, with the columns that it does not repeat."""
    [row] = query.rows("SELECT * FROM threads WHERE id = ?", id_)
    data = row["data"]
    thread = query.json(query.unpacked(data) if row["data_type"] == "zstd" else data)
    columns = {name: row[name] for name in ("id", "parent_id", "folder_paths", "created_at") if name in row}
    return {**columns, **thread}


# ---------------------------------------------------------------- Crush


def _crush(query: Query, id_: str) -> Any:
    """A session: the columns of its row, and its messages, whose parts are read."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    rows = query.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid", id_)
    return {**row, "messages": [{**one, "parts": query.json(one["parts"])} for one in rows]}


# ---------------------------------------------------------------- Hermes Agent

_HERMES_CONTENT = "\0json:"
"""The begin of a content that is JSON, not text."""


def _hermes(query: Query, id_: str) -> Any:
    """A session as `hermes sessions export` prints it: without messages that were rewound or compacted."""
    [row] = query.rows("SELECT * FROM sessions WHERE id = ?", id_)
    rows = query.rows("SELECT * FROM messages WHERE session_id = ? AND active = 1 ORDER BY id", id_)
    return {**row, "messages": [_hermes_message(query, one) for one in rows]}


def _hermes_message(query: Query, row: dict[str, Any]) -> Any:
    content, calls = row.get("content"), row.get("tool_calls")
    if isinstance(content, str) and content.startswith(_HERMES_CONTENT):
        row["content"] = query.json(content.removeprefix(_HERMES_CONTENT))
    return row if calls is None else {**row, "tool_calls": query.json(calls)}


# ---------------------------------------------------------------- llm

_LLM_TURNS = """
SELECT turns.*, threads.name AS conversation_name, schemas.content AS schema_json FROM turns
LEFT JOIN threads ON threads.id = thread_id LEFT JOIN schemas ON schemas.id = schema_id
WHERE thread_id = ? ORDER BY turns.id
"""
_LLM_CHAINS = """
WITH RECURSIVE chain(hash) AS (
    SELECT tip_message_hash FROM turns WHERE thread_id = ?
    UNION SELECT parent_hash FROM messages JOIN chain USING (hash) WHERE parent_hash IS NOT NULL
)
SELECT messages.* FROM messages JOIN chain USING (hash)
"""
_LLM_JSON = ("prompt_json", "options_json", "response_json", "schema_json", "token_details", "provider_metadata")
_LLM_OLD = """
SELECT responses.*, conversations.name AS conversation_name, conversations.model AS conversation_model
FROM responses LEFT JOIN conversations ON conversations.id = conversation_id
WHERE conversation_id = ? ORDER BY responses.id
"""


def _llm(query: Query, id_: str) -> Any:
    """The turns of a conversation, with their messages; those of older versions as `llm logs --json` prints them."""
    tables = query.tables()
    turns = list(query.rows(_LLM_TURNS, id_)) if "turns" in tables else []
    stored = {row["hash"]: row for row in query.rows(_LLM_CHAINS, id_)} if turns else {}
    rows = {row["id"]: _llm_turn(query, row, stored) for row in turns}
    older = list(query.rows(_LLM_OLD, id_)) if "responses" in tables else []
    rows |= {row["id"]: _llm_response(query, row, tables) for row in older if row["id"] not in rows}
    return Rows([rows[key] for key in sorted(rows)])


def _llm_turn(query: Query, row: dict[str, Any], stored: dict[str, Any]) -> Any:
    """A turn, with the messages since the answer before it, and the instruction."""
    parent, tip = row.pop("parent_message_hash", None), row.pop("tip_message_hash", None)
    before, new = list(_llm_chain(parent, stored)), list(_llm_chain(tip, stored))
    asked = list(takewhile(lambda message: message["role"] in ("user", "tool"), before))
    answered = takewhile(lambda message: message["hash"] != parent, new)
    system = before[-1] if before and before[-1]["role"] == "system" else None
    parts = [] if system is None else _llm_parts(query, system["hash"])
    messages = [_llm_message(query, one) for one in (*reversed(asked), *reversed(list(answered)))]
    tools = query.rows("SELECT tools.* FROM turn_tools JOIN tools ON tools.id = tool_id WHERE turn_id = ?", row["id"])
    native = {"conversation_id": row.pop("thread_id"), **_llm_read(query, row)}
    native |= {"system": "".join(part.get("text", "") for part in parts)} if parts else {}
    return {**native, "tools": [_llm_tool(query, tool) for tool in tools], "messages": messages}


def _llm_chain(tip: Any, stored: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields a message and those before it, the last first. In a damaged database they can form a circle."""
    passed = set[Any]()
    while tip in stored and tip not in passed:
        passed.add(tip)
        yield stored[tip]
        tip = stored[tip].get("parent_hash")


def _llm_message(query: Query, row: dict[str, Any]) -> Any:
    kept = {key: value for key, value in _llm_read(query, row).items() if key in ("role", "provider_metadata")}
    return {**kept, "parts": _llm_parts(query, row["hash"])}


def _llm_parts(query: Query, hash_: str) -> list[Any]:
    """The parts of a message, with the fragments and files that they name."""
    rows = query.rows("SELECT type, text, payload FROM parts WHERE message_hash = ? ORDER BY position", hash_)
    return [_llm_part(query, row, query.json(row.pop("payload", "{}"))) for row in rows]


def _llm_part(query: Query, row: dict[str, Any], payload: dict[str, Any]) -> Any:
    pieces = payload.pop("text_ref", ())
    if pieces:
        row["text"] = "".join(piece.get("literal") or _llm_fragment(query, piece.get("fragment")) for piece in pieces)
    part = {**row, **payload}
    if "attachment" in part:
        part["attachment"] = _llm_file(query, part["attachment"])
    if "attachments" in part:
        part["attachments"] = [_llm_file(query, one) for one in part["attachments"]]
    return part


def _llm_fragment(query: Query, id_: Any) -> str:
    return "".join(row["content"] for row in query.rows("SELECT content FROM fragments WHERE id = ?", id_))


def _llm_file(query: Query, named: dict[str, Any]) -> Any:
    """An attachment, with its content in base64."""
    rows = query.rows("SELECT * FROM attachments WHERE id = ?", named.get("id"))
    return next(map(_llm_content, rows), named)


def _llm_content(row: dict[str, Any]) -> dict[str, Any]:
    content = row.get("content")
    return {**row, "content": b64encode(content).decode()} if isinstance(content, bytes) else row


def _llm_tool(query: Query, row: dict[str, Any]) -> Any:
    return {**row, "input_schema": query.json(row.get("input_schema") or "{}")}


def _llm_read(query: Query, row: dict[str, Any]) -> dict[str, Any]:
    return {key: query.json(value) if key in _LLM_JSON else value for key, value in row.items()}


_LLM_RELATED = {
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


def _llm_response(query: Query, row: dict[str, Any], tables: set[str]) -> Any:
    """A turn as older versions stored it."""
    related: dict[str, list[dict[str, Any]]] = {
        table: list(query.rows(statement, row["id"])) if table in tables else []
        for table, statement in _LLM_RELATED.items()
    }
    related["tools"] = [_llm_tool(query, tool) for tool in related.pop("tool_responses")]
    related["attachments"] = [_llm_content(one) for one in related.pop("prompt_attachments")]
    for call in related["tool_calls"]:
        call["arguments"] = query.json(call.get("arguments") or "{}")
    for one in (*related["tool_calls"], *related["tool_results"]):
        one.pop("response_id", None)
    return {**_llm_read(query, row), **{key: value for key, value in related.items() if value}}


_LLM_OLD_IDS = "SELECT DISTINCT conversation_id AS id FROM responses"

# ---------------------------------------------------------------- Kiro and Amazon Q

_KIRO = "SELECT conversation_id AS id FROM conversations_v2 GROUP BY conversation_id ORDER BY MIN(rowid)"


def _kiro(query: Query, id_: str) -> Any:
    """A conversation as `/save` writes it: the latest state of it in any directory."""
    statement = "SELECT value FROM conversations_v2 WHERE conversation_id = ? ORDER BY updated_at DESC LIMIT 1"
    [row] = query.rows(statement, id_)
    return query.json(row["value"])


def _amazon_q(query: Query, id_: str) -> Any:
    """The conversation of a directory."""
    [row] = query.rows("SELECT value FROM conversations WHERE key = ?", id_)
    return query.json(row["value"])


# ---------------------------------------------------------------- all programs

_PROGRAMS = (
    ProgramDatabase(("sessions", "messages", "files"), _column("SELECT id FROM sessions ORDER BY rowid"), _crush),
    ProgramDatabase(("sessions", "messages", "state_meta"), _column("SELECT id FROM sessions ORDER BY rowid"), _hermes),
    ProgramDatabase(("sessions", "messages"), _column("SELECT id FROM sessions ORDER BY rowid"), _goose),
    ProgramDatabase(("session", "message", "part"), _column("SELECT id FROM session ORDER BY rowid"), _opencode),
    ProgramDatabase(
        ("transcript_events", "session_windows"),
        _column("SELECT session_id AS id FROM transcript_events GROUP BY session_id ORDER BY MIN(rowid)"),
        _openclaw,
    ),
    ProgramDatabase(
        ("threads", "turns", "responses"),
        _column(f"SELECT DISTINCT thread_id AS id FROM turns UNION {_LLM_OLD_IDS} ORDER BY id"),
        _llm,
    ),
    ProgramDatabase(("responses", "conversations"), _column(f"{_LLM_OLD_IDS} ORDER BY id"), _llm),
    ProgramDatabase(("threads",), _column("SELECT id FROM threads WHERE data IS NOT NULL ORDER BY rowid"), _zed),
    ProgramDatabase(("conversations_v2",), _column(_KIRO), _kiro),
    ProgramDatabase(
        ("conversations", "state"), _column("SELECT key AS id FROM conversations ORDER BY rowid"), _amazon_q
    ),
    ProgramDatabase(("blobs", "meta"), _cursor_ids, _cursor),
    ProgramDatabase(("cursorDiskKV",), _column(_COMPOSERS), _cursor_editor),
)


def program_with(query: Query) -> ProgramDatabase | None:
    """Returns the program that has such a database."""
    tables = query.tables()
    return next((one for one in _PROGRAMS if tables.issuperset(one.tables)), None)
