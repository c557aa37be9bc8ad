"""Streams of multi-llm-chat: the chunks that its loop gives while a model answers and its tools run.

Specification: src/multi_llm_chat/core_modules/agentic_loop.py and the chunks of the providers of
https://github.com/aoitan/multi-llm-chat at commit 6414d9b (2026-02-28); read 2026-11-20.

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

from msgspec.structs import replace

from convcli.families.histories.multi_llm import CONVENTION, RESULTS, lift_call, result_body, write_part
from convcli.kit import fitting, lacking, passes, results
from convcli.kit.objects import Keys, Native, as_object, carried_by, extras_of
from convcli.kit.runs import Run, joined_turns, last_run
from convcli.kit.streams import fragments
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Part, Text, ToolCall, ToolResult, Transcript

NAME = "multi-llm-chat-stream"
SIBLING = "multi-llm-chat"
"""The name of the history, under which both carry what has no field."""
CHUNK = Keys("type content")
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
    return run.transcript()


def _lift_unknown(chunk: Native, at: int, run: Run) -> None:
    run.aside(chunk, at)


def _lift_text(chunk: Native, at: int, run: Run) -> None:
    carried = CHUNK.carried(chunk)
    if chunk["content"] or carried:
        message = run.turn("assistant", at)
        if chunk["content"]:
            run.text(message, chunk["content"], (at, "content"))
        run.carry(message, carried, at)


def _lift_call(chunk: Native, at: int, run: Run) -> None:
    run.part(run.turn("assistant", at), lift_call(chunk, True, run.pairing, SIBLING), (at, "content"))


def _lift_result(chunk: Native, at: int, run: Run) -> None:
    id_, name, value, carried = result_body(chunk, True, run.pairing)
    result = ToolResult("", "", "text" if isinstance(value, str) else "data", value)
    result.extras = extras_of(SIBLING, carried)
    run.result(id_, name, result, (at, "content"))


def _lift_error(chunk: Native, at: int, run: Run) -> None:
    content = chunk.get("content") or {}
    carried = {"message": content} if isinstance(content, str) else dict(content)
    message = carried.pop("message", None)
    run.failed(at, message or None, {**(CHUNK.carried(chunk) or {}), **carried})
    run.open = None


LIFTS = {"text": _lift_text, "tool_call": _lift_call, "tool_result": _lift_result, "error": _lift_error}


# ---------------------------------------------------------------- fit

PARTS = ("text", "tool_call", "tool_result")


def _has_chunk(part: Part, message: Message) -> Part | None:
    """A chunk is a text, a call, a result, or of a kind that we do not know."""
    if isinstance(part, Opaque):
        return part if part.dialect == SIBLING and _is_unknown(part.value) else None
    return part if part.type in PARTS else None


def _is_unknown(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] not in LIFTS


def _asides(message: Message) -> list[Message]:
    """Chunks of other kinds are events of their own; the history has them among the items of an answer."""
    others = [part for part in message.parts if not isinstance(part, Opaque)]
    if message.role != "assistant" or len(others) == len(message.parts):
        return [message]
    first = message.parts.index(others[0]) if others else 0
    events = [Message("event", [part]) for part in message.parts if isinstance(part, Opaque)]
    return [*events[:first], replace(message, parts=others), *events[first:]]


FIT = (
    last_run(SIBLING),
    results.results_behind_calls,
    results.separate_results,
    fitting.refusals_as_texts,
    passes.on_results(RESULTS.fits),
    passes.on_parts(_has_chunk),
    passes.on_messages(lambda messages: passes.shared_all(messages, _asides)),
    passes.on_messages(joined_turns),
)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """The chunks of the run."""
    chunks = [chunk for message in transcript.messages for chunk in _chunks(message, options.chunk)]
    return Rows(chunks or [{"type": "text", "content": ""}])


def _chunks(message: Message, size: int) -> Iterator[Native]:
    carried = dict(carried_by(message.extras, SIBLING))
    error = carried.pop("error", None)
    for part in message.parts:
        yield from _part(part, carried, size)
    if message.stop_reason == "error":
        beside = as_object(error)
        text = message.error or ""
        yield {"type": "error", "content": {"message": text, **beside} if beside else text}


def _part(part: Part, carried: Native, size: int) -> Iterator[Native]:
    if isinstance(part, Text):
        for piece in fragments(part.text, size):
            yield {"type": "text", "content": piece, **carried}
    elif isinstance(part, (ToolCall, ToolResult)):
        yield write_part(part, SIBLING, nested=True)
    elif isinstance(part, Opaque):
        yield part.value


LACKS = (lacking.AROUND_PARTS | lacking.METADATA | lacking.CALL_ONLY) | {"extras.multi-llm-chat"}

DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="streams of multi-llm-chat",
    specification="agentic_loop.py and the providers of aoitan/multi-llm-chat at 6414d9b; read 2026-11-20",
    framings=("events", "sse"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    conventions=(CONVENTION,),
    lacks=LACKS,
    reasons={
        **dict.fromkeys(("message", *lacking.PARTS), "a stream holds the turns since the last question"),
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
        **dict.fromkeys((*lacking.TOOLS, "toolChoice", "settings"), "a stream holds the answer, not what was asked"),
        "id": "a stream has no id",
        "title": "a stream has no title",
        "model": "a stream does not name the model",
        "cwd": "a stream does not name a directory",
        **dict.fromkeys(("createdAt", "updatedAt"), "a stream has no time"),
        "head": "a run is no tree",
        **dict.fromkeys(lacking.MEDIA, "chunks hold text and calls only"),
        "tool_call.rawArguments": "arguments are an object here",
        "tool_result.isError": "a result has no field for a failure",
        "tool_result.status": "a result has no state",
    },
    places={"tool_call.id": ("tool_call_id",), "tool_result.toolCallId": ("tool_call_id",), "extras.outer": ("..",)},
    metadata=lacking.fields("error status"),
)
