"""Converts one input into one output. It streams and never prints.

An output is committed if all of its input was acceptable, so a bad line leaves nothing behind unless the job keeps
going. Losses and findings go to two functions as they come.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.engine import conversion, texts
from convcli.engine.texts import ArgumentStyle
from convcli.files.framing import Framing
from convcli.files.layouts import SUFFIXES, DocumentWriter, row_layouts
from convcli.files.outputs import Output
from convcli.jobs.destinations import Folder, Names
from convcli.jobs.documents import Document, Item, without_transcript
from convcli.jobs.inputs import Input
from convcli.jobs.items import beginnings
from convcli.jobs.paths import InputFile
from convcli.jobs.results import AS_IT_IS, ItemResult, RowShape, item_results
from convcli.jobs.row_forms import columns_of, count_form
from convcli.jobs.summaries import Summary, shown_types
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import JobError
from convcli.model.findings import Finding
from convcli.model.transcript import Transcript
from convcli.proof.reasons import LEVELS, Level, Loss, Losses, is_chosen


class Job(msgspec.Struct, frozen=True):
    """What to convert to, and what to accept.

    `fail_on`: the lowest level of losses at which nothing is written · `framing`: layout of rows, if the target is
    written as rows · `layout`: layout of documents, unless as in the input ("json" is an array if there may be
    several) · `is_joined`: several inputs have one output · `text_columns`: lists and objects of a row become JSON
    strings · `arguments`: how call arguments are written · `shape`: what rows are made of.
    """

    target: Dialect
    options: Options = conversion.BY_DEFAULT
    keep_going: bool = False
    fail_on: Level | None = None
    framing: Framing | None = None
    layout: Framing | None = None
    is_joined: bool = False
    text_columns: bool = False
    arguments: ArgumentStyle | None = None
    shape: RowShape = AS_IT_IS

    def fails_on(self, loss: Loss) -> bool:
        """True if the job does not accept this loss. What the user has chosen never counts."""
        if self.fail_on is None or is_chosen(loss):
            return False
        return LEVELS.index(loss.level) <= LEVELS.index(self.fail_on)


class Sinks(msgspec.Struct, frozen=True):
    """Receivers of losses, findings, lines of the restore file and refused items, as they come.

    `loss` is None if losses are only counted. `route` gets each transcript before its document is written, `taken` each
    result that is written. `secure` is called before an output appears, and raises OutputError if it must not.
    """

    loss: Callable[[Loss], None] | None
    finding: Callable[[Finding], None]
    restore: Callable[[bytes], None] | None = None
    refused: Callable[[Item], None] | None = None
    route: Callable[[Transcript], None] | None = None
    taken: Callable[[ItemResult], None] | None = None
    secure: Callable[[], None] | None = None


# --- converting ------------------------------------------------------------------------------------------------------


def completed(run: InputConversion | SplitConversion, *, is_range: bool = False) -> Summary:
    """Runs a conversion and returns its summary. A range of an input commits nothing.

    Raises ConvcliError if it cannot continue; then an output of several transcripts is not written.
    """
    try:
        run.take_all()
        if not is_range:
            run.finish()
    finally:
        run.discard()
    return run.summary


class InputConversion:
    """A running conversion of one input. `output_for` opens the output by suffix once the first document is ready."""

    def __init__(self, source: Input, job: Job, output_for: Callable[[str], Output], sinks: Sinks) -> None:
        self.source, self.job, self.sinks = source, job, sinks
        self.summary = Summary([source.dialect.name], job.target.name)
        self._output_for = output_for
        self._file: DocumentWriter | None = None
        self._begins = beginnings(job.target)

    def take_all(self) -> None:
        """Converts all documents of the input, or of this part of it."""
        options, arguments = self.job.options, self.job.arguments
        keeps = self._keeps_container
        shape = self.job.shape
        for step in item_results(self.source, self.job.target, options, arguments, keeps_container=keeps, shape=shape):
            self.take(step)

    def take(self, step: ItemResult) -> None:
        """Counts, reports and writes a result. In a session with a refused line, the other lines are only counted."""
        summary = self.summary
        if step.is_read and self.source.is_whole and summary.refused and not self.job.keep_going:
            summary.withheld += not step.number
            return
        _count(summary, step, self.job, self.sinks)
        if step.is_read and self._is_acceptable():
            if self.sinks.route is not None and step.conversion is not None:
                self.sinks.route(step.whole or step.conversion.transcript)
            self._write(step.document, step.item, is_one_of_several=step.whole is not None)
            if self.sinks.taken is not None:
                self.sinks.taken(step)
            _keep(step, self.source, self.job, self.sinks)

    def open(self) -> None:
        """Opens the output for an input of several documents."""
        self._file = self._opened(layout_for(None, self.job, self.source, several=True))

    def sinks_of_more(self) -> Sinks:
        """Returns the sinks for a further part of the input; without a restore file if the output is not committed."""
        return self.sinks if self._is_acceptable() else replace(self.sinks, restore=None)

    def join(self, summary: Summary) -> Callable[[bytes], None] | None:
        """Adds the summary of a further part; returns the writer for its lines, None if there is no output."""
        self.summary.add(summary)
        if self._file is None or not self._is_acceptable():
            return None
        return self._file.add_line

    def finish(self) -> None:
        """Commits the output if everything is acceptable."""
        if not self.summary.transcripts and not self.summary.refused and not self.source.is_selected:
            raise without_transcript(self.source.name)
        if self.source.is_whole and self.summary.transcripts and self.job.keep_going:
            self.summary.left_out = self.summary.refused
            self.summary.incomplete = self.summary.transcripts if self.summary.refused else 0
        self.summary.count_joined(self.source)
        if self._file is None or not self.summary.rows:
            return
        if self._is_acceptable():
            count_stored(self.summary, self._file, self.job, self.sinks)
        if self._is_acceptable():  # the losses of a table are known by now
            _keep_rest(self.source, self.sinks)
            if self.sinks.secure is not None:
                self.sinks.secure()
            self._file.commit()
            self.summary.outputs += 1

    def discard(self) -> None:
        """Discards uncommitted output."""
        if self._file is not None:
            self._file.output.discard()

    def _is_acceptable(self) -> bool:
        return not self.summary.failing and (self.job.keep_going or not self.summary.refused)

    @property
    def _keeps_container(self) -> bool:
        """True if the output is one JSON document of all transcripts of a file in its own dialect."""
        return self.sinks.route is None and keeps_container(self.source, self.job)

    def _opened(self, layout: Framing, container: Any = None) -> DocumentWriter:
        target, output = self.job.target, self._output_for(SUFFIXES[layout])
        many = target.many if container is not None else "" if self.job.is_joined else target.collected
        return DocumentWriter(output, layout, many, names_events=target.names_events, container=container)

    def _write(self, document: Any, item: Document | None, *, is_one_of_several: bool) -> None:
        is_rows = isinstance(document, Rows)
        if is_rows and (self.job.is_joined or not self._is_readable_after(document)):
            title = self.job.target.title
            message = f"a {title} file has one transcript, but there is more than one"
            raise JobError(
                "one-transcript-only",
                message,
                file=self.source.name,
                help="--out-dir DIR writes one file per transcript",
            )
        if self._file is None:
            container = item.shell if item is not None and self._keeps_container else None
            layout = layout_for(document, self.job, self.source, several=self.source.may_be_several)
            if is_one_of_several and layout == "json":
                layout = "array" if self.job.layout == "json" else "jsonl"
            self._file = self._opened(layout, container)
        self._file.add(_columns(document, self.job))

    def _is_readable_after(self, rows: Rows) -> bool:
        """True if these rows are the first, or one of several answers of a stream that are read back as such."""
        starts = [self._begins(row) for row in rows]
        is_next = self.source.is_whole and bool(rows) and starts[0] and not any(starts[1:])
        return self._file is None or is_next


class SplitConversion:
    """A running conversion that writes each transcript to an output of its own.

    Each output is committed by itself, so an unacceptable transcript does not affect the others.
    """

    def __init__(self, source: Input, job: Job, output_for: Callable[[str, str], Output], sinks: Sinks) -> None:
        self.source, self.job, self.sinks = source, job, sinks
        self.summary = Summary([source.dialect.name], job.target.name)
        self._output_for, self._names = output_for, Names()

    def take_all(self) -> None:
        """Converts all documents of the input. Raises ConvcliError; earlier outputs are complete."""
        job = self.job
        for step in item_results(self.source, job.target, job.options, job.arguments, shape=job.shape):
            self._take(step)

    def finish(self) -> None:
        """Reports what is known only at the end."""
        if not self.summary.transcripts and not self.summary.refused and not self.source.is_selected:
            raise without_transcript(self.source.name)
        self.summary.count_joined(self.source)
        _keep_rest(self.source, self.sinks)

    def discard(self) -> None:
        """Does nothing: each output was already committed or discarded."""

    def _take(self, step: ItemResult) -> None:
        failing = _count(self.summary, step, self.job, self.sinks)
        if step.item is None or step.conversion is None or failing:
            return
        layout = layout_for(
            step.document, replace(self.job, layout=self.job.layout or "json"), self.source, several=False
        )
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
    """Converts an input into a folder: into a file, or into a file for each of its transcripts.

    Rows are written as lines: readers of a folder of rows look for `*.jsonl`.
    """
    if job.layout is None and job.target.framings[0] == "records":
        job = replace(job, layout="jsonl")
    if source.is_several and (folder.is_of_one or writes_rows(job.target)):
        return SplitConversion(source, job, partial(folder.member, file), sinks)
    return InputConversion(source, job, partial(folder.output, file), sinks)


def writes_rows(target: Dialect) -> bool:
    """True if a file of this dialect is one transcript."""
    return bool(row_layouts(target.framings))


def _count(summary: Summary, step: ItemResult, job: Job, sinks: Sinks) -> int:
    """Counts and reports a result; returns how many of its losses the job does not accept."""
    summary.transcripts += step.is_read and not step.number
    summary.rows += step.is_read
    if step.is_read and (columns := columns_of(step.document, job.target)):
        count_form(summary.forms, job.target.name, columns)
    if step.item is not None and step.item.dialect.name not in summary.sources:
        summary.sources.append(step.item.dialect.name)
    summary.refused += step.is_refused
    summary.torn += step.is_torn
    if step.refused is not None and sinks.refused is not None:
        sinks.refused(step.refused)
    summary.lossy += bool(step.losses) and step.is_read and not step.has_lost
    failing, losses = 0, step.losses
    groups = losses.groups if isinstance(losses, Losses) and sinks.loss is None else None
    for loss, number in zip(losses, repeat(1)) if groups is None else groups(shown_types):
        summary.count(loss, number)
        failing += number * job.fails_on(loss)
        if sinks.loss is not None:
            sinks.loss(loss)
    for finding in step.findings:
        sinks.finding(finding)
    summary.failing += failing
    return failing


def count_stored(summary: Summary, file: DocumentWriter, job: Job, sinks: Sinks) -> None:
    """Counts and reports values that table column types change: one loss per field."""
    for path, row, where, times in file.changes():
        why = f"a column has one type for all rows; {times:,} values are read back as other values"
        loss = Loss("changed", where, ".".join(path), "envelope", why, file=file.output.name, row=row)
        summary.count(loss)
        summary.failing += job.fails_on(loss)
        if sinks.loss is not None:
            sinks.loss(loss)


def _keep(step: ItemResult, source: Input, job: Job, sinks: Sinks) -> None:
    """Writes the restore record."""
    if sinks.restore is not None and step.item is not None:
        from convcli.jobs.keeping import kept

        sinks.restore(kept(step.document, step.item, source, job.target))


def _keep_rest(source: Input, sinks: Sinks) -> None:
    if sinks.restore is not None and source.outer:
        from convcli.jobs.keeping import kept_around

        sinks.restore(kept_around(source))


def _columns(document: Any, job: Job) -> Any:
    return texts.written(document, job.target) if job.text_columns else document


def keeps_container(source: Input, job: Job) -> bool:
    """True if the one output of an input is one JSON document of all its transcripts in its own dialect."""
    is_own = source.has_container and source.dialect is job.target and job.options.form is None
    is_all = not (job.is_joined or job.text_columns or source.is_selected or source.is_one_line or job.shape.splitting)
    return is_own and is_all and layout_for(None, job, source, several=True) == "array"


def layout_for(document: Any, job: Job, source: Input, *, several: bool) -> Framing:
    """Returns the layout of the output: the requested one, otherwise that of the input if possible."""
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
    """The layout of an input with several documents; the events of a stream are no documents.

    A file with the name of JSON Lines may have only one line, which contains several: they are written as lines.
    """
    return "jsonl" if source.is_whole or source.is_named_lines else source.layout
