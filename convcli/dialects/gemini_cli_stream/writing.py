"""Writes the events of a Gemini CLI run: texts as deltas, calls, results, and the end of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.kit.objects import Native, as_object, get_extras, omit, together, without_nulls
from convcli.kit.runs import only_turn
from convcli.kit.streams import fragments
from convcli.kit.values import counts, put_counts
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Text, ToolCall, ToolResult, Transcript

NAME = "gemini-cli-stream"
FAILURE = "Error"
"""The default type of an error."""
STATS: dict[tuple[str, ...], str] = counts(
    "total_tokens=totalTokens input_tokens=inputTokens output_tokens=outputTokens cached=cacheReadTokens"
)


def has_end(transcript: Transcript, failed: Message) -> bool:
    """True if the failed run has a final event; a run that broke off has none."""
    has_error = failed.error is not None or get_extras(failed.extras, NAME).get("error")
    return bool(has_error or transcript.updated_at or get_extras(transcript.extras, NAME).get("result"))


def write(transcript: Transcript, options: Options) -> Rows:
    """Returns the events of the run."""
    cut = _Cut(options.chunk)
    for message in transcript.messages:
        cut.message(message)
    return Rows([_write_init(transcript), *cut.events, *_write_end(transcript)])


def _event(kind: str, time: str | None, **members: Any) -> Native:
    return without_nulls({"type": kind, "timestamp": time, **members})


def _write_init(transcript: Transcript) -> Native:
    native = _event("init", transcript.created_at, session_id=transcript.id, model=transcript.model)
    return {**native, **as_object(get_extras(transcript.extras, NAME).get("init"))}


class _Cut:
    """The events so far; `role` is that of the turn that the next event would continue."""

    def __init__(self, size: int) -> None:
        self.size, self.role = size, ""
        self.events: list[Native] = []

    def message(self, message: Message) -> None:
        if message.role == "event":
            self.events += [part.value for part in message.parts if isinstance(part, Opaque)]
            return
        time = message.created_at
        extra = together(omit(get_extras(message.extras, NAME), "error"))
        begins = True
        for part in message.parts:
            if isinstance(part, ToolResult):
                self.events.append({**_write_result(part, time), **extra})
                self.role = "tool"
            elif isinstance(part, ToolCall):
                if begins and self.role == "assistant":
                    self.text(message, "", begins, extra)
                self.events.append(_write_call(part, time))
                self.role = "assistant"
            elif isinstance(part, Text):
                for i, piece in enumerate(fragments(part.text, self.size)):
                    self.text(message, piece, begins and i == 0, extra)
            begins = False
        if begins:
            self.text(message, "", begins, extra)

    def text(self, message: Message, text: str, begins: bool, extra: Native) -> None:
        """Adds a text event. Model texts are deltas unless empty or the beginning of a second turn in a row."""
        role = message.role
        continues = self.role == role and not begins
        delta = True if text and (continues or (role == "assistant" and self.role != role)) else None
        event = _event("message", message.created_at, role=role, content=text, delta=delta)
        self.events.append({**event, **extra})
        self.role = role


def _write_call(call: ToolCall, time: str | None) -> Native:
    native = _event("tool_use", time, tool_name=call.name, tool_id=call.id, parameters=call.arguments)
    return {**native, **get_extras(call.extras, NAME)}


def _write_result(result: ToolResult, time: str | None) -> Native:
    extra = dict(get_extras(result.extras, NAME))
    error = as_object(extra.pop("error", None))
    native = _event("tool_result", time, tool_id=result.tool_call_id, status="success")
    if result.kind == "error":
        native |= {"status": "error", "error": {"type": FAILURE, **error, "message": result.value}}
    else:
        native |= {"output": result.value, **({"error": error} if error else {})}
    return {**native, **extra}


def _write_end(transcript: Transcript) -> Iterator[Native]:
    """Yields the final event of the run, unless it broke off."""
    failed = next((one for one in reversed(transcript.messages) if one.stop_reason == "error"), None)
    extras = dict(as_object(get_extras(transcript.extras, NAME).get("result")))
    native: Native = _event("result", transcript.updated_at, status="success" if failed is None else "error")
    if failed is not None:
        if not has_end(transcript, failed):
            return
        error = as_object(get_extras(failed.extras, NAME).get("error"))
        if failed.error is not None or error:
            message = {} if failed.error is None else {"message": failed.error}
            native["error"] = {"type": FAILURE, **error, **message}
    turn = only_turn(transcript.messages)
    stats = put_counts(turn.usage or {} if turn else {}, as_object(extras.pop("stats", None)), STATS)
    yield {**native, **({"stats": stats} if stats else {}), **extras}
