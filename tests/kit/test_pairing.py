"""Which call a result answers."""

from __future__ import annotations

from convcli.kit.pairing import calls_answered
from convcli.model.transcript import Part, ToolCall, ToolResult


def test_results_of_calls_that_share_an_id_answer_the_open_call_before_them() -> None:
    def parts(order: str) -> list[Part]:
        return [ToolCall("a", "f", {}) if kind == "c" else ToolResult("a", "f", "text", "") for kind in order]

    assert calls_answered(parts("crcr")) == [0, 1]
    assert calls_answered(parts("rcrcr")) == [None, 0, 1]
    assert calls_answered(parts("ccrr")) == [0, 1]
    assert calls_answered(parts("crrc")) == [0, 0]
    assert calls_answered(parts("rc")) == [0]
    assert calls_answered(parts("rc"), is_ordered=True) == [None]
