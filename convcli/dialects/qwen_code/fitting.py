"""Passes that fit a transcript to Qwen Code, tested with `qwen --resume` of 0.24.4 and 0.15.10 on 2026-11-23."""

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
from convcli.kit.fitting import drop_other_opaque, settle_by_reading_back
from convcli.kit.grouping import begins, drop_subagent_runs, on_rows
from convcli.kit.ids import chain_messages, new_uuid, set_session_id
from convcli.kit.objects import Native, drop_extras, get_extras, omit, set_extras
from convcli.kit.passes import on_each_message, on_results, shared
from convcli.kit.renaming import Alphabet, make_ids_distinct
from convcli.kit.results import separate_results
from convcli.model.transcript import Message, Opaque, Part, Text, ToolResult, Transcript
from convcli.validation.rules.turns import INSTRUCTIONS
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

SESSION_ID = pattern("[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
"""The session ids that the program finds: UUIDs of version 1 to 5."""
IDS = Alphabet("characters", "", 0)
"""Call ids may be any string, but must be unique in a session: a second call with the same id is not sent."""


def _is_in_tree(message: Message) -> bool:
    return not rows.is_aside(sessions.row_of_event(message, NAME))


def _drop_instructions(message: Message) -> Message | None:
    """Drops instructions and extra roles, which the program supplies; a summary replaces everything before it."""
    if message.role in INSTRUCTIONS:
        return None
    message = drop_extras(message, NAME, "role")
    parts = [_without(part, "line", "message") if _has_role(part) else part for part in message.parts]
    message = message if parts == message.parts else replace(message, parts=parts)
    return sessions.replacing_all(message)


def _has_role(part: Part) -> bool:
    return "role" in rows.row_of(part, "line").get("message", {})


def is_silent(part: Part) -> bool:
    """True for a text that makes the program omit the whole turn: all answers up to the next user message."""
    return isinstance(part, Text) and not part.text and not part.metadata


def _drop_silent_parts(message: Message) -> Message | None:
    if message.role != "assistant":
        return message
    parts = [part for part in message.parts if not is_silent(part)]
    if not parts:
        return None
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _keep_cancelled(result: ToolResult) -> ToolResult:
    """Drops every status but cancelled: a written result has no other."""
    return result if result.status in (None, "cancelled") else replace(result, status=None)


def _link_rows(transcript: Transcript) -> Transcript:
    """Gives every row of the tree an id, a time and a parent."""
    messages = transcript.messages
    starts = [k for k in begins(messages, rows.continues) if _is_in_tree(messages[k])]
    ids = {messages[k].id for k in starts}

    def drop_unknown_parent(message: Message) -> Message:
        return message if message.parent_id in ids else replace(message, parent_id=None)

    bare = replace(transcript, created_at=None)
    return on_rows(bare, starts, on_each_message(drop_unknown_parent), chain_messages(new_uuid), sessions.set_times)


def _named_uuid(value: Any) -> str:
    """Returns a UUID of version 5 (RFC 9562, name-based)."""
    from uuid import NAMESPACE_OID, uuid5  # slow to import and rarely needed

    return str(uuid5(NAMESPACE_OID, exact_json.digest(value)))


def _join_session(transcript: Transcript) -> Transcript:
    """Puts all rows into one session, and the working directory into the first row."""
    session: Native = {"sessionId": transcript.id, "cwd": transcript.cwd or ""}
    session |= get_extras(transcript.extras, NAME).get("session", {})
    messages = [_set_session(original, session, is_first=k == 0) for k, original in enumerate(transcript.messages)]
    messages = shared(transcript.messages, messages)
    return transcript if messages is transcript.messages else replace(transcript, messages=messages)


def _set_session(message: Message, session: Native, *, is_first: bool) -> Message:
    row = sessions.row_of_event(message, NAME)
    if isinstance(row, dict):
        session_keys = {
            key: value for key, value in session.items() if is_first or (key == "sessionId" and row.get(key))
        }
        is_unchanged = all(row.get(key) == value for key, value in session_keys.items())
        return message if is_unchanged else replace(message, parts=[Opaque(NAME, {**row, **session_keys})])
    keys = rows.USUAL if is_first else ("sessionId",)
    parts = [_without(part, "line", "sessionId") for part in message.parts]
    message = _without(message, "row", *keys)
    is_unchanged = all(part is original for part, original in zip(parts, message.parts, strict=True))
    return message if is_unchanged else replace(message, parts=parts)


def _without(record: Any, key: str, *names: str) -> Any:
    """Returns the record without these keys of its row in its extras."""
    return set_extras(record, NAME, key, omit(rows.row_of(record, key), *names))


FIT = (
    without_blanks,
    drop_subagent_runs,
    custom.as_functions,
    drop_other_opaque(NAME),
    sessions.keep_own_events(NAME, lambda row: rows.is_message(row) or bool(rows.contents_of(row))),
    sessions.keep_latest_branch(_is_in_tree),
    separate_results,
    on_each_message(turns.user_without_result),
    on_each_message(_drop_instructions),
    sessions.put_results_before_events,
    make_ids_distinct(IDS),
    sessions.set_models_of_answers,
    expressible_parts,
    only_signed,
    on_each_message(_drop_silent_parts),
    on_results(_keep_cancelled),
    _link_rows,
    sessions.with_rows(lambda message: sessions.row_of_event(message, NAME, EVENT)),
    set_session_id(
        lambda transcript: write_session(transcript),
        lambda id_: SESSION_ID.fullmatch(id_) is not None,
        _named_uuid,
    ),
    _join_session,
    settle_by_reading_back(lift, lambda transcript, _: write_session(transcript), "session"),
)
