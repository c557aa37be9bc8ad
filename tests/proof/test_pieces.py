"""What came in pieces is reported at the piece in which two documents begin to differ."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.model.transcript import Origin, Path
from convcli.proof.pieces import differing


def stream(*deltas: Any) -> Origin:
    """The texts of one thing, which is reported where it began, one in each event."""
    places: list[Path] = [(at, "delta") for at in range(len(deltas))]
    return Origin("", document=[{"delta": delta} for delta in deltas], pieces={places[0]: places})


@pytest.mark.parametrize(
    ("first", "second", "events"),
    [
        (["One ", "two ", "three."], ["One ", "ten ", "three."], (1, 1)),
        (["One ", "two ", "three."], ["One ", "two or ", "three."], (1, 1)),
        (["One ", "two ", "three."], ["One ", "two ", "three. ", "Four."], (2, 2)),
        (["One ", "two ", "three."], ["One two ", "six."], (2, 1)),
        (["One two three."], ["One ", "two ", "four."], (0, 2)),
        (["One ", "two"], ["One ", "two", "."], (1, 2)),
        ([{"a": 1}, {"b": 2}], [{"a": 1}, {"b": 3}], (1, 1)),
        (["One ", "two."], ["One two", "."], (0, 0)),
    ],
)
def test_the_place_is_the_first_piece_that_differs(first: Any, second: Any, events: tuple[int, int]) -> None:
    reported = differing("changed", stream(*first), stream(*second), "/0/delta", "/0/delta")
    assert reported == tuple(f"/{at}/delta" for at in events)


def test_what_is_around_a_piece_leads_to_it_and_what_is_in_a_piece_is_reported_in_it() -> None:
    first, second = stream({"x": 1}, {"x": 2}), stream({"x": 1}, {"x": 3})
    assert differing("changed", first, second, "/0", "/0") == ("/1/delta", "/1/delta")
    assert differing("changed", first, second, "/0/delta/x", "/0/delta/x") == ("/1/delta/x", "/1/delta/x")


def test_what_only_one_document_has_is_reported_at_the_piece_that_the_other_has_not() -> None:
    first, second = stream({}, {}), stream({}, {"note": 1})
    assert differing("invented", first, second, "/0/delta", "/0/delta/note") == ("/0/delta", "/1/delta/note")
    assert differing("dropped", second, first, "/0/delta/note", "/0/delta") == ("/1/delta/note", "/0/delta")


def test_what_did_not_come_in_pieces_keeps_its_place() -> None:
    assert differing("changed", stream("a"), stream("b"), "/7/x", "/8/x") == ("/7/x", "/8/x")
