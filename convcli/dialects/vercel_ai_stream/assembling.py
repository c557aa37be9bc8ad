"""Events of a stream of the AI SDK, put together to the message that a user interface makes of them.

Specification: `processUIMessageStream` of the package ai 7.0.173; read 2026-11-23.
"""

from __future__ import annotations

from typing import Any

from convcli.kit import streams
from convcli.kit.objects import Native, omit, rest_of
from convcli.kit.streams import Growing
from convcli.kit.values import pairs
from convcli.model.transcript import Path

STEP, DYNAMIC, STATIC = "step-start", "dynamic-tool", "tool-"
RESERVED = ("text", "reasoning", STATIC, DYNAMIC, STEP)
"""How the types of parts begin that no event has: one that begins so is of a kind that we do not know."""
RESULTS, EVENTS = "results", "events"
"""Where results and events that make no part are, in the routes: the message of an interface has no place for them."""
STREAMING: Native = {"state": "streaming"}
NOWHERE: Path = ()
TOOL_KEYS = frozenset(("type", "toolCallId", "toolName", "dynamic"))
ASKED = pairs("approvalId=id approvalDescriptor=descriptor reason=requestReason")
ANSWERED = pairs("approvalId=id")
"""What a request of an approval, and the answer to it, are called in the part of the call."""


def call_metadata(event: Native) -> Native:
    """The event with what the provider says of a call under the name that it has in the part."""
    return renamed(event, {"providerMetadata": "callProviderMetadata"})


def renamed(native: Native, names: dict[str, str]) -> Native:
    """The object with other names for some keys."""
    return {names.get(key, key): value for key, value in native.items()}


class _Piece:
    """A part while its events come in. `home` is the event that it began with, `routes` say where its keys stand.

    `last` is the event that said what may be said again, data or an output. `result` is the event that said what came
    of a call, `output` where in it that stands, and `answer` where somebody said whether the call may be made.
    """

    def __init__(self, native: Native, at: int) -> None:
        self.native, self.home = Growing(native), at
        self.routes = streams.Sources()
        self.last: tuple[Native, int] | None = None
        self.result = self.output = self.answer = NOWHERE

    def put(self, at: int, native: Native) -> None:
        """Later words count."""
        self.native |= native
        self.routes |= {key: (at, key) for key in native}

    def grow(self, key: str, text: str, place: Path) -> None:
        streams.grow(self.native, key, text)
        self.routes.add(key, place)

    def drop(self, *keys: str) -> None:
        for key in keys:
            self.native.pop(key, None)
            self.routes.pop(key, None)


class Answer:
    """The message while its events come in, and how it ended.

    `asides` are events that no part is made of: those of unknown kinds, of what was taken back, and results that no
    call waits for, each with the turn before which it stands and with its index. `replaced` are those of which a later
    one said the same again.
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
        self._says_something = self._is_over = False
        self._step: list[tuple[Native, int]] = []
        self._open: dict[tuple[str, Any], _Piece] = {}
        self._calls: dict[str, _Piece] = {}

    def take(self, event: Any, at: int) -> None:
        """One more event."""
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
        """What an event says of the message, or of its end."""
        kind = event["type"]
        said = {WHOLE[kind][key]: value for key, value in event.items() if key in WHOLE[kind]}
        for key, name in WHOLE[kind].items():
            if event.get(key) is not None:
                self._route(name, (at, key))
        self.is_done = self.is_done or kind in ENDS
        self._is_over = self._is_over or kind == "finish-step"
        self.is_aborted = self.is_aborted or kind == "abort"
        self.reason = said.pop("finishReason", None) or self.reason
        error = said.pop("errorText", None)
        self.error = self.error if error is None else error
        if said.get("id"):
            self.message["id"] = said["id"]
        if "metadata" in said:
            self.message["metadata"] = _merged(self.message.get("metadata"), said["metadata"])
        self._beside(event, at, *WHOLE[kind])

    def _route(self, name: str, place: Path) -> None:
        """Metadata stand where they were said first, since all that is said of them is merged; else the last counts."""
        if name == "metadata":
            self.routes.add((name,), place)
        else:
            self.routes[name,] = place

    def _beside(self, event: Native, at: int, *known: str) -> None:
        """What else an event says belongs to the message."""
        for key, value in event.items():
            if key not in ("type", *known) and value is not None and key not in self.message:
                self.message[key] = value
                self.routes[key,] = (at, key)

    def _keep(self, event: Native, at: int, behind: bool = False) -> None:
        """An event before the turn in which it comes, or `behind` it."""
        self.asides.append((self._turn + (behind or (self._is_over and self._says_something)), event, at))

    # ------------------------------------------------------------ steps

    def _begin_step(self, event: Native, at: int) -> None:
        self._turn += self._says_something
        self._says_something = self._is_over = False
        self._step = [({"type": "start-step"}, at)]
        self._add(_Piece({**event, "type": STEP}, at), is_bare=event.keys() == {"type"})

    def _add(self, piece: _Piece, is_bare: bool = False) -> _Piece:
        self._pieces.append(piece)
        self._says_something = self._says_something or not is_bare
        return piece

    def _reset(self, event: Native, at: int) -> None:
        """What the step has said so far is taken back."""
        begin = next((i for i in range(len(self._pieces), 0, -1) if self._pieces[i - 1].native["type"] == STEP), 0)
        kept = [aside for _, aside, _ in self.asides]
        self._is_over = False
        for gone, index in self._step:
            if not any(gone is aside for aside in kept):
                self._keep(gone, index)
        self._step = self._step[:0]
        del self._pieces[begin:]
        self._says_something = begin > 0 and self._pieces[-1].native.keys() != {"type"}
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
        piece.put(at, rest_of(event, "type", "id", "delta"))

    def _part(self, event: Native, at: int) -> None:
        """A part that comes whole; of data with a name the last word counts."""
        named = (event["type"], event.get("id")) if event["type"].startswith("data-") else None
        if named is not None and named[1] is not None and named in self._open:
            self._replace(self._open[named], event, at)
            self._open[named].put(at, event)
            self._open[named].home = at
            return
        piece = self._add(_Piece(event, at))
        if named is not None:
            self._open[named] = piece
            piece.last = (event, at)

    def _replace(self, piece: _Piece, event: Native, at: int) -> None:
        """Something is said again; what was said is kept where a message has no place for it."""
        if piece.last is not None:
            self.replaced.append(piece.last[0])
            self.routes.setdefault(("replaced",), (piece.last[1],))
        piece.last = (event, at)

    # ------------------------------------------------------------ calls

    def _called(self, event: Native, at: int) -> _Piece:
        """The part of the call that an event begins, or goes on with."""
        piece = self._calls.get(event["toolCallId"])
        if piece is None or piece.native["state"] != STARTED:
            name = event.get("toolName") or ""
            kind = {"type": DYNAMIC, "toolName": name} if event.get("dynamic") else {"type": STATIC + name}
            piece = self._calls[event["toolCallId"]] = _Piece({**kind, "toolCallId": event["toolCallId"]}, at)
            self._add(piece)
        piece.put(at, call_metadata(rest_of(event, *TOOL_KEYS)))
        return piece

    def _begin(self, event: Native, at: int) -> None:
        self._called(event, at).put(at, {"state": STARTED})

    def _grow(self, event: Native, at: int) -> None:
        piece = self._calls.get(event["toolCallId"])
        if piece is None or piece.native["state"] != STARTED:
            self._keep(event, at)
            return
        piece.grow("rawInput", event["inputTextDelta"], (at, "inputTextDelta"))
        piece.put(at, omit(event, "type", "toolCallId", "inputTextDelta"))

    def _input(self, event: Native, at: int) -> None:
        piece = self._called(event, at)
        piece.drop("rawInput", "inputEncoding")
        state = "output-error" if event["type"] == "tool-input-error" else "input-available"
        piece.put(at, {"state": state, "input": event.get("input")})

    def _output(self, event: Native, at: int) -> None:
        piece = self._calls.get(event["toolCallId"])
        if piece is None or (piece.last is not None and piece.native.get("preliminary") is not True):
            self._keep(event, at, behind=True)
            return
        state = event["type"].removeprefix(STATIC)
        self._replace(piece, event, at)
        piece.drop("output", "errorText", "preliminary")
        said = rest_of(event, *TOOL_KEYS)
        piece.put(at, {"state": state, **renamed(said, {"providerMetadata": "resultProviderMetadata"})})
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
        piece.native["approval"] = renamed(omit(event, *TOOL_KEYS), ASKED)
        piece.native["state"] = "approval-requested"
        piece.routes.setdefault("approval", (at,))

    def _answer(self, event: Native, at: int) -> None:
        asked = [piece for piece in self._pieces if _is_call(piece) and _approval(piece) == event["approvalId"]]
        if not asked:
            self._keep(event, at)
            return
        said = renamed(omit(event, "type", "providerExecuted", "providerMetadata"), ANSWERED)
        asked[0].native["approval"] |= said
        asked[0].native["state"] = "approval-responded"
        asked[0].answer = (at, "reason") if event.get("reason") else (at,)
        beside = {key: event[key] for key in ("providerExecuted", "providerMetadata") if event.get(key) is not None}
        asked[0].put(at, call_metadata(beside))

    # ------------------------------------------------------------ the end

    def whole(self) -> Native:
        """The message as an interface has it."""
        parts = [streams.whole(piece.native) for piece in self._pieces]
        return {"role": "assistant", **self.message, "parts": parts}

    def all_routes(self) -> dict[Path, Path]:
        """Where what is in the message was said in the events."""
        routes = self.routes | {(EVENTS, at): (at,) for _, _, at in self.asides}
        for j, piece in enumerate(self._pieces):
            routes["parts", j] = (piece.home,)
            routes |= {("parts", j, key): place for key, place in piece.routes.items() if key not in ("id", "state")}
            if piece.result:
                routes |= {(RESULTS, j): piece.result, (RESULTS, j, "output"): piece.output}
            if "rawInput" in piece.routes:
                routes["parts", j, "input"] = piece.routes["rawInput"]
        return routes

    def all_pieces(self) -> dict[Path, list[Path]]:
        """All places of what was said in several events."""
        every = (self.routes, *(piece.routes for piece in self._pieces))
        return {place: places for routes in every for place, places in routes.pieces.items()}


def name_of_place(stem: str, index: int) -> str:
    """What a text is called by its place among the parts: such a name is no fact."""
    return f"{stem}-{index}"


def _is_call(piece: _Piece) -> bool:
    return "toolCallId" in piece.native and "state" in piece.native


def _approval(piece: _Piece) -> Any:
    return (piece.native.get("approval") or {}).get("id")


def _merged(before: Any, after: Any) -> Any:
    """Objects are merged, as deep as they go; anything else is what was said last."""
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
"""Events of the message as a whole, with what they say of it."""
ENDS = ("finish", "abort")
