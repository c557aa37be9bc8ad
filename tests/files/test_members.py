"""The members of a JSON array, one at a time."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.files.members import Member, begins_array, split_members
from convcli.model.errors import ContentError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def split(data: bytes, size: int = 1 << 16, largest: int = 1 << 20) -> list[Member]:
    return list(split_members(pieces(data, size), largest))


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@given(st.lists(VALUES, max_size=5), st.sampled_from([None, 0, 1]), st.integers(1, 9), st.booleans())
def test_the_members_are_those_of_the_array_wherever_the_bytes_are_cut(
    values: list[Any], indent: int | None, size: int, is_ascii: bool
) -> None:
    data = json.dumps(values, indent=indent, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    members = split(data, size)
    assert [json.loads(member.raw.decode("utf-8", "surrogatepass")) for member in members] == values
    assert [member.number for member in members] == list(range(len(values)))
    assert not any(member.problem for member in members)


def test_each_member_has_its_line_column_and_byte() -> None:
    text = '\ufeff[ "東京",\n  {"a": "]"},\n{}]'
    places = [(member.begin, member.raw.decode()) for member in split(text.encode(), 2)]
    assert places == [((1, 3, 5), '"東京"'), ((2, 3, 17), '{"a": "]"}'), ((3, 1, 29), "{}")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1 2]", ["1", "a comma or a closing bracket is missing here", "2"]),
        ("[,1]", ["no JSON value begins here", "1"]),
        ("[1,]", ["1", "no JSON value begins here"]),
        ("[1", ["1", "the document ends before it is complete"]),
        ("[1,", ["1", "the document ends before it is complete"]),
        ("[", ["the document ends before it is complete"]),
        ("[1] 2", ["1", "one JSON value is complete, and more follows it here"]),
        ("[{]}, 2]", ["{]", "a comma or a closing bracket is missing here", "}", "2"]),
        ("[a:b, 1]", ["a:b", "1"]),
    ],
)
def test_where_json_breaks_it_is_reported_and_the_others_are_read(text: str, expected: list[str]) -> None:
    assert [member.problem or member.raw.decode() for member in split(text.encode(), 1)] == expected


def test_a_member_that_is_too_large_is_an_error_with_its_place() -> None:
    with pytest.raises(ContentError) as caught:
        split(b'[1,\n "' + b"x" * 3000 + b'"]', 64, largest=1000)
    assert (caught.value.code, caught.value.line, caught.value.byte) == ("line-too-long", 2, 5)


@pytest.mark.exhaustive
def test_an_array_of_any_length_needs_little_memory() -> None:
    member = json.dumps({"text": "x" * 1000}).encode()
    endless = (piece for _ in range(20_000) for piece in (member, b","))
    tracemalloc.start()
    try:
        count = sum(not each.problem for each in split_members(_array(endless), 1 << 20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 20_001
    assert peak < 1 << 20


def _array(members: Iterator[bytes]) -> Iterator[bytes]:
    yield b"["
    yield from members
    yield b"{}]"


@pytest.mark.parametrize(("text", "is_array"), [(b" [1", True), (b"\xef\xbb\xbf[", True), (b"{}", False), (b"", False)])
def test_an_array_begins_with_a_bracket(text: bytes, is_array: bool) -> None:
    assert begins_array(text) is is_array
