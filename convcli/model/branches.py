"""Which messages of a transcript count: the active branch of a tree, and the context after a compaction."""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import takewhile

from msgspec.structs import replace

from convcli.model.transcript import Message, Transcript

INSTRUCTIONS = ("system", "developer")


def active(transcript: Transcript) -> list[Message]:
    """Returns the messages that a linear dialect writes: no events, and in a tree only the path from the root to
    `head`."""
    messages = branch(transcript)
    if "event" not in [message.role for message in messages]:
        return messages
    return [message for message in messages if message.role != "event"]


def branch(transcript: Transcript) -> list[Message]:
    """Returns the path from the root to `head` of a tree, with the events on it; all messages if there is no tree."""
    return transcript.messages if transcript.head is None else _path_to(transcript.head, transcript.messages)


def context(transcript: Transcript) -> list[Message]:
    """Returns what a model would be sent next, with the events in between.

    On the active branch: the leading instructions, the summary of the last compaction, the messages that it keeps, and
    everything after it.
    """
    messages = branch(transcript)
    at = max((index for index, message in enumerate(messages) if message.replaces is not None), default=None)
    if at is None:
        return messages
    start = next((index for index in range(at) if messages[index].id == messages[at].replaces), at)
    leading = list(takewhile(lambda message: message.role in (*INSTRUCTIONS, "event"), messages[:start]))
    return [*leading, messages[at], *messages[start:at], *messages[at + 1 :]]


def handed_on(transcript: Transcript, removed: Container[object]) -> list[Message]:
    """Returns the messages of a tree before some are removed, by index.

    A message without an id is on the branch of the message that it follows. If that one is removed, the first such
    message takes over its id and its parent, so that it stays on this branch.
    """
    messages = list(transcript.messages)
    before: Message | None = None
    for i, message in enumerate(messages if transcript.head is not None else ()):
        if message.id is not None:
            before = message if i in removed else None
        elif before is not None and i not in removed and message.role != "event":
            messages[i] = replace(message, id=before.id, parent_id=before.parent_id)
            before = None
    return messages


def nearest_left(name: str | None, removed: Mapping[str | None, str | None]) -> str | None:
    """Returns the id of the nearest ancestor that is left, or of the message itself; None if there is none.

    `removed`: the parents of the removed messages, by id. Those of a damaged file can form a circle.
    """
    passed: set[str | None] = set()
    while name in removed and name not in passed:
        passed.add(name)
        name = removed[name]
    return None if name in removed else name


def _path_to(head: str, messages: list[Message]) -> list[Message]:
    by_id = {message.id: message for message in messages if message.id is not None}
    path: dict[int, Message] = {}
    message = by_id.get(head)
    while message is not None and id(message) not in path:
        path[id(message)] = message
        message = by_id.get(message.parent_id) if message.parent_id is not None else None
    tied = _tied_results(messages, set(path))
    return [message for message in messages if id(message) in path or id(message) in tied]


def _tied_results(messages: list[Message], path: set[int]) -> set[int]:
    """Returns the messages without an id of their own that follow a message on the path, and the instructions before
    the tree, which belong to every branch."""
    tied: set[int] = set()
    inside: bool | None = None
    for message in messages:
        if message.id is not None:
            inside = id(message) in path
        elif inside or (inside is None and message.role in INSTRUCTIONS):
            tied.add(id(message))
    return tied
