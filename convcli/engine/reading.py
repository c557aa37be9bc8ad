"""Reads one document of a dialect: its transcript, or the findings that say why it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from convcli.engine import answers
from convcli.engine.emptied import is_emptied
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from convcli.model.findings import Finding
from convcli.model.modules import Later
from convcli.model.transcript import Origin, Transcript
from convcli.validation import schemas
from convcli.wire.pointers import pointer

if TYPE_CHECKING:
    from convcli.engine import detection, lenient
else:
    detection, lenient = Later("convcli.engine.detection"), Later("convcli.engine.lenient")


def lift(document: Any, dialect: Dialect) -> Transcript:
    """Returns the transcript of a document.

    Raises RefusedError if it does not pass the schema, or if nothing in it is of that dialect (`not_understood`).
    """
    if not schemas.accepts(dialect.name, document):
        raise RefusedError(_with_advice(objections(document, dialect), document, dialect))
    return _understood(document, dialect)


def lift_leniently(document: Any, dialect: Dialect) -> tuple[Transcript, list[Finding]]:
    """Returns what `lift` returns, with findings on values of a wrong type that were set aside.

    Raises RefusedError if anything else is wrong with the document.
    """
    if schemas.accepts(dialect.name, document):
        return _understood(document, dialect), []
    rest = relaxed(document, dialect)
    return rest.transcript, rest.findings


def relaxed(document: Any, dialect: Dialect) -> lenient.Relaxed:
    """Returns what can be read of a document that its schema refuses. Raises RefusedError if more is wrong with it than
    the types of values outside of the conversation."""
    rest = _relaxed(document, dialect)
    if rest is None:
        raise RefusedError(objections(document, dialect))
    return rest


def _relaxed(document: Any, dialect: Dialect) -> lenient.Relaxed | None:
    rest = lenient.relaxed(document, dialect)
    if rest is None or not_understood(rest.document, rest.transcript, dialect) is not None:
        return None
    return rest


def _understood(document: Any, dialect: Dialect) -> Transcript:
    """Returns the transcript of a document that its schema accepts."""
    transcript = answers.lift(document, dialect)
    problem = not_understood(document, transcript, dialect)
    if problem is not None:
        raise RefusedError([problem])
    if transcript.origin is not None:
        transcript.origin.document = document
    return transcript


def objections(document: Any, dialect: Dialect, *, strict: bool = False) -> list[Finding]:
    """Returns the objections of the schema. If the document is not of this dialect, the first one names its format."""
    problems = schemas.findings(dialect.name, document, strict=strict)
    is_wrong = any(finding.severity == "error" for finding in problems) and not problems[0].help
    if not is_wrong or detection.evidence(document, dialect) is not None:
        return problems
    return [replace(problems[0], help=_other_format(document, dialect)), *problems[1:]]


def _with_advice(problems: list[Finding], document: Any, dialect: Dialect) -> list[Finding]:
    """Names the option with which the document is read, if only metadata has a wrong type."""
    if problems[0].help or _relaxed(document, dialect) is None:
        return problems
    return [replace(problems[0], help=lenient.ADVICE), *problems[1:]]


def not_understood(document: Any, transcript: Transcript, dialect: Dialect) -> Finding | None:
    """Returns a finding if there are records but none of them is a message (law L11): the output would be empty.

    The same holds if messages are empty while their extras contain the text: the claim of the dialect fails.

    Session schemas are open, because programs add new kinds of rows. So a session of another program passes, and each
    of its rows becomes an event. An empty conversation has no records and is read (but see `empty_finding`).
    """
    if is_emptied(transcript):
        message = f"the messages come out empty: their text is in keys that {dialect.title} does not define"
        return Finding("no-messages", "error", message, help=_advice(document, dialect), notes=_of_first(document))
    if not transcript.messages or any(message.role != "event" for message in transcript.messages):
        return _several_answers(document, dialect)
    if transcript.origin is not None and transcript.origin.rolled_back:
        return _all_rolled_back(len(transcript.origin.rolled_back), transcript.origin)
    count = len(transcript.messages)
    problem = f"none of {count:,} records is a message" if count > 1 else "the only record is not a message"
    message = f"{problem} of {dialect.title}"
    return Finding("no-messages", "error", message, help=_advice(document, dialect), notes=_of_first(document))


def _several_answers(document: Any, dialect: Dialect) -> Finding | None:
    """Returns a finding if the events of a list begin more than one answer: they would become one message."""
    if dialect.answer_boundaries is None or not isinstance(document, list):
        return None
    begins = dialect.answer_boundaries()
    starts = [index for index, event in enumerate(document) if begins(event) and index]
    if not starts:
        return None
    message = f"the events of {len(starts) + 1:,} answers are in one list"
    help_text = "write one event on each line of a .jsonl file: convcli reads several answers from it"
    return Finding("several-streams", "error", message, pointer((starts[0],)), help=help_text)


def _all_rolled_back(count: int, origin: Origin) -> Finding:
    """Returns the finding for a session whose messages were all rolled back, at its last record."""
    subject = f"all {count:,} messages of this session were" if count > 1 else "the only message of this session was"
    message = f"{subject} rolled back, and no message followed"
    return Finding("no-messages", "error", message, where=pointer(origin.places[-1][0]))


def empty_finding(document: Any, transcript: Transcript, dialect: Dialect) -> Finding | None:
    """Returns a finding for a session without records after its header: in another dialect it would be empty. Its
    document is judged so, and not converted."""
    if transcript.messages or not dialect.is_session:
        return None
    message = f"there is no {dialect.title} message"
    return Finding("no-messages", "error", message, help=_advice(document, dialect), notes=_of_first(document))


def _advice(document: Any, dialect: Dialect) -> str:
    """Suggests what the records are instead, if known."""
    if other := _other_format(document, dialect):
        return other
    if detection.candidates(document):
        return "this session has no messages, only events of its program"
    return "they may be in another dialect: convcli detect names the ones that match"


def _other_format(document: Any, dialect: Dialect) -> str:
    """Names the format that a document looks like, if it is not the named dialect; empty if unknown."""
    from convcli.engine import known_formats

    known = known_formats.recognise([document])
    if known is not None:
        return f"{known.message}: {known.help}"
    ranked = detection.candidates(document) or (detection.candidates(document[0]) if _has_rows(document) else [])
    is_other = bool(ranked) and ranked[0][0] != dialect.name
    return f"this looks like {ranked[0][0]} ({ranked[0][1].reason})" if is_other else ""


def _has_rows(document: Any) -> bool:
    """True if a file was read as rows of one document, each of which may be a document of another dialect."""
    return isinstance(document, Rows) and bool(document)


def _of_first(document: Any) -> tuple[str, ...]:
    """Describes the first record of a list."""
    first = document[0] if isinstance(document, list) and document else None
    return (f"the first is {detection.shape(first)}",) if isinstance(first, dict) and first else ()
