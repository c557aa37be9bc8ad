"""Progress of a long job, in bytes: a line that is redrawn on a terminal, and a new line every ten seconds elsewhere.

A timer of the system writes the line between two steps of the work, so the work need not know of it, and no thread
hinders other processes. Anything else that the program prints on a terminal clears the line first.
"""

from __future__ import annotations

import _signal as signal  # as in `__main__`
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from types import FrameType, TracebackType

FIRST, EVERY = 1.0, 0.25
"""Seconds before the line is drawn for the first time on a terminal, and between two drawings."""
EVERY_LINE = 10.0
"""Seconds between two lines where stderr is no terminal."""
SMALLEST = 1 << 16
"""Bytes of a job below which there is no line: it is never long by itself, whatever else the machine does."""
ESTIMATE_FROM = 0.02
"""The part of the work that must be done before the line estimates the time that is left."""
BAR = 20
UNITS = ("bytes", "kB", "MB", "GB", "TB")
CLEAR = b"\r\x1b[K"


class Progress:
    """Shows how much of `total` bytes is done.

    `reading` returns the bytes read of the current input; `passed` counts those of the inputs before it.
    """

    def __init__(self, total: int, *, shown: bool = True) -> None:
        self.total, self.passed, self.inputs = total, 0, 0
        self.reading: Callable[[], int] = lambda: 0
        self._begin, self._drawn = monotonic(), False
        self._shown = shown and total >= SMALLEST and sys.stderr is not None and hasattr(signal, "setitimer")
        self._redrawn = is_terminal()

    def __enter__(self) -> Progress:
        if self._shown:
            times = (FIRST, EVERY) if self._redrawn else (EVERY_LINE, EVERY_LINE)
            try:
                signal.signal(signal.SIGALRM, self._tick)
                signal.setitimer(signal.ITIMER_REAL, *times)
            except ValueError:  # signals reach the main thread only
                self._shown = False
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def watch(self, reading: Callable[[], int]) -> None:
        """Sets the input that is read now."""
        self.reading = reading

    def pass_by(self, size: int) -> None:
        """Counts an input of this size as done."""
        self.passed += size
        self.inputs += 1
        self.reading = lambda: 0

    def summary(self) -> str:
        """Returns `12 files, 500 MB in 37.6 s, 13 MB/s`."""
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
        """Clears the line and draws it no more."""
        if self._shown:
            self._shown = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            self.clear()

    def _tick(self, number: int, frame: FrameType | None) -> None:
        done = min(self.passed + self.reading(), self.total)
        shown = line(done, self.total, monotonic() - self._begin)
        if self._redrawn:
            _put(CLEAR + f"{bar(done, self.total)} {shown}".encode())
            self._drawn = True
        else:
            _put(f"{shown}\n".encode())


def is_terminal() -> bool:
    """True if stderr is a terminal on which a line can be redrawn."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def bar(done: int, total: int) -> str:
    """Returns `[####    ]`."""
    return f"[{('#' * (BAR * done // total)).ljust(BAR)}]"


def line(done: int, total: int, seconds: float) -> str:
    """Returns `45%  1.2 of 3.4 GB  65 MB/s  0:32 left`; with a bar it fills at most 79 cells."""
    speed = done / seconds if seconds else 0.0
    left = f"  {_clock((total - done) / speed)} left" if speed and ESTIMATE_FROM * total <= done < total else ""
    return f"{100 * done // total:3}%  {size(done)} of {size(total)}  {size(int(speed))}/s{left}"


def size(number: int) -> str:
    """Returns `1.2 GB`: three digits at most."""
    value, unit = float(number), 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {UNITS[unit]}" if unit == 0 or value >= 9.95 else f"{value:.1f} {UNITS[unit]}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(min(int(seconds + 0.5), 359_999), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _put(text: bytes) -> None:
    """Writes without the buffers of stderr, which the interrupted work may be writing to."""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), text)
