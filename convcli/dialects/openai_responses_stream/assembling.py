"""Assembles the response from the events of a Responses stream."""

from __future__ import annotations

from typing import Any

from convcli.families.responses.fitting import OTHER_EVENTS, PREFIXES
from convcli.families.responses.items import kind_of
from convcli.families.responses.response import RESPONSE
from convcli.kit import streams
from convcli.kit.finals import settle
from convcli.kit.objects import Native, omit, without_nulls
from convcli.kit.streams import Growing, Slots
from convcli.kit.supported import fields
from convcli.model.transcript import Path

ENDS = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}
"""Maps the status of a response to the event that ends its stream."""

TEXTS = {
    "response.output_text": ("message", "content", "output_text", "text"),
    "response.refusal": ("message", "content", "refusal", "refusal"),
    "response.reasoning_text": ("reasoning", "content", "reasoning_text", "text"),
    "response.reasoning_summary_text": ("reasoning", "summary", "summary_text", "text"),
}
"""Events that grow a part: the type of its item, the list that contains it, its type and the key of its text."""
FIELDS = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
    "response.mcp_call_arguments": ("mcp_call", "arguments"),
    "response.code_interpreter_call_code": ("code_interpreter_call", "code"),
}
"""Events that grow an item: its type and the key of its text."""
PARTS = {"response.content_part": "content", "response.reasoning_summary_part": "summary"}
"""Events that begin and end a part, and the list that contains it."""
ANNOTATION = "response.output_text.annotation.added"
PROGRESS = frozenset(
    f"response.{item}.{step}"
    for item in ("code_interpreter_call", "file_search_call", "image_generation_call", "mcp_call", "mcp_list_tools",
                 "web_search_call")
    for step in ("in_progress", "searching", "interpreting", "generating", "partial_image", "completed", "failed")
)  # fmt: skip
"""Progress events of hosted tools: the result is in the item, which comes when the tool is done."""
INDEX = {"content": "content_index", "summary": "summary_index"}
PROGRESSING = frozenset(("status", "completed_at"))
"""Keys of a response whose last value counts, since they change while it arrives."""
WHOLE = frozenset((*ENDS.values(), "response.created", "response.queued", "response.in_progress"))


def name_of_place(item: Native, index: int) -> str:
    """Returns the name of an item without an id, with the prefix that the API requires."""
    return f"{PREFIXES.get(kind_of(item), 'item').rstrip('_')}_output_{index}"


def _unnamed(item: Native, index: int) -> Native:
    """Returns the item without a name that only gives its position."""
    is_place = item.get("id") == name_of_place(item, index)
    return omit(item, "id") if is_place else item


class _Item:
    """One item while its events arrive.

    `home` is its path, `stated` the item as an event stated it last; `first` maps each part to its first path;
    `whole_at` lists the paths of the whole item, of which the last counts. `began` has the paths where the item and its
    parts began, whatever was stated later. `fragments` has the paths of the deltas of each text.
    """

    def __init__(self, home: Path, native: Native) -> None:
        self.home, self.native = home, Growing(native)
        self.lists = {"content": Slots(), "summary": Slots()}
        self.first = streams.Sources()
        self.began: dict[Path, Path] = {(): home}
        self.fragments = streams.Sources()
        self.whole_at: list[Path] = []
        self.is_done = False
        self.stated: Native = {}

    def is_another(self, native: Native, keys: tuple[str, ...]) -> bool:
        """True if the events have already stated an item with other values of these keys under this index."""
        pairs = [(self.stated.get(key), native.get(key)) for key in keys]
        return any(before is not None and after is not None and before != after for before, after in pairs)

    def begin(self, native: Native) -> None:
        """Adds what an event states of the item while it grows."""
        self.native = Growing(settle(native, self.native))

    def done(self, native: Native, place: Path) -> None:
        if not self.is_done:
            self.home, self.first = place, streams.Sources()
        whole = self.native if self.is_done else streams.whole(self.native)
        self.native, self.is_done = Growing(settle(whole, native)), True
        self.whole_at.append(place)

    def part(self, event: Native, key: str, native: Native, place: Path) -> Growing:
        """Returns the part that an event names; `native` is its initial value."""
        index = event.get(INDEX[key]) or 0
        self.first.add((key, index), place)
        self.began.setdefault((key, index), place)
        return self.lists[key].setdefault(index, Growing(native))

    def whole(self) -> Native:
        """Returns the item as the openai-responses dialect has it."""
        native: Native = streams.whole(self.native)
        grown = {key: streams.whole(parts) for key, parts in self.lists.items() if parts}
        if self.is_done:
            return self._with_former(settle(grown, native))
        return self._with_former({**DEFAULTS.get(kind_of(native), {}), **native, **grown})

    def _with_former(self, native: Native) -> Native:
        """Moves other values of pieces of reasoning to the item: a piece is only its text."""
        for key in self.lists if kind_of(native) == "reasoning" else ():
            for piece in native.get(key) or ():
                if isinstance(piece.get(streams.FORMER), streams.Former):
                    for name, values in piece.pop(streams.FORMER).items():
                        for value in values:
                            streams.keep_other(native, key if name == "text" else name, value)
        return native


DEFAULTS: dict[str, Native] = {
    "message": {"type": "message", "role": "assistant", "content": []},
    "function_call": {"type": "function_call", "name": "", "arguments": ""},
    "custom_tool_call": {"type": "custom_tool_call", "name": "", "input": ""},
}
"""The initial keys of an item whose beginning is missing."""


EVENT_KEYS = fields("type sequence_number obfuscation")
"""The keys that events of all kinds have, and padding."""
KEYS_OF: dict[str, frozenset[str]] = {
    "error": fields("code error message param"),
    ANNOTATION: fields("item_id output_index content_index annotation_index annotation"),
    **dict.fromkeys(PROGRESS, fields("item_id output_index")),
    **dict.fromkeys(WHOLE, fields("response")),
    **{f"response.output_item.{step}": fields("output_index item") for step in ("added", "done")},
    **{
        f"{stem}.{step}": fields(f"item_id output_index {INDEX[key]} part")
        for stem, key in PARTS.items()
        for step in ("added", "done")
    },
    **{
        f"{stem}.{step}": fields(f"item_id output_index {INDEX[row[1]]} logprobs {text}")
        for stem, row in TEXTS.items()
        for step, text in (("delta", "delta"), ("done", row[3]))
    },
    **{
        f"{stem}.{step}": fields(f"item_id output_index {text}")
        for stem, (_, field) in FIELDS.items()
        for step, text in (("delta", "delta"), ("done", field))
    },
}
"""The keys of the other kinds that are read, or that give a position."""
RESPONSE_KEYS = frozenset(RESPONSE.keys.names)
ERROR = ("code", "message", "param")
"""The keys of an error that an event has next to its type."""


class Answer:
    """A response while its events arrive."""

    def __init__(self) -> None:
        self.response: Native = {}
        self.other_events: list[Native] = []
        self.items: dict[int, _Item] = {}
        self.slots: dict[int, int] = {}
        self.routes = streams.Sources(((), (0,)))
        self.error: Native | None = None
        self.is_done = False

    def take(self, event: Any, at: int) -> None:
        if isinstance(event, str):
            return
        kind: str = event["type"]
        stem, _, step = kind.rpartition(".")
        if kind in WHOLE:
            self._response(kind, event["response"], at)
        elif kind == "error":
            inside = isinstance(event.get("error"), dict)
            body = event["error"] if inside else {key: event[key] for key in ERROR if key in event}
            self.routes["error",] = (at, "error") if inside else (at,)
            self.error = streams.restated(self.error, without_nulls(body))
        elif stem == "response.output_item" and step in ("added", "done"):
            self._item(event["output_index"], event["item"], (at, "item"), step == "done")
        elif stem in PARTS and step in ("added", "done"):
            item = self._open(event, "reasoning" if PARTS[stem] == "summary" else "message", at)
            part = item.part(event, PARTS[stem], event["part"], (at, "part"))
            part.update(settle(part, event["part"]))
        elif stem in TEXTS and step in ("delta", "done"):
            self._text(event, *TEXTS[stem], step, at)
        elif stem in FIELDS and step in ("delta", "done"):
            self._field(event, *FIELDS[stem], step, at)
        elif kind == ANNOTATION and event.get("annotation"):
            part = self._open(event, "message", at).part(event, "content", {"type": "output_text", "text": ""}, (at,))
            streams.extend(part, "annotations", [event["annotation"]])
        elif kind not in PROGRESS:
            self.other_events.append(omit(event, "sequence_number"))
            self.routes.add((OTHER_EVENTS,), (at,))
            return
        self._unknown_keys(event, at)

    def _unknown_keys(self, event: Native, at: int) -> None:
        """Adds unknown keys of an event to the response, which does not read them."""
        others = event.keys() - EVENT_KEYS - KEYS_OF[event["type"]]
        if others:
            native = {key: event[key] for key in event if key in others}
            streams.state(self.response, native, (at,), self.routes, read=RESPONSE_KEYS)

    def _response(self, kind: str, native: Native, at: int) -> None:
        self.response.pop("status", None)
        for key, value in omit(native, "output").items():
            if key in PROGRESSING:
                self.response[key] = value
            elif key == "usage" and isinstance(value, dict):
                self.response[key] = dict(self.response.get(key) or {})
                streams.recount(self.response[key], value)
            else:
                streams.state(self.response, {key: value}, (at, "response"), self.routes)
        self.routes |= {(key,): (at, "response", key) for key in native if native[key] is not None or not at}
        for index, item in enumerate(native.get("output") or ()):
            place = (at, "response", "output", index)
            self._item(index, item, place, kind in ENDS.values(), keys=("type",))  # it repeats the items by position
        self.is_done = kind in ENDS.values()

    def _item(
        self, index: int, native: Native, place: Path, is_done: bool, keys: tuple[str, ...] = ("type", "id")
    ) -> None:
        slot = self._slot(index)
        if slot in self.items and self.items[slot].is_another(native, keys):
            slot = self.slots[index] = max(self.items) + 1
        item = self.items.setdefault(slot, _Item(place, native))
        item.stated = native
        if is_done:
            item.done(native, place)
        else:
            item.begin(native)

    def _open(self, event: Native, kind: str, at: int) -> _Item:
        return self.items.setdefault(self._slot(event["output_index"]), _Item((at,), {"type": kind}))

    def _slot(self, index: int) -> int:
        """Returns the slot of the item with this index: the index itself, unless another item has it."""
        if index not in self.slots:
            self.slots[index] = max(self.items) + 1 if index in self.items else index
        return self.slots[index]

    def _text(self, event: Native, kind: str, key: str, type_: str, field: str, step: str, at: int) -> None:
        item = self._open(event, kind, at)
        part = item.part(event, key, {"type": type_, field: ""}, (at, step))
        if step == "done":
            before, part[field] = part.get(field), event[field]
            streams.keep_former(part, field, before)
            if event.get("logprobs"):
                streams.restate(part, "logprobs", event["logprobs"])
            return
        streams.grow(part, field, event["delta"])
        item.fragments.add((key, event.get(INDEX[key]) or 0, field), (at, step))
        if event.get("logprobs"):
            streams.extend(part, "logprobs", event["logprobs"])

    def _field(self, event: Native, kind: str, field: str, step: str, at: int) -> None:
        item = self._open(event, kind, at)
        text = event[field if step == "done" else "delta"]
        if step == "delta":
            item.fragments.add((field,), (at, step))
        if item.is_done:
            streams.keep_former(item.native, field, text)
        elif step == "done":
            before, item.native[field] = item.native.get(field), text
            streams.keep_former(item.native, field, before)
        else:
            streams.grow(item.native, field, text)

    def whole(self) -> Native:
        """Returns the response as the openai-responses dialect has it; one that was cut off has failed."""
        items = [_unnamed(self.items[index].whole(), index) for index in sorted(self.items)]
        native = {**streams.whole(Growing(self.response)), "output": items}
        if self.error is not None or not self.is_done:
            native["status"] = "failed"
        if self.error is not None and native.get("error"):
            streams.keep_other(native, "error", self.error)
        elif self.error is not None:
            native["error"] = {"code": "server_error", **self.error}
        return native

    def all_routes(self) -> dict[Path, Path]:
        """Maps paths in the response to where they occur in the events."""
        routes = dict(self.routes)
        for j, index in enumerate(sorted(self.items)):
            item = self.items[index]
            routes["output", j] = item.home
            routes |= {("output", j, *path): place for path, place in item.first.items()}
            routes |= {("output", j, *path, streams.FORMER): place for path, place in item.began.items()}
        return routes

    def all_pieces(self) -> dict[Path, list[Path]]:
        """Maps paths to all places of values that span several events."""
        pieces = dict(self.routes.pieces)
        for item in self.items.values():
            pieces |= item.first.pieces | item.fragments.pieces
        return pieces | {item.home: item.whole_at for item in self.items.values() if len(item.whole_at) > 1}
