"""Chats of web programs: a tree of messages, in which an answer with its calls, results and later texts is one node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import bare_system, instruction_of
from convcli.kit.ids import chain_messages, new_uuid
from convcli.kit.passes import on_messages
from convcli.model.dialect import Pass
from convcli.model.transcript import Message, Part, Path, ToolResult, Transcript

RUN = ("assistant", "tool")
"""The roles of an answer."""
OF_NODE = ("created_at", "model", "usage", "error", "stop_reason")
"""Fields of a node, which only the first message of an answer has."""


def split_at_results(placed: Iterable[tuple[Part, Path]], role: str) -> list[tuple[Message, list[Path]]]:
    """Returns a message for each result and for each run of other parts, with the paths of its parts. What a tool says
    that is no result is a user message."""
    role = "user" if role == "tool" else role
    pieces: list[tuple[Message, list[Path]]] = []
    for part, path in placed:
        is_result = isinstance(part, ToolResult)
        if is_result or not pieces or pieces[-1][0].role == "tool":
            pieces.append((Message("tool" if is_result else role, []), []))
        pieces[-1][0].parts.append(part)
        pieces[-1][1].append(path)
    return pieces


def add_with_results(message: Message, placed: Iterable[tuple[Part, Path]], path: Path, context: LiftContext) -> None:
    """Adds a message with these parts, and each of its results as a message of its own. The first of them has the
    message's facts."""
    pieces = split_at_results(placed, message.role) or [(message, [])]
    message.role, message.parts = pieces[0][0].role, pieces[0][0].parts
    for piece, (_, at) in zip([message, *(one for one, _ in pieces[1:])], pieces, strict=True):
        context.add(piece, path, at)


def join_answers(transcript: Transcript) -> Transcript:
    """Makes each answer one node: results, and what the model says after them, lose their ids and follow it."""
    children = Counter(message.parent_id for message in transcript.messages)
    node_of: dict[str, str] = {}
    messages: list[Message] = []
    before: Message | None = None
    for message in transcript.messages:
        is_joined = before is not None and _continues(message, before, children)
        if not is_joined:
            messages.append(message)
        else:
            assert before is not None
            messages.append(replace(message, id=None, parent_id=None, **dict.fromkeys(OF_NODE)))
            if message.id is not None and before.id is not None:
                node_of[message.id] = node_of.get(before.id, before.id)
        before = replace(message, id=message.id or (before.id if is_joined and before is not None else None))
    linked = [
        replace(message, parent_id=node_of[message.parent_id]) if message.parent_id in node_of else message
        for message in messages
    ]
    return replace(transcript, messages=linked, head=node_of.get(transcript.head or "", transcript.head))


def _continues(message: Message, before: Message, children: Counter[str | None]) -> bool:
    """True if a message belongs to the answer before it."""
    if message.role not in RUN or before.role not in RUN:
        return False
    if message.id is not None and (message.parent_id not in (None, before.id) or children[before.id] > 1):
        return False
    return message.id is None or message.role == "tool" or before.role == "tool"


def link_nodes(transcript: Transcript) -> Transcript:
    """Gives each node an id and a parent. A leading instruction, and the rest of an answer, have none."""
    groups = nodes_of(transcript.messages)
    chained = chain_messages(new_uuid)(replace(transcript, messages=[group[0] for group in groups]))
    leading = transcript.messages[: len(transcript.messages) - sum(map(len, groups))]
    rest = [[node, *group[1:]] for node, group in zip(chained.messages, groups, strict=True)]
    return replace(chained, messages=[*leading, *(message for group in rest for message in group)])


def nodes_of(messages: list[Message]) -> list[list[Message]]:
    """Groups messages by node, without the leading instruction that is no node."""
    groups: list[list[Message]] = []
    for message in messages[1:] if instruction_of(messages) else messages:
        is_joined = message.id is None and message.role in RUN and groups and groups[-1][-1].role in RUN
        if is_joined:
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


NODES: tuple[Pass, ...] = (join_answers, on_messages(bare_system), link_nodes)
"""Passes that make the nodes of a chat, and its leading instruction one text."""
