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
    heading, first, second, total = text(ROW)
    assert (heading, total) == ("text.text changed, content", "1 difference: 1 of content")
    assert first == f'  - one.jsonl:3 /a  "{"x" * (WIDTH - 2)}…'
    assert second == '  + two.json /b  "\\u001b]0;title\\u0007"'


def test_long_values_are_shown_where_they_begin_to_differ() -> None:
    _, first, second, _ = text({**ROW, "before": "x" * 300 + "one", "after": "x" * 300 + "two"})
    assert first.endswith(f'  …{"x" * (WIDTH // 3)}one"')
    assert second.endswith(f'  …{"x" * (WIDTH // 3)}two"')


def test_what_only_one_side_has_has_one_place() -> None:
    gone = {**ROW, "kind": "dropped", "level": "context"}
    lines = text(gone, {**ROW, "kind": "invented"})
    assert [line[:3] for line in lines if line.startswith("  ")] == ["  -", "  +"]
    assert lines[-1] == "2 differences: 1 of content, 1 of context"
