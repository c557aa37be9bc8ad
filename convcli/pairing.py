"""Which result answers which call, and the ids of calls that have none."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

UNKNOWN = "unknown"
"""The name of a result that answers no call and does not name its tool."""


class Pairing:
    """The open calls of a document while it is lifted, in document order.

    Results are paired by id; without an id by order among the open calls of the same name; without a name by
    order. Calls and results without an id get `call_1`, `call_2`, … from one counter that skips the ids of the
    document. Linear in the number of calls.
    """

    __slots__ = ("_by_name", "_count", "_document", "_names", "_open", "_taken", "adopted", "invented")

    def __init__(self, document: Any) -> None:
        self._document = document
        self._taken: set[str] | None = None
        self._count = 0
        self._names: dict[str, str] = {}
        self._open: dict[str, str] = {}
        self._by_name: dict[str, deque[str]] | None = None  # made when the first result without an id asks
        self.invented: set[str] = set()
        self.adopted: dict[str, str] = {}
        """Ids that were made up for calls, and those that the calls got from their results."""

    def call(self, id_: str | None, name: str) -> str:
        """Open a call; its id, made up when it has none."""
        if id_ is None:
            id_ = self._new_id()
        self._names[id_] = name
        self._open[id_] = name
        if self._by_name is not None:
            self._by_name.setdefault(name, deque()).append(id_)
        return id_

    def result(self, id_: str | None, name: str | None) -> tuple[str, str]:
        """The id and name of a result: those of the call that it answers where it has none of its own."""
        if id_ is None:
            id_ = self._oldest(name) or self._new_id()
        self._open.pop(id_, None)
        return id_, name or self._names.get(id_, UNKNOWN)

    def results(self, given: Sequence[tuple[str | None, str | None]]) -> list[tuple[str, str]]:
        """Ids and names of the results of one turn: paired by id, then by order within a name, then by position.

        A result whose id no call has may answer a call whose id was made up: the call adopts its id.
        """
        found = [id_ if id_ in self._names else None for id_, _ in given]
        for id_ in found:
            self._open.pop(id_ or "", None)
        for by_name in (True, False):
            for i, (id_, name) in enumerate(given):
                call = self._oldest(name if by_name else None) if found[i] is None else None
                if call is not None and (id_ is None or call in self.invented):
                    self._open.pop(call)
                    found[i] = call if id_ is None else self._adopt(call, id_)
        return [self.result(found[i] or id_, name) for i, (id_, name) in enumerate(given)]

    def _adopt(self, call: str, id_: str) -> str:
        self.adopted[call] = id_
        self.invented.discard(call)
        self._names[id_] = self._names.pop(call)
        return id_

    def knows(self, id_: str) -> bool:
        """Has a call with this id been opened?"""
        return id_ in self._names

    def _oldest(self, name: str | None) -> str | None:
        if name is None:
            return next(iter(self._open), None)
        if self._by_name is None:
            self._by_name = {}
            for id_, called in self._open.items():
                self._by_name.setdefault(called, deque()).append(id_)
        queue = self._by_name.get(name, deque())
        while queue and queue[0] not in self._open:
            queue.popleft()
        return queue[0] if queue else None

    def _new_id(self) -> str:
        if self._taken is None:
            self._taken = ids_in(self._document)
        while True:
            self._count += 1
            id_ = f"call_{self._count}"
            if id_ not in self._taken:
                self.invented.add(id_)
                return id_


def ids_in(document: Any) -> set[str]:
    """Every string in the document that stands under a key that ends in `id`, whatever its case."""
    found: set[str] = set()
    stack = [document]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            for key, child in value.items():
                if isinstance(child, str):
                    if key[-2:].lower() == "id":
                        found.add(child)
                else:
                    stack.append(child)
        elif isinstance(value, list):
            stack.extend(value)
    return found
