"""A session of Gemini CLI for a transcript of any other dialect, one that `gemini --resume` takes."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.gemini_cli.calls import FLAVOR, NAME
from convcli.dialects.gemini_cli.log import OF_A_LOG, kind_of
from convcli.dialects.gemini_cli.records import SHOWN, lower_record
from convcli.families.google.keys import Writer
from convcli.kit.fitting import results_apart, results_first
from convcli.kit.objects import Native, carried_by
from convcli.model.branches import active
from convcli.model.transcript import Message, Opaque, ToolCall, ToolResult, Transcript
from convcli.wire import exact_json

EPOCH = "1970-01-01T00:00:00.000Z"


def new_session(transcript: Transcript) -> tuple[Native, list[Native]]:
    """The metadata and the records."""
    records = NewRecords(transcript, Writer(FLAVOR, replace(transcript, origin=None))).all()
    return _lower_meta(transcript, records), records


def _lower_meta(transcript: Transcript, records: list[Any]) -> Native:
    """The first row: the program takes no session without an id and the hash of its directory."""
    times = [record["timestamp"] for record in records if isinstance(record.get("timestamp"), str)]
    start = transcript.created_at or next(iter(times), EPOCH)
    meta: Native = {
        "sessionId": transcript.id or _uuid(records),
        "projectHash": _hash(transcript.cwd or ""),
        "startTime": start,
        "lastUpdated": transcript.updated_at or max([start, *times]),
    }
    carried = carried_by(transcript.extras, NAME)
    known = {"projectHash": str, "kind": str, "directories": list, "memoryScratchpad": dict}
    meta |= {key: carried[key] for key, kind in known.items() if isinstance(carried.get(key), kind)}
    if transcript.title is not None:
        meta["summary"] = transcript.title
    return meta


def _hash(folder: str) -> str:
    from hashlib import sha256  # dear, and rarely needed

    return sha256(folder.encode("utf-8", "surrogatepass")).hexdigest()


def _uuid(value: Any) -> str:
    """A UUID of version 8, made of what is written: the same session always has the same one."""
    hexed = exact_json.digest(value)
    return f"{hexed[:8]}-{hexed[8:12]}-8{hexed[13:16]}-8{hexed[17:20]}-{hexed[20:32]}"


def _result_of(message: Message) -> ToolResult | None:
    part = message.parts[0] if message.role == "tool" and message.parts else None
    return part if isinstance(part, ToolResult) else None


def _twice_answered(messages: list[Message]) -> set[int]:
    """The results of calls that have more than one before the model speaks again, by identity."""
    twice: set[int] = set()
    seen: dict[str, int] = {}
    for message in messages:
        result = _result_of(message)
        if message.role == "assistant":
            seen = {}
        elif result is not None and result.tool_call_id in seen:
            twice |= {id(result), seen[result.tool_call_id]}
        elif result is not None:
            seen[result.tool_call_id] = id(result)
    return twice


def _with_events(messages: list[Message], said: list[Message]) -> list[Message]:
    """What was said, and before each message the events that stood before it."""
    waiting: list[Message] = []
    before: dict[int, list[Message]] = {}
    for message in messages:
        if message.role == "event":
            waiting.append(message)
        elif waiting:
            before[id(message)], waiting = waiting, []
    return [one for message in said for one in (*before.get(id(message), ()), message)] + waiting


class NewRecords:
    """The records of a foreign transcript: every one gets an id of its own and a time."""

    def __init__(self, transcript: Transcript, writer: Writer) -> None:
        self.transcript, self.writer = transcript, writer
        self.taken = {message.id for message in transcript.messages}
        self.used: set[str] = set()
        self.count = 0
        times = (message.created_at for message in transcript.messages if message.created_at is not None)
        self.time = transcript.created_at or next(times, EPOCH)

    def all(self) -> list[Native]:
        records = []
        for group in self.groups():
            first = group[0]
            if first.role == "event":
                records += self.event(first)
            elif first.role not in ("system", "developer"):
                records.append(lower_record(group, self.frame(first), self.writer))
        return records

    def groups(self) -> list[list[Message]]:
        """The messages, the results behind an answer with it; a result that answers no call before it stays alone.

        So do two results of one call, for the answers in records of their own are the ones that count.
        """
        groups: list[list[Message]] = []
        caller: list[Message] = []
        calls: set[str] = set()
        messages = self.messages()
        twice = _twice_answered(messages)
        for message in messages:
            result = _result_of(message)
            if result is not None and result.tool_call_id in calls and id(result) not in twice:
                calls.remove(result.tool_call_id)
                caller.append(message)
                continue
            groups.append([message])
            if message.role != "event":
                caller = groups[-1]
                made = message.parts if message.role == "assistant" else []
                calls = {part.id for part in made if isinstance(part, ToolCall)}
        return groups

    def messages(self) -> list[Message]:
        said = results_first(active(self.transcript))
        if self.transcript.head is None:
            said = _with_events(self.transcript.messages, said)
        return [self.modelled(piece) for message in said for piece in results_apart(message)]

    def modelled(self, message: Message) -> Message:
        """An answer names its model; one that does not was made by that of the whole."""
        if message.role != "assistant" or message.model is not None or self.transcript.model is None:
            return message
        return replace(message, model=self.transcript.model)

    def event(self, message: Message) -> list[Native]:
        """Information, warnings and errors that this program itself showed."""
        part = message.parts[0] if len(message.parts) == 1 else None
        value = part.value if isinstance(part, Opaque) and part.dialect == NAME else None
        if not isinstance(value, dict) or value.get("type") not in SHOWN or kind_of(value) != "record":
            return []
        if message.id is None or not OF_A_LOG.isdisjoint(
            value
        ):  # it did not count any more, or would be read as something else
            return []
        return [{**value, **self.frame(message)}]

    def frame(self, message: Message) -> Native:
        id_ = message.id
        if not id_ or id_ in self.used:
            id_ = self.new_id()
        self.used.add(id_)
        self.time = message.created_at or self.time
        return {"id": id_, "timestamp": self.time}

    def new_id(self) -> str:
        while True:
            self.count += 1
            id_ = f"message_{self.count}"
            if id_ not in self.taken:
                return id_
