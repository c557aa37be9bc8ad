"""Rules for a complete AG-UI thread; its schema accepts any sequence of events."""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Native
from convcli.validation.rules import arguments, events, links

ENDS = ("RUN_FINISHED", "RUN_ERROR")
KEYS = {"TEXT_MESSAGE": "messageId", "REASONING_MESSAGE": "messageId", "TOOL_CALL": "toolCallId"}
"""The id key of each growing thing."""


class _Run:
    """Tracks what has begun, event by event."""

    def __init__(self) -> None:
        self.is_open = False
        self.begun: set[tuple[str, Any]] = set()

    def objection(self, event: Native) -> str:
        """Returns why the event is misplaced; empty if it is not."""
        kind = str(event.get("type"))
        was_open, self.is_open = self.is_open, kind == "RUN_STARTED" or (self.is_open and kind not in ENDS)
        if kind == "RUN_STARTED":
            return "a run begins before the previous run has ended" if was_open else ""
        if not was_open and kind != "RUN_ERROR":
            return "no run has begun"
        stem, _, step = kind.rpartition("_")
        if stem not in KEYS:
            return ""
        growing = (stem, event.get(KEYS[stem]))
        if step in ("CONTENT", "ARGS", "END") and growing not in self.begun:
            return "the event continues something that has not begun or has ended"
        (self.begun.discard if step == "END" else self.begun.add)(growing)
        return ""


RULES = (
    events.ended(),
    events.in_order(lambda: _Run().objection),
    links.paired(links.PairingRules(where="later", missing=None)),
    arguments.readable(),
)
