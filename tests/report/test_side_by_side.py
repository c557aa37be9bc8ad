"""Two conversations side by side: what stands in one row, what is folded, what is marked."""

from __future__ import annotations

import re

from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from convcli.report.side_by_side import FIRST, MOST_EQUAL, Comparison, page


def said(*texts: str) -> Transcript:
    return Transcript([Message("user", [Text(text)]) for text in texts])


def shown(
    first: Transcript | None, second: Transcript | None, changed: tuple[range, range] = (range(99), range(99))
) -> str:
    return "".join(page("a.json", "b.json", [Comparison(first, second, [], changed)], "1 difference"))


def cells(text: str) -> list[tuple[str, str]]:
    """Returns the words of the cells of each row."""
    rows = re.findall(r'<section class="row[^>]*><div>(.*?)</div><div>(.*?)</div></section>', text, re.DOTALL)
    return [(re.sub("<[^>]+>", " ", one).strip(), re.sub("<[^>]+>", " ", other).strip()) for one, other in rows]


def test_a_message_that_only_one_has_stands_alone_and_the_others_stay_aligned() -> None:
    rows = cells(shown(said("a", "b", "c"), said("a", "c")))
    assert [bool(other) for _, other in rows] == [True, False, True]


def test_messages_of_one_shape_stand_side_by_side_with_their_words_marked() -> None:
    text = shown(said("a", "the red car"), said("a", "the rod car"))
    assert "the <del>red </del>car" in text
    assert "the <ins>rod </ins>car" in text


def test_equal_messages_far_from_a_difference_are_folded() -> None:
    equal = [f"m{n}" for n in range(10)]
    text = shown(said(*equal, "x"), said(*equal, "y"))
    assert "<summary>8 equal messages</summary>" in text


def test_long_equal_texts_are_folded_and_cut_between_changes() -> None:
    long = "word " * MOST_EQUAL
    assert f"<summary>{long[:FIRST]}…" in shown(said(long, "x"), said(long, "y"))
    assert "equal …]" in shown(said(f"x {long}"), said(f"y {long}"))


def test_a_failed_result_is_visible_and_equal_conversations_have_no_rows() -> None:
    call = Message("assistant", [ToolCall("a", "f", {})])
    failed = Message("tool", [ToolResult("a", "f", "error", "no")])
    fine = Message("tool", [ToolResult("a", "f", "text", "yes")])
    text = shown(Transcript([call, failed]), Transcript([call, fine]))
    assert '<h3 class="failed">result f failed</h3>' in text
    assert cells(shown(said("a"), said("a"))) == []


def test_a_conversation_that_only_one_file_has_is_shown() -> None:
    assert cells(shown(None, said("a"))) == [("", "user · 0   a")]
