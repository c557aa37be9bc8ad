"""Counts how much of a transcript a conversion keeps, encodes, changes and drops.

A loss report names what differs; this module counts what does not. The facts of a transcript are counted by the names
that losses use, so `kept` is what no loss names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from convcli.model.branches import active
from convcli.model.dialect import Dialect
from convcli.model.located import record_of
from convcli.model.transcript import MEDIA_KINDS, TRANSCRIPT_FIELDS, Transcript, camel
from convcli.proof.places import Places
from convcli.proof.reasons import LEVELS, Level, Loss, level_of
from convcli.wire import pointers

Outcome: TypeAlias = Literal["kept", "encoded", "changed", "dropped"]
OUTCOMES: tuple[Outcome, ...] = ("kept", "encoded", "changed", "dropped")
"""Outcomes of a fact, worst last."""
OUTCOME_OF_LOSS: dict[str, Outcome] = {
    "dropped": "dropped",
    "changed": "changed",
    "moved": "changed",
    "encoded": "encoded",
}
"""The outcome of the fact that a loss names. Invented values are not facts of the source."""

CORE: dict[str, frozenset[str]] = {
    "message": frozenset(("role",)),
    "tool": frozenset(("name",)),
    "text": frozenset(("text",)),
    "reasoning": frozenset(("text",)),
    "refusal": frozenset(("text",)),
    "tool_call": frozenset(("name", "arguments", "rawArguments")),
    "tool_result": frozenset(("name", "kind", "value", "isError")),
    "opaque": frozenset(("dialect", "value")),
    **dict.fromkeys(MEDIA_KINDS, frozenset(("data", "url", "fileId", "path", "text"))),
}
"""The fields that define a node: together they are one fact. Every other field is a fact of its own."""

MOST_PLACES = 5
"""Losses of a group that are kept with their positions."""

MessageOutcome: TypeAlias = Outcome | Literal["metadata"]
FROM_BEST_TO_WORST: tuple[MessageOutcome, ...] = ("kept", "metadata", "encoded", "changed", "dropped")
"""Outcomes of a message, worst last; `metadata` means that only context or envelope was lost."""

Place: TypeAlias = tuple[int, str]
"""Line and JSON Pointer of a loss."""
PlaceOf: TypeAlias = Callable[[str], Place]
"""Returns the position of a pointer into the whole document."""


class FactCount(NamedTuple):
    """The facts of one name: their `level`, and the number of each outcome."""

    name: str
    level: Level
    outcomes: Counter[str]


class LossGroup(msgspec.Struct):
    """Losses of one kind, field and reason: their number, and the first of them."""

    level: Level
    kind: str
    field: str
    why: str
    count: int = 0
    first: list[Loss] = []


class OutcomeTable:
    """Facts and their outcomes, over the conversions of one job. Its size depends on the names, not on the data.

    `invented` counts values that the target needs and the source lacks, by level. `transcripts` has the worst outcome
    of each transcript's content, `messages` that of each message of the last transcript.
    """

    def __init__(self) -> None:
        self.sources: dict[str, None] = {}
        self.invented: Counter[str] = Counter()
        self.transcripts: list[MessageOutcome] = []
        self.messages: list[MessageOutcome] = []
        self._facts: dict[str, Counter[str]] = defaultdict(Counter)
        self._levels: dict[str, Level] = {}
        self._groups: dict[tuple[str, str, str, str], LossGroup] = {}

    def add(
        self, transcript: Transcript, losses: list[Loss], source: Dialect, target: Dialect, place_of: PlaceOf
    ) -> None:
        """Adds a conversion, whose losses have positions from `placed`."""
        self.sources[source.name] = None
        nodes = dict(_nodes(transcript, source, place_of))
        worst = _worst(losses, nodes)
        gravest = {loss.field: loss.level for loss in sorted(losses, key=lambda loss: -LEVELS.index(loss.level))}
        counts = facts(transcript, branches="branch" not in {loss.field for loss in losses})
        for name in dict.fromkeys([*counts, *worst]):
            lost = Counter[str](worst.get(name, {}).values())
            self._facts[name].update(lost)
            self._facts[name]["kept"] += max(counts[name] - lost.total(), 0)
            levels = (self._levels.get(name), gravest.get(name), level_of(name, source, target))
            self._levels[name] = min(filter(None, levels), key=LEVELS.index)
        self._group(losses)
        *self.messages, rest = _by_message(losses, nodes, len(transcript.messages))
        self.transcripts.append(max([*self.messages, rest], key=FROM_BEST_TO_WORST.index))

    def lose(self, losses: list[Loss]) -> None:
        """Adds losses of documents that could not be read."""
        for loss in losses:
            self._facts[loss.field][OUTCOME_OF_LOSS[loss.kind]] += 1
            self._levels[loss.field] = loss.level
        self._group(losses)

    @property
    def facts(self) -> list[FactCount]:
        """The facts by name, the most frequent first within their level."""
        rows = [FactCount(name, self._levels[name], counts) for name, counts in self._facts.items()]
        return sorted(rows, key=lambda row: (LEVELS.index(row.level), -row.outcomes.total()))

    @property
    def groups(self) -> list[LossGroup]:
        """The losses by kind, field and reason: content first, then the most frequent."""
        return sorted(self._groups.values(), key=lambda group: (LEVELS.index(group.level), -group.count))

    def _group(self, losses: list[Loss]) -> None:
        for loss in losses:
            key = loss.level, loss.kind, loss.field, loss.why
            group = self._groups.get(key) or self._groups.setdefault(key, LossGroup(*key))
            group.count += 1
            if len(group.first) < MOST_PLACES:
                group.first.append(loss)
            self.invented[loss.level] += loss.kind == "invented"


# --- the facts -------------------------------------------------------------------------------------------------------


def facts(transcript: Transcript, *, branches: bool = True) -> Counter[str]:
    """Counts the facts of a transcript by name; without `branches`, an inactive message is one fact."""
    counts = Counter(_of_transcript(transcript))
    active_ids = None if branches or transcript.head is None else {id(message) for message in active(transcript)}
    for message in transcript.messages:
        if message.role == "event":
            counts["event"] += 1
        elif active_ids is not None and id(message) not in active_ids:
            counts["branch"] += 1
        else:
            counts.update(_of_node("message", message))
            for part in message.parts:
                counts.update(_of_node(part.type, part))
    return counts


def _of_transcript(transcript: Transcript) -> Iterator[str]:
    for name in TRANSCRIPT_FIELDS:
        if name not in ("messages", "tools", "settings", "extras") and getattr(transcript, name) is not None:
            yield camel(name)
    for tool in transcript.tools or ():
        yield from _of_node("tool", tool)
    yield from (f"settings.{name}" for name in transcript.settings or {})
    yield from _of_extras(transcript.extras)


def _of_node(node: str, record: Any) -> Iterator[str]:
    """Yields the node itself, and each field outside of its core."""
    yield node
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value is None or name in ("parts", "extras", "type"):
            continue
        if name in ("metadata", "usage"):
            yield from (f"{node}.{name}.{key}" for key in value)
        elif camel(name) not in CORE[node]:
            yield f"{node}.{camel(name)}"
    yield from _of_extras(record.extras)


def _of_extras(extras: dict[str, dict[str, Any]] | None) -> Iterator[str]:
    """Yields the facts of extras; deeper values belong to their key."""
    return (fact_of(f"extras.{dialect}.{key}") for dialect, keys in (extras or {}).items() for key in keys)


def fact_of(field: str) -> str:
    """Returns the fact that a loss of this field is about."""
    node, dot, name = field.partition(".")
    if node == "extras":
        return ".".join(field.split(".")[:3])
    return node if dot and name in CORE.get(node, ()) else field


def _covered(loss: Loss) -> list[str]:
    """Returns the facts that a loss is about; a dropped node includes its fields."""
    if loss.kind != "dropped" or loss.field not in CORE or not isinstance(loss.before, dict):
        return [fact_of(loss.field)]
    keys = (key for key in loss.before if key not in ("type", "usage") and key not in CORE[loss.field])
    usage = (f"message.usage.{key}" for key in loss.before.get("usage") or () if loss.field == "message")
    return [loss.field, *(f"{loss.field}.{key}" for key in keys), *usage]


# --- where they stand ------------------------------------------------------------------------------------------------

Node: TypeAlias = tuple[int, int]
"""Indexes of a message and of one of its parts; -1 for the message itself, and (-1, n) for tool n."""


def _nodes(transcript: Transcript, source: Dialect, place_of: PlaceOf) -> Iterator[tuple[Place, Node]]:
    """Yields the positions of messages, parts and tools; the last of nodes with the same position counts."""
    places = Places(transcript, source)
    for index in range(len(transcript.tools or ())):
        yield place_of(pointers.pointer(places.existing(places.tool(index)))), (-1, index)
    for index, message in enumerate(transcript.messages):
        yield place_of(pointers.pointer(places.existing(places.message(index)))), (index, -1)
        for at in range(len(message.parts)):
            yield place_of(pointers.pointer(places.existing(places.part(index, at)))), (index, at)


def _node_at(loss: Loss, nodes: dict[Place, Node]) -> Node | None:
    """Returns the innermost node that contains the position of a loss."""
    record = record_of(loss)
    around = (nodes.get((record, pointer)) for pointer in pointers.enclosing(loss.where))
    return next((node for node in around if node is not None), None)


def _worst(losses: Iterable[Loss], nodes: dict[Place, Node]) -> dict[str, dict[Any, Outcome]]:
    """Returns the worst outcome by fact and node: two losses can be about one fact."""
    worst: dict[str, dict[Any, Outcome]] = defaultdict(dict)
    for loss in losses:
        outcome = OUTCOME_OF_LOSS.get(loss.kind)
        node = _node_at(loss, nodes) or (record_of(loss), loss.where)
        for name in _covered(loss) if outcome is not None else ():
            before = worst[name].get(node, "kept")
            worst[name][node] = max(before, outcome or "kept", key=OUTCOMES.index)
    return worst


def _by_message(losses: Iterable[Loss], nodes: dict[Place, Node], number: int) -> list[MessageOutcome]:
    """Returns the worst outcome of the content of each message, and of everything else."""
    worst: list[MessageOutcome] = ["kept"] * (number + 1)
    for loss in losses:
        node = _node_at(loss, nodes)
        at = number if node is None or node[0] < 0 else node[0]
        sign: MessageOutcome = OUTCOME_OF_LOSS.get(loss.kind, "kept") if loss.level == "content" else "metadata"
        worst[at] = max(worst[at], sign, key=FROM_BEST_TO_WORST.index)
    return worst
