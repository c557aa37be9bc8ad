"""Gemini CLI: sessions as one document (`.json`, up to 0.38) and as an append-only log (`.jsonl`, since 0.39).

Specification: packages/core/src/services/chatRecordingService.ts and chatRecordingTypes.ts of google-gemini/gemini-cli,
state of 2026-08-21; what a resumed session sees: packages/core/src/utils/sessionUtils.ts; read 2026-11-20.

Quirks
- A log is replayed: the last record of an id counts, `$set` changes metadata, `$set.messages` replaces all records,
  `$rewindTo` removes. Superseded rows are events: no other dialect gets them, and each one is reported.
- Results are inside their calls. Since 0.44 the content has calls too, and a user record has their results.
- A call has a state; `cancelled` is not an error. The file has no tools and no system instructions.
- A thought has a subject, which the program sends to the model in bold before the description.
- A count of zero is read as no count. `tokens.output` excludes thoughts.
- Older and forked programs write `type: "model"`, `parts`, or a list `history` of turns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from convcli.dialects.gemini_cli.calls import NAME, NOT_RUN, SERVICE, Reading
from convcli.dialects.gemini_cli.fitting import FIT
from convcli.dialects.gemini_cli.log import REWIND, in_order, kind_of, replay
from convcli.dialects.gemini_cli.records import RECORDS, lift_record, role_of
from convcli.dialects.gemini_cli.thoughts import TOKENS
from convcli.dialects.gemini_cli.writing import write_rows
from convcli.families.google import places
from convcli.families.google.contents import adopt
from convcli.kit import sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, add_extras, get_extras, make_extras, omit
from convcli.kit.sessions import event_of
from convcli.kit.supported import TURNS, counted, fields, media
from convcli.kit.texts import text_of
from convcli.kit.values import usage_places
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, ReadCompanion, SessionFacts, tags
from convcli.model.document import Rows
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Transcript
from convcli.validation.rules import links
from convcli.validation.survey import Survey, for_outputs, for_requests

META = Envelope(
    "sessionId=id projectHash startTime=created_at lastUpdated=updated_at kind directories messages= "
    "history summary=title memoryScratchpad"
)
ROOT = "#"
"""The root in the table of places: the first row of a log, the document itself otherwise."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session as a resumed session sees it; superseded rows become events."""
    context = LiftContext(NAME, document, owner=SERVICE.owner)
    reading = Reading(context, {})
    if isinstance(document, list):
        context.origin.form = "log"
        metadata = _lift_log(document, reading)
    else:
        context.origin.form = "json"
        metadata = _lift_document(document, reading)
    context.origin.aliases[ROOT] = "0" if isinstance(document, list) else ".."
    for status, call in reading.states.values():  # no later record had the result
        add_extras(call, NAME, {"status": status} if status and status != NOT_RUN else {})
    transcript = context.transcript()
    transcript.extras = make_extras(NAME, META.lift(metadata, transcript))
    adopt(context)
    return transcript


def _lift_document(document: Native, reading: Reading) -> Native:
    key = "history" if document.get("messages") is None and document.get("history") is not None else "messages"
    records = document.get(key) or []
    for k, record in enumerate(records):
        lift_record(record, (key, k), (records[after] for after in range(k + 1, len(records))), reading)
    return omit(document, key)


def _lift_log(rows: list[Any], reading: Reading) -> Native:
    done = replay(rows)
    context = reading.context
    metadata: Native = {}
    for place, native in done.metadata:  # the last value of a key counts
        metadata |= native
        context.origin.routes |= {("0", key): (*place, key) for key in native}
    live = [record for _, record in done.live]
    ids = {record["id"] for record in live}
    count = 0
    for path, record, counts in in_order(done):
        if counts:
            count += 1
            lift_record(record, path, (live[after] for after in range(count, len(live))), reading)
            continue
        if role_of(record) is not None and kind_of(record) == "record" and record["id"] not in ids:
            context.origin.rolled_back.add(len(context.messages))
        context.add(event_of(NAME, record), path, [()])
    return metadata


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a log or a document."""
    extra = get_extras(transcript.extras, NAME)
    rows = write_rows(transcript.messages)
    if options.form == "json":
        return META.write(transcript, extra, messages=rows)
    return Rows([META.write(transcript, extra), *rows])


# ---------------------------------------------------------------- rules


def _goes_back_to_something(survey: Survey) -> Iterator[Breach]:
    rows = survey.document if survey.form == "log" else []
    if not any(isinstance(row, dict) and REWIND in row for row in rows):
        return  # most logs: they need not be replayed again
    for i in replay(rows).lost:
        message = "no record has this id: Gemini CLI then discards all earlier records"
        yield Breach("unknown-rewind", NodeRef(steps=(i, REWIND)), message)


def _can_be_resumed(survey: Survey) -> Iterator[Breach]:
    transcript = survey.transcript
    stated = {"sessionId": transcript.id, "startTime": transcript.created_at, "lastUpdated": transcript.updated_at}
    for key in ("sessionId", "projectHash", "startTime", "lastUpdated"):
        if not {**stated, **get_extras(transcript.extras, NAME)}.get(key):
            yield Breach("missing-key", NodeRef(), f"a session can be resumed only with `{key}`")
    for i in range(len(survey.messages)):
        native = survey.native_message(i)
        if role_of(native) is not None and not (native.get("id") and native.get("timestamp")):
            yield Breach(
                "missing-key", NodeRef(i), "a session can be resumed only if each record has `id` and `timestamp`"
            )


IGNORED = ("/", "?", "<session_context>", "<hook_context>")
"""Prefixes of user texts that a resumed session leaves out: sessionUtils.ts, read 2026-11-23."""


def _is_sent(survey: Survey) -> Iterator[Breach]:
    for i, message in enumerate(survey.messages):
        text = text_of(message.parts)
        if message.role == "user" and text.strip().startswith(IGNORED):
            problem = "Gemini CLI treats a text with this prefix as a command or its own text, and does not send it"
            yield Breach("unread-row", NodeRef(i), problem, "warning")


RULES = (
    links.paired(links.PairingRules(where="later", missing=None)),
    Rule(("unknown-rewind",), _goes_back_to_something, of_input=("unknown-rewind",)),
    for_requests(Rule(("missing-key",), _can_be_resumed)),
    for_outputs(Rule(("unread-row",), _is_sent)),
)

REPEATED = fields("/*/$set/lastUpdated /*/$set/summary /*/lastUpdated /*/tokens/output /messages/*/tokens/output")
"""Metadata that later rows repeat, where the last value counts, and counts that are part of a sum."""


def _place(facts: SessionFacts) -> str:
    """Returns the path of the session file: a folder per directory hash, a file per session with time and id."""
    return f"tmp/{_hash(facts.cwd)}/chats/session-{facts.begin[:16].replace(':', '-')}-{facts.id[:8]}.jsonl"


def _hash(directory: str) -> str:
    from hashlib import sha256  # slow to import, and few calls need it

    return sha256(directory.encode("utf-8", "surrogatepass")).hexdigest()


def _directory(path: str, read: ReadCompanion) -> Any:
    """Returns the working directory of a session.

    Since 0.27 the session's folder names it, or the list of projects does, by folder name or hash.

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

PROGRAM_TURNS = ProgramTurns(
    {
        **tags("session_context", "hook_context"),
        "This is the Gemini CLI. We are setting up the context for our chat.": "session_context",
    }
)
"""The environment and the output of hooks: environmentContext.ts (the text alone before 2026) and sessionUtils.ts of
google-gemini/gemini-cli, read 2026-11-27."""

SUPPORTS = TURNS | media() | META.supports() | RECORDS["assistant"].supports("message") | counted(TOKENS)
SUPPORTS |= fields(
    "reasoning.metadata.thoughtSignature tool_call.metadata.thoughtSignature tool_result.name tool_result.isError "
    "tool_result.status"
)

DIALECT = Dialect(
    name=NAME,
    title="Gemini CLI",
    specification="chatRecordingService.ts and chatRecordingTypes.ts of google-gemini/gemini-cli, 2026-08-21",
    framings=("events", "document"),
    forms=("log", "json"),
    carries_all=True,  # the contents are those of the Gemini API
    programs=(PROGRAM,),
    program_turns=PROGRAM_TURNS,
    lift=lift,
    fit=FIT,
    write=write,
    supports=SUPPORTS,
    repeats=REPEATED,
    rules=RULES,
    conventions=places.CONVENTIONS,
    reasons={
        **places.LOSSES,
        **sessions.REASONS,
        **sessions.NO_REQUEST,
        "event": "Gemini CLI stores only its own current info, warning and error records",
        **dict.fromkeys(("message", "text"), "Gemini CLI sessions do not store system instructions"),
        **dict.fromkeys(("tool", "tools"), "Gemini CLI sessions do not store tool definitions"),
        "cwd": "Gemini CLI sessions store only a hash of the directory",
        "createdAt": "a Gemini CLI session needs a start time: that of its first record, or 1970",
        "updatedAt": "a Gemini CLI session needs an update time: that of its last record",
        "message.id": "every Gemini CLI record has a unique id; a tool result has that of its call",
        "message.parentId": "Gemini CLI logs have no tree",
        "message.createdAt": "every Gemini CLI record needs a time: that of the record before it, or 1970",
        "message.model": "only assistant messages name their model in Gemini CLI",
        "message.usage": "only assistant messages have token counts in Gemini CLI",
        "message.stopReason": "Gemini CLI sessions have no stop reason",
        "message.error": "Gemini CLI sessions have no field for an answer's error",
        "tool_result.status": "Gemini CLI calls are running, waiting, cancelled, failed or done",
        "extras.gemini-cli.projectHash": "Gemini CLI sessions need the hash of the directory",
    },
    places={
        **places.PLACES,
        **META.places("", ROOT),
        **{f"extras.{key}": (ROOT, key) for key in ("projectHash", "kind", "directories", "memoryScratchpad")},
        **RECORDS["assistant"].places("message"),
        **usage_places(TOKENS, "tokens"),
    },
    metadata=fields("gemini user error info warning"),
    envelope=frozenset(("projectHash", "kind", "timestamp", "tokens")),
)
