"""A limit of time for an attempt at a part, which is ended between two steps of Python."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from convcli.model.errors import OutputError
from convcli.model.modules import is_loaded_in

CLEANUP = 10.0
"""Seconds that the cleanup of an attempt may take before it is ended too, as when a store does not answer."""
SOON = 0.005
"""Seconds until an alarm is repeated that came where nothing can be ended."""


class TimeLimitReached(BaseException):
    """The attempt has taken too long."""


def has_timers() -> bool:
    """True if the system can interrupt a process after a time."""
    return hasattr(signal, "setitimer")


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Ends the block after this time, if any; in the main thread of a process without another timer.

    Raises OutputError `time-limit`, which a further attempt may avoid: most often a store was slow."""
    if seconds is None:
        yield
        return
    hook = sys.unraisablehook

    def ignored(unraisable: sys.UnraisableHookArgs) -> None:
        """Repeats an alarm that came while Python ran what must not fail, such as the end of an object's life."""
        if unraisable.exc_type is TimeLimitReached:
            _repeat()
        else:
            hook(unraisable)

    try:
        sys.unraisablehook = ignored
        try:
            signal.signal(signal.SIGALRM, _end)
            signal.setitimer(signal.ITIMER_REAL, seconds, CLEANUP)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TimeLimitReached:
        signal.setitimer(signal.ITIMER_REAL, 0)  # the alarm may have come just before it was switched off
        message = f"the part was ended after {seconds:,g} s, the limit of --part-timeout"
        raise OutputError("time-limit", message, help="a larger limit, or a smaller --part-size") from None
    finally:
        sys.unraisablehook = hook


def _end(number: int, frame: FrameType | None) -> None:
    if is_loaded_in(frame):
        _repeat()
    else:
        raise TimeLimitReached


def _repeat() -> None:
    signal.setitimer(signal.ITIMER_REAL, SOON, CLEANUP)
