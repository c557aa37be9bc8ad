"""Sessions with the runs that they started below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def nested(items: Iterable[T], id_of: Callable[[T], str | None], parent_of: Callable[[T], str | None]) -> list[list[T]]:
    """Returns each session and after it the runs that it started, directly or not, in the order of the items.

    A run whose session is not among the items stands alone.
    """
    listed = list(items)
    owners = dict[str, int]()
    for at, item in enumerate(listed):
        owners.setdefault(id_of(item) or "", at)
    owner_of = [owners.get(parent) if (parent := parent_of(item)) else None for item in listed]
    families = dict[int, list[T]]()
    for at, item in enumerate(listed):
        families.setdefault(_first(at, owner_of), []).append(item)
    return [sorted(family, key=lambda item: item is not listed[at]) for at, family in families.items()]


def _first(at: int, owner_of: list[int | None]) -> int:
    """Returns the session to which an item belongs; of sessions that name each other, the first."""
    seen = {at}
    while (owner := owner_of[at]) is not None:
        if owner in seen:
            return min(seen)
        seen.add(owner)
        at = owner
    return at
