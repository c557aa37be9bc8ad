"""Finds losses: what differs between a transcript and the one that is read back from the output.

No dialect reports losses itself. `difference` compares the transcript before a conversion with the one that the target
dialect lifts from the output. Every difference is a loss, with its path in the source. The dialects supply only data:
reasons, conventions, and the paths of fields. Linear in the number of parts, except for moved messages (n log n). Equal
values are compared in C first, and only the rest is walked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import accumulate, compress
from operator import attrgetter, eq, is_not
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from convcli.model.branches import active
from convcli.model.dialect import Dialect
from convcli.model.transcript import (
    MEDIA_KINDS,
    TRANSCRIPT_FIELDS,
    Message,
    Part,
    Path,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
    camel,
)
from convcli.proof.equality import (
    as_json,
    exact_message,
    exact_messages,
    exact_part,
    exact_parts,
    exact_tool,
    exact_values,
    media_key,
)
from convcli.proof.levels import Knowledge
from convcli.proof.reasons import MISSING, KeysOf, Level, Losses
from convcli.proof.records import Differences
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

if TYPE_CHECKING:
    from convcli.proof.align import Alignment


NOTHING: Mapping[int | tuple[int, int], str] = {}


def difference(
    before: Transcript,
    after: Transcript,
    source: Dialect | None = None,
    target: Dialect | None = None,
    left_out: Mapping[int | tuple[int, int], str] = NOTHING,
    keys: KeysOf = tuple,
    known: Knowledge | None = None,
    twins: list[Message] | None = None,
) -> Losses:
    """Returns every loss between `before` and `after`, in the order of the source; empty exactly if they are equal.

    `source` knows the paths of fields in the document that `before` was lifted from; `target` gives the reasons.
    `left_out` are the messages that were not to be written, by index, and parts, by the indexes of message and part;
    with the field of their loss. `keys` are the keys that the target's schema
    names: a reason never claims that such a key does not exist. `known` is what the source knows; without it, the level
    of a loss follows from its field alone. `twins` are messages equal to those of `after`: those that are in `before`
    too need no comparison.
    """
    walk = _Walk(before, after, Differences(before, after, source, target, keys, known), left_out, twins)
    walk.beside_messages()
    walk.messages()
    return Losses(walk.diff.losses, walk.diff.path_of)


class _Walk:
    """One comparison: the alignment, and what became of each message and part. `diff` compares two records."""

    def __init__(
        self,
        before: Transcript,
        after: Transcript,
        differences: Differences,
        left_out: Mapping[int | tuple[int, int], str],
        twins: list[Message] | None,
    ) -> None:
        self.before, self.after, self.target, self.left_out = before, after, differences.target, left_out
        self.twins = after.messages if twins is None else twins
        self.diff = differences
        self.rolled_back = before.origin.rolled_back if before.origin is not None else set()
        self.accounted: dict[int, tuple[Part, Path]] = {}
        self.branch: set[int] | None = None
        self.nearest: list[int] | None = None
        self.ends: dict[int, int] = {}
        """By message of the output: the position of the last part that has a partner so far."""

    # ------------------------------------------------------------ the whole

    def beside_messages(self) -> None:
        """Compares all fields of the transcript, then its tools."""
        before, after, diff = self.before, self.after, self.diff
        ours, theirs = _fields(before), _fields(after)
        for name, x, y in compress(zip(FIELDS, ours, theirs, strict=True), map(is_not, ours, theirs)):
            diff.values(x, y, camel(name), ())
        if before.settings is not after.settings:
            diff.keys(before.settings or {}, after.settings or {}, "settings", ())
            if (before.settings is None) != (after.settings is None) and not before.settings and not after.settings:
                diff.add("changed", (), "settings", before.settings, after.settings)
        if before.extras is not after.extras:
            diff.extras(before.extras, after.extras, ())
        if before.tools is not after.tools:
            self.tools(before.tools, after.tools)
        diff.values(before.head, after.head, "head", ())

    def has_chosen(self) -> bool:
        """True if some messages were not to be written: left out, or off the active branch."""
        return bool(self.left_out) or (self.before.head is not None and self.after.head is None)

    def unequal(self) -> list[int] | None:
        """Returns the indexes of the messages that differ from the one at the same index, if only in JSON types that
        Python takes for equal (1, 1.0 and true); None if the messages have no such partners. Compares in C."""
        before, after = self.before.messages, self.after.messages
        if len(before) != len(after) or self.has_chosen():
            return None
        are_equal = list(map(eq, before, self.twins))
        equal = (before, after) if all(are_equal) else [list(compress(some, are_equal)) for some in (before, after)]
        if exact_messages(*equal) and not self.diff.generated_once:
            return [i for i, is_equal in enumerate(are_equal) if not is_equal]
        pairs = enumerate(zip(before, after, strict=True))
        return [i for i, (one, other) in pairs if not self.same(one, other, exact_message)]

    def alignment(self, unequal: list[int] | None) -> Alignment:
        """Returns the alignment. Messages off the active branch have no partner if the output has no branches."""
        from convcli.proof.align import align  # not at the top: in most conversions all messages and tools are equal

        generated = self.diff.generated | self.diff.generated_again
        messages = self.before.messages
        if not self.has_chosen():
            return align(messages, self.after.messages, generated, unequal)
        kept = [i for i, each in enumerate(messages) if i not in self.left_out and not self.off_branch(each)]
        return align([messages[i] for i in kept], self.after.messages, generated).spread(messages, kept)

    def tools(self, before: list[ToolDefinition] | None, after: list[ToolDefinition] | None) -> None:
        if (before is None) != (after is None) and not before and not after:
            self.diff.add(
                "dropped" if after is None else "invented", self.diff.places.field("tools", ()), "tools", before, after
            )
        before, after, last = before or [], after or [], -1
        if before == after and all(map(exact_tool, before, after)):
            return
        from convcli.proof.align import align_tools

        tool_of = align_tools(before, after)
        for i, (tool, j) in enumerate(zip(before, tool_of, strict=True)):
            place = self.diff.places.tool(i)
            if j is None:
                self.diff.add("dropped", place, "tool", tool)
                self.diff.extras(tool.extras, None, place)
                continue
            if j < last:
                self.diff.add("moved", place, "tool", i, j)
            last = max(last, j)
            if not self.same(tool, after[j], exact_tool):
                self.diff.record(tool, after[j], "tool", place)
        known = set(tool_of)
        for j, tool in enumerate(after):
            if j not in known:
                self.diff.add("invented", self.diff.places.field("tools", ()), "tool", MISSING, builtins(tool))

    # ------------------------------------------------------------ messages and parts

    def messages(self) -> None:
        """Compares all messages that are not equal to the one at the same index."""
        unequal = self.unequal()
        if unequal == []:
            return
        alignment = self.alignment(unequal)
        last: int | None = None
        for i in range(len(self.before.messages)) if alignment.unequal is None else alignment.unequal:
            message, j = self.before.messages[i], alignment.message_of[i]
            if i in alignment.in_place:
                self.in_place(i, message, self.after.messages[j], alignment.lost.get(i, ()))  # type: ignore[index]
            elif j is None:
                self.dropped_message(i, message, alignment)
            else:
                self.partner(i, message, j, last, alignment)
                last = j
        self.moved_media(alignment)
        self.invented(alignment)

    def in_place(self, i: int, message: Message, other: Message, lost: Collection[int]) -> None:
        """Compares a message with its partner, part by part; parts at the indexes `lost` have none there."""
        self.diff.record(message, other, "message", self.diff.places.message(i))
        left = [part for k, part in enumerate(message.parts) if k not in lost] if lost else message.parts
        are_same = left == other.parts and exact_parts(left, other.parts) and not self.diff.generated_once
        if are_same and not lost:
            return
        twins = iter(other.parts)
        for k, part in enumerate(message.parts):
            if k in lost:
                self.dropped_part(part, self.diff.places.part(i, k), self.left_out.get((i, k)))
            elif not are_same and not self.same(part, twin := next(twins), exact_part):
                self.part(part, twin, self.diff.places.part(i, k))

    def partner(self, i: int, message: Message, j: int, last: int | None, alignment: Alignment) -> None:
        """Compares a message with its partner, the message `j` of the output; that of the message before is `last`."""
        other, place = self.after.messages[j], self.diff.places.message(i)
        if i in alignment.moved or (i in alignment.joined and j != last):
            self.diff.add("moved", place, "message", i, j)
        if i in alignment.joined:
            self.diff.add("changed", place, "message.grouping", message.role, "joined with the message before it")
            self.diff.record(message, Message(other.role, []), "message", place)
        elif not self.same(message, other, exact_message):
            self.diff.record(message, other, "message", place)
        self.parts(i, message, alignment)

    def same(self, before: Any, after: Any, exact: Callable[[Any, Any], bool]) -> bool:
        """True if nothing can be lost between two records. Fast, in C."""
        is_same = before == after and exact(before, after)
        return is_same and not (self.diff.generated_once and self.has_generated_once(before))

    def has_generated_once(self, record: Any) -> bool:
        """True if records have an id or a name that only one of the transcripts states: equal ones differ too."""
        generated = self.diff.generated_once
        if isinstance(record, Message):
            ids = record.id, record.parent_id
            return not generated.isdisjoint(ids) or any(map(self.has_generated_once, record.parts))
        if isinstance(record, ToolCall):
            return record.id in generated
        return isinstance(record, ToolResult) and (record.tool_call_id in generated or record.name in generated)

    def dropped_message(self, i: int, message: Message, alignment: Alignment) -> None:
        """Reports an event, or a message that is off the branch or replaced by a summary, as one loss; of any other
        message the parts too."""
        whole = "event" if message.role == "event" else "message"
        if i in self.rolled_back or self.off_branch(message):
            whole = "branch"
        elif i in self.left_out:
            whole = self.left_out[i]
        if whole != "message":
            self.diff.add("dropped", self.diff.places.whole(i), whole, message)
            return
        self.parts(i, message, alignment)
        gone = Message(message.role, [], **{name: getattr(message, name) for name in IDENTITY})
        self.diff.add("dropped", self.diff.places.whole(i), "message", gone)
        self.diff.record(message, gone, "message", self.diff.places.message(i))

    def off_branch(self, message: Message) -> bool:
        if self.branch is None:
            self.branch = {id(kept) for kept in active(self.before)}
        return self.before.head is not None and message.role != "event" and id(message) not in self.branch

    def parts(self, i: int, message: Message, alignment: Alignment) -> None:
        home = alignment.message_of[i]
        last = self.ends.get(home, -1) if i in alignment.joined and home is not None else -1
        for k, part in enumerate(message.parts):
            match = alignment.part_of.get((i, k))
            if match is None:
                self.dropped_part(part, self.diff.places.part(i, k), self.left_out.get((i, k)))
                continue
            j, at = match
            other = self.after.messages[j].parts[at]
            is_same, is_elsewhere = self.same(part, other, exact_part), home is not None and j != home
            is_earlier = j == home and at < last
            last = max(last, at) if j == home else last
            if is_same and not is_elsewhere and not is_earlier:
                continue
            place = self.diff.places.part(i, k)
            if is_elsewhere or is_earlier:
                self.diff.add("moved", place, part.type, *((home, j) if is_elsewhere else (k, at)))
            if not is_same:
                self.part(part, other, place)
        if home is not None:
            self.ends[home] = last

    def dropped_part(self, part: Part, place: Path, field: str | None = None) -> None:
        self.diff.add("dropped", place, field or part.type, part)
        self.beside_part(part, place)

    def beside_part(self, part: Part, place: Path) -> None:
        """Reports the metadata and extras of a dropped part."""
        if part.metadata:
            self.diff.keys(part.metadata, {}, f"{part.type}.metadata", place)
        self.diff.extras(part.extras, None, place)

    def part(self, part: Part, other: Part, place: Path) -> None:
        if type(part) is not type(other):
            self.diff.add("changed", place, part.type, part.type, other.type)
            self.diff.record(part, other, part.type, place)
        elif type(part) is ToolResult and type(other) is ToolResult:
            self.result(part, other, place)
        else:
            self.diff.record(part, other, part.type, place)

    def result(self, result: ToolResult, other: ToolResult, place: Path) -> None:
        skip: tuple[str, ...] = ()
        one, two = _alone(result), _alone(other)
        same = one.kind == two.kind and one.is_error == two.is_error and exact_values(one.value, two.value)
        if same:
            skip = ("kind", "value", "is_error")
            self.inside(result, other, place)
        elif self.by_convention(one, two, place):
            flagged = result.kind == "multimodal" and other.kind != "error"
            skip = ("kind", "value") if flagged else ("kind", "value", "is_error")
            self.inside(result, other, place)
        self.diff.record(result, other, "tool_result", place, skip)

    def by_convention(self, result: ToolResult, other: ToolResult, place: Path) -> bool:
        """Reports a result that was written by a convention of the target as one loss with the convention's reason.
        False if no convention applies."""
        for convention in self.target.conventions if self.target is not None else ():
            expected = convention.express(result)
            if expected is None or expected[0] != other.kind or as_json(expected[1]) != as_json(other.value):
                continue
            failed = "error" if result.is_error and result.kind == "data" else result.kind
            kind, why = convention.loss.get(failed) or convention.loss[result.kind]
            has_same_words = failed == "error" and as_json(result.value) == as_json(other.value)
            if has_same_words and result.kind == other.kind:
                self.diff.add("dropped", place, "tool_result.isError", True, why=why)
                return True
            name = "kind" if result.kind != other.kind else "value"
            one, other_value = as_json(getattr(result, name)), as_json(getattr(other, name))
            level: Level | None = "context" if has_same_words else None
            self.diff.add(kind, place, f"tool_result.{name}", one, other_value, why=why, level=level)
            return True
        return False

    def inside(self, result: ToolResult, other: ToolResult, place: Path) -> None:
        """Compares the parts of a result whose value is already accounted for. Media may be elsewhere in the output. A
        text that was joined with others keeps its words, but loses its metadata and extras."""
        twins: dict[Any, list[Part]] = {}
        for twin in other.value if other.kind == "multimodal" else ():
            twins.setdefault(_inner_key(twin), []).append(twin)
        for k, part in enumerate(result.value if result.kind == "multimodal" else ()):
            key, node_path = _inner_key(part), self.diff.places.inside(place, k, len(result.value))
            if twins.get(key):
                self.diff.record(part, twins[key].pop(0), part.type, node_path)
            elif part.type in MEDIA_KINDS:
                self.accounted[key] = (part, node_path)
            elif part.type == "text":
                self.beside_part(part, node_path)
            else:
                self.dropped_part(part, node_path)

    def moved_media(self, alignment: Alignment) -> None:
        """Compares the media of results that a convention moved with their copies elsewhere in the output."""
        free: dict[int, Part] = {}
        others = (pair for pair in enumerate(self.after.messages) if pair[0] not in alignment.after_in_place)
        for j, message in others if self.accounted else ():
            parts = [part for at, part in enumerate(message.parts) if (j, at) not in alignment.matched_after]
            free |= {media_key(part): part for part in parts if part.type in MEDIA_KINDS}
        for key, (part, place) in self.accounted.items():
            if key in free:
                self.diff.record(part, free[key], part.type, place)
            else:
                self.dropped_part(part, place)

    def invented(self, alignment: Alignment) -> None:
        """Reports what only the output has, except media of results that a convention moved."""
        if len(alignment.after_in_place) == len(self.after.messages):
            return
        homes = alignment.message_of if alignment.unequal is not None else set(alignment.message_of)
        for j in alignment.unequal or range(len(self.after.messages)):
            if j in alignment.after_in_place:
                continue
            message = self.after.messages[j]
            unmatched = [at for at in range(len(message.parts)) if (j, at) not in alignment.matched_after]
            if j not in alignment.after_used:
                media = {media_key(part) for part in message.parts if part.type in MEDIA_KINDS}
                if media and media <= self.accounted.keys():
                    continue
                self.diff.add("invented", self.near(j, alignment), "message", MISSING, message)
                continue
            if j not in homes:
                value = builtins(message)
                del value["parts"]
                self.diff.add("invented", self.near(j, alignment), "message.grouping", MISSING, value)
            for at in unmatched:
                part = message.parts[at]
                self.diff.add("invented", self.near(j, alignment), part.type, MISSING, part)

    def near(self, j: int, alignment: Alignment) -> Path:
        """Returns the path of the source message at or before message `j` of the output."""
        if self.nearest is None:
            homes = {to: i for i, to in enumerate(alignment.message_of) if to is not None}
            self.nearest = list(accumulate((homes.get(to, -1) for to in range(len(self.after.messages))), max))
        at = self.nearest[j]
        return self.diff.places.message(at) if at >= 0 else ()


IDENTITY = ("id", "parent_id", "created_at", "name", "model")
"""Fields that are part of the loss of their message."""

FIELDS = tuple(name for name in TRANSCRIPT_FIELDS if name not in ("messages", "tools", "settings", "extras", "head"))
"""Fields of a transcript that are compared as a whole."""
_fields = attrgetter(*FIELDS)


def _alone(result: ToolResult) -> ToolResult:
    """Returns the result without the metadata and extras of its parts."""
    if result.kind != "multimodal" or all(part.extras is None and part.metadata is None for part in result.value):
        return result
    return replace(result, value=[replace(part, extras=None, metadata=None) for part in result.value])


def _inner_key(part: Part) -> Any:
    """Returns what identifies a part of a result."""
    if part.type in MEDIA_KINDS:
        return media_key(part)
    return part.text if isinstance(part, Text) else exact_json.key(as_json(part))
