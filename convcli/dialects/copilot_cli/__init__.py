"""Copilot CLI: the events of a session (`events.jsonl`), and what `--output-format json` prints.

Specification: the session events of github-copilot-sdk 1.0.27, and the program 1.0.102 itself, which was given sessions
and a loopback model; read 2026-11-22.

Quirks
- Rows of a few types hold what a model sees; about 120 others are events of the program.
- A result says whether its tool failed, and stands where the tool was done. The start of a tool repeats its call.
- Counts of tokens stand in rows of their own, and so do the bytes of files, to which results refer.
- A compaction replaces all before it by a message with the summary.
- `cost` in a record of usage is a multiplier of requests, not dollars (generated types of github-copilot-sdk; read
  2026-11-23): it stays where it is.
- Every row has a UUID and names the row before it; without them the program says that the session is corrupted.
- What is printed has rows that are ephemeral: parts of other rows, which are carried as events.
- The tools are not in the file, and the program makes its instructions anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.copilot_cli.lifting import lift_session
from convcli.dialects.copilot_cli.parts import joined, picture_of
from convcli.dialects.copilot_cli.rows import (
    ANSWER,
    NAME,
    START,
    counts_of,
    is_message,
    records_in,
)
from convcli.dialects.copilot_cli.writing import write_session
from convcli.kit import custom, lacking, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import parts_in_roles, refusals_as_texts
from convcli.kit.grouping import on_rows
from convcli.kit.ids import is_uuid, new_uuid, numbered, with_session_id
from convcli.kit.objects import carried_by, objects_in
from convcli.kit.passes import fused, on_each_message, on_messages, on_parts
from convcli.kit.renaming import Alphabet, distinct_ids
from convcli.kit.results import TEXT_AND_FILES, expressed, single_results, with_parts
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect, Options, Program, SessionFacts
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Media, Message, Opaque, Part, ToolResult, Transcript
from convcli.validation.rules import arguments, links, turns
from convcli.validation.survey import Survey, for_requests


def detect(document: Any) -> Clue | None:
    """By the first row of a session, or by answers of the program."""
    found = [row for row in objects_in(document) if isinstance(row.get("data"), dict)]
    if any(row.get("type") == START and "copilotVersion" in row["data"] for row in found):
        return Clue(99, "the version of Copilot in the first row")
    if any(row.get("type") == ANSWER and "messageId" in row["data"] for row in found):
        return Clue(95, "answers in rows with data")
    has_turn = any(is_message(row) and {"id", "parentId"} <= row.keys() for row in found)
    return Clue(80, "rows with data, an id and a parent") if has_turn else None


def lift(document: Any) -> Transcript:
    """The transcript of a session."""
    return lift_session(document, LiftContext(NAME, document))


def write(transcript: Transcript, _: Options) -> Any:
    """A session."""
    return write_session(transcript)


# ---------------------------------------------------------------- fit

ROLES = {
    **dict.fromkeys(("reasoning", "tool_call"), ("assistant",)),
    **dict.fromkeys(("image", "audio", "video", "document"), ("user",)),
    "opaque": ("user", "event"),
}
OF_ANSWERS = ("model", "usage", "parent_call_id")


def _own_part(part: Part, _: Message) -> Part | None:
    """Files have their data, and attachments of other kinds are our own."""
    if isinstance(part, Media):
        return picture_of(part, inside=False)
    if isinstance(part, Opaque):
        return part if part.dialect == NAME else None
    if isinstance(part, ToolResult):
        return with_parts(part, lambda one: picture_of(one, inside=True) if isinstance(one, Media) else one)
    return part


def _summary(message: Message) -> Message:
    return sessions.summary(message, of_all=True)


def _of_role(transcript: Transcript) -> Transcript:
    """Only answers have a model and counts, of which only those of the output stand in their row."""
    records = records_in(transcript)

    def fits(message: Message) -> Message:
        if message.role == "event":
            return message
        gone = {"assistant": (), "tool": OF_ANSWERS[:2]}.get(message.role, OF_ANSWERS)
        stated: dict[str, Any] = {name: None for name in gone if getattr(message, name) is not None}
        stated |= {name: None for name in ("model", "parent_call_id") if getattr(message, name) == ""}
        if message.role == "assistant":
            output = {name: count for name, count in (message.usage or {}).items() if name == "outputTokens"}
            usage = {**counts_of(carried_by(message.extras, NAME), records), **output} or None
            stated |= {} if usage == message.usage else {"usage": usage}
        return replace(message, **stated) if stated else message

    return on_each_message(fits)(transcript)


def _only_uuid(message: Message) -> Message:
    return message if message.id is None or is_uuid(message.id) else replace(message, id=None)


def _stated(transcript: Transcript) -> Transcript:
    """Every row has a UUID that no other has, and a time; those of events are their own."""
    starts = [k for k, message in enumerate(transcript.messages) if message.role != "event"]
    return on_rows(transcript, starts, on_each_message(_only_uuid), numbered(new_uuid), sessions.timed)


def _again(transcript: Transcript) -> Transcript:
    return lift(write_session(transcript))


IDS = Alphabet("", "", 0)
"""Any text; of two calls with one id the second is taken for one that was interrupted (tried with 1.0.102)."""
FIT = fused(
    sessions.own_events(NAME, is_message),
    sessions.active_branch,
    sessions.with_models,
    on_messages(single_results),
    refusals_as_texts,
    parts_in_roles(ROLES),
    custom.calls,
    on_parts(_own_part, "image", "audio", "video", "document", "opaque", "tool_result"),
    expressed(TEXT_AND_FILES),
    on_each_message(_summary),
    on_each_message(lambda message: message if message.role in ("tool", "event") else joined(message)),
    sessions.results_between_events,
    distinct_ids(IDS),
    _of_role,
    _stated,
    sessions.without_empty_directory,
    with_session_id(lambda transcript: write_session(transcript), is_uuid),
    sessions.settled(_again),
)

# ---------------------------------------------------------------- rules


def _can_be_resumed(survey: Survey) -> Iterator[Breach]:
    rows = survey.document
    first = rows[0] if rows and isinstance(rows[0], dict) else {}
    if first.get("type") != START:
        yield Breach("missing-key", NodeRef(), "a session that is resumed begins with a row session.start")
    for i, row in enumerate(rows):
        is_known = isinstance(row, dict) and is_uuid(row.get("id"))
        if not is_known and isinstance(row, dict) and row.get("ephemeral") is not True:
            yield Breach("bad-item-id", NodeRef(steps=(i,)), "a row of a session that is resumed has a UUID as its id")


def _place(facts: SessionFacts) -> str:
    """A folder for each session."""
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
HAS = lacking.fields("id cwd createdAt message.id message.createdAt message.usage")
LACKS = lacking.AROUND_PARTS - HAS
LACKS |= lacking.METADATA | lacking.fields(
    "reasoning.summary refusal.metadata tool_result.status tool_result.name image.detail"
)

DIALECT = Dialect(
    name=NAME,
    title="GitHub Copilot CLI",
    aliases=("copilot", "github-copilot"),
    specification="github-copilot-sdk 1.0.27 and copilot 1.0.102; read 2026-11-22",
    framings=("events",),
    forms=("session",),
    programs=(PROGRAM,),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=(
        links.paired(links.PairingRules(where="later", missing=None)),
        turns.decodable(),
        arguments.readable(),
        for_requests(Rule(("missing-key", "bad-item-id"), _can_be_resumed)),
    ),
    conventions=(TEXT_AND_FILES,),
    lacks=LACKS,
    has=lacking.fields("message.replaces message.parentCallId tool_call.custom"),
    repeats=frozenset(("/*/parentId",)),
    reasons={
        **sessions.REASONS,
        "id": "the id of a session is a UUID: it is made of the content",
        "createdAt": "a session has a time: that of its first row, or 1970",
        "message.id": "the id of a row is a UUID",
        "message.model": "only answers name their model",
        "message.usage": "an answer has the count of its output, others stand in rows of the program",
        "message.replaces": "a summary stands for all that came before it",
        "message.grouping": "a message has one text",
        "text": "a message has one text, and no empty one",
        **dict.fromkeys(("tool_call.id", "tool_result.toolCallId"), "an id is that of one call"),
        "reasoning": "an answer has one thought, and no empty one",
        "opaque": "the part belongs to another vendor",
        **dict.fromkeys(("image", "audio", "video", "document"), "files have their data; results have only pictures"),
    },
    places={
        **paths(
            "id=0/data/sessionId cwd=0/data/context/cwd createdAt=0/data/startTime extras.row=.. extras.start=0 "
            "message.id=../id message.createdAt=../timestamp message.model=model "
            "message.usage.outputTokens=outputTokens message.parentCallId=parentToolCallId "
            "tool_call.id=toolCallId tool_result.toolCallId=toolCallId tool_result.value=result/content "
            "tool_result.kind=success tool_call.rawArguments=arguments tool_call.custom=type"
        ),
    },
    metadata=lacking.fields(
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
    envelope=lacking.fields(
        "row start messageId originatingMessageId interactionId turnId apiCallId rte toolTelemetry"
    ),
)
