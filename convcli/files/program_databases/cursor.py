"""The databases of Cursor: that of an agent of its command line program, and that of its editor.

As other readers describe them: docs/formats/cursor.md and src/harness/cursor_desktop.rs of skillsynchq/txcript at
6699e3ed; read 2026-11-27."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column

_LENGTH, _HASH = 2, 32
"""The wire type of Protobuf for bytes, and the size of the id of a blob."""


def _record(query: Query) -> dict[str, Any]:
    """The record of an agent: JSON, usually in hexadecimal digits."""
    [row] = query.rows("SELECT value FROM meta WHERE key = '0'")
    value = row["value"]
    record = query.json(value if value.startswith("{") else bytes.fromhex(value))
    return record if isinstance(record, dict) else {}


def _ids_of_agent(query: Query) -> list[Any]:
    return [_record(query).get("agentId")]


def _session_of_agent(query: Query, id_: str) -> Any:
    """A session of the command line program: the record of its agent, and its messages.

    The root names the messages in order; others are those of earlier states. Without a root, the order is that in which
    they were stored."""
    record = _record(query)
    rows = query.rows("SELECT id, data FROM blobs ORDER BY rowid")
    blobs = {row["id"]: row["data"] for row in rows if "data" in row}
    root = blobs.get(str(record.get("latestRootBlobId")))
    ids = [id_ for id_ in (_blob_ids(root) if isinstance(root, bytes) else ()) if id_ in blobs]
    messages, listed = _messages(query, [blobs[id_] for id_ in ids]), set(ids)
    unlisted = _messages(query, [blob for id_, blob in blobs.items() if id_ not in listed])
    if not messages:
        return {**record, "messages": unlisted}
    return {**record, "messages": messages, **({"unlistedMessages": unlisted} if unlisted else {})}


def _messages(query: Query, blobs: Iterable[Any]) -> list[Any]:
    """Returns the blobs that are JSON of a message; others are the state of the agent."""
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


def _session_of_editor(query: Query, id_: str) -> Any:
    """A session of the editor, with its bubbles in order. Older versions stored them in the session; then those stored
    apart are others, unless they repeat one of these."""
    [row] = query.rows("SELECT value FROM cursorDiskKV WHERE key = ?", f"composerData:{id_}")
    composer = query.json(row["value"])
    conversation = composer.get("conversation") or []
    order = {header.get("bubbleId"): n for n, header in enumerate(composer.get("fullConversationHeadersOnly") or ())}
    statement = "SELECT value FROM cursorDiskKV WHERE key > ? AND key < ? ORDER BY rowid"
    values = query.rows(statement, f"bubbleId:{id_}:", f"bubbleId:{id_};")
    bubbles = [bubble for row in values if "value" in row and (bubble := query.json(row["value"])) not in conversation]
    kept = [one for one in bubbles if not conversation and (not order or one.get("bubbleId") in order)]
    unlisted = [one for one in bubbles if conversation or (order and one.get("bubbleId") not in order)]
    shown = {} if conversation else {"bubbles": sorted(kept, key=lambda one: order.get(one.get("bubbleId"), 0))}
    return {**composer, **shown, **({"unlistedBubbles": unlisted} if unlisted else {})}


OF_AGENT = ProgramDatabase(("blobs", "meta"), _ids_of_agent, _session_of_agent)
OF_EDITOR = ProgramDatabase(("cursorDiskKV",), column(_COMPOSERS), _session_of_editor)
