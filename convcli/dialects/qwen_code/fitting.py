"""What Qwen Code takes of any transcript, as passes: measured with `qwen --resume` of 0.24.4 and 0.15.10 on
2026-11-23."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

import convcli.dialects.qwen_code.rows as rows
from convcli.dialects.qwen_code.lifting import lift
from convcli.dialects.qwen_code.rows import EVENT, NAME
from convcli.dialects.qwen_code.writing import write_session
from convcli.families.google import turns
from convcli.families.google.fitting import expressible_parts, only_signed, without_blanks
from convcli.kit import custom, sessions
from convcli.kit.fitting import as_read_back, only_own_opaque
from convcli.kit.grouping import begins, main_path, on_rows
from convcli.kit.ids import chained, new_uuid, with_session_id
from convcli.kit.objects import Native, carried_by, omit, with_carried, without_carried
from convcli.kit.passes import on_each_message, on_results, shared
from convcli.kit.renaming import Alphabet, distinct_ids
from convcli.kit.results import separate_results
from convcli.model.transcript import Message, Opaque, Part, Text, ToolResult, Transcript
from convcli.validation.rules.turns import INSTRUCTIONS
from convcli.wire import exact_json

SESSION_ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
"""The ids by which the program finds a session: UUIDs of version 1 to 5."""
IDS = Alphabet("characters", "", 0)
"""Ids of calls may be anything; two calls of one session must not share one, for the second is not sent."""


def _is_of_tree(message: Message) -> bool:
    return not rows.is_aside(sessions.row_of_event(message, NAME))


def _turn(message: Message) -> Message | None:
    """Instructions are in the program, which knows no role but two; a summary stands for all that was before it."""
    if message.role in INSTRUCTIONS:
        return None
    message = without_carried(message, NAME, "role")
    parts = [_without(part, "line", "message") if _has_role(part) else part for part in message.parts]
    message = message if parts == message.parts else replace(message, parts=parts)
    return sessions.replacing_all(message)


def _has_role(part: Part) -> bool:
    return "role" in rows.row_of(part, "line").get("message", {})


def is_silent(part: Part) -> bool:
    """Is it a text that makes the program leave out the whole turn, all answers up to the next words of the user?"""
    return isinstance(part, Text) and not part.text and not part.metadata


def _answer(message: Message) -> Message | None:
    if message.role != "assistant":
        return message
    parts = [part for part in message.parts if not is_silent(part)]
    if not parts:
        return None
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _status(result: ToolResult) -> ToolResult:
    """A result that is written is there: it can only have been cancelled."""
    return result if result.status in (None, "cancelled") else replace(result, status=None)


def _linked(transcript: Transcript) -> Transcript:
    """Every row of the tree has an id, a time and a parent."""
    messages = transcript.messages
    starts = [k for k in begins(messages, rows.continues) if _is_of_tree(messages[k])]
    ids = {messages[k].id for k in starts}

    def of_tree(message: Message) -> Message:
        return message if message.parent_id in ids else replace(message, parent_id=None)

    bare = replace(transcript, created_at=None)
    return on_rows(bare, starts, on_each_message(of_tree), chained(new_uuid), sessions.timed)


def _named_uuid(value: Any) -> str:
    """A UUID of version 5 (RFC 9562, of a name)."""
    from uuid import NAMESPACE_OID, uuid5  # slow to import, and few calls need it

    return str(uuid5(NAMESPACE_OID, exact_json.digest(value)))


def _one_session(transcript: Transcript) -> Transcript:
    """All rows are of one session, and the first one says where it was."""
    said: Native = {"sessionId": transcript.id, "cwd": transcript.cwd or ""}
    said |= carried_by(transcript.extras, NAME).get("session", {})
    messages = [_of_session(one, said, is_first=k == 0) for k, one in enumerate(transcript.messages)]
    messages = shared(transcript.messages, messages)
    return transcript if messages is transcript.messages else replace(transcript, messages=messages)


def _of_session(message: Message, said: Native, *, is_first: bool) -> Message:
    row = sessions.row_of_event(message, NAME)
    if isinstance(row, dict):
        stated = {key: value for key, value in said.items() if is_first or (key == "sessionId" and row.get(key))}
        same = all(row.get(key) == value for key, value in stated.items())
        return message if same else replace(message, parts=[Opaque(NAME, {**row, **stated})])
    keys = rows.USUAL if is_first else ("sessionId",)
    parts = [_without(part, "line", "sessionId") for part in message.parts]
    message = _without(message, "row", *keys)
    same = all(part is one for part, one in zip(parts, message.parts, strict=True))
    return message if same else replace(message, parts=parts)


def _without(record: Any, key: str, *names: str) -> Any:
    """A record that carries of its row none of these keys."""
    return with_carried(record, NAME, key, omit(rows.row_of(record, key), *names))


FIT = (
    without_blanks,
    main_path,
    custom.as_functions,
    only_own_opaque(NAME),
    sessions.own_events(NAME, lambda row: rows.is_message(row) or bool(rows.contents_of(row))),
    sessions.latest_branch(_is_of_tree),
    separate_results,
    on_each_message(turns.user_without_result),
    on_each_message(_turn),
    sessions.results_between_events,
    distinct_ids(IDS),
    sessions.with_models,
    expressible_parts,
    only_signed,
    on_each_message(_answer),
    on_results(_status),
    _linked,
    sessions.with_rows(lambda message: sessions.row_of_event(message, NAME, EVENT)),
    with_session_id(
        lambda transcript: write_session(transcript),
        lambda id_: SESSION_ID.fullmatch(id_) is not None,
        _named_uuid,
    ),
    _one_session,
    as_read_back(lift, lambda transcript, _: write_session(transcript), "session"),
)
