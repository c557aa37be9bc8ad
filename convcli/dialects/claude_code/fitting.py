"""What Claude Code accepts of any transcript, as passes: measured with `claude --resume` of 2.1.330 on 2026-11-22."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

import convcli.dialects.claude_code.rows as form
from convcli.dialects.claude_code.rows import BLOCKS, NAME
from convcli.dialects.claude_code.writing import write_session
from convcli.families.anthropic import policy
from convcli.families.anthropic.response import IDS, NAMES
from convcli.families.anthropic.usage import keep_supported_usage
from convcli.kit import sessions
from convcli.kit.fitting import keep_functions, without
from convcli.kit.ids import is_uuid, new_uuid, number_messages, set_session_id
from convcli.kit.objects import drop_extras, get_extras, objects_in, omit, set_extras
from convcli.kit.passes import fused, on_each_message, on_messages, shared
from convcli.kit.renaming import Renaming, call_ids, make_ids_distinct, rename_tools_and_ids, with_ids
from convcli.kit.results import one_result_each
from convcli.model.transcript import Message, Part, ToolCall, Transcript
from convcli.validation.rules.turns import INSTRUCTIONS
from convcli.wire.patterns import pattern

ROLES = {**policy.PARTS_IN_ROLES, "opaque": ("user", "assistant", "event")}


def _is_read_as_message(row: Any) -> bool:
    """True if Claude Code reads the row as a message. Broken rows and older copies would hide current ones."""
    return isinstance(row, dict) and row.get("type") in form.ROLES


def _fit_summary(message: Message) -> Message:
    """Turns a summary into a user message that replaces all earlier messages."""
    if message.replaces is None:
        return message
    role = "user" if message.role in INSTRUCTIONS else message.role
    same = role == message.role and message.replaces == "all"
    return message if same else replace(message, role=role, replaces="all")


def _keep_known_counts(message: Message) -> Message:
    """Keeps only the counts of Anthropic's API."""
    usage = keep_supported_usage(message.usage or {})
    return message if usage == message.usage else replace(message, usage=usage)


NUMBERED_ID = pattern("(.+)_([0-9]+)")


def _rename_numbered_ids(messages: list[Message]) -> list[Message]:
    """Renames call ids such as X_2.

    With X they would be entries of one call, of which only X keeps a result (2.1.330).
    """
    called = {part.id for message in messages for part in message.parts if isinstance(part, ToolCall)}
    entries = {id_: match for id_ in called if (match := NUMBERED_ID.fullmatch(id_)) and match[1] in called}
    if not entries:
        return messages
    ids = Renaming(call_ids(Transcript(messages)), IDS)
    return with_ids(messages, {id_: ids.another(f"{match[1]}-{match[2]}") for id_, match in sorted(entries.items())})


def _drop_repeated_answer_ids(messages: list[Message]) -> list[Message]:
    """Drops repeated answer ids: rows with one answer id are one answer."""
    seen: set[Any] = set()
    fitted: list[Message] = []
    for message in messages:
        id_ = get_extras(message.extras, NAME).get("id") if message.role == "assistant" else None
        is_other = id_ is not None and id_ in seen
        fitted.append(drop_extras(message, NAME, "id") if is_other else message)
        seen.add(id_)
    return shared(messages, fitted)


def _drop_broken_links(message: Message) -> Message:
    """Drops links to missing parents, which would cut what is sent."""
    fitted: Message = _without_row_keys(message, "row", form.LINKS)
    parts: list[Part] = [_without_row_keys(part, "line", form.LINKS) for part in message.parts]
    return fitted if parts == message.parts else replace(fitted, parts=parts)


def _move_facts_to_last_row(message: Message) -> Message:
    """Moves the facts of an answer to its last row; the first row is that of its first part."""
    lines = [k for k, part in enumerate(message.parts) if "line" in get_extras(part.extras, NAME)]
    parts = list(message.parts)
    if lines[:1] == [0]:
        parts[0] = drop_extras(parts[0], NAME, "line")
    if lines[-1:] > [0]:
        parts[lines[-1]] = _without_row_keys(parts[lines[-1]], "line", ("message",))
    else:
        message = _without_row_keys(message, "row", ("message",))
    return message if parts == message.parts else replace(message, parts=parts)


def _without_row_keys(record: Any, key: str, names: tuple[str, ...]) -> Any:
    """Returns the record without these keys in the extras of its row; of a nested message only the role is kept."""
    row_extras = get_extras(record.extras, NAME).get(key, {})
    role = row_extras.get("message", {}).get("role") if "message" in names else None
    kept = omit(row_extras, *names)
    kept |= {"message": {"role": role}} if role is not None else {}
    return set_extras(record, NAME, key, kept)


def _reduce_prompt(messages: list[Message]) -> list[Message]:
    """Reduces the prompt to its parts: its row has no fields for other facts of a message."""
    if not messages or messages[0].role != "system":
        return messages
    bare = Message("system", messages[0].parts)
    return messages if messages[0] == bare and bare.parts else [*([bare] if bare.parts else ()), *messages[1:]]


WITH_UUIDS = number_messages(new_uuid)


def _link_rows(transcript: Transcript) -> Transcript:
    """Gives every row an id, a time and a parent: the previous row, or in a tree the row that it named."""
    messages = transcript.messages
    starts = [k for k in range(len(messages)) if form.begins_row(messages, k)]
    rows = sessions.set_times(WITH_UUIDS(Transcript([messages[k] for k in starts]))).messages
    is_tree = transcript.head is not None
    last: dict[str | None, int] = {}
    index: dict[str | None, int] = {}
    parents: list[int | None] = []
    for k, row in enumerate(rows):
        stated_id = messages[starts[k]].id
        parents.append(index.get(row.parent_id) if is_tree and stated_id is not None else last.get(row.parent_call_id))
        last[row.parent_call_id] = k
        index.setdefault(stated_id, k)
    parents, head = form.settle_branches(rows, parents)
    fitted = list(messages)
    for k, row, parent_index in zip(starts, rows, parents, strict=True):
        parent = None if parent_index is None else rows[parent_index].id
        fitted[k] = row if row.parent_id == parent else replace(row, parent_id=parent)
    return replace(transcript, messages=shared(messages, fitted), head=head)


WITH_ID = set_session_id(write_session, is_uuid)


def _identify_session(transcript: Transcript) -> Transcript:
    """Gives the session an id. A session without messages keeps the id and directory that its events state."""
    if any(message.role not in ("event", "system") for message in transcript.messages):
        return WITH_ID(transcript)
    rows = [sessions.row_of_event(message, NAME) for message in transcript.messages if message.role == "event"]
    shared_values = form.usual(objects_in(rows))
    bare = replace(transcript, id=shared_values.get("sessionId"), cwd=shared_values.get("cwd"))
    if bare.id is not None or len(write_session(bare)) == len(rows):
        return transcript if bare == transcript else bare
    return WITH_ID(replace(bare, id=transcript.id))


FIT = fused(
    sessions.drop_empty_directory,
    sessions.keep_own_events(NAME, _is_read_as_message),
    sessions.keep_latest_branch(lambda message: not form.is_hidden(message)),
    sessions.set_models_of_answers,
    on_each_message(_fit_summary),
    policy.join_leading_instructions,
    rename_tools_and_ids(NAMES, IDS),
    one_result_each,
    sessions.put_results_before_events,
    make_ids_distinct(IDS),
    on_messages(_rename_numbered_ids),
    on_messages(_drop_repeated_answer_ids),
    on_each_message(_drop_broken_links),
    *policy.keep_supported_parts(BLOCKS, roles=ROLES),
    on_each_message(_move_facts_to_last_row),
    on_messages(_reduce_prompt),
    on_each_message(_keep_known_counts),
    keep_functions(NAME),
    policy.add_schema_types(NAME),
    without("message.name", "message.provider", "message.weight", "message.label"),
    _link_rows,
    _identify_session,
)
