"""Ctrl-C at random moments after the start: the process ends by the signal, and never prints a traceback."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_cases import CLEAN, OTHER, environment, write

SEED = 20261127
COUNT = min(int(os.environ.get("CONVCLI_HARDENING", "60")) // 20, 100)
LATEST = 0.3
"""Seconds after the start."""
REPORTS = ("", "stopped\n", "stopped; nothing was written\n")
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


def defects(source: Path, count: int, seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    for number in range(count):
        seconds = chance.uniform(0, LATEST)
        code, reported = interrupted(source, seconds)
        ended = code == 0 or (
            code == -signal.SIGINT and reported in ("", "stopped\n", "stopped; nothing was written\n")
        )
        if not ended or "Traceback" in reported:
            yield f"{number} of seed {seed}, {seconds:.3f} s: exit code {code}, {reported}"


@pytest.mark.hardening
@pytest.mark.exhaustive
def test_ctrl_c_at_any_moment_prints_no_traceback(tmp_path: Path) -> None:
    assert list(defects(write(tmp_path / "a.json", CLEAN), COUNT, SEED)) == []
