"""Conversions and verdicts on several cores: a large file of records is read in ranges, many files side by side.

What comes of it is that of one process, byte by byte: output, losses, findings, restore records, counts, errors.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from convcli.files.framing import Range
from convcli.files.outputs import Output
from convcli.jobs import converting, inputs, judging
from convcli.jobs.converting import InputConversion, Job, Sinks, Summary
from convcli.jobs.destinations import Folder
from convcli.jobs.inputs import Input, InputFile
from convcli.jobs.judging import JudgingOptions, Verdict
from convcli.jobs.storage import ToldOnce
from convcli.jobs.workers import Emit, TaskResult, all_done
from convcli.model.errors import ConvcliError
from convcli.wire.strict_json import DuplicateKeys

MOST_TOGETHER = 32
"""Files that one process converts one after the other before it is asked again."""

Opened: TypeAlias = Callable[[str], AbstractContextManager[Input]]
"""`inputs.opened` with what the user has told of the inputs."""


def convert(source: Input, job: Job, output_for: Callable[[str], Output], sinks: Sinks, processes: int) -> Summary:
    """`converting.convert`, in several processes where the input is large and the target never writes rows: those of
    several transcripts cannot stand in one file."""
    if not source.is_large or converting.writes_rows(job.target):
        return converting.convert(source, job, output_for, sinks)
    told = ToldOnce()
    run = InputConversion(source, job, output_for, sinks._replace(finding=told.only(sinks.finding)))
    run.open()  # what stands in the way of the output is told before the work
    try:
        with all_done(partial(_convert_range, source, job, _wanted(sinks)), source.ranges(), processes) as each:
            for done in each:
                pieces = list[bytes]()
                run.join(replayed(done, run.sinks_of_more(), pieces.append), pieces)
                source.read_elsewhere += inputs.RANGE
        for note in told.rest():
            sinks.finding(note)
        run.finish()
    finally:
        run.discard()
    return run.summary


class FileResult(NamedTuple):
    """What came of one input that another process has converted, to be replayed before that of the next."""

    task: TaskResult
    emitted: Iterator[tuple[str, Any]]

    def replay(self, sinks: Sinks, write: Callable[[bytes], None] | None = None) -> tuple[Summary, bool]:
        """Its summary, and whether it has grown meanwhile, after everything that it told is told here. Raises what was
        raised."""
        for name, item in self.emitted:
            if name == "error":
                raise item
            if name == "summary":
                done: tuple[Summary, bool] = item
                return done
            _take(name, item, sinks, write)
        self.task.value()
        raise AssertionError("a task is done, and a file of it is not")


@contextmanager
def convert_files(
    files: Sequence[InputFile], opened: Opened, folder: Folder | None, job: Job, sinks: Sinks, processes: int
) -> Iterator[Iterator[FileResult]]:
    """The results of many files, in order, some of them at a time: a process that was asked for each small file would
    spend its time with asking. Without a folder what is written is replayed."""
    batches = list(_batches(files))
    work = partial(_convert_batch, opened, folder, job, _wanted(sinks))
    with all_done(work, batches, min(processes, len(batches))) as each:
        yield _results(each, batches, folder)


def _batches(files: Sequence[InputFile]) -> Iterator[list[InputFile]]:
    """The files in pieces that take about as long as a range of a large file."""
    batch, size = list[InputFile](), 0
    for file in files:
        batch.append(file)
        size += os.path.getsize(file.path)
        if size >= inputs.RANGE or len(batch) == MOST_TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _results(
    each: Iterator[TaskResult], batches: Sequence[Sequence[InputFile]], folder: Folder | None
) -> Iterator[FileResult]:
    for done, batch in zip(each, batches, strict=True):
        emitted = done.emitted()
        for _ in batch:
            yield FileResult(done, emitted)
        failed = done.value()
        if folder is not None:
            folder.batch.failed += failed


def replayed(done: TaskResult, sinks: Sinks, write: Callable[[bytes], None] | None = None) -> Any:
    """What a conversion in another process gave, after everything that it told is told here."""
    for name, item in done.emitted():
        _take(name, item, sinks, write)
    return done.value()


def _take(name: str, item: Any, sinks: Sinks, write: Callable[[bytes], None] | None) -> None:
    take = {"loss": sinks.loss, "finding": sinks.finding, "restore": sinks.restore, "output": write}[name]
    if take is not None:
        take(item)


def _wanted(sinks: Sinks) -> tuple[bool, bool]:
    return sinks.loss is not None, sinks.restore is not None


def _sinks(tells_losses: bool, restores: bool, emit: Emit) -> Sinks:
    """Sinks that tell the program what they take, with the name of the sink."""
    loss, restore = _named("loss", emit) if tells_losses else None, _named("restore", emit) if restores else None
    return Sinks(loss, _named("finding", emit), restore)


def _named(name: str, emit: Emit) -> Any:
    return lambda item: emit((name, item))


def _convert_range(source: Input, job: Job, wanted: tuple[bool, bool], place: Range, emit: Emit) -> Summary:
    part, output = source.part(place), _EmittedOutput(_named("output", emit))
    run = InputConversion(part, job._replace(layout="jsonl", is_joined=True), lambda _: output, _sinks(*wanted, emit))
    run.summary.most_groups = sys.maxsize  # which of them are counted apart depends on the ranges before
    run.take_all()
    return run.summary


def _convert_batch(
    opened: Opened, folder: Folder | None, job: Job, wanted: tuple[bool, bool], batch: list[InputFile], emit: Emit
) -> list[ConvcliError]:
    """Convert some files one after the other; gives what went wrong with outputs that were already complete."""
    for file in batch:
        try:
            emit(("summary", _convert_file(opened, folder, job, _sinks(*wanted, emit), file, emit)))
        except Exception as error:
            emit(("error", error))
    if folder is None:
        return []
    folder.batch.flush()
    failed, folder.batch.failed = folder.batch.failed, []
    return failed


def _convert_file(
    opened: Opened, folder: Folder | None, job: Job, sinks: Sinks, file: InputFile, emit: Emit
) -> tuple[Summary, bool]:
    with opened(file.path) as source:
        if folder is not None:
            return converting.convert_into(source, file, job, folder, sinks), source.grew
        output = _EmittedOutput(_named("output", emit))
        return converting.convert(source, job, lambda _: output, sinks), source.grew


class _EmittedOutput:
    """An output that the program writes."""

    name = ""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.write = write

    def commit(self) -> None:
        """It is complete when the task is."""

    def discard(self) -> None:
        """Nobody uses it when the task has failed."""


# --- verdicts --------------------------------------------------------------------------------------------------------


def judge(source: Input, options: JudgingOptions, processes: int) -> Iterator[Verdict]:
    """`judging.judge`, in several processes where the input is large."""
    if not source.is_large:
        yield from judging.judge(source, options)
        return
    told = ToldOnce()
    with all_done(partial(_judge_range, source, options), source.ranges(), processes) as each:
        for done in each:
            for verdict in verdicts(done):
                findings = list(filter(told.is_other, verdict.findings))
                if not verdict.is_of_file:
                    yield verdict._replace(findings=findings)
            source.read_elsewhere += inputs.RANGE
    notes = list(told.rest())
    if notes:
        yield Verdict(source.name, 0, source.dialect.name, notes, is_of_file=True)


def judge_files(
    tasks: Sequence[tuple[str, str | None, DuplicateKeys, JudgingOptions]], processes: int
) -> AbstractContextManager[Iterator[TaskResult]]:
    """`all_done` of many files, each with what `judging.judge_file` needs for it."""
    return all_done(_judge_file, tasks, min(processes, len(tasks)))


def verdicts(done: TaskResult) -> Iterator[Verdict]:
    """What judging in another process gave."""
    yield from done.emitted()
    done.value()


def _judge_range(source: Input, options: JudgingOptions, place: Range, emit: Emit) -> None:
    for verdict in judging.judge(source.part(place), options):
        emit(verdict)


def _judge_file(task: tuple[str, str | None, DuplicateKeys, JudgingOptions], emit: Emit) -> None:
    for verdict in judging.judge_file(*task):
        emit(verdict)
