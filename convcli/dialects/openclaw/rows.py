"""The rows of an OpenClaw or pi session: header, tree, messages, and events."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from msgspec.structs import replace

from convcli.dialects.openclaw.blocks import NAME, SESSION, Reader
from convcli.dialects.openclaw.messages import COMPACTED, DEFINITIONS, ROLES, lift_message, write_message
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_text, drop_extra_keys, except_keys, get_extras, make_extras, omit
from convcli.kit.sessions import event_of, head_of, row_of_event
from convcli.kit.values import milliseconds_of_time
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Path, Transcript

HEADER = Envelope(
    "type= version= id=id timestamp=created_at cwd=cwd parentSession provider modelId=model thinkingLevel branchedFrom"
)
ROW = Envelope("type= id=id parentId=parent_id timestamp=created_at message=")
ENVELOPE = ("type", "id", "parentId", "timestamp")
COMPACTION, KEPT = "compaction", "firstKeptEntryId"
"""The row with a summary of earlier messages, and its key for the first row that stays in the model's context."""
INLINE = {"branch_summary": "branchSummary", "custom_message": "custom", COMPACTION: COMPACTED}
"""Rows that are themselves a message, and its role."""
TITLE = "session_info"

ROOT = "#"
"""In the table of places: a session's header; nothing in a request."""
HEAD = "convcli:head"
EVENT = "convcli."
"""Types of convcli's `custom` rows: one whose parent is the head, and other dialects' events, named after the dot."""


# ---------------------------------------------------------------- lift


def lift_session(document: list[Native], reader: Reader) -> Transcript:
    """Reads all rows, with the head if they are a tree with several branches."""
    origin = reader.context.origin
    origin.form = SESSION
    origin.aliases = {ROOT: "0", "_sessionId": "id", "_workspaceDir": "cwd"}
    transcript = reader.context.transcript()
    rows = list(enumerate(document))
    if document[0].get("type") == "session":
        _lift_header(rows.pop(0)[1], transcript)
    before = [None, *(row.get("id") for _, row in rows)]  # a row without a parent follows the previous row
    transcript.head = head_of([(row.get("id"), row.get("parentId", last)) for (_, row), last in zip(rows, before)])  # noqa: B905
    if rows and is_marker(rows[-1][1]):
        transcript.head = rows.pop()[1]["parentId"]
    messages = [_lift_row(row, i, reader) for i, row in rows]
    systems = [(i, row["message"], message) for (i, row), message in zip(rows, messages) if message.role == "system"]  # noqa: B905
    _lift_tools(systems, transcript)
    titles = [row["name"] for _, row in rows if row.get("type") == TITLE and isinstance(row.get("name"), str)]
    transcript.title = (titles[-1] or None) if titles else None
    return transcript


def _lift_header(native: Native, transcript: Transcript) -> None:
    """Reads the header. Version 1, which has no number, ids or parents, is kept as an extra, since pi writes
    version 3. So is a version string, which forks write."""
    extra = HEADER.lift(native, transcript) or {}
    transcript.cwd = native.get("cwd")  # even an empty one, which stands for an unknown directory
    version = native.get("version") or 1
    if isinstance(version, str) or version <= 1:
        extra["version"] = version if isinstance(version, str) else 1
    transcript.extras = make_extras(NAME, {"header": extra} if extra else None)


def _lift_row(row: Native, i: int, reader: Reader) -> Message:
    """Reads a row and returns its first message."""
    kind = row.get("type")
    place: Path = (i, "message")
    if kind == "message" and row["message"]["role"] in ROLES:
        time = milliseconds_of_time(as_text(row.get("timestamp")))
        lifted = lift_message(row["message"], place, reader, {} if time is None else {"timestamp": time})
        _lift_envelope(lifted[0][0], row, {})
    elif is_inline(row):
        place = (i, "summary" if kind == "branch_summary" else "content")
        inner = omit(row, *ENVELOPE)
        lifted = lift_message({"role": INLINE[row["type"]], **inner}, place, reader)
        outer: Native = {} if kind == COMPACTION else {"type": kind}
        _lift_envelope(lifted[0][0], {key: row[key] for key in row if key in ENVELOPE}, outer)
        if kind == COMPACTION:
            _lift_compaction(lifted[0][0], row)
    else:
        event = _event_of(row)
        reader.context.add(event, (i,), [()])
        return event
    for message, part_paths in lifted:
        reader.context.add(message, place, part_paths)
    return lifted[0][0]


def _lift_envelope(message: Message, row: Native, outer: Native) -> None:
    """Reads a row's other keys; the message's own time is an extra only if it differs from the row's."""
    rest = ROW.lift(row, message)
    outer = {**rest, **outer} if rest else outer
    if not outer and message.extras is None:  # most rows
        return
    own = get_extras(message.extras, NAME)
    stamp = own.get("timestamp")
    if type(stamp) is int and stamp == milliseconds_of_time(message.created_at):
        own = omit(own, "timestamp")
    elif not outer and "row" not in own:  # most rows with extras
        return
    message.extras = make_extras(NAME, own, row=outer)


def _lift_compaction(message: Message, row: Native) -> None:
    """Reads what the summary replaces: everything before it, or everything before a kept row."""
    kept = row.get(KEPT)
    message.replaces = "all" if kept in (None, "", message.id) else kept
    message.extras = drop_extra_keys(message.extras, NAME, "role", KEPT)


def is_marker(row: Native) -> bool:
    """True for convcli's row whose parent is the head."""
    return row.get("type") == "custom" and row.get("customType") == HEAD and isinstance(row.get("parentId"), str)


def is_inline(row: Native) -> bool:
    """True for a message; False for compactions without a summary, or of version 1, which numbers its file's rows."""
    if row.get("type") == COMPACTION:
        return bool(row.get("summary")) and row.get("firstKeptEntryIndex") is None and "role" not in row
    return row.get("type") in INLINE and "role" not in row


def _event_of(row: Native) -> Message:
    if not _is_other_dialect_event(row):
        return event_of(NAME, row, ROW)
    message = Message("event", [Opaque(row["customType"].removeprefix(EVENT), row["data"])])
    ROW.lift({key: row[key] for key in ENVELOPE}, message)
    return message


def _is_other_dialect_event(row: Native) -> bool:
    """True for convcli's row: exactly the keys that it writes, and an envelope that is read back from its message."""
    if list(row) != [*ENVELOPE, "customType", "data"] or row["type"] != "custom":
        return False
    is_text = all(isinstance(row[key], str) and row[key] for key in ("id", "timestamp", "customType"))
    return is_text and row["parentId"] != "" and str(row["customType"]).startswith(EVENT)


# ---------------------------------------------------------------- tools that system messages add and remove


def replay(natives: Iterable[tuple[Path, Native]]) -> dict[str, tuple[Path, Native]]:
    """Returns the definitions after these system messages, by name, each with its place."""
    tools: dict[str, tuple[Path, Native]] = {}
    for place, native in natives:
        for removed in native.get("toolsRemoved") or ():
            tools.pop(removed.get("name", ""), None)
        for k, tool in enumerate(native.get("toolsAdded") or ()):
            tools.pop(tool["name"], None)
            tools[tool["name"]] = ((*place, "toolsAdded", k), tool)
    return tools


def _lift_tools(systems: list[tuple[int, Native, Message]], transcript: Transcript) -> None:
    """Reads the tools after the last row; a message whose tools are not all among them keeps its own as an extra."""
    tools = replay(((i, "message"), native) for i, native, _ in systems).values()
    adding = [
        (i, native["toolsAdded"], message) for i, native, message in systems if native.get("toolsAdded") is not None
    ]
    if adding and transcript.origin is not None:
        transcript.tools = [DEFINITIONS.lift(tool, NAME) for _, tool in tools]
        transcript.origin.tools = [place for place, _ in tools]
    places = {place for place, _ in tools}
    for i, added, message in adding:
        if not all((i, "message", "toolsAdded", k) in places for k in range(len(added))):
            message.extras = {NAME: {**get_extras(message.extras, NAME), "toolsAdded": added}}


# ---------------------------------------------------------------- write


def write_session(transcript: Transcript) -> Rows:
    """Writes the header and all rows, plus convcli's own last row if they do not show the head."""
    messages = _with_tools(transcript)
    rows = [write_row(message) for message in messages]
    if transcript.head is not None and transcript.head != head_of([(m.id, m.parent_id) for m in messages]):
        used = {message.id for message in messages}
        id_ = next(id_ for id_ in map(new_id, itertools.count(1)) if id_ not in used)
        envelope = {"id": id_, "parentId": transcript.head, "timestamp": messages[-1].created_at}
        rows.append({"type": "custom", **envelope, "customType": HEAD, "data": {}})
    header = dict(get_extras(transcript.extras, NAME).get("header", {}))
    version = header.pop("version", 3)
    stated = {} if version == 1 else {"version": version}
    stated |= {} if transcript.cwd is None else {"cwd": transcript.cwd}
    return Rows([HEADER.write(transcript, header, type="session", **stated), *rows])


def new_id(number: int) -> str:
    """Returns the id for a row without one."""
    return f"{number:08x}"


def write_row(message: Message) -> Native:
    """Writes the row of a message or an event."""
    links: Native = {} if message.id is None else {"parentId": message.parent_id}
    if message.role == "event":
        return write_event(message) or {}
    native = write_message(message, SESSION)
    outer = dict(get_extras(message.extras, NAME).get("row") or {})
    kind = outer.pop("type", "message")
    if message.replaces is not None:
        kept = message.id if message.replaces == "all" else message.replaces
        native, kind = {"role": COMPACTED, "summary": native["summary"], KEPT: kept, **native}, COMPACTION
    if INLINE.get(kind) == native["role"]:
        inner = except_keys(native, "role", "timestamp")
        return ROW.write(message, outer, type=kind, **links, **inner)
    return ROW.write(message, outer, type="message", **links, message=native)


def write_event(message: Message) -> Native | None:
    """Writes the row of an event, convcli's own for another dialect; None unless it is one opaque value."""
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
    """True if `lift` reads the row of this event as an event again."""
    row = write_event(message)
    if not isinstance(row, dict) or not isinstance(row.get("type"), str) or is_inline(row) or is_marker(row):
        return False
    inner = row.get("message")
    return row["type"] != "message" or (
        isinstance(inner, dict) and isinstance(inner.get("role"), str) and inner["role"] not in ROLES
    )


def _with_tools(transcript: Transcript) -> list[Message]:
    """Returns the messages, with missing tools added to the first system message.

    If the tools change on the way, they are added to the last one, so that nothing removes them again.
    """
    systems = [i for i, message in enumerate(transcript.messages) if message.role == "system"]
    extra = [get_extras(transcript.messages[i].extras, NAME) for i in systems]
    changes = any("toolsRemoved" in native or "toolsAdded" in native for native in extra)
    known = [DEFINITIONS.lift(tool, NAME) for _, tool in replay(((), native) for native in extra).values()]
    missing = [tool for tool in transcript.tools or () if tool not in known]
    if transcript.tools is None or not systems or (changes and not missing):
        return transcript.messages
    if [*(tool for tool in known if tool in transcript.tools), *missing] != transcript.tools:
        missing = transcript.tools
    at, own = (systems[-1], extra[-1]) if changes else (systems[0], extra[0])
    added = [*own.get("toolsAdded", []), *(DEFINITIONS.write(tool, NAME) for tool in missing)]
    adding = replace(transcript.messages[at], extras={NAME: {**own, "toolsAdded": added}})
    return [*transcript.messages[:at], adding, *transcript.messages[at + 1 :]]
