"""Assembles the UI message from the events of an AI SDK stream.

Specification: `processUIMessageStream` of the package ai 7.0.173; read 2026-11-23.
"""

from __future__ import annotations

from typing import Any

from convcli.kit import streams
from convcli.kit.objects import Native, as_object, omit
from convcli.kit.streams import FORMER, Growing
from convcli.kit.supported import fields
from convcli.kit.values import pairs, read_json
from convcli.model.transcript import Path
from convcli.wire import exact_json

STEP, DYNAMIC, STATIC, STEERED = "step-start", "dynamic-tool", "tool-", "steering-message"
RESERVED = ("text", "reasoning", STATIC, DYNAMIC, STEP)
"""Type prefixes of parts without an event: an event with one of them is of an unknown kind."""
RESULTS, EVENTS, TURNS = "results", "events", "turns"
"""Keys in the routes for results and events without a part, which a UI message does not have."""
STREAMING: Native = {"state": "streaming"}
NO_PATH: Path = ()
UNROUTED = (("id",), ("state",))
OF_TEXTS = ("delta", "state", "text")
OF_CALLS = ("approval", "output", "rawInput", "resultProviderMetadata", "state")
OF_OUTPUTS = ("approval", "input", "rawInput", "state", "toolName")
"""The keys of parts that no event has, or only one of another kind."""
TOOL_KEYS = frozenset(("type", "toolCallId", "dynamic"))
ASKED = pairs("approvalId=id approvalDescriptor=descriptor reason=requestReason")
ANSWERED = pairs("approvalId=id")
"""The keys of an approval request and its answer in the part of the call."""
OF_MESSAGE = fields("id role content parts toolInvocations metadata")
"""Keys that are read in a message."""


def call_metadata(event: Native) -> Native:
    """Returns the event with its provider metadata under the name used in the part."""
    return renamed(event, {"providerMetadata": "callProviderMetadata"})


def renamed(native: Native, names: dict[str, str]) -> Native:
    """Returns the object with some keys renamed; unknown keys with one of the names are former values."""
    taken = [name for key, name in names.items() if key in native and name in native and name not in names]
    out = {names.get(key, key): value for key, value in native.items() if key not in taken}
    for name in taken:
        streams.keep_other(out, name, native[name])
    return out


class _Piece:
    """A part while its events arrive. `home` is its first event, `routes` maps its keys to events.

    `last` is the last event of data or an output, which may be repeated. `result` is the event with a call's result,
    `output` the path within, and `answer` the path of the answer to its approval request.
    """

    def __init__(self, native: Native, at: int) -> None:
        self.native, self.home = Growing(native), at
        self.routes = streams.Sources()
        self.last: tuple[Native, int] | None = None
        self.result = self.output = self.answer = NO_PATH

    def put(self, at: int, native: Native) -> None:
        """Sets keys; later values replace earlier ones."""
        self.native |= native
        self.routes |= {(key,): (at, key) for key in native}

    def take(self, at: int, native: Native, reserved: tuple[str, ...]) -> None:
        """Sets keys of an event. An event has no keys that are `reserved` for others: they are unknown ones."""
        streams.state(self.native, native, (at,), self.routes, read=reserved)

    def grow(self, key: str, text: str, place: Path) -> None:
        streams.grow(self.native, key, text)
        self.routes.add((key,), place)

    def drop(self, *keys: str) -> None:
        for key in keys:
            self.native.pop(key, None)
            self.routes.pop((key,), None)


class Answer:
    """The message while its events arrive, and how it ended.

    `asides` are events without a part: unknown kinds, discarded ones, and results without a call, each with the index
    of the turn it precedes and its own index. `replaced` are events that a later one repeats.
    """

    def __init__(self) -> None:
        self.message: Native = {}
        self.asides: list[tuple[int, Native, int]] = []
        self.replaced: list[Native] = []
        self.routes = streams.Sources(((), (0,)))
        self.reason: str | None = None
        self.error: str | None = None
        self.is_done = self.is_aborted = self.has_begun = False
        self._pieces: list[_Piece] = []
        self._turn = 0
        self._has_content = self._is_over = self._is_steered = False
        self._step: list[tuple[Native, int]] = []
        self._open: dict[tuple[str, Any], _Piece] = {}
        self._calls: dict[str, _Piece] = {}

    def take(self, event: Any, at: int) -> None:
        """Adds an event."""
        if isinstance(event, str):
            return
        self.has_begun = True
        kind: str = event["type"]
        if kind not in WHOLE:
            self._step.append((event, at))
        stem, _, step = kind.rpartition("-")
        if stem in ("text", "reasoning") and step in ("start", "delta", "end"):
            self._text(event, stem, step, at)
        elif kind in CALLS:
            CALLS[kind](self, event, at)
        elif kind in WHOLE:
            self._whole(event, at)
        elif kind == "start-step":
            self._begin_step(event, at)
        elif kind == "reset-step":
            self._reset(event, at)
        elif kind.startswith(RESERVED):
            self._keep(event, at)
        else:
            self._part(event, at)

    # ------------------------------------------------------------ the message as a whole

    def _whole(self, event: Native, at: int) -> None:
        """Reads an event about the message or its end."""
        kind = event["type"]
        fields = {WHOLE[kind][key]: value for key, value in event.items() if key in WHOLE[kind]}
        for key, name in WHOLE[kind].items():
            if event.get(key) is not None:
                self._route(name, (at, key))
        self.is_done = self.is_done or kind in ENDS
        self._is_over = self._is_over or kind == "finish-step"
        self.is_aborted = self.is_aborted or kind == "abort"
        self.reason = self._restated("finishReason", self.reason, fields.pop("finishReason", None) or None)
        self.error = self._restated("errorText", self.error, fields.pop("errorText", None))
        if fields.get("id"):
            self.message["id"] = self._restated("id", self.message.get("id"), fields["id"])
        if fields.get("metadata") is not None:
            self._add_metadata(fields["metadata"])
        self._unknown_keys(event, at, *WHOLE[kind])

    def _restated(self, key: str, before: Any, value: Any) -> Any:
        """Returns what the events state last of the message; another value before is kept."""
        if before is not None and value is not None and value != before:
            streams.keep_other(self.message, key, before)
        return before if value is None else value

    def _add_metadata(self, metadata: Any) -> None:
        """Merges metadata into that of the message; an earlier one that says something else is kept."""
        before = self.message.get("metadata")
        merged = _merged(before, metadata)
        if before is not None and _merged(merged, before) != merged:
            streams.keep_other(self.message, "metadata", before)
        self.message["metadata"] = merged

    def _route(self, name: str, place: Path) -> None:
        """Routes metadata to its first event, since metadata is merged; other values to the last."""
        if name == "metadata":
            self.routes.add((name,), place)
        else:
            self.routes[name,] = place

    def _unknown_keys(self, event: Native, at: int, *known: str) -> None:
        """Adds unknown keys of an event to the message."""
        streams.state(self.message, omit(event, "type", *known), (at,), self.routes, read=OF_MESSAGE)

    def _keep(self, event: Native, at: int, behind: bool = False) -> None:
        """Keeps an event before the turn in which it comes, or after it (`behind`)."""
        self.asides.append((self._turn + (behind or (self._is_over and self._has_content)), event, at))

    # ------------------------------------------------------------ steps

    def _begin_step(self, event: Native, at: int) -> None:
        self._turn += self._has_content
        self._has_content = self._is_over = self._is_steered = False
        self._step = [({"type": "start-step"}, at)]
        self._add(_Piece({**event, "type": STEP}, at), is_bare=event.keys() == {"type"})

    def _add(self, piece: _Piece, is_bare: bool = False) -> _Piece:
        """Adds a part. One that follows a message of the user begins another turn; that message itself is in none."""
        self._pieces.append(piece)
        if piece.native["type"] == STEERED:
            self._is_steered = self._has_content
        elif not is_bare:
            self._turn += self._is_steered
            self._has_content, self._is_steered = True, False
        return piece

    def _reset(self, event: Native, at: int) -> None:
        """Discards the step so far."""
        begin = next((i for i in range(len(self._pieces), 0, -1) if self._pieces[i - 1].native["type"] == STEP), 0)
        kept = [aside for _, aside, _ in self.asides]
        self._is_over = False
        for discarded, index in self._step:
            if not any(discarded is aside for aside in kept):
                self._keep(discarded, index)
        self._step = self._step[:0]
        del self._pieces[begin:]
        self._has_content = begin > 0 and self._pieces[-1].native.keys() != {"type"}
        self._open, self._calls = {}, {piece.native["toolCallId"]: piece for piece in self._pieces if _is_call(piece)}

    # ------------------------------------------------------------ texts and other parts

    def _text(self, event: Native, stem: str, step: str, at: int) -> None:
        piece = self._open.get((stem, event["id"]))
        if piece is None or step == "start":
            piece = self._open[stem, event["id"]] = _Piece({"type": stem, "text": "", **STREAMING}, at)
            self._add(piece)
            if stem == "reasoning" and event["id"] != name_of_place(stem, len(self._pieces) - 1):
                piece.put(at, {"id": event["id"]})
        if step == "delta":
            piece.grow("text", event["delta"], (at, "delta"))
        elif step == "end":
            piece.drop("state")
            del self._open[stem, event["id"]]
        others = omit(event, "type", "id")
        if step == "delta":
            del others["delta"]
        piece.take(at, others, OF_TEXTS)

    def _part(self, event: Native, at: int) -> None:
        """Adds a part that comes whole; for data with a name the last event counts."""
        key = (event["type"], event.get("id")) if event["type"].startswith("data-") else None
        if key is not None and key[1] is not None and key in self._open:
            self._replace(self._open[key], event, at)
            self._open[key].put(at, event)
            self._open[key].home = at
            return
        piece = self._add(_Piece(event, at))
        if key is not None:
            self._open[key] = piece
            piece.last = (event, at)

    def _replace(self, piece: _Piece, event: Native, at: int) -> None:
        """Records a repetition; the earlier event is kept, since a message has no place for it."""
        if piece.last is not None:
            self.replaced.append(piece.last[0])
            self.routes.setdefault(("replaced",), (piece.last[1],))
        piece.last = (event, at)

    # ------------------------------------------------------------ calls

    def _called(self, event: Native, at: int) -> _Piece:
        """Returns the part of the call that an event begins or continues."""
        piece = self._calls.get(event["toolCallId"])
        if piece is None or piece.native["state"] != STARTED:
            name = event.get("toolName") or ""
            kind = {"type": DYNAMIC, "toolName": name} if event.get("dynamic") else {"type": STATIC + name}
            piece = self._calls[event["toolCallId"]] = _Piece({**kind, "toolCallId": event["toolCallId"]}, at)
            self._add(piece)
        piece.take(at, call_metadata(omit(event, *TOOL_KEYS, "toolName")), OF_CALLS)
        return piece

    def _begin(self, event: Native, at: int) -> None:
        self._called(event, at).put(at, {"state": STARTED})

    def _grow(self, event: Native, at: int) -> None:
        piece = self._calls.get(event["toolCallId"])
        if piece is None or piece.native["state"] != STARTED:
            self._keep(event, at)
            return
        piece.grow("rawInput", event["inputTextDelta"], (at, "inputTextDelta"))
        piece.take(at, omit(event, "type", "toolCallId", "inputTextDelta"), OF_CALLS)

    def _input(self, event: Native, at: int) -> None:
        piece = self._called(event, at)
        self._end_raw_input(piece, event.get("input"))
        state = "output-error" if event["type"] == "tool-input-error" else "input-available"
        piece.put(at, {"state": state, "input": event.get("input")})

    def _end_raw_input(self, piece: _Piece, final: Any) -> None:
        """Drops the input that came as text, which the final one repeats; text that says something else is kept."""
        streamed, place = piece.native.get("rawInput"), piece.routes.get(("rawInput",))
        text = streams.whole(streamed)
        if isinstance(text, str) and not exact_json.exact(read_json(text), final):
            piece.native["rawInput"] = final if isinstance(final, str) else exact_json.write_text(final)
            streams.keep_former(piece.native, "rawInput", streamed)
            if FORMER in piece.native and place is not None:
                piece.routes.setdefault((FORMER,), place)
        piece.drop("rawInput")

    def _output(self, event: Native, at: int) -> None:
        piece = self._calls.get(event["toolCallId"])
        if piece is None or (piece.last is not None and piece.native.get("preliminary") is not True):
            self._keep(event, at, behind=True)
            return
        state = event["type"].removeprefix(STATIC)
        if piece.last is not None:
            piece.drop("output", "errorText", "preliminary")
        self._replace(piece, event, at)
        fields = _without_call(event, piece)
        piece.take(at, renamed(fields, {"providerMetadata": "resultProviderMetadata"}), OF_OUTPUTS)
        piece.put(at, {"state": state})
        if state == "output-available":
            piece.put(at, {"output": event.get("output")})
        key = {"output-available": "output", "output-error": "errorText"}.get(state)
        piece.output = (at, key) if key is not None else piece.answer or (at,)
        piece.result = piece.output[:1]

    def _ask(self, event: Native, at: int) -> None:
        piece = self._calls.get(event["toolCallId"])
        if piece is None:
            self._keep(event, at)
            return
        streams.restate(piece.native, "approval", renamed(_without_call(event, piece), ASKED))
        piece.native["state"] = "approval-requested"
        piece.routes.setdefault(("approval",), (at,))

    def _answer(self, event: Native, at: int) -> None:
        pending = [piece for piece in self._pieces if _is_call(piece) and _approval(piece) == event["approvalId"]]
        if not pending:
            self._keep(event, at)
            return
        fields = renamed(omit(event, "type", "providerExecuted", "providerMetadata"), ANSWERED)
        streams.state(pending[0].native["approval"], fields, (at,), {})
        pending[0].native["state"] = "approval-responded"
        pending[0].answer = (at, "reason") if event.get("reason") else (at,)
        provider_keys = {
            key: event[key] for key in ("providerExecuted", "providerMetadata") if event.get(key) is not None
        }
        pending[0].put(at, call_metadata(provider_keys))

    # ------------------------------------------------------------ the end

    def whole(self) -> Native:
        """Returns the message as a user interface has it."""
        parts = [streams.whole(piece.native) for piece in self._pieces]
        return {"role": "assistant", **self.message, "parts": parts}

    def all_routes(self) -> dict[Path, Path]:
        """Maps paths in the message to their events."""
        routes = self.routes | {(EVENTS, at): (at,) for _, _, at in self.asides}
        for j, piece in enumerate(self._pieces):
            routes["parts", j] = (piece.home,)
            routes |= {("parts", j, *path): place for path, place in piece.routes.items() if path not in UNROUTED}
            if piece.result:
                routes |= {(RESULTS, j): piece.result, (RESULTS, j, "output"): piece.output}
            if ("rawInput",) in piece.routes:
                routes["parts", j, "input"] = piece.routes["rawInput",]
        return routes

    def all_pieces(self) -> dict[Path, list[Path]]:
        """Maps paths to all places of values that span several events."""
        every = (self.routes, *(piece.routes for piece in self._pieces))
        return {place: places for routes in every for place, places in routes.pieces.items()}


def name_of_place(stem: str, index: int) -> str:
    """Returns the placeholder name of a text from its index among the parts; it is not data."""
    return f"{stem}-{index}"


def _is_call(piece: _Piece) -> bool:
    return "toolCallId" in piece.native and "state" in piece.native


def _without_call(event: Native, piece: _Piece) -> Native:
    """Returns the event without the keys that name its call."""
    name = piece.native.get("toolName", piece.native["type"].removeprefix(STATIC))
    return omit(event, *TOOL_KEYS, *(() if event.get("toolName", name) != name else ("toolName",)))


def _approval(piece: _Piece) -> Any:
    return as_object(piece.native.get("approval")).get("id")


def _merged(before: Any, after: Any) -> Any:
    """Merges objects recursively; any other value is replaced by the later one."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return before if after is None else after
    return before | {key: _merged(before.get(key), value) for key, value in after.items()}


STARTED = "input-streaming"
CALLS = {
    "tool-input-start": Answer._begin,
    "tool-input-delta": Answer._grow,
    "tool-input-available": Answer._input,
    "tool-input-error": Answer._input,
    "tool-output-available": Answer._output,
    "tool-output-error": Answer._output,
    "tool-output-denied": Answer._output,
    "tool-approval-request": Answer._ask,
    "tool-approval-response": Answer._answer,
}
METADATA = {"messageMetadata": "metadata"}
WHOLE = {
    "start": {"messageId": "id", **METADATA},
    "message-metadata": METADATA,
    "finish-step": {},
    "error": {"errorText": "errorText"},
    "finish": {"finishReason": "finishReason", **METADATA},
    "abort": {"reason": "errorText"},
}
"""Events about the whole message, with the names of their keys in it."""
ENDS = ("finish", "abort")
