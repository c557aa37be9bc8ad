"""Transcripts as rows of a table: one for each message, or one for each transcript."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias

from convcli.transcript import Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

Row: TypeAlias = dict[str, Any]

LONGEST = 2_000
"""Characters of a text that a row holds: a table is for looking at."""


def by_message(transcript: Transcript) -> Iterator[Row]:
    """A row for each message: its number from 0, role, parts, and the beginning of its text.

    `calls` and `results` name the tool and the call; a call that nobody answers is marked `open`, a result without a
    call `orphan`.
    """
    answered, called = _ids(transcript)
    for index, message in enumerate(transcript.messages):
        yield {
            "message": index,
            "role": message.role,
            "parts": ", ".join(_part(part, answered, called) for part in message.parts),
            "text": _text(message),
        }


def by_transcript(transcript: Transcript, file: str, line: int, dialect: str) -> Row:
    """A row of counts. `unpaired` are calls without a result and results without a call; rows that no model saw
    (role `event`) are no messages."""
    kinds = Counter(type(part) for message in transcript.messages for part in message.parts)
    return {
        "file": file,
        "line": line,
        "dialect": dialect,
        "messages": sum(message.role != "event" for message in transcript.messages),
        "calls": kinds[ToolCall],
        "results": kinds[ToolResult],
        "errors": sum(map(_is_error, _parts(transcript))),
        "unpaired": _unpaired(transcript),
        "model": transcript.model,
        "title": transcript.title,
    }


def _parts(transcript: Transcript) -> Iterator[Part]:
    return (part for message in transcript.messages for part in message.parts)


def _ids(transcript: Transcript) -> tuple[set[str], set[str]]:
    """The ids that results answer, and those of calls."""
    answered = {part.tool_call_id for part in _parts(transcript) if isinstance(part, ToolResult)}
    return answered, {part.id for part in _parts(transcript) if isinstance(part, ToolCall)}


def _unpaired(transcript: Transcript) -> int:
    """Each result answers one call of its id; whatever remains on either side is unpaired."""
    calls = Counter(part.id for part in _parts(transcript) if isinstance(part, ToolCall))
    results = Counter(part.tool_call_id for part in _parts(transcript) if isinstance(part, ToolResult))
    return (calls - results).total() + (results - calls).total()


def _is_error(part: Part) -> bool:
    return isinstance(part, ToolResult) and (part.kind == "error" or part.is_error is True)


def _part(part: Part, answered: set[str], called: set[str]) -> str:
    if isinstance(part, ToolCall):
        return f"call {part.name} {part.id}" + ("" if part.id in answered else " open")
    if isinstance(part, ToolResult):
        failed = " error" if _is_error(part) else ""
        return f"result {part.name} {part.tool_call_id}{failed}" + ("" if part.tool_call_id in called else " orphan")
    return part.type


def _text(message: Message) -> str:
    """What a reader sees first: texts, else arguments and values."""
    pieces: list[str] = []
    for part in message.parts:
        if isinstance(part, (Text, Reasoning, Refusal)):
            pieces.append(part.text)
        elif isinstance(part, ToolResult) and isinstance(part.value, str):
            pieces.append(part.value)
        elif isinstance(part, ToolCall) and part.raw_arguments is not None:
            pieces.append(part.raw_arguments)
        elif isinstance(part, (ToolCall, ToolResult)):
            pieces.append(_brief(part.arguments if isinstance(part, ToolCall) else part.value))
    return " ".join(piece[:LONGEST] for piece in pieces if piece)[:LONGEST]


def _brief(value: Any) -> str:
    from msgspec import to_builtins

    from convcli import wire

    return wire.write_text(to_builtins(value))
