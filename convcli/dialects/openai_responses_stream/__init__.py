"""OpenAI Responses streams: events that begin, grow and end the items of one response.

Specification: `ResponseStreamEvent` in the API reference of Responses, as typed by the Python SDK `openai` 3.51.0; read
2026-11-20.

Quirks
- An item grows by its `output_index`, its parts by `content_index` or `summary_index`; items may interleave.
- Streamed content is repeated when a part, an item and the response are done: the last occurrence counts, whether
  `done` or the output of the whole response. Some servers leave that output empty: then the items count as they came.
- `response.completed`, `.incomplete` or `.failed` ends the stream; an `error` event does too. Without one of them it
  was cut off: its last answer has the stop reason `error`.
- Events of unknown kinds are kept with the response.
- Deltas name their item. An item without an id, tool results included, is named by its position in the output
  (`msg_output_0`) in all of its events. Such a name is not data and is not read back.
- A stream covers one run: the assistant turns and their results since the last question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from convcli.dialects.openai_responses_stream.assembling import ENDS, FIELDS, INDEX, PARTS, TEXTS, Answer, name_of_place
from convcli.dialects.openai_responses_stream.rules import RULES
from convcli.families.responses.facts import COMMON, ENVELOPE, OF_RESPONSES, PLACES, REASONS
from convcli.families.responses.fitting import OTHER_EVENTS, as_response
from convcli.families.responses.items import COMPLETED, OUTPUTS, kind_of
from convcli.families.responses.parts import RESULTS
from convcli.families.responses.response import keep_last_answer, lift_response, write_response
from convcli.kit import streams
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, as_object, drop_extras, get_extras, make_extras, objects_in, omit
from convcli.kit.streams import fragments
from convcli.kit.supported import fields
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import MEDIA_KINDS, Transcript

NAME, SIBLING = "openai-responses-stream", "openai-responses"
ENDS_OF = {**ENDS, "cancelled": ENDS["incomplete"]}


BEGINS = ("response.created", "response.queued", "response.in_progress")


def _mark(event: Any) -> streams.Limits:
    """Returns the limits of responses."""
    kind = event.get("type") if isinstance(event, dict) else None
    begun = as_object(event.get("response")) if kind in BEGINS else {}
    return streams.Limits(kind in BEGINS, kind == "error" or kind in ENDS.values(), begun.get("id"))


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads the response that the events add up to."""
    answer = Answer()
    for at, event in enumerate(document):
        answer.take(event, at)
    context = LiftContext(NAME, document, owner=SIBLING)
    transcript = lift_response(answer.whole(), context)
    extra = get_extras(transcript.extras, SIBLING)
    transcript.extras = make_extras(SIBLING, extra, **{OTHER_EVENTS: answer.other_events})
    context.origin.routes, context.origin.pieces = answer.all_routes(), answer.all_pieces()
    return transcript


# ---------------------------------------------------------------- write


FIT = (streams.keep_last_run, *as_response(SIBLING, always=True))


def write(transcript: Transcript, options: Options) -> Rows:
    """Writes the events of the response. A response that failed without error details has no final event."""
    response = write_response(drop_extras(transcript, SIBLING, OTHER_EVENTS), SIBLING)
    other_events = get_extras(transcript.extras, SIBLING).get(OTHER_EVENTS)
    last = keep_last_answer(transcript.messages)
    _complete(response, is_answer=last is not None)
    is_cut_off = last is not None and last.stop_reason == "error" and not response.get("error")
    return Rows(_numbered(_events(response, objects_in(other_events), is_cut_off, options.chunk)))


def _complete(response: Native, *, is_answer: bool) -> None:
    """Adds what the service always writes in a response and its outputs, and requests omit."""
    if is_answer:
        response.setdefault("status", "completed")
    response["output"] = [_completed_item(item, index) for index, item in enumerate(response["output"])]


def _completed_item(item: Native, index: int) -> Native:
    is_output = kind_of(item) in OUTPUTS
    is_named = "id" in item or not (is_output or kind_of(item) in GROWS)
    named = item if is_named else {"id": name_of_place(item, index), **item}
    return {**COMPLETED, **named} if is_output else named


def _numbered(events: Iterable[Native]) -> list[Native]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _events(response: Native, other_events: list[Native], is_cut_off: bool, size: int) -> Iterator[Native]:
    started = dict(response) if is_cut_off else omit(response, "usage")
    started |= {key: None for key in ("error", "incomplete_details", "completed_at") if key in started}
    started |= {"output": [], "status": "in_progress"}
    yield {"type": "response.created", "response": started}
    yield from other_events
    for index, item in enumerate(response["output"]):
        where = {"output_index": index}
        grows = GROWS.get(kind_of(item), _no_events)
        yield {"type": "response.output_item.added", **where, "item": _started(item)}
        yield from grows(item, {"item_id": item.get("id") or name_of_place(item, index), **where}, size)
        yield {"type": "response.output_item.done", **where, "item": item}
    if not is_cut_off:
        kind = ENDS_OF.get(response.get("status") or "", ENDS["completed"])
        yield {"type": kind, "response": response}


def _started(item: Native) -> Native:
    """Returns an item before it grows."""
    if kind_of(item) not in GROWS:
        return item
    empty: Native = {"content": [], "summary": [], "arguments": "", "input": "", "status": "in_progress"}
    return {key: empty[key] if key in empty and isinstance(value, type(empty[key])) else value
            for key, value in item.items()}  # fmt: skip


def _no_events(item: Native, where: Native, size: int) -> Iterator[Native]:
    yield from ()


def _parts(item: Native, where: Native, size: int) -> Iterator[Native]:
    """Yields the events of the parts of a message or reasoning: each begins empty, grows and ends; others are whole."""
    for stem, key in PARTS.items():
        parts = item.get(key)
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            at = {**where, INDEX[key]: index}
            grows = next((name for name, row in TEXTS.items() if row[1:3] == (key, part["type"])), None)
            field = TEXTS[grows][3] if grows else ""
            text = part.get(field) if isinstance(part.get(field), str) else None
            yield {"type": f"{stem}.added", **at, "part": {**part, **({field: ""} if text else {})}}
            logged: Native = {"logprobs": []} if grows == "response.output_text" else {}
            for piece in fragments(text or "", size):
                yield {"type": f"{grows}.delta", **at, "delta": piece, **logged}
            if text is not None:
                yield {"type": f"{grows}.done", **at, field: text, **logged}
            yield {"type": f"{stem}.done", **at, "part": part}


def _field(item: Native, where: Native, size: int) -> Iterator[Native]:
    """Yields the events of a call's arguments."""
    for stem, (kind, field) in FIELDS.items():
        if kind == kind_of(item):
            for piece in fragments(item[field], size):
                yield {"type": f"{stem}.delta", **where, "delta": piece}
            yield {"type": f"{stem}.done", **where, field: item[field]}


GROWS = {"message": _parts, "reasoning": _parts, "function_call": _field, "custom_tool_call": _field}
"""Maps the type of an item to the function that yields its growth events."""


ANNOTATED = [f"{part}/{key}" for part in ("annotation", "part/annotations/*", "item/content/*/annotations/*")
             for key in ("type", "url", "title", "start_index", "end_index")]  # fmt: skip
REPEATED = f"""
    sequence_number output_index content_index summary_index annotation_index item_id obfuscation
    delta text refusal arguments input code part/type part/text part/refusal {" ".join(ANNOTATED)}
    item/type item/id item/status item/call_id item/name item/arguments item/input item/output item/encrypted_content
    item/action/type item/action/query item/content/*/type item/content/*/text item/content/*/refusal
    item/summary/*/type item/summary/*/text
    response/id response/model response/status response/created_at response/tool_choice
""".split()
"""The position of an event, and what is repeated when a part, an item, and the response are done."""

DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="OpenAI Responses streams",
    specification="ResponseStreamEvent of the API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("sse", "events", "document"),
    names_events=True,
    other_events=OTHER_EVENTS,
    forms=("stream",),
    lift=lift,
    fit=FIT,
    write=write,
    answer_boundaries=lambda: streams.Boundaries(_mark),
    rules=RULES,
    conventions=(RESULTS,),
    supports=COMMON | OF_RESPONSES,
    repeats=frozenset(f"/*/{place}" for place in REPEATED),
    reasons={
        **REASONS,
        **dict.fromkeys(streams.OF_REQUEST, "a stream has the answer, not the request"),
        **dict.fromkeys(MEDIA_KINDS, "an answer has no media"),
        **dict.fromkeys((*streams.OTHER_MESSAGES, "refusal"), "a stream has only the messages since the last question"),
        "message.role": "a stream has only assistant messages and their results",
        "message.model": "only the whole response names a model",
        "message.usage": "only the whole response has usage",
        "message.stopReason": "only the whole response has a stop reason, which it always has",
        "message.error": "only the whole response has an error",
        "title": "a response has no title",
        "cwd": "a response does not name a directory",
        "createdAt": "a response has times in whole seconds",
        "updatedAt": "a response has only its creation time",
        "head": "a response has no branches",
        "tool_result.status": "an output has no such status",
    },
    places=PLACES,
    metadata=fields("additional_tools"),
    envelope=ENVELOPE,
)
