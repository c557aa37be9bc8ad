"""goose: exported sessions, and, only read, its database and the session files of its first versions.

Specification: the types `Session` and `Message` of block/goose (crates/goose/src/conversation/message.rs,
session/session_manager.rs, session/legacy.rs), and the program itself, 1.52, which was given sessions and a loopback
model; read 2026-11-23. Sessions are rows of a database, which is read as `goose session export --format json` prints
them; `goose session import` takes such a file, and gives it another id.

Quirks
- A result stands in a message of the user, and the result of a tool is that of the Model Context Protocol; older
  files have its list of contents alone, and `Ok` or `Err` where newer ones have a status.
- A call that the model wrote wrongly has an error in place of its name: its name is not known.
- `agentVisible` says whether the model still sees a message. A message that only the model sees, behind messages that
  it sees no more, is the summary of these.
- Only what a model of Anthropic signed is a signature.
- What the program tells or asks the user is an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.goose.fitting import FIT, RESULTS
from convcli.dialects.goose.lifting import BLOCKS, CONVERSATION, NAME, is_message, lift
from convcli.dialects.goose.writing import is_contents, write_session
from convcli.kit import lacking, sessions
from convcli.kit.objects import Native
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect, Options, Program, SessionFacts
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Part, ToolResult, Transcript
from convcli.validation.rules import links, turns
from convcli.validation.survey import Survey, for_outputs, for_requests


def detect(document: Any) -> Clue | None:
    """By messages with a time and blocks, in a session or behind the row that begins one."""
    if isinstance(document, dict) and "working_dir" in document and isinstance(document.get(CONVERSATION), list):
        messages = document[CONVERSATION]
        return Clue(97, "a conversation in a working_dir") if any(map(is_message, messages)) else None
    rows = document if isinstance(document, list) else []
    begins = bool(rows) and isinstance(rows[0], dict) and "working_dir" in rows[0] and "description" in rows[0]
    if begins and any(map(is_message, rows)):
        return Clue(97, "messages behind a row with a working_dir")
    asked = any(is_message(row) and any(str(block.get("type")) in BLOCKS for block in row["content"]) for row in rows)
    return Clue(95, "messages with requests to tools and their responses") if asked else None


def write(transcript: Transcript, _: Options) -> Any:
    """A session to import."""
    return write_session(transcript)


REQUIRED = ("id", "working_dir", "name", "created_at", "updated_at", "extension_data", "message_count")


def _unread(survey: Survey) -> Iterator[Breach]:
    if isinstance(survey.document, list):
        yield Breach("unread-row", NodeRef(steps=(0,)), "goose imports sessions only as it exports them")
        return
    for key in REQUIRED:
        if survey.document.get(key) is None:
            yield Breach("missing-key", NodeRef(), f"a session that is imported has {key}")
    for i, row in enumerate(survey.document[CONVERSATION]):
        if not (is_message(row) and isinstance(row.get("metadata"), dict)):
            yield Breach("unread-row", NodeRef(steps=(CONVERSATION, i)), "goose refuses a session with this message")
        elif i and _is_earlier(row, survey.document[CONVERSATION][i - 1]):
            yield Breach("unread-row", NodeRef(steps=(CONVERSATION, i)), "goose puts it where its time is", "warning")
    for called in survey.results:
        if called.result.kind == "data" and not is_contents(called.result.value):
            yield Breach("unread-row", called.at(), "goose refuses a session with this result")


def _is_sent(survey: Survey) -> Iterator[Breach]:
    for i in survey.active_indexes:
        if survey.messages[i].role != "assistant":
            return
        yield Breach(
            "unread-row", NodeRef(i), "goose does not send an answer before the first words of a user", "warning"
        )


def _is_earlier(row: Native, before: Any) -> bool:
    times = row["created"], before.get("created") if isinstance(before, dict) else None
    return type(times[0]) is type(times[1]) is int and times[0] < times[1]


def _place(facts: SessionFacts) -> str:
    """A file to import: the sessions themselves are in a database. The import prints the id that they get there."""
    return f"import/{facts.id}.json"


def _resent(part: Part) -> str | None:
    is_empty = isinstance(part, ToolResult) and part.kind in ("text", "error") and not part.value
    return 'results without a word as "(empty result)"' if is_empty else None


PROGRAM = Program(
    NAME,
    ".local/share/goose",
    "sessions/*.jsonl sessions/*.db import/*.json",
    place=_place,
    command="goose session --resume --session-id $(goose session import {path} | sed -n 's/ - .*//p')",
    resent=_resent,
)

HAS = lacking.fields("id title cwd createdAt updatedAt message.id message.createdAt")
LACKS = (lacking.AROUND_PARTS | lacking.METADATA) - HAS
LACKS |= lacking.CALL_ONLY | lacking.fields("reasoning.summary refusal.metadata audio video document")
LACKS -= lacking.fields("reasoning.metadata tool_call.metadata")

DIALECT = Dialect(
    name=NAME,
    title="goose",
    aliases=("block-goose",),
    specification="Session and Message of block/goose, goose 1.52; read 2026-11-23",
    framings=("document", "records", "events"),
    forms=("export",),
    programs=(PROGRAM,),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    conventions=(RESULTS,),
    lacks=LACKS,
    has=frozenset(("message.provider", "message.replaces")),
    rules=(
        for_requests(Rule(("missing-key", "unread-row"), _unread)),
        for_outputs(Rule(("unread-row",), _is_sent)),
        links.paired(links.PairingRules(where="later", missing=None)),
        turns.decodable(),
    ),
    reasons={
        **sessions.REASONS,
        **sessions.NOTHING_SENT,
        **dict.fromkeys(("message", "text"), "a session has no place for instructions of the system"),
        "event": "a session has messages only for events of its own",
        "message.model": "each answer names its model",
        "createdAt": "a session has a time: that of its first message, or 1970",
        "updatedAt": "a session has the time of its last message",
        "message.createdAt": "a message has a time in whole seconds: that of the one before it, or 1970",
        "message.replaces": "a summary stands for all that came before it",
        "head": "a session has one branch",
        **dict.fromkeys(
            ("tool_call.id", "tool_result.toolCallId"), "each id is used once: results of one id are sent together"
        ),
        "refusal": "a refusal is written as text",
        "image.mediaType": "an image has a media type",
        "image": "an image has its data",
        "metadata": "thinking has a signature of Anthropic's, and a call one of Google's",
    },
    places=paths(
        "title=name cwd=working_dir createdAt=created_at updatedAt=updated_at message.createdAt=created "
        "message.model=metadata/inference/requestedModel message.provider=metadata/inference/provider "
        "message.replaces=metadata tool_call.name=toolCall/value/name tool_call.arguments=toolCall/value/arguments "
        "tool_result.toolCallId=id tool_result.value=toolResult/value/content tool_result.kind=toolResult "
        "tool_result.isError=toolResult/value/isError image.mediaType=mimeType reasoning.text=thinking"
    ),
    envelope=frozenset(("metadata", "message_count", "extension_data", "outcome")),
)
