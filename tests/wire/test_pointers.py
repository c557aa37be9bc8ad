"""A JSON Pointer, its steps and the value that they lead to are one thing said in three ways (RFC 6901)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.wire import pointers

DOCUMENT: Any = {"a": [{"b": 1}, 2], "": 3, "m/n": 4, "o~1p": 5, "$defs": {"x": {"0": 6}}}


@given(st.lists(st.text()))
def test_the_steps_of_a_pointer_are_those_that_it_was_made_of(path: list[str]) -> None:
    assert list(pointers.steps(pointers.pointer(path))) == path


@pytest.mark.parametrize(
    ("pointer", "value"),
    [("", DOCUMENT), ("/a/0/b", 1), ("/a/1", 2), ("/", 3), ("/m~1n", 4), ("/o~01p", 5), ("/$defs/x/0", 6)],
)
def test_a_pointer_leads_to_its_value(pointer: str, value: Any) -> None:
    assert pointers.resolve(DOCUMENT, pointers.steps(pointer)) == value
    assert pointers.follow(DOCUMENT, f"#{pointer}") == value


@pytest.mark.parametrize(
    "path", [("b",), ("a", "01"), ("a", "-"), ("a", "-1"), ("a", "9" * 5000), ("a", 5), ("a", 0, "b", 0), (0,)]
)
def test_a_path_to_nothing_is_a_lookup_error(path: tuple[str | int, ...]) -> None:
    with pytest.raises(LookupError):
        pointers.resolve(DOCUMENT, path)


def test_what_does_not_begin_with_a_slash_is_no_pointer() -> None:
    with pytest.raises(ValueError):
        pointers.steps("a/b")
    with pytest.raises(LookupError):
        pointers.follow(DOCUMENT, "#a")


@pytest.mark.parametrize("step", ["-", "-1", "01", "", "1.0", "²", "9" * 5000])
def test_an_index_is_digits_without_a_leading_zero(step: str) -> None:
    assert pointers.index("10") == 10
    with pytest.raises(ValueError):
        pointers.index(step)


def test_the_members_of_a_value_are_what_stands_directly_in_it() -> None:
    assert [list(pointers.members(value)) for value in ({"a": [1]}, [2, [3]], "text")] == [[[1]], [2, [3]], []]
