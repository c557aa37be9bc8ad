"""A pager, as people set one with PAGER: a program that shows what is longer than the terminal."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

USUAL = ("less", "-FRX")
"""It ends by itself where all fits on the screen, lets our colours through, and leaves the text there."""


class Pager:
    """A pager that starts when there is something to show; where that fails, the terminal gets all."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None

    def write(self, data: bytes) -> None:
        """Give it more to show. Raises BrokenPipeError when somebody has closed it."""
        if self._process is None and self._words:
            self._start()
        stream = sys.stdout.buffer if self._process is None else self._process.stdin
        if stream is not None:
            stream.write(data)

    @property
    def is_running(self) -> bool:
        """Has it taken over the terminal?"""
        return self._process is not None

    def flush(self) -> None:
        """What was written is seen now, though more will come. Raises BrokenPipeError when somebody has closed it."""
        stream = sys.stdout.buffer if self._process is None else self._process.stdin
        if stream is not None:
            stream.flush()

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE)
        except OSError:
            self._words = []

    def close(self) -> None:
        """Wait until somebody has closed it: an interrupt before that is for the pager."""
        if self._process is None:
            return
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with suppress(BrokenPipeError):
                self._process.communicate()
        finally:
            signal.signal(signal.SIGINT, before)


def command(wanted: bool | None, environment: Mapping[str, str]) -> list[str]:
    """The words that start a pager; none where no terminal listens, where it is unwanted, and where PAGER is empty."""
    streams = (sys.stdin, sys.stdout)
    if wanted is False or environment.get("TERM", "dumb") == "dumb":
        return []
    if any(stream is None or not stream.isatty() for stream in streams):
        return []
    chosen = environment.get("PAGER")
    return shlex.split(chosen) if chosen is not None else list(USUAL) if shutil.which(USUAL[0]) else []
