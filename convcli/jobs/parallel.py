"""Conversions and verdicts on several cores: a large file of records is read in ranges, many files side by side.

What comes of it is that of one process, byte by byte: output, losses, findings, restore records, counts, errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from convcli.files.framing import LAYOUTS
from convcli.files.outputs import Output
from convcli.jobs import converting as one
from convcli.jobs import inputs, judging
from convcli.jobs.converting import Folder, InputConversion, Job, RestoreFile, Sinks, Summary
from convcli.jobs.inputs import Input, InputFile, Range
from convcli.jobs.judging import JudgingOptions, Verdict
from convcli.jobs.workers import Emit, TaskResult, all_done
from convcli.model.findings import Finding
from convcli.wire.strict_json import DuplicateKeys


def convert(source: Input, job: Job, output_for: Callable[[str], Output], sinks: Sinks, processes: int) -> Summary:
    """`job.convert`, in several processes where the input is large and the target never writes rows: those of several
    transcripts cannot stand in one file."""
    if not source.is_large or LAYOUTS.keys() & set(job.target.framings):
        return one.convert(source, job, output_for, sinks)
    output = output_for(".jsonl")  # what stands in the way of it is told before the work
    run = InputConversion(source, job, lambda _: output, sinks)
    try:
        with all_done(partial(_convert_range, source, *_sendable(job, sinks)), source.ranges(), processes) as each:
            for done in each:
                run.join(*replayed(done, sinks, job.restore))
                source.read_elsewhere += inputs.RANGE
        run.finish()
    finally:
        run.discard()
    return run.summary


def convert_files(
    files: Sequence[InputFile],
    dialect: str | None,
    duplicate_keys: DuplicateKeys,
    folder: Folder,
    job: Job,
    sinks: Sinks,
    processes: int,
) -> AbstractContextManager[Iterator[TaskResult]]:
    """`all_done` of many files: of each its summary, and whether it has grown meanwhile."""
    work = partial(_convert_file, dialect, duplicate_keys, folder, *_sendable(job, sinks))
    return all_done(work, files, min(processes, len(files)))


def replayed(done: TaskResult, sinks: Sinks, restore: RestoreFile | None) -> Any:
    """What a conversion in another process gave, after everything that it told is told here."""
    for item in done.emitted():
        if isinstance(item, Finding):
            sinks.finding(item)
        elif isinstance(item, bytes):
            assert restore is not None
            restore.append(item)
        elif sinks.loss is not None:
            sinks.loss(item)
    return done.value()


def _sendable(job: Job, sinks: Sinks) -> tuple[Job, bool, bool]:
    """A job without what only this process has, and whether restore records and losses are wanted."""
    return job._replace(restore=None), job.restore is not None, sinks.loss is not None


def _received(job: Job, restores: bool, tells_losses: bool, emit: Emit) -> tuple[Job, Sinks]:
    restore = RestoreFile(_Sink(emit)) if restores else None
    return job._replace(restore=restore), Sinks(emit if tells_losses else None, emit)


def _convert_range(
    source: Input, job: Job, restores: bool, tells_losses: bool, place: Range, emit: Emit
) -> tuple[Summary, bytes]:
    """What came of the records that begin in a range, and what the output gets of them."""
    pieces = list[bytes]()
    part, (job, sinks) = source.part(place), _received(job, restores, tells_losses, emit)
    run = InputConversion(part, job, lambda _: _Sink(pieces.append), sinks)
    for step in one.item_results(part, job.target, job.options):
        run.take(step)
    return run.summary, b"".join(pieces)


def _convert_file(
    dialect: str | None,
    duplicate_keys: DuplicateKeys,
    folder: Folder,
    job: Job,
    restores: bool,
    tells_losses: bool,
    file: InputFile,
    emit: Emit,
) -> tuple[Summary, bool]:
    job, sinks = _received(job, restores, tells_losses, emit)
    with inputs.opened(file.path, dialect, duplicate_keys=duplicate_keys) as source:
        return one.convert(source, job, partial(folder.output, file), sinks), source.grew


class _Sink:
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
    """`judge.judge`, in several processes where the input is large."""
    if not source.is_large:
        yield from judging.judge(source, options)
        return
    with all_done(partial(_judge_range, source, options), source.ranges(), processes) as each:
        for done in each:
            yield from verdicts(done)
            source.read_elsewhere += inputs.RANGE


def judge_files(
    tasks: Sequence[tuple[str, str | None, DuplicateKeys, JudgingOptions]], processes: int
) -> AbstractContextManager[Iterator[TaskResult]]:
    """`all_done` of many files, each with what `judge.judge_file` needs for it."""
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
