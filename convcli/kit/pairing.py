"""Which result answers which call, and the ids of calls that have none."""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Collection, Sequence
from typing import Any

from convcli.model.transcript import ToolCall

UNKNOWN = "unknown"
"""The name of a result that answers no call and does not name its tool: made up, as ids are."""


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
        self._open: OrderedDict[str, str] = OrderedDict()  # the first of a dict is far when many before it have gone
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
        name = name or self._names.get(id_)
        if name is None:
            self.invented.add(UNKNOWN)
        return id_, UNKNOWN if name is None else name

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

    def awaits(self, name: str) -> bool:
        """Is a call of this tool open?"""
        return self._oldest(name) is not None

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


class Twins:
    """Calls that stand in a message twice: entries beside its content find, each once, the call that they repeat.

    `invented` are the ids that a lift made up. Linear in the number of calls, like Pairing.
    """

    __slots__ = ("_by_id", "_calls", "_invented", "_saying", "_taken")

    def __init__(self, calls: Sequence[ToolCall], invented: Collection[str] = ()) -> None:
        self._calls, self._invented = calls, invented
        self._taken: set[int] = set()
        self._by_id: dict[str, deque[int]] = {}
        self._saying: dict[tuple[str, bool], deque[int]] | None = None  # made when the first entry without an id asks
        for at, call in enumerate(calls):
            self._by_id.setdefault(call.id, deque()).append(at)

    def with_id(self, id_: str | None) -> ToolCall | None:
        """The first call with this id that no entry has found."""
        return None if id_ is None else self._first(self._by_id.get(id_, deque()))

    def saying(self, name: str, arguments: Any, *, nameless: bool = False) -> ToolCall | None:
        """The first call with this name and these arguments; `nameless`: only of those without an id of their own."""
        if self._saying is None:
            self._saying = {}
            for at, call in enumerate(self._calls):
                key = (_said(call.name, call.arguments), call.id in self._invented)
                self._saying.setdefault(key, deque()).append(at)
        said = _said(name, arguments)
        kinds = (True,) if nameless else (True, False)
        return self._first(*(self._saying.get((said, kind), deque()) for kind in kinds))

    def _first(self, *queues: deque[int]) -> ToolCall | None:
        for queue in queues:
            while queue and queue[0] in self._taken:
                queue.popleft()
        heads = [queue[0] for queue in queues if queue]
        if not heads:
            return None
        self._taken.add(min(heads))
        return self._calls[min(heads)]


def _said(name: str, arguments: Any) -> str:
    """A call in one string, the same for any order of keys."""
    return json.dumps([name, arguments], sort_keys=True)
