"""Rewrites tool names and call ids that a target does not allow."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from operator import is_
from typing import Any

from msgspec.structs import replace

from convcli.kit.passes import on_messages
from convcli.model.dialect import Pass
from convcli.model.inventory import Informed, Inventory
from convcli.model.transcript import Message, Part, ToolCall, ToolResult, Transcript

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
WORD = LETTERS + DIGITS + "_"


UNNAMED = "unnamed"
"""What an empty word becomes."""


class Alphabet:
    """The words that a service accepts: `least` to `most` characters (0: no limit) from `allowed` (any, if empty), the
    first one from `first`. `description` names the characters in a message."""

    def __init__(self, description: str, allowed: str, most: int, *, first: str = "", least: int = 1) -> None:
        self._description, self._allowed = description, frozenset(allowed)
        self._first = frozenset(first) if first else self._allowed
        self._letters = allowed.encode()
        self._least, self._most = least, most
        self._blank = "_" if not allowed or "_" in allowed else ""
        self._blanked = bytes(c if chr(c) in self._allowed else ord(self._blank or " ") for c in range(256))
        self._deleted = bytes(c for c in range(128) if not self._blank and chr(c) not in self._allowed)

    def accepts(self, word: str) -> bool:
        """True if the service accepts the word."""
        if len(word) < self._least or 0 < self._most < len(word):
            return False
        return not self._allowed or (self._allowed.issuperset(word) and (not word or word[0] in self._first))

    def accepts_all(self, words: Collection[str]) -> bool:
        """True if the service accepts all of the words."""
        if not words:
            return True
        if 0 < self._most < max(map(len, words)) or min(map(len, words)) < self._least:
            return False
        if not self._allowed:
            return True
        text = "".join(words)
        if not text.isascii() or text.encode().translate(None, self._letters):
            return False
        return self._first is self._allowed or all(word[0] in self._first for word in words)

    def refuses_names(self, inventory: Inventory) -> bool:
        """Asks whether the service refuses a tool name in calls and results."""
        return not self.accepts_all(inventory.ask(_used_names))

    def refuses_ids(self, inventory: Inventory) -> bool:
        """Asks whether the service refuses an id in calls and results."""
        return not self.accepts_all(inventory.ask(_used_ids))

    def wants(self) -> str:
        """Returns a description of the accepted words."""
        span = f"{self._least} to {self._most} " if self._least < self._most else f"{self._most or ''} ".lstrip()
        return f"{span}characters{self._description and ', '}{self._description}"

    def replace_invalid(self, word: str) -> str:
        """Replaces or removes what is not allowed in a word. A fixed length keeps the end, because ids often start
        alike."""
        word = word or UNNAMED
        fixed = self._without_others(word) if self._allowed else word
        if 0 < self._most < len(fixed):
            fixed = fixed[-self._most :] if self._least == self._most else fixed[: self._most]
        fixed = fixed.rjust(self._least, "0")
        if self._first and fixed[0] not in self._first:
            fixed = f"{self._blank or 'x'}{fixed}"[: self._most or None]
        return fixed

    def _without_others(self, word: str) -> str:
        if word.isascii():  # nearly all names and ids
            return word.encode().translate(self._blanked, self._deleted).decode()
        return "".join([char if char in self._allowed else self._blank for char in word])

    def number_messages(self, word: str, number: int) -> str:
        """Returns a variant of the word that ends in a number."""
        suffix = f"{self._blank}{number}"
        return (word[: self._most - len(suffix)] if self._most else word) + suffix


def identifiers(most: int) -> Alphabet:
    """Returns the character set of most services: letters, digits, _ and -."""
    return Alphabet("letters, digits, _ and -", WORD + "-", most)


class Renaming:
    """Rewrites names or ids one-to-one to what a target allows; allowed ones stay.

    Needs all names or ids of the transcript, to avoid collisions.
    """

    __slots__ = ("_alphabet", "_counts", "_taken", "new")

    def __init__(self, names: Iterable[str], alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        self._counts: dict[str, int] = {}
        names = dict.fromkeys(names)
        self._taken = set(names if alphabet.accepts_all(names) else filter(alphabet.accepts, names))
        others = [name for name in names if name not in self._taken]
        self.new = {name: self._free(alphabet.replace_invalid(name)) for name in others}
        """The names that change, with the name for the target."""

    def __call__(self, name: str) -> str:
        """Returns the name for the target."""
        return self.new.get(name, name)

    def another(self, name: str) -> str:
        """Returns a further, unused name like this one."""
        return self._free(self(name))

    def _free(self, name: str) -> str:
        count = self._counts.get(name, 1)
        new = name
        while new in self._taken:
            count += 1
            new = self._alphabet.number_messages(name, count)
        self._counts[name] = count
        self._taken.add(new)
        return new


LINKED = frozenset((ToolCall, ToolResult))


def _names_around(transcript: Transcript) -> list[str]:
    """Returns every tool name in definitions and the choice."""
    names = [tool.name for tool in transcript.tools or ()]
    choice = transcript.tool_choice
    if isinstance(choice, dict):
        names += choice["names"] if "names" in choice else [choice["name"]]
    return names


def call_ids(transcript: Transcript) -> list[str]:
    """Returns every call id in the transcript, in calls and results."""
    return _ids_in(_linked(transcript.messages))


def _linked(messages: list[Message]) -> list[Any]:
    """Returns all calls and results."""
    return [part for message in messages for part in message.parts if part.__class__ in LINKED]


def _ids_in(linked: list[Any]) -> list[str]:
    return [part.id if part.__class__ is ToolCall else part.tool_call_id for part in linked]


def _used_names(inventory: Inventory) -> set[str]:
    """The tool names in calls and results."""
    names = {call.name for _, _, call in inventory.parts["tool_call"]}
    names.update([result.name for _, _, result in inventory.parts["tool_result"]])
    return names


def _used_ids(inventory: Inventory) -> set[str]:
    """The call ids in calls and results."""
    ids = {call.id for _, _, call in inventory.parts["tool_call"]}
    ids.update([result.tool_call_id for _, _, result in inventory.parts["tool_result"]])
    return ids


def _are_repeated(inventory: Inventory) -> bool:
    """Asks whether two calls have the same id."""
    ids = [call.id for _, _, call in inventory.parts["tool_call"]]
    return len(set(ids)) < len(ids)


def _renamed(transcript: Transcript, names: Alphabet, ids: Alphabet | None) -> Transcript:
    linked = _linked(transcript.messages)
    name = Renaming([*_names_around(transcript), *(part.name for part in linked)], names)
    new_ids = {} if ids is None else Renaming(_ids_in(linked), ids).new
    messages = [_renamed_message(message, name.new, new_ids) for message in transcript.messages]
    if not name.new:
        return replace(transcript, messages=messages)
    choice = transcript.tool_choice
    if isinstance(choice, dict):
        choice = (
            {"name": name(choice["name"])} if "name" in choice else {"names": [name(one) for one in choice["names"]]}
        )
    tools = transcript.tools and [replace(tool, name=name(tool.name)) for tool in transcript.tools]
    return replace(transcript, messages=messages, tools=tools, tool_choice=choice)


def rename_tools_and_ids(names: Alphabet, ids: Alphabet | None = None) -> Pass:
    """Returns a pass for tool names and call ids that a target allows; without `ids`, any id is allowed."""

    def rename(transcript: Transcript, inventory: Inventory) -> Transcript:
        is_refused = inventory.ask(names.refuses_names) or (ids is not None and inventory.ask(ids.refuses_ids))
        if not is_refused and names.accepts_all(_names_around(transcript)):
            return transcript
        return _renamed(transcript, names, ids)

    return Informed(rename)


def make_ids_distinct(alphabet: Alphabet) -> Pass:
    """Returns `distinct` as a pass."""
    return on_messages(lambda messages: distinct(messages, alphabet), _are_repeated)


def with_ids(messages: list[Message], new: Mapping[str, str]) -> list[Message]:
    """Replaces the call ids that have a new one."""
    return [_renamed_message(message, {}, new) for message in messages] if new else messages


def _renamed_message(message: Message, names: Mapping[str, str], ids: Mapping[str, str]) -> Message:
    if LINKED.isdisjoint(map(type, message.parts)):
        return message
    return replace(message, parts=[_renamed_part(part, names, ids) for part in message.parts])


def _renamed_part(part: Part, names: Mapping[str, str], ids: Mapping[str, str]) -> Part:
    if type(part) is ToolCall:
        return replace(part, name=names.get(part.name, part.name), id=ids.get(part.id, part.id))
    if type(part) is ToolResult:
        id_ = part.tool_call_id
        return replace(part, name=names.get(part.name, part.name), tool_call_id=ids.get(id_, id_))
    return part


def distinct(messages: list[Message], alphabet: Alphabet) -> list[Message]:
    """Makes the ids of all calls different, for services that require ids that are unique in the whole request.

    A result belongs to the oldest open call of the latest turn that used its id.
    """
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
    """Returns the call that a result answers; further results answer the last one again."""
    if not open_calls:
        return None
    return open_calls.popleft() if len(open_calls) > 1 else open_calls[0]
