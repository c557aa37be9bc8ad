"""Factory's Droid: sessions, whose messages have the blocks of Anthropic's API.

Specification: none is published. Source: sessions of versions 0.81 and 2, and the program itself, 0.225.2, run with
sessions and a loopback model; read 2026-11-23.

Quirks
- The first row identifies the session. Message rows name the row before them; the first may name the session.
- What the program itself adds for the model is user text. `visibility` states who sees a message.
- The signature of a thought may be the name of the key in which another service gave it. `signatureProvider` names the
  service, and only Anthropic's values are signatures.
- The file has no instructions, tools, models or token counts.
- The program resumes a file whose header has a title, an owner and version 2, and names no other host. It looks for
  the results of a turn in the one row after it.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.anthropic import policy, response
from convcli.families.anthropic.blocks import REASONS as OF_BLOCKS
from convcli.families.anthropic.blocks import Blocks, kind_of, usual_blocks
from convcli.families.anthropic.messages import Turns
from convcli.families.anthropic.response import IDS, NAMES
from convcli.kit import sessions
from convcli.kit.blocks import BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.fitting import settle_by_reading_back
from convcli.kit.grouping import are_of_user, begins, drop_subagent_runs, groups, on_rows
from convcli.kit.ids import chain_messages, new_uuid, set_session_id
from convcli.kit.objects import Native, add_extras, drop_extras, get_extras, make_extras, omit, without_nulls
from convcli.kit.passes import shared
from convcli.kit.renaming import make_ids_distinct, rename_tools_and_ids
from convcli.kit.results import one_result_each
from convcli.kit.sessions import (
    add_event,
    folder_of,
    head_of,
    keep_latest_branch,
    keep_own_events,
    put_results_before_events,
    resolve_directory,
    row_of_event,
    set_models_of_answers,
    set_times,
)
from convcli.kit.settings import whole
from convcli.kit.supported import TEXTS, fields
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, SessionFacts, tags
from convcli.model.document import Rows
from convcli.model.transcript import Message, Part, Reasoning, Transcript
from convcli.validation.rules import links, turns
from convcli.validation.survey import for_requests

NAME = "droid"
START, MESSAGE = "session_start", "message"
SIGNERS = ("anthropic", None)
DEFAULTS = {"owner": "unknown", "version": 2}
HEADER = Envelope("type= id=id title sessionTitle=title owner version cwd=cwd hostId")
ROW = Envelope("type= id=id timestamp=created_at message= parentId=parent_id")


def _is_signed_elsewhere(part: Reasoning) -> bool:
    return get_extras(part.extras, NAME).get("signatureProvider") not in SIGNERS


FOREIGN = BlockRows(NAME, "type").record(
    "thinking", Reasoning(""), "type thinking signature", {"thinking": whole("text")}, _is_signed_elsewhere
)
"""A thought that another service signed, whose signature is an extra."""


def _lift_foreign(native: Native, context: LiftContext) -> Part | None:
    return None if native.get("signatureProvider") in SIGNERS else FOREIGN.read(native, context)


ROLES = {**policy.PARTS_IN_ROLES, "opaque": ("user", "assistant", "event"), "reasoning": ("assistant",)}
BLOCKS = Blocks(NAME, replace(FOREIGN, read=_lift_foreign), *usual_blocks(NAME))
TURNS = Turns(BLOCKS)


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    for i, row in enumerate(document):
        if i == 0 and isinstance(row, dict) and row.get("type") == START:
            transcript.extras = make_extras(NAME, HEADER.lift(row, transcript))
            context.origin.routes = {(key,): (i, key) for key in row}
        elif _is_message(row):
            _lift_row(row, i, context)
        else:
            add_event(context, row, (i,))
    _settle(transcript)
    transcript.head = head_of(_links(transcript.messages))
    return transcript


def _settle(transcript: Transcript) -> None:
    """Sets the title: the user's, else the one taken from the first message. Removes extras with default values."""
    extra = get_extras(transcript.extras, NAME)
    transcript.title = transcript.title or extra.get("title")
    usual = {**DEFAULTS, "title": transcript.title}
    transcript.extras = make_extras(NAME, {key: value for key, value in extra.items() if usual.get(key) != value})


def _links(messages: list[Message]) -> list[tuple[str, str | None]]:
    """Returns the ids of rows and of their parents. The parent defaults to the row before."""
    rows = [message for message in messages if message.id is not None]
    before = [None, *(row.id for row in rows)]
    return [(str(row.id), row.parent_id or last) for row, last in zip(rows, before, strict=False)]


def _is_message(row: Any) -> bool:
    message = row.get("message") if isinstance(row, dict) and row.get("type") == MESSAGE else None
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        return False
    content = message.get("content")
    return isinstance(content, str) or (isinstance(content, list) and all(map(kind_of, content)))


def _lift_row(row: Native, i: int, context: LiftContext) -> None:
    start = len(context.messages)
    TURNS.lift(row["message"], (i, "message"), context)
    message = context.messages[start]
    inner = {} if message.id is None else {"messageId": message.id}
    row_keys = ROW.lift(row, message)
    add_extras(message, NAME, inner, row=row_keys)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, _: Options) -> Any:
    """Returns the rows of a session."""
    extra = {**DEFAULTS, "title": transcript.title or "", **get_extras(transcript.extras, NAME)}
    header = HEADER.write(transcript, extra, type=START)
    header = header if extra["title"] != transcript.title else omit(header, "sessionTitle")
    rows = [_write_row(group) for group in groups(transcript.messages, _continues)]
    return Rows([without_nulls(header), *rows])


def _continues(message: Message, before: Message, first: Message) -> bool:
    is_known = first.id is not None or message.role == "tool"
    return is_known and message == Message(message.role, message.parts) and are_of_user(before, message)


def _write_row(group: list[Message]) -> Any:
    first = group[0]
    if first.role == "event":
        return row_of_event(first, NAME)
    extra = dict(get_extras(first.extras, NAME))
    row, id_ = extra.pop("row", {}), extra.pop("messageId", None)
    role = "assistant" if first.role == "assistant" else "user"
    content = TURNS.blocks.write_all([part for message in group for part in message.parts])
    message = TURNS.envelope.write(replace(first, id=id_), extra, role=role, content=content)
    return ROW.write(first, row, type=MESSAGE, message=message)


# ---------------------------------------------------------------- fit


def _join_results(transcript: Transcript) -> Transcript:
    """Joins the results of a turn, since the program looks for them in one row; their own row fields are dropped."""
    owner: dict[str | None, str | None] = {}
    fitted: list[Message] = []
    first: Message | None = None
    for message in transcript.messages:
        parent = owner.get(message.parent_id, message.parent_id)
        message = message if parent == message.parent_id else replace(message, parent_id=parent)
        if message.role == "tool" and first is not None and first.role == "tool":
            owner |= {message.id: first.id} if message.id is not None else {}
            message = Message(message.role, message.parts)
        else:
            first = message
        fitted.append(message)
    return replace(transcript, messages=shared(transcript.messages, fitted))


def _link_rows(transcript: Transcript) -> Transcript:
    """Gives each message that starts a row an id, a time and a parent."""
    messages = transcript.messages
    starts = [k for k in begins(messages, _continues) if messages[k].role != "event"]
    return on_rows(replace(transcript, created_at=None), starts, chain_messages(new_uuid), set_times)


FIT = (
    drop_subagent_runs,
    keep_latest_branch(),
    keep_own_events(NAME, _is_message),
    sessions.drop_instructions,
    one_result_each,
    put_results_before_events,
    _join_results,
    rename_tools_and_ids(NAMES, IDS),
    make_ids_distinct(IDS),
    set_models_of_answers,
    *policy.keep_supported_parts(
        TURNS.blocks, roles=ROLES, text=lambda text: text, reasoning=lambda reasoning: reasoning
    ),
    _link_rows,
    set_session_id(lambda transcript: write(transcript, Options())),
    settle_by_reading_back(lift, write, "session"),
)


def _place(facts: SessionFacts) -> str:
    """Returns the path of the session file, in a folder named after the working directory."""
    return f"sessions/{folder_of(facts)}/{facts.id}.jsonl"


def _of_this_machine(transcript: Transcript) -> Transcript:
    """Removes host and version: the program does not read a file with another host or an older version, but asks its
    service for the session."""
    return drop_extras(resolve_directory(transcript), NAME, "hostId", "version")


PROGRAM = Program(
    NAME, ".factory", "sessions/**/*.jsonl", place=_place, command="droid --resume {id}", fit=_of_this_machine
)

PROGRAM_TURNS = ProgramTurns(tags("system-reminder"), NAME, {("visibility",): {"llm_only": "llm_only"}})
"""Reminders, and messages only for the model: a recorded session of June 2026."""

SUPPORTS = TEXTS | BLOCKS.supports() | HEADER.supports() | ROW.supports("message")
SUPPORTS |= fields("message.model message.stopReason message.usage tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="Droid",
    aliases=("factory", "factory-droid"),
    specification="sessions of Droid 0.81 and of version 2, Droid 0.225.2; read 2026-11-23",
    framings=("events",),
    forms=("session",),
    programs=(PROGRAM,),
    program_turns=PROGRAM_TURNS,
    lift=lift,
    fit=FIT,
    write=write,
    supports=SUPPORTS,
    reasons={
        **OF_BLOCKS,
        **sessions.REASONS,
        **sessions.NOTHING_SENT,
        **dict.fromkeys(("message", "text"), "Droid sessions do not store system instructions"),
        "message.id": "every Droid row has an id, and the results of a turn share one",
        "message.parentId": "every Droid row names the row before it",
    },
    conventions=(policy.results_of(TURNS.blocks),),
    rules=(
        links.paired(links.PairingRules(where="later", missing=None)),
        for_requests(links.paired(links.PairingRules(where="next", together=True, unique="request", missing=None))),
        turns.decodable(),
    ),
    places={
        **BLOCKS.places(),
        **response.PLACES,
        **HEADER.places("", "0"),
        **ROW.places("message", ".."),
        **paths("extras.row=.. extras.messageId=id"),
    },
    metadata=fields("chatCompletionReasoningContent compaction_state session_end todo_state"),
    envelope=frozenset(("row", "owner", "version", "hostId", "messageId")),
)
