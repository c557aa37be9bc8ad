"""multi-llm-chat streams: the chunks that its loop yields while a model answers and its tools run.

Specification: src/multi_llm_chat/core_modules/agentic_loop.py and the chunks of the providers of
https://github.com/aoitan/multi-llm-chat at commit 6414d9b (2026-02-28); read 2026-11-20.

Quirks
- A chunk is `text`, `tool_call`, `tool_result` or `error`. Its body is under `content`: an object for calls and
  results, though the history stores them flat.
- Nothing marks the end of a turn or the run: a turn lasts until a result or an error comes.
- Gemini gives no ids: a result without one answers the next open call of its tool.
- A result has no failure field; like the program, convcli puts "[ERROR] " before its text.
- A stream covers one run: the assistant messages and their results since the last question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.families.histories.multi_llm import CONVENTION, RESULTS, lift_call, result_body, write_part
from convcli.kit import fitting, passes, results
from convcli.kit.objects import APART, Keys, Native, as_object, get_extras, keep_apart, make_extras, omit, together
from convcli.kit.runs import Run, joined_turns, last_run
from convcli.kit.streams import OF_REQUEST, OTHER_MESSAGES, fragments
from convcli.kit.supported import CALLS, LIST, OPAQUE, fields
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import MEDIA_KINDS, Message, Opaque, Part, Text, ToolCall, ToolResult, Transcript

NAME = "multi-llm-chat-stream"
SIBLING = "multi-llm-chat"
"""The dialect of the history; extras of both are kept under its name."""
CHUNK = Keys("type content")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads the run."""
    run = Run(NAME, SIBLING, document)
    for at, chunk in enumerate(document):
        LIFTS.get(chunk["type"], _lift_unknown)(chunk, at, run)
    return run.transcript()


def _lift_unknown(chunk: Native, at: int, run: Run) -> None:
    run.aside(chunk, at)


def _lift_text(chunk: Native, at: int, run: Run) -> None:
    extra = CHUNK.extra(chunk)
    if chunk["content"] or extra:
        message = run.turn("assistant", at)
        if chunk["content"]:
            run.text(message, chunk["content"], (at, "content"))
        run.add_extras(message, extra, at)


def _lift_call(chunk: Native, at: int, run: Run) -> None:
    run.part(run.turn("assistant", at), lift_call(chunk, True, run.pairing, SIBLING), (at, "content"))


def _lift_result(chunk: Native, at: int, run: Run) -> None:
    id_, name, value, extra = result_body(chunk, True, run.pairing)
    result = ToolResult("", "", "text" if isinstance(value, str) else "data", value)
    result.extras = make_extras(SIBLING, extra)
    run.result(id_, name, result, (at, "content"))


def _lift_error(chunk: Native, at: int, run: Run) -> None:
    content = chunk.get("content") or {}
    extra = {"message": content} if isinstance(content, str) else dict(content)
    message = extra.pop("message", None)
    run.failed(at, message or None, {**keep_apart(CHUNK.extra(chunk) or {}, extra), **extra})
    run.open = None


LIFTS = {"text": _lift_text, "tool_call": _lift_call, "tool_result": _lift_result, "error": _lift_error}


# ---------------------------------------------------------------- fit

PARTS = ("text", "tool_call", "tool_result")


def _keep_parts_with_chunks(part: Part, message: Message) -> Part | None:
    """Keeps the parts that have a chunk: texts, calls, results, and unknown kinds."""
    if isinstance(part, Opaque):
        return part if part.dialect == SIBLING and _is_unknown(part.value) else None
    return part if part.type in PARTS else None


def _is_unknown(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] not in LIFTS


def _split_unknown_chunks(message: Message) -> list[Message]:
    """Splits chunks of other kinds into events of their own; the history has them among an answer's items."""
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
    passes.on_parts(_keep_parts_with_chunks),
    passes.on_messages(lambda messages: passes.shared_all(messages, _split_unknown_chunks)),
    passes.on_messages(joined_turns),
)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """Writes the chunks of the run."""
    chunks = [chunk for message in transcript.messages for chunk in _chunks(message, options.chunk)]
    return Rows(chunks or [{"type": "text", "content": ""}])


def _chunks(message: Message, size: int) -> Iterator[Native]:
    extras = get_extras(message.extras, SIBLING)
    error, extra = extras.get("error"), together(omit(extras, "error"))
    for part in message.parts:
        yield from _part(part, extra, size)
    if message.stop_reason == "error":
        other_keys = omit(as_object(error), APART)
        text = message.error or ""
        yield {"type": "error", "content": {"message": text, **other_keys} if other_keys else text}


def _part(part: Part, extra: Native, size: int) -> Iterator[Native]:
    if isinstance(part, Text):
        for piece in fragments(part.text, size):
            yield {"type": "text", "content": piece, **extra}
    elif isinstance(part, (ToolCall, ToolResult)):
        yield write_part(part, SIBLING, nested=True)
    elif isinstance(part, Opaque):
        yield part.value


DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="multi-llm-chat streams",
    specification="agentic_loop.py and the providers of aoitan/multi-llm-chat at 6414d9b; read 2026-11-20",
    framings=("events", "sse"),
    forms=("stream",),
    lift=lift,
    write=write,
    fit=FIT,
    conventions=(CONVENTION,),
    supports=LIST | CALLS | OPAQUE | fields("tool_result.name"),
    reasons={
        **dict.fromkeys(OTHER_MESSAGES, "a stream has only the messages since the last question"),
        "message.role": "a stream has only assistant messages and their results",
        "message.grouping": "a stream does not mark the end of a turn: consecutive answers become one",
        "message.id": "multi-llm-chat chunks have no id",
        "message.parentId": "a stream has no branches",
        "message.name": "multi-llm-chat chunks do not name the author",
        "message.createdAt": "multi-llm-chat chunks have no time",
        "message.model": "multi-llm-chat chunks do not name the model",
        "message.usage": "multi-llm-chat chunks have no token counts",
        "message.stopReason": "a stream has only a failure, no other stop reason",
        "message.error": "only a failed turn has an error",
        "text": "the text of a turn is one stream: part boundaries are lost",
        "reasoning": "multi-llm-chat does not stream thinking",
        "refusal": "multi-llm-chat has no refusal chunk: the refusal is written as text",
        **dict.fromkeys(OF_REQUEST, "a stream has the answer, not the request"),
        "id": "a stream has no id",
        "title": "a stream has no title",
        "model": "a stream does not name the model",
        "cwd": "a stream does not name a directory",
        **dict.fromkeys(("createdAt", "updatedAt"), "a stream has no time"),
        "head": "a stream has no branches",
        **dict.fromkeys(MEDIA_KINDS, "multi-llm-chat chunks have only text and calls"),
        "tool_call.rawArguments": "arguments must be an object",
        "tool_result.isError": "multi-llm-chat results have no failure field",
        "tool_result.status": "multi-llm-chat results have no status",
    },
    places={"tool_call.id": ("tool_call_id",), "tool_result.toolCallId": ("tool_call_id",), "extras.outer": ("..",)},
    metadata=fields("error status"),
)
