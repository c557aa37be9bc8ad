"""Conversions and verdicts on several cores: a large file of records is read in ranges, many files side by side.

What comes of it is that of one process, byte by byte: output, losses, findings, restore records, counts, errors. The
pieces are cut and worked on as those of a job in parts are; what comes of each goes to the program, or into a folder.
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
from convcli.jobs.converting import InputConversion, Job, Sinks, SplitConversion, Summary
from convcli.jobs.destinations import Folder
from convcli.jobs.inputs import Input, InputFile
from convcli.jobs.judging import JudgingOptions, Verdict
from convcli.jobs.pieces import InputPiece, bundled, cut
from convcli.jobs.running import Opened, PieceResult, convert_piece, judge_piece
from convcli.jobs.storage import ToldOnce
from convcli.jobs.workers import Emit, TaskResult, all_done
from convcli.model.errors import ConvcliError

RANGES = 16
"""Ranges of a large file for each process: they end at about the same time, and each costs some handing over."""
MOST_RANGE = 4 << 20
"""Bytes of a file that a process reads at a time, where it is very large."""
MOST_TOGETHER = 32
"""Files that one process works on one after the other before it is asked again."""

OpenedFile: TypeAlias = Callable[[str], AbstractContextManager[Input]]
"""`inputs.opened` with what the user has told of the inputs."""
Wanted: TypeAlias = tuple[bool, bool]
"""Are losses asked for, and restore records?"""


# --- ranges of a large file ------------------------------------------------------------------------------------------


def completed(run: InputConversion | SplitConversion, processes: int) -> Summary:
    """`converting.completed`, in several processes where the input is large and the target never writes rows: those of
    several transcripts cannot stand in one file."""
    ranges = _ranges(run.source, processes) if not converting.writes_rows(run.job.target) else None
    if ranges is None or isinstance(run, SplitConversion):
        return converting.completed(run)
    told, tell = ToldOnce(), run.sinks.finding
    run.sinks = replace(run.sinks, finding=told.only(tell))
    run.open()  # what stands in the way of the output is told before the work
    try:
        with all_done(partial(convert_range, run.source, run.job, _wanted(run.sinks)), ranges, processes) as each:
            for done in each:
                _join(run, done)
        for note in told.rest():
            tell(note)
        run.finish()
    finally:
        run.discard()
    return run.summary


def judge(source: Input, options: JudgingOptions, processes: int) -> Iterator[Verdict]:
    """`judging.judge`, in several processes where the input is large."""
    ranges, told = _ranges(source, processes), ToldOnce()
    if ranges is None:
        yield from judging.judge(source, options)
        return
    with all_done(partial(judge_range, source, options), ranges, processes) as each:
        for done in each:
            for verdict in done.emitted():
                findings = list(filter(told.is_other, verdict.findings))
                if not verdict.is_of_file:
                    yield verdict._replace(findings=findings)
            source.read_elsewhere += done.value().piece.size
    notes = list(told.rest())
    if notes:
        yield Verdict(source.name, 0, source.dialect.name, notes, is_of_file=True)


def _ranges(source: Input, processes: int) -> Iterator[InputPiece] | None:
    """The pieces of an input that is worth several processes. They are made while the first are worked on, so lines are
    counted here."""
    if not source.is_large:
        return None
    size = max(inputs.RANGE, min(source.size // (RANGES * processes), MOST_RANGE))
    pieces = cut(InputPiece(source.name, "", source.size), source, size, counts=True)
    first = next(pieces)
    return None if first.is_whole else chain([first], pieces)


def _join(run: InputConversion, done: TaskResult) -> None:
    """Take what came of a range; of one that has failed, what was told before."""
    sinks = run.sinks_of_more()
    write = None if done.has_failed else run.join(done.value().summary)
    take = _taking(sinks, write)
    for name, item in done.emitted():
        take[name](item)
    run.source.read_elsewhere += done.value().piece.size


def convert_range(source: Input, job: Job, wanted: Wanted, piece: InputPiece, emit: Emit) -> PieceResult:
    """Convert a piece of an input that is open, and emit what comes of it."""
    job = replace(job, layout="jsonl", is_joined=True)

    def conversion(part: Input) -> InputConversion:
        run = InputConversion(part, job, lambda _: _EmittedOutput(emit), _sinks(wanted, emit))
        run.summary.most_groups = sys.maxsize  # which of them are counted apart depends on the ranges before
        return run

    return convert_piece(piece, lambda _: nullcontext(source), conversion)


def judge_range(source: Input, options: JudgingOptions, piece: InputPiece, emit: Emit) -> PieceResult:
    """Judge a piece of an input that is open, and emit the verdicts."""
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
    """What is told of many files, in order, some of them at a time; without a folder also what is written. `replayed`
    takes it, and gives what came of the file."""
    bundles = list(_bundles((file.path, file) for file in files))
    work = partial(_convert_files, opened, folder, job, _wanted(sinks))
    with all_done(work, bundles, min(processes, len(bundles))) as each:
        yield _told(each, bundles, folder)


@contextmanager
def judge_files(
    files: Sequence[tuple[str, JudgingOptions]], opened: OpenedFile, processes: int
) -> Iterator[Iterator[Iterator[Verdict]]]:
    """The verdicts on many files, in order, some of them at a time."""
    bundles = list(_bundles(files))
    with all_done(partial(_judge_files, opened), bundles, min(processes, len(bundles))) as each:
        yield (_verdicts(items) for items in _told(each, bundles))


def replayed(items: Iterator[Any], sinks: Sinks, write: Callable[[bytes], None] | None = None) -> tuple[Summary, bool]:
    """The summary of a file, and whether it has grown meanwhile, after everything that its conversion told is told
    here. Raises what was raised."""
    take = _taking(sinks, write)
    for item in items:
        if isinstance(item, PieceResult):
            assert item.summary is not None
            return item.summary, item.grew
        name, value = item
        take[name](value)
    raise AssertionError("a file is done, and nothing came of it")


def _verdicts(items: Iterator[Any]) -> Iterator[Verdict]:
    return (item for item in items if not isinstance(item, PieceResult))


def _bundles(files: Iterable[tuple[str, Any]]) -> Iterator[list[tuple[InputPiece, Any]]]:
    """Files, each with what is needed for it, some together that take about as long as a range of a large file: a
    process that was asked for each small file would spend its time with asking."""
    each = list(files)
    beside = (more for _, more in each)
    pieces = ([InputPiece(path, "", stores.facts(path)[0])] for path, _ in each)
    for bundle in bundled(pieces, inputs.RANGE, MOST_TOGETHER):
        yield list(zip(bundle, beside, strict=False))


def _told(
    each: Iterator[TaskResult], bundles: Sequence[Sequence[Any]], folder: Folder | None = None
) -> Iterator[Iterator[Any]]:
    """What was told of one file after the other. The folder keeps what went wrong with outputs that were complete."""
    for done, bundle in zip(each, bundles, strict=True):
        emitted = done.emitted()
        for _ in bundle:
            items = _of_file(emitted, done)
            yield items
            with suppress(Exception):
                deque(items, maxlen=0)  # what nobody wanted of it
        failed = done.value()
        if folder is not None:
            folder.batch.failed += failed


def _of_file(emitted: Iterator[Any], done: TaskResult) -> Iterator[Any]:
    """What was told of one file, up to what came of it. Raises what was raised."""
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
) -> list[ConvcliError]:
    """Convert some files one after the other; gives what went wrong with outputs that were already complete."""

    def conversion(file: InputFile, source: Input) -> InputConversion | SplitConversion:
        sinks = _sinks(wanted, emit)
        if folder is not None:
            return converting.into_folder(source, file, job, folder, sinks)
        return InputConversion(source, job, lambda _: _EmittedOutput(emit), sinks)

    for piece, file in files:
        _emit_result(emit, partial(convert_piece, piece, lambda piece: opened(piece.file), partial(conversion, file)))
    if folder is None:
        return []
    folder.batch.flush()
    failed, folder.batch.failed = folder.batch.failed, []
    return failed


def _judge_files(opened: OpenedFile, files: Sequence[tuple[InputPiece, JudgingOptions]], emit: Emit) -> None:
    """Judge some files one after the other."""
    for piece, options in files:
        _emit_result(emit, partial(_judge, lambda piece: opened(piece.file), options, piece, emit))


def _emit_result(emit: Emit, work: Callable[[], PieceResult]) -> None:
    """Do the work on a file, and emit what came of it, or what was raised: the others are done all the same."""
    try:
        result = work()
    except Exception as error:
        emit(error)
    else:
        emit(result.error or result)


# --- what crosses ----------------------------------------------------------------------------------------------------


def _taking(sinks: Sinks, write: Callable[[bytes], None] | None) -> dict[str, Callable[[Any], object]]:
    """What takes the things that are told, by the name that they are told with."""
    takers = {"loss": sinks.loss, "finding": sinks.finding, "restore": sinks.restore, "output": write}
    return {name: take or _unwanted for name, take in takers.items()}


def _unwanted(_: Any) -> None:
    """Nobody takes it."""


def _wanted(sinks: Sinks) -> Wanted:
    return sinks.loss is not None, sinks.restore is not None


def _sinks(wanted: Wanted, emit: Emit) -> Sinks:
    """Sinks that tell the program what they take, with the name of the sink."""
    tells_losses, restores = wanted
    loss, restore = _named("loss", emit) if tells_losses else None, _named("restore", emit) if restores else None
    return Sinks(loss, _named("finding", emit), restore)


def _named(name: str, emit: Emit) -> Any:
    return lambda item: emit((name, item))


class _EmittedOutput:
    """An output that the program writes."""

    name = ""

    def __init__(self, emit: Emit) -> None:
        self.write = _named("output", emit)

    def commit(self) -> None:
        """It is complete when the task is."""

    def discard(self) -> None:
        """Nobody uses it when the task has failed."""
