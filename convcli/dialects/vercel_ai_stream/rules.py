"""What a stream of the AI SDK looks like when it is whole, though its schema takes any events."""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Native
from convcli.validation.rules import arguments, events, links

BEGIN = ("tool-input-start", "tool-input-available", "tool-input-error")
CALLS = (*BEGIN, "tool-input-delta", "tool-approval-request", "tool-output-denied")
"""Events that begin a call, and those that go on with one; of results there is a rule of their own."""


class _Events:
    """What has begun while the events go by."""

    def __init__(self) -> None:
        self.has_ended = False
        self.texts: set[tuple[str, Any]] = set()
        self.calls: set[Any] = set()
        self.approvals: set[Any] = set()

    def objection(self, event: Native) -> str:
        """Why the event cannot come now; nothing if it can."""
        kind = str(event.get("type"))
        ended, self.has_ended = self.has_ended, self.has_ended or kind in ("finish", "abort")
        stem, _, step = kind.rpartition("-")
        if ended and kind not in ("error", "message-metadata"):
            return "the message has ended before"
        if stem in ("text", "reasoning"):
            return self._text((stem, event.get("id")), step)
        if kind == "tool-approval-response":
            return "" if event.get("approvalId") in self.approvals else "nobody has asked for this approval"
        return self._call(event, kind) if kind in CALLS else ""

    def _text(self, thing: tuple[str, Any], step: str) -> str:
        if step in ("delta", "end") and thing not in self.texts:
            return "it goes on with a text that has not begun, or has ended"
        (self.texts.discard if step == "end" else self.texts.add)(thing)
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
