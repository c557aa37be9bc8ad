"""The messages of Anthropic's API: roles, messages with results and text, and the keys outside the content.

A dialect borrows them as `Turns`: its blocks, its table of keys, and its facts outside the content.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from operator import attrgetter
from typing import Any

import msgspec

from convcli.families.anthropic.blocks import Blocks
from convcli.families.anthropic.usage import lift_usage, write_usage
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras, without_nulls
from convcli.kit.texts import is_bare
from convcli.kit.values import pairs
from convcli.model.transcript import Message, Part, PartPaths, Path, Text

ROLES = frozenset(("user", "assistant", "system"))
MESSAGE = Keys("id role model content stop_reason stop_sequence usage", extra="stop_sequence")
BARE = ("role", "content")
"""The keys of nearly all messages."""

FINISH = pairs("end_turn=stop max_tokens=length tool_use=tool_calls pause_turn=pause refusal=refusal")
FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()}
VERBATIM = frozenset(("stop_sequence", "model_context_window_exceeded"))
"""Stop reasons of the vendor that are the same word on both sides."""


def lift_facts(native: Native, message: Message, extra: Native) -> None:
    """Lifts the keys outside the content, in responses and in programs that store responses as messages."""
    message.id, message.model = native.get("id") or None, native.get("model") or None
    reason: str = native.get("stop_reason") or ""
    message.stop_reason = FINISH.get(reason, reason) or None
    if native.get("usage"):
        usage, rest = lift_usage(native["usage"])
        message.usage = usage or None
        if rest:
            extra["usage"] = rest


def write_facts(message: Message, extra: Native) -> Native:
    """The inverse of `lift_facts`; of the extras, it writes only those inside other objects."""
    if not extra and _facts(message) == NO_FACTS:  # most request messages
        return {}
    counts = extra.pop("usage", {})
    usage = write_usage(message.usage or {}, counts) if message.usage or counts else None
    reason = message.stop_reason and FINISH_OF.get(message.stop_reason, message.stop_reason)
    return without_nulls({"id": message.id, "model": message.model, "stop_reason": reason, "usage": usage})


_facts, NO_FACTS = attrgetter("id", "model", "stop_reason", "usage"), (None,) * 4


def joins_results(message: Message, previous: Message) -> bool:
    """True if a message belongs to the previous API message: results, and user text directly after them."""
    return previous.role == "tool" and message.role in ("tool", "user")


def joins_bare_results(message: Message, previous: Message) -> bool:
    """Same as `joins_results`, but a message with facts of its own stays separate."""
    is_bare = bool(message.parts) and message == Message(message.role, message.parts)
    return is_bare and joins_results(message, previous)


class Turns(msgspec.Struct, frozen=True):
    """The messages of one dialect.

    `lift_facts` sets the fields outside the content, and adds to the extras. `write_facts` is its inverse, and removes
    the extras that are inside other objects · `joins`: true if a message is part of the previous one · `strings`: a
    single text is written as a string.
    """

    blocks: Blocks
    keys: Keys = MESSAGE
    lift_facts: Callable[[Native, Message, Native], None] = lift_facts
    write_facts: Callable[[Message, Native], Native] = write_facts
    joins: Callable[[Message, Message], bool] = joins_results
    strings: bool = True

    # ------------------------------------------------------------ lift

    def lift_each(self, natives: list[Native], prefix: Path, context: LiftContext) -> None:
        """Lifts the messages of the list at `prefix`."""
        for i, native in enumerate(natives):
            content = native.get("content")
            if content and content.__class__ is str and tuple(native) == BARE:  # most messages
                context.add(Message(native["role"], [Text(content)]), (*prefix, i))
            else:
                self.lift(native, (*prefix, i), context)

    def lift(self, native: Native, path: Path, context: LiftContext) -> None:
        """Lifts a message for each result and for each run of other blocks; the first gets the facts. Without a role it
        is an event."""
        if "role" not in native:
            from convcli.kit.sessions import add_event  # requests have no such rows

            add_event(context, native, path)
            return
        pieces = self._pieces(native, context)
        for role, parts, part_paths in pieces:
            context.add(Message(role, parts), path, part_paths)
        if tuple(native) != BARE:
            first, extra = context.messages[-len(pieces)], dict(self.keys.extra(native) or {})
            self.lift_facts(native, first, extra)
            first.extras = make_extras(self.blocks.owner, extra)

    def _pieces(self, native: Native, context: LiftContext) -> list[tuple[str, list[Part], PartPaths]]:
        """Returns roles, parts and part paths of the messages in one message; no paths if the content is a string."""
        content, role = native["content"], native["role"]
        if isinstance(content, str):
            return [(role, [Text(content)] if content else [], None)]
        pieces: list[tuple[str, list[Part], list[Path]]] = []
        for j, block in enumerate(content):
            is_result = block["type"] == "tool_result"
            if is_result or not pieces or pieces[-1][0] == "tool":
                pieces.append(("tool" if is_result else role, [], []))
            lifted = self.blocks.lift_result(block, context) if is_result else self.blocks.lift(block, context)
            pieces[-1][1].append(lifted)
            pieces[-1][2].append(("content", j))
        return [*pieces] or [(role, [], [])]

    # ------------------------------------------------------------ write

    def write(self, messages: list[Message]) -> list[Native]:
        """Writes the messages, merging those that belong together. The first one has the facts."""
        turns = [[message] for message in messages[:1]]
        for previous, message in pairwise(messages):
            if self.joins(message, previous):
                turns[-1].append(message)
            else:
                turns.append([message])
        return [self._write(turn) for turn in turns]

    def _write(self, turn: list[Message]) -> Native:
        first = turn[0]
        if first.role == "event":
            from convcli.kit.sessions import row_of_event

            row: Native = row_of_event(first, self.blocks.owner)
            return row
        role = "user" if first.role == "tool" else first.role
        native: Native = {"role": role, "content": self._content(turn)}
        extra = dict(first.extras.get(self.blocks.owner, {})) if first.extras else {}
        facts = self.write_facts(first, extra)
        return self.keys.put({**native, **facts}, extra, sort=True) if facts or extra else native

    def _content(self, turn: list[Message]) -> Any:
        parts = turn[0].parts if len(turn) == 1 else [part for message in turn for part in message.parts]
        if self.strings and len(parts) == 1 and is_bare(parts[0]):  # most messages
            return parts[0].text
        return self.content(self.blocks.write(parts))

    def content(self, blocks: list[Native]) -> Any:
        """Returns a string if that is equivalent to the only block."""
        is_text = len(blocks) == 1 and blocks[0].keys() == {"type", "text"} and blocks[0]["type"] == "text"
        return blocks[0]["text"] if is_text and self.strings else blocks


# ---------------------------------------------------------------- system


def lift_system(content: Any, key: str, context: LiftContext, blocks: Blocks) -> None:
    """Adds the instructions under a top-level key as the first message."""
    if isinstance(content, str) and content:
        context.add(Message("system", [Text(content)]), (key,), [()])
    elif content:
        part_paths: list[Path] = [(j,) for j in range(len(content))]
        context.add(Message("system", [blocks.lift(block, context) for block in content]), (key,), part_paths)


def split_system(messages: list[Message], turns: Turns) -> tuple[Any, list[Message]]:
    """Splits off the leading instructions, in their top-level form, from the messages."""
    if not messages or messages[0].role != "system":
        return None, messages
    return turns.content(turns.blocks.write(messages[0].parts)), messages[1:]
