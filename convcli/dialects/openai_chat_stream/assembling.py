"""Assembles the response from the chunks of a stream, and records where each value first occurs."""

from __future__ import annotations

from typing import Any

from convcli.kit import streams
from convcli.kit.objects import Native, objects_in, omit
from convcli.kit.streams import Growing, Slots
from convcli.model.transcript import Path

SIBLING = "openai-chat"
"""The dialect of whole responses, which also owns the extras."""
CHUNK = "chat.completion.chunk"
WHOLE = "chat.completion"
ONCE = frozenset(("id", "type", "name", "role", "index", "finish_reason"))
PADDING = ("obfuscation", "p")
"""Random text of OpenAI and of Mistral, by which all chunks have the same size."""
STATED = ("content_filter_results", "finish_reason")
"""Keys of a choice that a chunk states as a whole."""
FROM_BLOCKS = ("reasoning_content", "content", streams.OTHER_BLOCKS)
"""What a list of blocks in the content of a delta becomes."""
BODIES = {"function": "arguments", "custom": "input"}
"""Maps the type of a call to the key of its string payload."""


class ChunkBoundaries:
    """Finds the chunks that begin another answer: those with another id, or after the end mark, once all choices have
    ended. The last chunk of an answer may have only counts."""

    def __init__(self) -> None:
        self._open, self._ended = set[str](), set[str]()
        self._id: Any = None
        self._is_done = False

    def __call__(self, event: Any) -> bool:
        if not isinstance(event, dict):
            self._is_done = True
            return False
        choices = objects_in(event.get("choices"))
        id_ = event.get("id") or None
        is_renamed = None not in (id_, self._id) and id_ != self._id
        has_ended = bool(self._ended) and not self._open
        is_other = bool(choices) and (self._is_done or (has_ended and is_renamed))
        if is_other:
            self._open, self._ended, self._is_done = set(), set(), False
        self._id = id_ or self._id
        for choice in choices:
            self._note(str(choice.get("index") or 0), is_end=bool(choice.get("finish_reason")))
        return is_other

    def _note(self, index: str, *, is_end: bool) -> None:
        if is_end or index in self._ended:
            self._open.discard(index)
            self._ended.add(index)
        else:
            self._open.add(index)


class _Choice:
    """One choice while its deltas arrive."""

    def __init__(self) -> None:
        self.rest, self.message, self.calls = Growing(), Growing(role="assistant"), Slots()
        self.latest = self.end = 0

    def slot(self, call: Native) -> int:
        """Returns the slot of the call that a delta belongs to."""
        index, id_ = call.get("index"), call.get("id")
        slot: int = self.latest if index is None else index
        open_: Native = self.calls.get(slot) or {}
        previous_id = open_.get("id")
        is_next = index is None or (_has_name(call) and _has_name(open_))
        if previous_id and id_ and previous_id != id_ and is_next:
            slot = self.end
        self.latest, self.end = slot, max(self.end, slot + 1)
        return slot

    def whole(self) -> Native:
        """Returns the choice as the openai-chat dialect has it."""
        message: Native = streams.whole(self.message)
        calls = [_whole_call(streams.whole(self.calls[slot])) for slot in sorted(self.calls)]
        if calls:
            message["tool_calls"] = calls
        if message.get("function_call"):
            message["function_call"]["name"] = message["function_call"].get("name") or ""
        if message.get("audio"):
            message["audio"].setdefault("id", "")
        choice: Native = streams.whole(self.rest)
        if "message" in choice:  # a key of whole responses
            streams.keep_other(choice, "message", choice.pop("message"))
        return {**choice, "message": message}


def _plain_delta(delta: Native) -> Native:
    """Returns the delta with strings in place of Mistral's list of blocks; other blocks are under `content_blocks`."""
    if not isinstance(delta.get("content"), list):
        return delta
    texts: dict[str, list[str]] = {"reasoning_content": [], "content": []}
    others: list[Any] = []
    for block in delta["content"]:
        key, pieces = _texts_of(block)
        if key:
            texts[key] += pieces
        else:
            others.append(block)
    without_clean_messages = {key: "".join(pieces) for key, pieces in texts.items() if pieces}
    return {**omit(delta, "content"), **without_clean_messages, **({streams.OTHER_BLOCKS: others} if others else {})}


def _texts_of(block: Native) -> tuple[str, list[str]]:
    """Returns the key of a string delta, and the strings, of a block that has only text or thinking."""
    if block.keys() == {"type", "text"} and block["type"] == "text" and isinstance(block["text"], str):
        return "content", [block["text"]]
    is_thinking = block.keys() == {"type", "thinking"} and block["type"] == "thinking"
    if is_thinking and isinstance(block["thinking"], list):
        pieces = [_texts_of(piece) for piece in block["thinking"] if isinstance(piece, dict)]
        if len(pieces) == len(block["thinking"]) and all(key == "content" for key, _ in pieces):
            return "reasoning_content", [text for _, texts in pieces for text in texts]
    return "", []


def _has_name(call: Native) -> bool:
    return any((call.get(body) or {}).get("name") for body in BODIES)


def _whole_call(call: Native) -> Native:
    """Returns a call as the openai-chat dialect has it; one that was cut off previous_id its name has an empty one."""
    kind = call.get("type") or "function"
    body = dict(call.get(kind) or {})
    body["name"] = body.get("name") or ""
    body[BODIES[kind]] = body.get(BODIES[kind]) or ""
    return {**omit(call, "index"), kind: body}


class Answer:
    """A response while its chunks arrive.

    `first` maps paths in the response, with the index of a choice in its chunks and the slot of a call, to where each
    value first occurs.
    """

    def __init__(self) -> None:
        self.response = Growing()
        self.choices: dict[int, _Choice] = {}
        self.usage: Native = {}
        self.error: Native | None = None
        self.is_done = False
        self.first = streams.Sources()

    def take(self, row: Any, at: int) -> None:
        """Adds a chunk, or the end mark, at this index."""
        if isinstance(row, str):
            self.is_done = True
            return
        streams.state(self.response, omit(row, "choices", "usage", "error", *PADDING), (at,), self.first)
        if row.get("usage"):
            streams.recount(self.usage, row["usage"])
            self.first["usage",] = (at, "usage")
        if row.get("error"):
            error = row["error"] if isinstance(row["error"], dict) else {"message": row["error"]}
            self.error = streams.restated(self.error, error)
            self.first["error",] = (at, "error")
        for k, choice in enumerate(row.get("choices") or ()):
            self._choice(choice, (at, "choices", k))

    def _choice(self, native: Native, place: Path) -> None:
        index = native.get("index") or 0
        choice = self.choices.setdefault(index, _Choice())
        stated = {key: native[key] for key in STATED if native.get(key) is not None}
        for key, value in stated.items():
            streams.restate(choice.rest, key, value)
        streams.merge(choice.rest, omit(native, "delta", *stated), ONCE)
        self._record(("choices", index), place, omit(native, "delta"))
        delta = _plain_delta(native.get("delta") or {})
        message_path, place = ("choices", index, "message"), (*place, "delta")
        self.first.setdefault(message_path, place)
        rest = omit(delta, "role", "tool_calls")
        is_list = isinstance((native.get("delta") or {}).get("content"), list)
        for key in FROM_BLOCKS if is_list else ():
            self.first.add((*message_path, key), (*place, "content"))
        self._record(message_path, place, omit(rest, *FROM_BLOCKS) if is_list else rest)
        streams.merge(choice.message, rest, ONCE)
        for j, call in enumerate(delta.get("tool_calls") or ()):
            slot = choice.slot(call)
            self._record((*message_path, "tool_calls", slot), (*place, "tool_calls", j), call)
            streams.merge(choice.calls.setdefault(slot, Growing()), call, ONCE)

    def _record(self, path: Path, place: Path, native: Native) -> None:
        """Records where the values at a place occur, down to the keys of objects, under the path they belong to."""
        self.first.setdefault(path, place)
        for key, value in native.items():
            if isinstance(value, dict):
                self.first.add((*path, key), (*place, key))
                self._record((*path, key), (*place, key), value)
            elif value:
                self.first.add((*path, key), (*place, key))

    def _route_former(self, node: Growing, path: Path) -> None:
        """Records where the first of the other values of an object, and of the objects in it, occurs."""
        for key, value in node.items():
            if isinstance(value, Growing):
                self._route_former(value, (*path, key))
            elif isinstance(value, streams.Former):
                place = self.first.get((*path, next(iter(value))))
                self.first |= {} if place is None else {(*path, key): place[:-1]}

    def whole(self) -> Native:
        """Returns the response as the openai-chat dialect has it."""
        if self.error is not None and not self.choices:
            self.choices[0] = _Choice()
        native = dict(self.response)
        if native.get("object") == CHUNK:
            native["object"] = WHOLE
        native["choices"] = [self.choices[index].whole() for index in sorted(self.choices)]
        if self.usage:
            native["usage"] = self.usage
        return native

    def routes(self) -> dict[Path, Path]:
        """Maps paths in the response to where they occur in the chunks."""
        order = {index: at for at, index in enumerate(sorted(self.choices))}
        slots = {index: {call: at for at, call in enumerate(sorted(self.choices[index].calls))} for index in order}
        for index, choice in self.choices.items():
            self._route_former(choice.rest, ("choices", index))
            self._route_former(choice.message, ("choices", index, "message"))
            for slot, call in choice.calls.items():
                self._route_former(call, ("choices", index, "message", "tool_calls", slot))
        routes = {path: place for path, place in self.first.items() if path[0] != "choices"}
        for path, place in self.first.items():
            if path[0] == "choices":
                index, rest = int(path[1]), path[2:]
                if rest[:2] == ("message", "tool_calls"):
                    rest = (*rest[:2], slots[index][int(rest[2])], *rest[3:])
                routes["choices", order[index], *rest] = place
        if "error" in [path[0] for path in routes]:
            routes |= {("choices", i, "message", "error"): routes["error",] for i in range(len(order))}
        return routes
