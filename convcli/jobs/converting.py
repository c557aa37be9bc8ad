"""The conversion of one input into one output. Streams, and never prints.

An output is committed when all of its input was acceptable, so a bad line leaves nothing behind unless the job says
to keep going. What has to be told on the way goes to two functions, one for losses and one for findings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from convcli.engine import conversion
from convcli.engine.restore import record
from convcli.files.framing import LAYOUTS, Framing, encoded
from convcli.files.outputs import Output, cannot_write, open_output
from convcli.jobs.inputs import Document, Input, InputFile, Item, without_packing
from convcli.jobs.judging import finding_of, torn
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import DONE, UNACCEPTABLE, ContentError, JobError, RefusedError
from convcli.model.findings import Finding
from convcli.proof.reasons import LEVELS, Level, Loss
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

WORDS = frozenset(
    (
        "text", "reasoning", "refusal", "image", "audio", "video", "document", "opaque", "tool_call", "tool_result",
        "data", "error", "multimodal", "system", "developer", "user", "assistant", "tool", "event",
    )
)  # fmt: skip
"""Types, kinds and roles: what a report may show of `before` and `after`, which else are values of a transcript."""


class Job(NamedTuple):
    """What to convert to, and what to accept. `fail_on`: the lowest level of losses at which nothing is written;
    `framing`: how rows are laid out, where the target is written as rows."""

    target: Dialect
    options: Options = conversion.BY_DEFAULT
    keep_going: bool = False
    fail_on: Level | None = None
    framing: Framing | None = None

    def fails_on(self, loss: Loss) -> bool:
        """Is this loss one that the job does not accept?"""
        return self.fail_on is not None and LEVELS.index(loss.level) <= LEVELS.index(self.fail_on)


class LossCount(msgspec.Struct):
    """Losses of one kind and one field: how many, and where the first one is."""

    level: Level
    kind: str
    label: str
    first: Loss
    count: int = 0


class Summary(msgspec.Struct):
    """What came of one or more inputs.

    `transcripts` were read, `lossy` of them lost something, `refused` documents and lines were not acceptable;
    `failing` losses are of the levels that the job does not accept. `outputs` were written.
    """

    sources: list[str]
    target: str
    transcripts: int = 0
    lossy: int = 0
    refused: int = 0
    failing: int = 0
    outputs: int = 0
    groups: dict[tuple[str, str, str], LossCount] = {}

    @property
    def losses(self) -> int:
        """How many losses there are."""
        return sum(group.count for group in self.groups.values())

    @property
    def exit_code(self) -> int:
        """Unacceptable when something was refused, or lost that must not be."""
        return UNACCEPTABLE if self.refused or self.failing else DONE

    def count(self, loss: Loss) -> None:
        """Count a loss."""
        group = LossCount(loss.level, loss.kind, label(loss), loss)
        self.groups.setdefault((group.level, group.kind, group.label), group).count += 1

    def add(self, other: Summary) -> None:
        """Count in what came of another input."""
        self.sources += [name for name in other.sources if name not in self.sources]
        for name in ("transcripts", "lossy", "refused", "failing", "outputs"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for key, group in other.groups.items():
            mine = self.groups.setdefault(key, LossCount(group.level, group.kind, group.label, group.first))
            mine.count += group.count


class Sinks(NamedTuple):
    """Where losses, findings and lines of the restore file go as they come; `loss` is None where it is enough that
    losses are counted."""

    loss: Callable[[Loss], None] | None
    finding: Callable[[Finding], None]
    restore: Callable[[bytes], None] | None = None


def label(loss: Loss) -> str:
    """What was lost, in few words: `name` of messages, `settings.seed`, `anthropic.cache_control` of extras, or
    `data → text` where types say more than the field. Different fields have different labels."""
    before, after = loss.before, loss.after
    if isinstance(before, str) and isinstance(after, str) and before in WORDS and after in WORDS:
        return f"{before} → {after}"
    if loss.field in ("id", "model", "createdAt"):
        return f"transcript {loss.field}"
    return loss.field.removeprefix("extras.").removeprefix("message.")


# --- converting ------------------------------------------------------------------------------------------------------


class ItemResult(NamedTuple):
    """What came of one document of an input, or of one stretch that is none.

    `is_read`: it passed its schema, and `document` is what the target gets. Neither that nor `is_refused` is a torn
    record, which is a loss.
    """

    losses: list[Loss]
    findings: list[Finding]
    is_read: bool = False
    is_refused: bool = False
    document: Any = None
    original: Any = None


def item_results(
    source: Iterable[Item], target: Dialect, options: Options = conversion.BY_DEFAULT
) -> Iterator[ItemResult]:
    """Convert the documents of an input one by one; losses and findings tell file, line and place."""
    for item in source:
        if isinstance(item, Document):
            yield _converted(item, target, options)
        elif item.torn:
            error = item.error
            loss = Loss("dropped", "", "record", "content", torn(item), line=error.line, file=error.file)
            yield ItemResult([loss], [])
        else:
            yield ItemResult([], [finding_of(item.error)], is_refused=True)


def _converted(document: Document, target: Dialect, options: Options) -> ItemResult:
    try:
        result = document.convert(target, options)
    except RefusedError as error:
        return ItemResult([], error.findings, is_refused=True)
    findings = [_warning(finding, target) for finding in result.findings]
    return ItemResult(result.losses, findings, True, False, result.document, document.value)


def _warning(finding: Finding, target: Dialect) -> Finding:
    """What a service would refuse is written all the same: a transcript is not only there to be sent."""
    note = f"{target.title} would not take the output as it is" if finding.severity == "error" else ""
    notes = (*finding.notes, note) if note else finding.notes
    return msgspec.structs.replace(finding, severity="warning", notes=notes)


def convert(source: Input, job: Job, output_for: Callable[[str], Output], sinks: Sinks) -> Summary:
    """Convert one input; `output_for` gives the output when the first document is ready, by the suffix of its kind.

    Raises ConvcliError when it cannot go on; then nothing is written.
    """
    run = InputConversion(source, job, output_for, sinks)
    try:
        for step in item_results(source, job.target, job.options):
            run.take(step)
        run.finish()
    finally:
        run.discard()
    return run.summary


class InputConversion:
    """One conversion under way."""

    def __init__(self, source: Input, job: Job, output_for: Callable[[str], Output], sinks: Sinks) -> None:
        self.source, self.job, self.sinks = source, job, sinks
        self.summary = Summary([source.dialect.name], job.target.name)
        self._output_for = output_for
        self._output: Output | None = None

    def take(self, step: ItemResult) -> None:
        """Count, tell and write. Of a session that is refused for a line, the other lines are not worth a word."""
        summary = self.summary
        if step.is_read and self.source.is_whole and summary.refused and not self.job.keep_going:
            return
        summary.transcripts += step.is_read
        summary.refused += step.is_refused
        summary.lossy += bool(step.losses) and step.is_read
        for loss in step.losses:
            summary.count(loss)
            summary.failing += self.job.fails_on(loss)
            if self.sinks.loss is not None:
                self.sinks.loss(loss)
        for finding in step.findings:
            self.sinks.finding(finding)
        if step.is_read and self._is_acceptable():
            self._write(step.document)
            if self.sinks.restore is not None:
                kept = record(step.original, step.document, self.source.dialect, self.job.target)
                self.sinks.restore(exact_json.write_line(kept))

    def sinks_of_more(self) -> Sinks:
        """Where a further part of the input goes: nothing is restored of an output that does not appear."""
        return self.sinks if self._is_acceptable() else self.sinks._replace(restore=None)

    def join(self, summary: Summary, written: Iterable[bytes]) -> None:
        """Count in what came of a further part of the input, and take what was written of it."""
        self.summary.add(summary)
        if self._is_acceptable() and summary.transcripts:
            self._output = self._output or self._output_for(".jsonl")
            for piece in written:
                self._output.write(piece)

    def finish(self) -> None:
        """Let the output appear if all is well."""
        if not self.summary.transcripts and not self.summary.refused:
            raise ContentError("empty-input", "there is no transcript in it", file=self.source.name)
        if self._output is not None and self._is_acceptable():
            self._output.commit()
            self.summary.outputs += 1

    def discard(self) -> None:
        """Leave nothing behind that was not committed."""
        if self._output is not None:
            self._output.discard()

    def _is_acceptable(self) -> bool:
        return not self.summary.failing and (self.job.keep_going or not self.summary.refused)

    def _write(self, document: Any) -> None:
        suffix = _suffix(document, self.job, self.source)
        if self._output is None:
            self._output = self._output_for(suffix)
        elif isinstance(document, Rows):
            message = f"a file of {self.job.target.name} holds one transcript, and this input has more than one"
            raise JobError("one-transcript-only", message, file=self.source.name)
        for piece in encoded(document, suffix):
            self._output.write(piece)


def _suffix(document: Any, job: Job, source: Input) -> str:
    """The layout of the output, as the suffix of its name: the one asked for, else that of the input if it can be."""
    if isinstance(document, Rows):
        ways: list[Framing] = [LAYOUTS[framing] for framing in job.target.framings if framing in LAYOUTS]
        usual = source.layout if source.is_whole and source.layout in ways else next(iter(ways), "jsonl")
        return f".{job.framing or usual}"
    return ".jsonl" if source.layout == "jsonl" and not source.is_whole else ".json"


class Folder:
    """A tree of outputs like that of the inputs, none of which is replaced."""

    def __init__(self, path: str, inputs: Iterable[str], *, force: bool = False) -> None:
        self.path, self.force = path, force
        self._inputs, self._outputs = frozenset(map(os.path.realpath, inputs)), set[str]()

    def output(self, file: InputFile, suffix: str) -> Output:
        """The output for an input. Raises JobError when it is another input, or the output of another."""
        old = os.path.splitext(without_packing(file.relative))[1]
        keeps = old.lower() == suffix or (suffix == ".jsonl" and old.lower() == ".ndjson")
        path = os.path.join(self.path, stem(file) + (old if keeps else suffix))
        if path in self._outputs or os.path.realpath(path) in self._inputs - {os.path.realpath(file.path)}:
            raise JobError("same-output", f"{path} is another input, or the output of one", help="convert it by itself")
        self._outputs.add(path)
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        except OSError as error:
            raise cannot_write(path, error) from None
        return open_output(path, force=self.force, inputs=[file.path])


def stem(file: InputFile) -> str:
    """What the name of the output for an input begins with."""
    return os.path.splitext(without_packing(file.relative))[0]


class LossFile:
    """A JSON array of losses, written one by one."""

    def __init__(self, output: Output) -> None:
        self._output, self._is_empty = output, True

    def add(self, loss: Loss) -> None:
        """Write one loss."""
        self._output.write((b"[\n" if self._is_empty else b",\n") + exact_json.write(builtins(loss)))
        self._is_empty = False

    def commit(self) -> None:
        """End the array and let the file appear."""
        self._output.write(b"[]\n" if self._is_empty else b"\n]\n")
        self._output.commit()

    def discard(self) -> None:
        """Give it up."""
        self._output.discard()
