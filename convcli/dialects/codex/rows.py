"""The rows of a rollout: their kinds, and what they state about messages in other rows.

Rows for the screen repeat items (`screen`) or state a fact of a message: its model, its usage, or that a tool failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.families.responses.items import CALLS, OUTPUTS, kind_of
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, get_extras, keep_apart, omit
from convcli.kit.sessions import Repeats
from convcli.kit.values import counts, is_count, read_arguments
from convcli.model.transcript import Message, Opaque, Path, ToolResult

NAME = "codex"
ROW = Envelope("timestamp=created_at ordinal type= payload= metadata")
OF_ROW = ("type", "payload")
"""Keys that only rows have: the oldest files, which are one object, may have their own."""
BARE = {"timestamp", *OF_ROW}
"""The keys of a row without other keys than its payload."""

ITEM, META, EVENT, TURN, COMPACTED = "response_item", "session_meta", "event_msg", "turn_context", "compacted"
COUNTED = "token_usage_record"
COUNTS = (EVENT, COUNTED)
"""The rows that may state the usage of the answer before them."""
BETWEEN_AGENTS = "inter_agent_communication"
HOSTED = ("web_search_call", "image_generation_call", "tool_search_call", "tool_search_output")
ANSWER = frozenset(("reasoning", "local_shell_call", *CALLS, *HOSTED))
WHOLE = frozenset(("agent_message", "compaction", "compaction_summary", "context_compaction", BETWEEN_AGENTS))
"""Items that the model sees and no one here wrote: opaque user messages."""
KNOWN = ANSWER | WHOLE | OUTPUTS
CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md")
"""How messages begin that Codex inserts before user messages."""
USAGE: dict[tuple[str, ...], str] = counts(
    "input_tokens=inputTokens cached_input_tokens=cacheReadTokens cache_write_input_tokens=cacheWriteTokens "
    "output_tokens=outputTokens reasoning_output_tokens=reasoningTokens total_tokens=totalTokens"
)
COUNT_NAMES = {path[0]: name for path, name in USAGE.items()}


class Row(NamedTuple):
    """A row: the path of its payload, its type, the payload, the row as an event keeps it, and whether it has no other
    keys than its payload."""

    path: Path
    kind: str
    payload: Native
    native: Native
    is_bare: bool = False

    @property
    def is_enveloped(self) -> bool:
        """True if the row wraps its payload. In the older generation only a session header may be wrapped."""
        return self.native is not self.payload

    @property
    def place(self) -> Path:
        """Returns the path of the row itself."""
        return self.path[:-1] if self.native is not self.payload else self.path

    def envelope(self) -> tuple[str | None, Native]:
        """Returns the time of the row, and its other keys."""
        if self.is_bare and isinstance(self.native["timestamp"], str):  # most rows
            return self.native["timestamp"] or None, {}
        if not self.is_enveloped:
            return None, {}
        message = Message("event", [])
        other_keys = ROW.lift(self.native, message)
        return message.created_at, other_keys or {}


def rows_of(document: Any) -> list[Row]:
    """Returns the rows of a rollout of either generation, or of a session with its items."""
    if isinstance(document, list):
        return [_row(i, native) for i, native in enumerate(document)]
    other_keys = keep_apart(omit(document, "session", "items"), OF_ROW)
    header = Row(("session",), META, document["session"], {**other_keys, "payload": document["session"]})
    return [header, *(Row(("items", i), ITEM, item, item) for i, item in enumerate(document["items"]))]


def _row(i: int, native: Native) -> Row:
    """Returns a row, without an ordinal that only counts the rows."""
    if native.get("ordinal") == i and type(native["ordinal"]) is int:
        native = omit(native, "ordinal")
    if "payload" in native:
        return Row((i, "payload"), native["type"], native["payload"], native, native.keys() == BARE)
    is_item = native.get("type") is not None or {"role", "content"} <= native.keys()
    is_header = not is_item and {"id", "timestamp"} <= native.keys()
    return Row((i,), ITEM if is_item else META if is_header else "mark", native, native)


def is_message(kind: str, payload: Native) -> bool:
    """True if the model sees the content of this row."""
    if kind == ITEM:
        return is_known(payload)
    return kind in (COMPACTED, BETWEEN_AGENTS) and payload.__class__ is dict  # the schema leaves some payloads open


def is_known(item: Native) -> bool:
    """True for an item that Codex sends. It parses the others and never sends them."""
    kind = kind_of(item)
    return kind in KNOWN or (kind == "message" and "content" in item)


def is_of_answer(row: Row) -> bool:
    """True for an item of the assistant."""
    kind = kind_of(row.payload)
    return row.kind == ITEM and (kind in ANSWER or (kind == "message" and row.payload.get("role") == "assistant"))


def own_row(message: Message) -> Any:
    """Returns the row of a Codex event; None for any other message."""
    part = message.parts[0] if message.role == "event" and len(message.parts) == 1 else None
    return part.value if isinstance(part, Opaque) and part.dialect == NAME and isinstance(part.value, dict) else None


def closes(native: Native) -> bool:
    """True if an answer ends at this row. Screen events can come between its items."""
    return "payload" not in native or native.get("type") not in COUNTS


# ---------------------------------------------------------------- rows that repeat items


def _text(item: Native) -> str:
    content = item["content"]
    texts = [content] if isinstance(content, str) else [part.get("text") for part in content]
    return "".join(text for text in texts if isinstance(text, str))


def is_turn(item: Native) -> bool:
    """True for a message that the user wrote."""
    is_user = item.get("role") == "user" and kind_of(item) == "message" and "content" in item
    return is_user and not _text(item).startswith(CONTEXT)


def screen(item: Native) -> list[Native]:
    """Returns the screen events that repeat an item."""
    kind = kind_of(item)
    if kind == "reasoning":
        texts = [piece.get("text") for piece in item.get("summary") or []]
        return [{"type": "agent_reasoning", "text": text} for text in texts if text]
    if kind != "message" or "content" not in item:
        return []
    text, content = _text(item), item["content"]
    if item["role"] == "assistant":
        phase = {"phase": item["phase"]} if item.get("phase") else {}
        return [{"type": "agent_message", "message": text, **phase}] if text else []
    if item["role"] != "user" or text.startswith(CONTEXT):
        return []
    urls = [] if isinstance(content, str) else [part.get("image_url") for part in content]
    shown = {"message": text, "images": [url for url in urls if url], "local_images": [], "text_elements": []}
    return [{"type": "user_message", **shown}] if text or shown["images"] else []


SCREEN_TYPES = ("agent_reasoning", "agent_message", "user_message")
"""The types of the events of `screen`."""
COMPARED_KEYS = ("type", "message", "text", "images")


def _key(event: Native) -> list[Any]:
    return [event.get(key) or None for key in COMPARED_KEYS]


def repeated(rows: list[Row], gone: set[int]) -> dict[int, tuple[int, int]]:
    """Returns the rows that only repeat an item: the row of the item, and the number of its event.

    In a paginated history nothing counts as repeated, and these rows stay events.
    """
    if is_paginated(rows[0].payload if rows else {}):
        return {}
    shown = [
        (i, k, event)
        for i, row in enumerate(rows)
        if row.kind == ITEM and i not in gone
        for k, event in enumerate(screen(row.payload))
    ]
    repeats = Repeats(_key(event) for _, _, event in shown)
    repeats_by_row: dict[int, tuple[int, int]] = {}
    for i, row in enumerate(rows):
        if row.kind != EVENT or not row.is_bare or row.payload.get("type") not in SCREEN_TYPES or i in gone:
            continue
        other_keys = {key: value for key, value in row.payload.items() if value and key not in COMPARED_KEYS}
        at = repeats.take(_key(row.payload)) if other_keys.keys() <= {"phase", "kind"} else None
        if at is None:
            continue
        item, k, event = shown[at]
        if all(other == ("plain" if key == "kind" else event.get(key)) for key, other in other_keys.items()):
            repeats_by_row[i] = item, k
    return repeats_by_row


def is_paginated(header: Native) -> bool:
    """True if the rows are numbered, and older events are ignored."""
    return header.get("history_mode") == "paginated"


# ---------------------------------------------------------------- facts that rows state


def _payload(native: Any, kind: str) -> Native:
    """Returns the payload of a row of this kind; an empty object for any other."""
    payload = native.get("payload") if isinstance(native, dict) and native.get("type") == kind else None
    return payload if isinstance(payload, dict) else {}


def model_of(native: Any) -> str | None:
    """Returns the model that a row states for later answers."""
    return _payload(native, TURN).get("model") or None


def usage_of(native: Any) -> dict[str, int]:
    """Returns the usage that a row states for the answer before it, without zero counts."""
    event = event_of(native)
    if event.get("type") == "token_count":
        stated = (event.get("info") or {}).get("last_token_usage")
    else:
        stated = _payload(native, COUNTED).get("usage")
    known = ((COUNT_NAMES[key], count) for key, count in (stated or {}).items() if count and key in COUNT_NAMES)
    return {name: int(count) for name, count in known if is_count(count)}


def count_row(usage: Mapping[str, int], total: Mapping[str, int]) -> Native:
    """Returns the payload that states the usage of an answer, and of all answers so far."""
    sums = {key: total.get(name, 0) for key, name in COUNT_NAMES.items()}
    last = {key: usage.get(name, 0) for key, name in COUNT_NAMES.items()}
    info = {"total_token_usage": sums, "last_token_usage": last, "model_context_window": None}
    return {"type": "token_count", "info": info, "rate_limits": None}


def failed_ids(payloads: Iterable[Any]) -> set[str]:
    """Returns the ids of the calls whose failure an event states, by its payload."""
    failed: set[str] = set()
    for payload in payloads:
        if not isinstance(payload, dict):
            continue
        inner = payload.get("item")
        item, key = (inner, "id") if isinstance(inner, dict) else (payload, "call_id")
        if not isinstance(item.get(key), str):
            continue
        has_error = isinstance(item.get("result"), dict) and "Err" in item["result"]
        has_failed = item.get("status") == "failed" or item.get("exit_code") or item.get("success") is False
        was_run = item.get("status") != "declined"  # a declined command has the exit code -1
        if was_run and (has_failed or has_error):
            failed.add(item[key])
    return failed


def as_stated(result: ToolResult, failed: set[str]) -> ToolResult:
    """Returns the result marked as failed if an event or the exit code in its value states a failure."""
    if result.tool_call_id not in failed and not (result.kind == "text" and _exit_code(result.value)):
        return result
    if result.kind == "text":
        return replace(result, kind="error")
    return replace(result, is_error=True) if result.kind == "multimodal" else result


def _exit_code(text: str) -> Any:
    value = read_arguments(text)[0] if text.startswith("{") else {}
    metadata = value.get("metadata") if value.keys() == {"output", "metadata"} else None
    return metadata.get("exit_code") if isinstance(metadata, dict) else None


def event_of(native: Any) -> Native:
    """Returns the payload of an event row; an empty object for any other."""
    return _payload(native, EVENT)


def is_rollback(event: Any) -> bool:
    """True if an event rolls turns back, by its payload."""
    return isinstance(event, dict) and event.get("type") == "thread_rolled_back"


def rolled_back(rows: list[Row]) -> set[int]:
    """Returns the rows of turns that the user rolled back: the last `num_turns` that still count."""
    gone: set[int] = set()
    if not any(row.kind == EVENT and is_rollback(row.payload) for row in rows):
        return gone
    turns: list[int] = []
    for i, row in enumerate(rows):
        if row.kind == ITEM and is_turn(row.payload):
            turns.append(i)
        elif row.kind == EVENT and is_rollback(row.payload):
            count = min(row.payload.get("num_turns") or 0, len(turns))
            if count > 0:
                gone |= set(range(turns[-count], i))
                del turns[-count:]
    return gone


ROW_KEYS = ("row", "messageRow")


def row_extras_of(message: Any) -> Native:
    """Returns the row extras of a message or a part."""
    extra = get_extras(message.extras, NAME)
    other_keys: Native = next((extra[key] for key in ROW_KEYS if key in extra), {})
    return other_keys


def in_compaction(message: Message) -> bool:
    """True if the message is in the row of a compaction."""
    return message.replaces is not None or bool(row_extras_of(message).get("compacted"))
