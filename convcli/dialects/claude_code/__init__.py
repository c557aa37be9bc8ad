"""Claude Code: sessions (JSONL), what `--output-format stream-json` prints, and the log lines of the web.

Specification: none is published. The sessions module of the Python package claude-agent-sdk 0.2.187, and the program
2.1.330 itself, which was given sessions and a loopback model; read 2026-11-22.

Quirks
- A session is one document of many rows; those of users and the assistant hold messages of Anthropic's API. An answer
  has a row for each block, with one `message.id` and the same usage in all of them. A row that is written twice counts
  where it stands last.
- Rows are a tree by `uuid` and `parentUuid`, through events too. Results of calls that are made side by side fork it:
  they are put back. What is shown is the branch whose end comes last; a compaction cuts what is sent, not what is kept.
- A run of a subagent has rows with `isSidechain`. They name no call: its prompt is the first message of the run. Where
  it has a file of its own (`agent-ID.jsonl`), the file beside that (`.meta.json`) names the call and the task.
- The system text and the tools stand in `api-request-shape`, before that in an attachment; older builds kept neither.
- What most rows say alike (version, branch of git) is said once of the session, and by a row where it differs.
- `toolUseResult` is a result once more, as the screen shows it.
"""

from __future__ import annotations

import os
from functools import reduce
from typing import Any

from msgspec.structs import replace

from convcli.dialects.claude_code.fitting import FIT
from convcli.dialects.claude_code.lifting import FIRST, HERE, TITLE, lift
from convcli.dialects.claude_code.rows import BLOCKS, CALLER, NAME, ROLES
from convcli.dialects.claude_code.rules import RULES
from convcli.dialects.claude_code.writing import write_session
from convcli.families.anthropic import places, policy
from convcli.kit import lacking, sessions
from convcli.kit.objects import Record, carried_by, objects_in, omit, with_carried
from convcli.kit.sessions import folder_of
from convcli.model.dialect import Clue, Dialect, Options, Program, SessionFacts
from convcli.model.transcript import Part, ToolCall, Transcript

MARKS = {
    "summary": ("leafUuid",),
    "api-request-shape": ("shape",),
    "custom-title": ("customTitle",),
    "file-history-snapshot": ("snapshot",),
    "queue-operation": ("operation",),
    "attachment": ("attachment", "parentUuid"),
    "progress": ("parentUuid", "data"),
}
"""Rows that are no turns, by the keys that they have."""


def detect(document: Any) -> Clue | None:
    """By the links of rows that hold messages, by the first row of a stream, or by rows of other kinds."""
    rows = document.get("loglines") if isinstance(document, dict) else document
    natives = objects_in(rows)
    turns_ = [row for row in natives if row.get("type") in ROLES and isinstance(row.get("message"), dict)]
    if any("parentUuid" in row and "content" in row["message"] for row in turns_):
        return Clue(98, "rows with a message and a parentUuid")
    if any(row.get("type") == "system" and "session_id" in row and row.get("subtype") == "init" for row in natives):
        return Clue(97, "the first row of a stream")
    if any({"sessionId", "session_id"} & row.keys() and "content" in row["message"] for row in turns_):
        return Clue(95, "rows with a message and a session")
    if any("content" in row["message"] for row in turns_):
        return Clue(85, "rows of a type that hold a message")
    kinds = [(row, MARKS.get(str(row.get("type")))) for row in natives]
    marked = any(keys is not None and row.keys() >= set(keys) for row, keys in kinds)
    return Clue(80, "rows of kinds that only Claude Code has") if marked else None


LONGEST_NAME = 200


def _place(facts: SessionFacts) -> str:
    """The folder has the name of the directory where the program works; long ones are cut, and told apart by a hash."""
    name = folder_of(facts)
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}-{_hash(os.path.realpath(facts.cwd))}"
    return f"projects/{name}/{facts.id}.jsonl"


def _hash(text: str) -> str:
    """The program's own: that of strings in Java, without a sign, in base 36."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    number = reduce(lambda so_far, unit: (so_far * 31 + unit) & 0xFFFFFFFF, units, 0)
    number = min(number, 2**32 - number)
    digits = ""
    while number or not digits:
        number, rest = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits


RENAMED = {
    "Task": "Agent",
    **dict.fromkeys(("KillShell", "KillBash"), "TaskStop"),
    "ListPeers": "ListAgents",
    "Brief": "SendUserMessage",
    "ListMcpResources": "ListMcpResourcesTool",
    "ReadMcpResource": "ReadMcpResourceTool",
    "ReadMcpResourceDir": "ReadMcpResourceDirTool",
    "ProposeGoal": "SetGoal",
}
"""Tools of earlier versions, which 2.1.330 sends under the names that they have there."""


def _resent(part: Part) -> str | None:
    name = part.name if isinstance(part, ToolCall) else None
    return f"calls of {name} as calls of {RENAMED[name]}" if name in RENAMED else None


def _of_main_path(transcript: Transcript) -> Transcript:
    """What an agent did can be resumed as a session of its own, whose rows are not beside another one."""
    messages = [_without_agent(message, "row") for message in transcript.messages]
    return replace(_without_agent(transcript, "session"), messages=messages)


def _without_agent(record: Record, key: str) -> Record:
    inner = omit(carried_by(record.extras, NAME).get(key, {}), "isSidechain", "agentId")
    return with_carried(record, NAME, key, inner)


PROGRAM = Program(
    NAME,
    ".claude",
    "projects/*/*.jsonl",
    "CLAUDE_CONFIG_DIR",
    _place,
    "claude --resume {id}",
    unsent=("system",),
    resent=_resent,
    fit=_of_main_path,
)


def write(transcript: Transcript, _: Options) -> Any:
    """A session."""
    return write_session(transcript)


LACKS = (places.LACKS | lacking.SESSION | lacking.REQUEST | lacking.FUNCTION_ONLY - {"tool.strict"}) - lacking.fields(
    "id title cwd head"
) | lacking.fields("message.name")

DIALECT = Dialect(
    name=NAME,
    title="Claude Code",
    specification="sessions of Claude Code 2.1.330, claude-agent-sdk 0.2.187; read 2026-11-22",
    framings=("events", "document"),
    beside=".meta.json",
    forms=("session",),
    programs=(PROGRAM,),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=RULES,
    conventions=(policy.results_of(BLOCKS),),
    lacks=LACKS,
    has=lacking.fields("message.cost message.replaces message.parentCallId"),
    repeats=frozenset(("/*/message/usage/input_tokens", "/loglines/*/message/usage/input_tokens")),
    reasons={
        **places.REASONS,
        **sessions.REASONS,
        **sessions.NO_REQUEST,
        "reasoning": "the API that the program asks takes back only thinking that Anthropic signed",
        "message.role": "a session has the roles user and assistant, and one system text",
        "message.grouping": "a session has one system text",
        "message.id": "every row has an id, and the prompt has none",
        "message.parentId": "every row names the row before it, and the prompt names none",
        "message.createdAt": "every row has a time, that of the row before it or 1970; the prompt has none",
        "message.replaces": "a compaction replaces all that was before it",
        "message.usage": "counts are those of Anthropic's API",
        "id": "the id of a session is a UUID: it is made of the content",
        "createdAt": "the time of a session is that of its first row",
        "updatedAt": "the time of a session is that of its last row",
        "tool.parameters": "a tool has a schema with a type",
        "tool": "a tool that another vendor runs",
        **dict.fromkeys(("image", "document", "audio", "video"), "media are those of Anthropic's API"),
        **dict.fromkeys(("tool_call.id", "tool_result.toolCallId"), "ids are letters, digits, _ and -, each used once"),
        **dict.fromkeys(("tool.name", "tool_call.name"), "names are letters, digits, _ and -, at most 128"),
    },
    places={
        **places.PLACES,
        "id": (HERE, FIRST, "sessionId"),
        "cwd": (HERE, FIRST, "cwd"),
        "title": (HERE, TITLE, "customTitle"),
        "extras.session": (HERE, FIRST),
        "extras.row": ("..",),
        "extras.line": ("..", "..", ".."),
        "message.id": ("..", "uuid"),
        "message.parentId": ("..", "parentUuid"),
        "message.createdAt": ("..", "timestamp"),
        "message.replaces": ("..", "isCompactSummary"),
        "message.cost": ("..", "costUSD"),
        "message.error": ("..", "error"),
        "message.parentCallId": ("..", CALLER),
    },
    metadata=lacking.fields(
        "agent-name ai-title api-request api-request-blob api-request-shape atis-latch cost-state custom-title "
        "file-history-snapshot last-prompt mode permission-mode pr-link progress queue-operation result summary "
        "system toolUseResult tools-used attachment/agent_listing_delta attachment/auto_mode "
        "attachment/companion_intro attachment/date attachment/deferred_tools_delta attachment/environment "
        "attachment/model attachment/prompt_snapshot attachment/remote_session_change attachment/session_context "
        "attachment/skill_listing"
    ),
    envelope=frozenset(("row", "line", "session", "agent", "id", "stop_sequence", *places.ENVELOPE)),
)
