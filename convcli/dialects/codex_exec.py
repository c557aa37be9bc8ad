"""Output of `codex exec --json`: the items of a run as they begin, change and end. Read-only.

Specification: codex-rs/exec/src/exec_events.rs of openai/codex, and a run of @openai/codex 0.169.0; read 2026-11-23.

Quirks
- It is a report, not the model input: it has no question, times or call ids. The rollout of the session has them; the
  dialect `codex` reads it.
- A command, a file change or an MCP call is a call and its result in one item. The call gets the id of the item. Its
  name is given by the item's type or, for MCP, is the tool's.
- Only the last row of an item states its outcome; earlier rows are events. A command that never ended is an open call.
- In a run with one answer, the token counts are those of this answer. In other runs they are totals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.kit import streams
from convcli.kit.blocks import as_json_text
from convcli.kit.objects import Native, as_object, as_text, except_keys, make_extras, omit, without_nulls
from convcli.kit.results import result_of_parts
from convcli.kit.runs import Run
from convcli.kit.supported import fields
from convcli.kit.values import counts, paths, take_counts
from convcli.model.dialect import Dialect
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


def _item(row: Any) -> Native | None:
    """Returns the item of a row, or None."""
    item = row.get("item") if isinstance(row, dict) and row.get("type") in ITEMS else None
    is_item = isinstance(item, dict) and isinstance(item.get("id"), str) and isinstance(item.get("type"), str)
    return item if is_item else None


def _mark(row: Any) -> streams.Limits:
    """Returns the thread of a run that begins: the runs of one thread are one conversation."""
    begins = isinstance(row, dict) and row.get("type") == BEGUN
    return streams.Limits(begins, id=row.get("thread_id") if begins else None)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a run: messages, calls and their results."""
    run = Run(NAME, NAME, document)
    begun: Native = {}
    items = [_item(row) for row in document]
    last = {item["id"]: i for i, item in enumerate(items) if item is not None}
    for i, (row, item) in enumerate(zip(document, items, strict=True)):
        if item is not None and item["type"] in ITEM_READERS and last[item["id"]] == i:
            rest = {**omit(row, "type", "item"), **({} if row["type"] == ITEMS[-1] else {"type": row["type"]})}
            ITEM_READERS[item["type"]](run, item, i, rest)
        elif row.get("type") == BEGUN and not begun:
            begun = row
            run.origin.routes["begun",] = (i,)
        elif row.get("type") == FAILED and isinstance(row.get("error"), dict):
            error = without_nulls(row["error"])
            message = error.pop("message", None)
            streams.state(error, omit(row, "type", "error"), (i,), {}, read=error.keys())
            run.failed(i, message, error, (i, "error"))
        else:
            run.aside(row, i)
    _set_usage(run, document)
    transcript = run.transcript()
    transcript.id = begun.get("thread_id")
    rest = omit(begun, "type", "thread_id")
    transcript.extras = make_extras(NAME, {"begun": rest} if rest else {})
    return transcript


def _add_text(run: Run, item: Native, i: int, row: Native) -> None:
    kind = item["type"]
    extras = make_extras(NAME, omit(item, "text", *(("type",) if kind in SPOKEN else ())), row=row)
    part = Reasoning(item["text"], extras=extras) if kind == "reasoning" else Text(item["text"], extras=extras)
    run.part(run.turn("assistant", i), part, (i, "item"))


SPOKEN = ("agent_message", "reasoning")


def _add_opaque(run: Run, item: Native, i: int, row: Native) -> None:
    """Adds an opaque part for what the model did by itself; the run does not state the result it received."""
    run.part(run.turn("assistant", i), Opaque(NAME, item, extras=make_extras(NAME, None, row=row)), (i, "item"))


def _add_command(run: Run, item: Native, i: int, row: Native) -> None:
    output, code, arguments = item.get("aggregated_output") or "", item.get("exit_code"), {"command": item["command"]}
    states = {"aggregated_output": output} if output else {}
    states |= {} if code is None else {"exit_code": code}
    stated = "command", "aggregated_output", "exit_code"
    runs = item.get("status") in RUNNING  # output so far is not a result
    _add_call(run, item, i, row, states if runs else {}, "shell", arguments, *stated)
    if runs:
        return
    failed = _failed(item) or bool(code)
    _add_result(
        run, item, i, ToolResult("", "", "error" if failed else "text", output), omit(states, "aggregated_output")
    )


def _add_file_change(run: Run, item: Native, i: int, row: Native) -> None:
    _add_call(run, item, i, row, {}, "apply_patch", {"changes": item["changes"]}, "changes")
    if item.get("status") not in RUNNING:
        _add_result(run, item, i, _empty(item), {})


def _add_mcp_call(run: Run, item: Native, i: int, row: Native) -> None:
    arguments, error, output = item.get("arguments"), item.get("error"), item.get("result")
    stated = ("tool", "result", "error", *(("arguments",) if isinstance(arguments, dict) else ()))
    _add_call(run, item, i, row, {"type": item["type"]}, item["tool"], as_object(arguments), *stated)
    error_or_content = ("error", "message") if isinstance(error, dict) else ("result", "content")
    run.origin.routes[i, "item", "aggregated_output"] = (i, "item", *error_or_content)
    if isinstance(error, dict):
        rest = {"error": omit(error, "message"), "result": output}
        _add_result(run, item, i, ToolResult("", "", "error", error.get("message") or ""), rest)
    elif isinstance(output, dict):
        rest = {"result": except_keys(output, "content")}
        _add_result(run, item, i, _result([_content(one) for one in output.get("content") or ()], item), rest)
    elif item.get("status") not in RUNNING:
        _add_result(run, item, i, _empty(item), {})


def _add_call(
    run: Run, item: Native, i: int, row: Native, facts: Native, name: str, arguments: Native, *stated: str
) -> None:
    """Adds the call of an item, with facts that are extras. `stated` are the keys that its name, its arguments and its
    result cover."""
    rest = except_keys(item, "id", "type", "status", *stated)
    run.call(item["id"], name, arguments, make_extras(NAME, {**rest, **facts}, row=row), (i, "item"))


def _empty(item: Native) -> ToolResult:
    """Returns a result of which only success or failure is known."""
    return ToolResult("", "", "error" if _failed(item) else "text", "")


def _result(parts: list[Part], item: Native) -> ToolResult:
    return result_of_parts("", "", parts, failed=_failed(item))


def _add_result(run: Run, item: Native, i: int, result: ToolResult, other_keys: Native) -> None:
    usual = "failed" if result.kind == "error" or result.is_error else "completed"
    status = item.get("status")
    result.status = "denied" if status == "declined" else None
    stated = {key: value for key, value in other_keys.items() if value not in ({}, None)}
    stated |= {} if status in (usual, "declined") else {"status": status}
    result.extras = make_extras(NAME, stated)
    run.result(item["id"], None, result, (i, "item"))


def _failed(item: Native) -> bool:
    return item.get("status") in FAILURES


def _content(block: Any) -> Part:
    """Returns the part for a content block of an MCP server."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        return Text(block["text"], extras=make_extras(NAME, except_keys(block, "type", "text")))
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        typed = as_text(block.get("mimeType"))
        extras = make_extras(NAME, except_keys(block, "type", "data", *["mimeType"] * (typed is not None)))
        return Media(kind, data=block["data"], media_type=typed, extras=extras)
    return as_json_text(block, NAME)


ITEM_READERS: dict[str, Callable[[Run, Native, int, Native], None]] = {
    "agent_message": _add_text,
    "plan": _add_text,
    "reasoning": _add_text,
    "command_execution": _add_command,
    "file_change": _add_file_change,
    "mcp_tool_call": _add_mcp_call,
    "web_search": _add_opaque,
    "collab_tool_call": _add_opaque,
}
"""Readers by item type, for items that the model wrote or saw; others are events."""


def _set_usage(run: Run, document: Any) -> None:
    """Sets the usage of the only answer."""
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
    lift=lift,
    answer_boundaries=lambda: streams.Boundaries(_mark, by_id=True),
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
