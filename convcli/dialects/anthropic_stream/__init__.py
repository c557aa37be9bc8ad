"""Streams of Anthropic Messages: events that begin, grow and end the blocks of one message.

Specification: `RawMessageStreamEvent` in the Messages API reference, as typed by the Python SDK `anthropic` 2.10.0;
read 2026-11-20.

Quirks
- A block grows by its `index`. The input of a tool comes as pieces of JSON, and may break off in the middle.
- The stop reason and the last counts of tokens come in `message_delta`; counts are totals, not differences.
- `ping` may stand anywhere. Events of kinds that are not known are kept with the message.
- An `error` event ends the stream. One without `message_stop` breaks off: its turn has the stop reason `error`.
- Deltas of kinds that are not known are kept with their block.
- It holds one answer: the last turn of the assistant. Thinking that Anthropic did not sign is not written, as in
  requests: a program would send it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.anthropic_stream.rules import RULES
from convcli.families.anthropic.blocks import BlockReader, BlockWriter
from convcli.families.anthropic.messages import NAME as SIBLING
from convcli.families.anthropic.places import ENVELOPE, PLACES
from convcli.families.anthropic.response import as_allowed, lift_response, lower_response
from convcli.kit import streams
from convcli.kit.objects import Native, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.streams import Growing, Pieces, Slots, fragments
from convcli.kit.values import read_arguments, write_arguments
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Origin, Path, ToolCall, Transcript

NAME = "anthropic-stream"
BLOCK_KINDS = ("content_block_start", "content_block_delta", "content_block_stop")
KINDS = frozenset(("message_start", "message_delta", "message_stop", *BLOCK_KINDS))
GROWS = {"text_delta": ("text", "text"), "thinking_delta": ("thinking", "thinking")}
"""By the kind of a delta, the kind of block that it makes grow, and under which key."""
HOMES = {
    **{kind: (key, key) for kind, (_, key) in GROWS.items()},
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
    "citations_delta": ("citations", "citation"),
}
"""By the kind of a delta, the key of the block that it is about, and the key under which it says so."""
FAILURE = "api_error"
"""The type of an error that has none."""


def detect(document: Any) -> Clue | None:
    """By events that begin or end a message, or a block of it."""
    if not isinstance(document, Rows):
        return None
    kinds = {row["type"] for row in document if isinstance(row, dict) and isinstance(row.get("type"), str)}
    if kinds & KINDS:
        return Clue(95, f"{sorted(kinds & KINDS)[0]} events")
    errors = any(isinstance(row, dict) and isinstance(row.get("error"), dict) for row in document)
    return Clue(60, "an error event") if kinds == {"error"} and errors else None


# ---------------------------------------------------------------- assembling


class _Answer:
    """A response while its events come in; `routes` says where what is in it was said."""

    def __init__(self) -> None:
        self.response: Native = {}
        self.usage: Native = {}
        self.blocks, self.end = Slots(), 0
        self.inputs: dict[int, Pieces] = {}
        self.slots: dict[int, int] = {}
        self.error: Native | None = None
        self.is_done = False
        self.routes: dict[Path, Path] = {(): (0,)}
        self.first: dict[int, dict[str, Path]] = {}

    def take(self, event: Native, at: int) -> None:
        kind = event["type"]
        if kind == "message_start":
            self._message(event["message"], at)
        elif kind == "content_block_start":
            self._block(event["index"], event["content_block"], (at, "content_block"))
        elif kind == "content_block_delta":
            self._delta(event["index"], event["delta"], at)
        elif kind == "message_delta":
            facts = {key: value for key, value in event["delta"].items() if value is not None}
            self._end(facts, event.get("usage"), (at, "delta"), (at, "usage"))
        elif kind == "message_stop":
            self.is_done = True
        elif kind == "error":
            self.error = event["error"]
            self.routes["error",] = (at, "error")
            if event.get("request_id"):
                self._end({"request_id": event["request_id"]}, None, (at,), ())
        elif kind not in ("ping", "content_block_stop"):
            streams.extend(self.response, "events", [event])
            self.routes.setdefault(("events",), (at,))

    def _message(self, native: Native, at: int) -> None:
        home: Path = (at, "message")
        self.routes[()] = home
        for j, block in enumerate(native.get("content") or ()):
            self._block(j, block, (at, "message", "content", j))
        outside = ("content", "usage")
        facts = {key: value for key, value in native.items() if key not in outside}
        self._end(facts, native.get("usage"), home, (*home, "usage"))

    def _end(self, facts: Native, usage: Native | None, place: Path, counts: Path) -> None:
        self.response |= facts
        said = {key: value for key, value in (usage or {}).items() if value is not None}
        self.usage |= said
        self.routes |= {(key,): (*place, key) for key, value in facts.items() if value is not None}
        self.routes |= {("usage", key): (*counts, key) for key in said}

    def _block(self, index: int, native: Native, place: Path) -> None:
        """A block begins; one that begins at an index that is taken is another block."""
        slot = index if index not in self.blocks else self.end
        self.slots[index], self.end = slot, max(self.end, slot + 1)
        self.blocks[slot] = Growing(native)
        self.first[slot] = {"": place}

    def _delta(self, index: int, delta: Native, at: int) -> None:
        kind = delta["type"]
        if index not in self.slots:
            lost = GROWS[kind][0] if kind in GROWS else "thinking" if kind == "signature_delta" else "text"
            self._block(index, {"type": "tool_use" if kind == "input_json_delta" else lost}, (at, "delta"))
        slot = self.slots[index]
        block = self.blocks[slot]
        key, member = HOMES.get(kind, ("deltas", ""))
        self.first[slot].setdefault(key, (at, "delta", member) if member else (at, "delta"))
        if kind in GROWS:
            streams.grow(block, GROWS[kind][1], delta[GROWS[kind][1]])
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]
        elif kind == "input_json_delta":
            self.inputs.setdefault(slot, Pieces()).append(delta["partial_json"])
        elif kind == "citations_delta":
            streams.extend(block, "citations", [delta["citation"]])
        else:
            streams.extend(block, "deltas", [delta])

    def raw(self) -> list[str | None]:
        """By block, the text of an input that is no JSON object."""
        return [
            read_arguments("".join(self.inputs[slot]))[1] if slot in self.inputs else None
            for slot in sorted(self.blocks)
        ]

    def whole(self) -> Native:
        """The response as the sibling knows it."""
        content = [self._whole_block(slot) for slot in sorted(self.blocks)]
        native = {"type": "message", "role": "assistant", **streams.whole(Growing(self.response)), "content": content}
        return {**native, "usage": self.usage} if self.usage else native

    def _whole_block(self, slot: int) -> Native:
        native: Native = streams.whole(self.blocks[slot])
        kind, text = native["type"], "".join(self.inputs.get(slot, ()))
        if text:
            arguments, raw = read_arguments(text)
            native["input"] = arguments
            if raw is not None and kind != "tool_use":
                native["partial_json"] = raw
        for key, value in DEFAULTS.get(kind, {}).items():
            if native.get(key) is None:
                native[key] = value
        return native

    def places(self) -> dict[Path, Path]:
        """Where what is in the response was said in the events."""
        for j, slot in enumerate(sorted(self.blocks)):
            for key, place in self.first[slot].items():
                self.routes[("content", j, key) if key else ("content", j)] = place
        return self.routes


DEFAULTS: dict[str, Native] = {
    "text": {"text": ""},
    "thinking": {"thinking": ""},
    "redacted_thinking": {"data": ""},
    "tool_use": {"id": None, "name": "", "input": {}},
}
"""What a block has that began without it, or whose beginning is missing."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the answer that the events make."""
    answer = _Answer()
    for at, event in enumerate(document):
        answer.take(event, at)
    origin = Origin(NAME, spot=("content",))
    pairing = Pairing(document)
    origin.invented = pairing.invented
    transcript = Transcript([], origin=origin)
    lift_response(answer.whole(), BlockReader(SIBLING, origin, pairing), transcript)
    _lift_raw(answer, transcript.messages, origin)
    _lift_end(answer, transcript.messages[0])
    origin.routes = answer.places()
    streams.keep(origin, document)
    return transcript


def _lift_raw(answer: _Answer, messages: list[Message], origin: Origin) -> None:
    """A response holds an object as the input of a call; what came may have been something else."""
    raw = answer.raw()
    for message, (_, spots) in zip(messages, origin.places, strict=True):
        for part, spot in zip(message.parts, spots or (), strict=False):
            if isinstance(part, ToolCall):
                part.raw_arguments = raw[int(spot[1])]


def _lift_end(answer: _Answer, message: Message) -> None:
    """A message that nothing ended broke off."""
    if message.stop_reason is None and (answer.error is not None or not answer.is_done):
        message.stop_reason = "error"
    if answer.error is not None:
        rest = dict(answer.error)
        message.error = rest.pop("message", None)
        if rest.get("type") == FAILURE:
            del rest["type"]
        if rest:
            message.extras = extras_of(SIBLING, {**carried_by(message.extras, SIBLING), "error": rest})


# ---------------------------------------------------------------- lower


def lower(transcript: Transcript, options: Options) -> Rows:
    """The events of the answer, as they came unless the transcript or the wish for fragments is another."""
    rows = None if options.chunk else streams.kept(transcript, NAME, lift)
    if rows is not None:
        return rows
    answer = streams.as_response(transcript, streams.answers(transcript)[:1], NAME, SIBLING)
    own = answer.origin is not None and answer.origin.dialect == SIBLING
    messages = answer.messages
    if not own:
        answer, messages = as_allowed(answer)
    response = lower_response(answer, messages, BlockWriter(SIBLING, answer.spelling(SIBLING), own=own))
    if not own:  # marks for the cache are for requests
        blocks = response["content"]
        response["content"] = [{key: block[key] for key in block if key != "cache_control"} for block in blocks]
    message = messages[0] if messages else Message("assistant", [])
    return Rows(list(_events(response, message, options.chunk)))


def _events(response: Native, message: Message, size: int) -> Iterator[Native]:
    response.pop("error", None)
    aside, request = response.pop("events", None), response.pop("request_id", None)
    usage = response.get("usage") or {}
    broken = message.stop_reason == "error"
    yield {"type": "message_start", "message": _start(response, usage, {} if broken else {"output_tokens": 0})}
    yield from aside if isinstance(aside, list) else ()
    raw = iter([part.raw_arguments for part in message.parts if isinstance(part, ToolCall)])
    for index, block in enumerate(response["content"]):
        yield from _block_events(block, next(raw, None) if block["type"] == "tool_use" else None, index, size)
    if not broken:
        yield _end(response, usage)
    rest = carried_by(message.extras, SIBLING).get("error")
    if message.error is not None or rest:
        said = {} if message.error is None else {"message": message.error}
        error = {"type": FAILURE, **(rest if isinstance(rest, dict) else {}), **said}
        yield {"type": "error", "error": error, **({} if request is None else {"request_id": request})}
    elif not broken:
        yield {"type": "message_stop"}


LATE = ("stop_reason", "stop_sequence", "stop_details", "container")
"""What is known when the message ends."""
LATE_COUNTS = ("output_tokens", "output_tokens_details")


def _start(response: Native, usage: Native, so_far: Native) -> Native:
    """The message as it begins: empty, without what only its end can tell; the counts are those of `so_far`."""
    native = {key: value for key, value in response.items() if key not in (*LATE, "usage")}
    late = LATE_COUNTS if so_far else ()
    counts = {key: so_far.get(key, usage[key]) for key in usage if key in so_far or key not in late}
    native |= {"content": [], "stop_reason": None, "stop_sequence": None}
    return {**native, "usage": counts} if counts else native


def _end(response: Native, usage: Native) -> Native:
    called = any(block["type"] == "tool_use" for block in response["content"])
    reason = response.get("stop_reason") or ("tool_use" if called else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None}
    delta |= {key: response[key] for key in LATE[1:] if response.get(key) is not None}
    native = {"type": "message_delta", "delta": delta}
    counts = {key: usage[key] for key in LATE_COUNTS if key in usage}
    return {**native, "usage": counts} if counts else native


def _block_events(block: Native, raw: str | None, index: int, size: int) -> Iterator[Native]:
    """A block begins empty, grows and ends; one of a kind that does not grow begins whole."""
    begin, deltas = CUT.get(block["type"], _as_it_is)(block, raw, size)
    yield {"type": "content_block_start", "index": index, "content_block": begin}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _text(block: Native, _: str | None, size: int) -> tuple[Native, list[Native]]:
    begin = {**{key: value for key, value in block.items() if key != "citations"}, "text": ""}
    deltas: list[Native] = [{"type": "text_delta", "text": piece} for piece in fragments(block["text"], size)]
    return begin, deltas + [{"type": "citations_delta", "citation": one} for one in block.get("citations") or ()]


def _thinking(block: Native, _: str | None, size: int) -> tuple[Native, list[Native]]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in fragments(block["thinking"], size)]
    if block.get("signature"):
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    return {**block, "thinking": "", "signature": ""}, deltas


def _input(block: Native, raw: str | None, size: int) -> tuple[Native, list[Native]]:
    if not isinstance(block.get("input"), dict):
        return _as_it_is(block, raw, size)
    text = write_arguments(block["input"], raw) if block["input"] or raw is not None else ""
    return {**block, "input": {}}, [
        {"type": "input_json_delta", "partial_json": piece} for piece in fragments(text, size)
    ]


def _as_it_is(block: Native, _: str | None, __: int) -> tuple[Native, list[Native]]:
    return block, []


CUT = {"text": _text, "thinking": _thinking, "tool_use": _input, "server_tool_use": _input}
"""By kind of block: how it begins, and the deltas by which it grows."""


DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="streams of Anthropic Messages",
    specification="RawMessageStreamEvent of the Messages API; Python SDK anthropic 2.10.0; read 2026-11-20",
    framings=("sse", "events"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    reasons={
        "message": "a stream holds one answer: the last turn of the assistant",
        "tools": "a stream holds one answer, not what was asked",
        "tool": "a stream holds one answer, not what was asked",
        "toolChoice": "a stream holds one answer, not what was asked",
        "settings": "a stream holds one answer, not what was asked",
        "reasoning": "Anthropic takes back only thinking that it signed",
        "reasoning.summary": "thinking has no summary",
        "refusal": "there is no block for a refusal: its words are written as text",
        "text": "the API takes no blank text",
        "message.id": "the id is that of the whole stream",
        "message.model": "the model is that of the whole stream",
        "message.name": "an answer has no name",
        "message.parentId": "messages have no parent",
        "message.createdAt": "messages have no time",
        "message.stopReason": "a message ends with a stop reason of Anthropic",
        "title": "a message has no title",
        "createdAt": "a message has no time",
        "event": "no model ever saw this row",
        "image": "an answer holds no media",
        "audio": "an answer holds no media",
        "video": "an answer holds no media",
        "document": "an answer holds no media",
    },
    places=PLACES,
    envelope=ENVELOPE,
)
