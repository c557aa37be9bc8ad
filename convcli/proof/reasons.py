"""What a loss is, how much it matters, and why it is.

Nothing here compares anything: the level follows from the field, the reason from tables of the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec

from convcli.model.dialect import Dialect, LossKind
from convcli.model.transcript import MEDIA_KINDS
from convcli.wire.decimals import builtins

Level = Literal["content", "context", "envelope"]
LEVELS: tuple[Level, ...] = ("content", "context", "envelope")
"""The gravest first."""
SET = "it was set for all outputs"
"""The reason of losses that keys have made which the user adds to every output."""


class Loss(msgspec.Struct, omit_defaults=True):
    """A field that the output does not carry as the source had it.

    `kind`: dropped · changed · encoded (kept by a convention, not in a field of the vendor) · invented (the target
    needs a value that the source lacks) · moved. `where` is a JSON Pointer into the source document, for JSONL
    relative to the record on `line`, of a table to that in `row` (from 0, in a row `group`). `level`: content (a model
    would read something else) · context (what ties and replays) · envelope (transport and bookkeeping).
    `before` and `after` are values of the intermediate format.
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
        """The loss as a JSON value, as `schemas/loss.schema.json` describes it."""
        record: dict[str, Any] = builtins(self)
        return record


CONTENT = frozenset(
    (
        "text", "reasoning", "refusal", "image", "audio", "video", "document", "opaque", "tool_call", "tool_result",
        "message", "message.role", "branch", "history",
        "reasoning.text", "reasoning.summary", "text.text", "refusal.text",
        "tool_call.name", "tool_call.arguments", "tool_call.rawArguments",
        "tool_result.kind", "tool_result.value", "tool_result.isError", "tool_result.name", "opaque.value",
        "tool", "tool.name", "tool.description", "tool.parameters", "tools", "toolChoice",
    )
)  # fmt: skip
"""Fields of which a model would read something else; media fields beside them. Everything else is context."""

MEDIA_CONTENT = ("data", "url", "fileId", "path", "text", "mediaType")

MISSING = msgspec.UNSET

REASONS = {
    "event": "this row is no message of the conversation",
    "branch": "only the active branch is written",
    "history": "a summary stands for it in what a model is sent",
    "head": "one branch is written, so none is marked as the active one",
    "moved": "the target keeps it in another place",
    "tool_call.custom": 'the text for a custom tool is written as {"input": …}',
    "tool.custom": "a custom tool is written as a function that takes its text as input",
    "opaque": "only its own vendor knows a block of this kind",
    "metadata": "only the provider that bound it to the part takes it back",
}
"""Reasons that do not depend on the target."""

LACKING = {
    "message.id": "messages have no id",
    "message.parentId": "messages have no parent",
    "message.createdAt": "messages have no time",
    "message.name": "messages have no name",
    "message.model": "messages have no model of their own",
    "message.usage": "messages have no usage",
    "message.error": "a message has no field for a failed turn",
    "message.stopReason": "messages have no stop reason",
    "message.cost": "messages have no cost",
    "message.provider": "messages have no provider",
    "message.weight": "messages have no weight in training",
    "message.label": "messages are no pairs of preference",
    "message.replaces": "a message does not say that it replaces others",
    "message.parentCallId": "messages do not name a call that they belong to",
    "tool_result.name": "a result names its call, not its tool",
    "tool_result.status": "a result has no status",
    "tool.outputSchema": "a tool has no schema for its results",
    "tool.title": "a tool has no title",
    "tool.annotations": "a tool has no annotations",
    "image.name": "images have no name",
    "image.detail": "images have no detail",
}
"""The usual words for fields that a dialect lacks; for others they are `{title} has no field for it`."""


def level_of(field: str, source: Dialect | None, target: Dialect | None) -> Level:
    """The least level of a loss of this field, for its value may raise it (`levels`). The dialect that owns extras says
    which of their keys are envelope."""
    if field.startswith("extras."):
        dialect, _, key = field[7:].partition(".")
        owner = source if source is not None and source.owns(dialect) else target
        return "envelope" if owner is not None and key.partition(".")[0] in owner.envelope else "context"
    node, _, name = field.partition(".")
    if field in CONTENT or (node in MEDIA_KINDS and name in MEDIA_CONTENT):
        return "content"
    return "context"


NO_FIELD = "has no field for it"
"""Said only where it is so: a law holds it against the schema of the target and against what it `lacks`."""

SUMS = {"message.usage.totalTokens": "it is the sum of input and output tokens"}
"""What is no value of the source, but follows from some."""

KeysOf: TypeAlias = Callable[[], Collection[str]]
"""The keys that the schema of the target names."""


@lru_cache(maxsize=4096)
def words_of(
    kind: LossKind, field: str, source: Dialect | None, target: Dialect | None, keys: KeysOf, form: str = ""
) -> tuple[Level, str]:
    """The least level and the reason of every loss of this kind and field, looked up once: many are alike."""
    return level_of(field, source, target), reason_of(kind, field, target, keys, form)


def reason_of(kind: LossKind, field: str, target: Dialect | None, keys: KeysOf = tuple, form: str = "") -> str:
    """Why the target does not carry this field: in its own words, or in those for any target. `form` is the one that
    was written: why another form has no place for it is no reason."""
    reasons = target.reasons if target is not None else {}
    title = target.title if target is not None else "the other transcript"
    if kind == "invented" and field in SUMS:
        return SUMS[field]
    lacks = target.lacking() if target is not None else frozenset()
    for name in ("moved",) if kind == "moved" else general(field):
        if (name in reasons or name in REASONS) and not (name != field and _is_of_another_form(name, target, form)):
            return reasons.get(name) or REASONS[name]
        if name in lacks and name in LACKING:
            return LACKING[name]
    if kind == "invented":
        return f"{title} shows a value that the source does not have"
    return _why_dropped(field, title, target, keys, form) if kind == "dropped" else f"{title} writes it differently"


def _is_of_another_form(name: str, target: Dialect | None, form: str) -> bool:
    """Does the form that was written have a place for this, and another one none?"""
    forms = target.forms if target is not None else ()
    if target is None or form not in forms or is_lacking(name, target, form):
        return False
    return any(is_lacking(name, target, other) for other in forms)


def _why_dropped(field: str, title: str, target: Dialect | None, keys: KeysOf, form: str) -> str:
    """That there is no field for it may be said only of a key that the schema does not name anywhere, and of a field
    that the target lacks in every form."""
    if target is not None and field.startswith("extras."):
        return f"convcli does not carry it to {title}" if is_named(field, keys()) else f"{title} {NO_FIELD}"
    having = [form for form in target.forms if not is_lacking(field, target, form)] if target is not None else []
    if target is None or not having:
        return f"{title} {NO_FIELD}"
    if len(having) < len(target.forms) and form not in having:
        return f"{title} has a field for it only in the form {' or '.join(having)}"
    return f"{title} does not take {'this value' if '.' in field or field not in CONTENT else 'this one'}"


def is_named(field: str, keys: Collection[str]) -> bool:
    """Is the last key of the field among these, in whatever case?"""
    key = field.rpartition(".")[2]
    snake = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: "_" + match[0], key).lower()
    camel = re.sub(r"_([a-z])", lambda match: match[1].upper(), key)
    return any(name in keys for name in (key, snake, camel))


def is_lacking(field: str, dialect: Dialect, form: str) -> bool:
    """Does the dialect say that it has no place for this field, or for what holds it?"""
    lacking = dialect.lacking(form)
    return any(name in lacking for name in general(field))


def general(field: str) -> Iterator[str]:
    """The field and what contains it: `tool_call.metadata.signature`, `tool_call.metadata`, `tool_call`, and the same
    of any node: `metadata.signature`, `metadata`. Settings are no node: what `settings.metadata` means is its own.
    What is bound to a part is not what the part is, so that comes last there."""
    steps = field.split(".")
    names = [".".join(steps[:end]) for end in range(len(steps), 0, -1)]
    if steps[0] == "settings":
        yield from names
        return
    of_any = [".".join(steps[1:end]) for end in range(len(steps), 1, -1)]
    yield from (*names[:-1], *of_any, names[-1]) if len(steps) > 2 else (*names, *of_any)
