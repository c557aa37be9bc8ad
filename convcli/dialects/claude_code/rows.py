"""The rows of a Claude Code session: their kinds, the values they share, and how they follow one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise, repeat
from typing import Any, NamedTuple

from convcli.families.anthropic import request
from convcli.families.anthropic.blocks import Blocks, kind_of, usual_blocks
from convcli.families.anthropic.messages import Turns, envelope, joins_bare_results
from convcli.kit.envelopes import REPLACES_ALL, Envelope
from convcli.kit.objects import Native, get_extras
from convcli.kit.usage import COST
from convcli.model.transcript import Message, Path, ToolCall, ToolResult

NAME = "claude-code"
ROLES = ("user", "assistant")
CALLER = "parent_tool_use_id"
LINKS = ("parentUuid", "logicalParentUuid")
USUAL = ("sessionId", "cwd", "version", "gitBranch", "userType", "entrypoint", "slug", "isSidechain")
"""Keys that have one value in nearly all rows of a session."""
ALWAYS: Native = {"isSidechain": False, "userType": "external"}
STREAM = {"session_id": "sessionId", "tool_use_result": "toolUseResult"}
"""Keys of a printed stream, and their names in a session."""
STATED = ("timestamp", "uuid", "costUSD", "error", "isCompactSummary")
"""Keys that each row of an answer states for itself, although a message has one field for it."""
OF_ANSWER = (
    *("isSidechain", "agentId", "requestId", "requestRef", "requestedModel"),
    *("promptCacheRequested", "effort", "perTurnEffort", "madeBy"),
)
"""Keys that all rows of an answer share."""
ROW = Envelope(
    f"parentUuid= logicalParentUuid= isSidechain {CALLER}=parent_call_id promptId agentId type= message= isMeta "
    "isCompactSummary requestId costUSD error=error toolUseResult sourceToolAssistantUUID uuid=id timestamp=created_at "
    "userType entrypoint cwd sessionId version gitBranch slug",
    {"isCompactSummary": REPLACES_ALL, "costUSD": COST},
)
SHAPE, SNAPSHOT, TITLE = "api-request-shape", "prompt_snapshot", "custom-title"
QUEUED = "queued_command"
"""The attachment for a message that was queued while the assistant worked: of the user, or of a task that ended."""
TITLES = {TITLE: "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Rows that title a session, by priority, and the key of the title."""


# ---------------------------------------------------------------- messages in rows


BLOCKS = Blocks(NAME, *usual_blocks(NAME))
MESSAGE = envelope(
    "id type role= model=model content= stop_reason stop_sequence stop_details usage container context_management"
)
"""A message has an id, but convcli identifies messages by the ids of their rows."""
TURNS = Turns(BLOCKS, MESSAGE, joins_bare_results)
ANSWERS = Turns(BLOCKS, MESSAGE, joins_bare_results, strings=False, constants={"type": "message"})


def is_turn(row: Any) -> bool:
    """True if the row has a message that Claude Code would read."""
    if not isinstance(row, dict) or row.get("type") not in ROLES or not isinstance(row.get("message"), dict):
        return False
    content = row["message"].get("content")
    return isinstance(content, str) or (isinstance(content, list) and all(map(kind_of, content)))


def is_queued(row: Native) -> bool:
    """True for the row of a message that was queued while the assistant worked."""
    inner = row.get("attachment")
    return row["type"] == "user" and isinstance(inner, dict) and inner.get("type") == QUEUED


def begins_row(messages: Sequence[Message], index: int) -> bool:
    """True for the first message of a row. Instructions are in rows of another kind."""
    message = messages[index]
    if message.role in ("event", "system"):
        return False
    return not (index and joins_bare_results(message, messages[index - 1]))


def row_of(message: Message) -> Native:
    """Returns the extras of a message's first row."""
    row: Native = get_extras(message.extras, NAME).get("row", {})
    return row


def is_aside(message: Message) -> bool:
    """True if the message belongs to the run of a subagent."""
    if message.extras is None:  # most messages
        return message.parent_call_id is not None
    return message.parent_call_id is not None or bool(row_of(message).get("isSidechain"))


def is_hidden(message: Message) -> bool:
    """True if the message cannot end a displayed branch."""
    row = row_of(message)
    return is_aside(message) or bool(row.get("isMeta") or row.get("teamName"))


def usual(rows: list[Native]) -> Native:
    """Returns the most frequent values of the keys that nearly all rows have."""
    values_by_key: Native = {}
    for key in USUAL:
        values = list(map(dict.get, rows, repeat(key)))
        if key == "isSidechain":  # a row without it is on the main path
            callers = map(dict.get, rows, repeat(CALLER))
            values = [value is True for value, caller in zip(values, callers, strict=True) if not caller]
        if values and values.count(values[0]) == len(values):  # most keys
            del values[1:]
        stated = [value for value in values if value != "" and isinstance(value, (str, bool))]
        if stated:
            values_by_key[key] = Counter(stated).most_common(1)[0][0] if len(stated) > 1 else stated[0]
    return values_by_key


# ---------------------------------------------------------------- the branch that Claude Code displays


def settle_branches(messages: Sequence[Message], parents: list[int | None]) -> tuple[list[int | None], str | None]:
    """Returns the parents of messages, by index, and the head if there is more than one branch.

    The displayed branch ends with the last message. Results of parallel calls fork the chain: they are put back after
    the message with their calls.
    """
    if not messages:
        return parents, None
    leaf = next((k for k in reversed(range(len(messages))) if not is_hidden(messages[k])), len(messages) - 1)
    if leaf == len(messages) - 1 and parents == [None, *range(leaf)]:  # most sessions are a line
        return parents, None
    chain: dict[int, None] = {}
    at: int | None = leaf
    while at is not None and at not in chain:
        chain[at] = None
        at = parents[at]
    answered = {id_ for k in chain for id_ in _answers(messages[k])}
    forked_results = {k for k, parent in enumerate(parents) if _is_put_back(messages, k, parent, chain, answered)}
    line = sorted(chain.keys() | forked_results)
    parents = list(parents)
    for before, k in pairwise(line):
        parents[k] = before if before in forked_results or k in forked_results else parents[k]
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


# ---------------------------------------------------------------- prompts and titles, which have rows of their own


class Prompt(NamedTuple):
    """The system text and the tools that a row states, and their paths relative to the row."""

    path: Path
    system: list[Native]
    tools: list[Native] | None
    part_paths: list[Path]
    at: Path


def prompt_of(row: Any) -> Prompt | None:
    """Returns what a row states about the request; None if it states nothing or has an unknown shape."""
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


Kinds = Mapping[str, Sequence[int]]
"""The indexes of rows, by their kind."""


def kinds_of(rows: Sequence[Any]) -> Kinds:
    """Returns the indexes of the rows, by their kind; empty for a row without one."""
    kinds: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        kinds.setdefault(kind_of(row), []).append(i)
    return kinds


def last_prompt(rows: Sequence[Any], kinds: Kinds) -> tuple[int, Prompt] | None:
    """Returns the last statement of what is sent, else the last snapshot, with the index of its row."""
    for kind in (SHAPE, "attachment"):
        for i in reversed(kinds.get(kind, ())):
            prompt = prompt_of(rows[i])
            if prompt is not None:
                return i, prompt
    return None


def title_of(rows: Sequence[Any], kinds: Kinds) -> str | None:
    """Returns the title that Claude Code displays."""
    for kind, key in TITLES.items():
        for i in reversed(kinds.get(kind, ())):
            title = rows[i].get(key)
            if title and isinstance(title, str):
                return title
    return None


def bare_rows(rows: Sequence[Any], kinds: Kinds, session: Any) -> dict[str, int]:
    """Returns the rows of the last request shape and the last title, by kind, if they have no other keys."""
    bare: dict[str, int] = {}
    for kind, key in ((SHAPE, "shape"), (TITLE, TITLES[TITLE])):
        at = kinds[kind][-1] if kind in kinds else None
        if at is None or rows[at].keys() - {"sessionId"} != {"type", key} or rows[at].get("sessionId") != session:
            continue
        is_prompt = prompt_of(rows[at]) is not None and rows[at][key].keys() <= {"system", "tools"}
        if is_prompt or rows[at][key] == title_of(rows, kinds):
            bare[kind] = at
    return bare


def lift_tools(prompt: Prompt) -> list[Any] | None:
    """Returns the tool definitions of a prompt."""
    return None if prompt.tools is None else [request.lift_tool(tool, NAME) for tool in prompt.tools]
