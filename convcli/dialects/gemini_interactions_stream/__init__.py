"""Streams of Google's Interactions API: events that begin, grow and end the steps of one interaction.

Specification: `InteractionSSEEvent` of the Python SDK `google-genai` 3.6.1; read 2026-11-27.

Quirks
- A step grows by its `index`. A text delta continues the text before it: convcli begins a step for each further text.
- Summaries of a thought arrive in pieces, which are joined. Its signature is a delta of its own.
- Arguments arrive as pieces of JSON; the step begins with an empty object.
- Results and steps of tools that Google runs arrive whole, when they begin or in a delta of their type.
- `interaction.completed` ends the stream. Without it, or another final status, it was cut off: its last answer has the
  stop reason `error`.
- If the last event has all steps, these count, and not the deltas.
- Events and deltas of unknown kinds are read as steps of their own.
- A stream covers one run: the assistant messages and their results since the last question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.gemini_interactions_stream.assembling import (
    COMPLETED,
    CREATED,
    DELTA,
    ERROR,
    START,
    STOP,
    Answer,
)
from convcli.families.google.rules import READABLE_SIGNATURES
from convcli.families.interactions import facts
from convcli.families.interactions.fitting import MESSAGES, RESULTS, without_instructions
from convcli.families.interactions.response import last_answer, lift_response, write_response
from convcli.families.interactions.steps import CALL, OUTPUT, THOUGHT
from convcli.kit import fitting, passes, streams
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, as_object, drop_extras, get_extras, objects_in, omit, without_nulls
from convcli.kit.values import write_arguments
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.document import Rows
from convcli.model.transcript import MEDIA_KINDS, Message, Part, Transcript
from convcli.validation.rules import arguments, events, turns
from convcli.validation.survey import for_outputs

NAME, SIBLING = "gemini-interactions-stream", "gemini-interactions"
OF_STOP = ("usage", "step_usage")
"""Keys of a step that its last event has."""


def _limits(event: Any) -> streams.Limits:
    """Returns the limits of interactions."""
    kind = as_object(event).get("event_type")
    begun = as_object(event.get("interaction")) if kind == CREATED else {}
    return streams.Limits(kind == CREATED, kind in (COMPLETED, ERROR), begun.get("id"))


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads the interaction that the events add up to."""
    answer = Answer()
    for at, event in enumerate(document):
        answer.take(event, at)
    context = LiftContext(NAME, document, owner=SIBLING)
    transcript = lift_response(answer.whole(), context)
    context.origin.routes, context.origin.pieces = answer.all_routes(), answer.all_pieces()
    return transcript


# ---------------------------------------------------------------- fit


def _join_summary(part: Part, _: Message) -> Part:
    """Drops the pieces of a thought, which a stream joins: the part has their text."""
    kinds = [content.get("type") for content in objects_in(get_extras(part.extras, SIBLING).get("summary"))]
    return drop_extras(part, SIBLING, "summary") if kinds.count("text") > 1 else part


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """Writes the events of the interaction. One that failed without an error has no final event."""
    interaction = write_response(transcript, SIBLING)
    answer = last_answer(transcript.messages)
    if answer is not None:
        interaction.setdefault("status", "completed")
    is_cut_off = answer is not None and answer.stop_reason == "error" and not interaction.get("errors")
    return Rows(list(_events(interaction, options.chunk, is_cut_off=is_cut_off)))


def _events(interaction: Native, size: int, *, is_cut_off: bool) -> Iterator[Native]:
    whole = omit(interaction, "steps", "errors")
    started = whole if is_cut_off else omit(whole, "usage", "updated")
    yield {"event_type": CREATED, "interaction": {**started, "status": "in_progress"}}
    steps = [piece for step in interaction["steps"] for piece in _with_one_text_each(step)]
    for index, step in enumerate(steps):
        yield {"event_type": START, "index": index, "step": _started(step)}
        for delta in _deltas(step, size):
            yield {"event_type": DELTA, "index": index, "delta": delta}
        yield {"event_type": STOP, "index": index, **{key: step[key] for key in OF_STOP if key in step}}
    for error in interaction.get("errors") or ():
        yield {"event_type": ERROR, "error": error}
    if not is_cut_off:
        yield {"event_type": COMPLETED, "interaction": whole}


def _with_one_text_each(step: Native) -> list[Native]:
    """Splits an output before each text that follows a text, because deltas would join them."""
    contents = step.get("content") or [] if step["type"] == OUTPUT else []
    kinds = [content["type"] for content in contents]
    cuts = [at for at in range(1, len(kinds)) if kinds[at - 1] == kinds[at] == "text"]
    if not cuts:
        return [step]
    limits = zip([0, *cuts], [*cuts, len(kinds)], strict=True)
    pieces = [contents[first:last] for first, last in limits]
    return [{**step, "content": pieces[0]}, *({"type": OUTPUT, "content": piece} for piece in pieces[1:])]


def _started(step: Native) -> Native:
    """Returns a step before it grows."""
    started = omit(step, *OF_STOP)
    if step["type"] == OUTPUT:
        return omit(started, "content")
    if step["type"] == THOUGHT:
        return omit(started, "summary", "signature")
    return {**started, "arguments": {}} if step["type"] == CALL else started


def _deltas(step: Native, size: int) -> Iterator[Native]:
    """Yields the deltas of a step; results and steps of other kinds have none."""
    if step["type"] == OUTPUT:
        for content in step.get("content") or ():
            yield from _pieces(content, size)
            if content["type"] == "text" and content.get("annotations"):
                yield {"type": "text_annotation_delta", "annotations": content["annotations"]}
    elif step["type"] == THOUGHT:
        for content in step.get("summary") or ():
            for piece in _pieces(content, size):
                yield {"type": "thought_summary", "content": piece}
        if step.get("signature") is not None:
            yield {"type": "thought_signature", "signature": step["signature"]}
    elif step["type"] == CALL and step["arguments"] != {}:
        native = step["arguments"]
        text = native if isinstance(native, str) else write_arguments(native, None)
        for fragment in streams.fragments(text, size) or [""]:
            yield {"type": "arguments_delta", "arguments": fragment}


def _pieces(content: Native, size: int) -> list[Native]:
    """Returns a content in pieces: a text in fragments, with its other keys in the first; any other content whole."""
    if content["type"] != "text":
        return [content]
    first, *others = streams.fragments(content["text"], size) or [""]
    whole = {**omit(content, "annotations"), "text": first}
    return [without_nulls(whole), *({"type": "text", "text": fragment} for fragment in others)]


FIT: tuple[Pass, ...] = (
    streams.keep_last_run,
    *MESSAGES,
    without_instructions,
    passes.on_parts(_join_summary, "reasoning"),
    fitting.without("tools", "tool_choice", "settings"),
    fitting.settle_by_reading_back(lift, write, "stream"),
)


# ---------------------------------------------------------------- rules


class _Interaction:
    """The state of an interaction while its events arrive."""

    def __init__(self) -> None:
        self.steps: set[Any] = set()
        self.has_ended = False

    def objection(self, event: Native) -> str:
        """Returns why the event is not allowed now; empty if it is."""
        kind, index = event.get("event_type"), event.get("index")
        if self.has_ended:
            return "the interaction has already ended"
        self.has_ended = kind == COMPLETED
        if kind == START:
            is_again = index in self.steps
            self.steps.add(index)
            return f"a step with the index {index} began before" if is_again else ""
        return f"no step with the index {index} has begun" if kind == DELTA and index not in self.steps else ""


RULES = (
    events.ended(),
    events.in_order(lambda: _Interaction().objection),
    arguments.readable(),
    READABLE_SIGNATURES,
    turns.decodable("warning"),
    for_outputs(events.complete("interaction.id")),
)

REPEATED = (
    *("event_id", "index", "interaction_id", "interaction/status", "status"),
    *(f"interaction/{key}" for key in facts.REPEATS),
)
"""The position of an event, the id of the interaction, and a status that changes."""

DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="streams of the Interactions API",
    specification="InteractionSSEEvent; Python SDK google-genai 3.6.1; read 2026-11-27",
    framings=("sse", "events", "document"),
    names_events=True,
    forms=("stream",),
    lift=lift,
    fit=FIT,
    write=write,
    answer_boundaries=lambda: streams.Boundaries(_limits),
    rules=RULES,
    conventions=(RESULTS,),
    supports=facts.COMMON | facts.OF_RESPONSES | {"tool_call.rawArguments"},
    repeats=frozenset(f"/*/{place}" for place in REPEATED),
    reasons={
        **facts.REASONS,
        **dict.fromkeys(streams.OF_REQUEST, "a stream has the answer, not the request"),
        **dict.fromkeys(
            (*streams.OTHER_MESSAGES, *MEDIA_KINDS, "refusal"),
            "a stream has only the messages since the last question",
        ),
        "message.role": "a stream has only assistant messages and their results",
        "message.usage": "only the interaction as a whole has usage",
        "message.stopReason": "only the interaction as a whole has a status, which it always has",
        "message.error": "only the interaction as a whole has errors",
    },
    places=facts.PLACES,
    envelope=facts.ENVELOPE,
)
