"""Streams of the Vercel AI SDK: the events by which a server sends a message to a user interface while it is made.

Specification: `uiMessageChunkSchema` and `processUIMessageStream` of the package ai 7.0.173; read 2026-11-23.

Quirks
- A stream makes one message, which holds several turns of the model, cut by `start-step`, and the results between them.
- Texts and thoughts grow by an id that only ties their events; a thought keeps its id in the message.
- The input of a call may grow as text; `tool-input-available` says it as a whole, and counts.
- An output, and data with an id, may come again: the last word counts. `reset-step` takes back what the step has said.
- `finish` ends the stream with a reason, `abort` when somebody stopped it; `error` tells a failure, and `finish` may
  follow. A stream without an end broke off.
- Outputs come behind the calls of their step, in the order in which they were there; the message has them at the calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.vercel_ai_stream.assembling import EVENTS, RESERVED, RESULTS, STEP, Answer
from convcli.dialects.vercel_ai_stream.rules import RULES
from convcli.dialects.vercel_ai_stream.writing import message_events
from convcli.families.ai_sdk import shown
from convcli.families.ai_sdk.fitting import COMMON, LACKS, PLACES, REASONS, shown_results
from convcli.families.ai_sdk.parts import is_shaped, lift_shown, tables
from convcli.kit import fitting, lacking, passes, results
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, carried_by, extras_of, omit
from convcli.kit.runs import last_run
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Part, ToolResult, Transcript

NAME, SIBLING = "vercel-ai-stream", "vercel-ai"
KINDS = lacking.fields(
    "text-delta reasoning-delta tool-input-start tool-input-available tool-output-available start-step finish-step"
)
"""Types of events that no other stream has."""


def detect(document: Any) -> Clue | None:
    """By events of texts, calls and steps, or by the message that begins."""
    rows = [row for row in document if isinstance(row, dict)] if isinstance(document, Rows) else []
    kind = next((row["type"] for row in rows if isinstance(row.get("type"), str) and row["type"] in KINDS), None)
    if kind is not None:
        return Clue(96, f"{kind} events")
    begins = bool(rows) and rows[0].get("type") == "start" and "messageId" in rows[0]
    return Clue(90, "a start of a message") if begins else None


# ---------------------------------------------------------------- lift

REASON = {"stop": "stop", "length": "length", "tool-calls": "tool_calls", "content-filter": "content_filter"}


def lift(document: Any) -> Transcript:
    """The transcript of the message that the events make."""
    answer = Answer()
    for at, event in enumerate(document):
        answer.take(event, at)
    context = LiftContext(NAME, document, owner=SIBLING)
    if answer.has_begun:
        shown.lift_message(answer.whole(), (), context)
    carried = _lift_end(answer, context.messages)
    carried |= {"replaced": answer.replaced} if answer.replaced else {}
    _place(answer, context)
    return context.transcript(extras=extras_of(SIBLING, carried))


def _place(answer: Answer, context: LiftContext) -> None:
    """Results stand where they came, and events that no part is made of before the turn in which they came."""
    located = list(zip(context.messages, context.origin.places, strict=True))
    context.messages.clear()
    context.origin.places.clear()
    asides = list(answer.asides)
    turn = -1
    for message, (path, spots) in located:
        turn += message.role == "assistant"
        while message.role == "assistant" and asides and asides[0][0] <= turn:
            _add_aside(asides.pop(0), context)
        context.add(message, (RESULTS, *path[1:]) if message.role == "tool" else path, spots)
    for aside in asides:
        _add_aside(aside, context)
    context.origin.routes, context.origin.pieces = answer.all_routes(), answer.all_pieces()


def _add_aside(aside: tuple[int, Native, int], context: LiftContext) -> None:
    """An event that no model saw, or a result that no call waits for."""
    _, event, at = aside
    message = Message("event", [Opaque(SIBLING, event)])
    if event["type"] in ("tool-output-available", "tool-output-error"):
        failed = event["type"] == "tool-output-error"
        kind: Any = "error"
        kind, value = (kind, event["errorText"]) if failed else lift_shown(event.get("output"), context)
        id_, name = context.pairing.result(event["toolCallId"] or None, None)
        beside = omit(event, "type", "toolCallId", "output", "errorText", "dynamic")
        message = Message("tool", [ToolResult(id_, name, kind, value, extras=extras_of(SIBLING, beside))])
    context.add(message, (EVENTS, at), [()])


def _lift_end(answer: Answer, messages: list[Message]) -> Native:
    """Set on the last turn why the message ended; what of that must be carried."""
    last = next((message for message in reversed(messages) if message.role == "assistant"), None)
    if last is None:
        return {}
    reason = answer.reason
    last.error = answer.error
    if answer.is_aborted:
        last.stop_reason = "aborted"
        return {"finishReason": reason} if reason else {}
    if answer.error is not None or not answer.is_done:
        last.stop_reason = "error"
        return {"finishReason": reason} if reason not in (None, "error") else {}
    last.stop_reason = None if reason is None else REASON.get(reason, reason)
    return {"finishReason": reason} if reason == "error" else {}


# ---------------------------------------------------------------- fit


SHOWN = shown_results(SIBLING)


def _has_event(part: Part, message: Message) -> Part | None:
    """What there is an event for: some files have no address, and other dialects' parts are unknown."""
    if message.role != "assistant" or not isinstance(part, (Media, Opaque)):
        return part
    native = tables(SIBLING).shown.write(part)
    return part if native is not None and _is_event(native) and not is_shaped(part, SIBLING, "tool-") else None


def _said(messages: list[Message]) -> list[Message]:
    """A turn that says nothing is the beginning of the next one; of several at the end only the first is there."""
    kept: list[Message] = []
    for message in messages:
        is_turn = message.role == "assistant"
        is_behind = is_turn and bool(kept) and kept[-1].role == "assistant" and not kept[-1].parts
        if is_behind and message.parts:
            kept[-1] = message
        elif not is_behind:
            kept.append(message)
    return messages if len(kept) == len(messages) else kept


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """The events of the message that holds all turns."""
    turns = [message for message in transcript.messages if message.role == "assistant"]
    if not turns:
        return Rows([])
    return Rows(list(_events(transcript, turns[0], turns[-1], options.chunk)))


def _events(transcript: Transcript, first: Message, last: Message, size: int) -> Iterator[Native | str]:
    carried = carried_by(transcript.extras, SIBLING)
    replaced = list(carried.get("replaced") or ())
    steps, asides = _steps(transcript.messages)
    native = _shown(steps[0][1])
    ids = {"messageId": first.id} if first.id else {}
    metadata = {"messageMetadata": native["metadata"]} if native.get("metadata") is not None else {}
    yield {"type": "start", **ids, **metadata, **omit(native, "id", "role", "parts", "metadata")}
    index = 0
    for events, messages in steps:
        yield from events
        step = _shown([_within(message, first) for message in messages])["parts"]
        yield from message_events([part for part in step if _is_event(part)], replaced, size, index)
        index += len(step)
    yield from asides
    yield from _end(last, carried.get("finishReason"))


def _steps(messages: list[Message]) -> tuple[list[tuple[list[Native], list[Message]]], list[Native]]:
    """Each turn with its results and with the events before it, and the events behind the last one."""
    steps: list[tuple[list[Native], list[Message]]] = []
    asides: list[Native] = []
    for message in messages:
        if message.role == "assistant":
            steps.append((asides, [message]))
            asides = []
        elif message.role == "tool" and steps:
            steps[-1][1].append(message)
        else:
            asides += [part.value for part in message.parts if isinstance(part, Opaque)]
    return steps, asides


def _shown(step: list[Message]) -> Native:
    """A turn with its results as the message of an interface."""
    return shown.write_messages(step, SIBLING)[0]


def _within(message: Message, first: Message) -> Message:
    """What is said of the message as a whole is said of the first turn."""
    return message if message is first or message.role != "assistant" else replace(message, id=None, extras=None)


def _is_event(part: Native) -> bool:
    """Is there an event for it? Of texts and files some have nothing to show."""
    known = part["type"] in ("text", "reasoning") or "toolCallId" in part or part["type"] == STEP
    return known or not part["type"].startswith(RESERVED)


def _end(last: Message, reason: str | None) -> Iterator[Native | str]:
    """Why the message ended; one that broke off has no end."""
    if last.stop_reason == "aborted":
        yield {"type": "abort", **({"reason": last.error} if last.error is not None else {})}
    elif last.error is not None:
        yield {"type": "error", "errorText": last.error}
        yield {"type": "finish", "finishReason": reason or "error"}
    elif last.stop_reason != "error" or reason:
        reason = reason or REASONS_OF.get(last.stop_reason or "", "other")
        yield {"type": "finish", **({"finishReason": reason} if last.stop_reason else {})}
    yield "[DONE]"


REASONS_OF = {**{ours: theirs for theirs, ours in REASON.items()}, "interrupted": "interrupted"}


FIT = (
    last_run(SIBLING),
    *COMMON,
    passes.on_parts(_has_event),
    passes.on_messages(_said),
    results.results_behind_calls,
    results.expressed(SHOWN),
    fitting.as_read_back(lift, write, "stream"),
)

REPEATED = (
    "id toolCallId toolName dynamic approvalId title inputTextDelta data output errorText preliminary finishReason "
    "providerMetadata messageMetadata messageId"
)
"""What ties events, and what is said again by a later one."""

DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="streams of the Vercel AI SDK",
    aliases=("ai-sdk-stream", "ui-message-stream"),
    specification="uiMessageChunkSchema of the package ai 7.0.173; read 2026-11-23",
    framings=("sse", "events"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=RULES,
    conventions=(SHOWN,),
    lacks=LACKS - {"message.id", "message.stopReason", "message.error"},
    repeats=frozenset(f"/*/{key}" for key in REPEATED.split()),
    reasons={
        **REASONS,
        **dict.fromkeys((*lacking.TOOLS, "toolChoice", "settings"), "a stream holds the answer, not what was asked"),
        **dict.fromkeys(
            ("message", "text", "reasoning", "tool_call"), "a stream holds the turns since the last question"
        ),
        "message.role": "a stream holds the turns of the assistant and their results",
        "message.id": "all turns of a stream are one message, which has one id",
        "message.stopReason": "only the message as a whole says why it ended",
        "message.error": "only the message as a whole has an error",
        "head": "a run is no tree",
    },
    places={
        **PLACES,
        **dict.fromkeys(("text.metadata", "reasoning.metadata"), ("providerMetadata",)),
        "message.stopReason": ("finishReason",),
        "message.error": ("errorText",),
    },
    metadata=lacking.fields("requestReason"),
)
