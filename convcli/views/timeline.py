"""How much of what happened when: tokens, calls and errors by the minute."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

KINDS = ("tokens", "calls", "errors")


class Timeline:
    """Counts of each kind, as far as it is known when they were."""

    def __init__(self) -> None:
        self._minutes: dict[str, Counter[int]] = {kind: Counter() for kind in KINDS}

    def add(self, time: str | None, **counts: int) -> None:
        """Count in what happened at a time in RFC 3339; what has no time is left out."""
        minute = _minute(time) if any(counts.values()) else None
        if minute is not None:
            for kind, number in counts.items():
                self._minutes[kind][minute] += number

    def spans(self, number: int) -> Spans | None:
        """All of the time in so many spans of equal length, or fewer of one minute; None where no time is known."""
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
    """The first and the last minute, and what each span in between has of each kind."""

    begin: str
    end: str
    counts: dict[str, list[int]]


def _minute(time: str | None) -> int | None:
    try:
        moment = datetime.fromisoformat(str(time))
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()) // 60


def _shown(minute: int) -> str:
    return datetime.fromtimestamp(minute * 60, UTC).strftime("%Y-%m-%d %H:%M")
