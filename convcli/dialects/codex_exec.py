"""What `codex exec --json` prints of a run: its items as they begin, change and end; they are only read.

Specification: codex-rs/exec/src/exec_events.rs of openai/codex, and a run of @openai/codex 0.169.0; read 2026-11-23.

Quirks
- It is a report, not what the model was sent: the question, the times and the ids of calls are not in it. The rollout
  of the session has them, and `codex` reads that.
- A command, a change of files or a call of an MCP server is a call and its result in one item. Our call has the id of
  the item, and the name that the item's type says or, for MCP, that of the tool.
- Only the last row of an item says what became of it; those before it are events. A command that never ended is an
  open call.
- Of a run with one answer the counts of tokens are those of this answer. Of other runs they are those of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.kit.lacking import fields
from convcli.kit.objects import Native, as_object, extras_of, objects_in, omit, rest_of, without_nulls
from convcli.kit.results import result_of_parts
from convcli.kit.runs import Run
from convcli.kit.values import counts, paths, take_counts
from convcli.model.dialect import Clue, Dialect
from convcli.model.transcript import Media, Opaque, Part, Reasoning, Text, ToolResult, Transcript
from convcli.validation.rules import turns

NAME = "codex-exec"
BEGUN, STARTED, ENDED, FAILED = "thread.started", "item.started", "turn.completed", "turn.failed"
ITEMS = (STARTED, "item.updated", "item.completed")
USAGE = counts(
    "input_tokens=inputTokens cached_input_tokens=cacheReadTokens cache_write_input_tokens=cacheWriteTokens "
    "output_tokens=outputTokens reasoning_output_tokens=reasoningTokens"
)
RUNNING = ("in_progress", None)
FAILURES = ("failed", "declined")


def detect(document: Any) -> Clue | None:
    """By the row that begins a thread, or by rows of items."""
    rows = objects_in(document)
    if any(row.get("type") == BEGUN and isinstance(row.get("thread_id"), str) for row in rows):
        return Clue(97, f"a row of the type {BEGUN}")
    return Clue(95, "rows of items") if any(_item(row) is not None for row in rows) else None


def _item(row: Any) -> Native | None:
    """The item of a row that has one."""
    item = row.get("item") if isinstance(row, dict) and row.get("type") in ITEMS else None
    is_item = isinstance(item, dict) and isinstance(item.get("id"), str) and isinstance(item.get("type"), str)
    return item if is_item else None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the run: what the model said, the calls and their results."""
    run = Run(NAME, NAME, document)
    begun: Native = {}
    items = [_item(row) for row in document]
    last = {item["id"]: i for i, item in enumerate(items) if item is not None}
    for i, (row, item) in enumerate(zip(document, items, strict=True)):
        if item is not None and item["type"] in LIFTS and last[item["id"]] == i:
            rest = {**omit(row, "type", "item"), **({} if row["type"] == ITEMS[-1] else {"type": row["type"]})}
            LIFTS[item["type"]](run, item, i, {"row": rest} if rest else {})
        elif row.get("type") == BEGUN and not begun:
            begun = row
            run.origin.routes["begun",] = (i,)
        elif row.get("type") == FAILED and isinstance(row.get("error"), dict):
            error = without_nulls(row["error"])
            message = error.pop("message", None)
            run.failed(i, message, {**omit(row, "type", "error"), **error}, (i, "error"))
        else:
            run.aside(row, i)
    _count(run, document)
    transcript = run.transcript()
    transcript.id = begun.get("thread_id")
    rest = omit(begun, "type", "thread_id")
    transcript.extras = extras_of(NAME, {"begun": rest} if rest else {})
    return transcript


def _said(run: Run, item: Native, i: int, beside: Native) -> None:
    kind = item["type"]
    extras = extras_of(NAME, {**omit(item, "text", *(("type",) if kind in SPOKEN else ())), **beside})
    part = Reasoning(item["text"], extras=extras) if kind == "reasoning" else Text(item["text"], extras=extras)
    run.part(run.turn("assistant", i), part, (i, "item"))


SPOKEN = ("agent_message", "reasoning")


def _kept(run: Run, item: Native, i: int, beside: Native) -> None:
    """What the model did by itself, and of which the run does not say how it was told."""
    run.part(run.turn("assistant", i), Opaque(NAME, item, extras=extras_of(NAME, beside)), (i, "item"))


def _command(run: Run, item: Native, i: int, beside: Native) -> None:
    output, code, arguments = item.get("aggregated_output") or "", item.get("exit_code"), {"command": item["command"]}
    states = {"aggregated_output": output} if output else {}
    states |= {} if code is None else {"exit_code": code}
    stated = "command", "aggregated_output", "exit_code"
    runs = item.get("status") in RUNNING  # what it has printed so far is no result
    _called(run, item, i, {**(states if runs else {}), **beside}, "shell", arguments, *stated)
    if runs:
        return
    failed = _failed(item) or bool(code)
    _returned(
        run, item, i, ToolResult("", "", "error" if failed else "text", output), omit(states, "aggregated_output")
    )


def _changed(run: Run, item: Native, i: int, beside: Native) -> None:
    _called(run, item, i, beside, "apply_patch", {"changes": item["changes"]}, "changes")
    if item.get("status") not in RUNNING:
        _returned(run, item, i, _empty(item), {})


def _mcp(run: Run, item: Native, i: int, beside: Native) -> None:
    given, error, output = item.get("arguments"), item.get("error"), item.get("result")
    beside = {"type": item["type"], **beside}
    stated = ("tool", "result", "error", *(("arguments",) if isinstance(given, dict) else ()))
    _called(run, item, i, beside, item["tool"], as_object(given), *stated)
    said = ("error", "message") if isinstance(error, dict) else ("result", "content")
    run.origin.routes[i, "item", "aggregated_output"] = (i, "item", *said)
    if isinstance(error, dict):
        rest = {"error": omit(error, "message"), "result": output}
        _returned(run, item, i, ToolResult("", "", "error", error.get("message") or ""), rest)
    elif isinstance(output, dict):
        rest = {"result": rest_of(output, "content")}
        _returned(run, item, i, _result([_content(one) for one in output.get("content") or ()], item), rest)
    elif item.get("status") not in RUNNING:
        _returned(run, item, i, _empty(item), {})


def _called(run: Run, item: Native, i: int, beside: Native, name: str, arguments: Native, *stated: str) -> None:
    """The call of an item, of which its name, its arguments and its result state these keys."""
    rest = rest_of(item, "id", "type", "status", *stated)
    run.call(item["id"], name, arguments, {**rest, **beside}, (i, "item"))


def _empty(item: Native) -> ToolResult:
    """A result of which nothing is known but whether it failed."""
    return ToolResult("", "", "error" if _failed(item) else "text", "")


def _result(parts: list[Part], item: Native) -> ToolResult:
    return result_of_parts("", "", parts, failed=_failed(item))


def _returned(run: Run, item: Native, i: int, result: ToolResult, beside: Native) -> None:
    usual = "failed" if result.kind == "error" or result.is_error else "completed"
    status = item.get("status")
    result.status = "denied" if status == "declined" else None
    stated = {key: value for key, value in beside.items() if value not in ({}, None)}
    stated |= {} if status in (usual, "declined") else {"status": status}
    result.extras = extras_of(NAME, stated)
    run.result(item["id"], None, result, (i, "item"))


def _failed(item: Native) -> bool:
    return item.get("status") in FAILURES


def _content(block: Any) -> Part:
    """A block of the content of an MCP server."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        return Text(block["text"], extras=extras_of(NAME, rest_of(block, "type", "text")))
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        extras = extras_of(NAME, rest_of(block, "type", "data", "mimeType"))
        return Media(kind, data=block["data"], media_type=block.get("mimeType"), extras=extras)
    return Opaque(NAME, block)


LIFTS: dict[str, Callable[[Run, Native, int, Native], None]] = {
    "agent_message": _said,
    "plan": _said,
    "reasoning": _said,
    "command_execution": _command,
    "file_change": _changed,
    "mcp_tool_call": _mcp,
    "web_search": _kept,
    "collab_tool_call": _kept,
}
"""By the types of items that a model said or saw; others are events."""


def _count(run: Run, document: Any) -> None:
    """What the only answer cost."""
    answers = [message for message in run.messages if message.role == "assistant"]
    ends = [i for i, row in enumerate(document) if row.get("type") == ENDED and isinstance(row.get("usage"), dict)]
    if len(answers) == len(ends) == 1:
        answers[0].usage = take_counts(document[ends[0]]["usage"], USAGE)[0] or None
        run.elsewhere(answers[0], "usage", (ends[0], "usage"))


DIALECT = Dialect(
    name=NAME,
    title="codex exec --json",
    specification="codex-rs/exec/src/exec_events.rs of openai/codex, @openai/codex 0.169.0; read 2026-11-23",
    framings=("events",),
    forms=("run",),
    detect=detect,
    lift=lift,
    rules=(turns.decodable(),),
    places={
        **paths(
            "id=begun/thread_id extras.row=.. message.error=error/message tool_call.name=type tool_call.id=id "
            "tool_call.arguments=arguments tool_result.toolCallId=id tool_result.value=aggregated_output "
            "tool_result.kind=status tool_result.status=status text=text reasoning=text"
        ),
        **{f"message.usage.{ours}": ("usage", *theirs) for theirs, ours in USAGE.items()},
    },
    metadata=fields(
        "item.completed/error error item.started item.updated thread.started turn.completed turn.failed turn.started"
    ),
    envelope=frozenset(("begun", "row")),
)
