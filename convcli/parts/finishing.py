"""The beginning and the end of a job in parts: a folder that is ours, lines counted through, a report, `_SUCCESS`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from convcli.files.stores import OutputFolder, folder_at
from convcli.jobs.converting import MOST_GROUPS, LossCount, Summary
from convcli.jobs.storage import ToldOnce
from convcli.model.errors import JobError
from convcli.model.findings import OF_FILE, Finding
from convcli.model.version import __version__
from convcli.parts.marks import COUNTS, FindingCount, PartMark, add_findings, by_key, finished, numbered
from convcli.parts.planning import Part
from convcli.parts.work import FINDINGS, LOSSES, line_of
from convcli.views.statistics import Counted, Statistics
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

JOB, REPORT, SUCCESS = "_done/job.json", "_report.json", "_SUCCESS"
_OURS = re.compile(r"((_losses|_findings|_refused)/)?part-(\d{5,})\.jsonl|_done/(\d{5,})\.json")


class Report(msgspec.Struct):
    """What came of a job: the sums of its marks, with lines as they are in the files. `missing` parts have no mark."""

    command: str
    source: str
    target: str
    parts: int
    version: str = __version__
    missing: list[int] = []
    lines: int = 0
    blank: int = 0
    torn: int = 0
    transcripts: int = 0
    lossy: int = 0
    refused: int = 0
    failing: int = 0
    withheld: int = 0
    written: int = 0
    clean: int = 0
    outputs: int = 0
    losses: list[LossCount] = []
    findings: list[FindingCount] = []
    counts: list[Counted] = []

    @property
    def summary(self) -> Summary:
        """The same as a conversion of one process tells it."""
        numbers = {name: getattr(self, name) for name in ("outputs", *COUNTS)}
        return Summary([self.source], self.target, **numbers, groups=by_key(self.losses))

    def severe(self, severity: str) -> int:
        """How many findings have this severity."""
        return sum(group.count for group in self.findings if group.severity == severity)


def begin(parts: Sequence[Part], *, force: bool = False) -> None:
    """Make the folder of a job ready: what tells of success is withdrawn, and what belongs to no part is taken away.

    Raises JobError `output-exists` for a folder that holds anything else, unless with `force`."""
    if not parts:
        raise JobError("no-input", "there is nothing to be done")
    folder, task = folder_at(parts[0].out), parts[0].task
    names = folder.sizes()
    job = exact_json.write_line({"command": task.command, "target": task.target})
    is_same = JOB in names and next(folder.read([JOB])) == job
    if names and not is_same and not force:
        what = "another job" if JOB in names else "something else than parts"
        raise JobError("output-exists", f"{parts[0].out} holds {what}", help="--force writes into it all the same")
    for name in (SUCCESS, REPORT):
        if name in names:
            folder.remove(name)
    for name in names:
        match = _OURS.fullmatch(name)
        if match is not None and int(match[3] or match[4]) >= len(parts):
            folder.remove(name)
    if not is_same:
        put(folder, JOB, job)


def finish(parts: Sequence[Part]) -> Report:
    """Count lines through in what the parts have written, and write the report; `_SUCCESS` too, if no part is missing
    and nothing was refused that must not be. Raises OutputError, and JobError where a mark cannot be read."""
    folder = folder_at(parts[0].out)
    report = merged(_counted_through(finished(parts), folder), parts)
    is_good = not report.failing and (parts[0].task.keep_going or not report.refused)
    put(folder, REPORT, exact_json.write(builtins(report), indent=True) + b"\n")
    if is_good and not report.missing:
        put(folder, SUCCESS, b"")
    return report


def merged(marks: Iterable[PartMark], parts: Sequence[Part]) -> Report:
    """What came of all parts, the marks of which are read one after the other."""
    task = parts[0].task
    report = Report(task.command, task.source, task.target, len(parts))
    summary, counted, done = Summary([task.source], task.target), Statistics(), set[int]()
    for mark in marks:
        done.add(mark.part.number)
        for name in ("lines", "blank", "written", "clean"):
            setattr(report, name, getattr(report, name) + getattr(mark, name))
        numbers = {name: getattr(mark, name) for name in COUNTS}
        groups, outputs = by_key(mark.losses), int(mark.part.name in mark.outputs)
        summary.add(Summary(mark.sources, task.target, **numbers, outputs=outputs, groups=groups))
        for group in mark.findings:
            if len(report.findings) < MOST_GROUPS:
                add_findings(report.findings, group)
        counted.add_counted(mark.counts)
    for name in ("outputs", *COUNTS):
        setattr(report, name, getattr(summary, name))
    report.losses, report.counts = list(summary.groups.values()), list(counted.counted())
    report.missing = [part.number for part in parts if part.number not in done]
    return report


# --- lines -----------------------------------------------------------------------------------------------------------


def _counted_through(marks: Iterable[PartMark], folder: OutputFolder) -> Iterator[PartMark]:
    """The marks with lines as they are in the files: the lines of a range are behind those of the ranges before it."""
    lines, expected = 0, -1
    for mark in _with_notes(marks, folder):
        piece = mark.part.pieces[0]
        if not piece.is_uncounted:
            lines = 0
        elif mark.part.number == expected:
            _number(mark, lines, folder)
        else:  # the part before it is missing
            yield mark
            continue
        lines, expected = lines + mark.lines, mark.part.number + 1
        yield mark


def _number(mark: PartMark, before: int, folder: OutputFolder) -> None:
    """So many lines are in front of a range: say it in its files, unless they say it already, and in the mark as it is
    read here."""
    if mark.before != before:
        more, mark.before = before - mark.before, before
        _rewrite(mark, _lists(mark, LOSSES, FINDINGS), folder, lambda records: numbered(records, more))
    for group in mark.losses:
        group.first.line += before if group.first.line else 0
    for found in mark.findings:
        found.first = [_moved(finding, before) for finding in found.first]


def _with_notes(marks: Iterable[PartMark], folder: OutputFolder) -> Iterator[PartMark]:
    """The marks, with what is told once of a file that was cut in the last of its parts only."""
    last: PartMark | None = None
    told = ToldOnce()
    for mark in marks:
        if last is not None:
            is_end = last.part.pieces[-1].file != mark.part.pieces[0].file
            _tell(last, list(told.rest()) if is_end else [], folder)
            yield last
        last = mark
        if not mark.part.pieces[0].is_whole:
            for group in mark.findings:
                deque(map(told.is_other, group.first), maxlen=0)
    if last is not None:
        _tell(last, list(told.rest()), folder)
        yield last


def _tell(mark: PartMark, notes: list[Finding], folder: OutputFolder) -> None:
    """Put notes in place of those that the part of a file has, into its files and into the mark as it is read here."""
    if mark.part.pieces[0].is_whole or not (notes or any(group.code in OF_FILE for group in mark.findings)):
        return
    names, wanted, task = _lists(mark, FINDINGS), [line_of(note) for note in notes], mark.part.task
    if not names and notes and task.losses == "all":
        names = [FINDINGS + mark.part.name]
    _rewrite(mark, names, folder, lambda records: [*_without_notes(records), *wanted])
    mark.findings = [group for group in mark.findings if group.code not in OF_FILE]
    for note in notes:
        add_findings(mark.findings, FindingCount(note.severity, note.code, 1, [note]))


def _without_notes(records: Iterable[bytes]) -> Iterator[bytes]:
    for record in records:
        held: Any = exact_json.parse(record)
        if held["code"] not in OF_FILE:
            yield record + b"\n"


def _lists(mark: PartMark, *kinds: str) -> list[str]:
    """The outputs of these kinds that a part has; the findings of `validate` are what it was asked for."""
    every = [*kinds, *([""] if mark.part.task.command == "validate" else [])]
    return [name for kind in every if (name := kind + mark.part.name) in mark.outputs]


def _rewrite(
    mark: PartMark, names: list[str], folder: OutputFolder, change: Callable[[list[bytes]], Iterable[bytes]]
) -> None:
    """Change the lines of outputs. Meanwhile the part has no mark, and so is done again if this is killed."""
    there = dict(zip(names, folder.read(names), strict=True)) if mark.outputs.keys() >= {*names} else {}
    held = [there.get(name, b"") for name in names]
    changed = [b"".join(change(raw.splitlines())) for raw in held]
    if held == changed:
        return
    folder.remove(mark.part.mark)
    for name, data in zip(names, changed, strict=True):
        put(folder, name, data)
        mark.outputs[name] = len(data)
    mark.written_to(folder)


def _moved(finding: Finding, before: int) -> Finding:
    return msgspec.structs.replace(finding, line=finding.line + before) if finding.line else finding


def put(folder: OutputFolder, name: str, data: bytes) -> None:
    """Let an output appear that is in memory. Raises OutputError."""
    output = folder.output(name)
    try:
        output.write(data)
        output.commit()
    finally:
        output.discard()
