"""The rows of an OpenClaw or pi session: header, tree, messages, and what no model saw."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from convcli.dialects.openclaw.answers import Lifted
from convcli.dialects.openclaw.blocks import NAME, SESSION, Reader
from convcli.dialects.openclaw.messages import ROLES, lift_message, lift_tool, write_message, write_tool
from convcli.kit.objects import Native, carried_by, extras_of
from convcli.kit.sessions import Envelope, event_of, head_of, milliseconds_of_time, row_of_event
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Path, ToolDefinition, Transcript

HEADER = Envelope(
    "type version id timestamp cwd parentSession provider modelId thinkingLevel branchedFrom",
    {"id": "id", "timestamp": "created_at", "cwd": "cwd", "modelId": "model"},
    content="type version",
)
ROW = Envelope(
    "type id parentId timestamp message",
    {"id": "id", "parentId": "parent_id", "timestamp": "created_at"},
    content="type message",
)
ENVELOPE = ("type", "id", "parentId", "timestamp")
INLINE = {"branch_summary": "branchSummary", "custom_message": "custom"}
"""Rows that are a message themselves, and its role."""
TITLE = "session_info"

ROOT = "#"
"""In the table of places: the header of a session, and nothing in a request."""
HEAD = "convcli:head"
EVENT = "convcli."
"""Types of `custom` rows of ours: one whose parent is the head, and events of another dialect, whose name follows."""


# ---------------------------------------------------------------- lift


def lift_session(document: list[Native], reader: Reader) -> Transcript:
    """The transcript of all rows, with the head where the rows are a tree with more than one branch."""
    origin = reader.context.origin
    origin.form = SESSION
    origin.renamed = {ROOT: "0", "_sessionId": "id", "_workspaceDir": "cwd"}
    transcript = Transcript(reader.context.messages, origin=origin)
    rows = list(enumerate(document))
    if document[0].get("type") == "session":
        _lift_header(document[0], transcript)
        rows = rows[1:]
    # a row that names no parent follows the one before it
    before = [None, *(row.get("id") for _, row in rows)]
    transcript.head = head_of([(row.get("id"), row.get("parentId", last)) for (_, row), last in zip(rows, before)])  # noqa: B905
    if rows and is_marker(rows[-1][1]):
        transcript.head = rows.pop()[1]["parentId"]
    for i, row in rows:
        _lift_row(row, i, reader)
        if row.get("type") == TITLE and isinstance(row.get("name"), str):
            transcript.title = row["name"] or None
    _lift_tools([(*row, message) for row, message in zip(rows, _firsts(reader), strict=True)], transcript)
    return transcript


def _lift_header(native: Native, transcript: Transcript) -> None:
    """The first version has no number, ids or parents: that is remembered, as pi writes the third."""
    carried = HEADER.lift(native, transcript) or {}
    carried |= {} if (native.get("version") or 1) > 1 else {"version": 1}
    transcript.extras = extras_of(NAME, {"header": carried} if carried else None)


def _lift_row(row: Native, i: int, reader: Reader) -> None:
    kind = row.get("type")
    lifted: Lifted
    if kind == "message" and row["message"]["role"] in ROLES:
        place: Path = (i, "message")
        lifted = lift_message(row["message"], place, reader)
        _lift_envelope(lifted[0][0], row, {})
    elif is_inline(row):
        place = (i, "summary" if kind == "branch_summary" else "content")
        inner = {key: value for key, value in row.items() if key not in ENVELOPE}
        lifted = lift_message({"role": INLINE[row["type"]], **inner}, place, reader)
        _lift_envelope(lifted[0][0], {key: row[key] for key in row if key in ENVELOPE}, {"type": kind})
    else:
        place, lifted = (i,), [(_event_of(row), [()])]
    for message, spots in lifted:
        reader.context.add(message, place, spots)


def _lift_envelope(message: Message, row: Native, outer: Native) -> None:
    """What a row says beside its message; the time of the message is told only where it is not that of the row."""
    outer = {**(ROW.lift(row, message) or {}), **outer}
    own = carried_by(message.extras, NAME)
    clock = milliseconds_of_time(message.created_at)
    if clock is not None and type(own.get("timestamp")) is int and own["timestamp"] == clock:
        own = {key: value for key, value in own.items() if key != "timestamp"}
    message.extras = extras_of(NAME, {**own, **({"row": outer} if outer else {})})


def is_marker(row: Native) -> bool:
    """The row of ours whose parent is the head."""
    return row.get("type") == "custom" and row.get("customType") == HEAD and isinstance(row.get("parentId"), str)


def is_inline(row: Native) -> bool:
    return row.get("type") in INLINE and "role" not in row


def _event_of(row: Native) -> Message:
    if not _is_foreign_event(row):
        return event_of(NAME, row, ROW)
    message = Message("event", [Opaque(row["customType"].removeprefix(EVENT), row["data"])])
    ROW.lift({key: row[key] for key in ENVELOPE}, message)
    return message


def _is_foreign_event(row: Native) -> bool:
    """A row of ours: exactly the keys that we write, and an envelope that comes back from its message."""
    if list(row) != [*ENVELOPE, "customType", "data"] or row["type"] != "custom":
        return False
    is_text = all(isinstance(row[key], str) and row[key] for key in ("id", "timestamp", "customType"))
    return is_text and row["parentId"] != "" and str(row["customType"]).startswith(EVENT)


# ---------------------------------------------------------------- tools: what system messages add and remove


class Tools:
    """The tools after the system messages so far: definitions with their places."""

    def __init__(self) -> None:
        self.now: dict[str, tuple[ToolDefinition, Path]] = {}

    def replay(self, removed: Any, added: Any, place: Path = ()) -> None:
        """What one system message takes away and adds."""
        for tool in removed or ():
            self.now.pop(tool.get("name", ""), None)
        for k, definition in enumerate(added or ()):
            self.now.pop(definition["name"], None)
            self.now[definition["name"]] = (lift_tool(definition), (*place, k))


def _firsts(reader: Reader) -> Iterable[Message]:
    """The first message of each row."""
    last: Any = None
    for message, (place, _) in zip(reader.context.messages, reader.context.origin.places, strict=True):
        if place[0] != last:
            yield message
        last = place[0]


def _lift_tools(rows: list[tuple[int, Native, Message]], transcript: Transcript) -> None:
    """The tools after the last row; a row whose tools are not all among them carries its own whole."""
    tools = Tools()
    adding: list[tuple[Message, Path, list[Native]]] = []
    for i, row, message in rows:
        native = row.get("message")
        if message.role == "system" and isinstance(native, dict) and native["role"] == "system":
            place: Path = (i, "message", "toolsAdded")
            tools.replay(native.get("toolsRemoved"), native.get("toolsAdded"), place)
            if native.get("toolsAdded") is not None:
                adding.append((message, place, native["toolsAdded"]))
    if not adding:
        return
    transcript.tools = [tool for tool, _ in tools.now.values()]
    places = [place for _, place in tools.now.values()]
    if transcript.origin is not None:
        transcript.origin.tools = places
    for message, place, added in adding:
        if not all((*place, k) in places for k in range(len(added))):
            message.extras = {NAME: {**carried_by(message.extras, NAME), "toolsAdded": added}}


# ---------------------------------------------------------------- write


def write_session(transcript: Transcript) -> Rows:
    """The header and all rows; the last one is ours where they do not show the head."""
    messages = transcript.messages
    rows = [write_row(message) for message in messages]
    _put_tools(transcript, rows)
    if transcript.head is not None and transcript.head != head_of([(m.id, m.parent_id) for m in messages]):
        used = {message.id for message in messages}
        id_ = next(id_ for id_ in map(new_id, itertools.count(1)) if id_ not in used)
        envelope = {"id": id_, "parentId": transcript.head, "timestamp": messages[-1].created_at}
        rows.append({"type": "custom", **envelope, "customType": HEAD, "data": {}})
    header = dict(carried_by(transcript.extras, NAME).get("header", {}))
    version: Native = {} if header.pop("version", 3) == 1 else {"version": 3}
    cwd = transcript.cwd or ""
    return Rows([HEADER.write(transcript, header, type="session", cwd=cwd, **version), *rows])


def new_id(number: int) -> str:
    """The id of a row that has none."""
    return f"{number:08x}"


def write_row(message: Message) -> Native:
    """The row of a message or of an event."""
    links: Native = {} if message.id is None else {"parentId": message.parent_id}
    if message.role == "event":
        return write_event(message) or {}
    native = write_message(message, SESSION)
    outer = dict(carried_by(message.extras, NAME).get("row") or {})
    kind = outer.pop("type", "message")
    if INLINE.get(kind) == native["role"]:
        inner = {key: value for key, value in native.items() if key not in ("role", "timestamp")}
        return ROW.write(message, outer, type=kind, **links, **inner)
    return ROW.write(message, outer, type="message", **links, message=native)


def write_event(message: Message) -> Native | None:
    """The row of an event: of another dialect in one of ours; None for what is more than one opaque value."""
    part = message.parts[0] if len(message.parts) == 1 else None
    if not isinstance(part, Opaque):
        return None
    if part.dialect != NAME:
        row = ROW.write(message, type="custom", parentId=message.parent_id)
        return {**row, "customType": EVENT + part.dialect, "data": part.value}
    if message.id is None or not isinstance(part.value, dict) or "id" in part.value:
        return row_of_event(message, NAME, ROW)  # type: ignore[no-any-return]
    return ROW.write(message, part.value, parentId=message.parent_id)


def is_event(message: Message) -> bool:
    """Would `lift` read the row of this event as an event again?"""
    row = write_event(message)
    if not isinstance(row, dict) or not isinstance(row.get("type"), str) or is_inline(row) or is_marker(row):
        return False
    inner = row.get("message")
    return row["type"] != "message" or (
        isinstance(inner, dict) and isinstance(inner.get("role"), str) and inner["role"] not in ROLES
    )


def _put_tools(transcript: Transcript, rows: list[Native]) -> None:
    """What system messages carry is written with them; the tools that are not among it are added by the first one.

    Where the tools change on the way the last system message adds them, so that nothing takes them away again.
    """
    natives = [row["message"] for row in rows if isinstance(row.get("message"), dict)]
    natives = [native for native in natives if native["role"] == "system"]
    tools = Tools()
    for native in natives:
        tools.replay(native.get("toolsRemoved"), native.get("toolsAdded"))
    if transcript.tools is None or not natives:
        return
    known = [tool for tool, _ in tools.now.values()]
    missing = [tool for tool in transcript.tools if tool not in known]
    if [*(tool for tool in known if tool in transcript.tools), *missing] != transcript.tools:
        missing = transcript.tools
    changes = any("toolsRemoved" in native or "toolsAdded" in native for native in natives)
    if missing or not changes:
        _add(natives[-1 if changes else 0], [write_tool(tool) for tool in missing])


def _add(native: Native, tools: list[Native]) -> None:
    """In the order of the vendor: behind the prompt."""
    tools = [*native.pop("toolsAdded", []), *tools]
    native["toolsAdded"] = tools
    for key in [key for key in native if key not in ("role", "content", "sections", "toolsAdded")]:
        native[key] = native.pop(key)
