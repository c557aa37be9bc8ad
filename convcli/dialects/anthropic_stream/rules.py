"""What a stream of Anthropic Messages looks like when it is whole, though its schema takes any events."""

from __future__ import annotations

from typing import Any

from convcli.kit.lacking import fields
from convcli.kit.objects import Native
from convcli.kit.values import pairs
from convcli.validation.rules import arguments, events
from convcli.validation.survey import for_outputs


class _Message:
    """What has begun and ended while the events go by."""

    def __init__(self) -> None:
        self.has_begun = self.has_ended = False
        self.blocks: dict[int, str] = {}
        self.open: set[int] = set()
        """The types of the blocks that have begun, and those of which an end is awaited."""

    def objection(self, event: Native) -> str:
        """Why the event cannot come now; nothing if it can."""
        kind, index = event.get("type"), event.get("index", 0)
        if kind not in ORDERED:
            return ""
        if kind == "message_start":
            again, self.has_begun = self.has_begun, True
            self.blocks |= {i: block["type"] for i, block in enumerate(event["message"].get("content") or ())}
            return "the message begins a second time" if again else ""
        if self.has_ended:
            return "the message has ended before"
        problem = "" if self.has_begun else "the message has not begun"
        if kind == "message_stop":
            self.has_ended = True
            return problem or ("a block has not ended" if self.open else "")
        return problem or ("" if kind == "message_delta" else self._block(event, index))

    def _block(self, event: Native, index: int) -> str:
        if event["type"] == "content_block_start":
            taken = index in self.blocks
            self.blocks[index] = event["content_block"]["type"]
            self.open.add(index)
            return f"another block has the index {index} already" if taken else ""
        if index not in self.blocks:
            return f"no block with the index {index} has begun"
        if event["type"] == "content_block_stop":
            self.open.discard(index)
            return ""
        fits = self.blocks[index].endswith(FITTING.get(event["delta"]["type"], ""))
        return "" if fits else f"a delta of this type is not for the block with the index {index}"


FITTING = pairs(
    "text_delta=text citations_delta=text input_json_delta=tool_use thinking_delta=thinking signature_delta=thinking"
)
"""The ends of the types of blocks that a delta makes grow, by its type: there are several kinds of tool_use."""

ORDERED = fields("message_start message_delta message_stop content_block_start content_block_delta content_block_stop")
"""The events that begin, grow or end a message or a block of it."""


def _begun(event: Native) -> Any:
    """The message that an event begins."""
    return event.get("message") if event.get("type") == "message_start" else None


RULES = (
    events.ended(),
    events.with_role(_begun),
    events.in_order(lambda: _Message().objection),
    arguments.readable(),
    for_outputs(events.complete("message.id message.model message.usage")),
)
