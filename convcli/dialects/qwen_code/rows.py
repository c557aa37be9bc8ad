"""Qwen Code session rows: their kinds, their common values, and which messages share one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convcli.kit.envelopes import Envelope
from convcli.kit.grouping import are_of_user
from convcli.kit.ids import uuid_of
from convcli.kit.objects import Native, get_extras
from convcli.model.transcript import Message, ToolResult

NAME = "qwen-code"
TYPES = ("user", "assistant", "tool_result")
ROLES = ("user", "model")
"""The roles of a content; the program cannot resume a session with another role."""
USUAL = ("sessionId", "cwd", "version", "gitBranch")
"""The keys that a session's rows have in common."""
COMPRESSION, TITLE = "chat_compression", "custom_title"
UNSENT = "realtime_message"
"""A row of a spoken conversation, which the program shows but does not send."""
ASIDE = (
    *("session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot"),
    *("managed_session_header_v1", "managed_session_event_v1", "managed_session_commit_v1"),
)
"""Rows outside of the tree, by their subtype: no branch ends with one."""
_FRAME = "uuid=id parentUuid=parent_id sessionId timestamp=created_at type="
_ORIGIN = "cwd version gitBranch"
EVENT = Envelope("uuid=id parentUuid=parent_id timestamp=created_at")
ROW = Envelope(f"{_FRAME} subtype {_ORIGIN} model=model message= usageMetadata= systemPayload toolCallResult=")
COMPRESSED = Envelope(f"{_FRAME} subtype= {_ORIGIN} model systemPayload=")


def is_message(row: Any) -> bool:
    """True for a row with a message to a model, or its answer."""
    message = row.get("message") if isinstance(row, dict) and row.get("type") in TYPES else None
    parts = message.get("parts") if isinstance(message, dict) and row.get("subtype") != UNSENT else None
    return isinstance(parts, list) and all(isinstance(part, dict) for part in parts)


def contents_of(row: Any) -> list[Native]:
    """Returns the model's context after a compaction row; empty for any other row."""
    if not isinstance(row, dict) or (row.get("type"), row.get("subtype")) != ("system", COMPRESSION):
        return []
    contents = (row.get("systemPayload") or {}).get("compressedHistory") or []
    return contents if all(map(_is_content, contents)) else []


def _is_content(content: Any) -> bool:
    parts = content.get("parts") if isinstance(content, dict) and content.get("role") in ROLES else None
    return isinstance(parts, list) and all(isinstance(part, dict) for part in parts)


def is_aside(row: Any) -> bool:
    """True for a row outside of the tree."""
    return isinstance(row, dict) and row.get("type") == "system" and row.get("subtype") in ASIDE


def type_of(role: str, is_answer: bool) -> str:
    """Returns the type of a row by the role of its first message; `is_answer`: one of its messages is a result."""
    return "assistant" if role == "assistant" else "tool_result" if is_answer else "user"


def role_of(kind: str) -> str:
    """Returns the content role of a row of this type."""
    return "model" if kind == "assistant" else "user"


def shown(result: ToolResult) -> str | None:
    """Returns the text of a result that the screen shows."""
    return result.value if result.kind in ("text", "error") else None


def usual(rows: Sequence[Any]) -> dict[str, tuple[int, str]]:
    """Returns each common key's first row index and value in the session."""
    common: dict[str, tuple[int, str]] = {}
    for i, row in enumerate(rows):
        for key in USUAL if isinstance(row, dict) and len(common) < len(USUAL) else ():
            value = row.get(key)
            if isinstance(value, str) and value:
                common.setdefault(key, (i, value))
    return common


# ---------------------------------------------------------------- titles


def title_of(rows: Sequence[Any]) -> tuple[int, str] | None:
    """Returns the title that the program shows, with its row index."""
    for i in reversed(range(len(rows))):
        row = rows[i]
        payload = row.get("systemPayload") if isinstance(row, dict) and row.get("subtype") == TITLE else None
        title = payload.get("customTitle") if isinstance(payload, dict) else None
        if isinstance(title, str) and title:
            return i, title
    return None


def title_row(title: str, common: Native, last: Any) -> Native | None:
    """Returns a row with only the title, to follow a session's last row; None if the last row has no id."""
    parent = last.get("uuid") if isinstance(last, dict) else None
    if not parent:
        return None
    uuid = uuid_of([common.get("sessionId"), parent, title])
    record = Message("event", [], id=uuid, parent_id=parent, created_at=last.get("timestamp"))
    payload = {"customTitle": title, "titleSource": "manual"}
    return ROW.write(record, {**common, "subtype": TITLE, "systemPayload": payload}, type="system")


# ---------------------------------------------------------------- which messages share a row


def row_of(record: Any, key: str = "row") -> Native:
    """Returns a message's extras from its row, or (`line`) from the row that begins with a part."""
    row: Native = get_extras(record.extras, NAME).get(key, {})
    return row


def continues(message: Message, before: Message, first: Message) -> bool:
    """True if a message fits into the row of the messages before it, since it has no row values of its own."""
    if message.id is not None or not first.id or "event" in (message.role, first.role):
        return False
    other_keys = get_extras(message.extras, NAME).keys()
    bare = message == Message(message.role, message.parts, extras=message.extras)
    if first.replaces is not None:
        return bare and other_keys <= {"content"}
    result: Any = message.parts[0] if message.role == "tool" and message.parts else None
    is_settled = getattr(result, "status", None) is None  # the row has only the status of its first result
    return bare and not other_keys and is_settled and are_of_user(before, message)
