"""The training weight of a message, in formats where it is 0 or 1."""

from __future__ import annotations

from msgspec.structs import replace

from convcli.model.transcript import Message

BINARY = {True: 1, False: 0}
"""The weight of a trained message, and of one that is not."""


def binary_weight(message: Message) -> Message:
    """Reduces the weight of an assistant message to 0 or 1, and removes any other."""
    if message.weight is None:
        return message
    is_known = message.role == "assistant" and message.weight in BINARY.values()
    weight = int(message.weight) if is_known else None
    return message if type(message.weight) is type(weight) else replace(message, weight=weight)
