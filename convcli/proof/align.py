"""Aligns the messages and parts of two transcripts when one was made from the other."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from operator import ne
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
)
from convcli.wire import exact_json

PartIndex = tuple[int, int]
"""Indexes of a message and of a part in it."""
_Placed = list[tuple[PartIndex, Part]]
"""Parts with their indexes."""


class Alignment(msgspec.Struct):
    """The partners of messages and parts: the transcript before a conversion and the one after it.

    `message_of`: for each message before, the index of its partner after, or None · `part_of`: the same for parts.

    `moved` are the messages before that left the common order. `joined` are those whose partner belongs to an earlier
    message. `matched_after` and `after_used` are the parts and messages after that have a partner. `in_place` are the
    messages whose partner has their parts in order and no others; `after_in_place` are these partners; `part_of` and
    `matched_after` are without these parts. `lost` are the indexes of parts without a partner in such messages.
    `unequal` are the messages that are not equal to their partner at the same index; None if not all messages have such
    a partner.
    """

    message_of: Sequence[int | None]
    part_of: dict[PartIndex, PartIndex]
    moved: Collection[int]
    joined: Collection[int]
    matched_after: set[PartIndex]
    after_used: Collection[int]
    in_place: Collection[int] = ()
    after_in_place: Collection[int] = ()
    unequal: Sequence[int] | None = None
    lost: Mapping[int, Collection[int]] = {}

    def all_parts(self, before: list[Message]) -> dict[PartIndex, PartIndex]:
        """Returns the partners of all parts of the messages before."""
        part_of = dict(self.part_of)
        for i, j in enumerate(self.message_of):
            if j is not None and i in self.in_place:
                lost = self.lost.get(i, ())
                left = (k for k in range(len(before[i].parts)) if k not in lost)
                part_of |= {(i, k): (j, at) for at, k in enumerate(left)}
        return part_of

    def spread(self, before: list[Message], kept: list[int]) -> Alignment:
        """Returns the alignment for all messages before, when only those at the indexes `kept` were aligned."""
        message_of: list[int | None] = [None] * len(before)
        for i, j in zip(kept, self.message_of, strict=True):
            message_of[i] = j
        part_of = {(kept[i], k): node_path for (i, k), node_path in self.part_of.items()}
        moved, joined, in_place = ({kept[i] for i in group} for group in (self.moved, self.joined, self.in_place))
        return replace(
            self,
            message_of=message_of,
            part_of=part_of,
            moved=moved,
            joined=joined,
            in_place=in_place,
            unequal=None,
            lost={kept[i]: lost for i, lost in self.lost.items()},
        )


def align(
    before: list[Message],
    after: list[Message],
    generated: Collection[str] = (),
    unequal: Sequence[int] | None = None,
) -> Alignment:
    """Pairs messages and parts: first by content, then by order within the message that they share.

    Calls whose ids are in `generated`, or differ, are paired by name and arguments, and their results with them.
    `unequal`: the indexes of messages that are not equal to the one at the same index, where these are known.
    """
    if len(before) != len(after):
        roles = {message.role for message in after}
        kept = [i for i, message in enumerate(before) if message.role in roles]
        same = _align_by_index([before[i] for i in kept], after) if len(kept) == len(after) else None
        return _align_all(before, after, generated) if same is None else same.spread(before, kept)
    return _align_by_index(before, after, unequal, generated) or _align_all(before, after, generated)


def _align_by_index(
    before: list[Message],
    after: list[Message],
    unequal: Sequence[int] | None = None,
    generated: Collection[str] | None = None,
) -> Alignment | None:
    """Aligns as many messages after, if the partner of each is at the same index. Without `generated`, all parts after
    must be alike."""
    if unequal is None:
        unequal = [i for i, is_unequal in enumerate(map(ne, before, after)) if is_unequal]
    twins = _Twins(after)
    others = [i for i in unequal if not twins.are_alike(before[i], after[i])]
    everyone = range(len(before))
    lost = twins.of_lost_types(before, others)
    if lost is not None:
        return Alignment(everyone, {}, (), (), set(), everyone, everyone, everyone, unequal, lost)
    within = (
        None if generated is None else _align_all([before[i] for i in others], [after[i] for i in others], generated)
    )
    if within is None or not _stays(within):
        return None
    part_of, in_place = _in_all(within, others), set(everyone).difference(others)
    return Alignment(everyone, part_of, (), (), set(part_of.values()), everyone, in_place, in_place, unequal)


def _align_all(before: list[Message], after: list[Message], generated: Collection[str]) -> Alignment:
    ours, theirs = _part_paths(before), _part_paths(after)
    part_of = _parts_by_key(ours, theirs, generated)
    left, taken = [pair for pair in ours if pair[0] not in part_of], set(part_of.values())
    free = [pair for pair in theirs if pair[0] not in taken] if left else []
    _calls_by_content(left, free, after, part_of)
    message_of = _messages_by_parts(len(before), ours, part_of)
    _pair_leftovers(before, after, message_of)
    _parts_by_order(left, free, message_of, part_of)
    joined = _joined(message_of)
    used = {j for j in message_of if j is not None} | {j for j, _ in part_of.values()}
    return Alignment(message_of, part_of, _out_of_order(message_of, joined), joined, set(part_of.values()), used)


def align_tools(before: list[ToolDefinition], after: list[ToolDefinition]) -> list[int | None]:
    """Returns for each tool before the index of its partner: the next tool of its name, else the one at the same index
    if the number of tools is the same."""
    free: dict[str, deque[int]] = {}
    for j, tool in enumerate(after):
        free.setdefault(tool.name, deque()).append(j)
    taken: set[int] = set()
    tool_of: list[int | None] = []
    for i, tool in enumerate(before):
        queue = free.get(tool.name, deque())
        while queue and queue[0] in taken:
            queue.popleft()
        in_place = [i] if len(before) == len(after) and i not in taken else []
        partner = next(iter(queue or in_place), None)
        tool_of.append(partner)
        taken.update(() if partner is None else (partner,))
    return tool_of


class _Twins:
    """Compares messages at the same index. In most conversions most of them are alike."""

    def __init__(self, after: list[Message]) -> None:
        self._after = after
        self._new_ids: dict[str, str] = {}

    @cached_property
    def _ids(self) -> set[str]:
        return {part.id for message in self._after for part in message.parts if part.__class__ is ToolCall}

    def are_alike(self, before: Message, after: Message) -> bool:
        """True if the roles are the same, and the parts have the same keys, or the same name and arguments where ids
        are new."""
        return before.role == after.role and (
            before.parts == after.parts
            or (len(before.parts) == len(after.parts) and all(map(self._are_same, before.parts, after.parts)))
        )

    def of_lost_types(self, before: list[Message], others: list[int]) -> dict[int, set[int]] | None:
        """Returns the indexes of the parts of types that none of these messages has in the output; None unless the
        messages are alike without these parts, and none has lost all of its parts."""
        kept: set[type] = {part.__class__ for i in others for part in self._after[i].parts}
        if not kept.isdisjoint(_SAME_KEYS):
            kept |= _SAME_KEYS
        lost: dict[int, set[int]] = {}
        for i in others:
            message, twin = before[i], self._after[i]
            left = [part for part in message.parts if part.__class__ in kept]
            if not left or len(left) != len(twin.parts) or message.role != twin.role:
                return None
            if left != twin.parts and not all(map(self._are_same, left, twin.parts)):
                return None
            lost[i] = {k for k, part in enumerate(message.parts) if part.__class__ not in kept}
        return lost

    def _are_same(self, before: Part, after: Part) -> bool:
        if type(before) is ToolCall and type(after) is ToolCall:
            if before.id == after.id:
                return True
            if before.id in self._ids:
                return False
            self._new_ids[before.id] = after.id
            return before.name == after.name and before.arguments == after.arguments
        if type(before) is ToolResult and type(after) is ToolResult:
            id_, other = before.tool_call_id, after.tool_call_id
            return id_ == other or self._new_ids.get(id_) == other
        return before is after or part_key(before) == part_key(after)


def _stays(alignment: Alignment) -> bool:
    """True if every message has its partner at the same index, and every matched part too."""
    in_order = all(i == j for i, j in enumerate(alignment.message_of))
    return in_order and all(node_path[0] == other[0] for node_path, other in alignment.part_of.items())


def _in_all(within: Alignment, others: list[int]) -> dict[PartIndex, PartIndex]:
    """Returns the partners of parts by their indexes in all messages, when only the `others` were aligned."""
    return {(others[i], k): (others[j], at) for (i, k), (j, at) in within.part_of.items()}


_SAME_KEYS: frozenset[type] = frozenset((Text, Refusal))
"""Parts whose keys may be the same although they are of two types."""


def part_key(part: Part) -> tuple[Any, ...]:
    """Returns what identifies a part. A refusal has the key of a text, because some targets write it as one."""
    if part.__class__ is Text or part.__class__ is Refusal:
        return (Text.type, part.text)
    if part.__class__ is Reasoning:
        return (part.type, part.text)
    if part.__class__ is ToolCall:
        return (part.type, part.id)
    if part.__class__ is ToolResult:
        return (part.type, part.tool_call_id)
    if part.__class__ is Media:
        return (part.type, part.data or part.url or part.file_id or part.path or part.text)
    assert isinstance(part, Opaque)
    return (part.type, part.dialect, _opaque_key(part))


def _opaque_key(part: Opaque) -> bytes:
    try:
        return msgspec.msgpack.encode(part.value)
    except (OverflowError, UnicodeEncodeError, RecursionError, TypeError):
        return repr(part.value).encode("utf-8", "backslashreplace")


def _part_paths(messages: list[Message]) -> _Placed:
    return [((i, k), part) for i, message in enumerate(messages) for k, part in enumerate(message.parts)]


def _parts_by_key(ours: _Placed, theirs: _Placed, generated: Collection[str]) -> dict[PartIndex, PartIndex]:
    free: dict[tuple[Any, ...], list[PartIndex]] = {}
    for node_path, part in reversed(theirs):  # pop() below takes from the end, so the first is stored last
        free.setdefault(part_key(part), []).append(node_path)
    for id_ in generated:
        free.pop((ToolCall.type, id_), None)
        free.pop((ToolResult.type, id_), None)
    part_of: dict[PartIndex, PartIndex] = {}
    for node_path, part in ours:
        part_paths = free.get(part_key(part))
        if part_paths:
            part_of[node_path] = part_paths.pop()
    return part_of


def _calls_by_content(left: _Placed, free: _Placed, after: list[Message], part_of: dict[PartIndex, PartIndex]) -> None:
    """Matches calls whose ids say nothing by name and arguments, and then the results of these calls."""
    calls = [(node_path, part) for node_path, part in left if isinstance(part, (ToolCall, ToolResult))]
    queues: dict[tuple[Any, ...], deque[PartIndex]] = {}
    for node_path, part in free if calls else ():
        if isinstance(part, (ToolCall, ToolResult)):
            queues.setdefault(_content_key(part), deque()).append(node_path)
    new_ids: dict[str, deque[str]] = {}
    for node_path, part in calls if queues else ():
        queue = queues.get(_content_key(part, new_ids))
        if queue:
            j, at = part_of[node_path] = queue.popleft()
            other = after[j].parts[at]
            if isinstance(part, ToolCall) and isinstance(other, ToolCall):
                new_ids.setdefault(part.id, deque()).append(other.id)
            elif isinstance(part, ToolResult) and len(new_ids.get(part.tool_call_id, ())) > 1:
                new_ids[part.tool_call_id].popleft()  # the next result with this id belongs to the next call


def _content_key(
    part: ToolCall | ToolResult, new_ids: Mapping[str, deque[str]] = MappingProxyType({})
) -> tuple[Any, ...]:
    if isinstance(part, ToolCall):
        return (part.type, part.name, exact_json.key(part.arguments))
    ids = new_ids.get(part.tool_call_id)
    return (part.type, ids[0] if ids else part.tool_call_id)


def _messages_by_parts(count: int, ours: _Placed, part_of: dict[PartIndex, PartIndex]) -> list[int | None]:
    """Returns for each of `count` messages the message that has the first of its matched parts."""
    message_of: list[int | None] = [None] * count
    for node_path, _ in reversed(ours):
        if node_path in part_of:
            message_of[node_path[0]] = part_of[node_path][0]
    return message_of


def _pair_leftovers(before: list[Message], after: list[Message], message_of: list[int | None]) -> None:
    """Matches messages without matched parts: the next one of the same role, between the same neighbors."""
    used = {j for j in message_of if j is not None}
    free: dict[str, deque[int]] = {}
    for j, message in enumerate(after):
        if j not in used:
            free.setdefault(message.role, deque()).append(j)
    lower = -1
    upper = _next_paired(message_of, len(after))
    for i, message in enumerate(before):
        home = message_of[i]
        if home is not None:
            lower = max(lower, home)
            continue
        queue = free.get(message.role, deque())
        while queue and queue[0] <= lower:
            queue.popleft()
        if queue and queue[0] < upper[i]:
            message_of[i] = lower = queue.popleft()


def _next_paired(message_of: list[int | None], end: int) -> list[int]:
    upper = [end] * len(message_of)
    for i in range(len(message_of) - 2, -1, -1):
        following = message_of[i + 1]
        upper[i] = following if following is not None else upper[i + 1]
    return upper


def _parts_by_order(
    left: _Placed,
    free: _Placed,
    message_of: list[int | None],
    part_of: dict[PartIndex, PartIndex],
) -> None:
    """Matches each remaining part with the next free one of the same type in the same message."""
    taken = set(part_of.values()) if left else set()
    queues: dict[tuple[int, str], deque[PartIndex]] = {}
    for node_path, part in free:
        if node_path not in taken:
            queues.setdefault((node_path[0], part.type), deque()).append(node_path)
    for node_path, part in left:
        home = message_of[node_path[0]]
        queue = queues.get((home, part.type)) if home is not None and node_path not in part_of else None
        if queue:
            part_of[node_path] = queue.popleft()


def _joined(message_of: list[int | None]) -> set[int]:
    seen: set[int] = set()
    joined: set[int] = set()
    for i, j in enumerate(message_of):
        if j is not None and j in seen:
            joined.add(i)
        elif j is not None:
            seen.add(j)
    return joined


def _out_of_order(message_of: list[int | None], joined: set[int]) -> set[int]:
    """Returns the smallest set of messages that must have moved: all outside a longest increasing run. In doubt the
    later ones stay."""
    pairs = [(i, j) for i, j in enumerate(message_of) if j is not None and i not in joined]
    if all(x[1] < y[1] for x, y in pairwise(pairs)):
        return set()
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for position in range(len(pairs) - 1, -1, -1):
        value = -pairs[position][1]
        length = bisect_left(tails, value)
        previous.append(ends[length - 1] if length else -1)
        entry = len(pairs) - 1 - position
        if length == len(tails):
            tails.append(value)
            ends.append(entry)
        else:
            tails[length], ends[length] = value, entry
    kept: set[int] = set()
    entry = ends[-1]
    while entry >= 0:
        kept.add(pairs[len(pairs) - 1 - entry][0])
        entry = previous[entry]
    return {i for i, _ in pairs} - kept
