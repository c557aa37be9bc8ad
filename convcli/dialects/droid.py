"""Droid of Factory: sessions, whose messages have the blocks of Anthropic's API.

Specification: none is published. Sessions of versions 0.81 and 2; read 2026-11-22.

Quirks
- The first row says which session it is. Rows of messages name the row before them; the first may name the session.
- What the program tells the model by itself is words of the user. `visibility` says who sees a message.
- The signature of a thought may be the name of the key in which another service gave it: `signatureProvider` says
  whose it is, and only one of Anthropic is a signature.
- Neither instructions nor tools, models or counts are in the file.
"""

from __future__ import annotations

from typing import Any

from convcli.families.anthropic import places
from convcli.families.anthropic.blocks import READERS, WRITERS, Blocks, kind_of
from convcli.families.anthropic.messages import Turns
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, carried_by, extras_of
from convcli.kit.sessions import Envelope, add_event, head_of
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect, Program
from convcli.model.transcript import Message, Part, Reasoning, Transcript
from convcli.validation.rules import links, turns

NAME = "droid"
START, MESSAGE = "session_start", "message"
SIGNERS = ("anthropic", None)
HEADER = Envelope(
    "type id title sessionTitle owner version cwd hostId",
    {"id": "id", "sessionTitle": "title", "cwd": "cwd"},
    content="type",
)
ROW = Envelope(
    "type id timestamp message parentId",
    {"id": "id", "timestamp": "created_at", "parentId": "parent_id"},
    content="type message",
)


def _lift_thinking(blocks: Blocks, native: Native, context: LiftContext) -> Part | None:
    """A thought; what another service calls a signature is carried."""
    if native.get("signatureProvider") in SIGNERS:
        return READERS["thinking"](blocks, native, context)
    rest = {key: value for key, value in native.items() if key not in ("type", "thinking") and value is not None}
    return Reasoning(native.get("thinking") or "", extras=extras_of(blocks.owner, rest))


TURNS = Turns(Blocks(NAME, {**READERS, "thinking": _lift_thinking}, WRITERS))


def detect(document: Any) -> Clue | None:
    """By the first row of a session."""
    first = document[0] if isinstance(document, list) and document else None
    if not isinstance(first, dict) or first.get("type") != START or not isinstance(first.get("id"), str):
        return None
    return Clue(97, "a first row of the type session_start")


def lift(document: Any) -> Transcript:
    """The transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    for i, row in enumerate(document):
        if i == 0 and isinstance(row, dict) and row.get("type") == START:
            transcript.extras = extras_of(NAME, HEADER.lift(row, transcript))
            context.origin.routes = {(key,): (i, key) for key in row}
        elif _is_message(row):
            _lift_row(row, i, context)
        else:
            add_event(context, row, (i,))
    if transcript.title is None:
        transcript.title = carried_by(transcript.extras, NAME).get("title")
    transcript.head = head_of(_links(transcript.messages))
    return transcript


def _links(messages: list[Message]) -> list[tuple[str, str | None]]:
    """The ids of rows and of their parents; a row that names none follows the one before it."""
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
    beside = ROW.lift(row, message) or {}
    carried = {**carried_by(message.extras, NAME), **inner, **({"row": beside} if beside else {})}
    message.extras = extras_of(NAME, carried)


DIALECT = Dialect(
    name=NAME,
    title="Droid",
    aliases=("factory", "factory-droid"),
    specification="sessions of Droid 0.81 and of version 2; read 2026-11-22",
    framings=("events",),
    forms=("session",),
    programs=(Program(NAME, ".factory", "sessions/**/*.jsonl"),),
    detect=detect,
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), turns.decodable()),
    places={
        **places.PLACES,
        **paths(
            "id=0/id title=0/sessionTitle cwd=0/cwd message.id=../id message.parentId=../parentId "
            "message.createdAt=../timestamp extras.row=.. extras.messageId=id"
        ),
    },
    envelope=frozenset(("row", "owner", "version", "hostId", "messageId")),
)
