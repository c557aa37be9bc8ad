"""The rows of an OpenClaw or pi session: header, tree, messages, and what no model saw."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from convcli.dialects.openclaw.answers import Lifted
from convcli.dialects.openclaw.blocks import NAME, Reader, Writer, finish
from convcli.dialects.openclaw.messages import ROLES, grouped, lift_message, lift_tool, lower_group, lower_tool
from convcli.kit.fitting import is_foreign_builtin
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Path, ToolDefinition, Transcript

HEADER = Keys(
    "type version id timestamp cwd parentSession provider modelId thinkingLevel branchedFrom",
    carried="parentSession provider thinkingLevel branchedFrom",
)
ROW = Keys("type id parentId timestamp message")
ENVELOPE = ("type", "id", "parentId", "timestamp")
INLINE = {"branch_summary": "branchSummary", "custom_message": "custom"}
"""Rows that are a message themselves, and its role."""

ROOT = "#"
"""In the table of places: the header of a session, and nothing in a request."""
HEAD = "convcli:head"
EVENT = "convcli."
"""Types of `custom` rows of ours: one whose parent is the head, and events of another dialect, whose name follows."""


def milliseconds(time: str | None) -> int | None:
    """Milliseconds since 1970 of a time with its zone; None for anything else."""
    try:
        moment = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return round(moment.timestamp() * 1000)


# ---------------------------------------------------------------- lift


def lift_session(document: list[Native], reader: Reader) -> Transcript:
    """The transcript of all rows, with the head where the rows are a tree with more than one branch."""
    origin = reader.origin
    origin.document = {"form": "session"} if isinstance(document, Rows) else {"form": "session", "array": True}
    origin.renamed = {ROOT: "0", "_sessionId": "id", "_workspaceDir": "cwd"}
    transcript = Transcript([], origin=origin)
    rows = list(enumerate(document))
    if document[0].get("type") == "session":
        _lift_header(document[0], transcript)
        rows = rows[1:]
    transcript.head = head_of([row for _, row in rows])
    if rows and _is_marker(rows[-1][1]):
        origin.document["marker"] = rows.pop()[1]
        transcript.head = origin.document["marker"]["parentId"]
    tools: dict[str, tuple[ToolDefinition, Path]] = {}
    for i, row in rows:
        lifted, place = _liftrow_of(row, i, reader)
        _lift_envelope(row, lifted[0][0], reader)
        _lift_tools(row, place, lifted[0][0], tools, transcript, reader)
        transcript.messages += [message for message, _ in lifted]
        origin.places += [(place, spots) for _, spots in lifted]
        if row.get("type") == "session_info" and isinstance(row.get("name"), str):
            transcript.title = row["name"] or None
    _spell_tools(transcript, tools, reader)
    return transcript


def _lift_header(native: Native, transcript: Transcript) -> None:
    carried, spelling = HEADER.take(native)
    origin = transcript.origin
    assert origin is not None
    transcript.id = native.get("id") or None
    transcript.cwd = native.get("cwd") or None
    transcript.model = native.get("modelId") or None
    time = native.get("timestamp")
    transcript.created_at = time if isinstance(time, str) and time else None
    extras = dict(carried or {})
    if time is not None and not isinstance(time, str):
        extras["timestamp"] = time
    transcript.extras = extras_of(NAME, {"header": extras} if extras else None)
    origin.document["header"] = {**(spelling or {}), **({"version": native["version"]} if "version" in native else {})}


def head_of(rows: list[Native]) -> str | None:
    """The id of the last row when the rows branch: when a parent is known and is not the row before, or null.

    A parent that no row has is no branch: the row follows the one before it.
    """
    known = {row.get("id") for row in rows}
    for before, row in pairwise(rows):
        parent = row.get("parentId", before.get("id"))
        if parent != before.get("id") and (parent is None or parent in known):
            last = rows[-1].get("id")
            return last if isinstance(last, str) else None
    return None


def _is_marker(row: Native) -> bool:
    ours = row.get("type") == "custom" and row.get("customType") == HEAD
    return ours and isinstance(row.get("parentId"), str)


def _liftrow_of(row: Native, i: int, reader: Reader) -> tuple[Lifted, Path]:
    kind = row.get("type")
    if kind == "message" and row["message"]["role"] in ROLES:
        return lift_message(row["message"], reader), (i, "message")
    if _is_inline(row):
        inner = {"role": INLINE[row["type"]], **{key: value for key, value in row.items() if key not in ENVELOPE}}
        return lift_message(inner, reader), (i, "summary" if kind == "branch_summary" else "content")
    if _is_foreign_event(row):
        return [(Message("event", [Opaque(row["customType"].removeprefix(EVENT), row["data"])]), [()])], (i,)
    return [(Message("event", [Opaque(NAME, row)]), [()])], (i,)


def _is_inline(row: Native) -> bool:
    return row.get("type") in INLINE and "role" not in row


def _is_foreign_event(row: Native) -> bool:
    """A row of ours: exactly the keys that we write, and an envelope that comes back from its message."""
    if list(row) != [*ENVELOPE, "customType", "data"] or row["type"] != "custom":
        return False
    said = all(isinstance(row[key], str) and row[key] for key in ("id", "timestamp", "customType"))
    return said and row["parentId"] != "" and str(row["customType"]).startswith(EVENT)


def _lift_envelope(row: Native, message: Message, reader: Reader) -> None:
    """What a row says beside its message: id, parent, time and keys that we do not know."""
    message.id, message.parent_id = row.get("id") or None, row.get("parentId") or None
    time = row.get("timestamp")
    message.created_at = time if isinstance(time, str) and time else None
    if message.role == "event" and message.parts[0].dialect == NAME:  # type: ignore[union-attr]
        return
    kind, inline = row["type"], _is_inline(row)
    carried, spelling = ROW.take(row if not inline else {key: row[key] for key in row if key in ENVELOPE})
    outer = dict(carried or {})
    if inline:
        outer["type"] = kind
        spelling = {**(spelling or {}), "keys": list(row)}
    if time is not None and not isinstance(time, str):
        outer["timestamp"] = time
    own = carried_by(message.extras, NAME)
    odd: Spelling = {"row": spelling} if spelling else {}
    clock = milliseconds(message.created_at)
    if clock is not None and type(own.get("timestamp")) is int and own["timestamp"] == clock:
        own = {key: value for key, value in own.items() if key != "timestamp"}
        odd["clock"] = True
    message.extras = extras_of(NAME, {**own, **({"row": outer} if outer else {})})
    reader.origin.spell(message, {**reader.origin.spellings.get(id(message), {}), **odd})


def _lift_tools(
    row: Native,
    place: Path,
    message: Message,
    tools: dict[str, tuple[ToolDefinition, Path]],
    transcript: Transcript,
    reader: Reader,
) -> None:
    """Replay which tools a system message adds and removes."""
    native = row.get("message")
    if message.role != "system" or not isinstance(native, dict) or native["role"] != "system":
        return
    for removed in native.get("toolsRemoved") or ():
        tools.pop(removed.get("name", ""), None)
    added = native.get("toolsAdded")
    if added is None:
        return
    transcript.tools = []
    for k, definition in enumerate(added):
        tools.pop(definition["name"], None)
        tools[definition["name"]] = (lift_tool(definition, reader), (*place, "toolsAdded", k))
    spelling = reader.origin.spellings.get(id(message), {})
    reader.origin.spell(message, {**spelling, "added": [added, (*place, "toolsAdded")]} if added else spelling)


def _spell_tools(transcript: Transcript, tools: dict[str, tuple[ToolDefinition, Path]], reader: Reader) -> None:
    """A row whose tools are all in the last state names them; any other keeps its own whole."""
    if transcript.tools is None:
        return
    transcript.tools = [tool for tool, _ in tools.values()]
    reader.origin.tools = [place for _, place in tools.values()]
    last = {place: name for name, (_, place) in tools.items()}
    for message in transcript.messages:
        spelling = reader.origin.spellings.get(id(message), {})
        if "added" in spelling:
            added, place = spelling.pop("added")
            names = [last.get((*place, k)) for k in range(len(added))]
            if None in names:
                message.extras = {NAME: {**carried_by(message.extras, NAME), "toolsAdded": added}}
            else:
                spelling["tools"] = names


# ---------------------------------------------------------------- lower


def lower_session(transcript: Transcript, writer: Writer) -> list[Native]:
    """The session as it was."""
    writer = with_tools(transcript, writer)
    spelling = transcript.document_spelling(NAME)
    rows = [] if spelling.get("header") is None else [_lower_header(transcript, spelling["header"])]
    rows += [_lowerrow_of(group, writer) for group in grouped(transcript.messages, writer)]
    rows += [spelling["marker"]] if "marker" in spelling else []
    return rows if spelling.get("array") else Rows(rows)


def with_tools(transcript: Transcript, writer: Writer) -> Writer:
    """The writer with the definitions as they are written; built-in tools of others have none."""
    tools = [tool for tool in transcript.tools or () if not is_foreign_builtin(tool)]
    return writer._replace(tools={tool.name: lower_tool(tool, writer) for tool in tools})


def _lower_header(transcript: Transcript, spelling: Spelling) -> Native:
    native: Native = {
        "type": "session",
        "version": spelling.get("version"),
        "id": transcript.id,
        "timestamp": transcript.created_at,
        "cwd": transcript.cwd,
        "modelId": transcript.model,
    }
    native = {key: value for key, value in native.items() if value is not None}
    return finish(HEADER, native, carried_by(transcript.extras, NAME).get("header"), spelling)


def _lowerrow_of(group: list[Message], writer: Writer) -> Native:
    first = group[0]
    envelope = {"id": first.id, "parentId": first.parent_id, "timestamp": first.created_at}
    known = {key: value for key, value in envelope.items() if value is not None}
    if first.role == "event":
        return lower_event(first, known) or {}
    spelling = writer.spelling(first)
    clock = milliseconds(first.created_at) if spelling.get("clock") else None
    return row_of(first, known, lower_group(group, writer, clock), spelling.get("row", {}))


def row_of(first: Message, envelope: Native, message: Native, spelling: Spelling) -> Native:
    outer = carried_by(first.extras, NAME).get("row")
    outer = dict(outer) if isinstance(outer, dict) else {}
    kind = outer.pop("type", "message")
    if INLINE.get(kind) == message.get("role"):
        row = {"type": kind, **envelope, **{key: value for key, value in message.items() if key != "role"}, **outer}
        return finish(ROW, row, None, spelling)
    return finish(ROW, {"type": "message", **envelope, "message": message}, outer, spelling)


def lower_event(message: Message, envelope: Native) -> Native | None:
    """The row of an event; None where a session has none for it."""
    part = message.parts[0] if len(message.parts) == 1 else None
    if not isinstance(part, Opaque):
        return None
    if part.dialect != NAME:
        envelope = {key: envelope.get(key) for key in ENVELOPE[1:]}
        return {"type": "custom", **envelope, "customType": EVENT + part.dialect, "data": part.value}
    return {**part.value, **envelope} if isinstance(part.value, dict) else None


def is_event(row: Native) -> bool:
    """Would `lift` read this row as an event again?"""
    kind, message = row.get("type"), row.get("message")
    if kind == "message":
        return isinstance(message, dict) and isinstance(message.get("role"), str) and message["role"] not in ROLES
    return isinstance(kind, str) and kind != "session" and kind not in INLINE and not _is_marker(row)
