"""The text of differences: both places, values cut and made safe, a count for each level."""

from __future__ import annotations

from typing import Any

from convcli.report.differences import WIDTH, listed
from convcli.report.text import Paint

ROW: dict[str, Any] = {
    "level": "content",
    "kind": "changed",
    "field": "text.text",
    "line": 3,
    "line_of_second": None,
    "first": "/a",
    "second": "/b",
    "before": "x" * 300 + "\x1b[31m",
    "after": "\x1b]0;title\x07",
}


def text(*rows: dict[str, Any]) -> list[str]:
    return "".join(listed(rows, "one.jsonl", "two.json", Paint())).splitlines()


def test_no_difference_says_so() -> None:
    assert text() == ["the same conversation"]


def test_values_are_cut_and_obey_no_terminal() -> None:
    *files, heading, first, second, total = text(ROW)
    assert files == ["- one.jsonl", "+ two.json"]
    assert (heading, total) == ("text.text changed, content: line 3 /a → /b", "1 difference of content")
    assert first.startswith('  - "xxx')
    assert len(first) <= WIDTH + 5
    assert second == '  + "\\u001b]0;title\\u0007"'


def test_long_values_are_shown_around_the_words_that_differ() -> None:
    words = "same " * 300
    *_, first, second, _ = text({**ROW, "before": f"{words}one {words}", "after": f"{words}two {words}"})
    assert "one same" in first
    assert "two same" in second
    assert max(len(first), len(second)) <= WIDTH + 5


def test_what_only_one_side_has_has_one_place() -> None:
    gone = {**ROW, "kind": "dropped", "level": "context"}
    lines = text(gone, {**ROW, "kind": "invented"})
    assert [line[:3] for line in lines if line.startswith("  ")] == ["  -", "  +"]
    assert [line for line in lines if line.startswith("text.text")] == [
        "text.text only in the first, context: line 3 /a",
        "text.text only in the second, content: /b",
    ]
    assert lines[-1] == "2 differences: 1 of content, 1 of context"
