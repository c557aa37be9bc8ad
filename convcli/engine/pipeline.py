"""Converts one document into another dialect, or validates it in its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from convcli.engine import answers
from convcli.engine.conversion import BY_DEFAULT, Conversion, lower, read_back
from convcli.engine.reading import empty_finding, lift, not_understood, objections, relaxed
from convcli.engine.shortcut import is_clean
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import JobError, RefusedError
from convcli.model.findings import Finding
from convcli.model.rule import Purpose, Rule
from convcli.model.transcript import Transcript
from convcli.validation import unknown, verdict
from convcli.validation.schemas import accepts
from convcli.wire.pointers import enclosing

if TYPE_CHECKING:
    from convcli.engine.shapes.memo import PairConverter

FEW = 16
"""Documents of a pair that are always converted without remembered shapes."""


def usual_purpose(dialect: Dialect) -> Purpose:
    """Returns what a document is judged as unless the user asks: a row for a trainer is always judged as sent."""
    return "request" if dialect.is_training_data else "document"


def validate(
    document: Any,
    dialect: Dialect,
    *,
    strict: bool = False,
    purpose: Purpose = "document",
    more: Iterable[Rule] = (),
) -> list[Finding]:
    """Returns the findings on a document: those of its schema, and if it has no errors, those of the rules.

    `strict`: unknown keys are warnings · `purpose`: "request" validates it as one · `more`: additional rules.
    """
    if not strict and purpose == "document" and not more and is_clean(document, dialect):
        return []
    findings = objections(document, dialect, strict=strict)
    if any(finding.severity == "error" for finding in findings):
        return findings
    transcript = answers.lift(document, dialect)
    if transcript.origin is not None:
        transcript.origin.document = document
    problem = not_understood(document, transcript, dialect) or empty_finding(document, transcript, dialect)
    if problem is not None:
        findings = [*findings, problem]
        from convcli.engine import detection

        if detection.evidence(document, dialect) is None:  # the rules do not apply to another program
            return findings
    findings += verdict.of_document(document, transcript, dialect, purpose, tuple(more))
    return _with_unknown(findings, transcript, dialect, strict=strict)


def _with_unknown(findings: list[Finding], transcript: Transcript, dialect: Dialect, *, strict: bool) -> list[Finding]:
    """Adds the findings on unknown content. With `strict` they are errors and replace the findings on its keys."""
    of_content = unknown.of_transcript(transcript, dialect)
    if not strict or not of_content:
        return findings + of_content
    places = {finding.where for finding in of_content}
    others = [finding for finding in findings if finding.code != "unknown-key" or finding.where not in places]
    return others + [replace(finding, severity="error") for finding in of_content]


def convert(document: Any, source: Dialect, target: Dialect, options: Options = BY_DEFAULT) -> Conversion:
    """Converts one document into another dialect, with all losses.

    In its own dialect it is unchanged, unless the options request another form. Raises RefusedError with findings if
    the document does not pass its schema, and JobError if the target is read-only.
    """
    if options.lenient:
        return _convert_leniently(document, source, target, replace(options, lenient=False))
    if options == BY_DEFAULT and _has_shapes(document, source, target) and next(_begun(source, target)) >= FEW:
        return remembering(source, target).convert(document)
    return convert_in_full(document, source, target, options)


def _convert_leniently(document: Any, source: Dialect, target: Dialect, options: Options) -> Conversion:
    """Converts a document, with findings on values of a wrong type that were set aside."""
    if accepts(source.name, document):
        return convert(document, source, target, options)
    rest = relaxed(document, source)
    if source is target and options == BY_DEFAULT:
        return Conversion(document, rest.transcript, [], rest.findings)
    conversion = of_transcript(rest.document, rest.transcript, source, target, options)
    conversion.findings[:0] = rest.findings
    conversion.losses = rest.placed(conversion.losses, source)
    return conversion


def _has_shapes(document: Any, source: Dialect, target: Dialect) -> bool:
    """True if other documents may have its shape. Sessions and stored spellings are unique.

    What a dialect reads in texts is probed with what it writes, so one that is not written has no probes.
    """
    has_choices = source.program_turns is not None and target.is_training
    is_pair = source is not target and source.is_written and not source.keeps_form and not target.keeps_form
    return document.__class__ is dict and is_pair and not has_choices


@cache
def _begun(source: Dialect, target: Dialect) -> Iterator[int]:
    """Counts the documents of a pair: for a few of them, the code that remembers shapes is not loaded."""
    return count()


@cache
def remembering(source: Dialect, target: Dialect) -> PairConverter:
    """Returns the converter that remembers the shapes of a pair."""
    from convcli.engine.shapes.memo import PairConverter

    return PairConverter(source, target, convert_in_full)


def convert_in_full(
    document: Any, source: Dialect, target: Dialect, options: Options = BY_DEFAULT, *, is_composed: bool = False
) -> Conversion:
    """Converts like `convert`, without remembered shapes.

    `is_composed`: no file holds the document as it is. It is written anew, in its own dialect too.
    """
    transcript, bare_options = lift(document, source), _without_keys(options)
    if is_composed:
        conversion = lower(transcript, target, bare_options, source)
    elif source is target and _changes_nothing(transcript, source, bare_options):
        conversion = _unchanged(document, transcript, source)
    else:
        conversion = _rewritten(document, transcript, source, target, bare_options)
    return _finished(conversion, document, source, target, options)


def of_transcript(
    document: Any, transcript: Transcript, source: Dialect, target: Dialect, options: Options
) -> Conversion:
    """Converts a document whose transcript is known. It is written anew, in its own dialect too."""
    conversion = _rewritten(document, transcript, source, target, _without_keys(options))
    return _finished(conversion, document, source, target, options)


def _without_keys(options: Options) -> Options:
    """Returns the options without the keys to set, which are set in the output."""
    return replace(options, set_keys=(), default_keys=()) if options.set_keys or options.default_keys else options


def _changes_nothing(transcript: Transcript, source: Dialect, options: Options) -> bool:
    """True if a document stays as it is in its own dialect."""
    if options.models:
        from convcli.engine.model_names import renames

        if not renames(transcript, options.models):
            options = replace(options, models=())
    if options.tools_of is not None:
        from convcli.engine.tool_names import renamed

        if renamed(transcript, source, options.tools_of) is transcript:
            options = replace(options, tools_of=None)
    return options == BY_DEFAULT


def _rewritten(document: Any, transcript: Transcript, source: Dialect, target: Dialect, options: Options) -> Conversion:
    """Returns the conversion of a transcript: to and from the intermediate format, with the source's spelling."""
    if target.keeps_form and source.is_written and options == BY_DEFAULT:
        from convcli.engine.spelling import with_form

        return read_back(transcript, with_form(transcript, document, source, target), target, source)
    empty = None if target.keeps_form or source is target else empty_finding(document, transcript, source)
    if empty is not None:
        raise RefusedError([empty])
    original = None
    if source.keeps_form and options == BY_DEFAULT:
        from convcli.engine.spelling import respelled

        original = respelled(transcript, document, source, target)
        if original is not None and not original.losses:
            return original
    conversion = lower(transcript, target, options, source)
    if original is not None and len(original.losses) <= len(conversion.losses):
        return original
    return conversion


def _finished(conversion: Conversion, document: Any, source: Dialect, target: Dialect, options: Options) -> Conversion:
    """Sets the keys of the options, and adds the findings on the input that the output will not show."""
    if options.set_keys or options.default_keys:
        from convcli.engine.set_keys import with_set_keys

        conversion = with_set_keys(conversion, options, target, source)
    of_input = [] if source is target else verdict.of_input(document, conversion.transcript, source, target)
    if of_input:
        conversion.findings = _with_input(conversion.findings, of_input)
    return conversion


def _with_input(of_output: list[Finding], of_input: list[Finding]) -> list[Finding]:
    """Adds the findings on the input. One that the output has too, at this pointer or around it, is reported once, at
    that of the input."""
    findings, added = [*of_output], list[Finding]()
    indexes = defaultdict[tuple[str, str], list[int]](list)
    for i, each in enumerate(findings):
        indexes[each.code, each.where].append(i)
    for finding in of_input:
        around = (indexes.get((finding.code, pointer)) for pointer in enclosing(finding.where))
        same = next(filter(None, around), None)
        if same is None:
            added.append(finding)
            continue
        i = same.pop(0)
        findings[i] = replace(findings[i], where=finding.where)
        indexes[finding.code, finding.where].append(i)
    return added + findings


def _unchanged(document: Any, transcript: Transcript, dialect: Dialect) -> Conversion:
    if not dialect.is_written:
        raise JobError("read-only-dialect", f"{dialect.title} is read-only")
    return Conversion(document, transcript, [], _judged(document, transcript, dialect))


def _judged(document: Any, transcript: Transcript, dialect: Dialect) -> list[Finding]:
    """Returns the findings of `validate` on a document that its schema accepts."""
    purpose = usual_purpose(dialect)
    if purpose == "document" and is_clean(document, dialect):
        return []
    empty = empty_finding(document, transcript, dialect)
    findings = verdict.of_document(document, transcript, dialect, purpose)
    return [*filter(None, [empty]), *findings, *unknown.of_transcript(transcript, dialect)]
