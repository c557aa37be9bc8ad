"""Claude Code: sessions (JSONL), the output of `--output-format stream-json`, and the log lines of the web version.

Specification: none is published. The sessions module of the Python package claude-agent-sdk 0.2.187, and the program
2.1.330 itself, which was given sessions and a loopback model; read 2026-11-22.

Quirks
- A session is one document of many rows. User and assistant rows have messages of Anthropic's API. An answer has a row
  for each block, all with one `message.id` and the same usage. Of a repeated row only the last copy counts.
- Rows are a tree by `uuid` and `parentUuid`, which also passes through events. Results of parallel calls fork the tree;
  convcli puts them back in line. Claude Code displays the branch that ends last. A compaction cuts what is sent to the
  model, not what is kept.
- A subagent run has rows with `isSidechain`, which name no call: its first message is the prompt of the call. If it has
  a file of its own (`agent-ID.jsonl`), the file next to it (`.meta.json`) names the call and the task.
- The system text and the tools are in `api-request-shape`, in earlier builds in an attachment, and in older builds
  nowhere.
- Values that most rows share (version, git branch) are kept once for the session, and by each row that differs.
- `toolUseResult` is a copy of the result as it is displayed.
"""

from __future__ import annotations

import os
from functools import reduce
from typing import Any

from msgspec.structs import replace

from convcli.dialects.claude_code.fitting import FIT
from convcli.dialects.claude_code.lifting import FIRST, HERE, TITLE, lift
from convcli.dialects.claude_code.rows import BLOCKS, NAME, ROW
from convcli.dialects.claude_code.rules import RULES
from convcli.dialects.claude_code.writing import write_session
from convcli.families.anthropic import policy, response
from convcli.families.anthropic.blocks import REASONS as OF_BLOCKS
from convcli.kit import sessions
from convcli.kit.objects import Record, get_extras, omit, set_extras
from convcli.kit.sessions import folder_of
from convcli.kit.supported import TEXTS, TOOLS, fields
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, SessionFacts, tags
from convcli.model.transcript import Part, ToolCall, Transcript
from convcli.validation.rules import turns

MAX_NAME_LENGTH = 200


def _place(facts: SessionFacts) -> str:
    """Returns the path of a session. Its folder is named after the working directory; long names are cut and get a
    hash."""
    name = folder_of(facts)
    if len(name) > MAX_NAME_LENGTH:
        name = f"{name[:MAX_NAME_LENGTH]}-{_hash(os.path.realpath(facts.cwd))}"
    return f"projects/{name}/{facts.id}.jsonl"


def _hash(text: str) -> str:
    """Returns the hash of Claude Code: Java's string hash, without sign, in base 36."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    number = reduce(lambda hash_value, unit: (hash_value * 31 + unit) & 0xFFFFFFFF, units, 0)
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
"""Tools of earlier versions, by the name under which 2.1.330 sends them."""


def _resent(part: Part) -> str | None:
    name = part.name if isinstance(part, ToolCall) else None
    return f"calls of {name} as calls of {RENAMED[name]}" if name in RENAMED else None


def _detach_subagent(transcript: Transcript) -> Transcript:
    """Turns a subagent's run into a session of its own, which can be resumed."""
    messages = [_without_agent(message, "row") for message in transcript.messages]
    return replace(_without_agent(transcript, "session"), messages=messages)


def _without_agent(record: Record, key: str) -> Record:
    inner = omit(get_extras(record.extras, NAME).get(key, {}), "isSidechain", "agentId")
    return set_extras(record, NAME, key, inner)


PROGRAM = Program(
    NAME,
    ".claude",
    "projects/*/*.jsonl projects/*/*/subagents/**/agent-*.jsonl",
    "CLAUDE_CONFIG_DIR",
    _place,
    "claude --resume {id}",
    unsent=("system",),
    resent=_resent,
    fit=_detach_subagent,
)


def write(transcript: Transcript, _: Options) -> Any:
    """Returns the rows of a session."""
    return write_session(transcript)


PROGRAM_TURNS = ProgramTurns(
    {
        **tags("command-name", "command-message", "local-command-caveat", "local-command-stdout"),
        **tags("local-command-stderr", "bash-input", "bash-stdout", "bash-stderr", "system-reminder"),
        **tags("task-notification"),
        "Caveat: The messages below were generated by the user while running local commands": "local-command-caveat",
    },
    NAME,
    {("row", "isMeta"): {True: "meta"}},
)
"""Texts of slash commands, shell commands, reminders and notices in sessions of 1.0 to 2.1.330."""


SUPPORTS = TEXTS | BLOCKS.supports() | ROW.supports("message") | TOOLS
SUPPORTS |= fields("id title cwd head tool.strict message.parentId message.model message.stopReason message.usage")

DIALECT = Dialect(
    name=NAME,
    title="Claude Code",
    specification="sessions of Claude Code 2.1.330, claude-agent-sdk 0.2.187; read 2026-11-22",
    framings=("events", "document"),
    companion=".meta.json",
    forms=("session",),
    programs=(PROGRAM,),
    program_turns=PROGRAM_TURNS,
    lift=lift,
    fit=FIT,
    write=write,
    rules=(*RULES, turns.not_sent("Claude Code", PROGRAM.unsent)),
    conventions=(policy.results_of(BLOCKS),),
    supports=SUPPORTS,
    repeats=frozenset(("/*/message/usage/input_tokens", "/loglines/*/message/usage/input_tokens")),
    reasons={
        **OF_BLOCKS,
        **sessions.REASONS,
        **sessions.NO_REQUEST,
        "reasoning": "Anthropic's API, which Claude Code calls, accepts only thinking that Anthropic signed",
        "message.role": "Claude Code has the roles user and assistant, and one system text",
        "message.grouping": "Claude Code has one system text",
        "message.id": "Claude Code requires an id for every row, and has none for the prompt",
        "message.parentId": "Claude Code requires a parent for every row, and has none for the prompt",
        "message.createdAt": (
            "Claude Code requires a time for every row (the previous row's, or 1970), and has none for the prompt"
        ),
        "message.replaces": "a Claude Code compaction replaces all earlier messages",
        "message.usage": "Claude Code has only the counts of Anthropic's API",
        "id": "a Claude Code session id is a UUID; this one was derived from the content",
        "createdAt": "Claude Code has no session time: it is that of the first row",
        "updatedAt": "Claude Code has no session time: it is that of the last row",
        "tool.parameters": "Claude Code requires a schema with a type",
        "tool": "only another vendor can run this tool",
        **dict.fromkeys(("image", "document", "audio", "video"), "Claude Code supports only media of Anthropic's API"),
        **dict.fromkeys(
            ("tool_call.id", "tool_result.toolCallId"), "Anthropic ids are letters, digits, _ and -, each used once"
        ),
        **dict.fromkeys(("tool.name", "tool_call.name"), "Anthropic names are at most 128 letters, digits, _ and -"),
    },
    places={
        **BLOCKS.places(),
        **response.PLACES,
        "id": (HERE, FIRST, "sessionId"),
        "cwd": (HERE, FIRST, "cwd"),
        "title": (HERE, TITLE, "customTitle"),
        "extras.session": (HERE, FIRST),
        "extras.row": ("..",),
        "extras.line": ("..", "..", ".."),
        "message.parentId": ("..", "parentUuid"),
        **ROW.places("message", ".."),
    },
    metadata=fields(
        "agent-name ai-title api-request api-request-blob api-request-shape atis-latch cost-state custom-title "
        "file-history-snapshot last-prompt mode permission-mode pr-link progress queue-operation result summary "
        "system toolUseResult tools-used attachment/agent_listing_delta attachment/auto_mode "
        "attachment/companion_intro attachment/date attachment/deferred_tools_delta attachment/environment "
        "attachment/model attachment/prompt_snapshot attachment/remote_session_change attachment/session_context "
        "attachment/skill_listing"
    ),
    envelope=frozenset(("row", "line", "session", "agent", "id", "stop_sequence", *response.ENVELOPE)),
)
