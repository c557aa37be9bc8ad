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

from convcli.families.google import document as shared
from convcli.families.google import places as tables
from convcli.families.google.contents import CONTENT
from convcli.families.google.keys import FAMILY, ONLY_GEMINI, ONLY_VERTEX, Flavor, Shape, listed, names, snake
from convcli.families.google.parts import CALL, PART
from convcli.kit import streams
from convcli.kit.objects import Native, carried_by, extras_of
from convcli.kit.streams import Pieces, fragments
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Origin, Path, Transcript
from convcli.validation.rules import events

NAME = "gemini-stream"
FLAVOR = Flavor(name=NAME, models="models/", names=names(64), subset=False, has=ONLY_GEMINI, lacks=ONLY_VERTEX)
TEXT = {"text", "thought"}
"""The keys of a part that may go on in the next one."""


def detect(document: Any) -> Clue | None:
    """By several responses of which one has the id of another, or does not end; alone each could be a document."""
    if not isinstance(document, list):
        return None
    rows = [row for row in document if isinstance(row, dict)]
    given = [row["candidates"] for row in rows if isinstance(row.get("candidates"), list)]
    candidates = [one for some in given for one in some if isinstance(one, dict)]
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

    `routes` says where what is in it was said, `waiting` which calls have no arguments yet.
    """

    def __init__(self, home: Path) -> None:
        self.routes: dict[Path, Path] = {(): home}
        self.rest: Native = {}
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
        """What is said of a part here, and was not said before, is said here."""
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
        return {**({"content": content} if content else {}), **self.rest}


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
        native = self._camel(shared.RESPONSE, row)
        if native.get("error"):
            self.error, self.routes["error",] = native["error"], (at, "error")
        usage = {**self.response.get("usageMetadata", {}), **(native.get("usageMetadata") or {})}
        outside = ("candidates", "usageMetadata", "error", "contents")
        self.response |= {key: value for key, value in native.items() if key not in outside and value is not None}
        said = {key for key, value in native.items() if key not in outside and value is not None}
        self.routes |= {(key,): (at, self._own(key)) for key in said}
        if native.get("usageMetadata"):
            self.routes["usageMetadata",] = (at, self._own("usageMetadata"))
        for key in native.get("usageMetadata") or ():
            self.routes["usageMetadata", key] = (at, self._own("usageMetadata"), key)
        if usage:
            self.response["usageMetadata"] = usage
        for k, candidate in enumerate(native.get("candidates") or ()):
            self._candidate(self._camel(shared.CANDIDATE, candidate), (at, "candidates", k))

    def _candidate(self, native: Native, place: Path) -> None:
        index = native.get("index") or 0
        candidate = self.candidates.setdefault(index, _Candidate(place))
        said = {key: value for key, value in native.items() if key != "content" and value is not None}
        candidate.rest |= said
        candidate.routes |= {(key,): (*place, key) for key in said}
        candidate.routes.setdefault(("content",), (*place, "content"))
        content = self._camel(CONTENT, native.get("content") or {})
        candidate.content |= {key: value for key, value in content.items() if key != "parts" and value is not None}
        parts, single = listed(content.get("parts"))
        for j, part in enumerate(parts):
            spot: Path = (*place, "content", "parts")
            candidate.add(self._part(part), spot if single else (*spot, j))

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
        """Where what is in the response was said in the events."""
        routes = dict(self.routes)
        for i, index in enumerate(sorted(self.candidates)):
            found = self.candidates[index].routes
            routes |= {("candidates", i, *path): place for path, place in found.items()}
            if "error" in [path[0] for path in self.routes]:
                routes["candidates", i, "content", "error"] = self.routes["error",]
        return routes


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the answer that the events hold."""
    answer = _Answer(Origin(NAME))
    for at, row in enumerate(document):
        answer.take(row, at)
    transcript = shared.lift(answer.whole(), FLAVOR)
    _lift_end(answer, transcript.messages)
    origin = transcript.origin
    assert origin is not None
    origin.routes = answer.all_routes()
    streams.keep(origin, document)
    return transcript


def _lift_end(answer: _Answer, messages: list[Message]) -> None:
    """A candidate that nothing ended broke off; an error is that of the first such candidate."""
    broken = [message for message in messages if message.stop_reason is None]
    for message in broken:
        message.stop_reason = "error"
    if answer.error is not None:
        message = (broken or messages)[0]
        rest = dict(answer.error)
        message.error = rest.pop("message", None)
        if rest:
            message.extras = extras_of(FAMILY, {**carried_by(message.extras, FAMILY), "error": rest})


# ---------------------------------------------------------------- lower


def lower(transcript: Transcript, options: Options) -> Rows:
    """The events of the answer, as they came unless the transcript or the wish for fragments is another."""
    rows = None if options.chunk else streams.kept(transcript, NAME, lift)
    if rows is not None:
        return rows
    messages = streams.answers(transcript)
    answer = streams.as_response(transcript, messages, NAME, NAME)
    response = shared.lower(answer, Options(form="response"), FLAVOR)
    return Rows(list(_events(response, messages, options.chunk)))


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
        rest = carried_by(message.extras, FAMILY).get("error")
        if message.error is not None or rest:
            said = {} if message.error is None else {"message": message.error}
            yield {"error": {**(rest if isinstance(rest, dict) else {}), **said}}
            return


def _pieces(candidate: Native, message: Message, size: int) -> Iterator[Native]:
    """The candidate with one part after another; the last one says how it ended."""
    content = dict(candidate.get("content") or {"role": "model"})
    index = {"index": candidate["index"]} if "index" in candidate else {}
    parts = [piece for part in listed(content.pop("parts", None))[0] for piece in _cut(part, size)]
    for part in parts[:-1]:
        yield {"content": {**content, "parts": [part]}, **index}
    end = {key: value for key, value in candidate.items() if key not in ("content", "index", "finishReason")}
    if message.stop_reason != "error":
        end = {"finishReason": candidate.get("finishReason") or "STOP", **end}
    yield {"content": {**content, "parts": parts[-1:]}, **index, **end}


def _cut(part: Native, size: int) -> list[Native]:
    """A text in pieces. A part that says more than its text stays whole: its signature is for all of it."""
    if not part.keys() <= TEXT or not part.get("text"):
        return [part]
    return [{**part, "text": piece} for piece in fragments(part["text"], size)]


LOSSES = {
    **tables.LOSSES,
    "message": "a stream holds one answer: the last turn of the model",
    "tools": "a stream holds one answer, not what was asked",
    "tool": "a stream holds one answer, not what was asked",
    "toolChoice": "a stream holds one answer, not what was asked",
    "settings": "a stream holds one answer, not what was asked",
    "text": "texts that follow each other are one text",
    "message.stopReason": "an answer ends with a finish reason, and Google has a list of them",
}

DIALECT = Dialect(
    name=NAME,
    title="streams of the Gemini API",
    specification="streamGenerateContent, Gemini API v1beta; Python SDK google-genai 3.3.0; read 2026-11-20",
    framings=("sse", "events", "document"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=(events.ended(),),
    reasons=LOSSES,
    places=tables.PLACES,
    envelope=tables.ENVELOPE,
    family=FAMILY,
)
