"""Begins and finishes a job in parts: prepares the folder, renumbers lines, writes the report and `_SUCCESS`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from convcli.files.claims import CLAIMS
from convcli.files.stores import OutputFolder, folder_at
from convcli.jobs.file_findings import ReportedOnce
from convcli.jobs.summaries import Summary
from convcli.model.errors import JobError
from convcli.model.findings import OF_FILE, Finding
from convcli.model.version import __version__
from convcli.parts.attempts import failure_of
from convcli.parts.marks import PartMark, PartTotals, finished, with_lines_moved
from convcli.parts.planning import FINDINGS, LOSSES, MARK_NAME, OUTPUT_NAME, Part, files_of
from convcli.parts.work import finding_line
from convcli.views.statistics import Counted, Statistics
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

JOB, REPORT, SUCCESS = "_done/job.json", "_report.json", "_SUCCESS"
_FAILED = "_failed/"


class PartReport(msgspec.Struct, frozen=True):
    """What became of a part: `bytes` of input, and for one that is missing the `reason`, as "code: message"."""

    part: int
    bytes: int
    attempts: int
    seconds: float
    reason: str = ""


class Report(msgspec.Struct):
    """The result of a job, with lines as in the files.

    `totals`: the sums of its marks · `source`: None if each file has its own dialect · `missing` parts have no mark ·
    `counts`: those of `stats` · `by_part` is only in the file."""

    command: str
    source: str | None
    parts: int
    totals: PartTotals
    version: str = __version__
    missing: list[int] = []
    counts: list[Counted] = []
    by_part: list[PartReport] = []

    def severe(self, severity: str) -> int:
        """Counts the findings of this severity."""
        return sum(group.count for group in self.totals.findings if group.severity == severity)

    def as_json(self) -> dict[str, Any]:
        """Returns the content of the file: one object with all counters, in which the parts stand last."""
        record: dict[str, Any] = builtins(self)
        totals, by_part = record.pop("totals"), record.pop("by_part")
        summary = totals.pop("summary") | {"refused": self.totals.refused}
        losses, _ = list(summary.pop("groups").values()), summary.pop("most_groups")
        return {**record, **summary, **totals, "losses": losses, "by_part": by_part}


def begin(parts: Sequence[Part], *, force: bool = False, is_shared: bool = False) -> None:
    """Prepares the folder of a job: removes success markers, and files that belong to no part.

    `is_shared`: other processes do other parts of the job at the same time, and may have prepared the folder.

    Raises JobError `output-exists` for a folder with other content, unless `force`."""
    if not parts:
        raise JobError("no-input", "there is nothing to do")
    first = parts[0]
    out, task = first.out, first.task
    folder = folder_at(out)
    job = exact_json.write_line({"command": task.command, "target": task.target})
    if is_shared and _read(folder, JOB) == job:
        for name in (SUCCESS, REPORT):
            folder.remove(name)
        return
    if not is_shared:
        _remove_unfinished(folder)
    names = [name for name in folder.sizes() if not name.startswith(CLAIMS)]
    before = _read(folder, JOB)
    is_same = before == job
    if names and not is_same and not force:
        content = "files that are not parts" if before is None else "another job"
        raise JobError("output-exists", f"{out} contains {content}", help="--force writes into it anyway")
    for name in (SUCCESS, REPORT):
        if name in names:
            folder.remove(name)
    for name in names:
        match = OUTPUT_NAME.fullmatch(name) or MARK_NAME.fullmatch(name)
        if (match is not None and int(match[match.lastindex or 0]) >= len(parts)) or name.startswith(_FAILED):
            folder.remove(name)
    if not is_same:
        put(folder, JOB, job, files_of(parts))


def finish(parts: Sequence[Part]) -> Report:
    """Renumbers lines in the outputs of the parts, and writes the report.

    `_SUCCESS` is written too, if no part is missing and nothing unacceptable was refused. Raises OutputError, and
    JobError if a mark cannot be read.
    """
    folder = folder_at(parts[0].out)
    report = merged(_counted_through(finished(parts, asks=True), folder), parts)
    report.by_part += _failures(report.missing, parts, folder)
    report.by_part.sort(key=lambda each: each.part)
    totals = report.totals
    is_good = not totals.summary.failing and (parts[0].task.keep_going or not totals.refused)
    files = files_of(parts)
    put(folder, REPORT, exact_json.write(report.as_json(), indent=True) + b"\n", files)
    _remove_unfinished(folder)
    if is_good and not report.missing:
        put(folder, SUCCESS, b"", files)
    return report


def _remove_unfinished(folder: OutputFolder) -> None:
    """Removes what killed processes left of outputs of a job: no other process writes them now."""
    for output in list(folder.unfinished()):
        if is_of_job(output.name):
            output.remove()


def is_of_job(name: str) -> bool:
    """True for the name of a file that a job writes into its folder."""
    is_of_part = OUTPUT_NAME.fullmatch(name) or MARK_NAME.fullmatch(name) or name.startswith(_FAILED)
    return bool(is_of_part) or name in (JOB, REPORT, SUCCESS)


def _failures(missing: Iterable[int], parts: Sequence[Part], folder: OutputFolder) -> Iterator[PartReport]:
    for number in missing:
        size, failure = parts[number].size, failure_of(parts[number], folder)
        if failure is None:
            yield PartReport(number, size, 0, 0, "unknown: the part has no mark, and no error is recorded")
        else:
            reason = f"{failure.code}: {failure.message}"
            yield PartReport(number, size, failure.attempts, failure.seconds, reason)


def _read(folder: OutputFolder, name: str) -> bytes | None:
    """Returns the content of an output, None if it does not exist."""
    return None if folder.size(name) is None else next(folder.read([name]))


def merged(marks: Iterable[PartMark], parts: Sequence[Part]) -> Report:
    """Returns the report of all parts; marks are read one at a time."""
    task = parts[0].task
    report = Report(task.command, task.source, len(parts), PartTotals(Summary([], task.target)))
    statistics, done = Statistics(), set[int]()
    for mark in marks:
        done.add(mark.part.number)
        report.by_part.append(PartReport(mark.part.number, mark.part.size, mark.attempts, mark.seconds))
        report.totals.add(mark.totals)
        statistics.add_counted(mark.counts)
    report.totals.summary.sources = report.totals.summary.sources or ([] if task.source is None else [task.source])
    report.counts = list(statistics.counted())
    report.missing = [part.number for part in parts if part.number not in done]
    return report


# --- lines -----------------------------------------------------------------------------------------------------------


def _counted_through(marks: Iterable[PartMark], folder: OutputFolder) -> Iterator[PartMark]:
    """Yields the marks with lines as in the files: those of a range follow those of the ranges before it."""
    lines, expected = 0, -1
    for mark in _with_notes(marks, folder):
        piece = mark.pieces[0]
        if not piece.is_uncounted:
            lines = 0
        elif mark.part.number == expected:
            _number(mark, lines, folder)
        else:  # the part before it is missing
            yield mark
            continue
        lines, expected = lines + mark.totals.lines, mark.part.number + 1
        yield mark


def _number(mark: PartMark, before: int, folder: OutputFolder) -> None:
    """Adds the number of lines before a range to its files, unless already done, and to the mark in memory."""
    if mark.before != before:
        more, mark.before = before - mark.before, before
        _rewrite(mark, _lists(mark, LOSSES, FINDINGS), folder, lambda records: with_lines_moved(records, more))
    for group in mark.totals.summary.groups.values():
        group.first.line += before if group.first.line else 0
    for count in mark.totals.findings:
        count.first = [_moved(finding, before) for finding in count.first]


def _with_notes(marks: Iterable[PartMark], folder: OutputFolder) -> Iterator[PartMark]:
    """Yields the marks; findings reported once per file are kept only in the last part of a cut file."""
    last: PartMark | None = None
    once = ReportedOnce()
    for mark in marks:
        if last is not None:
            is_end = last.part.pieces[-1].file != mark.part.pieces[0].file
            _set_notes(last, list(once.rest()) if is_end else [], folder)
            yield last
        last = mark
        if not mark.pieces[0].is_whole:
            for group in mark.totals.findings:
                deque(map(once.is_other, group.first), maxlen=0)
    if last is not None:
        _set_notes(last, list(once.rest()), folder)
        yield last


def _set_notes(mark: PartMark, notes: list[Finding], folder: OutputFolder) -> None:
    """Replaces the notes of a part of a file, in its files and in the mark in memory."""
    if mark.pieces[0].is_whole or not (notes or any(group.code in OF_FILE for group in mark.totals.findings)):
        return
    names, wanted, task = _lists(mark, FINDINGS), [finding_line(note) for note in notes], mark.part.task
    if not names and notes and (task.losses == "all" or task.command == "validate"):
        names = [("" if task.command == "validate" else FINDINGS) + mark.part.name]
    _rewrite(mark, names, folder, lambda records: [*_without_notes(records), *wanted])
    mark.totals.findings = [group for group in mark.totals.findings if group.code not in OF_FILE]
    for note in notes:
        mark.totals.count_finding(note)


def _without_notes(records: Iterable[bytes]) -> Iterator[bytes]:
    for record in records:
        finding: Any = exact_json.parse(record)
        if finding["code"] not in OF_FILE:
            yield record + b"\n"


def _lists(mark: PartMark, *kinds: str) -> list[str]:
    """Returns a part's outputs of these kinds; the output of `validate` consists of findings."""
    every = [*kinds, *([""] if mark.part.task.command == "validate" else [])]
    return [name for kind in every if (name := kind + mark.part.name) in mark.outputs]


def _rewrite(
    mark: PartMark, names: list[str], folder: OutputFolder, change: Callable[[list[bytes]], Iterable[bytes]]
) -> None:
    """Changes the lines of outputs. The part has no mark meanwhile, so it is done again if this is killed."""
    contents = dict(zip(names, folder.read(names), strict=True)) if mark.outputs.keys() >= {*names} else {}
    old = [contents.get(name, b"") for name in names]
    changed = [b"".join(change(raw.splitlines())) for raw in old]
    if old == changed:
        return
    folder.remove(mark.part.mark)
    for name, data in zip(names, changed, strict=True):
        put(folder, name, data, mark.part.inputs)
        mark.outputs[name], mark.sums[name] = len(data), sha256(data).hexdigest()
    mark.written_to(folder)


def _moved(finding: Finding, before: int) -> Finding:
    return msgspec.structs.replace(finding, line=finding.line + before) if finding.line else finding


def put(folder: OutputFolder, name: str, data: bytes, inputs: Iterable[str] = ()) -> None:
    """Writes an output from memory. Raises OutputError."""
    output = folder.output(name, inputs)
    try:
        output.write(data)
        output.commit()
    finally:
        output.discard()
