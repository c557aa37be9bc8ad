"""Tokens, calls and errors per minute."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

from convcli.views.times import moment_of

KINDS = ("tokens", "calls", "errors")


class Timeline:
    """Counts of each kind, by known times."""

    def __init__(self) -> None:
        self._minutes: dict[str, Counter[int]] = {kind: Counter() for kind in KINDS}

    def add(self, time: str | None, **counts: int) -> None:
        """Adds counts at an RFC 3339 time; without a time they are left out."""
        minute = _minute(time) if any(counts.values()) else None
        if minute is not None:
            for kind, number in counts.items():
                self._minutes[kind][minute] += number

    def spans(self, number: int) -> Spans | None:
        """Returns all of the time in `number` equal spans, or fewer of one minute; None if no time is known."""
        known = [minute for minutes in self._minutes.values() for minute in minutes]
        if not known:
            return None
        first, last = min(known), max(known)
        length = -(-(last - first + 1) // number)
        spans = (last - first) // length + 1
        counts = {kind: [0] * spans for kind in KINDS}
        for kind, minutes in self._minutes.items():
            for minute, count in minutes.items():
                counts[kind][(minute - first) // length] += count
        return Spans(_shown(first), _shown(last), counts)


class Spans(NamedTuple):
    """The first and last minute, and the counts of each kind in each span."""

    begin: str
    end: str
    counts: dict[str, list[int]]


def day_of(time: str | None) -> str | None:
    """Returns the day of an RFC 3339 time, in UTC; None if it is missing or invalid."""
    minute = _minute(time)
    return None if minute is None else _shown(minute)[:10]


def _minute(time: str | None) -> int | None:
    moment = moment_of(time)
    return None if moment is None else int(moment.timestamp()) // 60


def _shown(minute: int) -> str:
    return datetime.fromtimestamp(minute * 60, UTC).strftime("%Y-%m-%d %H:%M")
