"""The program as a process: how fast it starts, what its cost and memory are by size, what a second process brings.

Modules are compiled before, as after `pip install`, also where this process writes no compiled modules. Two busy cores
share caches and memory: compare the cost of `-j 2` with that of two independent processes at the same time.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.benchmarks import data

MEGABYTE = 1 << 20
SCALES = {"long": 1.0, "short": 0.18}
"""Messages of 2 KB and of 0.4 KB."""


class Run(NamedTuple):
    """What one run of a command took: wall and CPU seconds of all its processes, and the peak of the largest, in MB."""

    wall: float
    cpu: float
    peak: float


def run(words: Sequence[object]) -> Run:
    """Run a command whose output nobody reads. Raises RuntimeError when it fails."""
    return run_together(words)[0]


def run_together(*commands: Sequence[object]) -> list[Run]:
    """Run commands at the same time; the order is theirs. Raises RuntimeError when one fails."""
    begin = time.perf_counter()
    started = [_started(words) for words in commands]
    runs = []
    for process in started:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        runs.append(Run(time.perf_counter() - begin, cpu, usage.ru_maxrss / 1024))
    if any(process.returncode for process in started):
        raise RuntimeError(f"exit codes {[process.returncode for process in started]}: {commands}")
    return runs


def _started(words: Sequence[object]) -> subprocess.Popen[bytes]:
    arguments, null = [str(word) for word in words], subprocess.DEVNULL
    return subprocess.Popen(arguments, stdout=null, stderr=null, env=_environment())


@cache
def _environment() -> dict[str, str]:
    """Variables with which Python keeps compiled modules, in a folder that ends with this process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    variables = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables


def program() -> list[str]:
    """The program as pip installs it, else as a module."""
    installed = Path(sys.executable).with_name("convcli")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "convcli"]


def startup(rounds: int) -> list[tuple[str, ...]]:
    """Calls of the program on a small file against an interpreter that does nothing, in turn, by wall and CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.json"
        small.write_text(json.dumps(data.conversation(1, 0.05)))
        calls: dict[str, list[object]] = {
            "--version": ["--version"],
            "convert --from": ["convert", small, "--from", "openai-chat", "--to", "anthropic"],
            "convert": ["convert", small, "--to", "anthropic"],
            "validate": ["validate", small],
            "inspect": ["inspect", small],
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
        for number in range(rounds + 1):
            base = run([sys.executable, "-c", "pass"])
            for name, words in calls.items():
                each = run([*program(), *words])
                if number:  # the first fills the caches
                    found[name].append((each.wall / base.wall, each.cpu / base.cpu))
    rows: list[tuple[str, ...]] = [("× python -c pass", "wall", "CPU")]
    for name, ratios in found.items():
        rows.append((name, *(f"{median(column):.2f}" for column in zip(*ratios, strict=True))))
    return rows


def scale(rounds: int, sizes: Sequence[int]) -> list[tuple[str, ...]]:
    """Files of records, sizes in MB: what a byte costs, against the first size; peak memory; what `-j 2` brings.

    The last column is the lower bound for `-j 2` on this machine: what each of two processes costs that convert a file
    each at the same time, against one alone.
    """
    head = ("JSONL", "CPU for a byte", "peak MB", "peak MB with -j 2", "-j 1 ÷ -j 2, wall", "CPU of -j 2 ÷ -j 1")
    rows: list[tuple[str, ...]] = [(*head, "CPU of two ÷ one")]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        source, target, other = (Path(folder) / name for name in ("in.jsonl", "out.jsonl", "other.jsonl"))
        for name, factor in SCALES.items():
            first = 0.0
            for size in sizes:
                _fill(source, size * MEGABYTE, factor)
                words = [*program(), "convert", source, "--from", "openai-chat", "--to", "anthropic", "--force"]
                both = [*words, "-o", target, "-j", 2]
                run(both)  # compiles the modules
                alone = [*words, "-o", target]
                apart = alone, [*words, "-o", other]
                each = [(run(alone), run(both), run_together(*apart)) for _ in range(rounds)]
                cost = median(one.cpu for one, _, _ in each) / size
                first = first or cost
                row = [f"{cost / first:.2f}", f"{max(one.peak for one, _, _ in each):.0f}"]
                row += [f"{max(two.peak for _, two, _ in each):.0f}"]
                row += [f"{median(one.wall / two.wall for one, two, _ in each):.2f}"]
                row += [f"{median(two.cpu / one.cpu for one, two, _ in each):.2f}"]
                row += [f"{median((a.cpu + b.cpu) / 2 / one.cpu for one, _, (a, b) in each):.2f}"]
                rows.append((f"{name} messages, {size:,} MB", *row))
    return rows


def _fill(path: Path, size: int, factor: float) -> None:
    written = 0
    with path.open("wb") as file:
        for line in cycle(data.lines(60, factor)):
            written += file.write(line + b"\n")
            if written >= size:
                return
