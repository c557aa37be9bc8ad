"""What a loss is, its level, and its reason.

Nothing here compares anything: the level follows from the field, the reason from tables of the target.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias, overload

import msgspec

from convcli.model import fields
from convcli.model.caches import Cached
from convcli.model.dialect import Dialect, LossKind
from convcli.model.transcript import Message, Path, camel
from convcli.proof.levels import is_judged
from convcli.wire import pointers
from convcli.wire.decimals import builtins

Level = Literal["content", "context", "envelope"]
LEVELS: tuple[Level, ...] = ("content", "context", "envelope")
"""The most serious first."""
SET = "set by the user for all outputs"
"""The reason of losses that keys cause which the user adds to every output."""


class Loss(msgspec.Struct, omit_defaults=True):
    """A field that the output does not have as the source had it.

    `kind`: dropped · changed · encoded (kept by a convention, not in a vendor's field) · invented (the target requires
    a value that the source lacks) · moved. `where` is a JSON Pointer into the source document: in JSONL relative to the
    record on `line`, in a table to the row `row` (from 0, in a row `group`). `level`: content (a model would read
    something else) · context (links and replay) · envelope (transport and bookkeeping). `before` and `after` are values
    of the intermediate format.
    """

    kind: LossKind
    where: str
    field: str
    level: Level
    why: str
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET
    line: int = 0
    file: str = ""
    row: int = -1
    group: int = -1

    def to_dict(self) -> dict[str, Any]:
        """Returns the loss as a JSON value that matches `schemas/loss.schema.json`."""
        record: dict[str, Any] = builtins(self)
        return record


PROGRAM_TURN = "programTurn"
"""The field of a turn that the agent program wrote and that is left out; the kind of the turn follows after a dot."""


def is_chosen(loss: Loss) -> bool:
    """True for a loss that the user has chosen: a value set for all outputs, or a turn of the agent program."""
    return loss.why == SET or loss.field.startswith(PROGRAM_TURN)


NODES = frozenset((*fields.PARTS, "message", "branch", "history", "tool"))
"""What is lost whole: a part, a message, the messages of other branches, those that a summary replaces, and a tool."""
STATED = frozenset(name.partition(".")[0] for name in fields.FIELDS)
"""What `Dialect.supports` can name: the fields of a transcript, and nodes. Losses have other names too (`branch`)."""
CONTENT = NODES | {name for name, field in fields.FIELDS.items() if field.is_content}
"""What changes what a model reads. Everything else is context."""

MISSING = msgspec.UNSET

REASONS = {
    "event": "this event is not part of the conversation",
    "branch": "only the active branch is written",
    "history": "the model is sent a summary in its place",
    "programTurn": "the agent program wrote this turn, not the user",
    "head": "only one branch is written, so none is marked as active",
    "moved": "{title} stores it in another position",
    "tool_call.custom": 'the string for a custom tool is written as {"input": …}',
    "tool.custom": "a custom tool is written as a function with one string parameter",
    "opaque": "only its own vendor understands this kind of block",
    "metadata": "only the provider that issued it accepts it back",
}
"""Reasons that are the same for every target, but for its title."""
UNKNOWN_ROW = "convcli does not know rows like this, and what they say in the conversation"
"""The reason for an event of an unknown type, or with an unknown key, that holds content."""

USUAL_REASONS = {name: field.why for name, field in fields.FIELDS.items() if field.why}
"""The usual reasons for fields that a dialect lacks, without its title; for others it is `{title} cannot store this
field`."""


def level_of(field: str, source: Dialect | None, target: Dialect | None) -> Level:
    """Returns the least level of a loss of this field; its value may raise it (`levels`). For extras, the dialect that
    owns them defines which keys are content or envelope."""
    if field.startswith("extras."):
        dialect, _, key = field[7:].partition(".")
        owner = source if source is not None and source.owns(dialect) else target
        if owner is None:
            return "context"
        if key in owner.content:
            return "content"
        return "envelope" if key.partition(".")[0] in owner.envelope else "context"
    return "content" if field in CONTENT or field.partition(".")[0] == PROGRAM_TURN else "context"


NO_FIELD = "cannot store this field"
"""Used only where it is true: a law checks it against the target's schema and against what it `supports`."""

REASONS_TO_INVENT = {
    "message.usage.totalTokens": "it is the sum of input and output tokens",
    "tool_call.id": "the source has no call ids, and a result names its call",
    "tool_result.toolCallId": "the source has no call ids, and a result names its call",
    "tool_result.name": "the source does not name the tool of this result",
}
"""Why a value is written that the source does not have, for any target. What a target accepts is no reason for it."""

KeysOf: TypeAlias = Callable[[], Collection[str]]
"""The keys that the target's schema names."""


class LossType(msgspec.Struct, frozen=True):
    """What all losses of one kind and field have in common. `is_judged`: the value of the field may raise the level."""

    kind: LossKind
    field: str
    level: Level
    why: str
    is_judged: bool


MOST_TYPES = 4096
"""Types of losses that are remembered of a pair of dialects: keys of users are fields too."""

MESSAGE_VALUES = frozenset(
    f"message.{camel(name)}" for name in Message.__struct_fields__ if name not in ("parts", "usage", "extras")
)
"""Fields of a message that have one value, which is no list."""


class LossTypes(Cached[tuple[LossKind, str], LossType]):
    """The types of losses of a pair of dialects, by kind and field: level and reason are looked up once for each."""

    def __init__(self, source: Dialect | None, target: Dialect | None, keys: KeysOf, form: str) -> None:
        def type_of(key: tuple[LossKind, str]) -> LossType:
            kind, field = key
            why = reason_of(kind, field, target, keys, form)
            return LossType(kind, field, level_of(field, source, target), why, is_judged(field))

        super().__init__(type_of, MOST_TYPES)

    @cached_property
    def of_absent_values(self) -> dict[str, LossType]:
        """The types of the losses of a message's values that the output does not have, by field."""
        return {field: self["dropped", field] for field in MESSAGE_VALUES}


types_of = lru_cache(maxsize=1024)(LossTypes)
"""Returns the types of losses of a pair of dialects, for the keys that the target's schema names and a form."""


Within: TypeAlias = bool | tuple[str, str]
"""What a loss is of: its node, a field of the node (true), or a key of its extras, with their owner."""
FoundLoss: TypeAlias = tuple[LossType, Path, Within, Any, Any]
"""A loss before it becomes a record: its type, the usual path of its node, what it is of there, and the values before
and after, which may be records."""
PathOf: TypeAlias = Callable[[FoundLoss], Path]
"""Finds the path of a loss in the source document."""


def _shown(value: Any) -> Any:
    """Returns a record as a JSON value: a part or a tool without metadata and extras, which are losses of their own."""
    if not isinstance(value, msgspec.Struct):
        return value
    fields = builtins(value)
    if not isinstance(value, Message):
        fields = {key: each for key, each in fields.items() if key not in ("metadata", "extras")}
    return fields


Locate: TypeAlias = Callable[[Iterable[Loss]], None]
"""Adds the position in a file to losses."""


class Losses(Sequence[Loss]):
    """The losses of a comparison. They become records, with their paths, when the first of them is read."""

    __slots__ = ("_found", "_locate", "_path_of", "_records")

    def __init__(self, found: list[FoundLoss], path_of: PathOf) -> None:
        self._found, self._path_of = found, path_of
        self._records: list[Loss] | None = None
        self._locate: Locate | None = None

    @property
    def records(self) -> list[Loss]:
        """The losses as a list, the same one each time."""
        if self._records is None:
            self._records = list(map(self._record, self._found))
            if self._locate is not None:
                self._locate(self._records)
        return self._records

    def _record(self, found: FoundLoss) -> Loss:
        type_, _, _, before, after = found
        where = pointers.pointer(self._path_of(found))
        return Loss(type_.kind, where, type_.field, type_.level, type_.why, _shown(before), _shown(after))

    def locate(self, locate: Locate) -> None:
        """Adds the position in a file to each record: at once, or when it is made."""
        if self._records is None:
            self._locate = locate
        else:
            locate(self._records)

    def groups(self, key: Callable[[Any, Any], object]) -> Iterator[tuple[Loss, int]]:
        """Yields the first loss of each type, and their number. Those with another `key` of the values before and after
        are a group of their own. The others do not become records."""
        firsts: dict[tuple[LossType, object], int] = {}
        counts = Counter[int]()
        for i, (type_, _, _, before, after) in enumerate(self._found):
            counts[firsts.setdefault((type_, key(before, after)), i)] += 1
        records = {i: self._record(self._found[i]) if self._records is None else self._records[i] for i in counts}
        if self._records is None and self._locate is not None:
            self._locate(records.values())
        return ((records[i], count) for i, count in counts.items())

    def select(self, level: Level, is_wanted: Callable[[str], bool]) -> Iterator[Loss]:
        """Yields records of the losses of this level in the wanted fields; the others do not become records."""
        return (self._record(found) for found in self._found if found[0].level == level and is_wanted(found[0].field))

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Loss: ...
    @overload
    def __getitem__(self, index: slice) -> list[Loss]: ...
    def __getitem__(self, index: int | slice) -> Loss | list[Loss]:
        return self.records[index]

    def __iter__(self) -> Iterator[Loss]:
        return iter(self.records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, Losses)) and self.records == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.records)


def reason_of(kind: LossKind, field: str, target: Dialect | None, keys: KeysOf = tuple, form: str = "") -> str:
    """Returns why the target does not keep this field: its own reason, or one for any target. `form` is the form that
    was written: a reason that only applies to another form is not used."""
    return traced_reason(kind, field, target, keys, form)[0]


def traced_reason(
    kind: LossKind, field: str, target: Dialect | None, keys: KeysOf = tuple, form: str = ""
) -> tuple[str, str]:
    """Returns the reason, and the table that gives it."""
    reasons = target.reasons_in(form) if target is not None else {}
    title = target.title if target is not None else "the other transcript"
    own = f"{target.name}: reasons" if target is not None else ""
    if kind == "invented":
        return _why_invented(field, title, reasons, own)
    for name in ("moved",) if kind == "moved" else general(field):
        if (name in reasons or name in REASONS) and not (name != field and _is_of_another_form(name, target, form)):
            if name in reasons:
                return reasons[name], f"{own}[{name}]"
            return REASONS[name].replace("{title}", title), f"REASONS[{name}]"
        if _is_usually_lacking(name, target):
            return f"{USUAL_REASONS[name]} in {title}", f"USUAL_REASONS[{name}]"
    if kind == "dropped":
        is_key = field.startswith("extras.")
        table = "" if target is None else f"{target.name}: {'schema' if is_key else 'supports'}"
        return _why_dropped(field, title, target, keys, form), table
    return f"written differently in {title}", ""


def _is_usually_lacking(name: str, target: Dialect | None) -> bool:
    """True if a form of the target has such nodes without this field, which has a usual reason."""
    if target is None or name not in USUAL_REASONS:
        return False
    node = name.partition(".")[0]
    lacking = (form for form in target.forms if is_unsupported(name, target, form))
    return any(not is_unsupported(node, target, form) for form in lacking)


def _why_invented(field: str, title: str, reasons: Mapping[str, str], own: str) -> tuple[str, str]:
    """Returns why the output has a value that the source lacks. The reasons of what contains the field, and of an id
    of the whole transcript, explain losses and nothing else."""
    if field in REASONS_TO_INVENT:
        return REASONS_TO_INVENT[field], f"REASONS_TO_INVENT[{field}]"
    steps = field.split(".")
    names = [field] if steps[0] == "settings" else [".".join(steps[begin:]) for begin in range(len(steps))]
    for name in names:
        if name in reasons and (name != "id" or field == "id"):
            return reasons[name], f"{own}[{name}]"
    return f"the output in {title} has a value that the source does not have", ""


def table_of(loss: Loss, target: Dialect, keys: KeysOf) -> str:
    """Returns the table that gave the reason of a loss: one of the target (`droid: reasons[message.model]`), or a
    constant of this module; empty if the reason is not from a table."""
    if loss.why == UNKNOWN_ROW:
        return "UNKNOWN_ROW"
    for form in target.forms:
        reason, table = traced_reason(loss.kind, loss.field, target, keys, form)
        if reason == loss.why:
            return table
    stated = (why for convention in target.conventions for _, why in convention.loss.values())
    return f"{target.name}: conventions" if loss.why in stated else ""


def _is_of_another_form(name: str, target: Dialect | None, form: str) -> bool:
    """True if the written form has a field for this, and another form with messages has none."""
    if target is None or form not in target.forms or is_unsupported(name, target, form):
        return False
    return any(is_unsupported(name, target, other) for other in target.bodies or target.forms)


def _why_dropped(field: str, title: str, target: Dialect | None, keys: KeysOf, form: str) -> str:
    """Returns why a field was dropped. That the target has no field for it is claimed only of a key that its schema
    names nowhere, and of a field that it lacks in every form."""
    if target is not None and field.startswith("extras."):
        return f"convcli does not convert it to {title}" if is_named(field, keys()) else f"{title} {NO_FIELD}"
    having = [form for form in target.forms if not is_unsupported(field, target, form)] if target is not None else []
    if target is None or not having:
        return f"{title} {NO_FIELD}"
    if len(having) < len(target.forms) and form not in having:
        return f"{title} can store it only in the form {' or '.join(having)}"
    return f"{title} cannot store {'this value' if '.' in field or field not in CONTENT else 'this one'}"


def is_named(field: str, keys: Collection[str]) -> bool:
    """True if the last key of the field is among these, in camel or snake case."""
    key = field.rpartition(".")[2]
    snake = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: "_" + match[0], key).lower()
    camel = re.sub(r"_([a-z])", lambda match: match[1].upper(), key)
    return any(name in keys for name in (key, snake, camel))


def is_unsupported(field: str, dialect: Dialect, form: str) -> bool:
    """True if a form of the dialect has no field for this, for what contains it, or for something in it."""
    is_stated = field.partition(".")[0] in STATED
    return is_stated and not fields.is_supported(field, dialect.supports_in(form))


def general(field: str) -> Iterator[str]:
    """Yields the field and what contains it: `tool_call.metadata.signature`, `tool_call.metadata`, `tool_call`. Then
    the same for any node: `metadata.signature`, `metadata`.

    Settings are not a node: `settings.metadata` has its own meaning. For metadata of a part, the part itself comes
    last.
    """
    steps = field.split(".")
    names = [".".join(steps[:end]) for end in range(len(steps), 0, -1)]
    if steps[0] == "settings":
        yield from names
        return
    of_any = [".".join(steps[1:end]) for end in range(len(steps), 1, -1)]
    yield from (*names[:-1], *of_any, names[-1]) if len(steps) > 2 else (*names, *of_any)
