"""The rows of a rollout: what each is, and what it says of messages that stand in others.

Rows for the screen repeat items (`screen`) or state a fact of a message: its model, its usage, or that a tool failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.families.responses.items import CALLS, OUTPUTS, kind_of
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, carried_by, omit
from convcli.kit.sessions import Repeats
from convcli.kit.values import counts, read_arguments, take_counts
from convcli.model.transcript import Message, Opaque, Path, ToolResult

NAME = "codex"
ROW = Envelope("timestamp ordinal type payload metadata", {"timestamp": "created_at"}, content="type payload")
BARE = {"timestamp", "type", "payload"}
"""The keys of a row that says nothing beside its payload."""

ITEM, META, EVENT, TURN, COMPACTED = "response_item", "session_meta", "event_msg", "turn_context", "compacted"
BETWEEN_AGENTS = "inter_agent_communication"
HOSTED = ("web_search_call", "image_generation_call", "tool_search_call", "tool_search_output")
ANSWER = frozenset(("reasoning", "local_shell_call", *CALLS, *HOSTED))
WHOLE = frozenset(("agent_message", "compaction", "compaction_summary", "context_compaction", BETWEEN_AGENTS))
"""What the model is shown though nobody here said it: opaque words of the user."""
KNOWN = ANSWER | WHOLE | OUTPUTS
CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md")
"""How messages begin that the program puts before the words of the user."""
USAGE: dict[tuple[str, ...], str] = counts(
    "input_tokens=inputTokens cached_input_tokens=cacheReadTokens cache_write_input_tokens=cacheWriteTokens "
    "output_tokens=outputTokens reasoning_output_tokens=reasoningTokens total_tokens=totalTokens"
)


class Row(NamedTuple):
    """A row: where its payload stands, its type, the payload, and the row as an event keeps it."""

    path: Path
    kind: str
    payload: Native
    native: Native

    @property
    def is_enveloped(self) -> bool:
        """Does anything stand around the payload? In the older generation only around the header of a session."""
        return self.native is not self.payload

    @property
    def place(self) -> Path:
        """Where the row itself stands."""
        return self.path[:-1] if self.is_enveloped else self.path

    def envelope(self) -> tuple[str | None, Native]:
        """The time of the row, and what it says beside that and its payload."""
        message = Message("event", [])
        beside = ROW.lift(self.native, message) if self.is_enveloped else None
        return message.created_at, beside or {}

    def is_bare(self) -> bool:
        """Does it say nothing beside its payload?"""
        return self.native.keys() == BARE


def rows_of(document: Any) -> list[Row]:
    """The rows of a rollout of either generation, or of a session with its items."""
    if isinstance(document, list):
        return [_row(i, native) for i, native in enumerate(document)]
    beside = omit(document, "session", "items")
    header = Row(("session",), META, document["session"], {**beside, "payload": document["session"]})
    return [header, *(Row(("items", i), ITEM, item, item) for i, item in enumerate(document["items"]))]


def _row(i: int, native: Native) -> Row:
    """An ordinal that counts the rows says nothing."""
    if native.get("ordinal") == i and type(native["ordinal"]) is int:
        native = omit(native, "ordinal")
    if "payload" in native:
        return Row((i, "payload"), native["type"], native["payload"], native)
    is_item = native.get("type") is not None or {"role", "content"} <= native.keys()
    is_header = not is_item and {"id", "timestamp"} <= native.keys()
    return Row((i,), ITEM if is_item else META if is_header else "mark", native, native)


def is_message(kind: str, payload: Native) -> bool:
    """Does the model see what this row holds?"""
    return kind in (COMPACTED, BETWEEN_AGENTS) or (kind == ITEM and is_known(payload))


def is_known(item: Native) -> bool:
    """Is it an item that Codex sends? The others it parses and never sends."""
    kind = kind_of(item)
    return kind in KNOWN or (kind == "message" and "content" in item)


def is_of_answer(row: Row) -> bool:
    """Is it an item of the assistant?"""
    kind = kind_of(row.payload)
    return row.kind == ITEM and (kind in ANSWER or (kind == "message" and row.payload.get("role") == "assistant"))


def own_row(message: Message) -> Any:
    """The row of an event of this dialect; None for any other message."""
    part = message.parts[0] if message.role == "event" and len(message.parts) == 1 else None
    return part.value if isinstance(part, Opaque) and part.dialect == NAME and isinstance(part.value, dict) else None


def closes(native: Native) -> bool:
    """Does an answer end at this row? Those for the screen stand between its items."""
    return "payload" not in native or native.get("type") not in (EVENT, "token_usage_record")


# ---------------------------------------------------------------- rows that repeat items


def _text(item: Native) -> str:
    content = item["content"]
    texts = [content] if isinstance(content, str) else [part.get("text") for part in content]
    return "".join(text for text in texts if isinstance(text, str))


def is_turn(item: Native) -> bool:
    """Is it something that the user said?"""
    is_user = item.get("role") == "user" and kind_of(item) == "message" and "content" in item
    return is_user and not _text(item).startswith(CONTEXT)


def screen(item: Native) -> list[Native]:
    """The events by which the screen shows an item once more."""
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
    if not is_turn(item):
        return []
    urls = [] if isinstance(content, str) else [part.get("image_url") for part in content]
    shown = {"message": text, "images": [url for url in urls if url], "local_images": [], "text_elements": []}
    return [{"type": "user_message", **shown}] if text or shown["images"] else []


SAYING = ("type", "message", "text", "images")


def _key(event: Native) -> list[Any]:
    return [event.get(key) or None for key in SAYING]


def repeated(rows: list[Row], gone: set[int]) -> dict[int, tuple[int, int]]:
    """The rows that say nothing but what an item says: the row of the item, and which of its events they are.

    In a paginated history they do not count, and stay what they are.
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
    found: dict[int, tuple[int, int]] = {}
    for i, row in enumerate(rows):
        if row.kind != EVENT or i in gone or not row.is_bare():
            continue
        beside = {key: value for key, value in row.payload.items() if value and key not in SAYING}
        at = repeats.take(_key(row.payload)) if beside.keys() <= {"phase", "kind"} else None
        if at is not None and {"kind": "plain", **shown[at][2], **beside} == {"kind": "plain", **shown[at][2]}:
            found[i] = shown[at][:2]
    return found


def is_paginated(header: Native) -> bool:
    """Are the rows numbered, and the events of the older kind ignored?"""
    return header.get("history_mode") == "paginated"


# ---------------------------------------------------------------- facts that rows state


def _payload(native: Any, kind: str) -> Native:
    """The payload of a row of this kind; empty of any other."""
    payload = native.get("payload") if isinstance(native, dict) and native.get("type") == kind else None
    return payload if isinstance(payload, dict) else {}


def model_of(native: Any) -> str | None:
    """The model of the answers behind this row."""
    return _payload(native, TURN).get("model") or None


def usage_of(native: Any) -> dict[str, int]:
    """What the answer before this row cost; a count of zero is no count."""
    event, counts = _payload(native, EVENT), _payload(native, "token_usage_record").get("usage")
    if event.get("type") == "token_count":
        counts = (event.get("info") or {}).get("last_token_usage")
    return {name: count for name, count in take_counts(counts or {}, USAGE)[0].items() if count}


def count_row(usage: Mapping[str, int], total: Mapping[str, int]) -> Native:
    """The payload that states what an answer cost, and all answers so far."""
    sums, last = ({path[0]: counts.get(name, 0) for path, name in USAGE.items()} for counts in (total, usage))
    info = {"total_token_usage": sums, "last_token_usage": last, "model_context_window": None}
    return {"type": "token_count", "info": info, "rate_limits": None}


def failed_ids(natives: Iterable[Any]) -> set[str]:
    """The ids of the calls whose failure an event states."""
    failed: set[str] = set()
    for payload in filter(None, (_payload(native, EVENT) for native in natives)):
        inner = payload.get("item")
        item, key = (inner, "id") if isinstance(inner, dict) else (payload, "call_id")
        has_error = isinstance(item.get("result"), dict) and "Err" in item["result"]
        has_failed = item.get("status") == "failed" or item.get("exit_code") or item.get("success") is False
        was_run = item.get("status") != "declined"  # such a command has the exit code -1
        if was_run and (has_failed or has_error) and isinstance(item.get(key), str):
            failed.add(item[key])
    return failed


def as_stated(result: ToolResult, failed: set[str]) -> ToolResult:
    """The result with its failure, where an event states it or the value has the exit code beside the output."""
    if result.tool_call_id not in failed and not (result.kind == "text" and _exit_code(result.value)):
        return result
    if result.kind == "text":
        return replace(result, kind="error")
    return replace(result, is_error=True) if result.kind == "multimodal" else result


def _exit_code(text: str) -> Any:
    value = read_arguments(text)[0] if text.startswith("{") else {}
    about = value.get("metadata") if value.keys() == {"output", "metadata"} else None
    return about.get("exit_code") if isinstance(about, dict) else None


def is_rollback(native: Any) -> bool:
    """Does the row take turns back?"""
    return _payload(native, EVENT).get("type") == "thread_rolled_back"


def taken_back(rows: list[Row]) -> set[int]:
    """The rows of turns that the user took back: `num_turns` of those that still count."""
    gone: set[int] = set()
    if not any(is_rollback(row.native) for row in rows):
        return gone
    turns: list[int] = []
    for i, row in enumerate(rows):
        if row.kind == ITEM and is_turn(row.payload):
            turns.append(i)
        elif is_rollback(row.native):
            count = min(row.payload.get("num_turns") or 0, len(turns))
            if count > 0:
                gone |= set(range(turns[-count], i))
                del turns[-count:]
    return gone


BESIDE = ("row", "messageRow")


def beside_of(message: Any) -> Native:
    """What is carried of the row in which a message or a part stands."""
    carried = carried_by(message.extras, NAME)
    beside: Native = next((carried[key] for key in BESIDE if key in carried), {})
    return beside


def in_compaction(message: Message) -> bool:
    """Does it stand in the row of a compaction?"""
    return message.replaces is not None or bool(beside_of(message).get("compacted"))
