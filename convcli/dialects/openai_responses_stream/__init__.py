"""Streams of OpenAI Responses: events that begin, grow and end the items of one response.

Specification: `ResponseStreamEvent` in the API reference of Responses, as typed by the Python SDK `openai` 3.51.0; read
2026-11-20.

Quirks
- An item grows by its `output_index`, its parts by `content_index` or `summary_index`; items may interleave.
- What was streamed is said again when a part, an item and the response are done: the last word counts, be it `done` or
  the output of the whole response. Some servers leave that output empty: then the items count as they came.
- `response.completed`, `.incomplete` or `.failed` ends the stream; an `error` event does too. Without one of them it
  broke off: its last answer has the stop reason `error`.
- Events of kinds that are not known are kept with the response.
- Deltas name their item; where an item has no id, one is made up for them, and only for them.
- It holds one run: the turns of the assistant and their results since the last question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from convcli.dialects.openai_responses_stream.rules import RULES
from convcli.families.responses.items import COMPLETED, OUTPUTS, kind_of
from convcli.families.responses.parts import express
from convcli.families.responses.places import PLACES
from convcli.families.responses.response import as_allowed, lift_response, lower_response
from convcli.families.responses.turns import Reader, Writer
from convcli.kit import streams
from convcli.kit.objects import Native
from convcli.kit.pairing import Pairing
from convcli.kit.streams import Growing, Slots, fragments
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Origin, Path, Transcript

NAME, SIBLING = "openai-responses-stream", "openai-responses"
ENDS = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}
"""The event that ends a stream, by the status of its response."""
ENDS_OF = {**ENDS, "cancelled": ENDS["incomplete"]}

TEXTS = {
    "response.output_text": ("message", "content", "output_text", "text"),
    "response.refusal": ("message", "content", "refusal", "refusal"),
    "response.reasoning_text": ("reasoning", "content", "reasoning_text", "text"),
    "response.reasoning_summary_text": ("reasoning", "summary", "summary_text", "text"),
}
"""Events that make a part grow: the type of its item, the list in which it stands, its type and the key of its text."""
FIELDS = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
    "response.mcp_call_arguments": ("mcp_call", "arguments"),
    "response.code_interpreter_call_code": ("code_interpreter_call", "code"),
}
"""Events that make an item grow: its type and the key of its text."""
PARTS = {"response.content_part": "content", "response.reasoning_summary_part": "summary"}
"""Events that begin and end a part, and the list in which it stands."""
ANNOTATION = "response.output_text.annotation.added"
PROGRESS = tuple(
    f"response.{family}."
    for family in (
        "audio", "code_interpreter_call", "content_part", "custom_tool_call_input", "file_search_call",
        "function_call_arguments", "image_generation_call", "mcp_call", "mcp_call_arguments", "mcp_list_tools",
        "output_item", "output_text", "reasoning_summary_part", "reasoning_summary_text", "reasoning_text", "refusal",
        "web_search_call",
    )
)  # fmt: skip
"""Events of a kind that we know: what they say is in the items, which come when they are done."""
INDEX = {"content": "content_index", "summary": "summary_index"}


def detect(document: Any) -> Clue | None:
    """By events of a response."""
    if not isinstance(document, Rows):
        return None
    kinds = [row["type"] for row in document if isinstance(row, dict) and isinstance(row.get("type"), str)]
    known = next((kind for kind in kinds if kind.startswith("response.")), None)
    if known is not None:
        return Clue(95, f"{known} events")
    errors = all(isinstance(row, dict) and "sequence_number" in row for row in document)
    return Clue(90, "a numbered error event") if errors and set(kinds) == {"error"} else None


# ---------------------------------------------------------------- assembling


class _Item:
    """One item while its events come in. `home`: where it was said; `first`: where each of its parts was said first."""

    def __init__(self, home: Path, native: Native) -> None:
        self.home, self.native = home, Growing(native)
        self.lists = {"content": Slots(), "summary": Slots()}
        self.first: dict[tuple[str, int], Path] = {}
        self.is_done = False

    def done(self, native: Native, place: Path) -> None:
        if not self.is_done:
            self.home, self.first = place, {}
        self.native, self.is_done = Growing(native), True

    def part(self, event: Native, key: str, native: Native, place: Path) -> Growing:
        """The part that an event names; `native` is how it begins."""
        index = event.get(INDEX[key]) or 0
        self.first.setdefault((key, index), place)
        return self.lists[key].setdefault(index, Growing(native))

    def whole(self) -> Native:
        """The item as the sibling knows it."""
        native: Native = streams.whole(self.native)
        if not self.is_done:
            grown = {key: streams.whole(parts) for key, parts in self.lists.items() if parts}
            native = {**DEFAULTS.get(kind_of(native), {}), **native, **grown}
        return native


DEFAULTS: dict[str, Native] = {
    "message": {"type": "message", "role": "assistant", "content": []},
    "function_call": {"type": "function_call", "name": "", "arguments": ""},
    "custom_tool_call": {"type": "custom_tool_call", "name": "", "input": ""},
}
"""What an item has whose beginning is missing."""


class _Answer:
    """A response while its events come in."""

    def __init__(self) -> None:
        self.response: Native = {}
        self.items: dict[int, _Item] = {}
        self.routes: dict[Path, Path] = {(): (0,)}
        self.error: Native | None = None
        self.is_done = False

    def take(self, event: Any, at: int) -> None:
        if isinstance(event, str):
            return
        kind: str = event["type"]
        stem, _, step = kind.rpartition(".")
        if kind in WHOLE:
            self._response(kind, event["response"], at)
        elif kind == "error":
            inside = isinstance(event.get("error"), dict)
            given = event["error"] if inside else event
            self.routes["error",] = (at, "error") if inside else (at,)
            self.error = {key: given[key] for key in ("code", "message", "param") if given.get(key) is not None}
        elif stem == "response.output_item" and step in ("added", "done"):
            self._item(event["output_index"], event["item"], (at, "item"), step == "done")
        elif stem in PARTS and step in ("added", "done"):
            item = self._open(event, "reasoning" if PARTS[stem] == "summary" else "message", at)
            item.part(event, PARTS[stem], event["part"], (at, "part")).update(event["part"])
        elif stem in TEXTS and step in ("delta", "done"):
            self._text(event, *TEXTS[stem], step, at)
        elif stem in FIELDS and step in ("delta", "done"):
            self._field(event, *FIELDS[stem], step, at)
        elif kind == ANNOTATION and event.get("annotation"):
            part = self._open(event, "message", at).part(event, "content", {"type": "output_text", "text": ""}, (at,))
            streams.extend(part, "annotations", [event["annotation"]])
        elif not kind.startswith(PROGRESS):
            streams.extend(self.response, "events", [event])
            self.routes.setdefault(("events",), (at,))

    def _response(self, kind: str, native: Native, at: int) -> None:
        self.response.pop("status", None)
        self.response |= {key: value for key, value in native.items() if key != "output"}
        self.routes |= {(key,): (at, "response", key) for key in native if native[key] is not None or not at}
        for index, item in enumerate(native.get("output") or ()):
            self._item(index, item, (at, "response", "output", index), kind in ENDS.values())
        self.is_done = kind in ENDS.values()

    def _item(self, index: int, native: Native, place: Path, is_done: bool) -> None:
        item = self.items.setdefault(index, _Item(place, native))
        if is_done:
            item.done(native, place)

    def _open(self, event: Native, kind: str, at: int) -> _Item:
        return self.items.setdefault(event["output_index"], _Item((at,), {"type": kind}))

    def _text(self, event: Native, kind: str, key: str, type_: str, field: str, step: str, at: int) -> None:
        part = self._open(event, kind, at).part(event, key, {"type": type_, field: ""}, (at, step))
        if step == "done":
            part[field] = event[field]
            return
        streams.grow(part, field, event["delta"])
        if event.get("logprobs"):
            streams.extend(part, "logprobs", event["logprobs"])

    def _field(self, event: Native, kind: str, field: str, step: str, at: int) -> None:
        item = self._open(event, kind, at)
        if step == "done" and not item.is_done:
            item.native[field] = event[field]
        elif not item.is_done:
            streams.grow(item.native, field, event["delta"])

    def whole(self) -> Native:
        """The response as the sibling knows it; one that broke off has failed."""
        items = [self.items[index].whole() for index in sorted(self.items)]
        native = {**streams.whole(Growing(self.response)), "output": items}
        if self.error is not None or not self.is_done:
            native["status"] = "failed"
        if self.error is not None and not native.get("error"):
            native["error"] = {"code": "server_error", **self.error}
        return native

    def all_routes(self) -> dict[Path, Path]:
        """Where what is in the response was said in the events."""
        routes = dict(self.routes)
        for j, index in enumerate(sorted(self.items)):
            item = self.items[index]
            routes["output", j] = item.home
            routes |= {("output", j, *path): place for path, place in item.first.items()}
        return routes


WHOLE = frozenset((*ENDS.values(), "response.created", "response.queued", "response.in_progress"))


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the response that the events make."""
    answer = _Answer()
    for at, event in enumerate(document):
        answer.take(event, at)
    origin = Origin(NAME, spot=("content",))
    pairing = Pairing(document)
    origin.invented = pairing.invented
    family = Origin(SIBLING, spot=("content",))
    family.invented = pairing.invented
    transcript = lift_response(answer.whole(), Reader(pairing, family, listed=True), family)
    for name in ("places", "document", "spellings", "keep"):
        setattr(origin, name, getattr(family, name))
    origin.routes = answer.all_routes()
    transcript.origin = origin
    streams.keep(origin, document)
    return transcript


# ---------------------------------------------------------------- lower


def lower(transcript: Transcript, options: Options) -> Rows:
    """The events of the response, as they came unless the transcript or the wish for fragments is another."""
    rows = None if options.chunk else streams.kept(transcript, NAME, lift)
    if rows is not None:
        return rows
    own = transcript.origin is not None and transcript.origin.dialect == NAME and transcript.head is None
    messages = transcript.messages if own else streams.run(transcript)
    answer = streams.as_response(transcript, messages, NAME, SIBLING)
    if not own:
        answer = as_allowed(answer)
    last = next((message for message in reversed(answer.messages) if message.role == "assistant"), None)
    response = lower_response(answer, answer.messages, Writer(answer, SIBLING, listed=True))
    failed = last is not None and last.stop_reason == "error"
    if not own:
        _settle(response, is_answer=last is not None)
    return Rows(_numbered(_events(response, failed and not response.get("error"), options.chunk)))


def _settle(response: Native, *, is_answer: bool) -> None:
    """What the service always says of a response and of its outputs, and requests leave out."""
    if is_answer:
        response.setdefault("status", "completed")
    response["output"] = [{**item, **COMPLETED} if kind_of(item) in OUTPUTS else item for item in response["output"]]


def _numbered(events: Iterable[Native]) -> list[Native]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _events(response: Native, broken: bool, size: int) -> Iterator[Native]:
    begun = dict(response) if broken else {key: value for key, value in response.items() if key != "usage"}
    begun |= {key: None for key in ("error", "incomplete_details", "completed_at") if key in begun}
    begun |= {"output": [], "status": "in_progress"}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(response["output"]):
        where = {"output_index": index}
        grows = GROWS.get(kind_of(item), _no_events)
        yield {"type": "response.output_item.added", **where, "item": _begun(item)}
        yield from grows(item, {"item_id": item.get("id") or f"item_{index}", **where}, size)
        yield {"type": "response.output_item.done", **where, "item": item}
    if not broken:
        kind = ENDS_OF.get(response.get("status") or "", ENDS["completed"])
        yield {"type": kind, "response": response}


def _begun(item: Native) -> Native:
    """An item before it grows."""
    if kind_of(item) not in GROWS:
        return item
    empty: Native = {"content": [], "summary": [], "arguments": "", "input": "", "status": "in_progress"}
    return {key: empty[key] if key in empty and isinstance(value, type(empty[key])) else value
            for key, value in item.items()}  # fmt: skip


def _no_events(item: Native, where: Native, size: int) -> Iterator[Native]:
    yield from ()


def _parts(item: Native, where: Native, size: int) -> Iterator[Native]:
    """The parts of a message or of reasoning: each begins empty, grows and ends; one of another type is whole."""
    for stem, key in PARTS.items():
        parts = item.get(key)
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            at = {**where, INDEX[key]: index}
            grows = next((name for name, row in TEXTS.items() if row[1:3] == (key, part["type"])), None)
            field = TEXTS[grows][3] if grows else ""
            text = part.get(field) if isinstance(part.get(field), str) else ""
            yield {"type": f"{stem}.added", **at, "part": {**part, **({field: ""} if text else {})}}
            logged: Native = {"logprobs": []} if grows == "response.output_text" else {}
            for piece in fragments(text or "", size):
                yield {"type": f"{grows}.delta", **at, "delta": piece, **logged}
            if grows:
                yield {"type": f"{grows}.done", **at, field: text or "", **logged}
            yield {"type": f"{stem}.done", **at, "part": part}


def _field(item: Native, where: Native, size: int) -> Iterator[Native]:
    """The arguments of a call."""
    for stem, (kind, field) in FIELDS.items():
        if kind == kind_of(item):
            for piece in fragments(item[field], size):
                yield {"type": f"{stem}.delta", **where, "delta": piece}
            yield {"type": f"{stem}.done", **where, field: item[field]}


GROWS = {"message": _parts, "reasoning": _parts, "function_call": _field, "custom_tool_call": _field}
"""By the type of an item, the events by which it grows."""


DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="streams of OpenAI Responses",
    specification="ResponseStreamEvent of the API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("sse", "events"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "error": ("encoded", 'an output has no field for a failure: written as {"error": …}'),
                "data": ("changed", "an output is text or parts: the data is written as JSON"),
                "multimodal": ("changed", "one part of text is the same as text"),
            },
        ),
    ),
    reasons={
        "message": "a stream holds the turns since the last question",
        "message.grouping": "answers that follow on each other are one",
        "message.role": "a stream holds the turns of the assistant and their results",
        "message.id": "items have ids of their own",
        "message.parentId": "items have no parent",
        "message.name": "items have no name",
        "message.createdAt": "items have no time",
        "message.model": "the model is that of the whole response",
        "message.usage": "the counts are those of the whole response",
        "message.stopReason": "only the response as a whole says why it ended, and it always does",
        "message.error": "only the response as a whole has an error",
        "reasoning": "the Responses API takes back only reasoning of its own",
        "tools": "a stream holds the answer, not what was asked",
        "tool": "a stream holds the answer, not what was asked",
        "toolChoice": "a stream holds the answer, not what was asked",
        "settings": "a stream holds the answer, not what was asked",
        "title": "a response has no title",
        "cwd": "a response does not name a directory",
        "createdAt": "a response has whole seconds",
        "updatedAt": "a response has only the time at which it began",
        "head": "a response is no tree",
        "event": "no model ever saw this row",
        "tool_result.isError": "an output has no field for a failure",
        "tool_result.status": "an output has no such state",
        "image": "an answer holds no media",
        "audio": "an answer holds no media",
        "video": "an answer holds no media",
        "document": "an answer holds no media",
    },
    places=PLACES,
    envelope=frozenset(
        (
            "events",
            "background",
            "billing",
            "completed_at",
            "metadata",
            "object",
            "request",
            "service_tier",
            "status",
            "store",
            "usage",
        )
    ),
)
