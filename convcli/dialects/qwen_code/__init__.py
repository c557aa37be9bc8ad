"""Qwen Code: sessions, a tree of rows whose messages have the parts of the Gemini API.

Specification: packages/core/src/services/{chatRecordingService,sessionService,session-api-history}.ts of
QwenLM/qwen-code, and the program itself, 0.24.4 and 0.15.10, which was given sessions and a loopback model; read
2026-11-23.

Quirks
- Rows are a tree by `uuid` and `parentUuid`, through those of the program too: the branch of the last row is active.
- An answer may have several rows with one `uuid`: they are one message.
- A result is a part of its row, and `toolCallResult` says whether it failed and what the screen showed.
- The row of a compaction holds all that the model sees from there on.
- What most rows say alike (session, directory, version) is said once, and by a row where it differs.
- The title is that of the last row that gives one.
- Neither tools nor instructions of the system are in the file. The program finds it by a UUID of version 1 to 5, in the
  folder of the directory that its first row names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import convcli.dialects.qwen_code.rows as rows
from convcli.dialects.qwen_code.fitting import FIT, SESSION_ID, is_silent
from convcli.dialects.qwen_code.lifting import lift
from convcli.dialects.qwen_code.rows import NAME, TYPES, is_message
from convcli.dialects.qwen_code.writing import write_session
from convcli.families.google.places import CONVENTIONS, LOSSES
from convcli.kit import lacking, sessions
from convcli.kit.objects import objects_in
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect, Options, Program, SessionFacts
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Transcript
from convcli.validation.rules import links, trees, turns
from convcli.validation.survey import Survey, for_requests


def detect(document: Any) -> Clue | None:
    """By rows that are linked and hold parts."""
    known = objects_in(document)
    if any("parentUuid" in row and (is_message(row) or rows.contents_of(row)) for row in known):
        return Clue(98, "rows with parts and a parentUuid")
    return None


def write(transcript: Transcript, _: Options) -> Any:
    """A session."""
    return write_session(transcript)


def _unread(survey: Survey) -> Iterator[Breach]:
    held = [(i, row) for i, row in enumerate(survey.document) if isinstance(row, dict)]
    if held and not SESSION_ID.fullmatch(survey.transcript.id or ""):
        problem = "the program finds a session by a UUID of version 1 to 5"
        yield Breach("unread-row", NodeRef(steps=(held[0][0],)), problem)
    for i, row in held:
        if not (row.get("uuid") and row.get("sessionId") and row.get("type") in (*TYPES, "system")):
            yield Breach("unread-row", NodeRef(steps=(i,)), "the program skips a row without its ids", "warning")
        elif row["sessionId"] != survey.transcript.id:
            yield Breach("unread-row", NodeRef(steps=(i,)), "the program refuses rows of several sessions")
        elif is_message(row) and row["message"].get("role") != rows.role_of(row["type"]):
            yield Breach("unread-row", NodeRef(steps=(i, "message")), "the program refuses or misreads this role")


def _is_sent(survey: Survey) -> Iterator[Breach]:
    for i in survey.active_indexes:
        message = survey.messages[i]
        if message.role == "assistant" and (not message.parts or any(map(is_silent, message.parts))):
            problem = "the program sends no answer of a turn in which one is empty"
            yield Breach("unread-row", NodeRef(i), problem, "warning")


RULES = (
    for_requests(Rule(("unread-row",), _unread)),
    for_requests(Rule(("unread-row",), _is_sent)),
    links.paired(links.PairingRules(where="later", missing=None, unique="request")),
    turns.parts_in_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    turns.results_in_roles("user"),
    turns.decodable(),
    trees.rooted(),
)


def _place(facts: SessionFacts) -> str:
    """The folder has the name of the directory where the program works."""
    return f"projects/{sessions.folder_of(facts)}/chats/{facts.id}.jsonl"


PROGRAM = Program(
    NAME, ".qwen", "*/*/chats/*.jsonl", "QWEN_HOME", _place, "qwen --resume {id}", fit=sessions.in_real_directory
)

LACKS = (
    (lacking.SESSION - {"id", "title", "cwd", "head"})
    | lacking.REQUEST
    | lacking.TOOLS
    | lacking.fields("message.name message.stopReason message.error reasoning.summary tool_call.rawArguments")
)

DIALECT = Dialect(
    name=NAME,
    title="Qwen Code",
    aliases=("qwen",),
    specification="QwenLM/qwen-code 0.24.4, the program and the source of its sessions; read 2026-11-23",
    framings=("events",),
    forms=("session",),
    programs=(PROGRAM,),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=RULES,
    conventions=CONVENTIONS,
    lacks=LACKS,
    has=lacking.fields("message.replaces"),
    repeats=frozenset(("/*/usageMetadata/candidatesTokenCount",)),
    reasons={
        **LOSSES,
        **sessions.REASONS,
        **sessions.NOTHING_SENT,
        "message": "instructions have no place in a session, and an empty answer makes the program leave out its turn",
        "text": "instructions have no place in a session, and an empty text makes the program leave out its turn",
        "id": "the id of a session is a UUID of version 1 to 5: it is made of the content",
        "cwd": "a session names the directory in which it ran",
        "createdAt": "the time of a session is that of its first row",
        "updatedAt": "the time of a session is that of its last row",
        "message.id": "every row has an id",
        "message.parentId": "every row names the row before it",
        "message.model": "each answer names its model",
        "message.usage": "a row has counts of tokens",
        "message.replaces": "a compaction replaces all that was before it",
        "message.stopReason": "an answer does not say why it stopped",
        "message.error": "an answer has no field for its failure",
        "tool_result.status": "a call is cancelled, failed or done",
        **dict.fromkeys(
            ("tool_call.id", "tool_result.toolCallId"), "each id is used once: the second call is not sent"
        ),
    },
    places=paths(
        "id=#sessionId/sessionId cwd=#cwd/cwd title=#custom_title/systemPayload/customTitle "
        "extras.session=#sessionId extras.row=.. extras.line=../../.. "
        "message.id=../uuid message.parentId=../parentUuid "
        "message.createdAt=../timestamp message.model=../model message.replaces=../subtype "
        "message.usage=../usageMetadata "
        "message.usage.inputTokens=../usageMetadata/promptTokenCount "
        "message.usage.outputTokens=../usageMetadata/candidatesTokenCount "
        "message.usage.reasoningTokens=../usageMetadata/thoughtsTokenCount "
        "message.usage.cacheReadTokens=../usageMetadata/cachedContentTokenCount "
        "message.usage.totalTokens=../usageMetadata/totalTokenCount "
        "tool_call.id=functionCall/id tool_call.name=functionCall/name tool_call.arguments=functionCall/args "
        "tool_result.toolCallId=functionResponse/id tool_result.name=functionResponse/name "
        "tool_result.value=functionResponse/response tool_result.kind=functionResponse/response "
        "tool_result.status=../../../toolCallResult/status"
    ),
    metadata=lacking.fields("system"),
    envelope=frozenset(("row", "line", "session")),
)
