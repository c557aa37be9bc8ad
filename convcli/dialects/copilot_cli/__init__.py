"""Copilot CLI: the events of a session (`events.jsonl`), and what `--output-format json` prints.

Specification: the session events of github-copilot-sdk 1.0.27, and the program 1.0.102 itself, run with sessions and a
loopback model; read 2026-11-22.

Quirks
- A few row types form the model's context; about 120 others are events of the program.
- A result states whether its tool failed, and follows the end of the tool run. The row that starts a tool repeats its
  call.
- Token counts have rows of their own. So has file data, which results refer to.
- A compaction replaces all earlier messages by one message with the summary.
- `cost` in a usage record is a request multiplier, not dollars (generated types of github-copilot-sdk; read
  2026-11-23). It stays an extra.
- Every row has a UUID and names the row before it; otherwise the program reports a corrupted session.
- Printed output has ephemeral rows, which are parts of other rows. They become events.
- The file has no tools, and the program generates its instructions anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.copilot_cli.lifting import lift_session
from convcli.dialects.copilot_cli.parts import joined, picture_of
from convcli.dialects.copilot_cli.rows import (
    NAME,
    ROW,
    START,
    counts_of,
    is_message,
    records_in,
)
from convcli.dialects.copilot_cli.writing import write_session
from convcli.kit import custom, editors, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import keep_parts_of_roles, refusals_as_texts
from convcli.kit.grouping import on_rows
from convcli.kit.ids import is_uuid, new_uuid, number_messages, set_session_id
from convcli.kit.objects import get_extras
from convcli.kit.objects import objects_in as objects_in
from convcli.kit.passes import fused, on_each_message, on_parts
from convcli.kit.passes import on_messages as on_messages
from convcli.kit.renaming import Alphabet, make_ids_distinct
from convcli.kit.results import TEXT_AND_FILES, apply_convention, one_result_each, with_parts
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, SessionFacts
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Media, Message, Opaque, Part, ToolResult, Transcript
from convcli.validation.rules import arguments, links, turns
from convcli.validation.survey import Survey, for_requests


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    return lift_session(document, LiftContext(NAME, document))


def write(transcript: Transcript, _: Options) -> Any:
    """Returns the rows of a session."""
    return write_session(transcript)


# ---------------------------------------------------------------- fit

ROLES = {
    **dict.fromkeys(("reasoning", "tool_call"), ("assistant",)),
    **dict.fromkeys(("image", "audio", "video", "document"), ("user",)),
    "opaque": ("user", "event"),
}
ANSWER_FIELDS = ("model", "usage", "parent_call_id")


def _keep_own_parts(part: Part, _: Message) -> Part | None:
    """Keeps files that have data, and attachments of other kinds that come from this dialect."""
    if isinstance(part, Media):
        return picture_of(part, inside=False)
    if isinstance(part, Opaque):
        return part if part.dialect == NAME else None
    if isinstance(part, ToolResult):
        return with_parts(part, lambda one: picture_of(one, inside=True) if isinstance(one, Media) else one)
    return part


def _fit_summary(message: Message) -> Message:
    return sessions.summary(message, of_all=True)


def _keep_fields_of_role(transcript: Transcript) -> Transcript:
    """Keeps a model and token counts on assistant messages only; the message row itself has only output counts."""
    records = records_in(transcript)

    def keep_fields(message: Message) -> Message:
        if message.role == "event":
            return message
        gone = {"assistant": (), "tool": ANSWER_FIELDS[:2]}.get(message.role, ANSWER_FIELDS)
        stated: dict[str, Any] = {name: None for name in gone if getattr(message, name) is not None}
        stated |= {name: None for name in ("model", "parent_call_id") if getattr(message, name) == ""}
        if message.role == "assistant":
            output = {name: count for name, count in (message.usage or {}).items() if name == "outputTokens"}
            usage = {**counts_of(get_extras(message.extras, NAME), records), **output} or None
            stated |= {} if usage == message.usage else {"usage": usage}
        return replace(message, **stated) if stated else message

    return on_each_message(keep_fields)(transcript)


def _drop_other_ids(message: Message) -> Message:
    return message if message.id is None or is_uuid(message.id) else replace(message, id=None)


def _set_ids_and_times(transcript: Transcript) -> Transcript:
    """Gives each row a unique UUID and a time; events keep their own."""
    starts = [k for k, message in enumerate(transcript.messages) if message.role != "event"]
    return on_rows(transcript, starts, on_each_message(_drop_other_ids), number_messages(new_uuid), sessions.set_times)


def _read_back(transcript: Transcript) -> Transcript:
    return lift(write_session(transcript))


IDS = Alphabet("", "", 0)
"""Any string. Of two calls with the same id, the program treats the second as interrupted (tried with 1.0.102)."""
FIT = fused(
    sessions.keep_own_events(NAME, is_message),
    sessions.keep_active_branch,
    sessions.set_models_of_answers,
    one_result_each,
    refusals_as_texts,
    keep_parts_of_roles(ROLES),
    custom.calls,
    on_parts(_keep_own_parts, "image", "audio", "video", "document", "opaque", "tool_result"),
    apply_convention(TEXT_AND_FILES),
    on_each_message(_fit_summary),
    on_each_message(lambda message: message if message.role in ("tool", "event") else joined(message)),
    sessions.put_results_before_events,
    make_ids_distinct(IDS),
    _keep_fields_of_role,
    _set_ids_and_times,
    sessions.drop_empty_directory,
    set_session_id(lambda transcript: write_session(transcript), is_uuid),
    sessions.settle_extras(_read_back),
)

# ---------------------------------------------------------------- rules


def _can_be_resumed(survey: Survey) -> Iterator[Breach]:
    rows = survey.document
    first = rows[0] if rows and isinstance(rows[0], dict) else {}
    if first.get("type") != START:
        yield Breach("missing-key", NodeRef(), "a session can be resumed only if it begins with a session.start row")
    for i, row in enumerate(rows):
        is_known = isinstance(row, dict) and is_uuid(row.get("id"))
        if not is_known and isinstance(row, dict) and row.get("ephemeral") is not True:
            yield Breach("bad-item-id", NodeRef(steps=(i,)), "a session can be resumed only if each row id is a UUID")


def _place(facts: SessionFacts) -> str:
    """Returns the path of the session file; each session has a folder."""
    return f"session-state/{facts.id}/events.jsonl"


PROGRAM = Program(
    NAME,
    ".copilot",
    "session-state/*/events.jsonl",
    "COPILOT_HOME",
    _place,
    command="copilot --resume {id}",
    unsent=("system", "reasoning"),
)
TRANSCRIPTS = Program(
    "vscode-copilot", ".", editors.patterns("Code*", "workspaceStorage/*/GitHub.copilot-chat/transcripts/*.jsonl")
)
"""VS Code's extension keeps transcripts of its last sessions in the format of the CLI."""

PROGRAM_TURNS = ProgramTurns({}, NAME, {("isAutopilotContinuation",): {True: "autopilot"}})
"""Messages of the autopilot's loop: the key is in UserMessageData of github-copilot-sdk 1.0.27, read 2026-11-27; the
program's source is not public. What it adds to a user's text is apart, as `transformedContent`."""

SUPPORTS = TURNS | media(names="data mediaType name") | ROW.supports("message")
SUPPORTS |= fields(
    "id cwd createdAt message.model message.usage message.replaces message.parentCallId tool_call.custom "
    "tool_call.rawArguments"
)

DIALECT = Dialect(
    name=NAME,
    title="GitHub Copilot CLI",
    aliases=("copilot", "github-copilot"),
    specification="github-copilot-sdk 1.0.27 and copilot 1.0.102; read 2026-11-22",
    framings=("events",),
    forms=("session",),
    programs=(PROGRAM, TRANSCRIPTS),
    program_turns=PROGRAM_TURNS,
    lift=lift,
    fit=FIT,
    write=write,
    rules=(
        links.paired(links.PairingRules(where="later", missing=None)),
        turns.decodable(),
        arguments.readable(),
        for_requests(Rule(("missing-key", "bad-item-id"), _can_be_resumed)),
        turns.not_sent("GitHub Copilot CLI", PROGRAM.unsent),
    ),
    conventions=(TEXT_AND_FILES,),
    supports=SUPPORTS,
    repeats=frozenset(("/*/parentId",)),
    reasons={
        **sessions.REASONS,
        "id": "Copilot CLI session ids are UUIDs; this one is derived from the content",
        "createdAt": "a Copilot CLI session needs a start time: that of its first row, or 1970",
        "message.id": "Copilot CLI row ids are UUIDs",
        "message.model": "only assistant messages name their model in Copilot CLI",
        "message.usage": "a Copilot CLI assistant message has only its output count; other rows have the rest",
        "message.replaces": "a Copilot CLI summary replaces all earlier messages",
        "message.grouping": "a Copilot CLI message has one text",
        "text": "a Copilot CLI message has one text, and no empty part",
        **dict.fromkeys(("tool_call.id", "tool_result.toolCallId"), "Copilot CLI call ids are unique"),
        "reasoning": "a Copilot CLI assistant message has at most one thought, and no empty one",
        "opaque": "the part is specific to another vendor",
        **dict.fromkeys(
            ("image", "audio", "video", "document"),
            "Copilot CLI files need embedded data, and tool results accept only images",
        ),
    },
    places={
        **ROW.places("message", ".."),
        **paths(
            "id=0/data/sessionId cwd=0/data/context/cwd createdAt=0/data/startTime extras.row=.. extras.start=0 "
            "message.model=model "
            "message.usage.outputTokens=outputTokens message.parentCallId=parentToolCallId "
            "tool_call.id=toolCallId tool_result.toolCallId=toolCallId tool_result.value=result/content "
            "tool_result.kind=success tool_call.rawArguments=arguments tool_call.custom=type"
        ),
    },
    metadata=fields(
        "assistant.idle assistant.intent assistant.message_delta assistant.message_start assistant.reasoning "
        "assistant.reasoning_delta assistant.tool_call_delta assistant.turn_end assistant.turn_start "
        "assistant.usage hook.end hook.start model.call_final_result model.call_finished model.call_start "
        "permission.completed permission.requested result session.background_tasks_changed session.binary_asset "
        "session.compaction_complete session.compaction_start session.context_changed session.error session.idle "
        "session.info session.mcp_servers_loaded session.mode_changed session.model_change "
        "session.permissions_changed session.resume session.shutdown session.skills_loaded "
        "session.snapshot_rewind session.title_changed session.tools_updated session.truncation "
        "session.usage_info session.usage_record session.warning subagent.completed subagent.failed "
        "subagent.selected subagent.started tool.execution_partial_result tool.execution_progress "
        "tool.execution_start tool.shell_output"
    ),
    envelope=fields("row start messageId originatingMessageId interactionId turnId apiCallId rte toolTelemetry"),
)
