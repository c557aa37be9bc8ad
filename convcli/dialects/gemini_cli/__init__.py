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

import os
from collections.abc import Iterator
from typing import Any

from convcli.dialects.gemini_cli.calls import NAME, NOT_RUN, SERVICE, Reading
from convcli.dialects.gemini_cli.fitting import FIT
from convcli.dialects.gemini_cli.log import REWIND, in_order, is_header, kind_of, replay
from convcli.dialects.gemini_cli.records import lift_record, role_of
from convcli.dialects.gemini_cli.thoughts import TOKENS
from convcli.dialects.gemini_cli.writing import write_rows
from convcli.families.google import places
from convcli.families.google.contents import adopt
from convcli.kit import lacking, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.lacking import fields
from convcli.kit.objects import Native, carried_by, carry, extras_of, omit
from convcli.kit.sessions import event_of
from convcli.kit.texts import text_of
from convcli.model.dialect import Clue, Dialect, Options, Program, ReadBeside, SessionFacts
from convcli.model.document import Rows
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Transcript
from convcli.validation.rules import links
from convcli.validation.survey import Survey, for_outputs, for_requests

META = Envelope(
    "sessionId projectHash startTime lastUpdated kind directories messages history summary memoryScratchpad",
    {"sessionId": "id", "startTime": "created_at", "lastUpdated": "updated_at", "summary": "title"},
    content="messages",
)
ROOT = "#"
"""In the table of places: the first row of a log, and nothing in a document."""


def detect(document: Any) -> Clue | None:
    """By the metadata of a session, the rows of its log, or records of the type gemini."""
    if isinstance(document, dict):
        if isinstance(document.get("sessionId"), str) and isinstance(document.get("projectHash"), str):
            return Clue(97, "sessionId and projectHash")
        if is_header(document) and "messages" in document:
            return Clue(97, "sessionId and times beside the messages")
        turns = document.get("history")
        if isinstance(turns, list) and any(isinstance(turn, dict) and turn.get("role") == "model" for turn in turns):
            return Clue(60, "a history of turns")
        records = document.get("messages")
        return _detect_records(records) if isinstance(records, list) else None
    if not isinstance(document, list) or not document:
        return None
    if kind_of(document[0]) == "metadata":
        return Clue(
            97, f"a log that begins with sessionId and {'projectHash' if 'projectHash' in document[0] else 'times'}"
        )
    if any(kind_of(row) in ("rewind", "metadata") for row in document):
        return Clue(95, "rows that change a log")
    return _detect_records(document)


def _detect_records(records: list[Any]) -> Clue | None:
    known = [record for record in records if isinstance(record, dict)]
    for kind in ("gemini", "model"):
        if any(record.get("type") == kind and ("content" in record or "parts" in record) for record in known):
            return Clue(93, f"records of the type {kind}")
    return None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of a session, as a resumed session sees it; rows that do not count any more are events."""
    context = LiftContext(NAME, document, owner=SERVICE.owner)
    reading = Reading(context, {})
    if isinstance(document, list):
        context.origin.form = "log"
        metadata = _lift_log(document, reading)
    else:
        context.origin.form = "json"
        metadata = _lift_document(document, reading)
    context.origin.renamed[ROOT] = "0" if isinstance(document, list) else ".."
    for status, call in reading.states.values():  # no record held the result after all
        carry(call, NAME, {"status": status} if status and status != NOT_RUN else {})
    transcript = context.transcript()
    transcript.extras = extras_of(NAME, META.lift(metadata, transcript))
    adopt(context)
    return transcript


def _lift_document(document: Native, reading: Reading) -> Native:
    key = "history" if document.get("messages") is None and document.get("history") is not None else "messages"
    records = document.get(key) or []
    for k, record in enumerate(records):
        lift_record(record, (key, k), (records[behind] for behind in range(k + 1, len(records))), reading)
    return omit(document, key)


def _lift_log(rows: list[Any], reading: Reading) -> Native:
    done = replay(rows)
    context = reading.context
    metadata: Native = {}
    for place, native in done.metadata:  # the last row that says it counts
        metadata |= native
        context.origin.routes |= {("0", key): (*place, key) for key in native}
    live = [record for _, record in done.live]
    ids = {record["id"] for record in live}
    count = 0
    for path, record, counts in in_order(done):
        if counts:
            count += 1
            lift_record(record, path, (live[behind] for behind in range(count, len(live))), reading)
            continue
        if role_of(record) is not None and kind_of(record) == "record" and record["id"] not in ids:
            context.origin.taken_back.add(len(context.messages))
        context.add(event_of(NAME, record), path, [()])
    return metadata


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """A log or a document."""
    carried = carried_by(transcript.extras, NAME)
    rows = write_rows(transcript.messages)
    if options.form == "json":
        return META.write(transcript, carried, messages=rows)
    return Rows([META.write(transcript, carried), *rows])


# ---------------------------------------------------------------- rules


def _goes_back_to_something(survey: Survey) -> Iterator[Breach]:
    rows = survey.document if survey.form == "log" else []
    for i in replay(rows).lost:
        message = "no record has this id: the program itself then forgets all that was before"
        yield Breach("unknown-rewind", NodeRef(steps=(i, REWIND)), message)


def _can_be_resumed(survey: Survey) -> Iterator[Breach]:
    transcript = survey.transcript
    stated = {"sessionId": transcript.id, "startTime": transcript.created_at, "lastUpdated": transcript.updated_at}
    for key in ("sessionId", "projectHash", "startTime", "lastUpdated"):
        if not {**stated, **carried_by(transcript.extras, NAME)}.get(key):
            yield Breach("missing-key", NodeRef(), f"a session that is resumed has {key}")
    for i in range(len(survey.messages)):
        native = survey.native(NodeRef(i))
        if role_of(native) is not None and not (native.get("id") and native.get("timestamp")):
            yield Breach("missing-key", NodeRef(i), "a record of a session that is resumed has an id and a timestamp")


IGNORED = ("/", "?", "<session_context>", "<hook_context>")
"""How texts of the user begin that a resumed session leaves out: sessionUtils.ts, read 2026-11-23."""


def _is_sent(survey: Survey) -> Iterator[Breach]:
    for i, message in enumerate(survey.messages):
        text = text_of(message.parts)
        if message.role == "user" and text.strip().startswith(IGNORED):
            problem = "the program takes a text that begins so for a command or for its own, and does not send it"
            yield Breach("unread-row", NodeRef(i), problem, "warning")


RULES = (
    links.paired(links.PairingRules(where="later", missing=None)),
    Rule(("unknown-rewind",), _goes_back_to_something),
    for_requests(Rule(("missing-key",), _can_be_resumed)),
    for_outputs(Rule(("unread-row",), _is_sent)),
)

LACKS = lacking.METADATA | fields(
    "cwd message.parentId message.name message.stopReason message.error reasoning.summary tool_call.rawArguments "
    "refusal.metadata"
)
REPEATED = fields("/*/$set/lastUpdated /*/$set/summary /*/lastUpdated /*/tokens/output /messages/*/tokens/output")
"""Metadata that a later row says again, of which the last one counts, and what is said in a sum."""


def _place(facts: SessionFacts) -> str:
    """Gemini CLI has a folder for the hash of each directory, and in it a file for each session, by time and id."""
    return f"tmp/{_hash(facts.cwd)}/chats/session-{facts.begin[:16].replace(':', '-')}-{facts.id[:8]}.jsonl"


def _hash(directory: str) -> str:
    from hashlib import sha256  # slow to import, and few calls need it

    return sha256(directory.encode("utf-8", "surrogatepass")).hexdigest()


def _directory(path: str, read: ReadBeside) -> Any:
    """The folder of a session says whose it is since 0.27, or the list of projects does, by its name or its hash.

    Specification: packages/core/src/config/projectRegistry.ts at 04fbf507; read 2026-11-23."""
    folder = os.path.dirname(os.path.dirname(path))
    root = read(os.path.join(folder, ".project_root"))
    index = None if root else read(os.path.join(folder, "..", "..", "projects.json"))
    projects = index.get("projects") if isinstance(index, dict) else None
    name_of_folder = os.path.basename(folder)
    known = projects.items() if isinstance(projects, dict) else ()
    return root or next((path for path, name in known if name_of_folder in (name, _hash(path))), None)


PROGRAM = Program(
    NAME,
    ".gemini",
    "tmp/*/chats/session-*.json*",
    place=_place,
    command="gemini --resume {id}",
    directory=_directory,
)

DIALECT = Dialect(
    name=NAME,
    title="Gemini CLI",
    specification="chatRecordingService.ts and chatRecordingTypes.ts of google-gemini/gemini-cli, 2026-08-21",
    framings=("events", "document"),
    forms=("log", "json"),
    carries_all=True,  # the contents are those of the Gemini API
    programs=(PROGRAM,),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    lacks=LACKS,
    repeats=REPEATED,
    rules=RULES,
    conventions=places.CONVENTIONS,
    reasons={
        **places.LOSSES,
        **sessions.REASONS,
        **sessions.NO_REQUEST,
        "event": "a session has records only for its own information, warnings and errors that still count",
        **dict.fromkeys(("message", "text"), "a session has no place for instructions of the system"),
        **dict.fromkeys(("tool", "tools"), "a session does not hold the definitions of tools"),
        "cwd": "a session holds only a hash of its directory",
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
        "message.createdAt": ("timestamp",),
        "message.usage": ("tokens",),
        **{f"message.usage.{ours}": ("tokens", theirs) for theirs, ours in TOKENS.items()},
    },
    metadata=lacking.fields("gemini user error info warning"),
    envelope=frozenset(("projectHash", "kind", "timestamp", "tokens")),
)
