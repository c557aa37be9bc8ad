"""Writes a transcript as the rows of a Claude Code session."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

import convcli.dialects.claude_code.rows as form
from convcli.dialects.claude_code.rows import ANSWERS, NAME, ROW, SHAPE, TITLES, TURNS
from convcli.families.anthropic import request
from convcli.kit.grouping import lines
from convcli.kit.objects import Native, drop_extras, get_extras, omit, without_nulls
from convcli.kit.sessions import row_of_event
from convcli.model.document import Rows
from convcli.model.transcript import Message, Part, Transcript


def write_session(transcript: Transcript) -> Rows:
    """Returns the rows of a session: messages and events, then the prompt and title rows that no event states."""
    messages = transcript.messages
    prompt = messages[0].parts if messages and messages[0].role == "system" else []
    writer = _RowWriter(transcript)
    for index, message in enumerate(messages):
        if message.role == "event":
            writer.rows.append(row_of_event(message, NAME))
        elif form.begins_row(messages, index):
            end = index + 1
            while end < len(messages) and messages[end].role != "event" and not form.begins_row(messages, end):
                end += 1
            writer.turn(messages[index:end])
    return Rows([*writer.rows, *_missing_rows(transcript, prompt, writer.rows)])


def _missing_rows(transcript: Transcript, prompt: list[Part], rows: list[Any]) -> list[Native]:
    """Returns the prompt and title rows that the other rows do not state."""
    session = {} if transcript.id is None else {"sessionId": transcript.id}
    kinds = form.kinds_of(rows)
    last, bare = form.last_prompt(rows, kinds), form.bare_rows(rows, kinds, transcript.id)
    shape: Native = {"system": TURNS.blocks.write_all(prompt)} if prompt else {}
    if transcript.tools is not None:
        shape["tools"] = [request.write_tool(tool, NAME) for tool in transcript.tools]
    more: list[Native] = []
    if SHAPE in bare or not _states_request(last[1] if last else None, shape):
        more.append({"type": SHAPE, **session, "shape": shape})
    if transcript.title is not None and (form.TITLE in bare or form.title_of(rows, kinds) != transcript.title):
        more.append({"type": form.TITLE, TITLES[form.TITLE]: transcript.title, **session})
    return more


def _states_request(prompt: form.Prompt | None, shape: Native) -> bool:
    if prompt is None:
        return not shape
    tools = form.lift_tools(prompt)
    written = None if tools is None else [request.write_tool(tool, NAME) for tool in tools]
    return (shape.get("system", []), shape.get("tools")) == (prompt.system, written)


class _RowWriter:
    """The rows so far, and the id of each message's last row."""

    def __init__(self, transcript: Transcript) -> None:
        session = get_extras(transcript.extras, NAME).get("session", {})
        ids = {"sessionId": transcript.id, "cwd": transcript.cwd}
        self.usual = {**form.ALWAYS, **session, **without_nulls(ids)}
        self.rows: list[Any] = []
        self.last: dict[str | None, str | None] = {}

    def turn(self, group: list[Message]) -> None:
        """Adds the row of a message and of the messages that share it; an answer may have several rows."""
        first = group[0]
        turns = ANSWERS if first.role == "assistant" else TURNS
        parent = self.last.get(first.parent_id, first.parent_id)
        for n, parts in enumerate(lines(first, NAME, "line")):
            line = form.row_of(first)
            if n > 0:
                line = {key: line[key] for key in form.OF_ANSWER if key in line}
                line |= get_extras(parts[0].extras, NAME)["line"]
            record = first if n == 0 else _record(line, first)
            one = replace(first, parts=[drop_extras(part, NAME, "line") for part in parts])
            native = turns.write([drop_extras(one, NAME, "row"), *group[1:]])[0]
            content: Native = omit(self.usual, *line)
            if form.is_aside(first):
                content["isSidechain"] = True
            content |= {"type": native["role"], "message": {**native, **line.get("message", {})}}
            content |= _parents(parent, cut=n == 0 and first.replaces is not None and "parentUuid" not in line)
            content |= {key: line[key] for key in form.LINKS if key in line}
            self.rows.append(_as_attachment(ROW.write(record, line, **content)))
            parent = record.id
            self.last[first.id] = record.id or self.last.get(first.id)


def _as_attachment(row: Native) -> Native:
    """Returns a queued message as an attachment row, any other row unchanged."""
    if not form.is_queued(row):
        return row
    inner = {**row["attachment"], "prompt": row["message"]["content"]}
    return {**omit(row, "message"), "type": "attachment", "attachment": inner}


def _parents(parent: str | None, *, cut: bool) -> Native:
    """Returns the parent links of a row; a compaction cuts the chain of what is sent."""
    if cut and parent is not None:
        return {"parentUuid": None, "logicalParentUuid": parent}
    return {"parentUuid": parent}


def _record(line: Native, message: Message) -> Message:
    """Returns the facts that a later row of a message states."""
    record = Message("event", [], created_at=message.created_at, parent_call_id=message.parent_call_id)
    ROW.lift(line, record)
    return record
