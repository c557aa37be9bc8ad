"""Gemini CLI: sessions as one document (`.json`, up to 0.38) and as an append-only log (`.jsonl`, since 0.39).

Specification: packages/core/src/services/chatRecordingService.ts and chatRecordingTypes.ts of google-gemini/gemini-cli,
state of 2026-08-21; what a resumed session sees: packages/core/src/utils/sessionUtils.ts; read 2026-11-20.

Quirks
- A log is replayed: the last record of an id counts, `$set` changes metadata, `$set.messages` replaces all records,
  `$rewindTo` removes. Rows that do not count any more are events: no other dialect gets them, and every one is told.
- The results stand inside the calls; since 0.44 the content holds calls too, and a record of the user their answers.
- A call has a state; `cancelled` is no error. Neither tools nor instructions of the system are in the file.
- A thought has a subject, which the program shows to the model in bold before the description.
- A count of zero is read as no count. `tokens.output` does not hold the thoughts.
- Older and forked programs write `type: "model"`, `parts`, or a list `history` of turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.gemini_cli.calls import FLAVOR, NAME, Context
from convcli.dialects.gemini_cli.log import REWIND, UPDATE, in_order, kind_of, rebuild, replay
from convcli.dialects.gemini_cli.new_session import new_session
from convcli.dialects.gemini_cli.records import lift_record, lower_record, role_of
from convcli.dialects.gemini_cli.thoughts import TOKENS
from convcli.families.google import places
from convcli.families.google.contents import adopt
from convcli.families.google.keys import Writer
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.document import Rows
from convcli.model.rule import At, Breach, Rule
from convcli.model.transcript import Message, Opaque, Origin, Path, Transcript
from convcli.validation.rules import links
from convcli.validation.survey import Survey

META = Keys(
    "sessionId projectHash startTime lastUpdated kind directories messages history summary memoryScratchpad",
    carried="projectHash kind directories memoryScratchpad",
)
ROOT = "#"
"""In the table of places: the first row of a log, and nothing in a document."""


def detect(document: Any) -> Clue | None:
    """By the metadata of a session, the rows of its log, or records of the type gemini."""
    if isinstance(document, dict):
        if isinstance(document.get("sessionId"), str) and isinstance(document.get("projectHash"), str):
            return Clue(97, "sessionId and projectHash")
        turns = document.get("history")
        if isinstance(turns, list) and any(isinstance(turn, dict) and turn.get("role") == "model" for turn in turns):
            return Clue(60, "a history of turns")
        records = document.get("messages")
        return _detect_records(records) if isinstance(records, list) else None
    if not isinstance(document, list) or not document:
        return None
    if kind_of(document[0]) == "metadata":
        return Clue(97, "a log that begins with sessionId and projectHash")
    if any(kind_of(row) in ("rewind", "metadata") for row in document):
        return Clue(95, "rows that change a log")
    return _detect_records(document)


def _detect_records(records: list[Any]) -> Clue | None:
    said = [record for record in records if isinstance(record, dict)]
    if any(record.get("type") == "gemini" and "content" in record for record in said):
        return Clue(93, "records of the type gemini")
    return None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of a session, as a resumed session sees it; rows that do not count any more are events."""
    origin = Origin(NAME, spot=("content",))
    origin.renamed = {ROOT: "0" if isinstance(document, list) else ".."}
    transcript = Transcript([], origin=origin)
    context = Context.of(transcript, document)
    if isinstance(document, list):
        _lift_log(document, transcript, context)
    else:
        _lift_document(document, transcript, context)
    adopt(transcript.messages, context.reader)
    return transcript


def _lift_document(document: Native, transcript: Transcript, context: Context) -> None:
    key = "history" if document.get("messages") is None and document.get("history") is not None else "messages"
    spelling = _lift_meta(document, transcript)
    origin = context.reader.origin
    origin.document = {"form": "json", **({"meta": spelling} if spelling else {})}
    if key != "messages":
        origin.document["key"] = key
    elif document.get("history"):
        transcript.extras = extras_of(NAME, {**carried_by(transcript.extras, NAME), "history": document["history"]})
    records = document.get(key) or []
    for k, record in enumerate(records):
        _lift_one(record, (key, k), _behind(records, k), transcript, context)


def _lift_log(rows: list[Any], transcript: Transcript, context: Context) -> None:
    done = replay(rows)
    origin = context.reader.origin
    _lift_meta(done.metadata, transcript)
    for i, row in done.kept.items():  # the last row that says it counts
        place: Path = (i, UPDATE) if UPDATE in row else (i,)
        said = row.get(UPDATE, row)
        origin.routes |= {("0", key): (*place, key) for key in said if said[key] is not None}
    origin.document = {"form": "log", "rows": len(rows), "kept": [[i, row] for i, row in done.kept.items()]}
    if not isinstance(rows, Rows):
        origin.document["array"] = True
    live = [record for _, record in done.live]
    ids = {record["id"] for record in live}
    count = 0
    for path, record, counts in in_order(done):
        if counts:
            first = _lift_one(record, path, _behind(live, count), transcript, context)
            count += 1
        else:
            first = Message("event", [Opaque(NAME, record)])
            transcript.messages.append(first)
            origin.places.append((path, [()]))
            if role_of(record) is not None and record.get("id") not in ids:
                origin.taken_back.add(len(transcript.messages) - 1)
        context.spell(first, {"path": list(path)})


def _behind(records: list[Native], at: int) -> Iterator[Native]:
    """The records behind one: no copy, for most records ask for none of them."""
    return (records[behind] for behind in range(at + 1, len(records)))


def _lift_one(
    record: Native, path: Path, following: Iterator[Native], transcript: Transcript, context: Context
) -> Message:
    lifted = lift_record(record, path, following, context)
    for message, place, spots in lifted:
        transcript.messages.append(message)
        context.reader.origin.places.append((place, spots))
    return lifted[0][0]


def _lift_meta(native: Native, transcript: Transcript) -> Spelling:
    carried, spelling = META.take(native)
    transcript.id = native.get("sessionId") or None
    transcript.title = native.get("summary") or None
    transcript.created_at = native.get("startTime") or None
    transcript.updated_at = native.get("lastUpdated") or None
    transcript.extras = extras_of(NAME, carried)
    return spelling if spelling or "messages" in native else {"keys": list(native)}  # type: ignore[return-value]


# ---------------------------------------------------------------- lower


def lower(transcript: Transcript, options: Options) -> Any:
    """What the source was; of any other transcript a log that `gemini --resume` takes."""
    spelling = transcript.document_spelling(NAME)
    form = options.form or spelling.get("form") or "log"
    if form == spelling.get("form"):
        lower_own = _lower_own_log if form == "log" else _lower_own_document
        return lower_own(transcript, spelling, Writer(FLAVOR, transcript))
    meta, records = new_session(transcript)
    return Rows([meta, *records]) if form == "log" else {**meta, "messages": records}


def _groups(messages: list[Message], writer: Writer) -> list[list[Message]]:
    groups: list[list[Message]] = []
    for message in messages:
        if groups and writer.spelling(message).get("join"):
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _lower_group(group: list[Message], writer: Writer) -> Any:
    first = group[0]
    part = first.parts[0] if first.parts else None
    if first.role == "event" and isinstance(part, Opaque):
        return part.value
    said = {"id": first.id, "timestamp": first.created_at}
    return lower_record(group, {key: value for key, value in said.items() if value is not None}, writer)


def _lower_own_log(transcript: Transcript, spelling: Spelling, writer: Writer) -> list[Any]:
    """All rows as they were; what was added since stands at the end."""
    records: dict[Path, Any] = {}
    count = spelling["rows"]
    for group in _groups(transcript.messages, writer):
        path = writer.spelling(group[0]).get("path")
        if path is None:
            path, count = [count], count + 1
        records[tuple(path)] = _lower_group(group, writer)
    rows = rebuild(count, dict(spelling["kept"]), records)
    return rows if spelling.get("array") else Rows(rows)


def _lower_own_document(transcript: Transcript, spelling: Spelling, writer: Writer) -> Native:
    records = [_lower_group(group, writer) for group in _groups(transcript.messages, writer)]
    native: Native = {
        "sessionId": transcript.id,
        "startTime": transcript.created_at,
        "lastUpdated": transcript.updated_at,
        "summary": transcript.title,
    }
    native = {key: value for key, value in native.items() if value is not None}
    native[spelling.get("key", "messages")] = records
    native = {key: native[key] for key in META.sorted(native)}
    return META.put(native, carried_by(transcript.extras, NAME), spelling.get("meta"))


def _goes_back_to_something(survey: Survey) -> Iterator[Breach]:
    rows = survey.document if survey.form == "log" else []
    for i in replay(rows).lost:
        said = "no record has this id: the program itself then forgets all that was before"
        yield Breach("unknown-rewind", At(steps=(i, REWIND)), said)


RULES = (
    links.paired(links.Manner(where="later", missing=None)),
    Rule(("unknown-rewind",), _goes_back_to_something),
)

DIALECT = Dialect(
    name=NAME,
    title="Gemini CLI",
    specification="chatRecordingService.ts and chatRecordingTypes.ts of google-gemini/gemini-cli, 2026-08-21",
    framings=("events", "document"),
    forms=("log", "json"),
    carries_all=True,  # the contents are those of the Gemini API
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=places.CONVENTIONS,
    reasons={
        **places.LOSSES,
        "event": "a session has records only for its own information, warnings and errors that still count",
        "message": "a session has no place for instructions of the system",
        "text": "a session has no place for instructions of the system",
        "tool": "a session does not hold the definitions of tools",
        "tools": "a session does not hold the definitions of tools",
        "toolChoice": "a session does not say which tools may be called",
        "settings": "a session has no settings of the request",
        "model": "each answer names its model, a session does not",
        "cwd": "a session holds only a hash of its directory",
        "id": "a session has an id: it is made of the content",
        "createdAt": "a session has a time: that of its first record, or 1970",
        "updatedAt": "a session has the time of its last record",
        "message.id": "every record has an id of its own; a result has the one of its call",
        "message.parentId": "a log is no tree",
        "message.createdAt": "every record has a time: that of the record before it, or 1970",
        "message.model": "each answer names its model",
        "message.usage": "an answer has counts of tokens",
        "message.stopReason": "an answer does not say why it stopped",
        "message.error": "an answer has no field for its failure",
        "tool_result.status": "a call is running, waiting, cancelled, failed or done",
        "extras.gemini-cli.projectHash": "a session holds the hash of its directory",
    },
    places={
        **places.PLACES,
        "id": (ROOT, "sessionId"),
        "createdAt": (ROOT, "startTime"),
        "updatedAt": (ROOT, "lastUpdated"),
        "title": (ROOT, "summary"),
        **{f"extras.{key}": (ROOT, key) for key in ("projectHash", "kind", "directories", "memoryScratchpad")},
        "message.id": ("id",),
        "message.createdAt": ("timestamp",),
        "message.model": ("model",),
        "message.usage": ("tokens",),
        **{f"message.usage.{ours}": ("tokens", theirs) for theirs, ours in TOKENS.items()},
    },
    envelope=frozenset(("projectHash", "kind", "timestamp", "tokens")),
)
