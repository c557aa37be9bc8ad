"""For people: message, place, what was found, what helps. At most 100 findings of one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.findings import Finding
from convcli.judge import Verdict
from convcli.report.tables import View
from convcli.report.text import Paint, count, place, safe_text

MOST_IN_A_FILE = 100


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """A block for each finding, with the way to an explanation where its code comes for the first time."""
    explained: set[str] = set()
    for finding in capped(verdicts):
        yield finding if isinstance(finding, str) else block(finding, view.paint)
        if not isinstance(finding, str) and finding.code not in explained:
            explained.add(finding.code)
            yield f"   {view.paint.dim('=')} more: convcli explain {finding.code}\n"


def capped(verdicts: Iterable[Verdict]) -> Iterator[Finding | str]:
    """The findings of all verdicts; of a file that has too many the first, and then a line that says how many more."""
    file, shown = "", 0
    for verdict in verdicts:
        if verdict.file != file:
            yield from _more(file, shown)
            file, shown = verdict.file, 0
        for finding in verdict.findings:
            shown += 1
            if shown <= MOST_IN_A_FILE:
                yield finding
    yield from _more(file, shown)


def _more(file: str, shown: int) -> Iterator[str]:
    if shown > MOST_IN_A_FILE:
        yield f"{place(file)}: and {shown - MOST_IN_A_FILE:,} more\n"


def block(finding: Finding, paint: Paint) -> str:
    """A finding as lines, the first one with severity, code and message."""
    word = paint.severity(finding.severity, f"{finding.severity}[{finding.code}]")
    lines = [f"{word} {safe_text(finding.message)}"]
    if finding.file:
        lines.append(f"  {paint.dim('-->')} {place(finding.file, finding.line, finding.column, finding.where)}")
    lines += [f"   {paint.dim('=')} {safe_text(note)}" for note in finding.notes]
    if finding.help:
        lines.append(f"   {paint.dim('=')} help: {safe_text(finding.help)}")
    return "\n".join(lines) + "\n"


def tally(errors: int, warnings: int, bad: int, total: int, paint: Paint) -> str:
    """The last line: how many findings in how many transcripts."""
    clean = f"{total - bad:,} clean"
    if not errors and not warnings:
        return f"{count(total, 'transcript')}, {paint.bold('all clean') if total != 1 else paint.bold('clean')}\n"
    found = " and ".join(count(n, unit) for n, unit in ((errors, "error"), (warnings, "warning")) if n)
    return f"{paint.bold(found)} in {bad:,} of {count(total, 'transcript')}, {clean}\n"
