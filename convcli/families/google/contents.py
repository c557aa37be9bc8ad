"""Contents and messages: roles, and how answers are grouped into turns."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from convcli.families.google.keys import Shape, Writer, listed, owned
from convcli.families.google.parts import WRITE_PARTS, lift_native, lift_part, read_part
from convcli.families.google.results import ANSWERS, RESPONSE, lift_result, stated, write_result
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import NOTHING, Native
from convcli.model.transcript import Message, Path, Text, ToolCall, ToolResult

CONTENT = Shape("content", "role parts")
ROLE_OF = {"assistant": "model"}
"""The role of a content by the role of its first message; all others are the user's."""
SPEAKERS = (None, "", "user", "model", "function", "system")
"""Roles that add nothing to the position of a content; any other is kept in extras."""


# ---------------------------------------------------------------- lift


def lift_contents(value: Any, path: Path, context: LiftContext) -> None:
    """Lifts the messages of all contents: one for each answer in a turn, and one for everything between two answers."""
    messages, places = context.messages, context.origin.places
    for i, native in enumerate(listed(value)):
        node_path, extra = path if isinstance(value, dict) else (*path, i), NOTHING
        if not native.keys() <= CONTENT.known:
            native, extra = CONTENT.read(native, context.origin)
        natives = native.get("parts")
        natives = natives if natives.__class__ is list else listed(natives)
        role, first = "assistant" if native.get("role") == "model" else "user", len(messages)
        if all(map(ANSWERS.isdisjoint, natives)):
            messages.append(Message(role, [lift_native(part, context) for part in natives]))
            places.append((node_path, _part_paths(native, 0, len(natives))))
        else:
            at = 0
            for message in _lift_answers(natives, role, context):
                count = len(message.parts)
                messages.append(message)
                places.append((node_path, _part_paths(native, at, count)))
                at += count
        if extra:
            messages[first].extras = owned(context.dialect, {"content": extra})


def adopt(context: LiftContext) -> None:
    """Gives calls without an id the id of their result."""
    adopted = context.pairing.adopted
    for message in context.messages if adopted else ():
        for part in message.parts:
            if isinstance(part, ToolCall) and part.id in adopted:
                part.id = adopted[part.id]


def _lift_answers(natives: list[Native], role: str, context: LiftContext) -> list[Message]:
    pieces = [read_part(part, context) for part in natives]
    paired = iter(context.pairing.results([stated(piece) for piece in pieces if piece.kind == RESPONSE.name]))
    messages: list[Message] = []
    between: Message | None = None
    for piece in pieces:
        if piece.kind == RESPONSE.name:
            id_, name = next(paired)
            messages.append(Message("tool", [lift_result(piece, id_, name, context)]))
            between = None
        else:
            if between is None:
                between = Message(role, [])
                messages.append(between)
            between.parts.append(lift_part(piece, context))
    return messages


def _part_paths(native: Native, start: int, count: int) -> tuple[Path, ...]:
    """Returns the paths of so many parts, relative to their content."""
    return (("parts",),) * count if isinstance(native.get("parts"), dict) else _spots_in_list(start, count)


@lru_cache(maxsize=1024)
def _spots_in_list(start: int, count: int) -> tuple[Path, ...]:
    return tuple(("parts", j) for j in range(start, start + count))


def lift_system(value: Any, path: Path, context: LiftContext) -> None:
    """Lifts the instruction: a content, or what programs also write: a string, a list of parts, or one part."""
    if isinstance(value, str):
        context.add(Message("system", [Text(value)]), path, [()])
    elif isinstance(value, dict) and ("parts" in value or "role" in value or not value):
        lift_whole(value, "system", path, context)
    else:
        lift_whole({"parts": value}, "system", path, context)
        place, part_paths = context.origin.places.pop()
        context.origin.places.append((place, [node_path[1:] for node_path in part_paths or ()]))


def lift_whole(native: Native, role: str, path: Path, context: LiftContext) -> Message:
    """Lifts a content as one message, whatever its parts are."""
    native, extra = CONTENT.read(native, context.origin)
    parts = [lift_native(part, context) for part in listed(native.get("parts"))]
    if native.get("role") not in (ROLE_OF.get(role), *SPEAKERS):
        extra["role"] = native["role"]
    message = Message(role, parts, extras=owned(context.dialect, {"content": extra} if extra else {}))
    context.add(message, path, _part_paths(native, 0, len(parts)))
    return message


# ---------------------------------------------------------------- write


def write_contents(messages: list[Message], writer: Writer) -> list[Native]:
    """Writes a content for each turn; all answers to one turn share a content."""
    natives: list[Native] = []
    before = ""
    for message in messages:
        if message.role == before == "tool":
            natives[-1]["parts"] += _write_parts(message, writer)
        else:
            natives.append(_write_content(message, ROLE_OF.get(message.role, "user"), writer))
        before = message.role
    return natives


def write_message(message: Message, writer: Writer) -> Native:
    """Writes one message as a content whose position defines its role."""
    return _write_content(message, ROLE_OF.get(message.role), writer)


def _write_content(message: Message, role: str | None, writer: Writer) -> Native:
    """Writes the content that this message begins, with its extras."""
    native: Native = {} if role is None else {"role": role}
    native["parts"] = _write_parts(message, writer)
    extras = message.extras
    return native if extras is None else CONTENT.put(native, writer.extra(extras, CONTENT.name))


def _write_parts(message: Message, writer: Writer) -> list[Native]:
    parts = []
    for part in message.parts:
        write_one = WRITE.get(part.__class__)
        native = None if write_one is None else write_one(part, writer)
        if native is not None:
            parts.append(native)
    return parts


WRITE: dict[type, Callable[[Any, Writer], Native | None]] = {**WRITE_PARTS, ToolResult: write_result}
