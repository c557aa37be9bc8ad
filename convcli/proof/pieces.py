"""Locates differences in streams, in which a text is spread over many events.

A transcript has one path for such a text. When two documents are compared, the pieces show which event differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

from convcli.model.dialect import LossKind
from convcli.model.transcript import Origin, Path
from convcli.wire import pointers


class _Pieces(NamedTuple):
    """The paths of the pieces of one value, and the rest of the path to the reported field."""

    places: list[Path]
    rest: Path


def differing(kind: LossKind, first: Origin, second: Origin, place: str, other: str) -> tuple[str, str]:
    """Returns the two paths at which the documents begin to differ within the given ones; these themselves where the
    document has no pieces."""
    ours, theirs = pointers.steps(place), pointers.steps(other)
    if kind == "dropped":
        return _alone(first, second, ours) or place, other
    if kind == "invented":
        return place, _alone(second, first, theirs) or other
    for one, another in _pairs(first, second, ours, theirs):
        paths = _first_differing_paths(first, second, one or _Pieces([ours], ()), another or _Pieces([theirs], ()))
        if paths is not None:
            return paths
    return place, other


def _alone(origin: Origin, other: Origin, place: Path) -> str | None:
    """Returns the first piece of a value in one document that differs from the same path in the other one."""
    for pieces in _around(origin, place):
        for each in (pieces, pieces._replace(rest=())):
            paths = _first_differing_paths(origin, other, each, each)
            if paths is not None:
                return paths[0]
    return None


def _pairs(first: Origin, second: Origin, ours: Path, theirs: Path) -> list[tuple[_Pieces | None, _Pieces | None]]:
    """Pairs the pieces inside both values, then those around them, innermost first."""
    inside = _within(first, ours), _within(second, theirs)
    pairs = [(inside[0].get(key), inside[1].get(key)) for key in sorted({**inside[0], **inside[1]})]
    return [*pairs, *zip_longest(_around(first, ours), _around(second, theirs), fillvalue=None)]


def _around(origin: Origin, place: Path) -> list[_Pieces]:
    """Returns the pieces at a path and around it, innermost first."""
    known = _named(origin)
    ends = range(len(place), 0, -1)
    return [_Pieces(known[place[:end]], place[end:]) for end in ends if place[:end] in known]


def _within(origin: Origin, place: Path) -> dict[Path, _Pieces]:
    """Returns the pieces inside the value at a path, by the rest of their path."""
    inside = {path[len(place) :]: places for path, places in _named(origin).items() if path[: len(place)] == place}
    return {path: _Pieces(places, ()) for path, places in inside.items() if path}


def _named(origin: Origin) -> dict[Path, list[Path]]:
    """Returns the pieces by paths whose steps are strings, as in pointers."""
    return {tuple(map(str, place)): places for place, places in origin.pieces.items()}


def _first_differing_paths(first: Origin, second: Origin, ours: _Pieces, theirs: _Pieces) -> tuple[str, str] | None:
    values = list(_values(first, ours)), list(_values(second, theirs))
    indexes = _first_difference(*values)
    if indexes is None:
        return None
    paths = (ours.places[indexes[0]], theirs.places[indexes[1]])
    return pointers.pointer((*paths[0], *ours.rest)), pointers.pointer((*paths[1], *theirs.rest))


def _values(origin: Origin, pieces: _Pieces) -> Iterator[Any]:
    """Yields the values at the pieces; an empty string where there is none."""
    for place in pieces.places:
        value: Any = ""
        with suppress(LookupError):
            value = pointers.resolve(origin.document, (*place, *pieces.rest))
        yield value


def _first_difference(ours: list[Any], theirs: list[Any]) -> tuple[int, int] | None:
    """Returns the indexes of the pieces in which two values begin to differ; None if they do not.

    The other document may cut texts differently, unless all the following pieces are the same.
    """
    texts = all(isinstance(value, str) for value in (*ours, *theirs))
    if ours == theirs or (texts and "".join(ours) == "".join(theirs)):
        return None
    at = _common(ours, theirs)
    if not texts or ours[at + 1 :] == theirs[at + 1 :]:
        return min(at, len(ours) - 1), min(at, len(theirs) - 1)
    length = _common("".join(ours), "".join(theirs))
    return _holding(ours, length), _holding(theirs, length)


def _common(one: Any, other: Any) -> int:
    """Returns the length of the common beginning of two lists or strings."""
    shorter = min(len(one), len(other))
    return next((i for i in range(shorter) if one[i] != other[i]), shorter)


def _holding(pieces: list[str], at: int) -> int:
    """Returns the index of the piece that contains a character; the last one for anything beyond the end."""
    return next((i for i, end in enumerate(accumulate(map(len, pieces))) if at < end), len(pieces) - 1)
