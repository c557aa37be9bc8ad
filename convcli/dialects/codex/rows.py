"""The rows of a rollout: their kinds, and what they state about messages in other rows.

Rows for the screen repeat items (`screen`) or state a fact of a message: its model, its usage, or that a tool failed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.families.responses.items import CALLS, OUTPUTS, kind_of
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, get_extras, has_content, keep_apart, omit
from convcli.kit.sessions import Repeats
from convcli.kit.values import counts, is_count, read_arguments
from convcli.model.transcript import Message, Opaque, Path, ToolResult
from convcli.wire import exact_json

NAME = "codex"
ROW = Envelope("timestamp=created_at ordinal type= payload= metadata")
OF_ROW = ("type", "payload")
"""Keys that only rows have: the oldest files, which are one object, may have their own."""
BARE = ("timestamp", *OF_ROW)
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
NO_COUNTS = dict.fromkeys(COUNT_NAMES, 0)


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row: the path of its payload, its type, the payload, the row as an event keeps it, whether it has no other
    keys than its payload, and the type of its item; empty without one."""

    path: Path
    kind: str
    payload: Native
    native: Native
    is_bare: bool = False
    item: str = ""

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
    items = enumerate(document["items"])
    return [header, *(Row(("items", i), ITEM, item, item, item=kind_of(item)) for i, item in items)]


def _row(i: int, native: Native) -> Row:
    """Returns a row, without an ordinal that only counts the rows."""
    if "ordinal" in native and native["ordinal"] == i and type(native["ordinal"]) is int:
        native = omit(native, "ordinal")
    if "payload" in native:
        kind, payload = native["type"], native["payload"]
        is_bare = len(native) == len(BARE) and "timestamp" in native
        return Row((i, "payload"), kind, payload, native, is_bare, kind_of(payload) if kind == ITEM else "")
    if native.get("type") is not None or {"role", "content"} <= native.keys():
        return Row((i,), ITEM, native, native, item=kind_of(native))
    return Row((i,), META if {"id", "timestamp"} <= native.keys() else "mark", native, native)


def is_message(row: Row) -> bool:
    """True if the model sees the content of this row."""
    if row.kind == ITEM:
        return is_known(row.payload, row.item)
    # the schema leaves some payloads open
    return row.kind in (COMPACTED, BETWEEN_AGENTS) and row.payload.__class__ is dict


def is_known(item: Native, kind: str) -> bool:
    """True for an item of this type that Codex sends. It parses the others and never sends them."""
    return kind in KNOWN or (kind == "message" and "content" in item)


def is_of_answer(row: Row) -> bool:
    """True for an item of the assistant."""
    return row.item in ANSWER or (row.item == "message" and row.payload.get("role") == "assistant")


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
    if isinstance(content, str):
        return content
    return "".join([part["text"] for part in content if isinstance(part.get("text"), str)])


def is_turn(item: Native) -> bool:
    """True for a message item that the user wrote."""
    return item.get("role") == "user" and "content" in item and not _text(item).startswith(CONTEXT)


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
    urls = [] if isinstance(content, str) else [part["image_url"] for part in content if part.get("image_url")]
    if not text and not urls:
        return []
    return [{"type": "user_message", "message": text, "images": urls, "local_images": [], "text_elements": []}]


SHOWN = ("message", "reasoning")
"""The types of items that screen events repeat."""
SCREEN_TYPES = ("agent_reasoning", "agent_message", "user_message")
"""The types of the events of `screen`."""
COMPARED_KEYS = frozenset(("type", "message", "text", "images"))
REPEATED_KEYS = frozenset(("phase", "kind"))
"""The other keys of an event that may repeat an item."""
TEXTS = frozenset((str, type(None)))


def _key(event: Native) -> Hashable:
    """Returns an equal key for events with the same words and images."""
    get = event.get
    values = get("type"), get("message") or None, get("text") or None, get("images") or None
    return values if TEXTS.issuperset(map(type, values)) else exact_json.key([*values])


def repeated(rows: list[Row], gone: set[int]) -> dict[int, tuple[int, int]]:
    """Returns the rows that only repeat an item: the row of the item, and the number of its event.

    In a paginated history nothing counts as repeated, and these rows stay events.
    """
    if is_paginated(rows[0].payload if rows else {}):
        return {}
    shown = [
        (i, k, event)
        for i, row in enumerate(rows)
        if row.item in SHOWN and i not in gone
        for k, event in enumerate(screen(row.payload))
    ]
    repeats = Repeats([event for _, _, event in shown], _key)
    repeats_by_row: dict[int, tuple[int, int]] = {}
    for i, row in enumerate(rows):
        if row.kind != EVENT or not row.is_bare or row.payload.get("type") not in SCREEN_TYPES or i in gone:
            continue
        event = row.payload
        others = [key for key in event if key not in COMPARED_KEYS and has_content(event[key])]
        at = repeats.take(event) if REPEATED_KEYS.issuperset(others) else None
        if at is None:
            continue
        item, k, usual = shown[at]
        if not others or all(event[key] == usual.get(key, "plain" if key == "kind" else None) for key in others):
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


def counts_of(native: Any) -> dict[str, int]:
    """Returns the counts that a row states for the answer before it, by their keys there, without zeros."""
    event = event_of(native)
    if event.get("type") == "token_count":
        stated = (event.get("info") or {}).get("last_token_usage")
    else:
        stated = _payload(native, COUNTED).get("usage")
    counts: dict[str, int] = {}
    for key, count in stated.items() if stated else ():
        if count and key in COUNT_NAMES and is_count(count):
            counts[key] = int(count)
    return counts


def usage_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns the usage that these counts state."""
    return {COUNT_NAMES[key]: count for key, count in counts.items()}


def count_row(counts: Mapping[str, int], total: Mapping[str, int]) -> Native:
    """Returns the payload that states the counts of an answer, and of all answers so far."""
    sums, last = {**NO_COUNTS, **total}, {**NO_COUNTS, **counts}
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
    if not text.startswith("{"):  # most results
        return None
    value = read_arguments(text)[0]
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
    if not [row for row in rows if row.kind == EVENT and is_rollback(row.payload)]:
        return gone
    turns: list[int] = []
    for i, row in enumerate(rows):
        if row.item == "message" and is_turn(row.payload):
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
