"""What a complete stream of Chat Completions requires beyond its schema, which allows any chunks."""

from __future__ import annotations

from convcli.kit.objects import Native
from convcli.validation.rules import arguments, events, links
from convcli.validation.survey import for_outputs


class _Chunks:
    """The choices so far: none continues after its end, or has two calls under one index."""

    def __init__(self) -> None:
        self.choices: dict[int, _Choice] = {}

    def objection(self, event: Native) -> str:
        """Returns why the chunk is not allowed now; empty if it is."""
        for native in event.get("choices") or ():
            problem = self.choices.setdefault(native.get("index") or 0, _Choice()).objection(native)
            if problem:
                return problem
        return ""


class _Choice:
    """The state of one choice while its chunks arrive."""

    def __init__(self) -> None:
        self.has_ended = False
        self.ids: dict[int, str] = {}

    def objection(self, native: Native) -> str:
        """Returns why the chunk is not allowed now; empty if it is."""
        delta = native.get("delta") or {}
        is_after_end = self.has_ended and any(delta.get(key) for key in ("content", "refusal", "tool_calls"))
        self.has_ended = self.has_ended or bool(native.get("finish_reason"))
        repeated = [call for call in delta.get("tool_calls") or () if self._is_another(call)]
        if is_after_end:
            return "the choice has already ended"
        return f"another call already has the index {repeated[0]['index']}" if repeated else ""

    def _is_another(self, call: Native) -> bool:
        index, id_ = call.get("index"), call.get("id")
        return isinstance(index, int) and bool(id_) and self.ids.setdefault(index, str(id_)) != id_


RULES = (
    events.ended(),
    events.in_order(lambda: _Chunks().objection),
    links.identified(),
    arguments.readable(),
    for_outputs(
        events.complete(
            "id created model",
            usage="usage?.prompt_tokens usage?.completion_tokens usage?.total_tokens",
        )
    ),
)
