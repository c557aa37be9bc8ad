"""How far a long job is, in bytes, on one line of the terminal.

Only where standard error is a terminal, and only after a second. A timer of the system draws the line between two
steps of the work, so the work need not know of it and no thread stands in the way of other processes. What the
program prints takes the line away first.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from types import FrameType, TracebackType

FIRST, EVERY = 1.0, 0.25
"""Seconds before the line is drawn for the first time, and between two drawings."""
ESTIMATE_FROM = 0.02
"""What must be done before it is told how long the rest takes."""
BAR = 20
UNITS = ("bytes", "kB", "MB", "GB", "TB")
CLEAR = b"\r\x1b[K"


class Progress:
    """A line that says how much of `total` bytes is done. `reading` gives the bytes that were read of the input that is
    being read; `passed` are those of the inputs before it."""

    def __init__(self, total: int, *, shown: bool | None = None) -> None:
        self.total, self.passed, self.inputs = total, 0, 0
        self.reading: Callable[[], int] = lambda: 0
        self._begin, self._drawn = monotonic(), False
        self._shown = (is_wanted() if shown is None else shown) and total > 0

    def __enter__(self) -> Progress:
        if self._shown:
            signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, FIRST, EVERY)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def watch(self, reading: Callable[[], int]) -> None:
        """From now on this input is read."""
        self.reading = reading

    def pass_by(self, size: int) -> None:
        """An input of this size is done."""
        self.passed += size
        self.inputs += 1
        self.reading = lambda: 0

    def summary(self) -> str:
        """`12 files, 500 MB in 37.6 s, 13 MB/s`."""
        seconds = monotonic() - self._begin
        speed = size(int(self.passed / seconds)) if seconds else "0 bytes"
        unit = "file" if self.inputs == 1 else "files"
        return f"{self.inputs:,} {unit}, {size(self.passed)} in {seconds:.1f} s, {speed}/s"

    def clear(self) -> None:
        """Take the line away, until it is drawn anew."""
        if self._drawn:
            self._drawn = False
            _put(CLEAR)

    def stop(self) -> None:
        """Take the line away for good."""
        if self._shown:
            self._shown = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            self.clear()

    def _tick(self, number: int, frame: FrameType | None) -> None:
        done = min(self.passed + self.reading(), self.total)
        _put(CLEAR + line(done, self.total, monotonic() - self._begin).encode())
        self._drawn = True


def is_wanted() -> bool:
    """Does a person look at standard error, and can the system wake us?"""
    there = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return there and hasattr(signal, "setitimer")


def line(done: int, total: int, seconds: float) -> str:
    """`[####    ] 45%  1.2 of 3.4 GB  65 MB/s  0:32 left`, in at most 79 cells."""
    bar = ("#" * (BAR * done // total)).ljust(BAR)
    speed = done / seconds if seconds else 0.0
    left = f"  {_clock((total - done) / speed)} left" if speed and ESTIMATE_FROM * total <= done < total else ""
    return f"[{bar}] {100 * done // total:3}%  {size(done)} of {size(total)}  {size(int(speed))}/s{left}"


def size(number: int) -> str:
    """`1.2 GB`: three digits at most."""
    value, unit = float(number), 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {UNITS[unit]}" if unit == 0 or value >= 9.95 else f"{value:.1f} {UNITS[unit]}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(min(int(seconds + 0.5), 359_999), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _put(text: bytes) -> None:
    """Past the buffers, in which the work that was interrupted may be writing."""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), text)
