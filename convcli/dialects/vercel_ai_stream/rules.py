"""What a complete AI SDK stream requires beyond its schema, which allows any events."""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Native
from convcli.validation.rules import arguments, events, links

BEGIN = ("tool-input-start", "tool-input-available", "tool-input-error")
CALLS = (*BEGIN, "tool-input-delta", "tool-approval-request", "tool-output-denied")
"""Events that begin or continue a call; results have a rule of their own."""


class _Events:
    """The state of a message while its events arrive."""

    def __init__(self) -> None:
        self.has_ended = False
        self.texts: set[tuple[str, Any]] = set()
        self.calls: set[Any] = set()
        self.approvals: set[Any] = set()

    def objection(self, event: Native) -> str:
        """Returns why the event is not allowed now; empty if it is."""
        kind = str(event.get("type"))
        had_ended, self.has_ended = self.has_ended, self.has_ended or kind in ("finish", "abort")
        stem, _, step = kind.rpartition("-")
        if had_ended and kind not in ("error", "message-metadata"):
            return "the message has already ended"
        if stem in ("text", "reasoning"):
            return self._text((stem, event.get("id")), step)
        if kind == "tool-approval-response":
            return "" if event.get("approvalId") in self.approvals else "no approval with this id was requested"
        return self._call(event, kind) if kind in CALLS else ""

    def _text(self, key: tuple[str, Any], step: str) -> str:
        if step in ("delta", "end") and key not in self.texts:
            return "its text has not begun, or has already ended"
        (self.texts.discard if step == "end" else self.texts.add)(key)
        return ""

    def _call(self, event: Native, kind: str) -> str:
        id_ = event.get("toolCallId")
        if kind in BEGIN:
            self.calls.add(id_)
        if kind == "tool-approval-request":
            self.approvals.add(event.get("approvalId"))
        return "" if id_ in self.calls else "no call has this id"


RULES = (
    events.ended(),
    events.in_order(lambda: _Events().objection),
    links.paired(links.PairingRules(where="later", missing=None)),
    arguments.readable(),
)
