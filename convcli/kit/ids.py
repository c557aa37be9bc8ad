"""Ids and parents that a new session requires: for the session and its rows.

Passes of `fit` derive them from the content, so the same transcript always gets the same ids.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from convcli.kit.passes import on_messages, shared
from convcli.kit.renaming import call_ids
from convcli.kit.sessions import head_of
from convcli.model.dialect import Pass
from convcli.model.transcript import Message, Transcript
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

UUID = pattern(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""Ids that all programs accept, and that are safe in file names."""


def is_uuid(value: Any) -> bool:
    """True if all programs accept the id."""
    return isinstance(value, str) and UUID.fullmatch(value) is not None


def new_uuid(number: int) -> str:
    """Returns a generated UUID for a row: 1, 2, … in version 8 (RFC 9562, custom)."""
    return f"00000000-0000-8000-8000-{number:012x}"


def uuid_of(value: Any) -> str:
    """Returns a UUID of version 8 (RFC 9562, custom) from the digest of a JSON value."""
    digits = exact_json.digest(value)
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


# ---------------------------------------------------------------- rows


def number_messages(new_id: Callable[[int], str]) -> Pass:
    """Gives every message a unique id: the first message with an id keeps it, the others get `new_id` of 1, 2, …"""

    def add_ids(messages: list[Message]) -> list[Message]:
        ids = _unique_ids(messages, new_id)
        return shared(messages, [_linked(one, id_, one.parent_id) for one, id_ in zip(messages, ids, strict=True)])

    return on_messages(add_ids)


def chain_messages(new_id: Callable[[int], str]) -> Pass:
    """Same as `number_messages`, and gives every message a parent: the previous message, or in a tree its own parent.

    In a tree, a message without an id belongs to the one before it; leading ones belong to all branches. A parent never
    follows its child, because readers walk to the root. A chain needs no head. A parent that is a session or a call
    stays.
    """

    def add_parents(transcript: Transcript) -> Transcript:
        messages = transcript.messages
        ids = _unique_ids(messages, new_id)
        parents, row_of = _parents(transcript, ids)
        links = list(zip(ids, parents, strict=True))
        head = row_of.get(transcript.head or "", head_of(links))
        chained_messages = [_linked(message, *link) for message, link in zip(messages, links, strict=True)]
        is_chain = head_of(links) is None and (not ids or head == ids[-1])
        return replace(transcript, messages=shared(messages, chained_messages), head=None if is_chain else head)

    return add_parents


def _linked(message: Message, id_: str, parent: str | None) -> Message:
    same = message.id == id_ and message.parent_id == parent
    return message if same else replace(message, id=id_, parent_id=parent)


def _unique_ids(messages: list[Message], new_id: Callable[[int], str]) -> list[str]:
    taken = {message.id for message in messages}
    ids: dict[str, None] = {}
    count = 0
    for message in messages:
        id_ = message.id
        if not id_ or id_ in ids:
            count = next(n for n in itertools.count(count + 1) if new_id(n) not in taken)
            id_ = new_id(count)
        ids[id_] = None
    return list(ids)


def _parents(transcript: Transcript, ids: list[str]) -> tuple[list[str | None], dict[str, str]]:
    """Returns the parents, and for each id of a tree the id of the last row that belongs to it."""
    parents: list[str | None] = []
    row_of: dict[str, str] = {}
    others = {transcript.id, *call_ids(transcript)} - {None, *ids}
    last = root = owner = None
    for message, id_ in zip(transcript.messages, ids, strict=True):
        if message.parent_id in others:
            parents.append(message.parent_id)
            owner = message.id
        elif transcript.head is not None and message.id is not None:
            parents.append(row_of.get(message.parent_id or "", root))
            owner = message.id if message.id not in row_of else ""
        else:
            parents.append(last)
            root = id_ if owner is None else root
        if owner:
            row_of[owner] = id_
        last = id_
    return parents, row_of


# ---------------------------------------------------------------- sessions


def set_session_id(
    content: Callable[[Transcript], Any],
    accepts: Callable[[str], bool] = bool,
    new_id: Callable[[Any], str] | None = None,
) -> Pass:
    """Gives a session an id derived from its content if it has none that the program `accepts`."""

    def add_session_id(transcript: Transcript) -> Transcript:
        is_known = transcript.id is not None and accepts(transcript.id)
        return transcript if is_known else replace(transcript, id=(new_id or uuid_of)(content(transcript)))

    return add_session_id
