"""What all streams share: deltas grow into whole values, and whole values are cut into fragments.

A stream is the answer of a model in pieces. Its dialect assembles the events into the response of its sibling (the
dialect of whole responses) and lifts that; it writes the response of the sibling and cuts it. How the events were cut
is no fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.kit.fitting import is_response
from convcli.model.branches import active
from convcli.model.transcript import Message, Path, Transcript

# --- several answers in one file -------------------------------------------------------------------------------------


class Limits(NamedTuple):
    """What an event says of the limits of its answer: whether it begins or ends one, and its id."""

    begins: bool = False
    ends: bool = False
    id: Any = None


class Boundaries:
    """Finds the events that begin another answer, in streams whose events mark the beginning of one.

    Such an event begins another answer if the one before has ended, or if it names another id. With `by_id` only the
    id counts: several runs of one id are one conversation.
    """

    def __init__(self, limits_of: Callable[[Any], Limits], *, by_id: bool = False) -> None:
        self._limits_of, self._by_id = limits_of, by_id
        self._has_ended, self._id = False, None

    def __call__(self, event: Any) -> bool:
        limits = self._limits_of(event)
        is_other = limits.begins and self._is_other(limits.id)
        if limits.begins:
            self._id, self._has_ended = limits.id, False
        self._has_ended = self._has_ended or limits.ends
        return is_other

    def _is_other(self, id_: Any) -> bool:
        is_renamed = self._id is not None and id_ is not None and id_ != self._id
        return is_renamed or (self._has_ended and not self._by_id)


# --- assembling ------------------------------------------------------------------------------------------------------


class Pieces(list[str]):
    """A text that comes in fragments. It is joined once, at the end: a long stream takes linear time."""


class Items(list[Any]):
    """A list that comes in parts."""


class Growing(dict[str, Any]):
    """An object that comes in deltas: texts are `Pieces`, lists `Items`, numbered lists `Slots`."""


class Slots(dict[int, Growing]):
    """A list whose items come in deltas that name their index, in the order in which they began."""


DEPTH = 4
"""How deep objects inside a delta are merged; what is deeper is replaced as a whole."""


def merge(node: Growing, delta: Mapping[str, Any], once: frozenset[str], depth: int = DEPTH) -> None:
    """Let `node` grow by a delta: texts are joined, objects merged, lists extended, or merged by `index`.

    Of the keys in `once` (ids, names, types) the last value that says something is the whole value, since some
    services say it again in every delta. Null says nothing, but its key stays.
    """
    for key, value in delta.items():
        before = node.get(key)
        if value is None or (key in once and value == ""):
            node.setdefault(key, value)
        elif isinstance(value, str) and key not in once:
            grow(node, key, value)
        elif isinstance(value, dict) and depth:
            if not isinstance(before, Growing):
                before = node[key] = Growing()
            merge(before, value, once, depth - 1)
        elif isinstance(value, list):
            extend(node, key, value)
        else:
            node[key] = value


FORMER = "former"
"""The key of an object that keeps earlier values of its keys, where a stream states a key again with another value."""


def restate(node: dict[str, Any], key: str, value: Any) -> None:
    """Sets a value that a delta states as a whole, and keeps an earlier one that differs from it."""
    before = node.get(key)
    if before != value and before not in (None, "", {}, []):
        former = node.setdefault(FORMER, {}).setdefault(key, [])
        if before not in former:
            former.append(before)
    node[key] = value


def grow(node: dict[str, Any], key: str, text: str) -> None:
    """Add a fragment to the text under `key`."""
    before = node.get(key)
    if isinstance(before, Pieces):
        before.append(text)
    else:
        node[key] = Pieces([before, text] if isinstance(before, str) else [text])


def extend(node: dict[str, Any], key: str, items: Sequence[Any]) -> None:
    """Add items to the list under `key`."""
    before = node.get(key)
    if not isinstance(before, Items):
        before = node[key] = Items(before if isinstance(before, list) else ())
    before.extend(items)


def whole(value: Any) -> Any:
    """What has grown, as plain JSON: texts joined, numbered lists in the order of their numbers."""
    if isinstance(value, Growing):
        return {key: whole(child) for key, child in value.items()}
    if isinstance(value, Slots):
        return [whole(value[index]) for index in sorted(value)]
    if isinstance(value, Items):
        return list(value)
    return "".join(value) if isinstance(value, Pieces) else value


class Sources(dict[Any, Path]):
    """Where each thing was said first; `pieces` are all places of what was said in several, by the first of them."""

    def __init__(self, *first: tuple[Any, Path]) -> None:
        super().__init__(first)
        self.pieces: dict[Path, list[Path]] = {}

    def add(self, key: Any, place: Path) -> None:
        """It was said, or goes on, here."""
        first = self.setdefault(key, place)
        if first is not place:
            self.pieces.setdefault(first, [first]).append(place)


# --- cutting ---------------------------------------------------------------------------------------------------------

_SURROGATES = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[\ud800-\udbff][\udc00-\udfff]"
_CHARACTER = rf"{_SURROGATES}|\\u[0-9a-fA-F]{{4}}|\\[^u]|."


def fragments(text: str, size: int) -> list[str]:
    """The text in fragments of `size` characters, which joined give it exactly; 0 is no cut, and "" has no fragment.

    An escape of JSON counts as one character, so that arguments are never cut inside `\\n` or a surrogate pair.
    """
    if not size or len(text) <= size:
        return [text] if text else []
    if "\\" not in text and text.isascii():
        return [text[i : i + size] for i in range(0, len(text), size)]
    return re.findall(f"(?:{_CHARACTER}){{1,{size}}}", text, re.DOTALL)


# --- what a stream says of a transcript ------------------------------------------------------------------------------


def answers(transcript: Transcript) -> list[Message]:
    """What a stream of one answer says: the last turn of the assistant, or all alternatives of one response.

    The question, the tools and the turns before it are for requests; they are found as lost.
    """
    messages = transcript.messages
    roots = all(message.parent_id is None for message in messages)
    if transcript.head is not None and roots and is_response(transcript):
        return messages
    return [message for message in active(transcript) if message.role == "assistant"][-1:]


def one_answer(transcript: Transcript) -> Transcript:
    """The pass of `answers`."""
    messages = answers(transcript)
    if len(messages) == len(transcript.messages):
        return transcript
    return replace(transcript, messages=messages, head=None)


def run(transcript: Transcript) -> list[Message]:
    """What a stream of a whole run says: the turns of the assistant and their results since the last question.

    The last question is the last message of another role before the last turn of the assistant.
    """
    messages = active(transcript)
    last = max((i for i, message in enumerate(messages) if message.role == "assistant"), default=-1)
    if last < 0:
        return []
    first = max((i for i in range(last) if messages[i].role not in ("assistant", "tool")), default=-1) + 1
    return [message for message in messages[first:] if message.role in ("assistant", "tool")]


def apart(place: Path, other: Path) -> Path:
    """The steps from `place` to `other`: parts of one message stand in different events."""
    return ("..",) * len(place) + other
