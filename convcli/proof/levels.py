"""Decides by its value whether a loss is content, wherever the value stood.

A field of the intermediate format has its level (`reasons`). Extras and events have none of their own: they hold the
metadata that a dialect knows, and everything else that stood in the document. What the dialect does not know is content
if it holds language, a message, a part or a call (`language`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Opaque, Path, Step
from convcli.proof.language import holds_content, holds_message
from convcli.wire.decimals import builtins

EVENT = "event"
EXTRAS = "extras."
TYPES = ("type", "sessionUpdate", "kind", "event", "observation", "action")
"""Keys that say what a row is; the first of them counts."""
WRAPPED = ("payload", "attachment", "params", "update", "part", "item")
"""Keys of the object inside of a row that says more of what it is."""
MAX_WRAPPED = 4
SAID = ("content", "text")

FORMER, OTHER_BLOCKS = "former", "content_blocks"
"""Keys of extras that only the assembly of a stream adds: the other values of an object's keys, and blocks of a message
that no field can store."""
ASSEMBLED = frozenset((FORMER, OTHER_BLOCKS))
"""Both of these keys: no document of any dialect has them."""
WRITTEN = frozenset(("arguments", "content", "partial_json", "rawInput", "refusal", "summary", "text", "thinking"))
"""Keys of texts that a stream builds. Their earlier values are content, however short."""


def is_judged(field: str) -> bool:
    """True if the level of a loss of the field depends on its value."""
    return field == EVENT or field.startswith(EXTRAS)


def may_be_content(value: Any) -> bool:
    """False for most metadata, at once: numbers, and strings without spaces."""
    if isinstance(value, str):
        return not value.isascii() or " " in value or "\n" in value or value[:1] in ("{", "[")
    return isinstance(value, (dict, list)) and bool(value)


def row_type(row: Any) -> str:
    """The types of a row and of the objects that it wraps, joined by `/`; empty where it states none."""
    types = list[str]()
    for _ in range(MAX_WRAPPED):
        if not isinstance(row, dict):
            break
        types += [row[key] for key in TYPES if isinstance(row.get(key), str)][:1]
        row = next((row[key] for key in WRAPPED if isinstance(row.get(key), dict)), None)
    return "/".join(types)


class Knowledge:
    """What a dialect knows: the keys that its schema names, and what it says is metadata.

    `named` gives the keys that the schema names in the object at a path of keys and `*`, None where it names none;
    `vocabulary` are all keys that it names. `others` gives what another dialect knows, by the owner of extras.
    """

    def __init__(
        self,
        dialect: Dialect,
        named: Callable[[Path], frozenset[str] | None],
        vocabulary: frozenset[str],
        others: Callable[[str], Knowledge | None] = lambda _: None,
    ) -> None:
        self.dialect, self.named, self.vocabulary, self.others = dialect, named, vocabulary, others
        self.is_known_type = lru_cache(maxsize=1024)(self._is_known_type)
        self._plain: set[Path] = set()

    def unknown_content(self, field: str, path: Path, value: Any) -> Path | None:
        """The path of the first content in the value of a lost key of extras (`extras.D.key`) that the dialect does
        not know; None without any. `path` is that of the key in the document."""
        if not may_be_content(value):
            return None
        owner, _, key = field.removeprefix(EXTRAS).partition(".")
        if self.dialect.owns(owner) or not self.dialect.keeps_form:  # else a family has lent its name
            return self.key(path if path and path[-1] == key.rpartition(".")[2] else (*path, key), value)
        other = self.others(owner)
        return path if (other is None or not other._is_metadata(key)) and holds_content(value) else None

    def is_clean(self, place: Path, key: str) -> bool:
        """True if a key of the object at `place` is known, and whatever its value holds is too. A key of content is."""
        return (
            key in self.dialect.metadata
            or key in self.dialect.content
            or (bool(self._plain) and (*normalized(place), key) in self._plain)
        )

    def row(self, path: Path, row: Any) -> Path | None:
        """The path of a row of a type that the dialect does not know, if the row holds content."""
        if self.is_known_type(row_type(row)):
            return None
        return path if holds_content(row) or _is_said(row) else None

    def key(self, path: Path, value: Any) -> Path | None:
        """The path of the first content under a key of extras, or inside of its value, where the key is not known."""
        if self.is_clean(path[:-1], str(path[-1])):
            return None
        if self.lists_events(path[-1]):
            return path[:-1] if self.events_with_content(path[:-1], value) else None
        added = str(path[-1]).rpartition(".")[2]
        if added in (FORMER, OTHER_BLOCKS):
            return path if _is_assembled_content(added, value) else None
        if isinstance(path[-1], int):  # all of an event or of an item
            return self._below(path, value)
        named = self.named(normalized(path[:-1]))
        if path[-1] in self.dialect.envelope or path[-1] in (self.vocabulary if named is None else named):
            if isinstance(value, str):
                return None
            if len(path) > 1 and self.named(normalized(path)) is None and not isinstance(value, list):
                self._plain.add(normalized(path))
            # a conversation of another form of the dialect, or one in an object that the schema does not describe
            is_conversation = (named is None or len(path) == 1) and holds_message(value)
            return path if is_conversation else self._below(path, value)
        return path if holds_content(value) else None

    def lists_events(self, key: Step) -> bool:
        """True if this key of extras lists the events of unknown types."""
        return bool(self.dialect.other_events) and key == self.dialect.other_events

    def events_with_content(self, path: Path, events: Iterable[Any]) -> list[int]:
        """The positions of the events in the list that hold content."""
        return [i for i, event in enumerate(events) if self.row(path, event) is not None]

    def inside(self, path: Path, value: Any) -> Path | None:
        """The path of the first content under an unknown key anywhere in the value of a known one."""
        return self._below(path, value)

    def part(self, path: Path, value: Any, is_present: Callable[[Path], bool]) -> Path | None:
        """The path of the first content under an unknown key of a block that is kept as it is. What is inside of the
        values of its keys is a matter of its type.

        `is_present`: whether the document has a path. A key that it does not have was put into the block from elsewhere
        (a later event, say), so it is known if the schema names it anywhere.
        """
        named = self.named(normalized(path)) if isinstance(value, dict) else None
        if named is None:
            return None
        unknown = ((*path, key) for key in value if key not in named and holds_content(value[key]))
        return next((each for each in unknown if each[-1] not in self.vocabulary or is_present(each)), None)

    def _below(self, path: Path, value: Any) -> Path | None:
        """The same inside of the value of a known key. Where the schema names no keys, any key may stand."""
        if isinstance(value, list):
            return _first(self._below((*path, i), each) for i, each in enumerate(value))
        named = self.named(normalized(path)) if isinstance(value, dict) else None
        return None if named is None else _first(self._member((*path, key), value[key], named) for key in value)

    def _member(self, path: Path, value: Any, named: frozenset[str]) -> Path | None:
        if path[-1] in named:
            return self._below(path, value)
        return path if path[-1] not in self.dialect.metadata and holds_content(value) else None

    def event(self, path: Path, event: Message) -> Path | None:
        """The same of a lost event: a row, whole in an opaque part, and the fields of its envelope."""
        for part in event.parts:
            if isinstance(part, Opaque):
                found = self._of_owner(part.dialect).row(path, part.value)
            else:
                found = path if holds_content(builtins(part)) else None
            if found is not None:
                return found
        return _first(
            self.unknown_content(f"{EXTRAS}{owner}.{key}", (*path, key), value)
            for owner, extra in (event.extras or {}).items()
            for key, value in extra.items()
        )

    def _of_owner(self, owner: str) -> Knowledge:
        """What the owner of a row knows; what this dialect knows, where there is no such dialect."""
        return self if self.dialect.owns(owner) else self.others(owner) or self

    def _is_metadata(self, key: str) -> bool:
        first, _, last = key.partition(".")
        return any(each in known for each in (first, last) for known in (self.dialect.metadata, self.vocabulary)) or (
            first in self.dialect.envelope
        )

    def _is_known_type(self, type_: str) -> bool:
        """True if the type, or one of which it is a subtype, is known."""
        known = self.dialect.metadata
        return type_ in known or any(type_.startswith(f"{each}/") for each in known)


def _is_assembled_content(key: str, value: Any) -> bool:
    """True for blocks of a message, and for earlier values that are texts or hold content."""
    if key == OTHER_BLOCKS:
        return bool(value)
    return holds_content(value) or (
        isinstance(value, dict) and any(value[each] for each in WRITTEN.intersection(value))
    )


def _is_said(row: Any) -> bool:
    """True if a row, or an object that it wraps, has a text, however short, under a key for what somebody says."""
    for _ in range(MAX_WRAPPED):
        if not isinstance(row, dict):
            break
        if any(isinstance(row.get(key), str) and row[key].strip() for key in SAID):
            return True
        row = next((row[key] for key in (*WRAPPED, "data") if isinstance(row.get(key), dict)), None)
    return False


def _first(paths: Iterable[Path | None]) -> Path | None:
    return next((path for path in paths if path is not None), None)


def normalized(path: Path) -> Path:
    """The path with `*` for each index of a list, as schemas are asked for it."""
    return tuple("*" if isinstance(step, int) or step.isdecimal() else step for step in path)
