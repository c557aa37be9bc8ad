"""The messages of Anthropic's API: roles, turns that hold results beside text, and what stands beside the content."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from convcli.families.anthropic import request as common
from convcli.families.anthropic.blocks import BlockReader, BlockWriter, is_bare
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.model.transcript import Message, Part, Path, Spots, Text

NAME = "anthropic"
ROLES = frozenset(("user", "assistant", "system"))

MESSAGE = Keys("id role model content stop_reason stop_sequence usage", carried="stop_sequence")

PLAIN = ("role", "content")

FINISH = {
    "end_turn": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "pause_turn": "pause",
    "refusal": "refusal",
}
FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()}
VERBATIM = frozenset(("stop_sequence", "model_context_window_exceeded"))
"""Stop reasons of the vendor that are the same word on both sides."""


# ---------------------------------------------------------------- system


def lift_system(native: Any, reader: BlockReader, messages: list[Message]) -> None:
    """System text beside the messages is a message before them."""
    if not native:
        return
    if isinstance(native, str):
        message, spots = Message("system", [Text(native)]), list[Path](((),))
    else:
        message = Message("system", [reader.part(block) for block in native])
        spots = [(j,) for j in range(len(native))]
        reader.origin.spell(message, {"content": "list"} if _is_single(message.parts) else {})
    messages.append(message)
    reader.origin.places.append((("system",), spots))


def split_system(messages: list[Message], writer: BlockWriter) -> tuple[Any, list[Message]]:
    """The system text, and the messages beside it. The API knows no developer, and old models no later instructions."""
    if writer.own:
        first = messages[0] if messages and messages[0].role == "system" else None
        count = 1 if first is not None and "in" not in writer.spelling(first) else 0
        system, rest = messages[:count], messages[count:]
    else:
        system = [message for message in messages if message.role in ("system", "developer")]
        rest = [message for message in messages if message.role not in ("system", "developer")]
    blocks = [block for message in system for block in writer.blocks(message.parts, "system")]
    content = _content(blocks, writer.spelling(system[0]) if system else {})
    return content or None, rest


# ---------------------------------------------------------------- messages


def lift_turns(natives: list[Native], prefix: Path, reader: BlockReader, messages: list[Message]) -> None:
    places = reader.origin.places
    for i, native in enumerate(natives):
        content, role = native["content"], native["role"]
        alone = not messages or messages[-1].role != "tool"
        if alone and content.__class__ is str and content and tuple(native) == PLAIN and role != "system":
            messages.append(Message(role, [Text(content)]))
            places.append(((*prefix, i), None))
            continue
        odd = {"in": "messages"} if prefix and native["role"] == "system" and not messages else {}
        lift_turn(native, (*prefix, i), MESSAGE, reader, messages, odd)


def lift_turn(
    native: Native, path: Path, keys: Keys, reader: BlockReader, messages: list[Message], odd: Spelling | None = None
) -> None:
    """One message of the API: a message for each result and for each run of other blocks, the facts on the first."""
    plain = tuple(native) == PLAIN and native["content"]  # most messages: nothing beside the content
    carried, spelling = (None, None) if plain else keys.take(native)
    pieces = _pieces(native, reader)
    previous = messages[-1].role if messages else ""
    for at, (role, parts, spots) in enumerate(pieces):
        message = Message(role, parts)
        said: Spelling = {}
        if at == 0:
            said = {**(spelling or {}), **(odd or {})} if spelling or odd else said
            if role != native["role"] and native["role"] != "user":
                said["role"] = native["role"]
            if spots is not None and len(pieces) == 1 and _is_single(parts):
                said["content"] = "list"
            if not plain:
                _lift_facts(native, carried, message, said)
        follows = _follows(previous, role) and (at == 0 or native["role"] == "user")
        if (at > 0) != follows:
            said["join"] = at > 0
        if said:
            reader.origin.spell(message, said)
        messages.append(message)
        reader.origin.places.append((path, spots))
        previous = role


def _pieces(native: Native, reader: BlockReader) -> list[tuple[str, list[Part], Spots]]:
    """Roles, parts and their places of the messages that one message of the API is; no places: all is in a string."""
    content, role = native["content"], native["role"]
    if isinstance(content, str):
        return [(role, [Text(content)] if content else [], None)]
    pieces: list[tuple[str, list[Part], list[Path]]] = []
    parts: list[Part] | None = None  # of the last piece, where it is not a result
    for j, block in enumerate(content):
        if block["type"] == "tool_result":
            pieces.append(("tool", [reader.result(block)], [("content", j)]))
            parts = None
        elif parts is None:
            parts = [reader.part(block)]
            pieces.append((role, parts, [("content", j)]))
        else:
            parts.append(reader.part(block))
            pieces[-1][2].append(("content", j))
    return [*pieces] or [(role, [], [])]


def _lift_facts(native: Native, carried: Native | None, message: Message, said: Spelling) -> None:
    """What stands beside the content: in responses, and where programs keep responses as messages."""
    extras = dict(carried or {})
    message.id, message.model = native.get("id") or None, native.get("model") or None
    reason: str = native.get("stop_reason") or ""
    if reason:
        message.stop_reason = ours = FINISH.get(reason, reason)
        if FINISH_OF.get(ours, ours) != reason:
            said["stop_reason"] = reason
    if native.get("usage"):
        usage, rest = common.read_usage(native["usage"])
        message.usage = usage or None
        extras |= {"usage": rest} if rest else {}
        said["usage"] = native["usage"]
    message.extras = extras_of(NAME, extras)


def lower_finish(message: Message, spelling: Spelling, own: bool) -> Native:
    native: Native = {}
    reason = message.stop_reason
    if reason is not None and (own or reason in FINISH_OF or reason in VERBATIM):
        native["stop_reason"] = spelling.get("stop_reason") or FINISH_OF.get(reason, reason)
    if message.usage or "usage" in carried_by(message.extras, NAME) or "usage" in spelling:
        native["usage"] = common.lower_usage(message, NAME, spelling)
    return native


class Turn(Struct, gc=False):
    """One message of the API while it is written; `first` is the message that holds its facts."""

    role: str
    first: Message
    blocks: list[Native]


def turns_of(messages: list[Message], writer: BlockWriter) -> list[Turn]:
    """The messages grouped as the source had them, else results together with the user text right behind them."""
    turns: list[Turn] = []
    previous = ""
    spelling: Spelling = {}
    for message in messages:
        if writer.spellings:
            spelling = writer.spelling(message)
        role = spelling.get("role") or ("user" if message.role == "tool" else message.role)
        blocks = writer.blocks(message.parts, role if role in ROLES else "system")
        if not blocks and role == "user" and not writer.own:
            continue
        follows = previous == "tool" and _follows(previous, message.role) and turns[-1].role == "user"
        if turns and spelling.get("join", follows):
            turns[-1].blocks += blocks
        else:
            turns.append(Turn("system" if role == "developer" else role, message, blocks))
        previous = message.role
    return turns


def _follows(previous: str, role: str) -> bool:
    """Does a message of this role belong to the same message of the API as one of the role before it?"""
    return previous == "tool" and (role == "tool" or role == "user")


def lower_turn(turn: Turn, writer: BlockWriter, bare: bool) -> Native:
    first = turn.first
    spelling: Spelling = writer.spelling(first) if writer.spellings else {}
    if turn.role == "user" and len(turn.blocks) > 1 and not writer.own:
        turn.blocks.sort(key=lambda block: block["type"] != "tool_result")
    native: Native = {"role": turn.role, "content": _content(turn.blocks, spelling)}
    if bare:
        return native
    for key, value in (("id", first.id), ("model", first.model)):
        if value is not None:
            native[key] = value
    native |= lower_finish(first, spelling, writer.own)
    native = {key: native[key] for key in MESSAGE.sorted(native)}
    carried = {key: value for key, value in carried_by(first.extras, NAME).items() if key != "usage"}
    return MESSAGE.put(native, carried, spelling)


def _content(blocks: list[Native], spelling: Spelling) -> Any:
    """A string where that says the same as the one block."""
    if len(blocks) != 1 or (spelling and spelling.get("content") == "list"):
        return blocks
    block = blocks[0]
    return block["text"] if len(block) == 2 and block["type"] == "text" and "text" in block else blocks


def _is_single(parts: list[Part]) -> bool:
    return len(parts) == 1 and is_bare(parts[0])
