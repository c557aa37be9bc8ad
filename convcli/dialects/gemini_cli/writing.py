"""Writes the rows of a session: a record for each turn with the results of its calls, and each event as its row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.gemini_cli.calls import NAME, WRITER, write_answer, write_entry
from convcli.dialects.gemini_cli.records import EVENT, RECORDS
from convcli.dialects.gemini_cli.thoughts import write_thought, write_tokens
from convcli.families.google.parts import write_part
from convcli.kit.objects import Native, get_extras, omit
from convcli.kit.results import answers_of
from convcli.kit.sessions import row_of_event
from convcli.model.transcript import Message, Part, Reasoning, Text, ToolCall, ToolResult

CONTENT = 1
RANKS = {Reasoning.type: 0, ToolCall.type: 2}
"""The position of parts in a record: before its content, in it, or after it."""


def groups(messages: list[Message]) -> Iterator[list[Message]]:
    """Yields the messages of each row; one without an id belongs to the record before it."""
    group: list[Message] = []
    for message in messages:
        if group and message.id is None and message.role != "event" and group[0].role != "event":
            group.append(message)
            continue
        if group:
            yield group
        group = [message]
    if group:
        yield group


def write_rows(messages: list[Message]) -> list[Any]:
    """Returns all rows except that of the metadata."""
    return [_write_row(group, later_results) for group, later_results in with_results(messages)]


def _write_row(group: list[Message], later_results: dict[str, ToolResult]) -> Any:
    first = group[0]
    if first.role == "event":
        return row_of_event(first, NAME, None if first.id is None else EVENT)
    role = "assistant" if first.role == "assistant" else "user"
    if role == "assistant":
        content = _write_model(first, group[1:], later_results)
        outside = (*content, "tokens")
    else:
        content = {"type": "user", "content": _write_content([part for message in group for part in message.parts])}
        outside = (*content,)
    extra = get_extras(first.extras, NAME)
    return RECORDS[role].write(first, omit(extra, *outside) if extra else None, **content)


def with_results(messages: list[Message]) -> list[tuple[list[Message], dict[str, ToolResult]]]:
    """Returns the messages of each row, with the first result of each call id that later records have.

    Only records before the next model record count.
    """
    rows: list[tuple[list[Message], dict[str, ToolResult]]] = []
    later_results: dict[str, ToolResult] = {}
    for group in reversed(list(groups(messages))):
        rows.append((group, later_results))
        if group[0].role == "assistant":
            later_results = {}
            continue
        parts = [part for message in group for part in message.parts]
        later_results.update({part.tool_call_id: part for part in reversed(parts) if isinstance(part, ToolResult)})
    return rows[::-1]


# ---------------------------------------------------------------- content


def needs_content(parts: list[Part]) -> bool:
    """True if thoughts and calls must be in the content.

    Outside of it thoughts come first and calls last, and neither can have Google's signatures or extras.
    """
    last = 0
    for part in parts:
        rank = RANKS.get(part.type, CONTENT)
        if rank < last or (part.metadata is not None and "thoughtSignature" in part.metadata):
            return True
        if rank != CONTENT and part.extras and get_extras(part.extras, WRITER.service.owner):
            return True
        last = rank
    return False


def _write_content(parts: list[Part]) -> Any:
    """Returns a string for a single text without extras, a list for anything else."""
    if len(parts) == 1 and isinstance(parts[0], Text) and parts[0].text and parts[0] == Text(parts[0].text):
        return parts[0].text
    natives = [write_answer(part) if isinstance(part, ToolResult) else write_part(part, WRITER) for part in parts]
    return [native for native in natives if native is not None] or ""


def _write_model(message: Message, answers: list[Message], later: dict[str, ToolResult]) -> Native:
    """Returns the content, thoughts, token counts and calls of a model record: thoughts and calls are in the content if
    their order or a signature requires it."""
    parts, time = message.parts, message.created_at
    calls = [part for part in parts if isinstance(part, ToolCall)]
    thoughts = [part for part in parts if isinstance(part, Reasoning)]
    if needs_content(parts):
        thoughts = []
    elif calls or thoughts:
        parts = [part for part in parts if not isinstance(part, (Reasoning, ToolCall))]
    native: Native = {"type": "gemini", "content": _write_content(parts)}
    if thoughts:
        native["thoughts"] = [write_thought(part, time) for part in thoughts]
    tokens = write_tokens(message)
    if tokens:
        native["tokens"] = tokens
    if calls:
        pairs = zip(calls, answers_of(calls, answers), strict=True)
        native["toolCalls"] = [write_entry(call, answer, later.get(call.id), time) for call, answer in pairs]
    return native
