"""Lines are the same however the bytes come in, and the first two of them show the framing."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.files.lines import Framing, sniff, split_lines


@given(st.lists(st.sampled_from([b"\n", b"\r\n", b'{"a":1}', b"[2]", b" ", b"x", "é".encode(), b'{"b'])), st.randoms())
def test_reading_in_chunks_of_any_size_is_reading_at_once(pieces: list[bytes], luck: random.Random) -> None:
    data = b"".join(pieces)
    chunks, rest = [], data
    while rest:
        size = luck.randint(1, 9)
        chunks.append(rest[:size])
        rest = rest[size:]
    assert list(split_lines(iter(chunks), 1 << 20)) == list(split_lines(iter([data]), 1 << 20))


@pytest.mark.parametrize(
    ("data", "framing", "is_array"),
    [
        (b'{"a": 1}', "json", False),
        (b"\xef\xbb\xbf[1,\n2]", "json", True),
        (b'{"a": 1}\n{"a": 2}\n', "jsonl", False),
        (b'{"a": \n{"a": 2}\n', "json", False),
        (b'{"a": "\n{"a": 2}\n', "jsonl", False),
        (b"event: x\ndata: {}\n\n", "sse", False),
        (b"<|start|>user\n<|message|>", "json", False),
    ],
)
def test_the_first_lines_report_the_framing_and_nothing_is_taken_away(
    data: bytes, framing: Framing, is_array: bool
) -> None:
    reported, array, chunks = sniff(iter([data[:3], data[3:]]), 1 << 20)
    assert (reported, array, b"".join(chunks)) == (framing, is_array, data)
