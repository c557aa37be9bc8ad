"""One stretch of a text that a rule finds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from convcli.engine.redaction.rules import Kind


class Match(NamedTuple):
    """A rule, and where it matches in a text."""

    rule: str
    kind: Kind
    start: int
    end: int


def apart(matches: Iterable[Match]) -> list[Match]:
    """Returns matches that do not overlap, in the order of the text: of several, the earliest, then the longest."""
    chosen = list[Match]()
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if not chosen or match.start >= chosen[-1].end:
            chosen.append(match)
        elif match.end > chosen[-1].end:  # of two that overlap, no part of either stays
            chosen[-1] = chosen[-1]._replace(end=match.end)
    return chosen
