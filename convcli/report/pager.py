"""The pager named by PAGER: a program that shows output longer than the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

USUAL = ("less", "-FRX")
"""It exits if everything fits on the screen, passes colors through, and leaves the text on the screen."""


class Pager:
    """A pager that starts with the first output; if it cannot start, output goes to the terminal."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None

    def write(self, data: bytes) -> None:
        """Writes data to the pager. Raises BrokenPipeError if the user has closed it."""
        if self._process is None and self._words:
            self._start()
        stream = sys.stdout.buffer if self._process is None else self._process.stdin
        if stream is not None:
            stream.write(data)

    @property
    def is_running(self) -> bool:
        """True if the pager controls the terminal."""
        return self._process is not None

    def flush(self) -> None:
        """Flushes the output. Raises BrokenPipeError if the user has closed the pager."""
        stream = sys.stdout.buffer if self._process is None else self._process.stdin
        if stream is not None:
            stream.flush()

    def _start(self) -> None:
        import subprocess  # takes as long to import as the interpreter to start

        try:
            self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE)
        except OSError:
            self._words = []

    def close(self) -> None:
        """Waits until the user closes the pager. Interrupts in the meantime are for the pager."""
        if self._process is None:
            return
        import signal

        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with suppress(BrokenPipeError):
                self._process.communicate()
        finally:
            signal.signal(signal.SIGINT, before)


def command(wanted: bool | None, environment: Mapping[str, str]) -> list[str]:
    """Returns the pager's command line; empty without a terminal, if it is unwanted, or if PAGER is empty."""
    streams = (sys.stdin, sys.stdout)
    if wanted is False or environment.get("TERM", "dumb") == "dumb":
        return []
    if any(stream is None or not stream.isatty() for stream in streams):
        return []
    import shlex
    import shutil

    chosen = environment.get("PAGER")
    return shlex.split(chosen) if chosen is not None else list(USUAL) if shutil.which(USUAL[0]) else []
