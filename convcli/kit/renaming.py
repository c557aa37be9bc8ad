"""Names of tools and ids of calls as a target takes them: which words it allows, and what others become."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import is_
from typing import Any

from msgspec.structs import replace

from convcli.kit.passes import on_messages
from convcli.model.dialect import Pass
from convcli.model.transcript import Message, Part, ToolCall, ToolResult, Transcript

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
WORD = LETTERS + DIGITS + "_"


UNNAMED = "unnamed"
"""What an empty word becomes."""


class Alphabet:
    """The words that a service takes: `least` to `most` characters (0: no limit) out of `allowed` (any, if that is
    empty), the first one out of `first`; `said` names the characters."""

    def __init__(self, said: str, allowed: str, most: int, *, first: str = "", least: int = 1) -> None:
        self._said, self._allowed = said, frozenset(allowed)
        self._first = frozenset(first) if first else self._allowed
        self._letters = allowed.encode()
        self._least, self._most = least, most
        self._blank = "_" if not allowed or "_" in allowed else ""

    def accepts(self, word: str) -> bool:
        """Is this such a word?"""
        return self.accepts_all([word])

    def accepts_all(self, words: Collection[str]) -> bool:
        """Are all of these such words?"""
        if not words:
            return True
        lengths = list(map(len, words))
        if min(lengths) < self._least or 0 < self._most < max(lengths):
            return False
        if not self._allowed:
            return True
        text = "".join(words)
        if not text.isascii() or text.encode().translate(None, self._letters):
            return False
        return self._first is self._allowed or all(word[0] in self._first for word in words)

    def wants(self) -> str:
        """The words in words."""
        span = f"{self._least} to {self._most} " if self._least < self._most else f"{self._most or ''} ".lstrip()
        return f"{span}characters{self._said and ', '}{self._said}"

    def mended(self, word: str) -> str:
        """What is allowed of a word. Of a fixed length the end stays: the start of an id is often the same in all."""
        word = word or UNNAMED
        mended = "".join([char if char in self._allowed else self._blank for char in word]) if self._allowed else word
        if 0 < self._most < len(mended):
            mended = mended[-self._most :] if self._least == self._most else mended[: self._most]
        mended = mended.rjust(self._least, "0")
        if self._first and mended[0] not in self._first:
            mended = f"{self._blank or 'x'}{mended}"[: self._most or None]
        return mended

    def numbered(self, word: str, number: int) -> str:
        """A word like this one that ends in a number."""
        suffix = f"{self._blank}{number}"
        return (word[: self._most - len(suffix)] if self._most else word) + suffix


def identifiers(most: int) -> Alphabet:
    """Letters, digits, _ and -: what most services take."""
    return Alphabet("letters, digits, _ and -", WORD + "-", most)


class Renaming:
    """Names or ids rewritten one-to-one to what a target allows: what is allowed stays as it is.

    Everything that the transcript uses must be given, so that nothing collides.
    """

    __slots__ = ("_alphabet", "_counts", "_new", "_taken", "needed")

    def __init__(self, names: Iterable[str], alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        self._counts: dict[str, int] = {}
        names = dict.fromkeys(names)
        self.needed = not alphabet.accepts_all(names)
        self._new = {name: name for name in names if alphabet.accepts(name)} if self.needed else {}
        self._taken = set(self._new if self.needed else names)
        for name in names if self.needed else ():
            if name not in self._new:
                self._new[name] = self._free(alphabet.mended(name))

    def __call__(self, name: str) -> str:
        """The name that the target is given."""
        return self._new.get(name, name)

    def another(self, name: str) -> str:
        """One more name like that one, which nothing has."""
        return self._free(self(name))

    def _free(self, name: str) -> str:
        count = self._counts.get(name, 1)
        new = name
        while new in self._taken:
            count += 1
            new = self._alphabet.numbered(name, count)
        self._counts[name] = count
        self._taken.add(new)
        return new


LINKED = (ToolCall, ToolResult)


def _names_in(transcript: Transcript, linked: list[Any]) -> list[str]:
    """Every tool name that the transcript uses, in definitions, calls, results and choice."""
    names = [tool.name for tool in transcript.tools or ()]
    names += [part.name for part in linked]
    choice = transcript.tool_choice
    if isinstance(choice, dict):
        names += choice["names"] if "names" in choice else [choice["name"]]
    return names


def call_ids(transcript: Transcript) -> list[str]:
    """Every call id that the transcript uses, in calls and results."""
    return _ids_in(_linked(transcript.messages))


def _linked(messages: list[Message]) -> list[Any]:
    """All calls and results."""
    return [part for message in messages for part in message.parts if part.__class__ in LINKED]


def _ids_in(linked: list[Any]) -> list[str]:
    return [part.id if part.__class__ is ToolCall else part.tool_call_id for part in linked]


def renamed(transcript: Transcript, names: Alphabet, ids: Alphabet | None = None) -> Transcript:
    """The transcript with names of tools and ids of calls that a target takes, ids of any kind without `ids`. What may
    stay as it is is shared."""
    linked = _linked(transcript.messages)
    used, used_ids = _names_in(transcript, linked), _ids_in(linked)
    if names.accepts_all(set(used)) and (ids is None or ids.accepts_all(set(used_ids))):
        return transcript
    name = Renaming(used, names)
    given = str if ids is None else Renaming(used_ids, ids)
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


def renaming(names: Alphabet, ids: Alphabet | None = None) -> Pass:
    """The pass of `renamed`."""
    return lambda transcript: renamed(transcript, names, ids)


def distinct_ids(alphabet: Alphabet) -> Pass:
    """The pass of `distinct`."""
    return on_messages(lambda messages: distinct(messages, alphabet))


def with_ids(messages: list[Message], new: Mapping[str, str]) -> list[Message]:
    """The messages with other ids of calls, for those that have a new one."""
    return [_renamed_message(message, str, lambda id_: new.get(id_, id_)) for message in messages] if new else messages


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


def distinct(messages: list[Message], alphabet: Alphabet) -> list[Message]:
    """The messages with ids that no two calls share, for services that want them unique in a whole request.

    A result goes with the oldest open call of the latest turn that used its id.
    """
    given = [part.id for message in messages for part in message.parts if part.__class__ is ToolCall]
    if len(set(given)) == len(given):
        return messages
    ids = Renaming(_ids_in(_linked(messages)), alphabet)
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
