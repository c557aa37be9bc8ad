"""OpenCode: what `opencode export` prints of a session, and `opencode import` takes; what it prints of a run is read.

Specification: the types of @opencode-ai/sdk 1.19.3, and the program opencode 1.18.33 itself, which was given sessions
and a loopback model; read 2026-11-22.

Quirks
- Messages and parts are in the order of their ids. The program drops keys that it does not know, without a word.
- A call and its result are one part. A call that was not finished is answered by the program: it was interrupted.
- Several answers follow one message of the user, each the work of one request to the model; they name that message.
- An answer with an error is not sent again, unless the error says that the answer was aborted and more than thinking
  came of it: that is how errors of others are written. Thinking of another model is sent as text.
- The user's message names the model that is asked. A model or a provider that nobody knows is `unknown`.
- Counts of input leave out what was cached; a count of zero is read as no count.
- Steps, snapshots and patches are parts that no model sees: they are carried with their message.
- Neither instructions nor tools are in the file.
- `opencode run --format json` prints the parts of answers, each in a row with its time, and not what was asked. Its
  `step_finish` has the counts, the cost and the end of an answer.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.opencode.events import IMPORTED, is_row, lift_events
from convcli.dialects.opencode.fitting import FIT
from convcli.dialects.opencode.messages import lift_session, write_session
from convcli.dialects.opencode.parts import NAME
from convcli.kit import lacking, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.results import TEXT_AND_FILES
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect, Options, Program, SessionFacts
from convcli.model.transcript import Transcript
from convcli.validation.rules import links, trees, turns
from convcli.validation.survey import limited_to


def detect(document: Any) -> Clue | None:
    """By messages with their parts, beside what is said of the session, or by rows with a part of a message."""
    if isinstance(document, list):
        return Clue(98, "rows with parts of messages") if any(map(is_row, document)) else None
    info = document.get("info") if isinstance(document, dict) else None
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(info, dict) or not isinstance(messages, list):
        return None
    if all(isinstance(one, dict) and "info" in one and "parts" in one for one in messages) and "id" in info:
        return Clue(98, "messages with parts, and a session beside them")
    return None


def lift(document: Any) -> Transcript:
    """The transcript of a session, or of a run that was printed."""
    if isinstance(document, list):
        return lift_events(document, LiftContext(NAME, document))
    return lift_session(document, LiftContext(NAME, document))


def write(transcript: Transcript, _: Options) -> Any:
    """A session."""
    return write_session(transcript)


def _place(facts: SessionFacts) -> str:
    """A file to import: the sessions themselves are in a database."""
    return f"import/{facts.id}.json"


PROGRAM = Program(
    NAME,
    ".local/share/opencode",
    "*.db import/*.json",
    place=_place,
    command="opencode import {path} && opencode --session {id}",
    resent=lambda part: "thinking as text, to another model than thought it" if part.type == "reasoning" else None,
)

HAS = lacking.fields(
    "id title cwd createdAt updatedAt message.id message.createdAt message.usage message.error message.stopReason"
)
LACKS = lacking.AROUND_PARTS - HAS
LACKS |= lacking.METADATA | lacking.CALL_ONLY | lacking.fields("reasoning.summary refusal.metadata")

DIALECT = Dialect(
    name=NAME,
    title="OpenCode",
    specification="@opencode-ai/sdk 1.19.3 and opencode 1.18.33; read 2026-11-22",
    framings=("document", "records", "events"),
    forms=("session",),
    programs=(PROGRAM,),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=(
        # a call holds its result, and no message names the one before it
        limited_to(links.paired(links.PairingRules(where="later", missing=None)), "duplicate-call-id"),
        limited_to(trees.rooted(mended=True), "duplicate-message-id"),
        turns.decodable(),
        IMPORTED,
    ),
    conventions=(TEXT_AND_FILES,),
    lacks=LACKS,
    has=lacking.fields("message.cost message.provider message.replaces"),
    repeats=frozenset(("/messages/*/info/tokens/input",)),
    reasons={
        **sessions.REASONS,
        **dict.fromkeys(("message", "text"), "OpenCode brings its own instructions"),
        "event": "a session has no rows beside its messages",
        "id": "the id of a session begins with ses: it is made of the content",
        "createdAt": "a session has a time: that of its first message, or 1970",
        "updatedAt": "a session has the time of its last message",
        "message.id": "ids begin with msg and ascend; a result has none",
        "message.createdAt": "every message has a time in milliseconds: that of the one before it, or 1970",
        "message.model": "only answers name their model",
        "message.usage": "answers have counts of tokens, which are not zero",
        "message.cost": "a cost of nothing is none",
        "message.stopReason": "an answer ended with stop, length, tool-calls, content-filter or error",
        "message.replaces": "a summary stands for all that came before it",
        "tool_result": "a call has one result, which stands in it",
        "tool_result.name": "a result stands in its call",
        **dict.fromkeys(
            ("image", "audio", "video", "document"), "files have a URL or data, in messages of the user and in results"
        ),
        "opaque": "the part belongs to another vendor",
    },
    places={
        **paths(
            "id=info/id title=info/title cwd=info/directory createdAt=info/time/created updatedAt=info/time/updated "
            "message.createdAt=time/created message.model=modelID message.provider=providerID message.usage=tokens "
            "message.stopReason=finish message.replaces=summary message.error=error/data/message "
            "message.usage.inputTokens=tokens/input message.usage.outputTokens=tokens/output "
            "message.usage.reasoningTokens=tokens/reasoning message.usage.totalTokens=tokens/total "
            "message.usage.cacheReadTokens=tokens/cache/read message.usage.cacheWriteTokens=tokens/cache/write "
            "tool_call.id=callID tool_call.name=tool tool_call.arguments=state/input "
            "tool_result.value=output tool_result.kind=status tool_result.toolCallId=../callID tool_result.name=../tool"
        ),
        "extras.session": ("info",),
        "extras.beside": ("..",),
        "extras.aside": ("..", "parts"),
    },
    metadata=lacking.fields("error step_finish step_start"),
    envelope=lacking.fields("row aside session tokens time agent mode path parentID model sessionID messageID id"),
)
