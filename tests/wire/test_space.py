"""What orjson requests is requested before: where the system refuses it, a text is read and written without orjson."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from convcli.wire import space
from tests.cli_cases import environment

SIZE = 1 << 20
VALUES: dict[str, Any] = {
    "letters": "x" * SIZE,
    "control characters": "\x01" * SIZE,
    "characters of four bytes": "\U0001f600" * SIZE,
    "a letter and an emoji": "x" * SIZE + "\U0001f600",
    "a long key": {"x" * SIZE: 1},
    "many strings of control characters": ["\x01" * 100] * (SIZE // 100),
    "many objects": [{"a": 1, "b": None}] * 5_000,
    "empty lists": [[]] * 100_000,
    "numbers": [0.1234567890123] * 100_000,
    "deep lists": [[[[[[[[[[1]]]]]]]]]] * 2_000,
}


def peak(action: Callable[[], Any]) -> int:
    """Returns the bytes that an action requests at its peak."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        action()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", VALUES)
def test_orjson_requests_no_more_than_is_requested_before(name: str) -> None:
    value = VALUES[name]
    raw = orjson.dumps(value)
    assert peak(lambda: orjson.dumps(value)) <= space.of_writing(value)
    assert peak(lambda: orjson.dumps(value, option=orjson.OPT_INDENT_2)) <= space.of_writing(value)
    assert peak(lambda: orjson.loads(raw)) <= space.of_reading(raw)


def test_memory_that_the_system_has_is_given_and_other_memory_refused() -> None:
    space.request(SIZE)
    for size in (1 << 60, 1 << 70):
        with pytest.raises(MemoryError):
            space.request(size)


LIMITED = """
import resource, sys
from convcli.wire import exact_json

more, before = int(sys.argv[1]), int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (before + more, before + more))
try:
    text = b'{"a":"' + b"x" * (40 << 20) + b'","b":[1,2.5,null]}'
    value = exact_json.parse(text)
    assert exact_json.write(value) == exact_json.key(value) == text
    assert exact_json.write_line(value, indent=True).startswith(b'{\\n  "a": "xxx')
    assert exact_json.parse_rounded(text.decode()) == value
except MemoryError:
    print("refused")
else:
    print("written")
"""


def limited(more: int) -> str:
    """Returns what becomes of a text of 40 MiB in a process that may have this much more memory."""
    words = [sys.executable, "-c", LIMITED, str(more)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, (more >> 20, done.returncode, done.stderr)
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no limit of address space, or none that counts")
@pytest.mark.exhaustive
def test_a_large_text_is_read_and_written_or_refused_but_ends_no_process() -> None:
    outcomes = {mebibytes: limited(mebibytes << 20) for mebibytes in (60, 130, 260, 1_000)}
    assert set(outcomes.values()) == {"refused", "written"}
    assert outcomes[260] == outcomes[1_000] == "written"


def test_the_strict_reader_and_writer_are_the_substitute() -> None:
    """In a process of its own, because after a large text all values are measured."""
    code = """
from convcli.wire import exact_json, space

def refuse(size): raise MemoryError
space.LARGE, space.request = 10, refuse
text = '{"a":"é\\\\n\\\\ud800","b":[1,2.5,null,12345678901234567890123]}'
value = exact_json.parse(text)
assert exact_json.write_text(value) == text, exact_json.write_text(value)
assert exact_json.parse_rounded(text) == value
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr.decode()
