"""The messages of Amazon Bedrock's Converse API: turns that alternate, and hold results beside text."""

from __future__ import annotations

from convcli.dialects.bedrock_converse.blocks import BlockReader, BlockWriter, is_cache_point, mark_cache
from convcli.dialects.bedrock_converse.media import NAME, kind_of
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.model.transcript import Message, Part, Path

MESSAGE = Keys("role content")

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "user",
    "assistant": "assistant",
    "event": "user",
}
"""The role of the API for each of ours."""


def lift_messages(natives: list[Native], prefix: Path, reader: BlockReader, messages: list[Message]) -> None:
    for i, native in enumerate(natives):
        odd: Spelling = {"inline": True} if prefix and native["role"] == "system" and not messages else {}
        if i > 0 and natives[i - 1]["role"] == native["role"]:
            odd = {"split": True}
        lift_message(native, (*prefix, i), reader, messages, odd)


def lift_message(
    native: Native, path: Path, reader: BlockReader, messages: list[Message], odd: Spelling | None = None
) -> None:
    """One message of the API: a message for each result and for each run of other blocks, the facts on the first."""
    carried, spelling = MESSAGE.take(native)
    for at, (role, blocks, start) in enumerate(_pieces(native)):
        parts, spots = lift_blocks(blocks, ("content",), reader, start, result=role == "tool")
        message = Message(role, parts, extras=extras_of(NAME, carried) if at == 0 else None)
        reader.origin.spell(message, {**(spelling or {}), **(odd or {})} if at == 0 else {})
        reader.origin.places.append((path, spots))
        messages.append(message)


def _pieces(native: Native) -> list[tuple[str, list[Native], int]]:
    """Roles, blocks and the index of the first block of the messages that one message of the API is."""
    role, content = native["role"], native["content"]
    pieces: list[tuple[str, list[Native], int]] = [] if content else [(role, [], 0)]
    for j, block in enumerate(content):
        if role == "user" and kind_of(block) == "toolResult":
            pieces.append(("tool", [], j))
        elif not pieces or (pieces[-1][0] == "tool" and not (len(pieces[-1][1]) == 1 and is_cache_point(block))):
            pieces.append((role, [], j))
        pieces[-1][1].append(block)
    return pieces


def lift_blocks(
    blocks: list[Native], place: Path, reader: BlockReader, start: int = 0, *, result: bool = False
) -> tuple[list[Part], list[Path]]:
    """The parts that blocks are and where they stand; a cache point belongs to the block before it."""
    parts: list[Part] = []
    spots: list[Path] = []
    for j, block in enumerate(blocks, start):
        if not mark_cache(parts[-1] if parts else None, block):
            parts.append(reader.result(block) if result else reader.part(block))
            spots.append((*place, j))
    return parts, spots


def lower_messages(messages: list[Message], writer: BlockWriter) -> list[Native]:
    """What one side says in a row is one message, unless the source wrote it otherwise."""
    turns: list[tuple[str, Message, list[Native]]] = []
    for message in messages:
        role = ROLES[message.role]
        blocks = writer.blocks(message.parts, role)
        if not blocks and not writer.own:
            continue
        if turns and turns[-1][0] == role and not writer.spelling(message).get("split"):
            turns[-1][2].extend(blocks)
        else:
            turns.append((role, message, blocks))
    return [_lower_turn(role, first, blocks, writer) for role, first, blocks in turns]


def _lower_turn(role: str, first: Message, blocks: list[Native], writer: BlockWriter) -> Native:
    return MESSAGE.put({"role": role, "content": blocks}, carried_by(first.extras, NAME), writer.spelling(first))


def split_system(messages: list[Message], writer: BlockWriter) -> tuple[list[Message], list[Message]]:
    """What is written as `system`, and the messages. Not every model takes a system text between messages."""
    if not writer.own:
        system = [message for message in messages if ROLES[message.role] == "system"]
        return system, [message for message in messages if ROLES[message.role] != "system"]
    leading = bool(messages) and messages[0].role == "system" and not writer.spelling(messages[0]).get("inline")
    return messages[:leading], messages[leading:]
