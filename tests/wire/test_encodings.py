"""What a file is that is no UTF-8 text."""

from __future__ import annotations

import pytest

from convcli.wire import encodings


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n\x1a\n", "this looks like a PNG image, not like JSON"),
        (b"200005 35644 200008 1844\n", "this looks like a row of numbers, such as tokens, not like JSON"),
        ('{"a":1}'.encode("utf-16"), "this is UTF-16LE; JSON must be UTF-8"),
        ('{"a":1}'.encode("utf-32-be"), "this is UTF-32BE; JSON must be UTF-8"),
    ],
)
def test_the_first_bytes_say_what_a_file_is(data: bytes, message: str) -> None:
    foreign = encodings.of_beginning(data)
    assert foreign is not None
    assert foreign.message == message


@pytest.mark.parametrize("data", [b"", b"1", b"1\n2\n3\n", b"1.5 2", b"[1, 2, 3]", b'{"a": 1}', '"大"'.encode()])
def test_what_may_be_json_is_not_judged_by_its_beginning(data: bytes) -> None:
    assert encodings.of_beginning(data) is None
