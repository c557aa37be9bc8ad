"""The work on one part: idempotent, and the same wherever it is done. Outputs appear whole, and the mark last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from convcli.files import stores
from convcli.files.framing import Range
from convcli.files.outputs import Output
from convcli.jobs import inputs
from convcli.jobs.converting import InputConversion, Sinks, Summary
from convcli.jobs.documents import finding_of, skipped
from convcli.jobs.inputs import Document, Input, Item, Skipped
from convcli.jobs.judging import JudgingOptions, judge
from convcli.model.errors import ContentError, JobError, RefusedError
from convcli.model.findings import Finding
from convcli.parts.marks import PartMark
from convcli.parts.planning import InputPiece, Part
from convcli.proof.reasons import Loss
from convcli.views.costs import Prices
from convcli.views.statistics import Statistics
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

LOSSES, FINDINGS, REFUSED = "_losses/", "_findings/", "_refused/"
"""Folders of outputs beside the documents."""
BESIDE = (LOSSES, FINDINGS, REFUSED)


def run_part(part: Part) -> PartMark:
    """Convert, judge or count one part, as its task says. Raises ConvcliError when it cannot; then it has no mark."""
    work: dict[str, Callable[[Part], PartMark]] = {
        "convert": convert_part,
        "validate": validate_part,
        "stats": count_part,
    }
    return work[part.task.command](part)


def convert_part(part: Part) -> PartMark:
    """Write the documents of a part in another dialect, what is lost and what is refused of them, and the mark.

    Without `keep_going` a part of which something is refused has no documents. Raises ConvcliError."""
    mark, total, job = PartMark(part), Summary([part.task.source], part.task.target), part.task.job

    def convert(source: Input, piece: InputPiece) -> None:
        run = InputConversion(source, job, lambda _: outputs, sinks)
        try:
            run.take_all()
            if piece.is_whole:
                run.finish()
        finally:
            total.add(run.summary)

    with _outputs(mark) as outputs:
        sinks = Sinks(outputs.loss if part.task.losses == "all" else None, outputs.finding, None, outputs.refuse)
        _each_piece(mark, convert, outputs)
        total.refused += mark.refused
        mark.take(total)
        outputs.has_documents = not mark.failing and (part.task.keep_going or not mark.refused)
        mark.written = mark.transcripts if outputs.has_documents else 0
    return mark


def validate_part(part: Part) -> PartMark:
    """Write what is wrong with the documents of a part, a finding on each line, and the mark. Raises ConvcliError."""
    mark = PartMark(part)

    def validate(source: Input, piece: InputPiece) -> None:
        for verdict in judge(source, _judging(part, piece)):
            if not verdict.is_of_file:
                mark.judged(verdict.findings)
            for finding in verdict.findings:
                outputs.finding(finding)

    with _outputs(mark) as outputs:
        outputs.has_documents = True
        _each_piece(mark, validate, outputs, lambda piece, finding: _judging(part, piece).wants(finding))
        mark.transcripts, mark.refused = mark.transcripts + mark.refused, 0  # each is a verdict too
    return mark


def _judging(part: Part, piece: InputPiece) -> JudgingOptions:
    """How the documents of a piece are judged: some findings may be ignored in its file only."""
    options = part.task.judging
    return options._replace(ignore=options.ignore | piece.ignore, places=piece.places)


def count_part(part: Part) -> PartMark:
    """Count what is in the transcripts of a part, and write it into the mark. Raises ConvcliError."""
    mark, counted = PartMark(part), Statistics(Prices(part.task.prices))

    def count(source: Input, _: InputPiece) -> None:
        for item in source:
            if isinstance(item, Skipped):
                outputs.finding(skipped(item))
                mark.torn, mark.refused = mark.torn + item.torn, mark.refused + (not item.torn)
                continue
            try:
                counted.add(item.lift(), item.dialect.name)
                mark.transcripts += 1
            except RefusedError as error:
                mark.refused += 1
                for finding in error.findings:
                    outputs.finding(finding)
        for note in source.notes:
            outputs.finding(note)

    with _outputs(mark) as outputs:
        _each_piece(mark, count, outputs)
        mark.counts = list(counted.counted())
    return mark


# --- inputs ----------------------------------------------------------------------------------------------------------


def _each_piece(
    mark: PartMark,
    work: Callable[[Input, InputPiece], None],
    outputs: _PartOutputs,
    wants: Callable[[InputPiece, Finding], bool] = lambda *_: True,
) -> None:
    """Open the pieces of a part. A file that cannot be read, or not to its end, is told as a finding, if it is one that
    is wanted, and refused; of a range it is an error, since the lines of the next one are counted on from it."""
    task = mark.part.task
    for piece in mark.part.pieces:
        if stores.facts(piece.file)[1] != piece.version:
            raise JobError("input-changed", "it was changed after the job was planned", file=piece.file)
        try:
            with inputs.opened(piece.file, task.source, duplicate_keys=task.duplicate_keys, nulls=task.nulls) as source:
                before = piece.before if not piece.is_lines or piece.start else 0
                stretch = source if piece.is_whole else source.part(Range(piece.start, piece.stop, before))
                with _counted(mark, source):
                    work(stretch, piece)
        except ContentError as error:
            if not piece.is_whole:
                raise
            finding = finding_of(error)
            if wants(piece, finding):
                outputs.finding(finding)
                mark.refused += 1
            mark.lines += 1  # the rest of the file is one stretch that is refused


@contextmanager
def _counted(mark: PartMark, source: Input) -> Iterator[None]:
    """Count the lines that are read, also of a file that breaks off."""
    try:
        yield
    finally:
        lines, blank = source.lines_read
        mark.lines, mark.blank = mark.lines + lines, mark.blank + blank


# --- outputs ---------------------------------------------------------------------------------------------------------


@contextmanager
def _outputs(mark: PartMark) -> Iterator[_PartOutputs]:
    outputs = _PartOutputs(mark)
    try:
        yield outputs
        outputs.finish()
    finally:
        for output in outputs.opened.values():
            output.discard()


class _PartOutputs:
    """The outputs of a part, each opened when there is something for it; also the one that `converting` writes to."""

    def __init__(self, mark: PartMark) -> None:
        self.name, self.opened, self.has_documents = mark.part.name, dict[str, Output](), False
        self._mark, self._task, self._folder = mark, mark.part.task, stores.folder_at(mark.part.out)
        self._sizes = dict[str, int]()

    def write(self, data: bytes) -> None:
        """Documents in the dialect of the target."""
        self._write("", data)

    def loss(self, loss: Loss) -> None:
        """A loss, on a line."""
        self._write(LOSSES, exact_json.write_line(builtins(loss)))

    def finding(self, finding: Finding) -> None:
        """A finding, on a line: for `validate` this is what was asked for."""
        self._mark.find(finding)
        if self._task.command == "validate":
            self._write("", line_of(finding))
        elif self._task.losses == "all":
            self._write(FINDINGS, line_of(finding))

    def refuse(self, item: Item) -> None:
        """A line that was refused, as it stands in the file; of other files the finding says which it is."""
        raw = item.raw.strip()
        if isinstance(item, Document) and item.line and not raw:  # a row of a table
            raw = exact_json.write(item.original)
        if raw and b"\n" not in raw:
            self._write(REFUSED, raw + b"\n")

    def commit(self) -> None:
        """The part is committed as a whole."""

    def discard(self) -> None:
        """The part is given up as a whole."""

    def finish(self) -> None:
        """Let all outputs appear, take away what else an earlier attempt has left, and then set the mark."""
        name = self._mark.part.name
        wanted = [kind for kind in self.opened if kind or self.has_documents]
        for kind in wanted:
            self.opened[kind].commit()
            self._mark.outputs[kind + name] = self._sizes[kind]
        for kind in {"", *BESIDE}.difference(wanted):
            self._folder.remove(kind + name)
        self._mark.written_to(self._folder)

    def _write(self, kind: str, data: bytes) -> None:
        if kind not in self.opened:
            self.opened[kind], self._sizes[kind] = self._folder.output(kind + self.name), 0
        self._sizes[kind] += len(data)
        self.opened[kind].write(data)


def line_of(finding: Finding) -> bytes:
    """A finding as a line."""
    record: Any = msgspec.to_builtins(finding)
    return exact_json.write_line(record)
