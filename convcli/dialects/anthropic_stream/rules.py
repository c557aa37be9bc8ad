"""Rules for a complete Anthropic Messages stream; its schema accepts any sequence of events."""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Native
from convcli.kit.supported import fields
from convcli.kit.values import pairs
from convcli.validation.rules import arguments, events
from convcli.validation.survey import for_outputs


class _Message:
    """Tracks what has begun and ended, event by event."""

    def __init__(self) -> None:
        self.has_begun = self.has_ended = False
        self.blocks: dict[int, str] = {}
        self.open: set[int] = set()
        """`blocks`: the types of begun blocks, by index; `open`: the indexes of blocks that have not ended."""

    def objection(self, event: Native) -> str:
        """Returns why the event is misplaced; empty if it is not."""
        kind, index = event.get("type"), event.get("index", 0)
        if kind not in ORDERED:
            return ""
        if kind == "message_start":
            again, self.has_begun = self.has_begun, True
            self.blocks |= {i: block["type"] for i, block in enumerate(event["message"].get("content") or ())}
            return "the message begins a second time" if again else ""
        if self.has_ended:
            return "the message has already ended"
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
            return f"another block already has the index {index}" if taken else ""
        if index not in self.blocks:
            return f"no block with the index {index} has begun"
        if event["type"] == "content_block_stop":
            self.open.discard(index)
            return ""
        is_matching = self.blocks[index].endswith(FITTING.get(event["delta"]["type"], ""))
        return "" if is_matching else f"a delta of this type cannot extend the block with the index {index}"


FITTING = pairs(
    "text_delta=text citations_delta=text input_json_delta=tool_use thinking_delta=thinking signature_delta=thinking"
)
"""By type of delta, the suffix of the block types that it may extend: there are several kinds of tool_use."""

ORDERED = fields("message_start message_delta message_stop content_block_start content_block_delta content_block_stop")
"""Events that begin, grow or end a message or one of its blocks."""


def _begun(event: Native) -> Any:
    """Returns the message that an event begins."""
    return event.get("message") if event.get("type") == "message_start" else None


RULES = (
    events.ended(),
    events.with_role(_begun),
    events.in_order(lambda: _Message().objection),
    arguments.readable(),
    for_outputs(
        events.complete("message.id message.model message.usage.input_tokens message.usage.output_tokens"),
    ),
)
