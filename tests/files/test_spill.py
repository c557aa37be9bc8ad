"""Sets and orders in a temporary file."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from convcli.files.spill import DigestSet, ShuffledLines
from tests.cli_cases import environment

LINES = [f"{number}\n".encode() for number in range(50)]


def test_a_digest_is_new_once() -> None:
    digests = DigestSet()
    assert [digests.add(word) for word in (b"a", b"b", b"a")] == [True, True, False]
    assert b"a" in digests
    assert b"c" not in digests


def shuffled(seed: int, lines: list[bytes]) -> list[bytes]:
    order = ShuffledLines(seed)
    for line in lines:
        order.add(line)
    return list(order)


def test_an_order_depends_on_the_seed_and_the_lines_only() -> None:
    order = shuffled(1, LINES)
    assert sorted(order) == sorted(LINES)
    assert order not in (LINES, LINES[::-1])
    assert shuffled(1, LINES[::-1]) == order
    assert shuffled(2, LINES) != order


def test_equal_lines_all_stay() -> None:
    assert shuffled(1, [b"a\n", b"b\n", b"a\n"]).count(b"a\n") == 2


WITHOUT_SPACE = """
import resource
from convcli.files.spill import DigestSet, ShuffledLines
from convcli.model.errors import OutputError

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
kept = {}
try:
    for number in range(1 << 14):
        kept.add(number.to_bytes(64, "big"))
    list(kept)
except OutputError as error:
    print(error.code, error)
"""


@pytest.mark.parametrize("kept", ["DigestSet(cache=1 << 14)", "ShuffledLines(1, cache=1 << 14)"])
def test_a_full_disk_is_an_error_of_the_temporary_file(kept: str) -> None:
    words = [sys.executable, "-c", WITHOUT_SPACE.format(kept)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=False)
    assert re.match("cannot-write .*cannot write a temporary file: ", done.stdout), done.stderr
