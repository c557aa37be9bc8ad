"""The text of a session by message, for a search over many sessions: what its page shows, without events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.model.transcript import Opaque, Part, ToolCall, ToolResult, Transcript
from convcli.views.outputs import output_of
from convcli.views.rows import part_text


def message_texts(transcript: Transcript) -> Iterator[tuple[int, str]]:
    """Yields the index and the text of each message that has some."""
    for index, message in enumerate(transcript.messages):
        text = "" if message.role == "event" else "\n".join(filter(None, map(_text, message.parts)))
        if text:
            yield index, text


def _text(part: Part) -> str:
    if isinstance(part, ToolCall):
        words = [part.raw_arguments] if part.raw_arguments is not None else _strings(part.arguments)
        return "\n".join((part.name, *words))
    if isinstance(part, Opaque):
        return ""
    return output_of(part_text(part)).text if isinstance(part, ToolResult) else part_text(part)


def _strings(value: Any) -> Iterator[str]:
    """Yields the strings of arguments as they are, without the escapes of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
