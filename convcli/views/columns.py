"""The columns of transcripts, messages and calls: their names, their types, and those that are found only on demand."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias

from convcli.jobs.documents import Document
from convcli.model.transcript import ToolCall, Transcript
from convcli.views.rows import Row, by_transcript, part_text

Kind: TypeAlias = Literal["text", "number", "time"]

TRANSCRIPTS: dict[str, Kind] = {
    "file": "text", "line": "number", "dialect": "text", "messages": "number", "calls": "number", "errors": "number",
    "unpaired": "number", "output": "number", "model": "text", "title": "text",
}  # fmt: skip
"""The columns that a table of transcripts shows."""
MORE_OF_TRANSCRIPTS: dict[str, Kind] = {
    "results": "number", "reasoning": "number", "images": "number", "events": "number", "system": "number",
    "developer": "number", "user": "number", "assistant": "number", "tool": "number", "input": "number", "id": "text",
    "begin": "time", "end": "time",
}  # fmt: skip
ON_DEMAND: dict[str, Kind] = {
    "program": "text", "cwd": "text", "project": "text", "branch": "text", "tools": "text", "text": "text",
}  # fmt: skip
"""Columns that are found only where they are named."""
EVERY_OF_TRANSCRIPTS: dict[str, Kind] = {**TRANSCRIPTS, **MORE_OF_TRANSCRIPTS, **ON_DEMAND}

MESSAGES: dict[str, Kind] = {
    "message": "number", "role": "text", "kind": "text", "tool": "text", "call": "text", "status": "text",
    "size": "number", "tokens": "number", "text": "text",
}  # fmt: skip
MORE_OF_MESSAGES: dict[str, Kind] = {"name": "text", "model": "text", "time": "time"}
CALLS: dict[str, Kind] = {
    "call": "text", "tool": "text", "status": "text", "seconds": "number", "asked": "number", "answered": "number",
    "size": "number", "arguments": "text", "result": "text",
}  # fmt: skip

RowKind: TypeAlias = Literal["message", "call", "transcript"]
SHOWN: Mapping[RowKind, Mapping[str, Kind]] = {"message": MESSAGES, "call": CALLS, "transcript": TRANSCRIPTS}
"""The columns of a table, by what its rows are."""

BRANCHES = (("session", "gitBranch"), ("header", "git", "branch"))
"""Where the dialects of agent programs keep the name of the git branch, within their extras."""


def known(rows_of: RowKind) -> Mapping[str, Kind]:
    """Returns all columns of such rows, those of the table first."""
    if rows_of == "transcript":
        return EVERY_OF_TRANSCRIPTS
    return MESSAGES | MORE_OF_MESSAGES if rows_of == "message" else CALLS


def row_of(document: Document, transcript: Transcript, names: Collection[str] = ()) -> Row:
    """Returns the row of a transcript, with those columns found on demand that are named."""
    row = by_transcript(transcript, document.file, document.number, document.dialect.name)
    for name in ON_DEMAND:
        if name in names:
            row[name] = _FINDERS[name](document, transcript)
    return row


def program_of(document: Document) -> str | None:
    """Returns the agent program whose sessions have this dialect."""
    return document.dialect.programs[0].name if document.dialect.programs else None


def directory_of(document: Document, transcript: Transcript) -> str | None:
    """Returns the directory in which the session ran, from the session or from files next to it."""
    program = program_of(document)
    if transcript.cwd or program is None:
        return transcript.cwd or None
    from convcli.jobs import programs

    return programs.directory(program, document.file)


def project_of(directory: str | None) -> str | None:
    """Returns the last part of a directory."""
    return re.split(r"[/\\]", directory.rstrip("/\\"))[-1] or None if directory else None


def branch_of(document: Document, transcript: Transcript) -> str | None:
    """Returns the git branch on which the session began."""
    own = (transcript.extras or {}).get(document.dialect.name)
    for steps in BRANCHES:
        value: Any = own
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, str):
            return value
    return None


def tools_of(transcript: Transcript) -> str | None:
    """Returns the names of the tools that were called, in the order of their first calls."""
    parts = (part for message in transcript.messages for part in message.parts)
    return ", ".join(dict.fromkeys(part.name for part in parts if isinstance(part, ToolCall) and part.name)) or None


def text_of(transcript: Transcript) -> str:
    """Returns the text of all messages, with calls and results, without events."""
    messages = (message for message in transcript.messages if message.role != "event")
    return "\n".join(part_text(part) for message in messages for part in message.parts)


_FINDERS: Mapping[str, Any] = {
    "program": lambda document, _: program_of(document),
    "cwd": directory_of,
    "project": lambda document, transcript: project_of(directory_of(document, transcript)),
    "branch": branch_of,
    "tools": lambda _, transcript: tools_of(transcript),
    "text": lambda _, transcript: text_of(transcript),
}
