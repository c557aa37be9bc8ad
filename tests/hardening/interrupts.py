"""Ctrl-C at random moments after the start: the process ends by the signal, and never prints a traceback."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.cli_cases import OTHER, environment

LATEST = 0.3
"""Seconds after the start."""
REPORTS = ("convert: ", "stopped")
"""How the lines begin that such a conversion prints, complete or not."""
ENTRY = "from convcli._start import program; import os; os.write(1, b'!'); program()"
"""As in the script that an installer makes; it also reports that it has started."""


def interrupted(source: Path, seconds: float) -> tuple[int, str]:
    """Returns the exit code and the standard error of a conversion that receives SIGINT after so many seconds."""
    words = [sys.executable, "-c", ENTRY, "convert", str(source), "--to", "anthropic", "--from", OTHER]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, env=environment(), **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.read(1) == b"!"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        reported = process.communicate()[1].decode()
    return process.returncode, reported


def defects(source: Path, count: int, seed: str) -> Iterator[str]:
    chance = random.Random(seed)
    for number in range(count):
        seconds = chance.uniform(0, LATEST)
        code, reported = interrupted(source, seconds)
        if code not in (0, -signal.SIGINT) or not all(line.startswith(REPORTS) for line in reported.splitlines()):
            yield f"{number} of seed {seed}, {seconds:.3f} s: exit code {code}, {reported}"
