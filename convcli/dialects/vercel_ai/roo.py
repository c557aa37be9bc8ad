"""Roo Code tasks in version 2 of their file: model messages with times, summaries and thoughts.

Specification: src/core/task-persistence/rooMessage.ts and converters/anthropicToRoo.ts of RooCodeInc/Roo-Code at
26899bf6; read 2026-11-23. A failed tool returns text that begins with `[ERROR]`; a thought that only its provider can
read is a row without a role. Tasks of version 1, with Anthropic's blocks, belong to the dialect `cline`.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.vercel_ai import model
from convcli.dialects.vercel_ai.model import NAME
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit, set_extra_key
from convcli.kit.values import milliseconds_of_time, time_of_milliseconds
from convcli.model.transcript import Message, Path, Reasoning, ToolResult

VERSION = 2
FAILED = "[ERROR]"
ROW_KEYS = frozenset(("ts", "condenseId", "condenseParent", "truncationId", "truncationParent", "isSummary"))
THOUGHT = Keys("type= encrypted_content= id= summary= ts=")
PIECE = "summary_text"


def is_task(document: Any) -> bool:
    """True for a task file, by its version and the keys of its rows."""
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(messages, list) or document.get("version") != VERSION:
        return False
    rows = [item for item in messages if isinstance(item, dict)]
    known = len(rows) == len(messages) and all("role" in item or is_thought(item) for item in rows)
    return known and any(ROW_KEYS & item.keys() or is_thought(item) for item in rows)


def is_thought(native: Native) -> bool:
    """True for a row with a thought that only its provider can read."""
    kind, blob = native.get("type"), native.get("encrypted_content")
    return "role" not in native and kind == "reasoning" and isinstance(blob, str)


# ---------------------------------------------------------------- lift


def lift_row(native: Native, path: Path, context: LiftContext) -> None:
    """Reads a message with its time, or a thought."""
    time = time_of_milliseconds(native.get("ts"))
    begin = len(context.messages)
    if is_thought(native):
        lift_thought(native, path, context)
    else:
        known = [key for key, is_known in (("ts", time), ("isSummary", native.get("isSummary") is True)) if is_known]
        model.lift_message(omit(native, *known), path, context)
        context.messages[begin].replaces = "all" if "isSummary" in known else None
    for message in context.messages[begin:]:
        message.created_at = time
        for part in message.parts:
            if isinstance(part, ToolResult) and part.kind == "text" and part.value.lstrip().startswith(FAILED):
                output = {**get_extras(part.extras, NAME).get("output", {}), "type": "text"}
                part.kind = "error"
                part.extras = set_extra_key(part.extras, NAME, "output", output)


def lift_thought(native: Native, path: Path, context: LiftContext) -> None:
    """Reads a thought that only its provider can read, with its summary."""
    metadata = {"encryptedContent": native["encrypted_content"]}
    metadata |= {"itemId": native["id"]} if isinstance(native.get("id"), str) and native["id"] else {}
    summary = native.get("summary")
    pieces = summary if isinstance(summary, list) else []
    texts = [item["text"] for item in pieces if item == _piece(item.get("text")) and isinstance(item["text"], str)]
    is_clean = bool(pieces) and len(texts) == len(pieces)
    extra = {key: native[key] for key in THOUGHT.extra(native) or ()}
    extra |= {"summary": summary} if summary is not None and not is_clean else {}
    if "ts" in native and time_of_milliseconds(native["ts"]) is None and native["ts"] is not None:
        extra["ts"] = native["ts"]
    part = Reasoning("", summary=texts if is_clean else None, metadata=metadata, extras=make_extras(NAME, extra))
    context.add(Message("assistant", [part]), path, [()])


def _piece(text: Any) -> Native:
    return {"type": PIECE, "text": text}


# ---------------------------------------------------------------- write


def write_rows(messages: list[Message]) -> list[Native]:
    """Writes the rows of a task: consecutive results of one time share one."""
    natives: list[Native] = []
    previous_time: str | None = None
    for message in messages:
        [native] = _write_thought(message) or model.write_messages([message])
        time = milliseconds_of_time(message.created_at)
        native |= {"ts": time} if time is not None else {}
        native |= {"isSummary": True} if message.replaces == "all" else {}
        is_same = bool(natives) and natives[-1].get("role") == native.get("role") == "tool"
        if is_same and previous_time == message.created_at and native.keys() == natives[-1].keys():
            natives[-1]["content"] += native["content"]
        else:
            natives.append(native)
        previous_time = message.created_at
    return natives


def _write_thought(message: Message) -> list[Native]:
    part = message.parts[0] if len(message.parts) == 1 else None
    metadata = part.metadata if isinstance(part, Reasoning) and not part.text else None
    if not isinstance(part, Reasoning) or not isinstance((metadata or {}).get("encryptedContent"), str):
        return []
    native: Native = {"type": "reasoning", "encrypted_content": (metadata or {})["encryptedContent"]}
    native |= {"id": (metadata or {})["itemId"]} if (metadata or {}).get("itemId") else {}
    native |= {"summary": [_piece(text) for text in part.summary]} if part.summary else {}
    return [THOUGHT.put(native, get_extras(part.extras, NAME))]
