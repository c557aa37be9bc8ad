"""convcli inspect --follow: what is added to a session is shown, once, and soon."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli_cases import CLEAN, command, environment, run, write

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}


def said(number: int, role: str = "user") -> dict[str, Any]:
    return {
        "type": "message", "id": f"m{number}", "parentId": f"m{number - 1}" if number else None,
        "timestamp": f"2026-01-01T00:00:0{number}.000Z",
        "message": {"role": role, "content": [{"type": "text", "text": f"text {number}"}]},
    }  # fmt: skip


class Following:
    """The program while it follows a file."""

    def __init__(self, path: Path, *words: str) -> None:
        self.path = path
        call = command("inspect", path, "--follow", *words)
        self.process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())

    def add(self, *rows: Any) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))

    def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        row: dict[str, Any] = json.loads(self.process.stdout.readline())
        return row

    def read(self) -> int:
        """Returns how many bytes the program has read so far."""
        counts = Path(f"/proc/{self.process.pid}/io").read_text(encoding="ascii")
        return int(counts.split()[1])

    def end(self) -> tuple[int, bytes]:
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=30)
        return self.process.returncode, rest


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Following]:
    following = Following(write(tmp_path / "s.jsonl", HEADER))
    yield following
    following.process.kill()
    following.process.communicate()


def test_each_message_is_shown_when_it_is_written_and_only_once(followed: Following) -> None:
    followed.add(said(0))
    assert followed.next()["text"] == "text 0"
    followed.add(said(1, "assistant"), {"type": "label", "id": "x", "parentId": "m1", "timestamp": "t"})
    assert (row := followed.next())["text"] == "text 1"
    assert (row["message"], row["role"]) == (1, "assistant")
    followed.add(said(2))
    assert followed.next()["text"] == "text 2"
    assert followed.end() == (-signal.SIGINT, b"")


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="this system does not count what a program reads")
def test_of_a_long_session_only_the_end_is_read_again_and_counted_on(tmp_path: Path) -> None:
    filler = "x" * 20_000
    rows = [said(0) | {"id": f"m{number}", "parentId": f"m{number - 1}" if number else None} for number in range(700)]
    for row in rows:
        row["message"] = {"role": "user", "content": [{"type": "text", "text": filler}]}
    rows[3]["message"] = {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "a", "name": "f", "arguments": {}}],
    }
    following = Following(write(tmp_path / "s.jsonl", HEADER, *rows))
    try:
        assert [following.next()["message"] for _ in range(700)] == list(range(700))
        time.sleep(3)
        for number in range(700, 703):
            call = {"type": "toolCall", "id": f"c{number}", "name": "f", "arguments": {}}
            row = said(0) | {"id": f"m{number}", "parentId": f"m{number - 1}"}
            following.add(row | {"message": {"role": "assistant", "content": [call]}})
            read = following.read()
            new = following.next()
            assert (new["message"], new["call"], new["kind"]) == (number, f"#{number - 698}", "call")
            assert following.read() - read < following.path.stat().st_size / 4
    finally:
        following.process.kill()
        following.process.communicate()


def test_half_a_line_is_waited_for(followed: Following) -> None:
    whole = json.dumps(said(0)) + "\n"
    followed.add(whole[:40])
    time.sleep(1)
    followed.add(whole[40:])
    assert followed.next()["text"] == "text 0"
    assert followed.process.poll() is None


def test_what_is_no_transcript_or_no_file_ends_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no\n", encoding="utf-8")
    assert run("inspect", tmp_path / "a.txt", "--follow", timeout=60).returncode == 1
    done = run("inspect", tmp_path / "none.jsonl", "--follow", timeout=60)
    assert (done.returncode, b"[no-such-file]" in done.stderr) == (2, True)


@pytest.mark.skipif(os.geteuid() == 0, reason="this user may read everything")
def test_a_file_that_cannot_be_read_ends_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", HEADER)
    path.chmod(0)
    done = run("inspect", path, "--follow", timeout=60)
    assert (done.returncode, b"[unreadable-input]" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "words", [["--tools"], ["--message", "0"], ["-o", "x"], ["--output-format", "csv"], ["--where", "role=user"]]
)
def test_it_does_not_go_with_what_needs_an_end(tmp_path: Path, words: list[str]) -> None:
    done = run("inspect", write(tmp_path / "a.json", CLEAN), "--follow", *words, timeout=60)
    assert (done.returncode, b"--follow" in done.stderr) == (2, True)
