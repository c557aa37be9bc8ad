"""Processes one part: idempotent, and the same everywhere. Outputs appear completely, and the mark last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import Any

import msgspec

from convcli.files import stores
from convcli.files.outputs import Output
from convcli.jobs.converting import InputConversion, Sinks
from convcli.jobs.documents import Document, Item, Skipped, finding_of, skipped, torn_warning
from convcli.jobs.inputs import Input
from convcli.jobs.judging import JudgingOptions
from convcli.jobs.pieces import InputPiece
from convcli.jobs.running import PieceResult, convert_piece, judge_piece, keeping_error, reading
from convcli.jobs.summaries import Summary
from convcli.model.errors import JobError, RefusedError
from convcli.model.findings import Finding
from convcli.parts.marks import PartMark, PartTotals
from convcli.parts.planning import FINDINGS, LOSSES, OTHERS, REFUSED, RESTORE, Part, Task, opened
from convcli.proof.reasons import Loss
from convcli.views.columns import directory_of, project_of
from convcli.views.costs import Prices
from convcli.views.statistics import Statistics
from convcli.wire import exact_json
from convcli.wire.decimals import builtins


def run_part(part: Part, attempt: int = 1) -> PartMark:
    """Converts, validates or counts one part. Raises ConvcliError on failure; then it has no mark.

    `attempt` is the number of this attempt, for the mark."""
    work: dict[str, Callable[[Part, int], PartMark]] = {
        "convert": convert_part,
        "validate": validate_part,
        "stats": count_part,
    }
    return work[part.task.command](part, attempt)


def convert_part(part: Part, attempt: int = 1) -> PartMark:
    """Converts the documents of a part; writes them, their losses, refused documents, and the mark.

    Without `keep_going`, a part with refused documents has no output documents. Raises ConvcliError."""
    mark, job = _mark(part, attempt), part.task.job
    totals, summary = mark.totals, mark.totals.summary

    def conversion(source: Input) -> InputConversion:
        return InputConversion(source, job, lambda _: outputs, sinks)

    with _outputs(mark) as outputs:
        loss = outputs.loss if part.task.losses == "all" else None
        restore = outputs.restore if part.task.restores else None
        sinks = Sinks(loss, outputs.finding, restore, outputs.refuse)
        for piece in part.pieces:
            result = convert_piece(piece, partial(_opened, part.task), conversion)
            if result.summary is not None:
                totals.add_summary(result.summary)
            outputs.end(result)
            outputs.end_records()
        outputs.has_documents = not summary.failing and (part.task.keep_going or not totals.refused)
        totals.written = summary.rows if outputs.has_documents else 0
    return mark


def _mark(part: Part, attempt: int) -> PartMark:
    return PartMark(part, PartTotals(Summary([], part.task.target)), attempts=attempt)


def validate_part(part: Part, attempt: int = 1) -> PartMark:
    """Validates the documents of a part; writes a finding per line, and the mark. Raises ConvcliError."""
    mark = _mark(part, attempt)
    with _outputs(mark) as outputs:
        outputs.has_documents = True
        for piece in part.pieces:
            result = PieceResult(piece)
            for verdict in judge_piece(result, partial(_opened, part.task), _judging(part, piece)):
                if verdict.is_skipped:
                    mark.totals.skipped += 1
                elif not verdict.is_of_file:
                    mark.totals.count_verdict(verdict)
                for finding in verdict.findings:
                    outputs.finding(finding)
            outputs.end(result)
    return mark


def _judging(part: Part, piece: InputPiece) -> JudgingOptions:
    """Returns the options for a piece: some findings may be ignored only in its file."""
    options = part.task.judging
    return options._replace(ignore=options.ignore | piece.ignore, places=piece.places, skips=piece.skips)


def count_part(part: Part, attempt: int = 1) -> PartMark:
    """Counts the content of a part's transcripts, and writes it into the mark. Raises ConvcliError."""
    mark, counted = _mark(part, attempt), Statistics(Prices(part.task.prices))
    with _outputs(mark) as outputs:
        for piece in part.pieces:
            result = PieceResult(piece)
            with keeping_error(result), reading(result, partial(_opened, part.task)) as source:
                for item in source:
                    _count(item, counted, outputs)
                for note in source.notes:
                    outputs.finding(note)
                mark.totals.summary.count_joined(source)
            outputs.end(result)
        mark.counts = list(counted.counted())
    return mark


def _count(item: Item, counted: Statistics, outputs: _PartOutputs) -> None:
    totals = outputs.mark.totals
    if isinstance(item, Skipped):
        outputs.finding(torn_warning(item) if item.torn else skipped(item))
        totals.summary.torn += item.torn
        totals.summary.refused += not item.torn
        return
    try:
        transcript, findings = item.lift_leniently()
        counted.add(transcript, item.dialect.name, project_of(directory_of(item, transcript)))
        totals.count_document(item.dialect.name)
    except RefusedError as error:
        totals.summary.refused += 1
        findings = error.findings
    for finding in (*item.notes, *findings):
        outputs.finding(finding)


def _opened(task: Task, piece: InputPiece) -> AbstractContextManager[Input]:
    """Opens the file of a piece. Raises JobError if it has changed since planning."""
    if stores.facts(piece.file)[1] != piece.version:
        raise JobError("input-changed", "the file has changed since the job was planned", file=piece.file)
    return opened(piece, task)


# --- outputs ---------------------------------------------------------------------------------------------------------


@contextmanager
def _outputs(mark: PartMark) -> Iterator[_PartOutputs]:
    outputs = _PartOutputs(mark)
    with outputs.cleanup:
        yield outputs
        outputs.finish()


class _PartOutputs:
    """The outputs of a part, each opened on first use; also the output of `converting`."""

    def __init__(self, mark: PartMark) -> None:
        self.name, self.opened, self.has_documents = mark.part.name, dict[str, Output](), False
        self.cleanup = ExitStack()  # discards each output, whatever happens to the others
        self.mark, self._task, self._folder = mark, mark.part.task, stores.folder_at(mark.part.out)
        self._records = 0
        self._sizes, self._sums, self._begin = dict[str, int](), dict[str, Any](), monotonic()

    def write(self, data: bytes) -> None:
        """Writes documents in the target dialect."""
        self._write("", data)

    def loss(self, loss: Loss) -> None:
        """Writes a loss as a line."""
        self._write(LOSSES, exact_json.write_line(builtins(loss)))

    def finding(self, finding: Finding) -> None:
        """Writes a finding as a line, to the output of `validate` or to its own folder."""
        self.mark.totals.count_finding(finding)
        if self._task.command == "validate":
            self._write("", finding_line(finding))
        elif self._task.losses == "all":
            self._write(FINDINGS, finding_line(finding))

    def restore(self, lines: bytes) -> None:
        """Writes the restore record of a document."""
        self._records += 1
        self._write(RESTORE, lines)

    def end_records(self) -> None:
        """Stores the number of restore records of a piece, so that its documents are known."""
        if self._task.restores:
            self.mark.records.append(self._records)
            self._records = 0

    def refuse(self, item: Item) -> None:
        """Writes a refused line as it is in the file; for other files, the finding identifies the document."""
        raw = item.raw.strip()
        if isinstance(item, Document) and item.line and not raw:  # a row of a table
            raw = exact_json.write(item.original)
        if raw and b"\n" not in raw:
            self._write(REFUSED, raw + b"\n")

    def end(self, result: PieceResult) -> None:
        """Counts the lines of a piece. An unreadable file is reported and refused."""
        if any(piece.by_size for piece in self.mark.part.pieces) and not result.piece.by_size:
            self.mark.cut = result.piece
        totals = self.mark.totals
        totals.lines, totals.blank = totals.lines + result.lines, totals.blank + result.blank
        if result.error is not None:
            self.finding(finding_of(result.error))
            totals.unreadable += 1

    def commit(self) -> None:
        """Does nothing: the part is committed as a whole."""

    def discard(self) -> None:
        """Does nothing: the part is discarded as a whole."""

    def finish(self) -> None:
        """Commits all outputs, removes those of earlier attempts, and then writes the mark."""
        name = self.mark.part.name
        wanted = [kind for kind in self.opened if self.has_documents or kind not in ("", RESTORE)]
        for kind in wanted:
            self.opened[kind].commit()
            self.mark.outputs[kind + name] = self._sizes[kind]
            self.mark.sums[kind + name] = self._sums[kind].hexdigest()
        self.mark.totals.summary.outputs = int("" in wanted)
        for kind in {"", *OTHERS}.difference(wanted):
            self._folder.remove(kind + name)
        self.mark.seconds = round(monotonic() - self._begin, 3)
        self.mark.written_to(self._folder)

    def _write(self, kind: str, data: bytes) -> None:
        if kind not in self.opened:
            output = self._folder.output(kind + self.name, self.mark.part.inputs)
            self.cleanup.callback(output.discard)
            self.opened[kind], self._sizes[kind] = output, 0
            self._sums[kind] = sha256()
        self._sizes[kind] += len(data)
        self._sums[kind].update(data)
        self.opened[kind].write(data)


def finding_line(finding: Finding) -> bytes:
    """Returns a finding as a line of JSON."""
    record: Any = msgspec.to_builtins(finding)
    return exact_json.write_line(record)
