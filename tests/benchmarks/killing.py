"""A program that is killed at random moments, and the same again until it has ended by itself."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

MARK = "CONVCLI_KILLED"
"""A variable that all processes of one run have in their environment."""
TIMEOUT = 600.0


def family(mark: str) -> list[int]:
    """All processes that have the mark of a run."""
    found = list[int]()
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                if f"{MARK}={mark}".encode() in (place / "environ").read_bytes():
                    found.append(int(place.name))
    return found


def workers(mark: str, program: int) -> list[int]:
    """The processes that do parts: those of Ray that have a task, else the children of the program."""
    found = list[int]()
    for process in family(mark):
        with suppress(OSError):
            words = Path(f"/proc/{process}/cmdline").read_bytes()
            if words.startswith(b"ray::attempt") or b"spawn_main" in words:
                found.append(process)
    return [process for process in found if process != program]


def rounds(words: Sequence[str], count: int, *, is_worker: bool, again: Callable[[], None]) -> Iterator[str]:
    """What the command that follows each kill has told when it ended; `again` makes the next round begin anew.

    Without a worker to be killed the round counts all the same when the program has ended before."""
    usual = _alone(words)
    again()
    for number in range(count):
        mark, moment = uuid.uuid4().hex, random.uniform(0.02, 1.0) * usual
        process = _started(words, mark)
        killed = _killed(process, mark, moment, is_worker=is_worker)
        reported = ""
        if killed == "program" or process.wait(TIMEOUT) not in (0, 1):
            process.wait(TIMEOUT)
            _end(mark)
            process = _started(words, mark)
        assert process.stderr is not None
        reported = process.stderr.read().decode()
        assert process.wait(TIMEOUT) in (0, 1), reported
        _end(mark)
        sys.stdout.write(f"  round {number + 1}: {killed} killed after {moment:.2f} of {usual:.2f} s\n")
        yield reported
        again()


def _alone(words: Sequence[str]) -> float:
    begin = time.perf_counter()
    process = _started(words, uuid.uuid4().hex)
    process.communicate(timeout=TIMEOUT)
    return time.perf_counter() - begin


def _started(words: Sequence[str], mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words, env={**os.environ, MARK: mark}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )


def _killed(process: subprocess.Popen[bytes], mark: str, moment: float, *, is_worker: bool) -> str:
    """Kill at a moment, or at the first behind it at which a worker is there."""
    end = time.perf_counter() + moment
    while process.poll() is None:
        time.sleep(0.005)
        if time.perf_counter() < end:
            continue
        if not is_worker:
            process.kill()
            return "program"
        if there := workers(mark, process.pid):
            with suppress(ProcessLookupError):
                os.kill(random.choice(there), signal.SIGKILL)
                return "worker"
    return "nothing"


def _end(mark: str) -> None:
    """End what a killed program has left; what Ray starts for it ends by itself, but not at once."""
    for _ in range(100):
        there = family(mark)
        if not there:
            return
        time.sleep(0.1)
    for process in family(mark):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
