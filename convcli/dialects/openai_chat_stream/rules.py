"""What a stream of Chat Completions looks like when it is whole, though its schema takes any chunks."""

from __future__ import annotations

from convcli.kit.objects import Native
from convcli.validation.rules import arguments, events, links
from convcli.validation.survey import for_outputs


class _Chunks:
    """The choices so far: none goes on when it has ended, or with two calls under one index."""

    def __init__(self) -> None:
        self.choices: dict[int, _Choice] = {}

    def objection(self, event: Native) -> str:
        """Why the chunk cannot come now; nothing if it can."""
        for native in event.get("choices") or ():
            problem = self.choices.setdefault(native.get("index") or 0, _Choice()).objection(native)
            if problem:
                return problem
        return ""


class _Choice:
    """What has been said of one choice while the chunks go by."""

    def __init__(self) -> None:
        self.has_ended = False
        self.ids: dict[int, str] = {}

    def objection(self, native: Native) -> str:
        """Why the chunk cannot come now; nothing if it can."""
        delta = native.get("delta") or {}
        behind = self.has_ended and any(delta.get(key) for key in ("content", "refusal", "tool_calls"))
        self.has_ended = self.has_ended or bool(native.get("finish_reason"))
        twice = [call for call in delta.get("tool_calls") or () if self._is_another(call)]
        if behind:
            return "the choice has ended before"
        return f"another call has the index {twice[0]['index']} already" if twice else ""

    def _is_another(self, call: Native) -> bool:
        index, id_ = call.get("index"), call.get("id")
        return isinstance(index, int) and bool(id_) and self.ids.setdefault(index, str(id_)) != id_


RULES = (
    events.ended(),
    events.in_order(lambda: _Chunks().objection),
    links.identified(),
    arguments.readable(),
    for_outputs(events.complete("id created model")),
)
