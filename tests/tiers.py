"""The two tiers of the tests.

`pytest` holds every law over every dialect, as a source and as a target, with a few pairs, examples and edits.
`pytest -m ""` holds them with all. `conftest.py` chooses the tier before a module of tests is imported; a test that
has no small version has the marker `exhaustive`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import TypeVar

from hypothesis import settings

from convcli import dialects

USUAL = "not exhaustive"
"""The marker expression of the usual tier (`addopts` in pyproject.toml)."""
FEW = 2
"""The number of items that are enough in the usual tier, and of targets of a source where a few are enough in all."""
ONE = 1
"""The number of targets that each source has in the usual tier, where all have all: each dialect is one, too."""
FEWER = 20
"""The usual tier has this many times fewer examples."""

T = TypeVar("T")
_is_exhaustive = True


def choose(marker_expression: str) -> None:
    global _is_exhaustive
    _is_exhaustive = USUAL not in marker_expression


def is_exhaustive() -> bool:
    return _is_exhaustive


def few(items: Sequence[T], count: int = FEW) -> Sequence[T]:
    """Returns all items, in the usual tier the first ones."""
    return items if _is_exhaustive else items[:count]


def examples(count: int) -> settings:
    """Returns the settings of hypothesis for a number of examples, in the usual tier for a few of them."""
    return settings(max_examples=count if _is_exhaustive else max(2, count // FEWER))


@cache
def written() -> tuple[str, ...]:
    """Returns the names of the dialects that are written as well as read."""
    return tuple(dialect.name for dialect in dialects.builtin() if dialect.is_written)


def crossed(firsts: Iterable[str], seconds: Iterable[str], count: int = FEW) -> list[tuple[str, str]]:
    """Returns all pairs of two lists of names, in the usual tier some of them."""
    return list(product(firsts, seconds)) if _is_exhaustive else chosen(firsts, seconds, count)


def pairs() -> list[tuple[str, str]]:
    """Returns all pairs of a source and a target, in the usual tier some of them."""
    return list(product(dialects.names(), written())) if _is_exhaustive else usual_pairs()


def targets_of(source: str) -> list[str]:
    """Returns the targets that a source has in `pairs`."""
    return list(written()) if _is_exhaustive else [target for one, target in usual_pairs() if one == source]


def sources_of(target: str) -> list[str]:
    """Returns the sources that a target has in `pairs`."""
    return list(dialects.names()) if _is_exhaustive else [source for source, one in usual_pairs() if one == target]


@cache
def usual_pairs() -> list[tuple[str, str]]:
    """Returns the pairs of dialects of the usual tier."""
    return chosen(dialects.names(), written(), ONE)


@cache
def chosen_pairs() -> list[tuple[str, str]]:
    """Returns the pairs of dialects for laws of which a few pairs are enough in every tier."""
    return enough(dialects.names(), written())


def enough(firsts: Iterable[str], seconds: Iterable[str]) -> list[tuple[str, str]]:
    """Returns a few pairs of two lists of names, each name once at least; in the usual tier fewer."""
    return chosen(firsts, seconds, FEW if _is_exhaustive else ONE)


def chosen(firsts: Iterable[str], seconds: Iterable[str], count: int = FEW) -> list[tuple[str, str]]:
    """Returns the same pairs every time: some for each of the first list, and one for each of the second."""
    firsts, seconds = list(firsts), list(seconds)
    of_firsts = {(first, second) for first in firsts for second in _shuffled(first, seconds)[:count]}
    of_seconds = {(_shuffled(second, firsts)[0], second) for second in seconds}
    return sorted(of_firsts | of_seconds)


def _shuffled(name: str, others: Iterable[str]) -> list[str]:
    """Returns names in an order that differs for each name and never changes."""
    return sorted(others, key=lambda other: zlib.crc32(f"{name} {other}".encode()))
