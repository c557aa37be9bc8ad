"""The rows of a session of Qwen Code: what each is, what all of them say alike, and which messages share one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convcli.kit.envelopes import Envelope
from convcli.kit.grouping import are_of_user
from convcli.kit.ids import uuid_of
from convcli.kit.objects import Native, carried_by
from convcli.model.transcript import Message, ToolResult

NAME = "qwen-code"
TYPES = ("user", "assistant", "tool_result")
ROLES = ("user", "model")
"""Those of a content; the program goes on with no session that has another."""
USUAL = ("sessionId", "cwd", "version", "gitBranch")
"""What the rows of a session say alike."""
COMPRESSION, TITLE = "chat_compression", "custom_title"
UNSENT = "realtime_message"
"""A row of a spoken conversation, which the program shows and does not send."""
ASIDE = (
    *("session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot"),
    *("managed_session_header_v1", "managed_session_event_v1", "managed_session_commit_v1"),
)
"""Rows that stand beside the tree, by their subtype: no branch ends with one."""
FIELDS = {"uuid": "id", "parentUuid": "parent_id", "timestamp": "created_at"}
_ORDER = "uuid parentUuid sessionId timestamp type subtype cwd version gitBranch model"
EVENT = Envelope("uuid parentUuid timestamp", FIELDS)
ROW = Envelope(
    f"{_ORDER} message usageMetadata systemPayload toolCallResult",
    {**FIELDS, "model": "model"},
    content="message usageMetadata toolCallResult type",
)
COMPRESSED = Envelope(f"{_ORDER} systemPayload", FIELDS, content="type subtype systemPayload")


def is_message(row: Any) -> bool:
    """Does the row hold a turn that a model was sent, or its answer?"""
    message = row.get("message") if isinstance(row, dict) and row.get("type") in TYPES else None
    parts = message.get("parts") if isinstance(message, dict) and row.get("subtype") != UNSENT else None
    return isinstance(parts, list) and all(isinstance(part, dict) for part in parts)


def contents_of(row: Any) -> list[Native]:
    """Of the row of a compaction what the model sees from there on; none of any other row."""
    if not isinstance(row, dict) or (row.get("type"), row.get("subtype")) != ("system", COMPRESSION):
        return []
    contents = (row.get("systemPayload") or {}).get("compressedHistory") or []
    return contents if all(map(_is_content, contents)) else []


def _is_content(content: Any) -> bool:
    parts = content.get("parts") if isinstance(content, dict) and content.get("role") in ROLES else None
    return isinstance(parts, list) and all(isinstance(part, dict) for part in parts)


def is_aside(row: Any) -> bool:
    """Does the row stand beside the tree?"""
    return isinstance(row, dict) and row.get("type") == "system" and row.get("subtype") in ASIDE


def type_of(role: str, is_answer: bool) -> str:
    """The type of a row whose first message has this role; `is_answer`: one of its messages is a result."""
    return "assistant" if role == "assistant" else "tool_result" if is_answer else "user"


def role_of(kind: str) -> str:
    """The role of the content of a row of this type."""
    return "model" if kind == "assistant" else "user"


def shown(result: ToolResult) -> str | None:
    """What the screen shows of a result."""
    return result.value if result.kind in ("text", "error") else None


def usual(rows: Sequence[Any]) -> dict[str, tuple[int, str]]:
    """What the first row that says it says of the session, by key, and which row that is."""
    said: dict[str, tuple[int, str]] = {}
    for i, row in enumerate(rows):
        for key in USUAL if isinstance(row, dict) and len(said) < len(USUAL) else ():
            value = row.get(key)
            if isinstance(value, str) and value:
                said.setdefault(key, (i, value))
    return said


# ---------------------------------------------------------------- titles


def title_of(rows: Sequence[Any]) -> tuple[int, str] | None:
    """The title that the program shows, and which row says it."""
    for i in reversed(range(len(rows))):
        row = rows[i]
        payload = row.get("systemPayload") if isinstance(row, dict) and row.get("subtype") == TITLE else None
        title = payload.get("customTitle") if isinstance(payload, dict) else None
        if isinstance(title, str) and title:
            return i, title
    return None


def title_row(title: str, said: Native, last: Any) -> Native | None:
    """The row of a title behind the last one of a session, which says nothing else; None where that has no id."""
    parent = last.get("uuid") if isinstance(last, dict) else None
    if not parent:
        return None
    uuid = uuid_of([said.get("sessionId"), parent, title])
    record = Message("event", [], id=uuid, parent_id=parent, created_at=last.get("timestamp"))
    payload = {"customTitle": title, "titleSource": "manual"}
    return ROW.write(record, {**said, "subtype": TITLE, "systemPayload": payload}, type="system")


# ---------------------------------------------------------------- which messages share a row


def row_of(record: Any, key: str = "row") -> Native:
    """What is carried of the row of a message, or of that which begins with a part (`line`)."""
    row: Native = carried_by(record.extras, NAME).get(key, {})
    return row


def continues(message: Message, before: Message, first: Message) -> bool:
    """Does a message say nothing that a row says, behind one of its row that has an id?"""
    if message.id is not None or not first.id or "event" in (message.role, first.role):
        return False
    beside = carried_by(message.extras, NAME).keys()
    bare = message == Message(message.role, message.parts, extras=message.extras)
    if first.replaces is not None:
        return bare and beside <= {"content"}
    result: Any = message.parts[0] if message.role == "tool" and message.parts else None
    is_settled = getattr(result, "status", None) is None  # the row says what became of its first result
    return bare and not beside and is_settled and are_of_user(before, message)
