"""Assembles a response from its events: fields whose last value counts, and candidates with growing parts."""

from __future__ import annotations

from typing import Any

from convcli.dialects.gemini_stream.fragments import add_fragments
from convcli.families.google import document as documents
from convcli.families.google.contents import CONTENT
from convcli.families.google.keys import Shape, listed, snake
from convcli.families.google.parts import CALL, PART
from convcli.kit import streams
from convcli.kit.objects import Native, except_keys, objects_in, omit
from convcli.kit.streams import Pieces
from convcli.model.transcript import Origin, Path

OF_REQUEST = ("contents",)
"""Keys that only requests have: in an event they mean something else."""
TEXT = {"text", "thought"}
"""The keys of a part that the next part may continue."""


class GrowingCandidate:
    """One candidate while its parts arrive.

    `routes` are the source paths of its content, `waiting` the calls without arguments so far, `growing` is the call
    whose arguments are streamed.
    """

    def __init__(self, path: Path) -> None:
        self.routes = streams.Sources(((), path))
        self.fields: Native = {}
        self.content: Native = {}
        self.parts: list[Native] = []
        self.waiting: list[Native] = []
        self.calls: dict[Any, Native] = {}
        self.growing: Native | None = None

    def add(self, part: Native, place: Path) -> None:
        call = part.get("functionCall")
        if isinstance(call, dict):
            before = self._before(part, call)
            if before is not None:
                _continue_call(before, part, call)
                self._stream(before, call)
                self._route(next(j for j, one in enumerate(self.parts) if one is before), part, place)
                return
        elif self._continues(part):
            streams.grow(self.parts[-1], "text", part["text"])
            self.routes.add(("content", "parts", len(self.parts) - 1, "text"), (*place, "text"))
            return
        self._route(len(self.parts), part, place)
        self.parts.append(part)
        if isinstance(call, dict):
            self._begin(part, call)

    def _route(self, j: int, part: Native, place: Path) -> None:
        """Records the source path of each key of a part that has none yet."""
        path: Path = ("content", "parts", j)
        self.routes.setdefault(path, place)
        self.routes |= {(*path, key): (*place, key) for key in part if (*path, key) not in self.routes}
        for key in part.get("functionCall") or ():
            self.routes.add((*path, "functionCall", key), (*place, "functionCall", key))

    def _continues(self, part: Native) -> bool:
        """True if the part is text that continues the text before it."""
        before = self.parts[-1] if self.parts else {}
        texts = "text" in before and isinstance(part.get("text"), str) and before["text"] is not None
        return texts and before.keys() <= TEXT and part.keys() <= TEXT and _same(before, part)

    def _begin(self, part: Native, call: Native) -> None:
        part["functionCall"] = dict(call)
        self._stream(part, call)
        if call.get("args") is None and self.growing is not part:
            self.waiting.append(part)
        for key in _keys_of(part, call):
            self.calls[key] = part

    def _stream(self, part: Native, call: Native) -> None:
        """Adds the fragments of streamed arguments; a call without `willContinue` ends its arguments."""
        whole = part["functionCall"]
        if call.get("partialArgs") or call.get("willContinue") or self.growing is part:
            whole["args"] = add_fragments(whole.get("args") or {}, objects_in(call.get("partialArgs")))
            whole.pop("partialArgs", None)
            whole.pop("willContinue", None)
        self.growing = part if call.get("willContinue") else None

    def _before(self, part: Native, call: Native) -> Native | None:
        """Returns the call that this one continues: the one that announced more, by id or index, else the first without
        arguments."""
        if call.get("name"):
            return None
        if self.growing is not None and call.get("args") is None:
            return self.growing
        keys = _keys_of(part, call)
        known = next((self.calls[key] for key in keys if key in self.calls), None)
        if known is None and self.waiting and call.get("args") is not None:
            known = self.waiting[0]
        self.waiting = [part for part in self.waiting if part is not known]
        return known

    def whole(self) -> Native:
        """Returns the candidate as in a `gemini` response."""
        parts = [{key: _text(value) for key, value in part.items()} for part in self.parts]
        for part in parts:
            if isinstance(part.get("functionCall"), dict):
                part["functionCall"]["name"] = part["functionCall"].get("name") or ""
        content = {**self.content, **({"parts": parts} if parts else {})}
        return {**({"content": content} if content else {}), **self.fields}


def _same(before: Native, part: Native) -> bool:
    return bool(before.get("thought")) == bool(part.get("thought"))


def _keys_of(part: Native, call: Native) -> list[tuple[str, Any]]:
    """Returns the keys that identify a call: its id, or an index in the call or its part."""
    stated = {"id": call.get("id"), "index": call.get("index", part.get("index"))}
    return [(key, value) for key, value in stated.items() if isinstance(value, (str, int))]


def _continue_call(before: Native, part: Native, call: Native) -> None:
    """Adds what a later event states about a call."""
    whole = before["functionCall"]
    known, more = whole.get("args") or {}, call.get("args") or {}
    if any(known.get(key, value) != value for key, value in more.items()):
        streams.keep_other(whole, "args", known)
    whole["args"] = {**known, **more}
    streams.state(whole, omit(call, "args", "name"), (), {})
    streams.state(before, omit(part, "functionCall"), (), {})


def _text(value: Any) -> Any:
    return "".join(value) if isinstance(value, Pieces) else value


class GrowingResponse:
    """A response while its events arrive."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.routes: dict[Path, Path] = {}
        self.response: Native = {}
        self.candidates: dict[int, GrowingCandidate] = {}
        self.error: Native | None = None

    def take(self, row: Native, at: int) -> None:
        native = self._camel(documents.RESPONSE, row)
        if native.get("error"):
            self.error, self.routes["error",] = streams.restated(self.error, native["error"]), (at, "error")
        usage = dict(self.response.get("usageMetadata", {}))
        streams.recount(usage, native.get("usageMetadata") or {})
        stated = except_keys(native, "candidates", "usageMetadata", "error")
        streams.state(self.response, stated, (at,), self.routes, read=OF_REQUEST)
        self.routes |= {(key,): (at, self._stated_key(key)) for key in stated if key not in OF_REQUEST}
        if native.get("usageMetadata"):
            self.routes["usageMetadata",] = (at, self._stated_key("usageMetadata"))
        for key in native.get("usageMetadata") or ():
            self.routes["usageMetadata", key] = (at, self._stated_key("usageMetadata"), key)
        if usage:
            self.response["usageMetadata"] = usage
        for k, candidate in enumerate(native.get("candidates") or ()):
            self._candidate(self._camel(documents.CANDIDATE, candidate), (at, "candidates", k))

    def _candidate(self, native: Native, place: Path) -> None:
        index = native.get("index") or 0
        candidate = self.candidates.setdefault(index, GrowingCandidate(place))
        stated = except_keys(native, "content")
        streams.state(candidate.fields, stated, place, candidate.routes)
        candidate.routes |= {(key,): (*place, key) for key in stated}
        candidate.routes.setdefault(("content",), (*place, "content"))
        content = self._camel(CONTENT, native.get("content") or {})
        streams.state(candidate.content, omit(content, "parts"), (*place, "content"), candidate.routes, ("content",))
        parts_path: Path = (*place, "content", "parts")
        for j, part in enumerate(listed(content.get("parts"))):
            candidate.add(self._part(part), parts_path if isinstance(content["parts"], dict) else (*parts_path, j))

    def _part(self, native: Native) -> Native:
        part = dict(self._camel(PART, native))
        if isinstance(part.get("functionCall"), dict):
            part["functionCall"] = self._camel(CALL, part["functionCall"])
        return part

    def _camel(self, shape: Shape, native: Native) -> Native:
        native, snakes = shape.camel(native)
        for key in snakes:
            self.origin.aliases.setdefault(key, snake(key))
        return native

    def _stated_key(self, key: str) -> str:
        """Returns the key as the events spell it."""
        return self.origin.aliases.get(key, key)

    def whole(self) -> Native:
        """Returns the response as in the `gemini` dialect."""
        if self.error is not None and not self.candidates:
            self.candidates[0] = GrowingCandidate((0,))
        return {"candidates": [self.candidates[index].whole() for index in sorted(self.candidates)], **self.response}

    def all_routes(self) -> dict[Path, Path]:
        """Returns the source paths of everything in the response."""
        routes = dict(self.routes)
        for i, index in enumerate(sorted(self.candidates)):
            pairs = self.candidates[index].routes.items()
            routes |= {("candidates", i, *path): place for path, place in pairs}
            if "error" in [path[0] for path in self.routes]:
                routes["candidates", i, "content", "error"] = self.routes["error",]
        return routes

    def all_pieces(self) -> dict[Path, list[Path]]:
        """Returns all source paths of values that are spread over several events."""
        return {place: places for one in self.candidates.values() for place, places in one.routes.pieces.items()}
