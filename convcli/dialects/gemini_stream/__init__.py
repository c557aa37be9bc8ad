"""Streams of the Gemini API: responses that each hold the next parts of the answer.

Specification: streamGenerateContent of the Gemini API v1beta; the types of the Python SDK `google-genai` 3.3.0; read
2026-11-20.

Quirks
- Without `alt=sse` the service sends the events as one JSON array; it is read, and written as events.
- Every event is a whole response with the parts that are new; counts of tokens are totals, the last ones hold.
- Text goes on in the next text part of the same kind, thought or not. A part with a signature is never joined with
  another, nor cut.
- A call comes whole. Programs also write its name and its arguments in different events: arguments without a name
  belong to the oldest call that has none yet, or to the one with the same id or `index`.
- There is no end mark: a candidate without a finish reason breaks off, its turn has the stop reason `error`.
- Keys may be in snake case, as Python programs write them.
- It holds one answer: the last turn of the model, or all candidates of a response.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.gemini_stream.assembling import TEXT, GrowingResponse
from convcli.families.google import document as documents
from convcli.families.google import places as tables
from convcli.families.google.carried import OF_ANSWER, Carried
from convcli.families.google.config import COUNTS
from convcli.families.google.fitting import answer
from convcli.families.google.keys import ONLY_GEMINI, ONLY_VERTEX, Service, Shape, names, owned, snake
from convcli.kit import lacking, streams
from convcli.kit.objects import Native, as_object, carried_by, omit
from convcli.kit.passes import on_each_message
from convcli.kit.streams import fragments
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Origin, Part, Reasoning, Text, Transcript
from convcli.validation.rules import events

SERVICE = Service("gemini-stream", "google", "models/", names(64), has=ONLY_GEMINI, lacks=ONLY_VERTEX)


def detect(document: Any) -> Clue | None:
    """By several responses of which one has the id of another, or does not end; alone each could be a document."""
    if not isinstance(document, list):
        return None
    rows = [row for row in document if isinstance(row, dict)]
    lists = [row["candidates"] for row in rows if isinstance(row.get("candidates"), list)]
    candidates = [one for some in lists for one in some if isinstance(one, dict)]
    if not rows or len(rows) < len(document) or not any("content" in one for one in candidates):
        return None
    ids = [id_ for id_ in map(_id_of, rows) if id_]
    again = len(set(map(str, ids))) < len(ids)
    open_ = any("finishReason" not in one and "finish_reason" not in one for one in candidates)
    if not isinstance(document, Rows):
        is_one = len(rows) == 1 or (again and len(set(map(str, ids))) == 1) or (open_ and not ids)
        return Clue(90, "an array of candidates") if is_one else None
    return Clue(95, "candidates in several events") if again or (open_ and len(rows) > 1) else Clue(85, "candidates")


def _id_of(row: Native) -> Any:
    return row.get("responseId", row.get("response_id"))


class _OneResponse:
    """The id of the first event that has one: all events of one stream are of the same response."""

    id: Any = None

    def objection(self, event: Native) -> str:
        """Why the event cannot come now; nothing if it can."""
        id_ = _id_of(event)
        self.id = self.id or id_
        return "this event is of another response than those before it" if id_ and id_ != self.id else ""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the answer that the events hold."""
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
    """A candidate that nothing ended broke off; an error is that of the first such candidate."""
    broken = [message for message in messages if message.stop_reason is None]
    for message in broken:
        message.stop_reason = "error"
    if answer.error is not None:
        message = (broken or messages)[0]
        beside = omit(answer.error, "message")
        message.error = answer.error.get("message")
        if beside:
            message.extras = owned(SERVICE.owner, carried_by(message.extras, SERVICE.owner), {"error": beside})


# ---------------------------------------------------------------- fit

OF_EVENTS = OF_ANSWER._replace(inside={**OF_ANSWER.inside, "error": Carried(Shape("error", "code message"))})


def _joined_texts(message: Message) -> Message:
    """Texts that follow each other are one text, unless something stands beside one of them."""
    parts: list[Any] = []
    for part in message.parts:
        if parts and _is_bare(part) and _is_bare(parts[-1]) and parts[-1].__class__ is part.__class__:
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text}{part.text}")  # type: ignore[union-attr]
        else:
            parts.append(part)
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _is_bare(part: Part) -> bool:
    return isinstance(part, (Text, Reasoning)) and part.metadata is None and not carried_by(part.extras, SERVICE.owner)


def _ended(message: Message) -> Message:
    """An answer that did not break off has a finish reason."""
    if message.stop_reason is not None:
        return message
    return replace(message, stop_reason=documents.read_reason("STOP", message))


FIT = (
    streams.one_answer,
    *answer(SERVICE, OF_EVENTS, ("error",)),
    on_each_message(_joined_texts),
    on_each_message(_ended),
)

# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """The events of the answer."""
    response = documents.write(transcript, Options(form="response"), SERVICE)
    return Rows(list(_events(response, transcript.messages, options.chunk)))


HEAD = ("modelVersion", "createTime", "responseId")
"""What every event says."""


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
        carried = carried_by(message.extras, SERVICE.owner).get("error")
        if message.error is not None or carried:
            error = as_object(carried)
            yield {"error": error if message.error is None else {**error, "message": message.error}}
            return


def _pieces(candidate: Native, message: Message, size: int) -> Iterator[Native]:
    """The candidate with one part after another; the last one says how it ended."""
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
    """A text in pieces. A part that says more than its text stays whole: its signature is for all of it."""
    if not part.keys() <= TEXT or not part.get("text"):
        return [part]
    return [{**part, "text": piece} for piece in fragments(part["text"], size)]


REPEATED = {
    *(f"/*/{name}" for key in HEAD for name in (key, snake(key))),  # in every event
    *(f"/*/usageMetadata/{path[0]}" for path in COUNTS),  # totals, of which the last one holds
    *(f"/*/candidates/*/{key}" for key in ("index", "content/role")),
}

DIALECT = Dialect(
    name=SERVICE.name,
    title="streams of the Gemini API",
    specification="streamGenerateContent, Gemini API v1beta; Python SDK google-genai 3.3.0; read 2026-11-20",
    framings=("sse", "events", "document"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=(events.ended(), events.in_order(lambda: _OneResponse().objection)),
    lacks=tables.LACKS_BY_FORM["response"] - {"message.error"},
    reasons={
        **tables.LOSSES,
        **dict.fromkeys(
            ("message", *lacking.PARTS, *lacking.MEDIA), "a stream holds one answer: the model's last turn"
        ),
        **dict.fromkeys(("tools", "tool", "toolChoice", "settings"), "a stream holds one answer, not what was asked"),
        "text": "texts that follow each other are one text",
        "message.stopReason": "an answer ends with a finish reason, and Google has a list of them",
    },
    places=tables.PLACES,
    envelope=tables.ENVELOPE,
    repeats=frozenset(REPEATED),
    family=SERVICE.owner,
)
