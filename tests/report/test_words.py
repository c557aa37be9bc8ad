"""Which words of two texts differ: the pieces give both texts back, and equal pieces are equal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from convcli.report.words import CONTEXT, MOST_WORDS, Words, around_changes, compared

TEXTS = st.text(st.sampled_from("ab .é\n"), max_size=40)


@given(TEXTS, TEXTS)
def test_the_pieces_are_the_texts_and_only_what_is_marked_differs(before: str, after: str) -> None:
    first, second = compared(before, after)
    assert ["".join(piece.text for piece in side) for side in (first, second)] == [before, after]
    equal = ["".join(piece.text for piece in side if not piece.differs) for side in (first, second)]
    assert equal[0] == equal[1]
    assert any(piece.differs for piece in first + second) == (before != after)


def test_whole_words_differ() -> None:
    first, second = compared("the red car", "the rod car")
    assert first == [Words("the ", False), Words("red ", True), Words("car", False)]
    assert second[1] == Words("rod ", True)


def test_long_different_parts_are_not_compared_word_by_word() -> None:
    first, _ = compared("same " + "a b " * MOST_WORDS + "end", "same " + "b c " * MOST_WORDS + "end")
    assert [piece.differs for piece in first] == [False, True, False]


def test_equal_text_far_from_a_change_is_left_out() -> None:
    pieces = [Words("x" * 500, False), Words("new", True), Words("y" * 500, False)]
    shown = around_changes(pieces, 200)
    assert [len(piece.text) for piece in shown] == [CONTEXT + 1, 3, CONTEXT + 1]
