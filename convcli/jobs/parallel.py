"""Runs conversions and verdicts on several cores: large files of records in ranges, many files side by side.

The result is byte for byte that of one process: output, losses, findings, restore records, counts, errors. Pieces are
cut and processed as for a job in parts; their results go to the program, or into a folder.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

from msgspec.structs import replace

from convcli.files import stores
from convcli.jobs import converting, inputs, judging
from convcli.jobs.converting import InputConversion, Job, Sinks, SplitConversion
from convcli.jobs.destinations import Folder
from convcli.jobs.file_findings import ReportedOnce
from convcli.jobs.inputs import Input
from convcli.jobs.judging import JudgingOptions, Verdict
from convcli.jobs.paths import InputFile
from convcli.jobs.pieces import InputPiece, bundled, cut
from convcli.jobs.running import Opened, PieceResult, convert_piece, judge_piece
from convcli.jobs.summaries import Summary
from convcli.jobs.workers import Emit, TaskResult, all_done
from convcli.model.errors import ConvcliError

RANGES = 16
"""Ranges of a large file per process: enough to finish at about the same time, at some cost for each."""
MOST_RANGE = 4 << 20
"""Maximum bytes of a file that a process reads at a time."""
MOST_TOGETHER = 32
"""Files that one process handles per task."""

OpenedFile: TypeAlias = Callable[[str], AbstractContextManager[Input]]
"""`inputs.opened` with the user's options."""
Wanted: TypeAlias = tuple[bool, bool]
"""Whether losses and restore records are wanted."""


# --- ranges of a large file ------------------------------------------------------------------------------------------


def completed(run: InputConversion | SplitConversion, processes: int) -> Summary:
    """Like `converting.completed`, in several processes if the input is large.

    One process is used if the target writes rows: those of several transcripts cannot be in one file.
    """
    ranges = _ranges(run.source, processes) if not converting.writes_rows(run.job.target) else None
    if ranges is None or isinstance(run, SplitConversion):
        return converting.completed(run)
    once, report = ReportedOnce(), run.sinks.finding
    run.sinks = replace(run.sinks, finding=once.only(report))
    run.open()  # reports output errors before the work
    try:
        with all_done(partial(convert_range, run.source, run.job, _wanted(run.sinks)), ranges, processes) as each:
            for done in each:
                _join(run, done)
        for note in once.rest():
            report(note)
        run.finish()
    finally:
        run.discard()
    return run.summary


def judge(source: Input, options: JudgingOptions, processes: int) -> Iterator[Verdict]:
    """Like `judging.judge`, in several processes if the input is large."""
    ranges, once = _ranges(source, processes), ReportedOnce()
    if ranges is None:
        yield from judging.judge(source, options)
        return
    with all_done(partial(judge_range, source, options), ranges, processes) as each:
        for done in each:
            for verdict in done.emitted():
                findings = list(filter(once.is_other, verdict.findings))
                if not verdict.is_of_file:
                    yield verdict._replace(findings=findings)
            source.read_elsewhere += done.value().piece.size
    notes = list(once.rest())
    if notes:
        yield Verdict(source.name, 0, source.dialect.name, notes, is_of_file=True)


def _ranges(source: Input, processes: int) -> Iterator[InputPiece] | None:
    """Yields the pieces of a large input while the first are processed; lines are counted here."""
    if not source.is_large:
        return None
    size = max(inputs.RANGE, min(source.size // (RANGES * processes), MOST_RANGE))
    pieces = cut(InputPiece(source.name, "", source.size), source, size, counts=True)
    first = next(pieces)
    return None if first.is_whole else chain([first], pieces)


def _join(run: InputConversion, done: TaskResult) -> None:
    """Takes the results of a range; of a failed one, what it reported before."""
    sinks = run.sinks_of_more()
    write = None if done.has_failed else run.join(done.value().summary)
    take = _taking(sinks, write)
    for name, item in done.emitted():
        take[name](item)
    run.source.read_elsewhere += done.value().piece.size


def convert_range(source: Input, job: Job, wanted: Wanted, piece: InputPiece, emit: Emit) -> PieceResult:
    """Converts a piece of an open input and emits the results."""
    job = replace(job, layout="jsonl", is_joined=True)

    def conversion(part: Input) -> InputConversion:
        run = InputConversion(part, job, lambda _: _EmittedOutput(emit), _sinks(wanted, emit))
        run.summary.most_groups = sys.maxsize  # earlier ranges decide which groups are counted separately
        return run

    return convert_piece(piece, lambda _: nullcontext(source), conversion)


def judge_range(source: Input, options: JudgingOptions, piece: InputPiece, emit: Emit) -> PieceResult:
    """Judges a piece of an open input and emits the verdicts."""
    return _judge(lambda _: nullcontext(source), options, piece, emit)


def _judge(opened: Opened, options: JudgingOptions, piece: InputPiece, emit: Emit) -> PieceResult:
    result = PieceResult(piece)
    for verdict in judge_piece(result, opened, options):
        emit(verdict)
    return result


# --- many files ------------------------------------------------------------------------------------------------------


@contextmanager
def convert_files(
    files: Sequence[InputFile], opened: OpenedFile, folder: Folder | None, job: Job, sinks: Sinks, processes: int
) -> Iterator[Iterator[Iterator[Any]]]:
    """Yields the reports on many files, in order, several processed at a time; without a folder, their output too.

    `replayed` consumes them and returns the summary of the file.
    """
    bundles = list(_bundles((file.path, file) for file in files))
    work = partial(_convert_files, opened, folder, job, _wanted(sinks))
    with all_done(work, bundles, min(processes, len(bundles))) as each:
        yield _reports(each, bundles, folder)


@contextmanager
def judge_files(
    files: Sequence[tuple[str, JudgingOptions]], opened: OpenedFile, processes: int
) -> Iterator[Iterator[Iterator[Verdict]]]:
    """Yields the verdicts on many files, in order, several processed at a time."""
    bundles = list(_bundles(files))
    with all_done(partial(_judge_files, opened), bundles, min(processes, len(bundles))) as each:
        yield (_verdicts(items) for items in _reports(each, bundles))


def replayed(items: Iterator[Any], sinks: Sinks, write: Callable[[bytes], None] | None = None) -> tuple[Summary, bool]:
    """Replays the reports of a file's conversion; returns its summary, and whether the file has grown.

    Raises what the conversion raised.
    """
    take = _taking(sinks, write)
    for item in items:
        if isinstance(item, PieceResult):
            assert item.summary is not None
            return item.summary, item.grew
        name, value = item
        take[name](value)
    raise AssertionError("a file is done but has no result")


def _verdicts(items: Iterator[Any]) -> Iterator[Verdict]:
    return (item for item in items if not isinstance(item, PieceResult))


def _bundles(files: Iterable[tuple[str, Any]]) -> Iterator[list[tuple[InputPiece, Any]]]:
    """Groups files so that a group takes about as long as a range of a large file.

    A separate request for each small file would take most of the time.
    """
    each = list(files)
    extras = (more for _, more in each)
    pieces = ([InputPiece(path, "", stores.facts(path)[0])] for path, _ in each)
    for bundle in bundled(pieces, inputs.RANGE, MOST_TOGETHER):
        yield list(zip(bundle, extras, strict=False))


def _reports(
    each: Iterator[TaskResult], bundles: Sequence[Sequence[Any]], folder: Folder | None = None
) -> Iterator[Iterator[Any]]:
    """Yields the reports on each file. The folder keeps errors of outputs that were complete."""
    for done, bundle in zip(each, bundles, strict=True):
        emitted = done.emitted()
        for _ in bundle:
            items = _of_file(emitted, done)
            yield items
            with suppress(Exception):
                deque(items, maxlen=0)  # skips what was not consumed
        outcome = done.value()
        if folder is not None:
            failed, shown = outcome
            folder.batch.failed += failed
            folder.batch.shown += shown


def _of_file(emitted: Iterator[Any], done: TaskResult) -> Iterator[Any]:
    """Yields the reports on one file up to its result. Raises what was raised."""
    for item in emitted:
        if isinstance(item, Exception):
            raise item
        yield item
        if isinstance(item, PieceResult):
            return
    done.value()


def _convert_files(
    opened: OpenedFile,
    folder: Folder | None,
    job: Job,
    wanted: Wanted,
    files: Sequence[tuple[InputPiece, InputFile]],
    emit: Emit,
) -> tuple[list[ConvcliError], list[str]]:
    """Converts some files in sequence; returns errors of complete outputs, and the names of those that appeared."""

    def conversion(file: InputFile, source: Input) -> InputConversion | SplitConversion:
        sinks = _sinks(wanted, emit)
        if folder is not None:
            return converting.into_folder(source, file, job, folder, sinks)
        return InputConversion(source, job, lambda _: _EmittedOutput(emit), sinks)

    for piece, file in files:
        _emit_result(emit, partial(convert_piece, piece, lambda piece: opened(piece.file), partial(conversion, file)))
    if folder is None:
        return [], []
    batch = folder.batch
    batch.flush()
    done, batch.failed, batch.shown = (batch.failed, batch.shown), [], []
    return done


def _judge_files(opened: OpenedFile, files: Sequence[tuple[InputPiece, JudgingOptions]], emit: Emit) -> None:
    for piece, options in files:
        _emit_result(emit, partial(_judge, lambda piece: opened(piece.file), options, piece, emit))


def _emit_result(emit: Emit, work: Callable[[], PieceResult]) -> None:
    """Does the work on a file and emits the result or the exception, so that other files are still processed."""
    try:
        result = work()
    except Exception as error:
        emit(error)
    else:
        emit(result.error or result)


# --- what crosses ----------------------------------------------------------------------------------------------------


def _taking(sinks: Sinks, write: Callable[[bytes], None] | None) -> dict[str, Callable[[Any], object]]:
    """Maps the names of reports to the sinks that take them."""
    takers = {"loss": sinks.loss, "finding": sinks.finding, "restore": sinks.restore, "output": write}
    return {name: take or _unwanted for name, take in takers.items()}


def _unwanted(_: Any) -> None:
    """Ignores an item."""


def _wanted(sinks: Sinks) -> Wanted:
    return sinks.loss is not None, sinks.restore is not None


def _sinks(wanted: Wanted, emit: Emit) -> Sinks:
    """Returns sinks that emit what they take, with the name of the sink."""
    wants_losses, restores = wanted
    loss, restore = _named("loss", emit) if wants_losses else None, _named_bytes("restore", emit) if restores else None
    return Sinks(loss, _named("finding", emit), restore)


def _named(name: str, emit: Emit) -> Any:
    return lambda item: emit((name, item))


def _named_bytes(name: str, emit: Emit) -> Callable[[bytes], None]:
    return lambda data: emit((name, data), len(data))


class _EmittedOutput:
    """An output that the main process writes."""

    name = ""

    def __init__(self, emit: Emit) -> None:
        self.write = _named_bytes("output", emit)

    def commit(self) -> None:
        """Does nothing: the output is complete when the task is."""

    def discard(self) -> None:
        """Does nothing: the output of a failed task is not used."""
