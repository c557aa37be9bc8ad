"""The messages of Amazon Bedrock's Converse API: roles alternate, and user messages contain results."""

from __future__ import annotations

from itertools import groupby

from convcli.families.converse.blocks import is_cache_point, lift_block, lift_result, mark_cache, write_blocks
from convcli.families.converse.media import ConverseService, kind_of
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.model.transcript import Message, Part, Path

MESSAGE = Keys("role content")
USAGE: dict[tuple[str, ...], str] = {
    **{(name,): name for name in ("inputTokens", "outputTokens", "totalTokens")},
    ("cacheReadInputTokens",): "cacheReadTokens",
    ("cacheWriteInputTokens",): "cacheWriteTokens",
}
"""Counts by their path in `usage`. `inputTokens` excludes cached tokens."""


def lift_messages(natives: list[Native], prefix: Path, context: LiftContext, service: ConverseService) -> None:
    for i, native in enumerate(natives):
        lift_message(native, (*prefix, i), context, service)


def lift_message(native: Native, path: Path, context: LiftContext, service: ConverseService) -> None:
    """Adds a message for each result and for each run of other blocks; extras go to the first."""
    extras = make_extras(service.owner, MESSAGE.extra(native))
    for role, blocks, start in _pieces(native):
        parts, part_paths = lift_blocks(blocks, ("content",), context, service, start, result=role == "tool")
        context.add(Message(role, parts, extras=extras), path, part_paths)
        extras = None


def _pieces(native: Native) -> list[tuple[str, list[Native], int]]:
    """Returns role, blocks and first block index of each message within one API message."""
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
    blocks: list[Native],
    content_path: Path,
    context: LiftContext,
    service: ConverseService,
    start: int = 0,
    *,
    result: bool = False,
) -> tuple[list[Part], list[Path]]:
    """Returns the parts of blocks and their paths; a cache point belongs to the block before it."""
    parts: list[Part] = []
    part_paths: list[Path] = []
    for j, block in enumerate(blocks, start):
        if not mark_cache(parts[-1] if parts else None, block, service.owner):
            parts.append(lift_result(block, context, service) if result else lift_block(block, context, service))
            part_paths.append((*content_path, j))
    return parts, part_paths


def write_messages(messages: list[Message], service: ConverseService) -> list[Native]:
    """Returns API messages: consecutive messages of one side are one message, with the extras of the first."""
    return [_write_turn(role, list(turn), service) for role, turn in groupby(messages, side)]


def side(message: Message) -> str:
    """Returns the side that sends a message: results come from the user."""
    return "user" if message.role == "tool" else message.role


def _write_turn(role: str, turn: list[Message], service: ConverseService) -> Native:
    blocks = write_blocks([part for message in turn for part in message.parts], service)
    return MESSAGE.put({"role": role, "content": blocks}, get_extras(turn[0].extras, service.owner))
