"""What a complete stream of the Responses API requires beyond its schema, which allows any events."""

from __future__ import annotations

from typing import Any

from convcli.families.responses.rules import NO_REFERENCES
from convcli.kit.objects import Native
from convcli.validation.rules import arguments, events
from convcli.validation.survey import for_outputs

ENDS = ("response.completed", "response.incomplete", "response.failed")


class _Response:
    """The state of a response while its events arrive."""

    def __init__(self) -> None:
        self.number = -1
        self.items: set[int] = set()
        self.has_ended = False

    def objection(self, event: Native) -> str:
        """Returns why the event is not allowed now; empty if it is."""
        kind, number, index = str(event.get("type")), event.get("sequence_number"), event.get("output_index")
        had_ended, self.has_ended = self.has_ended, self.has_ended or kind in ENDS
        if had_ended and kind.startswith("response."):
            return "the response has already ended"
        if isinstance(number, int):
            before, self.number = self.number, number
            if number <= before:
                return f"the event has the number {number}, the previous one {before}"
        if kind.startswith("response.output_item.") and isinstance(index, int):
            self.items.add(index)
        return f"no item with the index {index} was added" if self._is_lost(kind, index) else ""

    def _is_lost(self, kind: str, index: Any) -> bool:
        return kind.endswith(".delta") and isinstance(index, int) and index not in self.items


RULES = (
    events.ended(),
    events.in_order(lambda: _Response().objection),
    arguments.readable(),
    NO_REFERENCES,
    for_outputs(
        events.complete(
            "response.id response.created_at response.model",
            "response?.usage?.input_tokens response?.usage?.input_tokens_details.cached_tokens "
            "response?.usage?.output_tokens response?.usage?.output_tokens_details.reasoning_tokens "
            "response?.usage?.total_tokens",
        )
    ),
)
