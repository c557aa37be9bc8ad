"""Which result answers which call, and the ids of calls that have none."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import is_
from typing import Any

from msgspec.structs import replace

from convcli.transcript import Message, Part, ToolCall, ToolResult, Transcript

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


class Renaming:
    """Names or ids rewritten one-to-one to what a target allows: what is allowed stays as it is.

    `allowed` holds the allowed characters, `first` those allowed at the start; `least` and `limit` are the shortest and
    the longest length. Everything that the transcript uses must be given, so that nothing collides.
    """

    __slots__ = ("_allowed", "_blank", "_counts", "_first", "_least", "_limit", "_new", "_taken", "needed")

    def __init__(self, names: Iterable[str], allowed: str, limit: int, *, first: str = "", least: int = 1) -> None:
        self._allowed, self._first = allowed, first or allowed
        self._least, self._limit = least, limit
        self._blank = "_" if "_" in allowed else ""
        self._counts: dict[str, int] = {}
        names = dict.fromkeys(names)
        self.needed = not self._fit(names)
        self._new = {name: name for name in names if self._fits(name)} if self.needed else {}
        self._taken = set(self._new if self.needed else names)
        for name in names if self.needed else ():
            if name not in self._new:
                self._new[name] = self._free(self._mend(name))

    def __call__(self, name: str) -> str:
        """The name that the target is given."""
        return self._new.get(name, name)

    def another(self, name: str) -> str:
        """One more name like that one, which nothing has."""
        return self._free(self(name))

    def _fit(self, names: Collection[str]) -> bool:
        """Do all of them fit? Most do, and together they are looked at quicker than one by one."""
        lengths = set(map(len, names)) or {self._least}
        right = self._least <= min(lengths) and max(lengths) <= self._limit and not "".join(names).strip(self._allowed)
        return right and (self._first is self._allowed or all(name[0] in self._first for name in names))

    def _fits(self, name: str) -> bool:
        fits = self._least <= len(name) <= self._limit and not name.strip(self._allowed)
        return fits and name[0] in self._first

    def _mend(self, name: str) -> str:
        """What is allowed of the name. Of a fixed length the end stays: the start of an id is often the same in all."""
        mended = "".join(char if char in self._allowed else self._blank for char in name)
        mended = mended[-self._limit :] if self._least == self._limit else mended[: self._limit]
        mended = mended.rjust(self._least, "0")
        if mended[0] not in self._first:
            mended = f"{self._blank or 'x'}{mended}"[: self._limit]
        return mended

    def _free(self, name: str) -> str:
        count = self._counts.get(name, 1)
        new = name
        while new in self._taken:
            count += 1
            suffix = f"{self._blank}{count}"
            new = name[: self._limit - len(suffix)] + suffix
        self._counts[name] = count
        self._taken.add(new)
        return new


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
WORD = LETTERS + DIGITS + "_"


LINKED = (ToolCall, ToolResult)


def tool_names(transcript: Transcript) -> list[str]:
    """Every tool name that the transcript uses, in definitions, calls, results and choice."""
    names = [tool.name for tool in transcript.tools or ()]
    names += [part.name for message in transcript.messages for part in message.parts if part.__class__ in LINKED]
    choice = transcript.tool_choice
    if isinstance(choice, dict):
        names += choice["names"] if "names" in choice else [choice["name"]]
    return names


def call_ids(transcript: Transcript) -> list[str]:
    """Every call id that the transcript uses, in calls and results."""
    linked = [part for message in transcript.messages for part in message.parts if part.__class__ in LINKED]
    return [part.id if part.__class__ is ToolCall else part.tool_call_id for part in linked]  # type: ignore[union-attr]


def renamed(transcript: Transcript, name: Renaming, id_: Renaming | None = None) -> Transcript:
    """The transcript with the names of tools and the ids of calls that a target is given; what stays is shared."""
    if not name.needed and not (id_ and id_.needed):
        return transcript
    given = id_ or str
    choice = transcript.tool_choice
    if isinstance(choice, dict):
        choice = (
            {"name": name(choice["name"])} if "name" in choice else {"names": [name(one) for one in choice["names"]]}
        )
    return replace(
        transcript,
        messages=[_renamed_message(message, name, given) for message in transcript.messages],
        tools=transcript.tools and [replace(tool, name=name(tool.name)) for tool in transcript.tools],
        tool_choice=choice,
    )


def _renamed_message(message: Message, name: Callable[[str], str], id_: Callable[[str], str]) -> Message:
    if not any(isinstance(part, (ToolCall, ToolResult)) for part in message.parts):
        return message
    return replace(message, parts=[_renamed_part(part, name, id_) for part in message.parts])


def _renamed_part(part: Part, name: Callable[[str], str], id_: Callable[[str], str]) -> Part:
    if isinstance(part, ToolCall):
        return replace(part, name=name(part.name), id=id_(part.id))
    if isinstance(part, ToolResult):
        return replace(part, name=name(part.name), tool_call_id=id_(part.tool_call_id))
    return part


def distinct(messages: list[Message], ids: Renaming) -> list[Message]:
    """The messages with ids that no two calls share, for services that want them unique in a whole request.

    A result goes with the oldest open call of the latest turn that used its id. `ids` knows all ids in use.
    """
    given = [part.id for message in messages for part in message.parts if part.__class__ is ToolCall]
    if len(set(given)) == len(given):
        return messages
    latest: dict[str, deque[str]] = {}
    return [_distinct_message(message, ids, latest) for message in messages]


def _distinct_message(message: Message, ids: Renaming, latest: dict[str, deque[str]]) -> Message:
    turn: dict[str, deque[str]] = {}
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            id_ = ids.another(part.id) if part.id in latest or part.id in turn else part.id
            turn.setdefault(part.id, deque()).append(id_)
            part = part if id_ == part.id else replace(part, id=id_)
        elif isinstance(part, ToolResult):
            id_ = _answered(latest.get(part.tool_call_id)) or part.tool_call_id
            part = part if id_ == part.tool_call_id else replace(part, tool_call_id=id_)
        parts.append(part)
    latest |= turn
    return message if all(map(is_, parts, message.parts)) else replace(message, parts=parts)


def _answered(open_calls: deque[str] | None) -> str | None:
    """The call that a result answers; further results answer the last one again."""
    if not open_calls:
        return None
    return open_calls.popleft() if len(open_calls) > 1 else open_calls[0]
