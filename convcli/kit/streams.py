"""Tools for all streams: joins deltas to whole values, and cuts whole values into fragments.

A stream is a model's response in pieces. Its dialect assembles the events into a response of its sibling dialect (whole
responses) and lifts that. To write, it cuts the sibling's response. How the events were cut is not a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.kit.fitting import is_response
from convcli.kit.objects import Native, get_extras, has_content
from convcli.model.branches import active
from convcli.model.transcript import Message, Path, Transcript
from convcli.proof.levels import FORMER as FORMER
from convcli.proof.levels import OTHER_BLOCKS as OTHER_BLOCKS
from convcli.wire import exact_json

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
    """A text that arrives in fragments. It is joined once, at the end, so a long stream takes linear time."""


class Items(list[Any]):
    """A list that arrives in parts."""


class Growing(dict[str, Any]):
    """An object that arrives in deltas: texts are `Pieces`, lists `Items`, numbered lists `Slots`."""


class Slots(dict[int, Growing]):
    """A list whose items arrive in deltas with their index, in the order in which they began."""


OF_REQUEST = ("tools", "tool", "toolChoice", "settings")
"""What is lost where a stream has the answer, not the request, by names in losses."""
OTHER_MESSAGES = ("message", "text", "reasoning", "tool_call", "tool_result")
"""What is lost with the other messages where a stream has one answer, by names in losses."""
DEPTH = 4
"""The depth to which objects in a delta are merged; deeper ones are replaced as a whole."""


def merge(node: Growing, delta: Mapping[str, Any], once: frozenset[str], depth: int = DEPTH) -> None:
    """Merges a delta into `node`: joins texts, merges objects, extends lists or merges them by `index`.

    Keys in `once` (ids, names, types) are stated as a whole, since some services repeat them in every delta, as are all
    values that cannot grow. Null changes nothing, but its key stays.
    """
    for key, value in delta.items():
        before = node.get(key)
        if value is None or (key in once and value == ""):
            node.setdefault(key, value)
        elif isinstance(value, str) and key not in once and (before is None or isinstance(before, (str, Pieces))):
            grow(node, key, value)
        elif isinstance(value, dict) and depth and (before is None or isinstance(before, Growing)):
            if before is None:
                node[key] = Growing()
            merge(node[key], value, once, depth - 1)
        elif isinstance(value, list):
            extend(node, key, value)
        else:
            restate(node, key, value)


def restate(node: dict[str, Any], key: str, value: Any) -> None:
    """Sets a value that an event states as a whole, and keeps an earlier one that differs from it.

    An empty value is no earlier one: it only says that nothing is known yet.
    """
    before = node.get(key)
    is_other = has_content(before) and not is_same(before, value)
    if is_other and key == FORMER:  # the vendor has this key, too
        keep_other(node, key, value)
        return
    if is_other:
        keep_other(node, key, whole(before))
    node[key] = value


def state(
    node: dict[str, Any],
    native: Mapping[str, Any],
    place: Path,
    routes: dict[Path, Path],
    path: Path = (),
    *,
    read: Collection[str] = (),
) -> None:
    """Sets the keys that the object of an event at `place` states of `node`, and records where they are: `path` is that
    of the node in `routes`. Null states nothing.

    A key that is `read` in the node from elsewhere means something else in this object: the node keeps it among the
    other values. This is how streams keep every key that no field has.
    """
    for key, value in native.items():
        before = node.get(key)
        if value is None or (before == value and before.__class__ is value.__class__):
            continue
        if isinstance(value, Former):
            for name, others in value.items():
                for other in others:
                    keep_other(node, name, other)
            routes.setdefault((*path, FORMER), routes.get((*place, FORMER), place))
        elif key in read:
            keep_other(node, key, value)
            routes.setdefault((*path, FORMER), place)
        else:
            restate(node, key, value)
            key_path = (*path, key)
            if has_content(before):
                before_path = routes[key_path][:-1] if key_path in routes else routes.get(path, path)
                routes.setdefault((*path, FORMER), before_path)
            routes[key_path] = (*place, key)


def state_extras(
    record: Any,
    owner: str,
    native: Mapping[str, Any] | None,
    place: Path,
    routes: dict[Path, Path],
    path: Path,
    *,
    read: Collection[str] = (),
) -> None:
    """Same as `state`, for the owner's keys in the extras of a record that is being lifted."""
    if native:
        node = dict(get_extras(record.extras, owner))
        state(node, native, place, routes, path, read=read)
        record.extras = {**(record.extras or {}), owner: node}


def restated(before: Native | None, native: Mapping[str, Any]) -> Native:
    """Returns an object that an event states as a whole, with what an earlier event stated of it."""
    if before is None:
        return dict(native)
    state(before, native, (), {})
    return before


def recount(node: dict[str, Any], counts: Mapping[str, Any]) -> None:
    """Updates token counts. They are totals: a later number replaces an earlier one. Anything else is stated anew."""
    for key, value in counts.items():
        before = node.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            node[key] = dict(before)
            recount(node[key], value)
        elif _is_number(value) and _is_number(before):
            node[key] = value
        elif value is not None:
            restate(node, key, value)
        else:
            node.setdefault(key, value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_same(before: Any, value: Any) -> bool:
    """True for equal values, among which Python has `true` and 1."""
    return bool(before == value) and isinstance(before, bool) == isinstance(value, bool)


def keep_former(node: dict[str, Any], key: str, before: Any) -> None:
    """Keeps the text that grew under `key` before its final text was stated, if that one does not have its fragments.

    A fragment that was lost or came twice is no difference worth a report: the final text has it.
    """
    fragments = before if isinstance(before, Pieces) else [before] if isinstance(before, str) else []
    final = whole(node.get(key))
    if isinstance(final, str) and "".join(fragments) != final and not _has_in_order(final, fragments):
        keep_other(node, key, "".join(fragments))


class Former(dict[str, list[Any]]):
    """The values of an object's keys that do not count, each once: earlier ones, and those of an event next to it."""

    def __init__(self) -> None:
        super().__init__()
        self._known: set[tuple[str, bytes]] = set()

    def add(self, key: str, value: Any) -> None:
        mark = (key, exact_json.key(value))
        if mark not in self._known:
            self._known.add(mark)
            self.setdefault(key, []).append(value)


def keep_other(node: dict[str, Any], key: str, value: Any) -> None:
    """Keeps a value of a key that does not count. What the source has under the key `former` becomes one."""
    former = node.get(FORMER)
    if not isinstance(former, Former):
        node[FORMER], vendors = Former(), former
        former = node[FORMER]
        if vendors is not None:
            former.add(FORMER, whole(vendors))
    former.add(key, value)


def _has_in_order(text: str, fragments: Sequence[str]) -> bool:
    """True if the text has the fragments one after the other; one that comes again at once counts once."""
    at = 0
    for i, fragment in enumerate(fragments):
        if i and fragment == fragments[i - 1]:
            continue
        at = text.find(fragment, at)
        if at < 0:
            return False
        at += len(fragment)
    return True


def grow(node: dict[str, Any], key: str, text: str) -> None:
    """Appends a fragment to the text under `key`."""
    before = node.get(key)
    if isinstance(before, Pieces):
        before.append(text)
    else:
        node[key] = Pieces([before, text] if isinstance(before, str) else [text])


def extend(node: dict[str, Any], key: str, items: Sequence[Any]) -> None:
    """Appends items to the list under `key`. A value there that is no list becomes the first item."""
    before = node.get(key)
    if not isinstance(before, Items):
        before = node[key] = Items(before if isinstance(before, list) else () if before is None else (whole(before),))
    before.extend(items)


def whole(value: Any) -> Any:
    """Returns the assembled value as JSON: texts joined, numbered lists in order."""
    if isinstance(value, Growing):
        return {key: whole(child) for key, child in value.items()}
    if isinstance(value, Slots):
        return [whole(value[index]) for index in sorted(value)]
    if isinstance(value, Items):
        return list(value)
    return "".join(value) if isinstance(value, Pieces) else value


class Sources(dict[Any, Path]):
    """The path at which each thing first appears; `pieces` are all paths of a thing that is in several events, by the
    first."""

    def __init__(self, *first: tuple[Any, Path]) -> None:
        super().__init__(first)
        self.pieces: dict[Path, list[Path]] = {}

    def add(self, key: Any, place: Path) -> None:
        """Records that the thing begins or continues at this path."""
        first = self.setdefault(key, place)
        if first is not place:
            self.pieces.setdefault(first, [first]).append(place)


# --- cutting ---------------------------------------------------------------------------------------------------------

_SURROGATES = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[\ud800-\udbff][\udc00-\udfff]"
_CHARACTER = rf"{_SURROGATES}|\\u[0-9a-fA-F]{{4}}|\\[^u]|."


def fragments(text: str, size: int) -> list[str]:
    """Cuts the text into fragments of `size` characters, which joined give it exactly; 0 does not cut, and "" has no
    fragments.

    A JSON escape counts as one character, so arguments are never cut inside `\n` or a surrogate pair.
    """
    if not size or len(text) <= size:
        return [text] if text else []
    if "\\" not in text and text.isascii():
        return [text[i : i + size] for i in range(0, len(text), size)]
    return re.findall(f"(?:{_CHARACTER}){{1,{size}}}", text, re.DOTALL)


# --- what a stream can store -----------------------------------------------------------------------------------------


def answers(transcript: Transcript) -> list[Message]:
    """Returns what a stream of one response can store: the last assistant message, or all alternatives of one response.

    The question, the tools and earlier messages belong to requests, and are lost.
    """
    messages = transcript.messages
    roots = all(message.parent_id is None for message in messages)
    if transcript.head is not None and roots and is_response(transcript):
        return messages
    return [message for message in active(transcript) if message.role == "assistant"][-1:]


def one_answer(transcript: Transcript) -> Transcript:
    """Returns `answers` as a pass."""
    messages = answers(transcript)
    if len(messages) == len(transcript.messages):
        return transcript
    return replace(transcript, messages=messages, head=None)


def run(transcript: Transcript) -> list[Message]:
    """Returns what a stream of a whole run can store: the assistant messages and their results since the last question.

    The last question is the last message of another role before the last assistant message.
    """
    messages = active(transcript)
    last = max((i for i, message in enumerate(messages) if message.role == "assistant"), default=-1)
    if last < 0:
        return []
    first = max((i for i in range(last) if messages[i].role not in ("assistant", "tool")), default=-1) + 1
    return [message for message in messages[first:] if message.role in ("assistant", "tool")]


def keep_last_run(transcript: Transcript) -> Transcript:
    """Keeps what a stream of a whole run can store."""
    return replace(transcript, messages=run(transcript), head=None)


def apart(place: Path, other: Path) -> Path:
    """Returns the steps from `place` to `other`: parts of one message are in different events."""
    return ("..",) * len(place) + other
