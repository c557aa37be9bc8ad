"""A session of version 3 for a transcript of any other dialect, one that pi and OpenClaw can continue."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.openclaw.blocks import NAME, Writer, finish
from convcli.dialects.openclaw.messages import lower_group
from convcli.dialects.openclaw.rows import (
    HEAD,
    HEADER,
    head_of,
    is_event,
    lower_event,
    milliseconds,
    row_of,
    with_tools,
)
from convcli.kit.fitting import results_apart, results_first
from convcli.kit.objects import Native, carried_by
from convcli.model.document import Rows
from convcli.model.transcript import Message, Transcript
from convcli.wire import exact_json

EPOCH = "1970-01-01T00:00:00.000Z"


class NewSession:
    """A session of version 3 while it is written: every row gets an id, a parent and a time."""

    def __init__(self, transcript: Transcript, writer: Writer) -> None:
        self.transcript, self.writer = transcript, with_tools(transcript, writer)
        self.tree = transcript.head is not None
        self.taken = {message.id for message in transcript.messages}
        self.used: set[str] = set()
        self.count = 0
        self.last: str | None = None
        self.root: str | None = None
        self.rows_of: dict[str, str | None] = {}
        known = (message.created_at for message in transcript.messages if message.created_at is not None)
        self.time = transcript.created_at or next(known, EPOCH)
        self.start = self.time

    def rows(self) -> list[Native]:
        rows: list[Native] = []
        if self.transcript.title is not None:
            rows.append({"type": "session_info", **self.envelope(None, None, None), "name": self.transcript.title})
            self.root = self.last
        messages = self.ordered()
        added = list(self.writer.tools.values())
        first = next((message for message in messages if message.role != "event"), None)
        if added and (first is None or first.role not in ("system", "developer")):
            rows += self.message(Message("system", []))
            self.root = self.last
        for message in messages:
            rows += self.message(message)
        if self.transcript.tools is not None:
            _put_tools(rows, added)
        head = self.rows_of.get(self.transcript.head or "")
        if head is not None and head != head_of(rows):
            rows.append({"type": "custom", **self.envelope(None, head, None), "customType": HEAD, "data": {}})
        return Rows([self.header(rows), *rows])

    def ordered(self) -> list[Message]:
        """Results directly behind their call, where nothing but the order says what belongs together."""
        messages = self.transcript.messages
        if self.tree:
            return messages
        said = [message for message in messages if message.role != "event"]
        in_order = results_first(said)
        same = len(said) == len(in_order) and all(a is b for a, b in zip(said, in_order, strict=True))
        return messages if same else results_first(messages)

    def header(self, rows: list[Native]) -> Native:
        header: Native = {
            "type": "session",
            "version": 3,
            "id": self.transcript.id or _digest(rows),
            "timestamp": self.start,
            "cwd": self.transcript.cwd or "",
        }
        carried = carried_by(self.transcript.extras, NAME).get("header")
        parent = carried.get("parentSession") if isinstance(carried, dict) else None
        return finish(HEADER, header, {"parentSession": parent} if isinstance(parent, str) else None, {})

    def message(self, message: Message) -> list[Native]:
        if message.role == "event":
            return self.event(message)
        rows: list[Native] = []
        for piece in results_apart(message):
            envelope = self.envelope(piece.id, self.parent(piece, rows), piece.created_at)
            if piece.role == "assistant" and piece.model is None and self.transcript.model is not None:
                piece = replace(piece, model=self.transcript.model)
            native = lower_group([piece], self.writer, milliseconds(envelope["timestamp"]))
            rows.append(row_of(piece, envelope, native, {}))
        if message.id is not None:
            self.rows_of.setdefault(message.id, self.last)
        return rows

    def event(self, message: Message) -> list[Native]:
        parent = self.parent(message, [])
        row = lower_event(message, {})
        if row is None or not is_event(row):
            if message.id is not None:
                self.rows_of.setdefault(message.id, parent)
            return []
        envelope = self.envelope(message.id, parent, message.created_at)
        if message.id is not None:
            self.rows_of.setdefault(message.id, self.last)
        return [lower_event(message, envelope) or {}]

    def parent(self, message: Message, before: list[Native]) -> str | None:
        """The row above: in a tree the parent's, and for a result without an id of its own the row before."""
        if not self.tree or before or message.id is None:
            return self.last
        return self.rows_of.get(message.parent_id, self.root) if message.parent_id is not None else self.root

    def envelope(self, id_: str | None, parent: str | None, time: str | None) -> Native:
        if not id_ or id_ in self.used:
            id_ = self.new_id()
        self.used.add(id_)
        self.last = id_
        self.time = time or self.time
        return {"id": id_, "parentId": parent, "timestamp": self.time}

    def new_id(self) -> str:
        while True:
            self.count += 1
            id_ = f"{self.count:08x}"
            if id_ not in self.taken and id_ not in self.used:
                return id_


def _put_tools(rows: list[Native], added: list[Native]) -> None:
    """The tools stand in the first message when it is the system's."""
    message = next((row["message"] for row in rows if row["type"] == "message"), None)
    if message is not None and message["role"] == "system":
        message["toolsAdded"] = added
        for key in [key for key in message if key not in ("role", "content", "sections", "toolsAdded")]:
            message[key] = message.pop(key)


def _digest(value: Any) -> str:
    """A UUID of version 8, made of what is written: the same session always has the same one."""
    hexed = exact_json.digest(value)
    return f"{hexed[:8]}-{hexed[8:12]}-8{hexed[13:16]}-8{hexed[17:20]}-{hexed[20:32]}"
