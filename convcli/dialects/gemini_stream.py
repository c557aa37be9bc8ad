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

from convcli.families.google import document as documents
from convcli.families.google import places as tables
from convcli.families.google.carried import OF_ANSWER, Carried
from convcli.families.google.config import COUNTS
from convcli.families.google.contents import CONTENT
from convcli.families.google.fitting import answer
from convcli.families.google.keys import ONLY_GEMINI, ONLY_VERTEX, Service, Shape, listed, names, owned, snake
from convcli.families.google.parts import CALL, PART
from convcli.kit import streams
from convcli.kit.objects import Native, carried_by
from convcli.kit.passes import on_each_message
from convcli.kit.streams import Pieces, fragments
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Origin, Part, Path, Reasoning, Text, Transcript
from convcli.validation.rules import events

SERVICE = Service("gemini-stream", "google", "models/", names(64), has=ONLY_GEMINI, lacks=ONLY_VERTEX)
TEXT = {"text", "thought"}
"""The keys of a part that may go on in the next one."""


def detect(document: Any) -> Clue | None:
    """By several responses of which one has the id of another, or does not end; alone each could be a document."""
    if not isinstance(document, list):
        return None
    rows = [row for row in document if isinstance(row, dict)]
    lists = [row["candidates"] for row in rows if isinstance(row.get("candidates"), list)]
    candidates = [one for some in lists for one in some if isinstance(one, dict)]
    if not rows or len(rows) < len(document) or not any("content" in one for one in candidates):
        return None
    ids = [row.get("responseId", row.get("response_id")) for row in rows]
    if not isinstance(document, Rows):
        return Clue(90, "an array of candidates")
    again = len({str(id_) for id_ in ids if id_}) < len([id_ for id_ in ids if id_])
    open_ = any("finishReason" not in one and "finish_reason" not in one for one in candidates)
    return Clue(95, "candidates in several events") if again or (open_ and len(rows) > 1) else Clue(85, "candidates")


# ---------------------------------------------------------------- assembling


class _Candidate:
    """One candidate while its parts come in.

    `routes` says where what is in it stands, `waiting` which calls have no arguments yet.
    """

    def __init__(self, home: Path) -> None:
        self.routes: dict[Path, Path] = {(): home}
        self.fields: Native = {}
        self.content: Native = {}
        self.parts: list[Native] = []
        self.waiting: list[Native] = []
        self.calls: dict[Any, Native] = {}

    def add(self, part: Native, place: Path) -> None:
        call = part.get("functionCall")
        if isinstance(call, dict):
            before = self._before(call)
            if before is not None:
                _go_on(before, part, call)
                self._route(next(j for j, one in enumerate(self.parts) if one is before), part, place)
                return
        elif self._goes_on(part):
            streams.grow(self.parts[-1], "text", part["text"])
            return
        self._route(len(self.parts), part, place)
        self.parts.append(part)
        if isinstance(call, dict):
            self._begin(part, call)

    def _route(self, j: int, part: Native, place: Path) -> None:
        """What stands of a part here, and not before, stands here."""
        path: Path = ("content", "parts", j)
        self.routes.setdefault(path, place)
        self.routes |= {(*path, key): (*place, key) for key in part if (*path, key) not in self.routes}
        for key in part.get("functionCall") or ():
            self.routes.setdefault((*path, "functionCall", key), (*place, "functionCall", key))

    def _goes_on(self, part: Native) -> bool:
        """Is it text that goes on with the text before it?"""
        before = self.parts[-1] if self.parts else {}
        texts = "text" in before and isinstance(part.get("text"), str) and before["text"] is not None
        return texts and before.keys() <= TEXT and part.keys() <= TEXT and _same(before, part)

    def _begin(self, part: Native, call: Native) -> None:
        part["functionCall"] = dict(call)
        if call.get("args") is None:
            self.waiting.append(part)
        for key in _keys_of(call):
            self.calls[key] = part

    def _before(self, call: Native) -> Native | None:
        """The call that this one goes on with."""
        if call.get("name"):
            return None
        known = next((self.calls[key] for key in _keys_of(call) if key in self.calls), None)
        if known is None and self.waiting and call.get("args") is not None:
            known = self.waiting[0]
        self.waiting = [part for part in self.waiting if part is not known]
        return known

    def whole(self) -> Native:
        """The candidate as the sibling knows it."""
        parts = [{key: _text(value) for key, value in part.items()} for part in self.parts]
        for part in parts:
            if isinstance(part.get("functionCall"), dict):
                part["functionCall"]["name"] = part["functionCall"].get("name") or ""
        content = {**self.content, **({"parts": parts} if parts else {})}
        return {**({"content": content} if content else {}), **self.fields}


def _same(before: Native, part: Native) -> bool:
    return bool(before.get("thought")) == bool(part.get("thought"))


def _keys_of(call: Native) -> list[tuple[str, Any]]:
    return [(key, call[key]) for key in ("id", "index") if isinstance(call.get(key), (str, int))]


def _go_on(before: Native, part: Native, call: Native) -> None:
    """Add what a later event says of a call."""
    whole = before["functionCall"]
    whole["args"] = {**(whole.get("args") or {}), **(call.get("args") or {})}
    whole |= {key: value for key, value in call.items() if key not in ("args", "name") and value is not None}
    before |= {key: value for key, value in part.items() if key != "functionCall" and value is not None}


def _text(value: Any) -> Any:
    return "".join(value) if isinstance(value, Pieces) else value


class _Answer:
    """A response while its events come in."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.routes: dict[Path, Path] = {}
        self.response: Native = {}
        self.candidates: dict[int, _Candidate] = {}
        self.error: Native | None = None

    def take(self, row: Native, at: int) -> None:
        native = self._camel(documents.RESPONSE, row)
        if native.get("error"):
            self.error, self.routes["error",] = native["error"], (at, "error")
        usage = {**self.response.get("usageMetadata", {}), **(native.get("usageMetadata") or {})}
        outside = ("candidates", "usageMetadata", "error", "contents")
        stated = {key: value for key, value in native.items() if key not in outside and value is not None}
        self.response |= stated
        self.routes |= {(key,): (at, self._own(key)) for key in stated}
        if native.get("usageMetadata"):
            self.routes["usageMetadata",] = (at, self._own("usageMetadata"))
        for key in native.get("usageMetadata") or ():
            self.routes["usageMetadata", key] = (at, self._own("usageMetadata"), key)
        if usage:
            self.response["usageMetadata"] = usage
        for k, candidate in enumerate(native.get("candidates") or ()):
            self._candidate(self._camel(documents.CANDIDATE, candidate), (at, "candidates", k))

    def _candidate(self, native: Native, place: Path) -> None:
        index = native.get("index") or 0
        candidate = self.candidates.setdefault(index, _Candidate(place))
        stated = {key: value for key, value in native.items() if key != "content" and value is not None}
        candidate.fields |= stated
        candidate.routes |= {(key,): (*place, key) for key in stated}
        candidate.routes.setdefault(("content",), (*place, "content"))
        content = self._camel(CONTENT, native.get("content") or {})
        candidate.content |= {key: value for key, value in content.items() if key != "parts" and value is not None}
        spot: Path = (*place, "content", "parts")
        for j, part in enumerate(listed(content.get("parts"))):
            candidate.add(self._part(part), spot if isinstance(content["parts"], dict) else (*spot, j))

    def _part(self, native: Native) -> Native:
        part = dict(self._camel(PART, native))
        if isinstance(part.get("functionCall"), dict):
            part["functionCall"] = self._camel(CALL, part["functionCall"])
        return part

    def _camel(self, shape: Shape, native: Native) -> Native:
        native, snakes = shape.camel(native)
        for key in snakes:
            self.origin.renamed.setdefault(key, snake(key))
        return native

    def _own(self, key: str) -> str:
        """The key as the events have it."""
        return self.origin.renamed.get(key, key)

    def whole(self) -> Native:
        """The response as the sibling knows it."""
        if self.error is not None and not self.candidates:
            self.candidates[0] = _Candidate((0,))
        return {"candidates": [self.candidates[index].whole() for index in sorted(self.candidates)], **self.response}

    def all_routes(self) -> dict[Path, Path]:
        """Where what is in the response stands in the events."""
        routes = dict(self.routes)
        for i, index in enumerate(sorted(self.candidates)):
            pairs = self.candidates[index].routes.items()
            routes |= {("candidates", i, *path): place for path, place in pairs}
            if "error" in [path[0] for path in self.routes]:
                routes["candidates", i, "content", "error"] = self.routes["error",]
        return routes


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the answer that the events hold."""
    answer = _Answer(Origin(SERVICE.name))
    for at, row in enumerate(document):
        answer.take(row, at)
    transcript = documents.lift(answer.whole(), SERVICE)
    _lift_end(answer, transcript.messages)
    origin = transcript.origin
    assert origin is not None
    origin.routes = answer.all_routes()
    return transcript


def _lift_end(answer: _Answer, messages: list[Message]) -> None:
    """A candidate that nothing ended broke off; an error is that of the first such candidate."""
    broken = [message for message in messages if message.stop_reason is None]
    for message in broken:
        message.stop_reason = "error"
    if answer.error is not None:
        message = (broken or messages)[0]
        beside = {key: value for key, value in answer.error.items() if key != "message"}
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
    last = {key: value for key, value in response.items() if key != "candidates" and key not in head}
    rows: list[Native] = []
    for candidate, message in zip(response.get("candidates") or (), messages, strict=True):
        rows += [{"candidates": [one], **head} for one in _pieces(candidate, message, size)]
    rows = rows or [{"candidates": [], **head}]
    rows[-1] |= last
    yield from rows
    for message in messages:
        carried = carried_by(message.extras, SERVICE.owner).get("error")
        if message.error is not None or carried:
            error = carried if isinstance(carried, dict) else {}
            yield {"error": error if message.error is None else {**error, "message": message.error}}
            return


def _pieces(candidate: Native, message: Message, size: int) -> Iterator[Native]:
    """The candidate with one part after another; the last one says how it ended."""
    content = dict(candidate["content"])
    index = {"index": candidate["index"]} if "index" in candidate else {}
    parts = [piece for part in content.pop("parts") for piece in _cut(part, size)]
    for part in parts[:-1]:
        yield {"content": {**content, "parts": [part]}, **index}
    end = {key: value for key, value in candidate.items() if key not in ("content", "index", "finishReason")}
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
    rules=(events.ended(),),
    lacks=tables.LACKS_BY_FORM["response"] - {"message.error"},
    reasons={
        **tables.LOSSES,
        "message": "a stream holds one answer: the last turn of the model",
        **dict.fromkeys(("tools", "tool", "toolChoice", "settings"), "a stream holds one answer, not what was asked"),
        "text": "texts that follow each other are one text",
        "message.stopReason": "an answer ends with a finish reason, and Google has a list of them",
    },
    places=tables.PLACES,
    envelope=tables.ENVELOPE,
    repeats=frozenset(REPEATED),
    family=SERVICE.owner,
)
