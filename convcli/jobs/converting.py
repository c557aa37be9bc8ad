"""The conversion of one input into one output. Streams, and never prints.

An output is committed when all of its input was acceptable, so a bad line leaves nothing behind unless the job says
to keep going. What has to be told on the way goes to two functions, one for losses and one for findings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.engine import conversion, texts
from convcli.engine.texts import ArgumentStyle
from convcli.files.framing import Framing
from convcli.files.layouts import SUFFIXES, DocumentWriter, row_layouts
from convcli.files.outputs import Output
from convcli.jobs.destinations import Folder, Names
from convcli.jobs.inputs import Input, InputFile, Item
from convcli.jobs.items import beginnings
from convcli.jobs.results import ItemResult, item_results
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import DONE, UNACCEPTABLE, ContentError, JobError
from convcli.model.findings import Finding
from convcli.proof.reasons import LEVELS, SET, Level, Loss

WORDS = frozenset(
    (
        "text", "reasoning", "refusal", "image", "audio", "video", "document", "opaque", "tool_call", "tool_result",
        "data", "error", "multimodal", "system", "developer", "user", "assistant", "tool", "event",
    )
)  # fmt: skip
"""Types, kinds and roles: what a report may show of `before` and `after`, which else are values of a transcript."""


class Job(msgspec.Struct, frozen=True):
    """What to convert to, and what to accept. `fail_on`: the lowest level of losses at which nothing is written;
    `framing`: how rows are laid out, where the target is written as rows; `layout`: how documents are, where not as in
    the input ("json" is an array where there may be several); `is_joined`: several inputs have one output;
    `text_columns`: lists and objects of a row are JSON in texts; `arguments`: how those of calls are written."""

    target: Dialect
    options: Options = conversion.BY_DEFAULT
    keep_going: bool = False
    fail_on: Level | None = None
    framing: Framing | None = None
    layout: Framing | None = None
    is_joined: bool = False
    text_columns: bool = False
    arguments: ArgumentStyle | None = None

    def fails_on(self, loss: Loss) -> bool:
        """Is this loss one that the job does not accept? What the user has set is none."""
        return loss.why != SET and self.fail_on is not None and LEVELS.index(loss.level) <= LEVELS.index(self.fail_on)


MOST_GROUPS = 1000
"""Groups of losses that are counted apart: keys of users are fields too, and a file can have one in each line."""
OTHER = "other fields"
"""The label of all others of one level and kind."""


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
    `failing` losses are of the levels that the job does not accept. `outputs` were written. Of `groups` there are not
    many more than `most_groups`; their counts are exact. `withheld` are sessions that would be converted but for a
    line.
    """

    sources: list[str]
    target: str
    transcripts: int = 0
    lossy: int = 0
    refused: int = 0
    failing: int = 0
    outputs: int = 0
    withheld: int = 0
    torn: int = 0
    groups: dict[tuple[str, str, str], LossCount] = {}
    most_groups: int = MOST_GROUPS

    @property
    def losses(self) -> int:
        """How many losses there are."""
        return sum(group.count for group in self.groups.values())

    @property
    def is_held_back(self) -> bool:
        """Is nothing written only because something else was refused?"""
        is_rest = bool(self.transcripts or self.withheld)
        return bool(self.refused) and is_rest and not self.outputs and not self.failing

    @property
    def exit_code(self) -> int:
        """Unacceptable when something was refused, or lost that must not be."""
        return UNACCEPTABLE if self.refused or self.failing else DONE

    def count(self, loss: Loss) -> None:
        """Count a loss."""
        self._count(LossCount(loss.level, loss.kind, label(loss), loss, 1))

    def add(self, other: Summary) -> None:
        """Count in what came of another input."""
        self.sources += [name for name in other.sources if name not in self.sources]
        for name in ("transcripts", "lossy", "refused", "failing", "outputs", "withheld", "torn"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for group in other.groups.values():
            self._count(group)

    def _count(self, group: LossCount) -> None:
        key = group.level, group.kind, group.label
        mine = self.groups.get(key)
        if mine is None:
            label = group.label if len(self.groups) < self.most_groups else OTHER
            new = LossCount(group.level, group.kind, label, group.first)
            mine = self.groups.setdefault((group.level, group.kind, label), new)
        mine.count += group.count


class Sinks(msgspec.Struct, frozen=True):
    """Where losses, findings, lines of the restore file and what is refused go as they come; `loss` is None where it is
    enough that losses are counted."""

    loss: Callable[[Loss], None] | None
    finding: Callable[[Finding], None]
    restore: Callable[[bytes], None] | None = None
    refused: Callable[[Item], None] | None = None


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


def convert(source: Input, job: Job, output_for: Callable[[str], Output], sinks: Sinks) -> Summary:
    """Convert one input; `output_for` gives the output when the first document is ready, by the suffix of its kind.

    Raises ConvcliError when it cannot go on; then nothing is written.
    """
    return completed(InputConversion(source, job, output_for, sinks))


def completed(run: InputConversion | SplitConversion, *, is_range: bool = False) -> Summary:
    """What came of a conversion. Of a range of an input nothing appears by itself. Raises ConvcliError when it cannot
    go on."""
    try:
        run.take_all()
        if not is_range:
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
        self._file: DocumentWriter | None = None
        self._begins = beginnings(job.target)

    def take_all(self) -> None:
        """Convert all documents of the input, or of the part of it that this one is."""
        for step in item_results(self.source, self.job.target, self.job.options, self.job.arguments):
            self.take(step)

    def take(self, step: ItemResult) -> None:
        """Count, tell and write. Of a session that is refused for a line, the other lines are not worth a word."""
        summary = self.summary
        if step.is_read and self.source.is_whole and summary.refused and not self.job.keep_going:
            summary.withheld += 1
            return
        _count(summary, step, self.job, self.sinks)
        if step.is_read and self._is_acceptable():
            self._write(step.document)
            _keep(step, self.source, self.job, self.sinks)

    def open(self) -> None:
        """Open the output, for an input of several documents."""
        self._file = self._opened(_layout(None, self.job, self.source, several=True))

    def sinks_of_more(self) -> Sinks:
        """Where a further part of the input goes: nothing is restored of an output that does not appear."""
        return self.sinks if self._is_acceptable() else replace(self.sinks, restore=None)

    def join(self, summary: Summary) -> Callable[[bytes], None] | None:
        """Count in what came of a further part of the input; gives what takes the lines that were written of it, None
        where the output does not appear."""
        self.summary.add(summary)
        if self._file is None or not self._is_acceptable():
            return None
        return self._file.add_line

    def finish(self) -> None:
        """Let the output appear if all is well."""
        if not self.summary.transcripts and not self.summary.refused and not self.source.is_selected:
            raise _nothing(self.source)
        if self._file is not None and self._is_acceptable() and self.summary.transcripts:
            count_stored(self.summary, self._file, self.job, self.sinks)
        if self._file is not None and self._is_acceptable() and self.summary.transcripts:
            self._file.commit()
            self.summary.outputs += 1
            _keep_rest(self.source, self.sinks)

    def discard(self) -> None:
        """Leave nothing behind that was not committed."""
        if self._file is not None:
            self._file.output.discard()

    def _is_acceptable(self) -> bool:
        return not self.summary.failing and (self.job.keep_going or not self.summary.refused)

    def _opened(self, layout: Framing) -> DocumentWriter:
        target = self.job.target
        many = "" if self.job.is_joined else target.collected
        return DocumentWriter(self._output_for(SUFFIXES[layout]), layout, many, names_events=target.names_events)

    def _write(self, document: Any) -> None:
        is_rows = isinstance(document, Rows)
        if is_rows and (self.job.is_joined or not self._is_readable_after(document)):
            title = self.job.target.title
            message = f"a file of {title} holds one transcript, and there is more than one"
            raise JobError(
                "one-transcript-only", message, file=self.source.name, help="--out-dir DIR writes a file each"
            )
        if self._file is None:
            self._file = self._opened(_layout(document, self.job, self.source, several=self.source.may_be_several))
        self._file.add(_columns(document, self.job))

    def _is_readable_after(self, rows: Rows) -> bool:
        """True if these rows are the first, or one of several answers of a stream that are read back as such."""
        starts = [self._begins(row) for row in rows]
        is_next = self.source.is_whole and bool(rows) and starts[0] and not any(starts[1:])
        return self._file is None or is_next


class SplitConversion:
    """One conversion under way whose transcripts get an output each, under a name of its own.

    Each appears by itself, so one that is not acceptable does not stand in the way of the others.
    """

    def __init__(self, source: Input, job: Job, output_for: Callable[[str, str], Output], sinks: Sinks) -> None:
        self.source, self.job, self.sinks = source, job, sinks
        self.summary = Summary([source.dialect.name], job.target.name)
        self._output_for, self._names = output_for, Names()

    def take_all(self) -> None:
        """Convert all documents of the input. Raises ConvcliError; the outputs before that are complete."""
        for step in item_results(self.source, self.job.target, self.job.options, self.job.arguments):
            self._take(step)

    def finish(self) -> None:
        """Tell what is known at the end only."""
        if not self.summary.transcripts and not self.summary.refused and not self.source.is_selected:
            raise _nothing(self.source)
        _keep_rest(self.source, self.sinks)

    def discard(self) -> None:
        """Each output has appeared, or was given up, by itself."""

    def _take(self, step: ItemResult) -> None:
        """Count, tell and write."""
        failing = _count(self.summary, step, self.job, self.sinks)
        if step.item is None or step.conversion is None or failing:
            return
        layout = _layout(step.document, replace(self.job, layout=self.job.layout or "json"), self.source, several=False)
        output = self._output_for(self._names.name(step.item, step.conversion), SUFFIXES[layout])
        target = self.job.target
        file = DocumentWriter(output, layout, target.collected, names_events=target.names_events)
        try:
            file.add(_columns(step.document, self.job))
            file.commit()
        finally:
            output.discard()
        self.summary.outputs += 1
        _keep(step, self.source, self.job, self.sinks)


def into_folder(
    source: Input, file: InputFile, job: Job, folder: Folder, sinks: Sinks
) -> InputConversion | SplitConversion:
    """The conversion of an input into a folder: into a file, or into a file for each of its transcripts. Rows stand in
    lines there: what reads a folder of rows looks for `*.jsonl`."""
    if job.layout is None and job.target.framings[0] == "records":
        job = replace(job, layout="jsonl")
    if source.is_several and (folder.is_of_one or writes_rows(job.target)):
        return SplitConversion(source, job, partial(folder.member, file), sinks)
    return InputConversion(source, job, partial(folder.output, file), sinks)


def writes_rows(target: Dialect) -> bool:
    """Is a file of this dialect one transcript?"""
    return bool(row_layouts(target.framings))


def _count(summary: Summary, step: ItemResult, job: Job, sinks: Sinks) -> int:
    """Count and tell what came of a document; gives how many of its losses the job does not accept."""
    summary.transcripts += step.is_read
    if step.item is not None and step.item.dialect.name not in summary.sources:
        summary.sources.append(step.item.dialect.name)
    summary.refused += step.is_refused
    summary.torn += step.is_torn
    if step.refused is not None and sinks.refused is not None:
        sinks.refused(step.refused)
    summary.lossy += bool(step.losses) and step.is_read
    failing = 0
    for loss in step.losses:
        summary.count(loss)
        failing += job.fails_on(loss)
        if sinks.loss is not None:
            sinks.loss(loss)
    for finding in step.findings:
        sinks.finding(finding)
    summary.failing += failing
    return failing


def count_stored(summary: Summary, file: DocumentWriter, job: Job, sinks: Sinks) -> None:
    """Count and tell what the types of the columns of a table cannot hold as it was: a loss for each field."""
    for path, row, where, times in file.changes():
        why = f"a column has one type for all rows, and it is read back as another value in {times:,} places"
        loss = Loss("changed", where, ".".join(path), "envelope", why, file=file.output.name, row=row)
        summary.count(loss)
        summary.failing += job.fails_on(loss)
        if sinks.loss is not None:
            sinks.loss(loss)


def _keep(step: ItemResult, source: Input, job: Job, sinks: Sinks) -> None:
    """Write what is needed to get the original back."""
    if sinks.restore is not None and step.item is not None:
        from convcli.jobs.keeping import kept

        sinks.restore(kept(step.document, step.item, source, job.target))


def _keep_rest(source: Input, sinks: Sinks) -> None:
    if sinks.restore is not None and source.outer:
        from convcli.jobs.keeping import kept_around

        sinks.restore(kept_around(source))


def _columns(document: Any, job: Job) -> Any:
    return texts.written(document, job.target) if job.text_columns else document


def _nothing(source: Input) -> ContentError:
    return ContentError("empty-input", "there is no transcript in it", file=source.name)


def _layout(document: Any, job: Job, source: Input, *, several: bool) -> Framing:
    """The layout of the output: the one asked for, else that of the input if it can be."""
    if isinstance(document, Rows):
        ways = row_layouts(job.target.framings)
        usual: Framing = source.layout if source.is_whole and source.layout in ways else next(iter(ways), "jsonl")
        return job.framing or (job.layout if job.layout in ways else usual)
    if job.target.collected and job.layout != "jsonl":
        return "array"
    if job.layout == "json":
        return "array" if several else "json"
    return job.layout or (_layout_of_several(source) if several else "json")


def _layout_of_several(source: Input) -> Framing:
    """The layout of an input with several documents; the events of a stream are no documents."""
    return "jsonl" if source.is_whole else source.layout
