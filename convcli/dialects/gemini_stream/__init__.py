"""Gemini API streams: each response contains the next parts of the answer.

Specification: streamGenerateContent of the Gemini API v1beta; the types of the Python SDK `google-genai` 3.3.0; read
2026-11-20.

Quirks
- Without `alt=sse` the service sends the events as one JSON array. convcli reads it, and writes events.
- Every event is a whole response with the new parts. Token counts are totals; the last ones are final.
- Text continues in the next text part of the same kind, thought or not. A part with a signature is never joined or
  cut.
- A call arrives whole. Some programs write its name and arguments in different events. Arguments without a name belong
  to the call with the same id or `index`, else to the oldest call without arguments.
- Vertex AI streams arguments as `partialArgs`, values at JSON Paths, while `willContinue` announces more of them.
- There is no end mark. A candidate without a finish reason broke off; its turn has the stop reason `error`.
- Keys may be snake_case, as Python programs write them.
- A stream has one answer: the last model turn, or all candidates of a response.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.gemini_stream.assembling import TEXT, GrowingResponse
from convcli.families.google import document as documents
from convcli.families.google import places as tables
from convcli.families.google.config import COUNTS
from convcli.families.google.extras import OF_ANSWER, ExtraKeys
from convcli.families.google.fitting import answer
from convcli.families.google.keys import ONLY_GEMINI, ONLY_VERTEX, Service, Shape, names, owned, snake
from convcli.families.google.rules import READABLE_SIGNATURES
from convcli.kit import streams
from convcli.kit.objects import Native, as_object, get_extras, objects_in, omit
from convcli.kit.passes import on_each_message
from convcli.kit.streams import fragments
from convcli.model.dialect import Dialect, Evidence, Options
from convcli.model.document import Rows
from convcli.model.transcript import MEDIA_KINDS, Message, Origin, Part, Reasoning, Text, Transcript
from convcli.validation.rules import events, turns

SERVICE = Service("gemini-stream", "google", "models/", names(64), has=ONLY_GEMINI, unsupported=ONLY_VERTEX)


def detect(document: Any) -> Evidence | None:
    """Detects several responses that share an id or where one has no end. A single one could be a document.

    Marks compare no values with each other, such as the ids of events.
    """
    if not isinstance(document, list):
        return None
    rows = [row for row in document if isinstance(row, dict)]
    lists = [row["candidates"] for row in rows if isinstance(row.get("candidates"), list)]
    candidates = [one for some in lists for one in some if isinstance(one, dict)]
    if not rows or len(rows) < len(document) or not any("content" in one for one in candidates):
        return None
    ids = [id_ for id_ in map(_id_of, rows) if id_]
    is_repeated = len(set(map(str, ids))) < len(ids)
    open_ = any("finishReason" not in one and "finish_reason" not in one for one in candidates)
    if not isinstance(document, Rows):
        is_one = len(rows) == 1 or (is_repeated and len(set(map(str, ids))) == 1) or (open_ and not ids)
        return Evidence(90, "the document is an array of responses with candidates") if is_one else None
    return (
        Evidence(96, "several events have candidates")
        if is_repeated or (open_ and len(rows) > 1)
        else Evidence(85, "events have candidates")
    )


def _id_of(row: Native) -> Any:
    return row.get("responseId", row.get("response_id"))


class _OneResponse:
    """Checks that all events of a stream have the same response id."""

    id: Any = None

    def objection(self, event: Native) -> str:
        """Returns why the event cannot come now, or an empty string."""
        id_ = _id_of(event)
        self.id = self.id or id_
        return "this event has another response id than earlier events" if id_ and id_ != self.id else ""


class ResponseBoundaries:
    """Finds the events that begin another answer, once all candidates have ended: those with another response id, or
    with new parts of an ended candidate where the events have no ids."""

    def __init__(self) -> None:
        self._open, self._ended = set[str](), set[str]()
        self._id: Any = None

    def __call__(self, event: Any) -> bool:
        native = as_object(event)
        candidates = objects_in(native.get("candidates"))
        id_ = _id_of(native)
        is_named = id_ is not None or self._id is not None
        again = [one for one in candidates if _index_of(one) in self._ended]
        is_next = id_ not in (None, self._id) if is_named else any(map(_has_parts, again))
        is_other = is_next and bool(self._ended) and not self._open and bool(candidates)
        if is_other:
            self._open, self._ended = set(), set()
        self._id = id_ or self._id
        for candidate in candidates:
            has_ended = bool(candidate.get("finishReason") or candidate.get("finish_reason"))
            (self._ended if has_ended else self._open).add(_index_of(candidate))
        self._open -= self._ended
        return is_other


def _index_of(candidate: Native) -> str:
    return str(candidate.get("index") or 0)


def _has_parts(candidate: Native) -> bool:
    """True if the candidate has a part with content."""
    parts = objects_in(as_object(candidate.get("content")).get("parts"))
    return any(any(part.values()) for part in parts)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of the answer in the events."""
    answer = GrowingResponse(Origin(SERVICE.name))
    for at, row in enumerate(document):
        answer.take(row, at)
    transcript = documents.lift(answer.whole(), SERVICE)
    _lift_end(answer, transcript.messages)
    origin = transcript.origin
    assert origin is not None
    origin.routes, origin.pieces = answer.all_routes(), answer.all_pieces()
    return transcript


def _lift_end(answer: GrowingResponse, messages: list[Message]) -> None:
    """Marks candidates without an end as broken off; an error is that of the first such candidate."""
    broken = [message for message in messages if message.stop_reason is None]
    for message in broken:
        message.stop_reason = "error"
    if answer.error is not None:
        message = (broken or messages)[0]
        extras = omit(answer.error, "message")
        message.error = answer.error.get("message")
        if extras:
            message.extras = owned(SERVICE.owner, get_extras(message.extras, SERVICE.owner), {"error": extras})


# ---------------------------------------------------------------- fit

OF_EVENTS = OF_ANSWER._replace(inside={**OF_ANSWER.inside, "error": ExtraKeys(Shape("error", "code message"))})


def _join_texts(message: Message) -> Message:
    """Joins consecutive texts that have no metadata or extras."""
    parts: list[Any] = []
    for part in message.parts:
        if parts and _is_bare(part) and _is_bare(parts[-1]) and parts[-1].__class__ is part.__class__:
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text}{part.text}")  # type: ignore[union-attr]
        else:
            parts.append(part)
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _is_bare(part: Part) -> bool:
    return isinstance(part, (Text, Reasoning)) and part.metadata is None and not get_extras(part.extras, SERVICE.owner)


def _set_finish_reason(message: Message) -> Message:
    """Sets a finish reason on answers that have none."""
    if message.stop_reason is not None:
        return message
    return replace(message, stop_reason=documents.read_reason("STOP", message))


FIT = (
    streams.one_answer,
    *answer(SERVICE, OF_EVENTS, ("error",)),
    on_each_message(_join_texts),
    on_each_message(_set_finish_reason),
)

# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """Returns the events of the answer."""
    response = documents.write(transcript, Options(form="response"), SERVICE)
    return Rows(list(_events(response, transcript.messages, options.chunk)))


HEAD = ("modelVersion", "createTime", "responseId")
"""The keys of every event."""


def _events(response: Native, messages: list[Message], size: int) -> Iterator[Native]:
    head = {key: response[key] for key in HEAD if key in response}
    last = omit(response, "candidates", *head)
    rows: list[Native] = []
    for candidate, message in zip(response.get("candidates") or (), messages, strict=True):
        rows += [{"candidates": [one], **head} for one in _pieces(candidate, message, size)]
    rows = rows or [{"candidates": [], **head}]
    rows[-1] |= last
    yield from rows
    for message in messages:
        extra = get_extras(message.extras, SERVICE.owner).get("error")
        if message.error is not None or extra:
            error = as_object(extra)
            yield {"error": error if message.error is None else {**error, "message": message.error}}
            return


def _pieces(candidate: Native, message: Message, size: int) -> Iterator[Native]:
    """Yields the candidate one part at a time; the last has the finish reason."""
    content = dict(candidate["content"])
    index = {"index": candidate["index"]} if "index" in candidate else {}
    parts = [piece for part in content.pop("parts") for piece in _cut(part, size)]
    for part in parts[:-1]:
        yield {"content": {**content, "parts": [part]}, **index}
    end = omit(candidate, "content", "index", "finishReason")
    if message.stop_reason != "error":
        end = {"finishReason": candidate["finishReason"], **end}
    yield {"content": {**content, "parts": parts[-1:]}, **index, **end}


def _cut(part: Native, size: int) -> list[Native]:
    """Splits a text part. A part with other keys stays whole, since its signature is for all of it."""
    if not part.keys() <= TEXT or not part.get("text"):
        return [part]
    return [{**part, "text": piece} for piece in fragments(part["text"], size)]


REPEATED = {
    *(f"/*/{name}" for key in HEAD for name in (key, snake(key))),  # in every event
    *(f"/*/usageMetadata/{path[0]}" for path in COUNTS),  # totals; the last one is final
    *(f"/*/candidates/*/{key}" for key in ("index", "content/role")),
}

DIALECT = Dialect(
    name=SERVICE.name,
    title="Gemini API streams",
    specification="streamGenerateContent, Gemini API v1beta; Python SDK google-genai 3.3.0; read 2026-11-20",
    framings=("sse", "events", "document"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    answer_boundaries=ResponseBoundaries,
    rules=(
        events.ended(),
        events.in_order(lambda: _OneResponse().objection),
        READABLE_SIGNATURES,
        turns.decodable("warning"),
    ),
    supports=tables.SUPPORTS_BY_FORM["response"] | {"message.error"},
    reasons={
        **tables.LOSSES,
        **dict.fromkeys(
            (*streams.OTHER_MESSAGES, *MEDIA_KINDS),
            "Gemini API streams have one answer: the model's last turn",
        ),
        **dict.fromkeys(streams.OF_REQUEST, "Gemini API streams have one answer, not the request"),
        "text": "consecutive texts are one text in Gemini API streams",
        "message.stopReason": "Gemini API streams need one of Google's finish reasons",
    },
    places=tables.PLACES,
    envelope=tables.ENVELOPE,
    repeats=frozenset(REPEATED),
    family=SERVICE.owner,
)
