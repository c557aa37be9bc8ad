"""Judges the documents of an input: findings of schema and rules, and errors of unreadable records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.engine import conversion, detection, pipeline, reading
from convcli.jobs.choosing import CERTAIN, HELD
from convcli.jobs.config import IgnoredPlace
from convcli.jobs.documents import Document, Skipped, skipped
from convcli.jobs.inputs import Input
from convcli.jobs.row_forms import columns_of
from convcli.jobs.surrogates import lone_surrogates
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from convcli.model.findings import Finding
from convcli.model.located import record_of
from convcli.model.rule import Purpose, Rule
from convcli.validation import schemas, unknown, verdict
from convcli.validation.rules.kinds import known_types


class Verdict(NamedTuple):
    """The findings on one document or one unreadable stretch of an input; it is clean if `findings` is empty."""

    file: str
    line: int
    dialect: str
    findings: list[Finding]
    is_skipped: bool = False
    """True if it is not a transcript of any kind and was not named by the user."""
    row: int = -1
    """Its row from 0, in a table; then it has no line."""
    is_of_file: bool = False
    """True if it judges not a document but how the file stores them."""
    is_converted: bool = False
    """True if the document is in another dialect than the target, and was converted to be judged."""
    columns: str = ""
    """The columns that make the form of a training row (`row_forms`)."""


class JudgingOptions(NamedTuple):
    """How documents are judged.

    `strict`: unknown keys are findings · `target`: judge the request that this service would be sent · `more`: rules in
    addition to the dialect's · `select`: the only codes to report, all if empty · `ignore`: codes not to report ·
    `places`: paths where nothing is reported · `skips`: files that are not transcripts of any kind are skipped.
    """

    strict: bool = False
    target: Dialect | None = None
    more: tuple[Rule, ...] = ()
    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    places: tuple[IgnoredPlace, ...] = ()
    skips: bool = False

    def wants(self, finding: Finding) -> bool:
        """True if the finding is to be reported."""
        code = finding.code
        if code in self.ignore or (self.select and code not in self.select):
            return False
        return not any(place.matches(finding) for place in self.places)


def judge(source: Input, options: JudgingOptions = JudgingOptions()) -> Iterator[Verdict]:  # noqa: B008  (frozen)
    """Yields the verdict on each document; the rows of a session are one document, with its unreadable ones."""
    is_one = source.is_whole and not source.is_several
    as_it_is = AsItIs(options)
    each = (
        [(0, True, _converts(source.dialect, options), "", _session(source, as_it_is))]
        if is_one
        else _each(source, as_it_is)
    )
    for line, is_first, is_converted, columns, findings in each:
        wanted = [finding for finding in findings if options.wants(finding)] if findings else findings
        if wanted and is_first:
            wanted[0] = _doubted(wanted[0], source)
        place, row = (0, line - 1) if source.is_table else (line, -1)
        yield Verdict(
            source.name, place, source.dialect.name, wanted, row=row, is_converted=is_converted, columns=columns
        )
    notes = [finding for finding in (*source.notes, *as_it_is.findings()) if options.wants(finding)]
    if notes:
        yield Verdict(source.name, 0, source.dialect.name, notes, is_of_file=True)


SHAPE = frozenset(("wrong-type", "missing-key", "unknown-value", "not-allowed", "too-few"))
"""Schema codes after which a document may be in another dialect."""


def _doubted(finding: Finding, source: Input) -> Finding:
    """Adds a note to the first finding of a file whose dialect is uncertain."""
    detected = source.detection
    if detected is None or detected.evidence.strength >= CERTAIN or finding.code not in SHAPE:
        return finding
    note = f"read as {detected.dialect}: {detected.evidence.reason}; --from names another"
    return replace(finding, notes=(*finding.notes, note))


def _each(source: Input, as_it_is: AsItIs) -> Iterator[tuple[int, bool, bool, str, list[Finding]]]:
    """Yields the line of each document, whether it is the first, whether it was converted, its columns and findings."""
    for item in source:
        if isinstance(item, Skipped):
            finding = skipped(item)
            yield record_of(finding), record_of(finding) <= 1, False, "", [finding]
        else:
            is_converted = _is_converted(item, as_it_is.options)
            findings = _judged(item, as_it_is.options, is_converted)
            as_it_is.compare(item, findings)
            columns = "" if is_converted else columns_of(item.value, item.dialect)
            yield item.first_line, item.is_first, is_converted, columns, findings


def _session(source: Input, as_it_is: AsItIs) -> list[Finding]:
    """Returns all findings on a transcript of many rows, in file order."""
    options = as_it_is.options
    gaps, findings = list[Finding](), list[Finding]()
    for item in source:
        if isinstance(item, Skipped):
            gaps.append(skipped(item))
        else:
            found = judged(item, options)
            as_it_is.compare(item, found)
            findings += found
    gaps = [gap for gap in gaps if options.wants(gap)]
    if gaps:
        doubtful = [_may_follow(finding, record_of(gaps[0]), record_of(gaps[-1])) for finding in findings]
        gaps[0] = _noted(gaps[0], list(compress(findings, doubtful)))
        findings = [finding for finding, is_doubtful in zip(findings, doubtful, strict=True) if not is_doubtful]
    return sorted([*gaps, *findings], key=record_of)


class AsItIs:
    """Notes what the target finds in the documents of a file, where converting them hides it.

    Of a document that looks like the target's too, it is not certain what the user means: once for each code, a note
    on the file says what `--from` would find.
    """

    def __init__(self, options: JudgingOptions) -> None:
        self.options, self._notes = options, dict[str, Finding]()

    def compare(self, item: Document, findings: list[Finding]) -> None:
        """Adds the codes of a converted document that its findings do not have."""
        target = self.options.target
        if target is None or not _is_converted(item, self.options) or not _may_be_in(item.value, target):
            return
        known = {finding.code for finding in findings}
        purpose = pipeline.usual_purpose(target)
        for finding in pipeline.validate(item.value, target, strict=self.options.strict, purpose=purpose):
            if finding.code not in known:
                known.add(finding.code)
                (located,) = item.located([finding])
                before = self._notes.get(finding.code)
                self._notes[finding.code] = (
                    self._note(located, item, target) if before is None else replace(before, count=before.count + 1)
                )

    def _note(self, finding: Finding, item: Document, target: Dialect) -> Finding:
        message = f"checked after conversion from {item.dialect.name}; as it is, it has {finding.code} in {target.name}"
        help_text = f"--from {target.name} checks the file as it is"
        return replace(
            finding,
            code="judged-as-converted",
            severity="info",
            message=message,
            help=help_text,
            notes=(finding.message,),
        )

    def findings(self) -> list[Finding]:
        """Returns the notes, in the order of the first document with each."""
        return list(self._notes.values())


def _may_be_in(document: Any, target: Dialect) -> bool:
    """True if the document is framed like one of the dialect, and has its key for messages or a key that marks it."""
    if isinstance(document, Rows) and READS_ROWS.isdisjoint(target.framings):
        return False
    named = schemas.keys_in(target.name, ()) or frozenset()
    has_messages = isinstance(document, dict) and any(key in document for key in HELD & named)
    return has_messages or detection.has_names_of(target, document)


READS_ROWS = frozenset(("events", "sse"))
"""Framings of dialects whose documents are rows of a file."""
LOOK_BACK = frozenset(("orphan-tool-result", "missing-parent", "unknown-rewind", "stream-out-of-order", "torn-stream"))
LOOK_AHEAD = frozenset(("missing-tool-result", "invalid-arguments", "torn-stream"))
"""Codes of rows that lack another row before or after them, which may be an unreadable one."""


def _may_follow(finding: Finding, first: int, last: int) -> bool:
    """True if the finding may exist only because lines from `first` to `last` cannot be read."""
    back, ahead = record_of(finding) > first, record_of(finding) < last
    return (back and finding.code in LOOK_BACK) or (ahead and finding.code in LOOK_AHEAD)


def _noted(gap: Finding, doubtful: list[Finding]) -> Finding:
    if not doubtful:
        return gap
    codes = ", ".join(dict.fromkeys(finding.code for finding in doubtful))
    return replace(gap, notes=(f"{len(doubtful):,} more that may be consequences, not shown: {codes}",))


def judged(item: Document, options: JudgingOptions) -> list[Finding]:
    """Returns the findings on one document, or what the target would refuse of it."""
    return _judged(item, options, _is_converted(item, options))


def _converts(dialect: Dialect, options: JudgingOptions) -> bool:
    return options.target is not None and options.target is not dialect


def _is_converted(item: Document, options: JudgingOptions) -> bool:
    """True unless the document is judged as it is: in its own dialect, or a row that the target has too."""
    target = options.target
    if target is None or not _converts(item.dialect, options):
        return False
    return not target.is_training_data or detection.evidence(item.value, target) is None


def _judged(item: Document, options: JudgingOptions, is_converted: bool) -> list[Finding]:
    target = options.target
    if target is None:
        found = _as_it_is(item, options, item.dialect, pipeline.usual_purpose(item.dialect))
    else:
        found = _converted(item, options, target) if is_converted else _as_it_is(item, options, target, "request")
    return [*item.notes, *found]


def _as_it_is(item: Document, options: JudgingOptions, dialect: Dialect, purpose: Purpose) -> list[Finding]:
    findings = pipeline.validate(item.value, dialect, strict=options.strict, purpose=purpose, more=options.more)
    return item.located(findings + lone_surrogates(item))


def _converted(item: Document, options: JudgingOptions, target: Dialect) -> list[Finding]:
    """Returns what the target would refuse of the document, with pointers into the source.

    A document that cannot be read in its own dialect, and may be in the target's, is judged as it is.
    """
    try:
        transcript = item.lift()
    except RefusedError as error:
        may_be_of_target = detection.evidence(item.value, target) is not None
        return _as_it_is(item, options, target, "request") if may_be_of_target else error.findings
    empty = reading.empty_finding(item.value, transcript, item.dialect)
    if empty is not None:
        return item.located([empty])
    unread = () if item.dialect.carries_all else (known_types(item.dialect.name),)  # unread parts are not sent
    findings = verdict.findings(item.value, transcript, item.dialect, (*options.more, *unread))
    findings += unknown.of_transcript(transcript, item.dialect)
    return item.located(
        findings + conversion.lower(transcript, target, source=item.dialect, purpose="request").findings
    )
