"""Turns for tests of what sessions share, and what is looked at of them."""

from __future__ import annotations

from typing import Any

from convcli.model.transcript import Message, Text, Transcript


def number(count: int) -> str:
    return f"n{count}"


def turn(text: str, **fields: Any) -> Message:
    return Message("user", [Text(text)], **fields)


def ids(transcript: Transcript) -> list[str | None]:
    return [message.id for message in transcript.messages]


def parents(transcript: Transcript) -> list[str | None]:
    return [message.parent_id for message in transcript.messages]
