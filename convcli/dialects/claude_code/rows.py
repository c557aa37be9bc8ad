"""The rows of a session of Claude Code: what each is, what all of them say alike, and how they follow one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.families.anthropic import request
from convcli.families.anthropic.blocks import READERS, WRITERS, Blocks, kind_of
from convcli.families.anthropic.messages import Turns, joins_bare_results, lift_facts, write_facts
from convcli.kit.envelopes import REPLACES_ALL, Envelope
from convcli.kit.objects import Keys, Native, carried_by, omit
from convcli.kit.settings import Setting
from convcli.kit.usage import COST
from convcli.model.transcript import Message, Path, ToolCall, ToolResult

NAME = "claude-code"
ROLES = ("user", "assistant")
CALLER = "parent_tool_use_id"
LINKS = ("parentUuid", "logicalParentUuid")
USUAL = ("sessionId", "cwd", "version", "gitBranch", "userType", "entrypoint", "slug", "isSidechain")
"""Keys that nearly all rows of a session have with one value."""
ALWAYS: Native = {"isSidechain": False, "userType": "external"}
STREAM = {"session_id": "sessionId", "tool_use_result": "toolUseResult"}
"""Keys of a printed stream, and what they are called in a session."""
FIELDS: dict[str, str | Setting] = {
    "uuid": "id",
    "timestamp": "created_at",
    CALLER: "parent_call_id",
    "error": "error",
    "isCompactSummary": REPLACES_ALL,
    "costUSD": COST,
}
STATED = ("timestamp", "uuid", "costUSD", "error", "isCompactSummary")
"""What each row of an answer states of itself, though a message has one field for it."""
OF_ANSWER = (
    *("isSidechain", "agentId", "requestId", "requestRef", "requestedModel"),
    *("promptCacheRequested", "effort", "perTurnEffort", "madeBy"),
)
"""What all rows of an answer say alike."""
ROW = Envelope(
    f"parentUuid logicalParentUuid isSidechain {CALLER} promptId agentId type message isMeta isCompactSummary "
    "requestId costUSD error toolUseResult sourceToolAssistantUUID uuid timestamp userType entrypoint cwd sessionId "
    "version gitBranch slug",
    FIELDS,
    content="parentUuid logicalParentUuid type message",
)
SHAPE, SNAPSHOT, TITLE = "api-request-shape", "prompt_snapshot", "custom-title"
QUEUED = "queued_command"
"""The attachment with words that waited while the assistant worked: of the user, or of a task that ended."""
TITLES = {TITLE: "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Rows that title a session, by what counts most, and the key of the title."""


# ---------------------------------------------------------------- messages in rows


def _lift_facts(native: Native, message: Message, carried: Native) -> None:
    """The id of a message is that of an answer of the API: messages are told apart by those of their rows."""
    lift_facts(omit(native, "id"), message, carried)


def _write_facts(message: Message, carried: Native) -> Native:
    facts = write_facts(Message(message.role, [], model=message.model, **_spent(message)), carried)
    return {"type": "message", **facts} if message.role == "assistant" else facts


def _spent(message: Message) -> Native:
    return {"stop_reason": message.stop_reason, "usage": message.usage}


BLOCKS = Blocks(NAME, READERS, WRITERS)
TURNS = Turns(
    BLOCKS,
    Keys(
        "id type role model content stop_reason stop_sequence stop_details usage container context_management",
        carried="id type stop_sequence stop_details container context_management",
    ),
    _lift_facts,
    _write_facts,
    joins_bare_results,
)
ANSWERS = replace(TURNS, strings=False)


def is_turn(row: Any) -> bool:
    """Does the row hold a message that the program would read?"""
    if not isinstance(row, dict) or row.get("type") not in ROLES or not isinstance(row.get("message"), dict):
        return False
    content = row["message"].get("content")
    return isinstance(content, str) or (isinstance(content, list) and all(map(kind_of, content)))


def is_queued(row: Native) -> bool:
    """Is it a row of words that waited while the assistant worked?"""
    inner = row.get("attachment")
    return row["type"] == "user" and isinstance(inner, dict) and inner.get("type") == QUEUED


def begins_row(messages: Sequence[Message], index: int) -> bool:
    """Is it the first message of a row? Instructions stand in rows of another kind."""
    message = messages[index]
    if message.role in ("event", "system"):
        return False
    return not (index and joins_bare_results(message, messages[index - 1]))


def row_of(message: Message) -> Native:
    """What is carried of the first row of a message."""
    row: Native = carried_by(message.extras, NAME).get("row", {})
    return row


def is_aside(message: Message) -> bool:
    """Does it belong to the run of a subagent?"""
    return message.parent_call_id is not None or bool(row_of(message).get("isSidechain"))


def is_hidden(message: Message) -> bool:
    """Is it none of those with which a branch that is shown can end?"""
    row = row_of(message)
    return is_aside(message) or bool(row.get("isMeta") or row.get("teamName"))


def usual(rows: list[Native]) -> Native:
    """What most rows say under the keys that nearly all of them have."""
    said: Native = {}
    for key in USUAL:
        values = [row.get(key) for row in rows]
        if key == "isSidechain":  # a row without it is of the main path
            values = [value is True for row, value in zip(rows, values, strict=True) if not row.get(CALLER)]
        counts = Counter([value for value in values if value != "" and isinstance(value, (str, bool))])
        if counts:
            said[key] = counts.most_common(1)[0][0]
    return said


# ---------------------------------------------------------------- the branch that the program shows


def settled(messages: Sequence[Message], parents: list[int | None]) -> tuple[list[int | None], str | None]:
    """The parents of messages, by their indexes, and the head where they are more than one branch.

    The branch that is shown ends with the last message. Results of calls that were made side by side fork the chain:
    those that stand beside it are put back behind their turn.
    """
    if not messages:
        return parents, None
    leaf = next((k for k in reversed(range(len(messages))) if not is_hidden(messages[k])), len(messages) - 1)
    chain: dict[int, None] = {}
    at: int | None = leaf
    while at is not None and at not in chain:
        chain[at] = None
        at = parents[at]
    answered = {id_ for k in chain for id_ in _answers(messages[k])}
    beside = {k for k, parent in enumerate(parents) if _is_put_back(messages, k, parent, chain, answered)}
    line = sorted(chain.keys() | beside)
    parents = list(parents)
    for before, k in pairwise(line):
        parents[k] = before if before in beside or k in beside else parents[k]
    is_line = len(line) == len(messages) and all(parents[k] == before for before, k in pairwise(line))
    return parents, None if is_line else messages[leaf].id


def _answers(message: Message) -> list[str]:
    return [part.tool_call_id for part in message.parts if isinstance(part, ToolResult)]


def _is_put_back(
    messages: Sequence[Message], k: int, parent: int | None, chain: dict[int, None], answered: set[str]
) -> bool:
    if k in chain or parent not in chain or parent is None or is_aside(messages[k]):
        return False
    called = {part.id for part in messages[parent].parts if isinstance(part, ToolCall)}
    ids = _answers(messages[k])
    return bool(ids) and all(id_ in called and id_ not in answered for id_ in ids)


# ---------------------------------------------------------------- prompts and titles, which rows of their own state


class Prompt(NamedTuple):
    """The system text and the tools that a row states, and where, relative to the row."""

    path: Path
    system: list[Native]
    tools: list[Native] | None
    spots: list[Path]
    at: Path


def prompt_of(row: Any) -> Prompt | None:
    """What a row states of the request; None where it states nothing or in a way that we do not know."""
    inner = row.get("attachment" if row.get("type") == "attachment" else "shape") if isinstance(row, dict) else None
    if not isinstance(inner, dict):
        return None
    if row.get("type") == SHAPE:
        path, key, blocks = ("shape",), "system", inner.get("system") or []
        tools = inner.get("tools")
    elif row.get("type") == "attachment" and inner.get("type") == SNAPSHOT:
        path, key, texts = ("attachment",), "systemPrompt", inner.get("systemPrompt") or []
        blocks = [{"type": "text", "text": text} for text in texts] if isinstance(texts, list) else None
        tools = inner.get("tools")
        tools = [_schema_of(tool) for tool in tools] if isinstance(tools, list) else tools
    else:
        return None
    known = isinstance(blocks, list) and all(kind_of(b) == "text" and isinstance(b.get("text"), str) for b in blocks)
    if not known or not (tools is None or (isinstance(tools, list) and all(map(_is_tool, tools)))):
        return None
    return Prompt(path, blocks, tools, [(key, k) for k in range(len(blocks))], (*path, "tools"))


def _schema_of(tool: Any) -> Any:
    return tool["schema"] if isinstance(tool, dict) and isinstance(tool.get("schema"), dict) else tool


def _is_tool(tool: Any) -> bool:
    is_named = isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool.get("type") in (None, "custom")
    return is_named and isinstance(tool.get("input_schema"), dict) and isinstance(tool.get("description", ""), str)


def last_prompt(rows: Sequence[Any]) -> tuple[int, Prompt] | None:
    """The last statement of what is sent, else the last snapshot, with the index of its row."""
    stated = [(i, prompt) for i, row in enumerate(rows) if (prompt := prompt_of(row)) is not None]
    sent = [pair for pair in stated if pair[1].path == ("shape",)]
    return next(reversed(sent or stated), None)


def title_of(rows: Sequence[Any]) -> str | None:
    """The title that the program shows."""
    titles: dict[str, str] = {}
    for row in rows:
        kind = kind_of(row)
        title = row.get(TITLES[kind]) if kind in TITLES else None
        if title and isinstance(title, str):
            titles[kind] = title
    return next((titles[kind] for kind in TITLES if kind in titles), None)


def bare_rows(rows: Sequence[Any], session: Any) -> dict[str, int]:
    """The last statement of what is sent and the last title, by their kind, where they say nothing else."""
    found: dict[str, int] = {}
    last = {kind_of(row): i for i, row in enumerate(rows)}
    for kind, key in ((SHAPE, "shape"), (TITLE, TITLES[TITLE])):
        at = last.get(kind)
        if at is None or rows[at].keys() - {"sessionId"} != {"type", key} or rows[at].get("sessionId") != session:
            continue
        is_prompt = prompt_of(rows[at]) is not None and rows[at][key].keys() <= {"system", "tools"}
        if is_prompt or rows[at][key] == title_of(rows):
            found[kind] = at
    return found


def lift_tools(prompt: Prompt) -> list[Any] | None:
    """The definitions of a prompt."""
    return None if prompt.tools is None else [request.lift_tool(tool, NAME) for tool in prompt.tools]
