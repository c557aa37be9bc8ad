"""Streams of Gemini CLI: the events of one run with `--output-format stream-json`.

Specification: packages/core/src/output/types.ts of google-gemini/gemini-cli, state of 2026-08-21; read 2026-11-20.

Quirks
- A run holds the question, all turns of the model and the results between them; thinking is not streamed.
- Nothing marks where a turn ends: it goes on until a result or a question. A message of the assistant without `delta`
  begins another turn; we write one where two turns of the model follow each other.
- A result names its call by `tool_id` only. Of a failure `error.message` is what the model reads.
- `result` ends the run. It says that the run succeeded, not why the model stopped; without it the run broke off.
- The counts of tokens are those of the whole run: of a run with one turn they are those of that turn.
- Every event has a time. A turn has that of its first event; where no time is known, none is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.kit.fitting import has_failed, has_media, in_words, results_apart, results_first
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.runs import Run
from convcli.kit.streams import fragments
from convcli.kit.values import put_counts, take_counts
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Refusal, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import events

NAME = "gemini-cli-stream"
FAILURE = "Error"
"""The type of an error that has none."""
STATS: dict[tuple[str, ...], str] = {
    ("total_tokens",): "totalTokens",
    ("input_tokens",): "inputTokens",
    ("output_tokens",): "outputTokens",
    ("cached",): "cacheReadTokens",
}

INIT = Keys("type timestamp session_id model")
MESSAGE = Keys("type timestamp role content delta")
CALL = Keys("type timestamp tool_name tool_id parameters")
RESULT = Keys("type timestamp tool_id status output error")
END = Keys("type timestamp status error stats")

MARKS = {"init": ("session_id",), "tool_use": ("tool_name", "tool_id"), "tool_result": ("tool_id", "status")}
"""What events have that no other program writes so."""


def detect(document: Any) -> Clue | None:
    """By the events that begin a run, call a tool or hold its result."""
    if not isinstance(document, Rows):
        return None
    for row in document:
        marks = MARKS.get(row["type"]) if isinstance(row, dict) and isinstance(row.get("type"), str) else None
        if marks and all(isinstance(row.get(key), str) for key in marks):
            return Clue(95, f"{row['type']} events with {' and '.join(marks)}")
    said = [row for row in document if isinstance(row, dict) and isinstance(row.get("content"), str)]
    if any(row.get("type") == "message" and row.get("role") in ("user", "assistant") for row in said):
        return Clue(90, "message events whose content is text")
    return None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the run."""
    run = Run(NAME, NAME, document)
    begun: Native = {}
    end: Native | None = None
    last = len(document) - 1
    for at, event in enumerate(document):
        kind = event["type"]
        if kind in LIFTS:
            message, carried = LIFTS[kind](event, at, run)
            message.created_at = message.created_at or event.get("timestamp") or None
            run.carry(message, carried, at)
        elif kind == "init":
            begun |= event
            run.origin.routes["init",] = (at,)
        elif kind == "result":
            end, last = event, at
            run.origin.routes["result",] = (at,)
        else:
            run.aside(event, at)
    rest = _lift_end(end, last, run)
    transcript = run.transcript()
    transcript.id, transcript.model = begun.get("session_id") or None, begun.get("model") or None
    transcript.created_at = begun.get("timestamp") or None
    transcript.updated_at = (end or {}).get("timestamp") or None
    carried = {"init": INIT.take(begun)[0], "result": rest}
    transcript.extras = extras_of(NAME, {key: value for key, value in carried.items() if value})
    return transcript


def _lift_message(event: Native, at: int, run: Run) -> tuple[Message, Native | None]:
    message = run.turn(event["role"], at, fresh=not event.get("delta"))
    run.text(message, event["content"], (at, "content"))
    return message, MESSAGE.take(event)[0]


def _lift_call(event: Native, at: int, run: Run) -> tuple[Message, Native | None]:
    name, arguments = event.get("tool_name") or "", event.get("parameters") or {}
    return run.call(event.get("tool_id") or None, name, arguments, CALL.take(event)[0] or {}, (at,)), None


def _lift_result(event: Native, at: int, run: Run) -> tuple[Message, Native | None]:
    carried = RESULT.take(event)[0] or {}
    failed = event.get("status") == "error"
    error, output = dict(event.get("error") or {}), event.get("output")
    value = error.pop("message", None) if failed else None
    if error.get("type") == FAILURE and failed:
        del error["type"]
    if value is not None and output and output != value:
        carried["output"] = output
    if error:
        carried["error"] = error
    kind: Any = "error" if failed else "text"
    text = output or "" if value is None else value
    result = ToolResult("", "", kind, text, extras=extras_of(NAME, carried))
    return run.result(event.get("tool_id") or None, None, result, (at,)), None


LIFTS = {"message": _lift_message, "tool_use": _lift_call, "tool_result": _lift_result}


def _lift_end(end: Native | None, at: int, run: Run) -> Native:
    """What ended the run; what the counts do not say of one turn is returned."""
    if end is None:
        run.failed(at, None, {})
        return {}
    rest = END.take(end)[0] or {}
    error = dict(end.get("error") or {})
    if end.get("status") == "error":
        message = error.pop("message", None)
        if error.get("type") == FAILURE:
            del error["type"]
        run.failed(at, message, error, (at, "error"))
    elif error:
        rest["error"] = error
    stats = end.get("stats") or {}
    turn = _only_turn(run.messages)
    if turn is not None:
        usage, stats = take_counts(stats, STATS)
        turn.usage = usage or None
        run.elsewhere(turn, "stats", (at, "stats"))
    return {**rest, "stats": stats} if stats else rest


def _only_turn(messages: list[Message]) -> Message | None:
    turns = [message for message in messages if message.role == "assistant"]
    return turns[0] if len(turns) == 1 else None


# ---------------------------------------------------------------- lower


def lower(transcript: Transcript, options: Options) -> Rows:
    """The events of the run."""
    messages = [message for message in results_first(active(transcript)) if message.role not in ("system", "developer")]
    cut = _Cut(options.chunk)
    for message in messages:
        cut.message(message)
    return Rows([_lower_init(transcript), *cut.events, *_lower_end(transcript, messages)])


def _event(kind: str, time: str | None, **said: Any) -> Native:
    native = {"type": kind, "timestamp": time, **said}
    return {key: value for key, value in native.items() if value is not None}


def _lower_init(transcript: Transcript) -> Native:
    native = _event("init", transcript.created_at, session_id=transcript.id, model=transcript.model)
    return {**native, **_object(carried_by(transcript.extras, NAME).get("init"))}


def _object(value: Any) -> Native:
    return value if isinstance(value, dict) else {}


class _Cut:
    """The events so far; `role` is that of the turn that a reader would go on with."""

    def __init__(self, size: int) -> None:
        self.size, self.role = size, ""
        self.events: list[Native] = []

    def message(self, message: Message) -> None:
        if message.role == "event":
            self.events += [part.value for part in message.parts if isinstance(part, Opaque) and part.dialect == NAME]
            return
        carried = {key: value for key, value in carried_by(message.extras, NAME).items() if key != "error"}
        for piece in results_apart(message):
            self.turn(piece, message.created_at, carried)

    def turn(self, message: Message, time: str | None, carried: Native) -> None:
        result = message.parts[0] if message.parts else None
        if isinstance(result, ToolResult):
            self.events.append({**_lower_result(result, time), **carried})
            self.role = "tool"
            return
        role = "assistant" if message.role == "assistant" else "user"
        begins = True
        for part in message.parts:
            if isinstance(part, (Text, Refusal)):
                for piece in fragments(part.text, self.size):
                    self.text(role, piece, begins, time, carried)
                    begins = False
            elif isinstance(part, ToolCall):
                if begins and self.role == role == "assistant":
                    self.text(role, "", begins, time, carried)
                self.events.append(_lower_call(part, time))
                self.role, begins = "assistant", False
        if begins:
            self.text(role, "", begins, time, carried)

    def text(self, role: str, text: str, begins: bool, time: str | None, carried: Native) -> None:
        """Of the model every text is a delta, but one that begins a turn behind another or has nothing to say."""
        goes_on = self.role == role and not begins
        delta = True if text and (goes_on or (role == "assistant" and self.role != role)) else None
        self.events.append({**_event("message", time, role=role, content=text, delta=delta), **carried})
        self.role = role


def _lower_call(call: ToolCall, time: str | None) -> Native:
    native = _event("tool_use", time, tool_name=call.name, tool_id=call.id, parameters=call.arguments)
    return {**native, **carried_by(call.extras, NAME)}


def _lower_result(result: ToolResult, time: str | None) -> Native:
    carried = dict(carried_by(result.extras, NAME))
    rest = _object(carried.pop("error", None))
    native = _event("tool_result", time, tool_id=result.tool_call_id, status="success")
    if has_failed(result):
        native |= {"status": "error", "error": {"type": FAILURE, **rest, "message": in_words(result)}}
    else:
        native |= {"output": in_words(result), **({"error": rest} if rest else {})}
    return {**native, **carried}


def _lower_end(transcript: Transcript, messages: list[Message]) -> Iterator[Native]:
    """How the run ended; one that broke off has no end."""
    last = next((message for message in reversed(messages) if message.role != "event"), None)
    failed = last is not None and last.role == "assistant" and last.stop_reason == "error"
    rest = dict(_object(carried_by(transcript.extras, NAME).get("result")))
    native: Native = _event("result", transcript.updated_at, status="error" if failed else "success")
    if failed and last is not None:
        kind = _object(carried_by(last.extras, NAME).get("error"))
        if last.error is not None or kind:
            message = {} if last.error is None else {"message": last.error}
            native["error"] = {"type": FAILURE, **kind, **message}
        elif not rest and not transcript.updated_at:
            return
    turn = _only_turn(messages)
    stats = put_counts(turn.usage or {} if turn else {}, _object(rest.pop("stats", None)), STATS)
    yield {**native, **({"stats": stats} if stats else {}), **rest}


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How a result comes back that is no plain text: the words of its data or of its texts."""
    if result.kind in ("text", "error") or has_media(result):
        return None
    return ("error" if result.is_error else "text", in_words(result))


DIALECT = Dialect(
    name=NAME,
    title="streams of Gemini CLI",
    specification="packages/core/src/output/types.ts of google-gemini/gemini-cli, 2026-08-21; read 2026-11-20",
    framings=("events", "sse"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=(events.ended(),),
    conventions=(
        Convention(
            express,
            {
                "error": ("changed", "a failure is told in words: data is written as JSON"),
                "data": ("changed", "the output of a tool is text: data is written as JSON"),
                "multimodal": ("changed", "the output of a tool is one text: its texts are joined"),
            },
        ),
    ),
    reasons={
        "message": "a run has no place for instructions of the system",
        "message.role": "a run knows the user and the assistant only",
        "message.id": "events have no id",
        "message.parentId": "a run is no tree",
        "message.name": "events name nobody",
        "message.model": "the model is that of the whole run",
        "message.usage": "the counts of tokens are those of the whole run",
        "message.stopReason": "a run says that it succeeded or failed, not why a turn ended",
        "message.error": "only the end of a run says how it failed",
        "text": "the text of one turn is one stream: the boundaries of parts are lost",
        "reasoning": "thinking is not streamed",
        "refusal": "there is no event for a refusal: its words are written as text",
        "tools": "a run does not hold the definitions of tools",
        "tool": "a run does not hold the definitions of tools",
        "toolChoice": "a run has no settings of the request",
        "settings": "a run has no settings of the request",
        "title": "a run has no title",
        "cwd": "a run does not name its directory",
        "head": "a run is no tree",
        "image": "a message is text",
        "audio": "a message is text",
        "video": "a message is text",
        "document": "a message is text",
        "event": "no model ever saw this row",
        "tool_call.rawArguments": "arguments are an object here",
        "tool_result.name": "a result names its call only by the id",
        "tool_result.status": "a result is a success or an error",
    },
    places={
        "id": ("init", "session_id"),
        "model": ("init", "model"),
        "createdAt": ("init", "timestamp"),
        "updatedAt": ("result", "timestamp"),
        "message.usage": ("stats",),
        **{f"message.usage.{ours}": ("stats", *theirs) for theirs, ours in STATS.items()},
        "message.error": ("error", "message"),
        "message.createdAt": ("timestamp",),
        "message.role": ("role",),
        "tool_call.id": ("tool_id",),
        "tool_call.name": ("tool_name",),
        "tool_call.arguments": ("parameters",),
        "tool_result.toolCallId": ("tool_id",),
        "tool_result.value": ("output",),
    },
    envelope=frozenset(("init", "result")),
)
