"""For people: message, position, notes and help. At most 100 findings per file, and the same finding in 20 files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, get_args

import msgspec

from convcli.model.findings import Finding, Severity
from convcli.model.located import number_of
from convcli.report.text import Paint, place, safe_text
from convcli.validation.wording import counted

if TYPE_CHECKING:
    from convcli.jobs.judging import Verdict
    from convcli.report.tables import View

MOST_IN_A_FILE = 100
MOST_FILES = 20
"""Files in which the same finding is shown."""
MOST_KNOWN = 10_000
"""Limit on remembered findings, which bounds memory."""


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """Yields a block for each finding; the first with each code names the command that explains it."""
    explained: set[str] = set()
    for finding in capped(verdicts):
        yield finding if isinstance(finding, str) else block(finding, view.paint)
        if not isinstance(finding, str) and finding.code not in explained:
            explained.add(finding.code)
            yield f"   {view.paint.dim('=')} more: convcli explain {finding.code}\n"


def capped(verdicts: Iterable[Verdict]) -> Iterator[Finding | str]:
    """Yields the findings of all verdicts, and lines that say how many are left out.

    The first findings of a file are shown, and a repeated finding only for the first files that have it.
    """
    repeated = _Repeated()
    file, shown = "", 0
    for verdict in verdicts:
        if verdict.file != file:
            yield from _more(file, shown)
            file, shown = verdict.file, 0
        for finding in filter(repeated.may_show, verdict.findings):
            shown += not verdict.is_of_file
            if shown <= MOST_IN_A_FILE or verdict.is_of_file:
                yield finding
    yield from _more(file, shown)
    yield from repeated.counts()


class _Same(msgspec.Struct):
    """One repeated finding: the number of files, the last of them, and how many occurrences are not shown."""

    files: int = 0
    last: str = ""
    hidden: int = 0


class _Repeated:
    """Counts findings that repeat in many files."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], _Same] = {}

    def may_show(self, finding: Finding) -> bool:
        """Counts the finding; True unless it is already known from many other files."""
        key = finding.severity, finding.code, finding.message
        same = self._known.get(key)
        if same is None:
            same = _Same()
            if len(self._known) < MOST_KNOWN:
                self._known[key] = same
        if same.last != finding.file:
            same.files, same.last = same.files + 1, finding.file
        same.hidden += same.files > MOST_FILES
        return same.files <= MOST_FILES

    def counts(self) -> Iterator[str]:
        """Yields a line for each finding that was not shown every time."""
        for (severity, code, message), same in self._known.items():
            if same.hidden:
                files = counted(same.files - MOST_FILES, "more file")
                yield f"{severity}[{code}] {safe_text(message)}: {same.hidden:,} times in {files}\n"


def _more(file: str, shown: int) -> Iterator[str]:
    if shown > MOST_IN_A_FILE:
        yield f"{place(file)}: and {shown - MOST_IN_A_FILE:,} more\n"


def block(finding: Finding, paint: Paint) -> str:
    """Formats a finding as lines; the first has severity, code and message."""
    word = paint.severity(finding.severity, f"{finding.severity}[{finding.code}]")
    lines = [f"{word} {safe_text(finding.message)}"]
    if finding.file:
        lines.append(f"  {paint.dim('-->')} {place(finding.file, number_of(finding), finding.column, finding.where)}")
    times = (f"{finding.count:,} times, here first",) if finding.count > 1 else ()
    lines += [f"   {paint.dim('=')} {safe_text(note)}" for note in (*times, *finding.notes)]
    if finding.help:
        lines.append(f"   {paint.dim('=')} help: {safe_text(finding.help)}")
    return "\n".join(lines) + "\n"


def tally(counts: Mapping[Severity, int], bad: int, total: int, paint: Paint, *, known: int = 0) -> str:
    """Formats the last line: the number of findings and of transcripts; `known` findings are not among them."""
    units = [counted(counts[severity], severity) for severity in get_args(Severity) if counts[severity]]
    if not units:
        words = "no new findings" if known else "all clean" if total != 1 else "clean"
        return f"{counted(total, 'transcript')}, {paint.bold(words)}\n"
    listed = paint.bold(" and ".join(filter(None, (", ".join(units[:-1]), units[-1]))))
    return f"{listed} in {bad:,} of {counted(total, 'transcript')}, {total - bad:,} clean\n"
