"""Ctrl-C at random moments after the start: the process ends by the signal, and never prints a traceback."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.cli_cases import OTHER, environment
from tests.hardening.modes import Tried

LATEST = 0.3
"""Seconds after the start."""
REPORTS = ("convert: ", "stopped")
"""How the lines begin that such a conversion prints, complete or not."""
ENTRY = """
import os, sys
from convcli._start import program

class Report:
    def find_spec(self, name, path=None, target=None):
        if name == "convcli.__main__":
            os.write(1, b"!")

sys.meta_path.insert(0, Report())
program()
"""
"""As in the script that an installer makes. It reports when the entry point has begun: what is before is Python's."""


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


def tried(source: Path, count: int, seed: str) -> Tried:
    """Interrupts conversions at random moments."""
    chance, all_of_them = random.Random(seed), Tried(Counter(), [])
    for number in range(count):
        seconds = chance.uniform(0, LATEST)
        code, reported = interrupted(source, seconds)
        all_of_them.ends[str(code)] += 1
        if code not in (0, -signal.SIGINT) or not all(line.startswith(REPORTS) for line in reported.splitlines()):
            problem = f"{number} of seed {seed}, {seconds:.3f} s: exit code {code}, {reported}"
            all_of_them.defects.append(problem)
    return all_of_them
