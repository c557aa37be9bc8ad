"""Digests of conversations: equal for the same roles, texts, calls and results, whatever their ids and times."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from convcli.model.transcript import Message, Transcript
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

SIZE = 16
IGNORED = frozenset(("id", "toolCallId", "extras"))
"""Fields of parts that are not what a model reads."""


def prefix_digests(transcript: Transcript) -> Iterator[bytes]:
    """Yields the digest of the conversation after each of its messages; the last one is that of the whole."""
    last = b""
    for message in transcript.messages:
        if message.role != "event":
            last = blake2b(last + _content(message), digest_size=SIZE).digest()
            yield last


def prompt_digest(transcript: Transcript) -> bytes:
    """Returns the digest of all messages before the first answer: equal for a conversation and what it grows to."""
    last = b""
    messages = (message for message in transcript.messages if message.role != "event")
    for message, each in zip(messages, prefix_digests(transcript), strict=True):
        if message.role == "assistant":
            break
        last = each
    return last


def _content(message: Message) -> bytes:
    return exact_json.write([message.role, [_stripped(builtins(part)) for part in message.parts]])


def _stripped(value: Any) -> Any:
    if isinstance(value, dict) and "type" in value:
        value = {name: item for name, item in value.items() if name not in IGNORED}
    return value
