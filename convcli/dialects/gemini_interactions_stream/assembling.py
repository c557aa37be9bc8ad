"""Assembles an interaction from the events of its stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.families.interactions.response import RESPONSE, RUNNING
from convcli.families.interactions.steps import CALL, INPUT, OUTPUT, RESULT, THOUGHT
from convcli.kit import streams
from convcli.kit.finals import settle
from convcli.kit.objects import Native, as_object, omit
from convcli.kit.streams import Growing
from convcli.kit.supported import fields
from convcli.kit.values import read_arguments
from convcli.model.transcript import Path

CREATED, COMPLETED, STATUS = "interaction.created", "interaction.completed", "interaction.status_update"
START, DELTA, STOP, ERROR = "step.start", "step.delta", "step.stop", "error"
USAGE, PROGRESSING = "usage", fields("status updated")
"""Keys of an interaction whose last value counts, since they change while it arrives."""
KIND = ("event_type", "event_id")
"""Keys that events of all kinds have."""


class _Step:
    """One step while its events arrive. `home` is the path where it begins; `first` maps each content to its path."""

    def __init__(self, native: Native, home: Path, index: int) -> None:
        self.native, self.home, self.index = Growing(native), home, index
        self.first = streams.Sources(((), home))
        kind = native.get("type")
        self.key = {OUTPUT: "content", THOUGHT: "summary"}.get(str(kind))
        """The list of contents that grows."""
        if self.key is not None:
            self.native[self.key] = streams.Slots()
            for i, content in enumerate(native.get(self.key) or ()):
                if isinstance(content, dict):
                    self._append(content, (*home, self.key, i))

    def take(self, delta: Native, path: Path) -> bool:
        """Adds a delta. Returns False for one of a type that such a step does not have."""
        kind, body = str(delta.get("type")), omit(delta, "type")
        self.first.add((), path)
        if self.key == "content" and kind == "text_annotation_delta":
            streams.extend(self._text(path), "annotations", body.pop("annotations", None) or [])
        elif self.key == "content":
            self._content(delta, path)
            return True
        elif self.key == "summary" and kind == "thought_summary" and isinstance(body.get("content"), dict):
            self._content(body.pop("content"), (*path, "content"))
        elif self.key == "summary" and kind == "thought_signature":
            self.first.add(("signature",), (*path, "signature"))
            self._state({"signature": body.pop("signature", None)}, path)
        elif kind == "arguments_delta" and self.native.get("type") == CALL:
            if not isinstance(self.native.get("arguments"), streams.Pieces):
                streams.restate(self.native, "arguments", streams.Pieces())
            streams.grow(self.native, "arguments", body.pop("arguments", None) or "")
            self.first.add(("arguments",), (*path, "arguments"))
        elif kind == self.native.get("type") and kind not in GROWING:
            self._state(body, path)
            return True
        else:
            return False
        self._state(body, path, read=OF_STEP)
        return True

    def keep(self, native: Native, path: Path) -> None:
        """Adds keys that an event at this path states as a whole."""
        if native:
            self.first.add((), path)
            self._state(native, path, read=OF_STEP)

    def _state(self, native: Native, path: Path, read: frozenset[str] = frozenset()) -> None:
        streams.state(self.native, native, path, self.first, read=read)

    def _content(self, native: Native, path: Path) -> None:
        """Adds a content: a text continues the text before it."""
        if native.get("type") != "text":
            self._append(native, path)
            return
        assert self.key is not None
        content = self._text(path)
        streams.grow(content, "text", native.get("text") or "")
        self.first.add((self.key, len(self.native[self.key]) - 1, "text"), (*path, "text"))
        at = (self.key, len(self.native[self.key]) - 1)
        streams.state(content, omit(native, "type", "text"), path, self.first, at)

    def _text(self, path: Path) -> Growing:
        """Returns the text that is growing, a new one if the last content is something else."""
        assert self.key is not None
        contents = self.native[self.key]
        if not contents or contents[len(contents) - 1].get("type") != "text":
            self._append({"type": "text", "text": ""}, path)
        else:
            self.first.add((self.key, len(contents) - 1), path)
        last: Growing = contents[len(contents) - 1]
        return last

    def _append(self, native: Native, path: Path) -> None:
        assert self.key is not None
        contents = self.native[self.key]
        self.first.add((self.key, len(contents)), path)
        if native.get("text"):
            self.first.add((self.key, len(contents), "text"), (*path, "text"))
        contents[len(contents)] = Growing(native)

    def whole(self) -> Native:
        """Returns the step as the gemini-interactions dialect has it; the arguments are those of the start without
        deltas."""
        native: Native = streams.whole(self.native)
        return native


def _with_arguments(step: Native) -> Native:
    """Returns the step as the last event of a stream has it: with arguments that are an object."""
    text = step.get("arguments")
    arguments, raw = read_arguments(text) if isinstance(text, str) else ({}, text)
    return {**step, "arguments": arguments} if raw is None and text is not None else step


class Answer:
    """An interaction while its events arrive."""

    def __init__(self) -> None:
        self.interaction: Native = {}
        self.steps: list[_Step] = []
        self.slots: dict[int, int] = {}
        """The place in `steps` of the step that an index means now."""
        self.final: list[Native] = []
        self.routes = streams.Sources(((), (0,)))
        self.is_done = False
        self._take: dict[str, Callable[[Native, int], None]] = {
            CREATED: self._whole, COMPLETED: self._whole, STATUS: self._status, START: self._start, DELTA: self._delta,
            STOP: self._stop, ERROR: self._error,
        }  # fmt: skip

    def take(self, event: Any, at: int) -> None:
        if isinstance(event, str):
            return
        take = self._take.get(event["event_type"])
        if take is not None:
            take(event, at)
        else:
            self._add({"type": event["event_type"], **omit(event, "event_type")}, (at,), max(self.slots, default=0))

    def _whole(self, event: Native, at: int) -> None:
        native, is_end = event["interaction"], event["event_type"] == COMPLETED
        self._update(omit(native, "steps"), (at, "interaction"))
        self._keep_around(omit(event, *KIND, "interaction"), at)
        for index, step in enumerate(native.get("steps") or ()):
            if is_end:
                self.final.append(step)
                self.routes["steps", index] = (at, "interaction", "steps", index)
            else:
                self._begin(index, step, (at, "interaction", "steps", index))
        self.is_done = self.is_done or is_end

    def _update(self, native: Native, path: Path) -> None:
        for key, value in native.items():
            if key == USAGE and isinstance(value, dict):
                self.interaction[key] = dict(as_object(self.interaction.get(key)))
                streams.recount(self.interaction[key], value)
            elif key in PROGRESSING:
                self.interaction[key] = value
            else:
                streams.state(self.interaction, {key: value}, path, self.routes)
            if value is not None:
                self.routes[key,] = (*path, key)

    def _status(self, event: Native, at: int) -> None:
        if not self.interaction.get("id"):
            self.interaction["id"], self.routes["id",] = event["interaction_id"], (at, "interaction_id")
        elif event["interaction_id"]:
            streams.state(self.interaction, {"id": event["interaction_id"]}, (at,), self.routes, read=("id",))
        self._update({"status": event["status"]}, (at,))
        self._keep_around(omit(event, *KIND, "interaction_id", "status"), at)
        self.is_done = self.is_done or event["status"] not in RUNNING

    def _error(self, event: Native, at: int) -> None:
        streams.extend(self.interaction, "errors", [as_object(event.get("error"))])
        self.routes["errors", len(self.interaction["errors"]) - 1] = (at, "error")
        self._keep_around(omit(event, *KIND, "error"), at)

    def _begin(self, index: int, native: Native, path: Path) -> None:
        self.slots[index] = len(self.steps)
        self._add(native, path, index)

    def _add(self, native: Native, path: Path, index: int) -> None:
        """Adds a step. Events and deltas of unknown kinds are steps of their own."""
        self.steps.append(_Step(native, path, index))

    def _sorted(self) -> list[_Step]:
        """Returns the steps in the order of their indexes."""
        return sorted(self.steps, key=lambda step: step.index)

    def _start(self, event: Native, at: int) -> None:
        self._begin(event["index"], event["step"], (at, "step"))
        self._keep(event, "step", at)

    def _delta(self, event: Native, at: int) -> None:
        delta = event["delta"]
        if event["index"] not in self.slots:  # the beginning is missing
            kind = TYPE_OF_DELTA.get(str(delta.get("type")), OUTPUT)
            self._begin(event["index"], {"type": kind, **DEFAULTS.get(kind, {})}, (at, "delta"))
        if not self.steps[self.slots[event["index"]]].take(delta, (at, "delta")):
            is_step = delta["type"] in READ_STEPS
            self._add({"type": DELTA, "delta": delta} if is_step else delta, (at, "delta"), event["index"])
        self._keep(event, "delta", at)

    def _stop(self, event: Native, at: int) -> None:
        self._keep(event, "", at)

    def _keep(self, event: Native, body: str, at: int) -> None:
        """Adds the other keys of an event to its step."""
        slot = self.slots.get(event["index"])
        native = omit(event, *KIND, "index", body)
        if slot is not None:
            self.steps[slot].keep(native, (at,))
        else:
            self._keep_around(native, at)

    def _keep_around(self, native: Native, at: int) -> None:
        """Keeps what an event states next to what it is about."""
        streams.state(self.interaction, native, (at,), self.routes, read=OF_INTERACTION)

    def whole(self) -> Native:
        """Returns the interaction as the gemini-interactions dialect has it; one that was cut off has failed."""
        interaction, steps = Growing(self.interaction), [step.whole() for step in self._sorted()]
        if self.final:
            settled = settle({"content": list(map(_with_arguments, steps))}, {"content": self.final})
            steps = settled["content"]
            for step in settled.get(streams.FORMER, {}).get("content", ()):
                streams.keep_other(interaction, "steps", step)
        native = {**streams.whole(interaction), "object": "interaction", "steps": steps}
        if not self.is_done:
            native["status"] = "failed"
        return native

    def all_routes(self) -> dict[Path, Path]:
        """Maps paths in the interaction to where they occur in the events."""
        routes = dict(self.routes)
        for j, step in enumerate(() if self.final else self._sorted()):
            routes |= {("steps", j, *path): place for path, place in step.first.items()}
        return routes

    def all_pieces(self) -> dict[Path, list[Path]]:
        """Maps paths to all places of values that span several events."""
        pieces = dict(self.routes.pieces)
        for step in self.steps:
            pieces |= step.first.pieces
        return pieces


OF_INTERACTION = frozenset(RESPONSE.keys.names)
"""Keys that are read in an interaction."""
OF_STEP = fields("type content summary signature arguments id name call_id result is_error error")
"""Keys that are read in a step."""
GROWING = frozenset((INPUT, OUTPUT, THOUGHT, CALL))
"""Types of steps that no delta states as a whole."""
READ_STEPS = frozenset((INPUT, OUTPUT, THOUGHT, CALL, RESULT))
"""Types of steps with keys that are read: a delta of such a type is not a whole step."""
TYPE_OF_DELTA = {"arguments_delta": CALL, "thought_summary": THOUGHT, "thought_signature": THOUGHT}
DEFAULTS: dict[str, Native] = {CALL: {"id": "", "name": "", "arguments": {}}}
"""The initial keys of a step whose beginning is missing."""
