"""Simulates an array job: `python -m tests.parts_long --parts 16000 --tasks 1000 [--processes 200] [--seed 7]`.

Makes an input of small records, cut into this many parts, and runs the tasks `--part K/N` that share them in a random
order. Most tasks run in this process; at random outputs they die as if killed, and are repeated later. Some run
in processes of their own, which are killed at random moments. Then the last command completes the job. Prints what was
done, and exits 1 if the parts, concatenated, differ from the output of one process, or if `parts verify` finds a
difference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from importlib import import_module
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from convcli.__main__ import main as convcli
from convcli.files.outputs import Replacement
from convcli.parts.verifying import Verified, verify
from tests.cli_cases import OTHER, ROOT

SIZE = 600
"""Bytes of a part: four or five records."""
DYING = 0.3
"""The share of tasks that die at one of their outputs, and of those that do so again."""
LONGEST = 0.6
"""Seconds until a process is killed; some have finished by then."""
PROGRAM = "import convcli.cli._parts as parts, convcli.__main__ as main; parts.LEAST = 1; main.program()"
ACCEPTED = (0, 1)
"""Exit codes of tasks that are done: some records are not accepted."""


class Dead(BaseException):
    """What nothing in the program catches, as a signal that cannot be caught."""


class Counts(NamedTuple):
    """What was done: tasks that died here, processes that were killed, and those that ended before."""

    parts: int
    died: int
    killed: int
    ended: int


def write_input(path: Path, parts: int, luck: Random) -> None:
    """Writes records for this many parts; some are not accepted, some lines are blank."""
    size = 0
    with path.open("wb") as file:
        while size < parts * SIZE - SIZE // 2:
            message = {"role": "user", "name": f"n{luck.randrange(9)}", "content": "x" * luck.randrange(40, 120)}
            line = (
                b"{"
                if luck.random() < 0.01
                else b""
                if luck.random() < 0.01
                else json.dumps({"messages": [message]}).encode()
            )
            size += file.write(line + b"\n")


def words(folder: Path, *more: str) -> list[str]:
    job = ["convert", str(folder / "in.jsonl"), "--from", OTHER, "--to", "anthropic", "--keep-going"]
    return [*job, "--part-size", str(SIZE), "--losses", "all", "--out-dir", str(folder / "out"), *more]


@contextmanager
def dying_at(number: int) -> Iterator[None]:
    """Ends the block at an output: before it appears, or just after that."""
    publish, calls = Replacement.publish, iter(range(10**9))

    def dying(output: Replacement) -> None:
        at = next(calls)
        if at == number // 2 and not number % 2:
            raise Dead
        publish(output)
        if at == number // 2:
            raise Dead

    Replacement.publish = dying  # type: ignore[method-assign]
    try:
        yield
    finally:
        Replacement.publish = publish  # type: ignore[method-assign]


def run_here(arguments: list[str], dies_at: int | None) -> bool:
    """Runs a task in this process. Returns False if it died."""
    with redirect_stderr(TextIOWrapper(BytesIO(), "utf-8")) as printed:
        try:
            with dying_at(-2 if dies_at is None else dies_at):
                code = convcli(arguments)
        except Dead:
            return False
    assert code in ACCEPTED, printed.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return True


def run_killed(arguments: list[str], luck: Random) -> bool:
    """Runs a task in a process that is killed. Returns True if it had finished before."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=environment,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(luck.uniform(0, LONGEST))
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    code = process.wait()
    assert code in (*ACCEPTED, -signal.SIGKILL), code
    return code != -signal.SIGKILL


def simulate(folder: Path, parts: int, tasks: int, processes: int, seed: int) -> Counts:
    """Runs the tasks in a random order until each is done; `processes` of the attempts are killed.

    Raises AssertionError for a task that fails."""
    luck = Random(seed)
    write_input(folder / "in.jsonl", parts, luck)
    parts = -(-(folder / "in.jsonl").stat().st_size // SIZE)
    tasks = min(tasks, parts)
    waiting = list(range(1, tasks + 1))
    luck.shuffle(waiting)
    in_processes = set(waiting[:processes])
    died = killed = ended = 0
    while waiting:
        task = waiting.pop()
        arguments = words(folder, "--part", f"{task}/{tasks}")
        if task in in_processes:
            in_processes.remove(task)
            is_done = run_killed(arguments, luck)
            ended, killed = ended + is_done, killed + (not is_done)
        else:
            is_done = run_here(arguments, luck.randrange(8) if luck.random() < DYING else None)
            died += not is_done
        if not is_done:
            waiting.insert(luck.randrange(len(waiting) + 1), task)
        if len(waiting) % 500 == 0:
            tell(f"{len(waiting):,} tasks left, {died:,} died, {killed:,} killed, {ended:,} ended")
    return Counts(parts, died, killed, ended)


def compare(folder: Path) -> list[str]:
    """Completes the job, and returns how it differs from one process."""
    assert run_here(words(folder, "--engine", "local"), None)
    one = [
        str(folder / "in.jsonl"),
        "--from",
        OTHER,
        "--to",
        "anthropic",
        "--keep-going",
        "-o",
        str(folder / "one.jsonl"),
    ]
    assert run_here(["convert", *one, "--losses", str(folder / "losses.json")], None)
    differences = [f"{each.file} {each.problem}" for each in verify(str(folder / "out"), Verified())]
    with (folder / "one.jsonl").open("rb") as file:
        if digest(joined(folder / "out")) != digest(iter(lambda: file.read(1 << 20), b"")):
            differences.append("the documents differ")
    losses = [json.loads(line) for data in joined(folder / "out/_losses") for line in data.splitlines()]
    if losses != json.loads((folder / "losses.json").read_bytes()):
        differences.append("the losses differ")
    return differences


def joined(folder: Path) -> Iterator[bytes]:
    return (path.read_bytes() for path in sorted(folder.glob("part-*.jsonl")))


def digest(pieces: Iterator[bytes]) -> str:
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(piece)
    return whole.hexdigest()


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, default=16_000)
    parser.add_argument("--tasks", type=int, default=16_000, help="tasks that share the parts")
    parser.add_argument("--processes", type=int, default=300, help="tasks in processes that are killed")
    parser.add_argument("--seed", type=int, default=7)
    chosen: Any = parser.parse_args(arguments)
    import_module("convcli.cli._parts").LEAST = 1  # type: ignore[attr-defined]
    os.fsync = lambda _: None  # processes are killed here, the machine is not switched off
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        counts = simulate(Path(name), chosen.parts, chosen.tasks, chosen.processes, chosen.seed)
        tell(f"{counts} after {time.monotonic() - begin:.0f} s")
        differences = compare(Path(name))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = [f"{each.ru_utime + each.ru_stime:.0f}" for each in used]
    tell(f"CPU {cpu[0]} s here, {cpu[1]} s in processes; peak {used[0].ru_maxrss >> 10} MB")
    tell(f"differences: {differences or 'none'}")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
