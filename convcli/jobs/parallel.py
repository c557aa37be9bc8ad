"""Conversions and verdicts on several cores: a large file of records is read in ranges, many files side by side.

What comes of it is that of one process, byte by byte: output, losses, findings, restore records, counts, errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from mmap import mmap
from typing import Any

from convcli.files.framing import LAYOUTS
from convcli.files.outputs import Output, Spool
from convcli.jobs import converting as one
from convcli.jobs import workers
from convcli.jobs.converting import InputConversion, Job, RestoreFile, Sinks, Summary
from convcli.jobs.inputs import Input
from convcli.jobs.judging import JudgingOptions, Verdict
from convcli.jobs.judging import judge as judge_one
from convcli.model.findings import Finding


def convert(source: Input, job: Job, output_for: Callable[[str], Output], sinks: Sinks, processes: int = 1) -> Summary:
    """`job.convert`, in several processes where the input is large and the target never writes rows: those of several
    transcripts cannot stand in one file."""
    ranges = [] if LAYOUTS.keys() & set(job.target.framings) else source.ranges(processes)
    if not ranges:
        return one.convert(source, job, output_for, sinks)
    output = output_for(".jsonl")  # what stands in the way of it is told before the work
    run = InputConversion(source, job, lambda _: output, sinks)
    parts, board = [_Part(output) for _ in ranges], SharedCounters(len(ranges))
    source.read_elsewhere = board.total

    def work(number: int, spooled: workers.Emit) -> Summary:
        note = partial(board.note, number)
        return parts[number].convert(source, ranges[number], job, Sinks(sinks.loss and spooled, spooled), note)

    try:
        with workers.forked(work, len(ranges), processes) as all_done:
            for part, done in zip(parts, all_done, strict=True):
                run.join(replayed(done, sinks), part.output, part.records)
        run.finish()
    finally:
        run.discard()
        for part in parts:
            part.discard()
    return run.summary


class SharedCounters:
    """Numbers that processes share with the one that started them: one for each task."""

    def __init__(self, tasks: int) -> None:
        self._numbers = memoryview(mmap(-1, 8 * tasks)).cast("Q")

    def note(self, task: int, number: int) -> None:
        """Let the others see the number of a task."""
        self._numbers[task] = max(number, 0)

    def total(self) -> int:
        """The sum of all numbers."""
        return sum(self._numbers)


class _Part:
    """What a process writes of a range: a piece of the output and one of the restore file."""

    def __init__(self, output: Output) -> None:
        self.output, self.records = Spool(output.folder, output.name), Spool(output.folder)

    def convert(
        self, source: Input, place: tuple[int, int], job: Job, sinks: Sinks, note: Callable[[int], None]
    ) -> Summary:
        """In the process: what came of the range. How far it is goes to `note`."""
        restore = RestoreFile(self.records) if job.restore is not None else None
        part = source.part(*place)
        run = InputConversion(part, job._replace(restore=restore), lambda _: self.output, sinks)
        for step in one.item_results(part, job.target, job.options):
            run.take(step)
            note(part.at - place[0])
        self.output.commit()
        self.records.commit()
        return run.summary

    def discard(self) -> None:
        """Give both up."""
        self.output.discard()
        self.records.discard()


def replayed(done: workers.TaskResult, sinks: Sinks) -> Any:
    """What a conversion in another process gave, after everything that it told is told here."""
    for item in done.emitted():
        if isinstance(item, Finding):
            sinks.finding(item)
        elif sinks.loss is not None:
            sinks.loss(item)
    return done.value()


def judge(source: Input, options: JudgingOptions, processes: int = 1) -> Iterator[Verdict]:
    """`judge.judge`, in several processes where the input is large."""
    ranges = source.ranges(processes)
    if not ranges:
        yield from judge_one(source, options)
        return
    board = SharedCounters(len(ranges))
    source.read_elsewhere = board.total

    def work(number: int, emit: workers.Emit) -> None:
        part = source.part(*ranges[number])
        for verdict in judge_one(part, options):
            emit(verdict)
            board.note(number, part.at - ranges[number][0])

    with workers.forked(work, len(ranges), processes) as all_done:
        for done in all_done:
            yield from verdicts(done)


def verdicts(done: workers.TaskResult) -> Iterator[Verdict]:
    """What judging in another process gave."""
    yield from done.emitted()
    done.value()
