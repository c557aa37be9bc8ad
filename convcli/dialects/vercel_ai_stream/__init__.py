"""Vercel AI SDK streams: the events by which a server sends a message to a user interface as it is generated.

Specification: `uiMessageChunkSchema` and `processUIMessageStream` of the package ai 7.0.173; read 2026-11-23.

Quirks
- A stream is one message with several model turns, separated by `start-step`, and the results between them.
- Texts and thoughts grow by an id that only ties their events; a thought keeps its id in the message.
- The input of a call may grow as text; `tool-input-available` repeats it as a whole, and counts. Text that says
  something else is kept.
- An output, and data with an id, may come again: the last one counts. `reset-step` discards the step so far.
- `finish` ends the stream with a reason, `abort` when a user stopped it; `error` reports a failure, and `finish` may
  follow. A stream without an end was cut off.
- Outputs come after the calls of their step, in the order of their arrival; the message has them at the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from convcli.dialects.vercel_ai_stream.assembling import EVENTS, RESERVED, RESULTS, STEP, TURNS, Answer
from convcli.dialects.vercel_ai_stream.rules import RULES
from convcli.dialects.vercel_ai_stream.writing import message_events
from convcli.families.ai_sdk import shown
from convcli.families.ai_sdk.fitting import COMMON, PLACES, REASONS, SUPPORTS, shown_results
from convcli.families.ai_sdk.parts import is_shaped, lift_shown, tables
from convcli.kit import fitting, passes, results, streams
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, get_extras, make_extras, omit
from convcli.kit.runs import last_run
from convcli.kit.supported import fields
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Part, Path, ToolResult, Transcript

NAME, SIBLING = "vercel-ai-stream", "vercel-ai"


def _mark(event: Any) -> streams.Limits:
    """Returns the limits of messages: `start` begins one; `finish`, `abort` or the end mark ends it."""
    if isinstance(event, str):
        return streams.Limits(ends=True)
    kind = event.get("type") if isinstance(event, dict) else None
    is_start = kind == "start"
    return streams.Limits(is_start, kind in ("finish", "abort"), event.get("messageId") if is_start else None)


# ---------------------------------------------------------------- lift

REASON = {"stop": "stop", "length": "length", "tool-calls": "tool_calls", "content-filter": "content_filter"}


def lift(document: Any) -> Transcript:
    """Reads the message that the events add up to."""
    answer = Answer()
    for at, event in enumerate(document):
        answer.take(event, at)
    context = LiftContext(NAME, document, owner=SIBLING)
    if answer.has_begun:
        shown.lift_message(answer.whole(), (), context)
    extra = _lift_end(answer, context.messages)
    extra |= {"replaced": answer.replaced} if answer.replaced else {}
    _place_messages(answer, context)
    return context.transcript(extras=make_extras(SIBLING, extra))


def _place_messages(answer: Answer, context: LiftContext) -> None:
    """Moves results to where they came, and events without a part before the turn in which they came."""
    located = list(zip(context.messages, context.origin.places, strict=True))
    context.messages.clear()
    context.origin.places.clear()
    asides, routes = list(answer.asides), answer.all_routes()
    turn, is_steered = -1, False
    for message, (path, part_paths) in located:
        turn += message.role == "assistant"
        while message.role == "assistant" and asides and asides[0][0] <= turn:
            _add_aside(asides.pop(0), context)
        if message.role == "tool":
            path = (RESULTS, *path[1:])
        elif is_steered and message.role == "assistant" and part_paths:
            routes |= _routes_of_turn(turn, part_paths, routes)
            path = (TURNS, turn)
        is_steered = is_steered or message.role == "user"
        context.add(message, path, part_paths)
    for aside in asides:
        _add_aside(aside, context)
    context.origin.routes, context.origin.pieces = routes, answer.all_pieces()


def _routes_of_turn(turn: int, part_paths: Sequence[Path], routes: dict[Path, Path]) -> dict[Path, Path]:
    """Returns the routes of an answer after a message of the user: it begins with the event of its first part."""
    inside = {path: place for path, place in routes.items() if path[:2] in part_paths or len(path) == 1}
    return {(TURNS, turn): routes[part_paths[0]]} | {(TURNS, turn, *path): place for path, place in inside.items()}


def _add_aside(aside: tuple[int, Native, int], context: LiftContext) -> None:
    """Adds an event without a part, or a result without a call."""
    _, event, at = aside
    message = Message("event", [Opaque(SIBLING, event)])
    if event["type"] in ("tool-output-available", "tool-output-error"):
        failed = event["type"] == "tool-output-error"
        kind: Any = "error"
        kind, value = (kind, event["errorText"]) if failed else lift_shown(event.get("output"), context)
        id_, name = context.pairing.result(event["toolCallId"] or None, None)
        other_keys = omit(event, "type", "toolCallId", "output", "errorText", "dynamic")
        message = Message("tool", [ToolResult(id_, name, kind, value, extras=make_extras(SIBLING, other_keys))])
    context.add(message, (EVENTS, at), [()])


def _lift_end(answer: Answer, messages: list[Message]) -> Native:
    """Sets the stop reason on the last turn; returns its extras."""
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


def _keep_parts_with_events(part: Part, message: Message) -> Part | None:
    """Drops parts without an event: files without a URL, and parts of other dialects."""
    if message.role != "assistant" or not isinstance(part, (Media, Opaque)):
        return part
    native = tables(SIBLING).shown.write(part)
    return part if native is not None and _is_event(native) and not is_shaped(part, SIBLING, "tool-") else None


def _drop_early_steering(messages: list[Message]) -> list[Message]:
    """Drops what the user said before the first turn: only a message in an answer has an event."""
    first = next((i for i, message in enumerate(messages) if message.role == "assistant"), len(messages))
    kept = [each for i, each in enumerate(messages) if i > first or not shown.is_steering(each, SIBLING)]
    return messages if len(kept) == len(messages) else kept


def _drop_empty_turns(messages: list[Message]) -> list[Message]:
    """Drops an empty turn before another turn, which it begins; of several at the end the first stays."""
    kept: list[Message] = []
    for message in messages:
        is_turn = message.role == "assistant"
        follows_empty_turn = is_turn and bool(kept) and kept[-1].role == "assistant" and not kept[-1].parts
        if follows_empty_turn and message.parts:
            kept[-1] = message
        elif not follows_empty_turn:
            kept.append(message)
    return messages if len(kept) == len(messages) else kept


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """Writes the events of the message with all turns."""
    turns = [message for message in transcript.messages if message.role == "assistant"]
    if not turns:
        return Rows([])
    return Rows(list(_events(transcript, turns[0], turns[-1], options.chunk)))


def _events(transcript: Transcript, first: Message, last: Message, size: int) -> Iterator[Native | str]:
    extra = get_extras(transcript.extras, SIBLING)
    replaced = list(extra.get("replaced") or ())
    steps, asides = _steps(transcript.messages)
    native = _shown(steps[0][1])
    ids = {"messageId": first.id} if first.id else {}
    metadata = {"messageMetadata": native["metadata"]} if native.get("metadata") is not None else {}
    yield {"type": "start", **ids, **metadata, **omit(native, "id", "role", "parts", "metadata")}
    index = 0
    for events, messages in steps:
        yield from events
        step = _shown([_without_message_keys(message, first) for message in messages])["parts"]
        yield from message_events([part for part in step if _is_event(part)], replaced, size, index)
        index += len(step)
    yield from asides
    yield from _end(last, extra.get("finishReason"))


def _steps(messages: list[Message]) -> tuple[list[tuple[list[Native], list[Message]]], list[Native]]:
    """Splits into turns with their results and the events before them, and the events after the last one."""
    steps: list[tuple[list[Native], list[Message]]] = []
    asides: list[Native] = []
    for message in messages:
        if message.role == "assistant":
            steps.append((asides, [message]))
            asides = []
        elif steps and (message.role == "tool" or shown.is_steering(message, SIBLING)):
            steps[-1][1].append(message)
        else:
            asides += [part.value for part in message.parts if isinstance(part, Opaque)]
    return steps, asides


def _shown(step: list[Message]) -> Native:
    """Returns a turn with its results as a UI message."""
    return shown.write_messages(step, SIBLING)[0]


def _without_message_keys(message: Message, first: Message) -> Message:
    """Drops whole-message keys from all turns but the first."""
    return message if message is first or message.role != "assistant" else replace(message, id=None, extras=None)


def _is_event(part: Native) -> bool:
    """True for a part that has an event; some texts and files have none."""
    known = part["type"] in ("text", "reasoning") or "toolCallId" in part or part["type"] == STEP
    return known or not part["type"].startswith(RESERVED)


def _end(last: Message, reason: str | None) -> Iterator[Native | str]:
    """Yields the end of the message; one that was cut off has none."""
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
    last_run(SIBLING, is_inside=partial(shown.is_steering, owner=SIBLING)),
    passes.on_messages(_drop_early_steering),
    *COMMON,
    passes.on_parts(_keep_parts_with_events),
    passes.on_messages(_drop_empty_turns),
    results.results_behind_calls,
    results.apply_convention(SHOWN),
    fitting.settle_by_reading_back(lift, write, "stream"),
)

REPEATED = (
    "id toolCallId toolName dynamic approvalId title inputTextDelta data output errorText preliminary finishReason "
    "providerMetadata messageMetadata messageId"
)
"""What ties events together, and what later events repeat."""

DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="Vercel AI SDK streams",
    aliases=("ai-sdk-stream", "ui-message-stream"),
    specification="uiMessageChunkSchema of the package ai 7.0.173; read 2026-11-23",
    framings=("sse", "events", "document"),
    forms=("stream",),
    lift=lift,
    fit=FIT,
    write=write,
    answer_boundaries=lambda: streams.Boundaries(_mark),
    rules=RULES,
    conventions=(SHOWN,),
    supports=SUPPORTS | fields("message.id message.stopReason message.error"),
    repeats=frozenset(f"/*/{key}" for key in REPEATED.split()),
    reasons={
        **REASONS,
        **dict.fromkeys(streams.OF_REQUEST, "a stream has the answer, not the request"),
        **dict.fromkeys(
            ("message", "text", "reasoning", "tool_call"), "a stream has only the messages since the last question"
        ),
        "message.role": "a stream has only assistant messages and their results",
        "message.id": "all turns of a stream are one message with one id",
        "message.stopReason": "only the whole message has a stop reason",
        "message.error": "only the whole message has an error",
        "head": "a stream has no branches",
    },
    places={
        **PLACES,
        **dict.fromkeys(("text.metadata", "reasoning.metadata"), ("providerMetadata",)),
        "message.stopReason": ("finishReason",),
        "message.error": ("errorText",),
    },
    metadata=fields("approval requestReason"),
)
