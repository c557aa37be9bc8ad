"""Streams of multi-llm-chat: the chunks that its loop gives while a model answers and its tools run.

Specification: src/multi_llm_chat/core_modules/agentic_loop.py and the chunks of the providers of aoitan/multi-llm-chat
at commit 6414d9b (2026-02-28); read 2026-11-20.

Quirks
- A chunk is `text`, `tool_call`, `tool_result` or `error`; what it says stands under `content`, for calls and results
  as an object, though the history stores them flat.
- Nothing marks where a turn or the run ends: a turn goes on until a result or an error comes.
- Gemini gives no ids: a result without one answers the next open call of its tool.
- A result has no field for a failure; as the program does, "[ERROR] " is put before its text.
- It holds one run: the turns of the assistant and their results since the last question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.histories.entries import renamed
from convcli.families.histories.multi_llm import NAME as SIBLING
from convcli.families.histories.multi_llm import OLD_NAMES, arguments_of, express, written
from convcli.families.histories.runs import Run, carry, said
from convcli.kit import streams
from convcli.kit.fitting import results_apart, results_first
from convcli.kit.objects import Keys, Native, carried_by
from convcli.kit.pairing import UNKNOWN
from convcli.kit.streams import fragments
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Part, Refusal, Text, ToolCall, ToolResult, Transcript
from convcli.wire import exact_json

NAME = "multi-llm-chat-stream"
CHUNK = Keys("type content")
CALL = Keys("name arguments tool_call_id")
RESULT = Keys("name content tool_call_id")
TEXTS = frozenset(("text", "error"))


def detect(document: Any) -> Clue | None:
    """By calls and results whose body is under `content`, or by chunks that are only texts."""
    if not isinstance(document, Rows) or not document:
        return None
    bodies = [_body(row) for row in document]
    if any(isinstance(body, dict) and ("name" in body or "tool_name" in body) for body in bodies):
        return Clue(95, "calls or results whose body is called content")
    if all(isinstance(row, dict) and list(row) == ["type", "content"] for row in document):
        texts = all(isinstance(row["type"], str) and isinstance(row["content"], str) for row in document)
        if texts and all(row["type"] in TEXTS for row in document):
            return Clue(90, "chunks of text whose body is called content")
    return None


def _body(row: Any) -> Any:
    """What a call or a result says."""
    return row.get("content") if isinstance(row, dict) and row.get("type") in ("tool_call", "tool_result") else None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the run."""
    run = Run(NAME, SIBLING, document)
    for at, chunk in enumerate(document):
        LIFTS.get(chunk["type"], _lift_unknown)(chunk, at, run)
    return run.whole(document)


def _lift_unknown(chunk: Native, at: int, run: Run) -> None:
    run.aside(chunk, at)


def _lift_text(chunk: Native, at: int, run: Run) -> None:
    if chunk["content"]:
        message = run.turn("assistant", at)
        run.text(message, chunk["content"], (at, "content"))
        run.carry(message, CHUNK.take(chunk)[0], at)


def _lift_call(chunk: Native, at: int, run: Run) -> None:
    body, _ = renamed(chunk["content"], {"tool_name": "name"})
    arguments = body.get("arguments") or {}
    raw = exact_json.write_text(arguments) if isinstance(arguments, list) else None
    id_, name = body.get("tool_call_id") or None, body.get("name") or ""
    extras = _carried(CALL, body, chunk)
    message = run.call(id_, name, {} if raw is not None else arguments, extras, (at, "content"))
    message.parts[-1].raw_arguments = raw  # type: ignore[union-attr]


def _lift_result(chunk: Native, at: int, run: Run) -> None:
    body, _ = renamed(chunk["content"], OLD_NAMES)
    id_, name = body.get("tool_call_id") or None, body.get("name") or None
    if id_ is not None and id_ == (name or UNKNOWN) and not run.pairing.knows(id_):
        id_ = None
    value = body.get("content")
    result = ToolResult("", "", "text" if isinstance(value, str) else "data", value)
    carry(result, SIBLING, _carried(RESULT, body, chunk))
    run.result(id_, name, result, (at, "content"))


def _lift_error(chunk: Native, at: int, run: Run) -> None:
    content = chunk.get("content") or {}
    rest = {"message": content} if isinstance(content, str) else dict(content)
    message = rest.pop("message", None)
    run.failed(at, message or None, {**(CHUNK.take(chunk)[0] or {}), **rest})
    run.open = None


LIFTS = {"text": _lift_text, "tool_call": _lift_call, "tool_result": _lift_result, "error": _lift_error}


def _carried(keys: Keys, body: Native, chunk: Native) -> Native:
    """What the body says beside what we know, and what stands beside the body."""
    outer, _ = CHUNK.take(chunk)
    return {**(keys.take(body)[0] or {}), **({"outer": outer} if outer else {})}


# ---------------------------------------------------------------- lower


def lower(transcript: Transcript, options: Options) -> Rows:
    """The chunks of the run, as they came unless the transcript or the wish for fragments is another."""
    rows = None if options.chunk else streams.kept(transcript, NAME, lift)
    if rows is not None:
        return rows
    own = transcript.origin is not None and transcript.origin.dialect == NAME
    messages = said(transcript, NAME) if own else results_first(streams.run(transcript))
    chunks = [chunk for message in messages for chunk in _chunks(message, options.chunk)]
    return Rows(chunks or [{"type": "text", "content": ""}])


def _chunks(message: Message, size: int) -> Iterator[Native]:
    carried = dict(carried_by(message.extras, SIBLING))
    error = carried.pop("error", None)
    for piece in results_apart(message):
        for part in piece.parts if piece.role in ("assistant", "tool", "event") else ():
            yield from _part(part, carried, size)
    if message.role == "assistant" and message.stop_reason == "error":
        rest = error if isinstance(error, dict) else {}
        words = message.error or ""
        yield {"type": "error", "content": {"message": words, **rest} if rest else words}


def _part(part: Part, carried: Native, size: int) -> Iterator[Native]:
    if isinstance(part, (Text, Refusal)):
        for piece in fragments(part.text, size):
            yield {"type": "text", "content": piece, **carried}
    elif isinstance(part, ToolCall):
        yield _whole("tool_call", {"name": part.name, "arguments": arguments_of(part), "tool_call_id": part.id}, part)
    elif isinstance(part, ToolResult):
        body = {"name": part.name, "content": written(part), "tool_call_id": part.tool_call_id}
        yield _whole("tool_result", body, part)
    elif isinstance(part, Opaque) and part.dialect == SIBLING and _is_chunk(part.value):
        yield part.value


def _is_chunk(value: Any) -> bool:
    """Is an opaque value a chunk that came so? The history has opaque items too."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] not in LIFTS


def _whole(kind: str, body: Native, part: ToolCall | ToolResult) -> Native:
    carried = dict(carried_by(part.extras, SIBLING))
    outer = carried.pop("outer", None)
    return {"type": kind, "content": {**body, **carried}, **(outer if isinstance(outer, dict) else {})}


DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="streams of multi-llm-chat",
    specification="agentic_loop.py and the providers of aoitan/multi-llm-chat at 6414d9b; read 2026-11-20",
    framings=("events", "sse"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    old_lower=lower,
    conventions=(
        Convention(
            express,
            {
                "error": ("encoded", 'a result has no field for a failure: "[ERROR] " stands before its text'),
                "data": ("changed", "a string is always text: the data is written as JSON"),
                "multimodal": ("changed", "a result holds one text: its texts are joined"),
            },
        ),
    ),
    reasons={
        "message": "a stream holds the turns since the last question",
        "message.role": "a stream holds the turns of the assistant and their results",
        "message.grouping": "nothing marks where a turn ends: answers that follow on each other are one",
        "message.id": "chunks have no id",
        "message.parentId": "a run is no tree",
        "message.name": "chunks do not say who answers",
        "message.createdAt": "chunks have no time",
        "message.model": "chunks do not name the model",
        "message.usage": "chunks have no counts of tokens",
        "message.stopReason": "a stream says only that it failed, not why a turn ended",
        "message.error": "only a turn that failed has an error",
        "text": "the text of one turn is one stream: the boundaries of parts are lost",
        "reasoning": "thinking is not streamed",
        "refusal": "there is no chunk for a refusal: its words are written as text",
        "tools": "a stream holds the answer, not what was asked",
        "tool": "a stream holds the answer, not what was asked",
        "toolChoice": "a stream holds the answer, not what was asked",
        "settings": "a stream holds the answer, not what was asked",
        "id": "a stream has no id",
        "title": "a stream has no title",
        "model": "a stream does not name the model",
        "cwd": "a stream does not name a directory",
        "createdAt": "a stream has no time",
        "updatedAt": "a stream has no time",
        "head": "a run is no tree",
        "image": "chunks hold text and calls only",
        "audio": "chunks hold text and calls only",
        "video": "chunks hold text and calls only",
        "document": "chunks hold text and calls only",
        "event": "no model ever saw this row",
        "tool_call.rawArguments": "arguments are an object here",
        "tool_result.isError": "a result has no field for a failure",
        "tool_result.status": "a result has no state",
    },
    places={
        "tool_call.id": ("tool_call_id",),
        "tool_call.name": ("name",),
        "tool_call.arguments": ("arguments",),
        "tool_result.toolCallId": ("tool_call_id",),
        "tool_result.value": ("content",),
        "message.error": ("error",),
        "extras.outer": ("..",),
    },
)
