"""Assembles an Anthropic response from its events."""

from __future__ import annotations

from convcli.families.anthropic.policy import OTHER_EVENTS
from convcli.kit import streams
from convcli.kit.objects import Native, as_object, omit, without_nulls
from convcli.kit.streams import Growing, Pieces, Slots
from convcli.kit.supported import fields
from convcli.kit.values import read_arguments
from convcli.model.transcript import Path

GROWS = {"text_delta": ("text", "text"), "thinking_delta": ("thinking", "thinking")}
"""By kind of delta, the kind of block that grows, and the key of its text."""
GROWN = tuple(key for _, key in GROWS.values())
DELTA_KEYS = {
    **{kind: (key, key) for kind, (_, key) in GROWS.items()},
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
    "citations_delta": ("citations", "citation"),
}
"""By kind of delta, the key of the block that it extends, and the key in the delta."""

EVENT_KEYS = {
    "message_start": fields("type message"),
    "content_block_start": fields("type index content_block"),
    "content_block_delta": fields("type index delta"),
    "content_block_stop": fields("type index"),
    "message_delta": fields("type delta usage"),
    "message_stop": fields("type"),
    "error": fields("type error request_id"),
    "ping": fields("type"),
}
"""The keys of the known events."""
OF_BLOCK = fields("type id name input text thinking signature data citations deltas")
OF_MESSAGE = fields("id type role content model stop_reason stop_sequence usage error")
OF_END = fields("stop_reason stop_sequence")
"""Keys that are read in a block, in a message, and of the latter those that come when it ends."""


class Answer:
    """A response while its events are read; `routes` maps its paths to paths in the events."""

    def __init__(self) -> None:
        self.response: Native = {}
        self.usage: Native = {}
        self.blocks, self.end = Slots(), 0
        self.inputs: dict[int, Pieces] = {}
        self.slots: dict[int, int] = {}
        self.error: Native | None = None
        self.is_done = False
        self.routes = streams.Sources(((), (0,)))
        self.first: dict[int, streams.Sources] = {}

    def take(self, event: Native, at: int) -> None:
        kind = event["type"]
        self._take(event, kind, at)
        known = EVENT_KEYS.get(kind)
        if known is not None and not event.keys() <= known:
            self._keep(omit(event, *known), self.slots.get(event.get("index", -1)), (at,))

    def _keep(self, other_keys: Native, slot: int | None, place: Path) -> None:
        """Keeps other keys of an event in the block that it concerns, or in the message."""
        if slot is None:
            streams.state(self.response, other_keys, place, self.routes, read=OF_MESSAGE)
        else:
            streams.state(self.blocks[slot], other_keys, place, self.first[slot], read=OF_BLOCK)

    def _take(self, event: Native, kind: str, at: int) -> None:
        if kind == "message_start":
            self._message(event["message"], at)
        elif kind == "content_block_start":
            self._block(event["index"], event["content_block"], (at, "content_block"))
        elif kind == "content_block_delta":
            self._delta(event["index"], event["delta"], at)
        elif kind == "message_delta":
            streams.state(self.response, event["delta"], (at, "delta"), self.routes, read=OF_MESSAGE - OF_END)
            self._end({}, event.get("usage"), (at, "delta"), (at, "usage"))
        elif kind == "message_stop":
            self.is_done = True
        elif kind == "error":
            self.error = streams.restated(self.error, event["error"])
            self.routes["error",] = (at, "error")
            if event.get("request_id"):
                self._end({"request_id": event["request_id"]}, None, (at,), ())
        elif kind not in ("ping", "content_block_stop"):
            streams.extend(self.response, OTHER_EVENTS, [event])
            self.routes.add((OTHER_EVENTS,), (at,))

    def _message(self, native: Native, at: int) -> None:
        message_path: Path = (at, "message")
        self.routes[()] = message_path
        for j, block in enumerate(native.get("content") or ()):
            self._block(j, block, (at, "message", "content", j))
        separate_keys = ("content", "usage")
        other_facts = omit(native, *separate_keys)
        facts = {**other_facts, "role": native.get("role") or "assistant"}
        self._end(facts, native.get("usage"), message_path, (*message_path, "usage"))

    def _end(self, facts: Native, usage: Native | None, path: Path, counts: Path) -> None:
        for key, value in facts.items():
            streams.restate(self.response, key, value)
        known = without_nulls(usage or {})
        streams.recount(self.usage, known)
        self.routes |= {(key,): (*path, key) for key, value in facts.items() if value is not None}
        self.routes |= {("usage", key): (*counts, key) for key in known}

    def _block(self, index: int, native: Native, path: Path) -> None:
        """Begins a block; a second block with the same index is a block of its own."""
        slot = index if index not in self.blocks else self.end
        self.slots[index], self.end = slot, max(self.end, slot + 1)
        self.blocks[slot] = Growing(native)
        begun = (((key,), (*path, key)) for key in GROWN if native.get(key))
        self.first[slot] = streams.Sources(((), path), *begun)

    def _delta(self, index: int, delta: Native, at: int) -> None:
        kind = delta["type"]
        if index not in self.slots:
            missing_kind = GROWS[kind][0] if kind in GROWS else "thinking" if kind == "signature_delta" else "text"
            self._block(index, {"type": "tool_use" if kind == "input_json_delta" else missing_kind}, (at, "delta"))
        slot = self.slots[index]
        block = self.blocks[slot]
        key, member = DELTA_KEYS.get(kind, ("deltas", ""))
        self.first[slot].add((key,), (at, "delta", member) if member else (at, "delta"))
        if kind not in GROWS:
            self.first[slot].add((), (at, "delta"))
        if kind in GROWS:
            streams.grow(block, GROWS[kind][1], delta[GROWS[kind][1]])
        elif kind == "signature_delta":
            streams.restate(block, "signature", delta["signature"])
        elif kind == "input_json_delta":
            self.inputs.setdefault(slot, Pieces()).append(delta["partial_json"])
        elif kind == "citations_delta":
            streams.extend(block, "citations", [delta["citation"]])
        else:
            streams.extend(block, "deltas", [delta])
            return
        if len(delta) > 2:
            self._keep(omit(delta, "type", member), slot, (at, "delta"))

    def raw(self) -> list[str | None]:
        """Returns, by block, the text of an input that is not a JSON object."""
        texts = ["".join(self.inputs[slot]) if slot in self.inputs else None for slot in sorted(self.blocks)]
        return [None if text is None else read_arguments(text)[1] for text in texts]

    def whole(self) -> Native:
        """Returns the response in the form of the dialect `anthropic`."""
        response = Growing(self.response)
        streams.restate(response, "content", [self._whole_block(slot) for slot in sorted(self.blocks)])
        if self.usage or "usage" in response:
            streams.restate(response, "usage", self.usage)
        return {"type": "message", "role": "assistant", **streams.whole(response)}

    def _whole_block(self, slot: int) -> Native:
        native: Native = streams.whole(self.blocks[slot])
        kind, text = native["type"], "".join(self.inputs.get(slot, ()))
        if text:
            arguments, raw = read_arguments(text)
            begun = as_object(native.get("input"))
            if any(arguments.get(key, begun[key]) != begun[key] for key in begun):
                streams.keep_other(native, "input", begun)
            native["input"] = {**begun, **arguments}
            if raw is not None and kind != "tool_use":
                native["partial_json"] = raw
        for key, value in DEFAULTS.get(kind, {}).items():
            if native.get(key) is None:
                native[key] = value
        return native

    def places(self) -> dict[Path, Path]:
        """Maps paths in the response to paths in the events."""
        for j, slot in enumerate(sorted(self.blocks)):
            for key, path in self.first[slot].items():
                self.routes["content", j, *key] = path
        return self.routes

    def pieces(self) -> dict[Path, list[Path]]:
        """Returns all paths of values that came in several events."""
        every = (self.routes, *self.first.values())
        return {path: places for sources in every for path, places in sources.pieces.items()}


DEFAULTS: dict[str, Native] = {
    "text": {"text": ""},
    "thinking": {"thinking": ""},
    "redacted_thinking": {"data": ""},
    "tool_use": {"id": None, "name": "", "input": {}},
}
"""Defaults for a block that began without these keys, or whose beginning is missing."""
