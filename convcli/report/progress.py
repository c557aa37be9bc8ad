"""Progress of a long job in bytes, on one line of the terminal.

It is shown only if standard error is a terminal, and after a second. A system timer draws the line, so the work need
not know of it and no thread disturbs other processes. Output of the program clears the line first.
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
"""Seconds before the line is first drawn, and between two drawings."""
ESTIMATE_FROM = 0.02
"""Fraction of the work after which the remaining time is estimated."""
BAR = 20
UNITS = ("bytes", "kB", "MB", "GB", "TB")
CLEAR = b"\r\x1b[K"


class Progress:
    """A line that shows how much of `total` bytes is done.

    `reading` returns the bytes read so far from the current input; `passed` counts those of the inputs before it.
    """

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
        """Sets the current input, by a function that returns the bytes read so far."""
        self.reading = reading

    def pass_by(self, size: int) -> None:
        """Counts an input of this size as done."""
        self.passed += size
        self.inputs += 1
        self.reading = lambda: 0

    def summary(self) -> str:
        """Returns a line such as `12 files, 500 MB in 37.6 s, 13 MB/s`."""
        seconds = monotonic() - self._begin
        speed = size(int(self.passed / seconds)) if seconds else "0 bytes"
        unit = "file" if self.inputs == 1 else "files"
        return f"{self.inputs:,} {unit}, {size(self.passed)} in {seconds:.1f} s, {speed}/s"

    def clear(self) -> None:
        """Clears the line until it is drawn again."""
        if self._drawn:
            self._drawn = False
            _put(CLEAR)

    def stop(self) -> None:
        """Clears the line and stops drawing it."""
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
    """True if standard error is a terminal and the system has interval timers."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return is_terminal and hasattr(signal, "setitimer")


def line(done: int, total: int, seconds: float) -> str:
    """Returns `[####    ] 45%  1.2 of 3.4 GB  65 MB/s  0:32 left`, in at most 79 cells."""
    bar = ("#" * (BAR * done // total)).ljust(BAR)
    speed = done / seconds if seconds else 0.0
    left = f"  {_clock((total - done) / speed)} left" if speed and ESTIMATE_FROM * total <= done < total else ""
    return f"[{bar}] {100 * done // total:3}%  {size(done)} of {size(total)}  {size(int(speed))}/s{left}"


def size(number: int) -> str:
    """Formats a number of bytes with at most three digits, such as `1.2 GB`."""
    value, unit = float(number), 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {UNITS[unit]}" if unit == 0 or value >= 9.95 else f"{value:.1f} {UNITS[unit]}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(min(int(seconds + 0.5), 359_999), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _put(text: bytes) -> None:
    """Bypasses the buffers, because the timer may interrupt a write to them."""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), text)
