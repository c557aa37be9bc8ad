"""The databases of Cursor: that of an agent of its command line program, and that of its editor.

As other readers describe them: docs/formats/cursor.md and src/harness/cursor_desktop.rs of skillsynchq/txcript at
6699e3ed; read 2026-11-27."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, Row, column, is_blank

_RECORD, _BLOB, _VALUE = "meta.value", "blobs.data", "cursorDiskKV.value"
_HEADERS = "fullConversationHeadersOnly"
_LENGTH, _HASH = 2, 32
"""The wire type of Protobuf for bytes, and the size of the id of a blob."""


def _record(query: Query) -> Row:
    """The record of an agent: JSON, usually in hexadecimal digits. Raises ContentError that names it if it is none."""
    row: Row = next(query.rows("SELECT key, value FROM meta WHERE key = '0'"), {"key": "0"})
    value = row.get("value")
    if isinstance(value, str) and not is_blank(value) and not value.startswith("{"):
        try:
            row["value"] = bytes.fromhex(value)
        except ValueError:
            raise query.wrong(row, _RECORD, "is neither JSON nor hexadecimal digits") from None
    record = query.object(row, _RECORD)
    if not isinstance(record.get("agentId"), str):
        raise query.wrong(row, _RECORD, "does not name the agent by a string", where="/agentId")
    return record


def _ids_of_agent(query: Query) -> list[Any]:
    return [_record(query)["agentId"]]


def _session_of_agent(query: Query, id_: str) -> Any:
    """A session of the command line program: the record of its agent, and its messages.

    The root names the messages in order; others are those of earlier states. Without a root, the order is that in which
    they were stored."""
    record = _record(query)
    blobs = {row["id"]: row for row in query.rows("SELECT id, data FROM blobs ORDER BY rowid") if "data" in row}
    root = blobs.get(str(record.get("latestRootBlobId")), {}).get("data")
    ids = dict.fromkeys(id_ for id_ in (_blob_ids(root) if isinstance(root, bytes) else ()) if id_ in blobs)
    texts = {id_: row for id_, row in blobs.items() if row["data"][:1] in ("{", b"{")}
    listed = [query.object(texts[id_], _BLOB) for id_ in ids if id_ in texts]
    others = [row for id_, row in texts.items() if id_ not in ids]
    messages = list(filter(_is_message, listed))
    if not messages:
        return {**record, "messages": list(filter(_is_message, (query.object(row, _BLOB) for row in others)))}
    unlisted = list(filter(_is_message, (query.optional(row, _BLOB) for row in others)))
    return {**record, "messages": messages, **({"unlistedMessages": unlisted} if unlisted else {})}


def _is_message(value: Any) -> bool:
    """True unless it is the state of the agent. What cannot be read may be a message."""
    return not isinstance(value, dict) or "role" in value


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
    row = next(query.rows("SELECT key, value FROM cursorDiskKV WHERE key = ?", f"composerData:{id_}"))
    composer = query.object(row, _VALUE)
    headers, conversation = (_objects(query, row, composer, key) for key in (_HEADERS, "conversation"))
    order = {header.get("bubbleId"): n for n, header in enumerate(headers)}
    statement = "SELECT key, value FROM cursorDiskKV WHERE key > ? AND key < ? ORDER BY rowid"
    rows = [row for row in query.rows(statement, f"bubbleId:{id_}:", f"bubbleId:{id_};") if "value" in row]
    if conversation:
        unlisted = [bubble for row in rows if (bubble := query.optional(row, _VALUE)) not in conversation]
        return {**composer, **({"unlistedBubbles": unlisted} if unlisted else {})}
    shown, unlisted = list[Row](), list[Any]()
    for bubble in (_bubble(query, row, order) for row in rows):
        is_shown = isinstance(bubble, dict) and (not order or bubble.get("bubbleId") in order)
        (shown if is_shown else unlisted).append(bubble)
    shown.sort(key=lambda one: order.get(one.get("bubbleId"), 0))
    return {**composer, "bubbles": shown, **({"unlistedBubbles": unlisted} if unlisted else {})}


def _objects(query: Query, row: Row, composer: Row, key: str) -> list[Row]:
    """The objects of a list. Raises ContentError that names what is none."""
    items = composer.get(key) or []
    if not isinstance(items, list):
        raise query.wrong(row, _VALUE, "has a wrong type: this is no list", where=f"/{key}")
    wrong = next((i for i, item in enumerate(items) if not isinstance(item, dict)), None)
    if wrong is not None:
        raise query.wrong(row, _VALUE, "has a wrong type: this is no object", where=f"/{key}/{wrong}")
    return items


def _bubble(query: Query, row: Row, order: Container[Any]) -> Any:
    """A bubble. One that the session does not name may be no JSON."""
    is_named = not order or row["key"].rpartition(":")[2] in order
    return query.object(row, _VALUE) if is_named else query.optional(row, _VALUE)


OF_AGENT = ProgramDatabase(("blobs", "meta"), _ids_of_agent, _session_of_agent)
OF_EDITOR = ProgramDatabase(("cursorDiskKV",), column(_COMPOSERS), _session_of_editor)
