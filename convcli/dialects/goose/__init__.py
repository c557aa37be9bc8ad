"""goose: exported sessions, and (read-only) its database and the session files of its first versions.

Specification: the types `Session` and `Message` of block/goose (crates/goose/src/conversation/message.rs,
session/session_manager.rs, session/legacy.rs), and the program itself, 1.52, run with sessions and a loopback model;
read 2026-11-23. Sessions are rows of a database, which convcli reads as `goose session export --format json` prints
them. `goose session import` reads such a file, and gives the session another id.

Quirks
- A tool result is in a user message, in the form of the Model Context Protocol. Older files have only its list of
  contents, and `Ok` or `Err` instead of a status.
- An invalid call of the model has an error instead of its name, which is then unknown.
- `agentVisible` states whether the model still sees a message. A message that only the model sees, after messages that
  it no longer sees, is their summary.
- Only signatures of Anthropic's models count as signatures.
- Notices and questions of the program to the user are events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.goose.fitting import FIT, RESULTS
from convcli.dialects.goose.lifting import CONVERSATION, MESSAGE, NAME, SESSION, is_message, lift
from convcli.dialects.goose.writing import is_contents, write_session
from convcli.kit import sessions
from convcli.kit.objects import Native
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, SessionFacts
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Part, ToolResult, Transcript
from convcli.validation.rules import links, turns
from convcli.validation.survey import Survey, for_outputs, for_requests


def write(transcript: Transcript, _: Options) -> Any:
    """Returns a session to import."""
    return write_session(transcript)


REQUIRED = ("id", "working_dir", "name", "created_at", "updated_at", "extension_data", "message_count")


def _find_import_errors(survey: Survey) -> Iterator[Breach]:
    if isinstance(survey.document, list):
        yield Breach("unread-row", NodeRef(steps=(0,)), "goose imports only sessions in its export format")
        return
    for key in REQUIRED:
        if survey.document.get(key) is None:
            yield Breach("missing-key", NodeRef(), f"goose requires `{key}` to import a session")
    for i, row in enumerate(survey.document[CONVERSATION]):
        if not (is_message(row) and isinstance(row.get("metadata"), dict)):
            yield Breach("unread-row", NodeRef(steps=(CONVERSATION, i)), "goose rejects a session with this message")
        elif i and _is_earlier(row, survey.document[CONVERSATION][i - 1]):
            yield Breach(
                "unread-row",
                NodeRef(steps=(CONVERSATION, i)),
                "goose sorts messages by time and moves this one",
                "warning",
            )
    for called in survey.results:
        if called.result.kind == "data" and not is_contents(called.result.value):
            yield Breach("unread-row", called.at(), "goose rejects a session with this result")


def _find_unsent_answers(survey: Survey) -> Iterator[Breach]:
    for i in survey.active_indexes:
        if survey.messages[i].role != "assistant":
            return
        yield Breach("unread-row", NodeRef(i), "goose does not send an answer before the first user message", "warning")


def _is_earlier(row: Native, before: Any) -> bool:
    times = row["created"], before.get("created") if isinstance(before, dict) else None
    return type(times[0]) is type(times[1]) is int and times[0] < times[1]


def _place(facts: SessionFacts) -> str:
    """Returns the path of a file to import: sessions are in a database, and the import prints the id they get."""
    return f"import/{facts.id}.json"


def _describe_resent(part: Part) -> str | None:
    is_empty = isinstance(part, ToolResult) and part.kind in ("text", "error") and not part.value
    return 'empty results as "(empty result)"' if is_empty else None


PROGRAM = Program(
    NAME,
    ".local/share/goose",
    "sessions/*.jsonl sessions/*.db import/*.json",
    place=_place,
    command="goose session --resume --session-id $(goose session import {path} | sed -n 's/ - .*//p')",
    resent=_describe_resent,
)


PROGRAM_TURNS = ProgramTurns({}, NAME, {("metadata", "userVisible"): {False: "agent-only"}})
"""Messages only for the model, such as hints of a directory: MessageMetadata::agent_only of block/goose, seen in
excerpts of the source on 2026-11-27. A summary stays."""

SUPPORTS = TURNS | media("image", "data mediaType") | SESSION.supports() | MESSAGE.supports("message")
SUPPORTS |= fields(
    "message.model message.provider message.replaces reasoning.metadata tool_call.metadata tool_result.name "
    "tool_result.isError"
)

DIALECT = Dialect(
    name=NAME,
    title="goose",
    aliases=("block-goose",),
    specification="Session and Message of block/goose, goose 1.52; read 2026-11-23",
    framings=("document", "records", "events"),
    forms=("export",),
    programs=(PROGRAM,),
    program_turns=PROGRAM_TURNS,
    lift=lift,
    fit=FIT,
    write=write,
    conventions=(RESULTS,),
    supports=SUPPORTS,
    rules=(
        for_requests(Rule(("missing-key", "unread-row"), _find_import_errors)),
        for_outputs(Rule(("unread-row",), _find_unsent_answers)),
        links.paired(links.PairingRules(where="later", missing=None)),
        turns.decodable(),
    ),
    reasons={
        **sessions.REASONS,
        **sessions.NOTHING_SENT,
        **dict.fromkeys(("message", "text"), "goose sessions do not store system instructions"),
        "event": "goose sessions store only goose's own events",
        "message.model": "goose names the model on each answer",
        "createdAt": "a goose session needs a start time: that of its first message, or 1970",
        "updatedAt": "a goose session needs an update time: that of its last message",
        "message.createdAt": "a goose message needs a time in whole seconds: that of the one before it, or 1970",
        "message.replaces": "a goose summary replaces all earlier messages",
        "head": "goose sessions have one branch",
        **dict.fromkeys(
            ("tool_call.id", "tool_result.toolCallId"),
            "goose needs unique call ids: it sends results of the same id together",
        ),
        "refusal": "goose has no refusals: they are written as text",
        "image.mediaType": "goose images need a media type",
        "image": "goose images need embedded data",
        "metadata": "goose stores only Anthropic's signatures of thoughts and Google's signatures of calls",
    },
    places=SESSION.places()
    | MESSAGE.places("message")
    | paths(
        "message.model=metadata/inference/requestedModel message.provider=metadata/inference/provider "
        "message.replaces=metadata tool_call.name=toolCall/value/name tool_call.arguments=toolCall/value/arguments "
        "tool_result.toolCallId=id tool_result.value=toolResult/value/content tool_result.kind=toolResult "
        "tool_result.isError=toolResult/value/isError image.mediaType=mimeType reasoning.text=thinking"
    ),
    envelope=frozenset(("metadata", "message_count", "extension_data", "outcome")),
)
