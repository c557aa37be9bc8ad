"""Converts one transcript into one dialect: fits, writes, reads back, compares and validates it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import answers, detection, row_choices, untrusted
from convcli.engine.emptied import is_emptied
from convcli.engine.row_choices import LeftOut
from convcli.model.branches import branch, context
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import JobError, RefusedError
from convcli.model.findings import Finding
from convcli.model.transcript import Origin, Transcript
from convcli.proof.difference import NOTHING, difference
from convcli.proof.levels import Knowledge
from convcli.proof.reasons import KeysOf, Loss
from convcli.validation import schemas, unknown, verdict
from convcli.validation.survey import Purpose
from convcli.wire.pointers import pointer

BY_DEFAULT = Options()


class Conversion:
    """The result of converting one document: the output, its losses, and the findings of the target's rules.

    `transcript` is the input in the intermediate format. It may be passed as a function that lifts it when needed.
    `left_out`: what of it was not to be written.
    """

    def __init__(
        self,
        document: Any,
        transcript: Transcript | Callable[[], Transcript],
        losses: list[Loss],
        findings: list[Finding],
        left_out: LeftOut = NOTHING,
    ) -> None:
        self.document, self._transcript, self.losses, self.findings = document, transcript, losses, findings
        self.left_out = left_out

    @property
    def transcript(self) -> Transcript:
        if not isinstance(self._transcript, Transcript):
            self._transcript = self._transcript()
        return self._transcript

    def __repr__(self) -> str:
        return f"Conversion({self.document!r}, losses={self.losses!r}, findings={self.findings!r})"


def lift(document: Any, dialect: Dialect, *, advises: bool = True) -> Transcript:
    """Returns the transcript of a document.

    Raises RefusedError if it does not pass the schema, or if nothing in it is of that dialect (`not_understood`). It
    `advises` how to read a document with a wrong type; the lenient reader finds that out itself.
    """
    if not schemas.accepts(dialect.name, document):
        problems = objections(document, dialect)
        raise RefusedError(_with_advice(problems, document, dialect) if advises else problems)
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
    if not is_wrong or dialect.recognize(document) is not None:
        return problems
    return [replace(problems[0], help=_other_format(document, dialect)), *problems[1:]]


def _with_advice(problems: list[Finding], document: Any, dialect: Dialect) -> list[Finding]:
    """Names the option with which the document is read, if only metadata has a wrong type."""
    from convcli.engine import lenient

    if problems[0].help or lenient.relaxed(document, dialect) is None:
        return problems
    return [replace(problems[0], help=lenient.ADVICE), *problems[1:]]


def not_understood(document: Any, transcript: Transcript, dialect: Dialect) -> Finding | None:
    """Returns a finding if there are records but none of them is a message (law L11): the output would be empty.

    The same holds if messages are empty while their extras contain the text: the claim of the dialect fails.

    Session schemas are open, because programs add new kinds of rows. So a session of another program passes, and each
    of its rows becomes an event. An empty conversation has no records and is accepted (but see `empty_finding`).
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
    """Returns a finding for a session without records after its header: its output would be empty."""
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


def lower(
    before: Transcript,
    target: Dialect,
    options: Options = BY_DEFAULT,
    source: Dialect | None = None,
    *,
    purpose: Purpose | None = None,
) -> Conversion:
    """Writes a transcript in a dialect, with the losses that reading it back shows, and what its service would refuse.

    All pointers refer to the source. Raises JobError if the target is read-only.
    """
    turns = _program_turns(before, options, source, target)
    document = _written(before, target, options, source, turns)
    gone = _with_history(turns, before, options)
    done = compared(before, document, target, source, purpose=purpose, left_out=gone, form=options.form)
    if options.models:
        from convcli.engine.model_names import explained

        done.losses = explained(done.losses, options.models)
    return done


def written(before: Transcript, target: Dialect, options: Options, source: Dialect | None) -> Any:
    """Returns only the output document; nothing is read back."""
    return _written(before, target, options, source, _program_turns(before, options, source, target))


def _written(
    before: Transcript, target: Dialect, options: Options, source: Dialect | None, program_turns: LeftOut
) -> Any:
    if not target.is_written:
        raise JobError("read-only-dialect", f"{target.title} is read-only")
    chosen = _chosen(before, options, source, target, program_turns)
    return untrusted.lowered(chosen, source, target, options)


def compared(
    before: Transcript,
    document: Any,
    target: Dialect,
    source: Dialect | None,
    *,
    purpose: Purpose | None = None,
    left_out: LeftOut = NOTHING,
    form: str | None = None,
    is_original: bool = False,
) -> Conversion:
    """Reads an output back and returns it with its losses and findings.

    `left_out`: what was not to be written · `form`: the requested one · `purpose`: what the output is judged as; by
    default what `validate` judges rows for a trainer as, and other documents as an output · `is_original`: the source
    was made from this document, so it has the ids that reading the document generates.
    """
    purpose = purpose or ("request" if target.is_training_data else "output")
    after = answers.lift(document, target)
    if after.origin is not None and form is None and after.origin.form in target.on_demand:
        after.origin.form = target.forms[0]
    findings = verdict.of_output(document, after, target, before, source, purpose=purpose)
    problem = not_understood(document, after, target)
    if problem is not None and problem.code == "no-messages":
        message = f"{target.title} cannot store any message of this transcript: the output has none"
        findings.append(Finding("no-messages", "error", message))
    if is_original and after.origin is not None:
        after.origin.generated_ids = set()
    known = _known(source)
    losses = difference(before, after, source, target, left_out, _keys(target.name), known)
    if source is not None and source.is_session and target.is_training:
        losses = row_choices.explained(losses)
    if known is not None:
        of_losses = unknown.of_losses(losses, known, None if before.origin is None else before.origin.document)
        findings += of_losses + unknown.of_kept(before, known.dialect, target, of_losses)
    return Conversion(document, before, losses, findings, left_out)


@cache
def _keys(name: str) -> KeysOf:
    """Returns the keys that the schema names. Cached, because the words of losses are cached by this function."""
    return partial(schemas.vocabulary, name)


@cache
def _known(source: Dialect | None) -> Knowledge | None:
    """What the source knows, and what the owners of the extras know that it carries."""
    return None if source is None else unknown.knowledge(source, _known_of_owner)


@cache
def _known_of_owner(owner: str) -> Knowledge | None:
    """What the dialect knows that has extras under this name; None where there is no such dialect."""
    if owner in dialects.names():
        return unknown.known_of(dialects.get(owner))
    return next((unknown.known_of(dialect) for dialect in dialects.builtin() if dialect.owns(owner)), None)


def _chosen(
    transcript: Transcript, options: Options, source: Dialect | None, target: Dialect, program_turns: LeftOut
) -> Transcript:
    """Returns what is to be written. The rest is missing when the output is read back, so it is reported as lost."""
    if options.models:
        from convcli.engine.model_names import renamed

        bare = msgspec.structs.replace(options, models=())
        return renamed(_chosen(transcript, bare, source, target, program_turns), options.models)
    if source is not None and row_choices.adds_tools(transcript, source, target, options):
        transcript = row_choices.with_tools(transcript, source, options)
    if program_turns:
        transcript = row_choices.without(transcript, program_turns)
    if replaced(transcript, options):  # the rest is linear, because the parents are gone
        messages = [msgspec.structs.replace(message, parent_id=None) for message in context(transcript)]
        return msgspec.structs.replace(transcript, messages=messages, head=None)
    if options.branch == "all" or transcript.head is None:
        return transcript
    return msgspec.structs.replace(transcript, messages=branch(transcript))


def left_out(transcript: Transcript, options: Options, source: Dialect | None, target: Dialect) -> LeftOut:
    """Returns what is not to be written: turns of the agent program, and messages outside of the model's context."""
    return _with_history(_program_turns(transcript, options, source, target), transcript, options)


def _with_history(turns: LeftOut, transcript: Transcript, options: Options) -> LeftOut:
    return {**turns, **dict.fromkeys(replaced(transcript, options), "history")}


def _program_turns(transcript: Transcript, options: Options, source: Dialect | None, target: Dialect) -> LeftOut:
    """Returns the turns of the agent program that are not to be written."""
    if source is None or source.program_turns is None or not row_choices.drops_program_turns(source, target, options):
        return NOTHING
    return row_choices.program_turns(transcript, source.program_turns)


def replaced(transcript: Transcript, options: Options) -> set[int]:
    """Returns the indexes of messages outside of the model's context, if only the context is wanted."""
    if options.view == "history":
        return set()
    kept = set(map(id, context(transcript)))
    return {index for index, message in enumerate(transcript.messages) if id(message) not in kept}
