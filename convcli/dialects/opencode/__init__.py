"""OpenCode: sessions that `opencode export` prints and `opencode import` reads; printed runs are read-only.

Specification: the types of @opencode-ai/sdk 1.19.3, and the program opencode 1.18.33 itself, tested with sessions
and a loopback model; read 2026-11-22.

Quirks
- Messages and parts are in the order of their ids. The program silently drops unknown keys.
- A call and its result are one part. The program answers an unfinished call itself: it was interrupted.
- Several answers follow one user message, each from one request to the model; they name that message.
- An answer with an error is not sent again, unless the error says that the answer was aborted and it has more than
  thinking. Errors of other formats are written that way. Thinking of another model is sent as text.
- The user message names the requested model. An unknown model or provider is `unknown`.
- Input counts exclude cached tokens; a zero count is read as no count.
- Steps, snapshots and patches are parts outside of the model's context: they are kept as extras of their message.
- The file has neither instructions nor tools.
- `opencode run --format json` prints the parts of answers, each in a row with its time, but not the user messages. Its
  `step_finish` has the counts, the cost and the stop reason of an answer.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.opencode.events import IMPORTED, lift_events
from convcli.dialects.opencode.fitting import FIT
from convcli.dialects.opencode.messages import INFO, MESSAGES, TOKENS, lift_session, write_session
from convcli.dialects.opencode.parts import NAME
from convcli.kit import sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.results import TEXT_AND_FILES
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.values import paths, usage_places
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, SessionFacts, tags
from convcli.model.transcript import Transcript
from convcli.validation.rules import links, trees, turns
from convcli.validation.survey import limited_to


def lift(document: Any) -> Transcript:
    """Reads a session, or a printed run."""
    if isinstance(document, list):
        return lift_events(document, LiftContext(NAME, document))
    return lift_session(document, LiftContext(NAME, document))


def write(transcript: Transcript, _: Options) -> Any:
    """Writes a session."""
    return write_session(transcript)


def _place(facts: SessionFacts) -> str:
    """Returns the path of a file to import: the sessions themselves are in a database."""
    return f"import/{facts.id}.json"


PROGRAM = Program(
    NAME,
    ".local/share/opencode",
    "*.db import/*.json",
    place=_place,
    command="opencode import {path} && opencode --session {id}",
    resent=lambda part: "thinking as text, to a model other than its author" if part.type == "reasoning" else None,
)
KILO = Program("kilo", ".local/share/kilo", "kilo.db")
"""Kilo Code stores its sessions in OpenCode's database."""

ANSWER = MESSAGES["assistant"]

PROGRAM_TURNS = ProgramTurns(tags("system-reminder"), NAME, part_flag="synthetic")
"""Reminders of a mode: session/reminders.ts of anomalyco/opencode at 0bd96d2e, read 2026-11-27. Other synthetic texts
have the content of files that the user named, so they stay."""

SUPPORTS = TURNS | media(names="data url mediaType name") | INFO.supports() | ANSWER.supports("message")
SUPPORTS |= fields("createdAt updatedAt message.createdAt message.usage tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="OpenCode",
    specification="@opencode-ai/sdk 1.19.3 and opencode 1.18.33; read 2026-11-22",
    framings=("document", "records", "events"),
    forms=("session",),
    programs=(PROGRAM, KILO),
    program_turns=PROGRAM_TURNS,
    lift=lift,
    fit=FIT,
    write=write,
    rules=(
        # a call contains its result, and no message names its parent
        limited_to(links.paired(links.PairingRules(where="later", missing=None)), "duplicate-call-id"),
        limited_to(trees.rooted(fixed=True), "duplicate-message-id"),
        turns.decodable(),
        IMPORTED,
    ),
    conventions=(TEXT_AND_FILES,),
    supports=SUPPORTS,
    repeats=frozenset(("/messages/*/info/tokens/input",)),
    reasons={
        **sessions.REASONS,
        **dict.fromkeys(("message", "text"), "OpenCode supplies its own instructions"),
        "event": "an OpenCode session has no rows except messages",
        "id": "a session id begins with `ses`: it is derived from the content",
        "createdAt": "a session needs a time: that of its first message, or 1970",
        "updatedAt": "a session's update time is that of its last message",
        "message.id": "message ids begin with `msg` and ascend; a result has none",
        "message.createdAt": "every message needs a time in milliseconds: that of the message before it, or 1970",
        "message.model": "only answers name their model",
        "message.usage": "only answers have token counts; zero is no count",
        "message.cost": "a zero cost is not written",
        "message.stopReason": "OpenCode has the stop reasons stop, length, tool-calls, content-filter and error",
        "message.replaces": "a summary replaces everything before it",
        "tool_result": "a call contains its only result",
        "tool_result.name": "a result is part of its call",
        **dict.fromkeys(
            ("image", "audio", "video", "document"), "files need a URL or data, in user messages and tool results"
        ),
        "opaque": "the part belongs to another format",
    },
    places={
        **INFO.places("", "info"),
        **ANSWER.places("message"),
        **paths(
            "createdAt=info/time/created updatedAt=info/time/updated message.createdAt=time/created "
            "message.error=error/data/message "
            "tool_call.id=callID tool_call.name=tool tool_call.arguments=state/input "
            "tool_result.value=output tool_result.kind=status tool_result.toolCallId=../callID tool_result.name=../tool"
        ),
        **usage_places(TOKENS, "tokens"),
        "extras.session": ("info",),
        "extras.beside": ("..",),
        "extras.aside": ("..", "parts"),
    },
    content=fields("unlistedParts"),
    metadata=fields("error step_finish step_start"),
    envelope=fields("row aside session tokens time agent mode path parentID model sessionID messageID id"),
)
