"""Preference pairs: two conversations with a common prompt, one chosen and one rejected.

A pair is a tree with two leaves. Its prompt is what both begin with, wherever a format draws the border; the head is
the chosen leaf. Messages of rows have no ids, so a pair's are generated: `message_1`, `message_2`, …
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from convcli.kit.contexts import LiftContext
from convcli.kit.objects import get_extras
from convcli.kit.passes import shared
from convcli.model.branches import active
from convcli.model.dialect import Pass
from convcli.model.errors import RefusedError
from convcli.model.fields import is_supported
from convcli.model.findings import Finding
from convcli.model.transcript import Message, Part, ToolResult, Transcript, camel
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

CHOSEN, REJECTED = "chosen", "rejected"
RecordT = TypeVar("RecordT", bound=Message | Part)


class Preference(NamedTuple):
    """The messages of a pair: the prompt, and both answers."""

    prompt: list[Message]
    chosen: list[Message]
    rejected: list[Message]

    @property
    def messages(self) -> list[Message]:
        """Returns all of them as a tree: with ids and parents, and a label at the end of each line."""
        *before, last = self.chosen
        *others, worse = self.rejected
        ends = [*before, replace(last, label=CHOSEN), *others, replace(worse, label=REJECTED)]
        fork, second = len(self.prompt), len(self.prompt) + len(self.chosen)
        line = [*self.prompt, *ends]
        return [_linked(message, i, fork if i == second else i) for i, message in enumerate(line)]

    @property
    def head(self) -> str:
        """Returns the id of the end of the chosen line."""
        return _id(len(self.prompt) + len(self.chosen))


def _linked(message: Message, index: int, parent: int) -> Message:
    """Returns the message with its id, and that of its `parent`, given by number."""
    return replace(message, id=_id(index + 1), parent_id=_id(parent) if parent else None)


def _id(number: int) -> str:
    return f"message_{number}"


def between(chosen: list[Message], rejected: list[Message], stored: StoredFields | None = None) -> Preference:
    """Returns the pair of two lines with a common beginning; each has its own answer, even if both are equal. With
    `stored`, messages are equal if they are read back as equal from rows of this kind."""
    longest = max(0, min(len(chosen), len(rejected)) - 1)
    both = zip(chosen[:longest], rejected[:longest], strict=True)
    fork = next((i for i, (one, other) in enumerate(both) if not _same(one, other, stored)), longest)
    return Preference(chosen[:fork], chosen[fork:], rejected[fork:])


def _same(one: Message, other: Message, stored: StoredFields | None) -> bool:
    if stored is not None:
        one, other = stored.of(one), stored.of(other)
    return one == other and exact_json.exact(builtins(one), builtins(other))


class StoredFields(NamedTuple):
    """The rows of a dialect: its name, and the fields that they have."""

    dialect: str
    supports: frozenset[str]

    def of(self, message: Message) -> Message:
        """Returns a message without what its row would lack."""
        parts = [self._record(part, part.type) for part in message.parts if is_supported(part.type, self.supports)]
        return self._record(replace(message, parts=parts), "message")

    def _record(self, record: RecordT, node: str) -> RecordT:
        if isinstance(record, ToolResult) and record.kind == "multimodal":
            value = [self._record(part, part.type) for part in record.value]
            record = replace(record, value=value)
        kept = get_extras(record.extras, self.dialect)
        blank = _blank(record.__class__, node, self.supports)
        return replace(record, **{**blank, "extras": {self.dialect: kept} if kept else None})


@cache
def _blank(record: type[Message | Part], node: str, supports: frozenset[str]) -> dict[str, Any]:
    """Returns the fields that are not among these, each with an empty value."""
    names = record.__struct_fields__
    required = names[: -len(record.__struct_defaults__)]
    lost = (name for name in names if name != "type" and not is_supported(f"{node}.{camel(name)}", supports))
    return {name: "" if name in required else None for name in lost}


# ---------------------------------------------------------------- lift


def lift_pair(chosen: LiftContext, rejected: LiftContext) -> str:
    """Lifts both lines, each in its own context, as a tree in the context of the first. Returns the id of its head."""
    pair = between(chosen.messages, rejected.messages)
    fork = len(pair.prompt)
    chosen.origin.places += rejected.origin.places[fork:]
    chosen.messages = pair.messages
    chosen.origin.generated_ids |= rejected.origin.generated_ids
    chosen.origin.generated_ids |= {message.id for message in chosen.messages if message.id is not None}
    return pair.head


# ---------------------------------------------------------------- fit, write


def keep_last_label(messages: list[Message], *, answers: bool = False) -> list[Message]:
    """Keeps only the label of the last message; with `answers`, only that of an assistant message: a row is good or bad
    as a whole."""
    last = len(messages) - 1
    may_have = [i == last and (one.role == "assistant" or not answers) for i, one in enumerate(messages)]
    pairs = zip(messages, may_have, strict=True)
    return shared(messages, [one if may or one.label is None else replace(one, label=None) for one, may in pairs])


def pair_of(transcript: Transcript) -> Preference | None:
    """Returns the pair in a tree: its active branch, which is chosen, and the first rejected one."""
    line = active(transcript) if transcript.head is not None else []
    if not line or line[-1].label != CHOSEN:
        return None
    kept = set(map(id, line))
    worse = [one for one in transcript.messages if one.label == REJECTED and id(one) not in kept and one.id is not None]
    other = active(replace(transcript, head=worse[0].id)) if worse else []
    if not other or other[-1] is not worse[0]:
        return None
    both = zip(line, other, strict=False)
    fork = next((i for i, (one, two) in enumerate(both) if one is not two), len(line))
    return Preference(line[:fork], line[fork:], other[fork:]) if fork < len(line) else None


def is_pair(transcript: Transcript) -> bool:
    """True if the transcript has a preference pair."""
    return transcript.head is not None and pair_of(transcript) is not None


def on_both(*passes: Pass, stored: StoredFields, answer: Callable[[list[Message]], list[Message]] = list) -> Pass:
    """Returns a pass that applies these passes to both lines of a pair, each as its own conversation. The prompt is
    what both have in common in rows of this kind: ids and times of programs, which no row stores, may differ. `answer`
    returns the messages to keep after the prompt, at least one.

    Raises RefusedError if there is no pair, because a rejected answer cannot be invented.
    """

    def keep_own_line(transcript: Transcript, messages: list[Message]) -> Transcript:
        bare = [replace(message, id=None, parent_id=None, label=None) for message in messages]
        line = replace(transcript, messages=bare, head=None)
        for fits in passes:
            line = fits(line)
        return line if line.messages else replace(line, messages=[Message("assistant", [])])

    def fit_both_lines(transcript: Transcript) -> Transcript:
        pair = pair_of(transcript)
        if pair is None:
            raise RefusedError([NO_PAIR])
        chosen = keep_own_line(transcript, [*pair.prompt, *pair.chosen])
        rejected = keep_own_line(transcript, [*pair.prompt, *pair.rejected])
        prompt, *answers = between(chosen.messages, rejected.messages, stored)
        both = Preference(prompt, *map(answer, answers))
        return replace(chosen, messages=both.messages, head=both.head)

    return fit_both_lines


def first_answer(messages: list[Message]) -> list[Message]:
    """Returns what a format with one message per side keeps: the first assistant message."""
    turns = [message for message in messages if message.role == "assistant"]
    return messages if messages == turns[:1] else turns[:1] or [Message("assistant", [])]


NO_PAIR = Finding(
    "no-pair",
    "error",
    "this is not a preference pair: two answers to one prompt, one chosen and one rejected",
    help="omit the form: a conversation is written as messages",
)
