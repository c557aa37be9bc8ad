"""Writes a transcript as Qwen Code rows."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

import convcli.dialects.qwen_code.rows as rows
from convcli.dialects.qwen_code.rows import COMPRESSED, EVENT, NAME, ROW
from convcli.families.google.config import write_usage
from convcli.families.google.contents import write_contents
from convcli.families.google.keys import Service, Writer, names
from convcli.kit.grouping import groups, lines
from convcli.kit.objects import Native, drop_extras, get_extras, omit, without_nulls
from convcli.kit.results import has_failed
from convcli.kit.sessions import row_of_event
from convcli.model.document import Rows
from convcli.model.transcript import Message, ToolResult, Transcript

SERVICE = Service(NAME, NAME, "", names(64))
WRITER = Writer(SERVICE)
"""Writes contents of the Gemini API; every id is written."""


def write_session(transcript: Transcript) -> Rows:
    """Writes the rows of a session, followed by a title row if none of them has the title."""
    common = {"sessionId": transcript.id, "cwd": transcript.cwd or ""}
    common = without_nulls(common)
    common |= get_extras(transcript.extras, NAME).get("session", {})
    natives = [row for group in groups(transcript.messages, rows.continues) for row in _write_group(group, common)]
    located_title = rows.title_of(natives)
    if transcript.title is not None and natives and (located_title is None or located_title[1] != transcript.title):
        title = rows.title_row(transcript.title, common, natives[-1])
        natives += [title] if title is not None else []
    return Rows(natives)


def _write_group(group: list[Message], common: Native) -> list[Any]:
    first = group[0]
    if first.role == "event":
        return [row_of_event(first, NAME, EVENT)]
    if first.replaces is not None:
        return [_write_compaction(group, common)]
    return _write_answer(first, common) if len(group) == 1 else [_write_turn(group, rows.row_of(first), common)]


def _write_compaction(group: list[Message], common: Native) -> Native:
    row = rows.row_of(group[0])
    contents = write_contents(group, WRITER)
    payload = {**row.get("systemPayload", {}), "compressedHistory": contents}
    content = {"type": "system", "subtype": rows.COMPRESSION, "systemPayload": payload}
    return COMPRESSED.write(group[0], {**common, **omit(row, "systemPayload")}, **_parent_link(group[0]), **content)


def _parent_link(message: Message) -> Native:
    """Returns the parent link; the first row of a branch has null."""
    return {"parentUuid": message.parent_id}


def _write_answer(message: Message, common: Native) -> list[Native]:
    """Writes the rows of a message; each row of a longer answer has its own model and counts."""
    natives: list[Native] = []
    model, usage = message.model, message.usage
    for n, parts in reversed(list(enumerate(lines(message, NAME, "line")))):
        line = rows.row_of(parts[0], "line") if n else {}
        record = replace(
            message,
            parts=[drop_extras(part, NAME, "line") for part in parts],
            model=model,
            usage=usage,
            parent_id=line.get("parentUuid", message.parent_id),
            created_at=line.get("timestamp", message.created_at),
            extras=None if n else message.extras,
        )
        natives.append(_write_turn([record], omit(line, *LINE_KEYS) if n else rows.row_of(message), common))
        model, usage = line.get("modelBefore", model), line.get("usageBefore")
    return natives[::-1]


LINE_KEYS = ("timestamp", "parentUuid", "modelBefore", "usageBefore")


def _write_turn(group: list[Message], row: Native, common: Native) -> Native:
    first = group[0]
    contents = write_contents(group, WRITER)
    is_answer = any(message.role == "tool" for message in group)
    kind = row.get("type", rows.type_of(first.role, is_answer))
    stated = get_extras(first.extras, NAME).get("role", rows.role_of(kind))
    parts = [part for content in contents for part in content["parts"]]
    message = {**contents[0], "role": stated, "parts": parts, **row.get("message", {})}
    content: Native = {**_parent_link(first), "type": kind, "message": message}
    usage = write_usage(first.usage or {}, row.get("usageMetadata", {}))
    call_result = _call_result(first, row.get("toolCallResult", {}))
    content |= {key: value for key, value in (("usageMetadata", usage), ("toolCallResult", call_result)) if value}
    other_keys = omit(row, "type", "message", "usageMetadata", "toolCallResult")
    return ROW.write(first, {**common, **other_keys}, **content)


def _call_result(message: Message, extra: Native) -> Native:
    """Returns the status of a call, and what the screen shows of it."""
    result = message.parts[0] if message.role == "tool" else None
    if not isinstance(result, ToolResult):
        return extra
    status = result.status or ("error" if has_failed(result) else "success")
    screen_text = rows.shown(result)
    display = {} if screen_text is None else {"resultDisplay": screen_text}
    return {"callId": result.tool_call_id, "status": status, **display, **extra}
