"""The messages of Anthropic's API: roles, messages with results and text, and the keys outside the content.

A dialect borrows them as `Turns`: its blocks, and the table of a message's keys.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from convcli.families.anthropic.blocks import Blocks
from convcli.families.anthropic.usage import MessageUsage
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import NOTHING, Native
from convcli.kit.settings import Setting
from convcli.kit.texts import only_text
from convcli.kit.values import pairs
from convcli.model.transcript import Message, Opaque, Part, Path, Text

ROLES = frozenset(("user", "assistant", "system"))
FINISH = pairs("end_turn=stop max_tokens=length tool_use=tool_calls pause_turn=pause refusal=refusal")
FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()}
VERBATIM = frozenset(("stop_sequence", "model_context_window_exceeded"))
"""Stop reasons of the vendor that are the same word on both sides."""

STOP = Setting("stop_reason", lambda reason: FINISH.get(reason, reason), lambda reason: FINISH_OF.get(reason, reason))


def envelope(table: str) -> Envelope:
    """Returns the keys of messages with a stop reason and token counts, as in responses."""
    return Envelope(table, {"stop_reason": STOP}, nested={"usage": MessageUsage()})


MESSAGE = envelope("id=id role= model=model content= stop_reason stop_sequence usage")


def joins_results(message: Message, previous: Message) -> bool:
    """True if a message belongs to the previous API message: results, and user text directly after them."""
    return previous.role == "tool" and message.role in ("tool", "user")


def joins_bare_results(message: Message, previous: Message) -> bool:
    """Same as `joins_results`, but a message with facts of its own stays separate."""
    is_bare = bool(message.parts) and message == Message(message.role, message.parts)
    return is_bare and joins_results(message, previous)


class Turns:
    """The messages of one dialect.

    `envelope` is their keys · `joins`: true if a message is part of the previous one, which has a result · `strings`: a
    single text is written as a string · `constants`: what every message has.
    """

    def __init__(
        self,
        blocks: Blocks,
        envelope: Envelope = MESSAGE,
        joins: Callable[[Message, Message], bool] = joins_results,
        *,
        strings: bool = True,
        constants: Native | None = None,
    ) -> None:
        self.blocks, self.envelope, self.joins, self.strings = blocks, envelope, joins, strings
        self.constants = constants or NOTHING

    @cached_property
    def _write_message(self) -> Callable[[Message, str, Any], Native]:
        return self.envelope.writer(self.blocks.owner, self.constants, "role", "content")

    # ------------------------------------------------------------ lift

    def lift_each(self, natives: list[Native], prefix: Path, context: LiftContext) -> None:
        """Lifts the messages of the list at `prefix`."""
        messages, places = context.messages, context.origin.places
        for i, native in enumerate(natives):
            content, path = native.get("content"), (*prefix, i)
            if not content or len(native) > 2 or "role" not in native:
                self.lift(native, path, context)
            elif content.__class__ is list:
                self._lift_blocks(content, native["role"], path, context)
            else:
                messages.append(Message(native["role"], [Text(content)]))
                places.append((path, None))

    def lift(self, native: Native, path: Path, context: LiftContext) -> None:
        """Lifts a message for each result and for each run of other blocks; the first gets the facts. Without a role it
        is an event."""
        if "role" not in native:
            from convcli.kit.sessions import add_event  # requests have no such rows

            add_event(context, native, path)
            return
        content, role, start = native["content"], native["role"], len(context.messages)
        if content.__class__ is list and content:
            self._lift_blocks(content, role, path, context)
        else:
            context.messages.append(Message(role, [Text(content)] if content else []))
            context.origin.places.append((path, None if isinstance(content, str) else []))
        if len(native) > 2:
            first = context.messages[start]
            extra = self.envelope.lift(native, first, self.constants)
            first.extras = {self.blocks.owner: extra} if extra else None

    def _lift_blocks(self, content: list[Native], role: str, path: Path, context: LiftContext) -> None:
        messages, places = context.messages, context.origin.places
        blocks, readers = self.blocks, self.blocks.readers
        parts: list[Part] | None = None
        part_paths: list[Path] = []
        for j, block in enumerate(content):
            kind = block["type"]
            if kind == "tool_result":
                messages.append(Message("tool", [blocks.lift_result(block, context)]))
                places.append((path, [("content", j)]))
                parts = None
                continue
            if parts is None:
                parts, part_paths = [], []
                messages.append(Message(role, parts))
                places.append((path, part_paths))
            part = readers[kind](block, context) if kind in readers else None
            parts.append(Opaque(blocks.owner, block) if part is None else part)
            part_paths.append(("content", j))

    # ------------------------------------------------------------ write

    def write(self, messages: list[Message]) -> list[Native]:
        """Writes the messages, merging those that belong together. The first one has the facts."""
        natives: list[Native] = []
        first = last = None  # of the message with results that is being written
        parts: list[Part] = []
        for message in messages:
            if last is not None and last.role == "tool" and self.joins(message, last):
                parts += message.parts
                last = message
                continue
            if first is not None:
                natives.append(self._write(first, "user", parts))
                first = last = None
            if message.role == "tool":
                first = last = message
                parts = [*message.parts]
            else:
                natives.append(self._write(message, message.role, message.parts))
        return natives if first is None else [*natives, self._write(first, "user", parts)]

    def _write(self, first: Message, role: str, parts: list[Part]) -> Native:
        if role == "event":
            from convcli.kit.sessions import row_of_event

            row: Native = row_of_event(first, self.blocks.owner)
            return row
        text = only_text(parts) if self.strings else None
        content = self.content(self.blocks.write_all(parts)) if text is None else text
        return self._write_message(first, role, content)

    def content(self, blocks: list[Native]) -> Any:
        """Returns a string if that is equivalent to the only block."""
        if len(blocks) > 1 or not self.strings:
            return blocks
        is_text = blocks != [] and len(blocks[0]) == 2 and blocks[0]["type"] == "text" and "text" in blocks[0]
        return blocks[0]["text"] if is_text else blocks


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
    return turns.content(turns.blocks.write_all(messages[0].parts)), messages[1:]
