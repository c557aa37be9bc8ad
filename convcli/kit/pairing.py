"""Pairs results with calls, and generates missing call ids."""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from convcli.model.transcript import Part, ToolCall, ToolResult

UNKNOWN = "unknown"
"""The generated name of a result that answers no call and does not name its tool."""


class Pairing:
    """The open calls of a document while it is lifted, in document order.

    Results are paired by id; without an id, by order among the open calls with the same name; without a name, by order.
    Calls and results without an id get `call_1`, `call_2`, … from one counter that skips the ids of the document.
    Linear in the number of calls.
    """

    __slots__ = ("_by_name", "_count", "_document", "_names", "_open", "_taken", "adopted", "invented")

    def __init__(self, document: Any) -> None:
        self._document = document
        self._taken: set[str] | None = None
        self._count = 0
        self._names: dict[str, str] = {}
        self._open: OrderedDict[str, str] = OrderedDict()  # a dict finds its first key slowly
        self._by_name: dict[str, deque[str]] | None = None  # built when the first result without an id arrives
        self.invented: set[str] = set()
        self.adopted: dict[str, str] = {}
        """Generated call ids, and the ids of results that replaced them."""

    def call(self, id_: str | None, name: str) -> str:
        """Opens a call. Returns its id, generated if it has none."""
        if id_ is None:
            id_ = self._new_id()
        self._names[id_] = name
        self._open[id_] = name
        if self._by_name is not None:
            self._by_name.setdefault(name, deque()).append(id_)
        return id_

    def result(self, id_: str | None, name: str | None) -> tuple[str, str]:
        """Returns the id and name of a result; missing ones come from the call that it answers."""
        if id_ is None:
            id_ = self._oldest(name) or self._new_id()
        self._open.pop(id_, None)
        name = name or self._names.get(id_)
        if name is None:
            self.invented.add(UNKNOWN)
        return id_, UNKNOWN if name is None else name

    def results(self, stated: Sequence[tuple[str | None, str | None]]) -> list[tuple[str, str]]:
        """Returns ids and names of the results of one turn: paired by id, then by order within a name, then by
        position.

        A result with an unknown id may answer a call with a generated id, which then takes the result's id.
        """
        ids = [id_ if id_ in self._names else None for id_, _ in stated]
        for id_ in ids:
            self._open.pop(id_ or "", None)
        for by_name in (True, False) if None in ids else ():
            for i, (id_, name) in enumerate(stated):
                call = self._oldest(name if by_name else None) if ids[i] is None else None
                if call is not None and (id_ is None or call in self.invented):
                    self._open.pop(call)
                    ids[i] = call if id_ is None else self._adopt(call, id_)
        return [self.result(ids[i] or id_, name) for i, (id_, name) in enumerate(stated)]

    def _adopt(self, call: str, id_: str) -> str:
        self.adopted[call] = id_
        self.invented.discard(call)
        self._names[id_] = self._names.pop(call)
        return id_

    def knows(self, id_: str) -> bool:
        """True if a call with this id has been opened."""
        return id_ in self._names

    def awaits(self, name: str) -> bool:
        """True if a call of this tool is open."""
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


def calls_answered(parts: Iterable[Part], *, is_ordered: bool = False) -> list[int | None]:
    """Returns for each result the index of the call that it answers, both counted in order; None without one.

    A result answers the oldest open call before it that has its id. Another result of the same id belongs to the last
    answered call, and a result without a call before it to an open call after it; with `is_ordered` to none.
    """
    waiting: dict[str, deque[int]] = {}
    last: dict[str, int] = {}
    answered: list[int | None] = []
    early: list[tuple[int, str]] = []
    calls = 0
    for part in parts:
        if isinstance(part, ToolCall):
            waiting.setdefault(part.id, deque()).append(calls)
            calls += 1
        elif isinstance(part, ToolResult):
            id_ = part.tool_call_id
            if waiting.get(id_):
                last[id_] = waiting[id_].popleft()
            elif id_ not in last:
                early.append((len(answered), id_))
            answered.append(last.get(id_))
    for index, id_ in () if is_ordered else early:
        answered[index] = waiting[id_].popleft() if waiting.get(id_) else None
    return answered


def ids_in(document: Any) -> set[str]:
    """Returns every string in the document under a key that ends in `id`, in any case."""
    ids: set[str] = set()
    stack = [document]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            for key, child in value.items():
                if isinstance(child, str):
                    if key[-2:].lower() == "id":
                        ids.add(child)
                else:
                    stack.append(child)
        elif isinstance(value, list):
            stack.extend(value)
    return ids


class Twins:
    """Calls that a message has twice: each entry outside the content finds the call that it repeats, each call once.

    `invented` are generated ids. Linear in the number of calls, like Pairing.
    """

    __slots__ = ("_by_id", "_calls", "_invented", "_saying", "_taken")

    def __init__(self, calls: Sequence[ToolCall], invented: Collection[str] = ()) -> None:
        self._calls, self._invented = calls, invented
        self._taken: set[int] = set()
        self._by_id: dict[str, deque[int]] = {}
        self._saying: dict[tuple[str, bool], deque[int]] | None = (
            None  # built when the first entry without an id arrives
        )
        for at, call in enumerate(calls):
            self._by_id.setdefault(call.id, deque()).append(at)

    def with_id(self, id_: str | None) -> ToolCall | None:
        """Returns the first call with this id that no entry has found."""
        return None if id_ is None else self._first(self._by_id.get(id_, deque()))

    def saying(self, name: str, arguments: Any, *, nameless: bool = False) -> ToolCall | None:
        """Returns the first call with this name and these arguments; `nameless`: only among calls without their own
        id."""
        if self._saying is None:
            self._saying = {}
            for at, call in enumerate(self._calls):
                key = (_content_key(call.name, call.arguments), call.id in self._invented)
                self._saying.setdefault(key, deque()).append(at)
        wanted = _content_key(name, arguments)
        kinds = (True,) if nameless else (True, False)
        return self._first(*(self._saying.get((wanted, kind), deque()) for kind in kinds))

    def _first(self, *queues: deque[int]) -> ToolCall | None:
        for queue in queues:
            while queue and queue[0] in self._taken:
                queue.popleft()
        heads = [queue[0] for queue in queues if queue]
        if not heads:
            return None
        self._taken.add(min(heads))
        return self._calls[min(heads)]


def _content_key(name: str, arguments: Any) -> str:
    """Returns a call as one string, independent of key order."""
    return json.dumps([name, arguments], sort_keys=True)
