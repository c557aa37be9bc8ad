"""Conversions and verdicts on several cores: a large file of records is read in ranges, many files side by side.

What comes of it is that of one process, byte by byte: output, losses, findings, restore records, counts, errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeAlias

from convcli.files.framing import LAYOUTS
from convcli.files.outputs import Output
from convcli.jobs import converting, inputs, judging
from convcli.jobs.converting import Folder, InputConversion, Job, Sinks, Summary
from convcli.jobs.inputs import Input, InputFile, Range
from convcli.jobs.judging import JudgingOptions, Verdict
from convcli.jobs.workers import Emit, TaskResult, all_done
from convcli.wire.strict_json import DuplicateKeys

Opened: TypeAlias = Callable[[str], AbstractContextManager[Input]]
"""`inputs.opened` with what the user has told of the inputs."""


def convert(source: Input, job: Job, output_for: Callable[[str], Output], sinks: Sinks, processes: int) -> Summary:
    """`converting.convert`, in several processes where the input is large and the target never writes rows: those of
    several transcripts cannot stand in one file."""
    if not source.is_large or LAYOUTS.keys() & set(job.target.framings):
        return converting.convert(source, job, output_for, sinks)
    output = output_for(".jsonl")  # what stands in the way of it is told before the work
    run = InputConversion(source, job, lambda _: output, sinks)
    try:
        with all_done(partial(_convert_range, source, job, _wanted(sinks)), source.ranges(), processes) as each:
            for done in each:
                pieces = list[bytes]()
                run.join(replayed(done, run.sinks_of_more(), pieces.append), pieces)
                source.read_elsewhere += inputs.RANGE
        run.finish()
    finally:
        run.discard()
    return run.summary


def convert_files(
    files: Sequence[InputFile], opened: Opened, folder: Folder, job: Job, sinks: Sinks, processes: int
) -> AbstractContextManager[Iterator[TaskResult]]:
    """`all_done` of many files: of each its summary, and whether it has grown meanwhile."""
    return all_done(partial(_convert_file, opened, folder, job, _wanted(sinks)), files, min(processes, len(files)))


def replayed(done: TaskResult, sinks: Sinks, write: Callable[[bytes], None] | None = None) -> Any:
    """What a conversion in another process gave, after everything that it told is told here."""
    takers = {"loss": sinks.loss, "finding": sinks.finding, "restore": sinks.restore, "output": write}
    for name, item in done.emitted():
        if (take := takers[name]) is not None:
            take(item)
    return done.value()


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
    run = InputConversion(part, job, lambda _: output, _sinks(*wanted, emit))
    for step in converting.item_results(part, job.target, job.options):
        run.take(step)
    return run.summary


def _convert_file(
    opened: Opened, folder: Folder, job: Job, wanted: tuple[bool, bool], file: InputFile, emit: Emit
) -> tuple[Summary, bool]:
    with opened(file.path) as source:
        return converting.convert(source, job, partial(folder.output, file), _sinks(*wanted, emit)), source.grew


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
    with all_done(partial(_judge_range, source, options), source.ranges(), processes) as each:
        for done in each:
            yield from verdicts(done)
            source.read_elsewhere += inputs.RANGE


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
