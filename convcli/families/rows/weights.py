"""How much a turn counts in training, in formats where it counts or does not."""

from __future__ import annotations

from msgspec.structs import replace

from convcli.model.transcript import Message

BINARY = {True: 1, False: 0}
"""The weight of a turn that is trained, and of one that is not."""


def binary_weight(message: Message) -> Message:
    """A turn of the assistant counts or not, and no other turn."""
    if message.weight is None:
        return message
    is_known = message.role == "assistant" and message.weight in BINARY.values()
    weight = int(message.weight) if is_known else None
    return message if type(message.weight) is type(weight) else replace(message, weight=weight)
