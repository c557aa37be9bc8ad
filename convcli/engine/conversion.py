"""One transcript into one dialect: it is fitted and written, read back and compared, and judged."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.engine import detection, untrusted
from convcli.engine.emptied import is_emptied
from convcli.model.branches import branch, context
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import JobError, RefusedError
from convcli.model.findings import Finding
from convcli.model.transcript import Origin, Transcript
from convcli.proof.difference import difference
from convcli.proof.reasons import KeysOf, Loss
from convcli.validation import schemas, verdict
from convcli.validation.survey import Purpose
from convcli.wire.pointers import pointer

BY_DEFAULT = Options()


class Conversion:
    """What came of one document: it in the target dialect, what that does not carry, and what its rules object to.
    `transcript` is what was converted, as the intermediate format says it; it may be given as what lifts it, for
    somebody who asks for it."""

    def __init__(
        self,
        document: Any,
        transcript: Transcript | Callable[[], Transcript],
        losses: list[Loss],
        findings: list[Finding],
    ) -> None:
        self.document, self._transcript, self.losses, self.findings = document, transcript, losses, findings

    @property
    def transcript(self) -> Transcript:
        if not isinstance(self._transcript, Transcript):
            self._transcript = self._transcript()
        return self._transcript

    def __repr__(self) -> str:
        return f"Conversion({self.document!r}, losses={self.losses!r}, findings={self.findings!r})"


def lift(document: Any, dialect: Dialect) -> Transcript:
    """The transcript of a document. Raises RefusedError when it does not pass the schema of the dialect, and when
    nothing in it is of that dialect (`not_understood`)."""
    if not schemas.accepts(dialect.name, document):
        raise RefusedError(objections(document, dialect))
    transcript = dialect.lift(document)
    strange = not_understood(document, transcript, dialect)
    if strange is not None:
        raise RefusedError([strange])
    if transcript.origin is not None:
        transcript.origin.given = document
    return transcript


def objections(document: Any, dialect: Dialect, *, strict: bool = False) -> list[Finding]:
    """What the schema objects to. Of a document that is none of this dialect the first says what it looks like."""
    found = schemas.findings(dialect.name, document, strict=strict)
    is_wrong = any(finding.severity == "error" for finding in found) and not found[0].help
    if not is_wrong or dialect.detect(document) is not None:
        return found
    return [replace(found[0], help=_other_format(document, dialect)), *found[1:]]


def not_understood(document: Any, transcript: Transcript, dialect: Dialect) -> Finding | None:
    """What is wrong where there are records and none of them is a message (law L11): the output would be empty.

    The same holds where messages come out empty and their extras hold the text: the claim of the dialect fails.

    Schemas of sessions are open, since programs add rows of new kinds: so the session of another program passes, each
    of its rows an event. An empty conversation has no records, and is none such (but see `nothing_said`).
    """
    if is_emptied(transcript):
        message = f"the messages come out empty: their text is in keys that {dialect.title} does not define"
        return Finding("no-messages", "error", message, help=_advice(document, dialect), notes=_of_first(document))
    if not transcript.messages or any(message.role != "event" for message in transcript.messages):
        return None
    if transcript.origin is not None and transcript.origin.taken_back:
        return _all_taken_back(len(transcript.origin.taken_back), transcript.origin)
    count = len(transcript.messages)
    message = (
        f"{f'none of {count:,} records is a' if count > 1 else 'the only record is no'} message of {dialect.title}"
    )
    return Finding("no-messages", "error", message, help=_advice(document, dialect), notes=_of_first(document))


def _all_taken_back(count: int, origin: Origin) -> Finding:
    """What is wrong with a session that went back behind all that was said: its last record is where that shows."""
    what = f"all {count:,} messages of this session were" if count > 1 else "the only message of this session was"
    message = f"{what} taken back, and nothing was said after that"
    return Finding("no-messages", "error", message, where=pointer(origin.places[-1][0]))


def nothing_said(document: Any, transcript: Transcript, dialect: Dialect) -> Finding | None:
    """What is wrong with a session that has no records behind its header: what came of it would be empty."""
    if transcript.messages or not dialect.is_session:
        return None
    message = f"there is no message of {dialect.title}"
    return Finding("no-messages", "error", message, help=_advice(document, dialect), notes=_of_first(document))


def _advice(document: Any, dialect: Dialect) -> str:
    """What the records are instead, where that is known."""
    if other := _other_format(document, dialect):
        return other
    if detection.candidates(document):
        return "nothing was said in this session: only what its program notes beside the messages is in it"
    return "perhaps they are in another dialect: convcli detect tells which one recognises them"


def _other_format(document: Any, dialect: Dialect) -> str:
    """The format that a document looks like, where it is not the dialect that was named; empty where none is known."""
    from convcli.engine import foreign

    known = foreign.recognise([document])
    if known is not None:
        return f"{known.message}: {known.help}"
    ranked = detection.candidates(document) or (detection.candidates(document[0]) if _has_rows(document) else [])
    is_other = bool(ranked) and ranked[0][0] != dialect.name
    return f"this looks like {ranked[0][0]} ({ranked[0][1].reason})" if is_other else ""


def _has_rows(document: Any) -> bool:
    """Was a file read as the rows of one document, of which each may be a document of another dialect?"""
    return isinstance(document, Rows) and bool(document)


def _of_first(document: Any) -> tuple[str, ...]:
    """What the first record of a list looks like."""
    first = document[0] if isinstance(document, list) and document else None
    return (f"the first of them is {detection.shape(first)}",) if isinstance(first, dict) and first else ()


def lower(
    before: Transcript,
    target: Dialect,
    options: Options = BY_DEFAULT,
    source: Dialect | None = None,
    *,
    purpose: Purpose = "output",
) -> Conversion:
    """A transcript in a dialect, with the losses that reading it back shows and what its service would refuse.

    All places are places of the source. Raises JobError when the target is only read.
    """
    document = written(before, target, options, source)
    gone = left_out(before, options)
    return compared(before, document, target, source, purpose=purpose, left_out=gone, form=options.form)


def written(before: Transcript, target: Dialect, options: Options, source: Dialect | None) -> Any:
    """The document alone, of which nothing is read back."""
    if not target.is_written:
        raise JobError("read-only-dialect", f"{target.title} is only read, never written")
    return untrusted.lowered(_chosen(before, options), source, target, options)


def compared(
    before: Transcript,
    document: Any,
    target: Dialect,
    source: Dialect | None,
    *,
    purpose: Purpose = "output",
    left_out: Collection[int] = (),
    form: str | None = None,
) -> Conversion:
    """The document that was written of a transcript, with its losses and findings. `left_out` are the indexes of
    messages that the user did not want, `form` is the one that was asked for."""
    after = target.lift(document)
    if after.origin is not None and form is None and after.origin.form in target.on_demand:
        after.origin.form = target.forms[0]
    findings = verdict.of_output(document, after, target, before, source, purpose=purpose)
    losses = difference(before, after, source, target, left_out, _keys(target.name))
    return Conversion(document, before, losses, findings)


@cache
def _keys(name: str) -> KeysOf:
    """The keys that the schema names; one function for each, for words of losses are remembered by it."""
    return partial(schemas.vocabulary, name)


def _chosen(transcript: Transcript, options: Options) -> Transcript:
    """What is to be written. The rest is missing when the output is read back, so it is told like any other loss."""
    gone = left_out(transcript, options)
    if gone:  # the rest is in a line, since what others were said after is gone
        messages = [msgspec.structs.replace(message, parent_id=None) for message in context(transcript)]
        return msgspec.structs.replace(transcript, messages=messages, head=None)
    if options.branch == "all" or transcript.head is None:
        return transcript
    return msgspec.structs.replace(transcript, messages=branch(transcript))


def left_out(transcript: Transcript, options: Options) -> set[int]:
    """The indexes of messages that no model would be sent, where only the context is wanted."""
    if options.view == "history":
        return set()
    kept = set(map(id, context(transcript)))
    return {index for index, message in enumerate(transcript.messages) if id(message) not in kept}
