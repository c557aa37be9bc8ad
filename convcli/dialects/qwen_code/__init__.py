"""Qwen Code: sessions, a tree of rows whose messages have Gemini API parts.

Specification: packages/core/src/services/{chatRecordingService,sessionService,session-api-history}.ts of
QwenLM/qwen-code, and the program itself, 0.24.4 and 0.15.10, tested with sessions and a loopback model; read
2026-11-23.

Quirks
- Rows are a tree by `uuid` and `parentUuid`, including the program's own rows: the branch of the last row is active.
- An answer may have several rows with one `uuid`: they are one message.
- A result is a part of its row, and `toolCallResult` has its status and what the screen showed.
- A compaction row has the model's whole context from there on.
- What most rows have in common (session, directory, version) is stored once, and by a row only if it differs.
- The title is that of the last row with one.
- The file has neither tools nor system instructions. The program finds it by a UUID of version 1 to 5, in the folder of
  the directory that its first row names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import convcli.dialects.qwen_code.rows as rows
from convcli.dialects.qwen_code.fitting import FIT, SESSION_ID, is_silent
from convcli.dialects.qwen_code.lifting import lift
from convcli.dialects.qwen_code.rows import NAME, ROW, TYPES, is_message
from convcli.dialects.qwen_code.writing import write_session
from convcli.families.google.config import COUNTS
from convcli.families.google.places import CONVENTIONS, LOSSES, OF_CALLS, OF_PARTS
from convcli.kit import sessions
from convcli.kit.supported import TURNS, counted, fields
from convcli.kit.values import paths, usage_places
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, SessionFacts, tags
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Transcript
from convcli.validation.rules import links, trees, turns
from convcli.validation.survey import Survey, for_requests


def write(transcript: Transcript, _: Options) -> Any:
    """Writes a session."""
    return write_session(transcript)


def _rows_read(survey: Survey) -> Iterator[Breach]:
    objects = [(i, row) for i, row in enumerate(survey.document) if isinstance(row, dict)]
    if objects and not SESSION_ID.fullmatch(survey.transcript.id or ""):
        problem = "Qwen Code requires a session id that is a UUID of version 1 to 5"
        yield Breach("unread-row", NodeRef(steps=(objects[0][0],)), problem)
    for i, row in objects:
        if not (row.get("uuid") and row.get("sessionId") and row.get("type") in (*TYPES, "system")):
            yield Breach("unread-row", NodeRef(steps=(i,)), "Qwen Code skips a row without its ids", "warning")
        elif row["sessionId"] != survey.transcript.id:
            yield Breach("unread-row", NodeRef(steps=(i,)), "Qwen Code rejects rows of several sessions")
        elif is_message(row) and row["message"].get("role") != rows.role_of(row["type"]):
            yield Breach("unread-row", NodeRef(steps=(i, "message")), "Qwen Code rejects or misreads this role")


def _answers_sent(survey: Survey) -> Iterator[Breach]:
    for i in survey.active_indexes:
        message = survey.messages[i]
        if message.role == "assistant" and (not message.parts or any(map(is_silent, message.parts))):
            problem = "Qwen Code sends no answer of a turn with an empty one"
            yield Breach("unread-row", NodeRef(i), problem, "warning")


RULES = (
    for_requests(Rule(("unread-row",), _rows_read)),
    for_requests(Rule(("unread-row",), _answers_sent)),
    links.paired(links.PairingRules(where="later", missing=None, unique="request")),
    turns.parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    turns.results_in_roles("user"),
    turns.decodable(),
    trees.rooted(),
)


def _place(facts: SessionFacts) -> str:
    """Returns the session's path, in the folder named after the working directory."""
    return f"projects/{sessions.folder_of(facts)}/chats/{facts.id}.jsonl"


PROGRAM = Program(
    NAME, ".qwen", "*/*/chats/*.jsonl", "QWEN_HOME", _place, "qwen --resume {id}", fit=sessions.resolve_directory
)


PROGRAM_TURNS = ProgramTurns(
    {
        **tags("system-reminder", "qwen:user-prompt-submit-context"),
        "This is the Qwen Code. We are setting up the context for our chat.": "session_context",
    },
    NAME,
    {("row", "subtype"): {"notification": "notification"}},
)
"""The environment and reminders (environmentContext.ts of QwenLM/qwen-code at 02abc17a, read 2026-11-27), the output of
hooks, and notices of background tasks (sessions of 0.21)."""

SUPPORTS = TURNS | OF_PARTS | ROW.supports("message") | counted(COUNTS)
SUPPORTS |= fields("id title cwd head message.replaces tool_result.name tool_result.isError tool_result.status")

DIALECT = Dialect(
    name=NAME,
    title="Qwen Code",
    aliases=("qwen",),
    specification="QwenLM/qwen-code 0.24.4, the program and the source of its sessions; read 2026-11-23",
    framings=("events",),
    forms=("session",),
    programs=(PROGRAM,),
    program_turns=PROGRAM_TURNS,
    lift=lift,
    fit=FIT,
    write=write,
    rules=RULES,
    conventions=CONVENTIONS,
    supports=SUPPORTS,
    repeats=frozenset(("/*/usageMetadata/candidatesTokenCount",)),
    reasons={
        **LOSSES,
        **sessions.REASONS,
        **sessions.NOTHING_SENT,
        "message": "a session has no instructions, and an empty answer makes Qwen Code omit its turn",
        "text": "a session has no instructions, and an empty text makes Qwen Code omit its turn",
        "id": "a session id is a UUID of version 1 to 5: it is derived from the content",
        "cwd": "a session names its working directory",
        "createdAt": "a session's creation time is that of its first row",
        "updatedAt": "a session's update time is that of its last row",
        "message.id": "every session row needs an id",
        "message.parentId": "every session row names its parent row",
        "message.model": "each answer names its model",
        "message.usage": "token counts belong to a row",
        "message.replaces": "a compaction replaces everything before it",
        "message.stopReason": "Qwen Code answers have no stop reason",
        "message.error": "Qwen Code answers have no error field",
        "tool_result.status": "Qwen Code has the call states cancelled, failed and done",
        **dict.fromkeys(
            ("tool_call.id", "tool_result.toolCallId"),
            "call ids must be unique: a second call with the same id is not sent",
        ),
    },
    places=ROW.places("message", "..")
    | paths(
        "id=#sessionId/sessionId cwd=#cwd/cwd title=#custom_title/systemPayload/customTitle "
        "extras.session=#sessionId extras.row=.. extras.line=../../.. "
        "message.replaces=../subtype tool_result.status=../../../toolCallResult/status"
    )
    | usage_places(COUNTS, "..", "usageMetadata")
    | OF_CALLS,
    metadata=fields("system"),
    envelope=frozenset(("row", "line", "session")),
)
