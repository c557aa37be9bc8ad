"""Gemini CLI streams: the events of one run with `--output-format stream-json`.

Specification: packages/core/src/output/types.ts of google-gemini/gemini-cli, state of 2026-08-21; read 2026-11-20.

Quirks
- A run has the question, all model turns and the tool results between them. Thoughts are not streamed.
- Nothing marks the end of a turn: it continues until a result or a question. An assistant message without `delta`
  begins another turn; convcli writes one between two consecutive model turns.
- A result names its call by `tool_id` only. If it failed, the model reads `error.message`.
- `result` ends the run. It states that the run succeeded, not why the model stopped. Without it the run broke off.
- Token counts are those of the whole run. In a run with one turn they are those of that turn.
- Every event has a time. A turn has that of its first event. An unknown time is not written.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from msgspec.structs import replace

from convcli.dialects.gemini_cli_stream.writing import FAILURE, NAME, STATS, has_end, write
from convcli.kit import streams
from convcli.kit.fitting import refusals_as_texts
from convcli.kit.objects import Keys, Native, make_extras
from convcli.kit.passes import on_each_message, on_messages, on_results, shared, shared_all
from convcli.kit.results import has_failed, has_media, in_words, separate_results
from convcli.kit.runs import Run, add_parts, only_turn
from convcli.kit.sessions import events as session_events
from convcli.kit.sessions import keep_active_branch, put_results_before_events
from convcli.kit.supported import CALLS, OPAQUE, TEXTS, counted, fields
from convcli.kit.values import paths, take_counts, usage_places
from convcli.model.branches import INSTRUCTIONS
from convcli.model.dialect import Convention, Dialect
from convcli.model.transcript import MEDIA_KINDS, Message, Opaque, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import events

INIT = Keys("type timestamp session_id model")
MESSAGE = Keys("type timestamp role content delta")
CALL = Keys("type timestamp tool_name tool_id parameters")
RESULT = Keys("type timestamp tool_id status output error")
END = Keys("type timestamp status error stats")


def _mark(event: Any) -> streams.Limits:
    """Returns the limits of runs: `init` begins one, `result` ends it."""
    kind = event.get("type") if isinstance(event, dict) else None
    return streams.Limits(kind == "init", kind == "result", event.get("session_id") if kind == "init" else None)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of the run."""
    run = Run(NAME, NAME, document)
    begun: Native = {}
    end: Native | None = None
    last = len(document) - 1
    for at, event in enumerate(document):
        kind = event["type"]
        if kind in LIFTS:
            message, extra = LIFTS[kind](event, at, run)
            message.created_at = message.created_at or event.get("timestamp") or None
            run.add_extras(message, extra, at)
        elif kind == "init":
            begun = streams.restated(begun or None, event)
            run.origin.routes["init",] = (at,)
        elif kind == "result":
            end, last = streams.restated(end, event), at
            run.origin.routes["result",] = (at,)
        else:
            run.aside(event, at)
    rest = _lift_end(end, last, run)
    transcript = run.transcript()
    transcript.id, transcript.model = begun.get("session_id") or None, begun.get("model") or None
    transcript.created_at = begun.get("timestamp") or None
    transcript.updated_at = (end or {}).get("timestamp") or None
    transcript.extras = make_extras(NAME, None, init=INIT.extra(begun), result=rest)
    return transcript


def _lift_message(event: Native, at: int, run: Run) -> tuple[Message, Native | None]:
    message = run.turn(event["role"], at, fresh=not event.get("delta"))
    run.text(message, event["content"], (at, "content"))
    return message, MESSAGE.extra(event)


def _lift_call(event: Native, at: int, run: Run) -> tuple[Message, Native | None]:
    name, arguments = event.get("tool_name") or "", event.get("parameters") or {}
    return run.call(event.get("tool_id") or None, name, arguments, make_extras(NAME, CALL.extra(event)), (at,)), None


def _lift_result(event: Native, at: int, run: Run) -> tuple[Message, Native | None]:
    extra = RESULT.extra(event) or {}
    failed = event.get("status") == "error"
    error, output = dict(event.get("error") or {}), event.get("output")
    value = error.pop("message", None) if failed else None
    if error.get("type") == FAILURE and failed:
        del error["type"]
    if value is not None and output and output != value:
        extra["output"] = output
    if error:
        extra["error"] = error
    run.origin.routes[at, "value"] = (at, "output") if value is None else (at, "error", "message")
    kind: Any = "error" if failed else "text"
    text = output or "" if value is None else value
    result = ToolResult("", "", kind, text, extras=make_extras(NAME, extra))
    return run.result(event.get("tool_id") or None, None, result, (at,)), None


LIFTS = {"message": _lift_message, "tool_use": _lift_call, "tool_result": _lift_result}


def _lift_end(end: Native | None, at: int, run: Run) -> Native:
    """Lifts the end of the run; returns its extras, with counts that are not those of a single turn."""
    if end is None:
        run.failed(at, None, {})
        return {}
    rest = END.extra(end) or {}
    error = dict(end.get("error") or {})
    if end.get("status") == "error":
        message = error.pop("message", None)
        if error.get("type") == FAILURE:
            del error["type"]
        run.failed(at, message, error, (at, "error"))
    elif error:
        rest["error"] = error
    stats = end.get("stats") or {}
    turn = only_turn(run.messages)
    if turn is not None:
        usage, stats = take_counts(stats, STATS)
        turn.usage = usage or None
        run.elsewhere(turn, "stats", (at, "stats"))
    return {**rest, "stats": stats} if stats else rest


# ---------------------------------------------------------------- fit


def _is_event(message: Message) -> bool:
    part = message.parts[0] if len(message.parts) == 1 else None
    return isinstance(part, Opaque) and part.dialect == NAME


def _keep_supported_parts(message: Message) -> Message | None:
    """Drops instructions, and keeps only texts, calls and results of user, model and tool messages."""
    if message.role == "event":
        return message
    if message.role in INSTRUCTIONS:
        return None
    turn = replace(message, parts=[])
    add_parts(turn, (part for part in message.parts if isinstance(part, (Text, ToolCall, ToolResult))))
    is_result = any(isinstance(part, ToolResult) for part in turn.parts)
    turn.role = message.role if message.role == "assistant" or is_result else "user"
    return turn


def _move_calls_to_assistant(message: Message) -> list[Message]:
    """Moves calls out of user messages into assistant messages."""
    if message.role != "user" or not any(isinstance(part, ToolCall) for part in message.parts):
        return [message]
    runs = [(is_call, list(run)) for is_call, run in groupby(message.parts, lambda part: isinstance(part, ToolCall))]
    pieces = [Message("assistant" if is_call else "user", run, created_at=message.created_at) for is_call, run in runs]
    return [replace(message, role=pieces[0].role, parts=pieces[0].parts), *pieces[1:]]


def _write_as_string(result: ToolResult) -> ToolResult:
    failed = has_failed(result)
    return replace(result, kind="error" if failed else "text", value=in_words(result), is_error=None)


def _drop_blanks(transcript: Transcript) -> Transcript:
    blank = {field: None for field in ("id", "model", "created_at", "updated_at") if getattr(transcript, field) == ""}
    return replace(transcript, **blank) if blank else transcript


def _keep_run_end(transcript: Transcript) -> Transcript:
    """Keeps an error on the last turn only, and token counts only if the run has a single turn."""
    last = next((one for one in reversed(transcript.messages) if one.role != "event"), None)
    failed = last if last is not None and (last.role, last.stop_reason) == ("assistant", "error") else None
    counted = only_turn(transcript.messages) if failed is None or has_end(transcript, failed) else None
    ended = [_with_end(one, failed is one, counted is one) for one in transcript.messages]
    return replace(transcript, messages=shared(transcript.messages, ended))


def _with_end(message: Message, failed: bool, counted: bool) -> Message:
    counts = {name: n for name, n in (message.usage or {}).items() if name in STATS.values()} or None
    stop, error, usage = "error" if failed else None, message.error if failed else None, counts if counted else None
    same = (stop, error, usage) == (message.stop_reason, message.error, message.usage)
    return message if same else replace(message, stop_reason=stop, error=error, usage=usage)


FIT = (
    _drop_blanks,
    keep_active_branch,
    session_events(_is_event),
    separate_results,
    put_results_before_events,
    refusals_as_texts,
    on_results(_write_as_string),
    on_each_message(_keep_supported_parts),
    on_messages(lambda messages: shared_all(messages, _move_calls_to_assistant)),
    _keep_run_end,
)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns kind and value of a result as it is read back, or None if it comes back unchanged."""
    if result.kind in ("text", "error") or has_media(result):
        return None
    return ("error" if result.is_error else "text", in_words(result))


SUPPORTS = TEXTS | CALLS | OPAQUE | counted(STATS)
SUPPORTS |= fields("id model createdAt updatedAt message.createdAt message.stopReason message.error")

DIALECT = Dialect(
    name=NAME,
    title="Gemini CLI streams",
    specification="packages/core/src/output/types.ts of google-gemini/gemini-cli, 2026-08-21; read 2026-11-20",
    framings=("events", "sse"),
    forms=("stream",),
    lift=lift,
    fit=FIT,
    write=write,
    supports=SUPPORTS,
    repeats=frozenset(("/*/timestamp",)),  # a turn has the time of its first event
    answer_boundaries=lambda: streams.Boundaries(_mark),
    rules=(events.ended(),),
    conventions=(
        Convention(
            express,
            {
                "error": ("changed", "an error in a Gemini CLI stream is a string: data is written as JSON"),
                "data": ("changed", "tool output in a Gemini CLI stream is a string: data is written as JSON"),
                "multimodal": ("changed", "tool output in a Gemini CLI stream is one string: texts are joined"),
            },
        ),
    ),
    reasons={
        "message": "Gemini CLI streams have no system instructions",
        "message.role": "Gemini CLI streams have only the roles user and assistant",
        "message.id": "Gemini CLI stream events have no id",
        "message.parentId": "Gemini CLI streams have no tree",
        "message.name": "Gemini CLI stream events have no participant name",
        "message.model": "Gemini CLI streams name one model for the whole run",
        "message.usage": "Gemini CLI streams have token counts of the whole run only",
        "message.stopReason": "Gemini CLI streams state that a run succeeded or failed, not why a turn ended",
        "message.error": "Gemini CLI streams state an error only at the end of a run",
        "text": "the text of one turn is one stream: part boundaries are lost",
        "reasoning": "Gemini CLI does not stream thoughts",
        "refusal": "Gemini CLI streams have no event for a refusal: it is written as text",
        **dict.fromkeys(("tools", "tool"), "Gemini CLI streams have no tool definitions"),
        **dict.fromkeys(("toolChoice", "settings"), "Gemini CLI streams have no request settings"),
        "title": "Gemini CLI streams have no title",
        "cwd": "Gemini CLI streams have no directory",
        "head": "Gemini CLI streams have no tree",
        **dict.fromkeys(MEDIA_KINDS, "messages in Gemini CLI streams are text"),
        "tool_call.rawArguments": "arguments in Gemini CLI streams are an object",
        "tool_result.name": "a tool result in a Gemini CLI stream has only the id of its call",
        "tool_result.isError": "a failed tool result in a Gemini CLI stream is one text",
        "tool_result.status": "a tool result in a Gemini CLI stream is a success or an error",
    },
    places={
        **paths("id=init/session_id model=init/model createdAt=init/timestamp updatedAt=result/timestamp"),
        **usage_places(STATS, "stats"),
        **paths(
            "message.error=error/message message.createdAt=timestamp tool_call.id=tool_id tool_call.name=tool_name "
            "tool_call.arguments=parameters tool_result.toolCallId=tool_id tool_result.value=value"
        ),
    },
    envelope=frozenset(("init", "result")),
)
