"""Marks: the results of a part, written when all of its outputs exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from convcli.files.stores import OutputFolder, folder_at
from convcli.jobs.judging import Verdict
from convcli.jobs.pieces import InputPiece
from convcli.jobs.row_forms import count_form
from convcli.jobs.summaries import MOST_GROUPS, Summary
from convcli.model.errors import ContentError
from convcli.model.findings import OF_FILE, Finding
from convcli.model.version import __version__
from convcli.parts.planning import Part
from convcli.views.statistics import Counted
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

MOST_FIRST = 5
"""Findings per code that are kept with a part and with a job; all of those reported once per column."""


class FindingCount(msgspec.Struct):
    """Findings of one code: their number, and the first of them."""

    severity: str
    code: str
    count: int = 0
    first: list[Finding] = []

    def add(self, other: FindingCount) -> None:
        """Adds others of the same code."""
        self.count += other.count
        most = MOST_GROUPS if self.code in OF_FILE else MOST_FIRST
        self.first += other.first[: max(most - len(self.first), 0)]


class PartTotals(msgspec.Struct):
    """The results of a part or of a job: a job adds up those of its parts.

    `summary`: that of the conversion, without values of transcripts · `lines` = transcripts + `refused` + torn +
    `blank` if each line is a document · `written`: rows in outputs that count · `clean`: documents without findings ·
    `skipped`: files that are no transcripts · `unreadable`: files that could not be read to their end · `converted`:
    documents by dialect that were converted to be validated.
    """

    summary: Summary
    lines: int = 0
    blank: int = 0
    written: int = 0
    clean: int = 0
    skipped: int = 0
    unreadable: int = 0
    converted: dict[str, int] = {}
    findings: list[FindingCount] = []

    @property
    def refused(self) -> int:
        """The number of unacceptable documents and lines, and of unreadable files."""
        return self.summary.refused + self.unreadable

    def add(self, other: PartTotals) -> None:
        """Adds the results of another part."""
        self.summary.add(other.summary)
        for name in _ADDED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for dialect, count in other.converted.items():
            self.converted[dialect] = self.converted.get(dialect, 0) + count
        for group in other.findings:
            self._add_findings(group)

    def add_summary(self, summary: Summary) -> None:
        """Adds the result of a conversion, without values of transcripts."""
        for group in summary.groups.values():
            group.first = msgspec.structs.replace(group.first, before=msgspec.UNSET, after=msgspec.UNSET)
        self.summary.add(summary)

    def count_document(self, dialect: str) -> None:
        """Counts a document in this dialect."""
        self.summary.transcripts += 1
        if dialect and dialect not in self.summary.sources:
            self.summary.sources.append(dialect)

    def count_verdict(self, verdict: Verdict) -> None:
        """Counts a validated document."""
        self.count_document(verdict.dialect)
        if verdict.columns:
            count_form(self.summary.forms, verdict.dialect, verdict.columns)
        if verdict.is_converted:
            self.converted[verdict.dialect] = self.converted.get(verdict.dialect, 0) + 1
        self.clean += not verdict.findings

    def count_finding(self, finding: Finding) -> None:
        """Counts a finding."""
        self._add_findings(FindingCount(finding.severity, finding.code, 1, [finding]))

    def _add_findings(self, other: FindingCount) -> None:
        """Adds findings of one code."""
        name = (other.severity, other.code)
        mine = next((group for group in self.findings if (group.severity, group.code) == name), None)
        if mine is None:
            mine = FindingCount(other.severity, other.code, first=[])
            self.findings.append(mine)
        mine.add(other)


_ADDED = ("lines", "blank", "written", "clean", "skipped", "unreadable")


class PartMark(msgspec.Struct):
    """The result of a part.

    `cut`: its range as it is in the open file, None if it was planned so · `outputs`: its files with their sizes ·
    `sums`: their SHA-256 · `records`: restore records of each piece · `seconds`, `attempts`: of the run that finished
    it · `before`: lines before its range, as far as its files include them; lines in `totals` here always count from
    the start of the range · `counts`: those of `stats`.
    """

    part: Part
    totals: PartTotals
    version: str = __version__
    cut: InputPiece | None = None
    outputs: dict[str, int] = {}
    sums: dict[str, str] = {}
    records: list[int] = []
    seconds: float = 0
    attempts: int = 1
    before: int = 0
    counts: list[Counted] = []

    @property
    def lines(self) -> int:
        """The number of lines read."""
        return self.totals.lines

    @property
    def transcripts(self) -> int:
        """The number of transcripts read."""
        return self.totals.summary.transcripts

    @property
    def refused(self) -> int:
        """The number of unacceptable documents and lines, and of unreadable files."""
        return self.totals.refused

    def is_of(self, part: Part) -> bool:
        """True if it is the mark of this part; the folder may have had another name."""
        return msgspec.structs.replace(self.part, out=part.out) == part

    @property
    def pieces(self) -> tuple[InputPiece, ...]:
        """Its pieces as they are in the open files."""
        return self.part.pieces if self.cut is None else (self.cut,)

    def written_to(self, folder: OutputFolder) -> None:
        """Writes the mark. Raises OutputError."""
        output = folder.output(self.part.mark, self.part.inputs)
        try:
            output.write(exact_json.write_line(builtins(self)))
            output.commit()
        finally:
            output.discard()


def finished(parts: Sequence[Part], *, is_listed: bool = True, asks: bool = False) -> Iterator[PartMark]:
    """Yields the marks that count, for parts in one folder.

    `is_listed`: the folder is listed, which is best for many parts · `asks`: files that the listing does not have are
    asked for by name, since listings of some stores lag."""
    for out, some in groupby(parts, key=lambda part: part.out):
        folder = folder_at(out)
        sizes = folder.sizes() if is_listed else {}
        marked = [part for part in some if part.mark in sizes or (asks and folder.size(part.mark) is not None)]
        for part, raw in zip(marked, folder.read(part.mark for part in marked), strict=True):
            mark = read_mark(raw)
            if mark is not None and mark.is_of(part) and mark.version == __version__:
                lagging = {name: size for name, size in mark.outputs.items() if sizes.get(name) != size}
                if not lagging or (asks and all(folder.size(name) == size for name, size in lagging.items())):
                    yield mark


def unfinished(parts: Sequence[Part], *, is_listed: bool = True) -> list[Part]:
    """Returns the parts without a mark that counts. Without `is_listed`, each file is asked for by name."""
    done = {mark.part.number for mark in finished(parts, is_listed=is_listed, asks=not is_listed)}
    return [part for part in parts if part.number not in done]


def read_mark(raw: bytes) -> PartMark | None:
    """Parses a mark; None if another version has written it in another format."""
    try:
        return msgspec.convert(exact_json.parse(raw), PartMark)
    except (ContentError, msgspec.ValidationError):
        return None


def with_lines_moved(records: Iterable[bytes], more: int) -> Iterator[bytes]:
    """Yields losses or findings, one per line, with this number added to their lines."""
    for raw in records:
        record: Any = exact_json.parse(raw)
        if record.get("line"):
            record["line"] += more
        yield exact_json.write_line(record)
