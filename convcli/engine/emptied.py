"""Whether a dialect has read anything of a conversation: messages that come out empty while their extras hold the text
show that the document is in another format with the same names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.model.transcript import Message, Reasoning, Refusal, Text, Transcript

TEXT_KEYS = frozenset(("text", "content", "thinking"))
"""Keys under which formats store what a person or a model wrote."""


def is_emptied(transcript: Transcript) -> bool:
    """True if no message has content, and the extras of several messages, or of one from a user, hold text."""
    for message in transcript.messages:  # the first one has content in nearly all documents
        if message.role != "event" and not _is_empty(message):
            return False
    messages = (message for message in transcript.messages if message.role != "event")
    emptied = [message for message in messages if any(_texts(message.extras or {}))]
    return len(emptied) > 1 or any(message.role == "user" for message in emptied)


def _is_empty(message: Message) -> bool:
    return not any(map(has_content, message.parts))


def has_content(part: Any) -> bool:
    """True unless the part is a blank text."""
    return bool(part.text.strip()) if isinstance(part, (Text, Reasoning, Refusal)) else True


def _texts(value: Any, key: str = "") -> Iterator[str]:
    """Yields the texts in extras: strings under a key of text, or strings of several words."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _texts(child, name)
    elif isinstance(value, list):
        for child in value:
            yield from _texts(child, key)
    elif isinstance(value, str) and ((key in TEXT_KEYS and value.strip()) or len(value.split()) > 2):
        yield value
