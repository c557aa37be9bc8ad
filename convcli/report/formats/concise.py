"""One line per finding: position, severity and code, message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.jobs.judging import Verdict
from convcli.model.located import number_of
from convcli.report.formats.full import capped
from convcli.report.tables import View
from convcli.report.text import place, safe_text


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """Yields `file:line:column: error[code] message (/pointer)`."""
    for finding in capped(verdicts):
        if isinstance(finding, str):
            yield finding
            continue
        word = view.paint.severity(finding.severity, f"{finding.severity}[{finding.code}]")
        where = f" ({safe_text(finding.where)})" if finding.where else ""
        times = f" ({finding.count:,} times)" if finding.count > 1 else ""
        at = place(finding.file, number_of(finding), finding.column)
        yield f"{at}: {word} {safe_text(finding.message)}{where}{times}\n"
