"""What Claude Code takes of any transcript, as passes: measured with `claude --resume` of 2.1.330 on 2026-11-22."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

import convcli.dialects.claude_code.rows as form
from convcli.dialects.claude_code.rows import BLOCKS, NAME
from convcli.dialects.claude_code.writing import write_session
from convcli.families.anthropic import policy
from convcli.families.anthropic.response import IDS, NAMES
from convcli.families.anthropic.usage import taken_usage
from convcli.kit import sessions
from convcli.kit.fitting import functions_only, without
from convcli.kit.ids import is_uuid, new_uuid, numbered, with_session_id
from convcli.kit.objects import carried_by, objects_in, omit, with_carried, without_carried
from convcli.kit.passes import fused, on_each_message, on_messages, shared
from convcli.kit.renaming import Renaming, call_ids, distinct_ids, renaming, with_ids
from convcli.kit.results import single_results
from convcli.model.transcript import Message, Part, ToolCall, Transcript
from convcli.validation.rules.turns import INSTRUCTIONS

ROLES = {**policy.PARTS_IN_ROLES, "opaque": ("user", "assistant", "event")}


def _is_taken_for_turn(row: Any) -> bool:
    """Does the program take it for a turn? Broken ones and older copies would hide those that count."""
    return isinstance(row, dict) and row.get("type") in form.ROLES


def _summary(message: Message) -> Message:
    """A summary stands for all that came before it, in words of the user."""
    if message.replaces is None:
        return message
    role = "user" if message.role in INSTRUCTIONS else message.role
    same = role == message.role and message.replaces == "all"
    return message if same else replace(message, role=role, replaces="all")


def _counted(message: Message) -> Message:
    """Counts are those of Anthropic's API."""
    usage = taken_usage(message.usage or {})
    return message if usage == message.usage else replace(message, usage=usage)


ENTRY = re.compile("(.+)_([0-9]+)")


def _no_entries(messages: list[Message]) -> list[Message]:
    """Calls with the ids X and X_2 would be entries of one call, of which only X keeps a result (2.1.330)."""
    called = {part.id for message in messages for part in message.parts if isinstance(part, ToolCall)}
    entries = {id_: match for id_ in called if (match := ENTRY.fullmatch(id_)) and match[1] in called}
    if not entries:
        return messages
    ids = Renaming(call_ids(Transcript(messages)), IDS)
    return with_ids(messages, {id_: ids.another(f"{match[1]}-{match[2]}") for id_, match in sorted(entries.items())})


def _told_apart(messages: list[Message]) -> list[Message]:
    """Rows with one id of an answer are that answer, so no two answers have one."""
    seen: set[Any] = set()
    fitted: list[Message] = []
    for message in messages:
        id_ = carried_by(message.extras, NAME).get("id") if message.role == "assistant" else None
        is_other = id_ is not None and id_ in seen
        fitted.append(without_carried(message, NAME, "id") if is_other else message)
        seen.add(id_)
    return shared(messages, fitted)


def _rooted(message: Message) -> Message:
    """A parent that no row has would cut what is sent."""
    fitted: Message = _beside(message, "row", form.LINKS)
    parts: list[Part] = [_beside(part, "line", form.LINKS) for part in message.parts]
    return fitted if parts == message.parts else replace(fitted, parts=parts)


def _as_last_row(message: Message) -> Message:
    """The last row of an answer says what its message says; the first is that of its first part."""
    lines = [k for k, part in enumerate(message.parts) if "line" in carried_by(part.extras, NAME)]
    parts = list(message.parts)
    if lines[:1] == [0]:
        parts[0] = without_carried(parts[0], NAME, "line")
    if lines[-1:] > [0]:
        parts[lines[-1]] = _beside(parts[lines[-1]], "line", ("message",))
    else:
        message = _beside(message, "row", ("message",))
    return message if parts == message.parts else replace(message, parts=parts)


def _beside(record: Any, key: str, names: tuple[str, ...]) -> Any:
    """A record that carries of its row none of these keys; of a message inside only its role."""
    beside = carried_by(record.extras, NAME).get(key, {})
    role = beside.get("message", {}).get("role") if "message" in names else None
    kept = omit(beside, *names)
    kept |= {"message": {"role": role}} if role is not None else {}
    return with_carried(record, NAME, key, kept)


def _bare_prompt(messages: list[Message]) -> list[Message]:
    """The row of the prompt has no place for what is said of a message."""
    if not messages or messages[0].role != "system":
        return messages
    bare = Message("system", messages[0].parts)
    return messages if messages[0] == bare and bare.parts else [*([bare] if bare.parts else ()), *messages[1:]]


NEW = numbered(new_uuid)


def _linked(transcript: Transcript) -> Transcript:
    """Every row has an id, a time and a parent: the one before it, or in a tree the one that it named before."""
    messages = transcript.messages
    starts = [k for k in range(len(messages)) if form.begins_row(messages, k)]
    rows = sessions.timed(NEW(Transcript([messages[k] for k in starts]))).messages
    is_tree = transcript.head is not None
    last: dict[str | None, int] = {}
    index: dict[str | None, int] = {}
    parents: list[int | None] = []
    for k, row in enumerate(rows):
        named = messages[starts[k]].id
        parents.append(index.get(row.parent_id) if is_tree and named is not None else last.get(row.parent_call_id))
        last[row.parent_call_id] = k
        index.setdefault(named, k)
    parents, head = form.settled(rows, parents)
    fitted = list(messages)
    for k, row, up in zip(starts, rows, parents, strict=True):
        parent = None if up is None else rows[up].id
        fitted[k] = row if row.parent_id == parent else replace(row, parent_id=parent)
    return replace(transcript, messages=shared(messages, fitted), head=head)


WITH_ID = with_session_id(write_session, is_uuid)


def _identified(transcript: Transcript) -> Transcript:
    """A session has an id in each of its rows. Without turns it is what its events say."""
    if any(message.role not in ("event", "system") for message in transcript.messages):
        return WITH_ID(transcript)
    rows = [sessions.row_of_event(message, NAME) for message in transcript.messages if message.role == "event"]
    said = form.usual(objects_in(rows))
    bare = replace(transcript, id=said.get("sessionId"), cwd=said.get("cwd"))
    if bare.id is not None or len(write_session(bare)) == len(rows):
        return transcript if bare == transcript else bare
    return WITH_ID(replace(bare, id=transcript.id))


FIT = fused(
    sessions.without_empty_directory,
    sessions.own_events(NAME, _is_taken_for_turn),
    sessions.latest_branch(lambda message: not form.is_hidden(message)),
    sessions.with_models,
    on_each_message(_summary),
    policy.leading_instructions,
    renaming(NAMES, IDS),
    on_messages(single_results),
    sessions.results_between_events,
    distinct_ids(IDS),
    on_messages(_no_entries),
    on_messages(_told_apart),
    on_each_message(_rooted),
    *policy.taken_parts(BLOCKS, roles=ROLES),
    on_each_message(_as_last_row),
    on_messages(_bare_prompt),
    on_each_message(_counted),
    functions_only(NAME),
    policy.typed_schemas(NAME),
    without("message.name", "message.provider", "message.weight", "message.label"),
    _linked,
    _identified,
)
