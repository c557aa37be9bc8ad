"""A limit of time for an attempt at a part, which is ended between two steps of Python."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from convcli.model.errors import OutputError

CLEANUP = 10.0
"""Seconds that the cleanup of an attempt may take before it is ended too, as when a store does not answer."""


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
    try:
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


def _end(number: int, frame: object) -> None:
    raise TimeLimitReached
