"""Annotations for GitHub Actions: workflow commands that the runner shows next to the lines of a file.

A step shows ten errors and ten warnings, so no more are written; the rest is counted. If the runner names a summary
file for the step, all codes are written there. Specification: GitHub's "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from convcli.jobs.judging import Verdict
from convcli.model.findings import Finding
from convcli.report.formats.sarif import relative
from convcli.report.tables import View
from convcli.report.text import safe_text
from convcli.validation.wording import counted

MOST = 10
COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
SUMMARY = "GITHUB_STEP_SUMMARY"


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """Yields a command for each of the first findings, and one with the number of the others."""
    seen: Counter[str] = Counter()
    codes: Counter[tuple[str, str]] = Counter()
    for verdict in verdicts:
        for finding in verdict.findings:
            seen[finding.severity] += 1
            codes[finding.severity, finding.code] += 1
            if seen[finding.severity] <= MOST:
                yield _command(finding)
    for severity, number in seen.items():
        if number > MOST:
            more = counted(number - MOST, f"more {severity}")
            yield f"::notice title=convcli::and {more} beyond GitHub's limit\n"
    _summarize(codes)


def _command(finding: Finding) -> str:
    properties = {
        "file": relative(finding.file).replace(os.sep, "/"),
        "line": str(finding.line) if finding.line else "",
        "col": str(finding.column) if finding.line and finding.column else "",
        "title": f"convcli {finding.code}",
    }
    attributes = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    where = f" ({finding.where})" if finding.where else ""
    more = [*finding.notes, *([f"help: {finding.help}"] if finding.help else [])]
    text = "; ".join([f"{finding.message}{where}", *more])
    return f"::{COMMANDS[finding.severity]} {attributes}::{_data(text)}\n"


def _data(text: str) -> str:
    return safe_text(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _summarize(codes: Counter[tuple[str, str]]) -> None:
    path = os.environ.get(SUMMARY)
    if path and codes:
        rows = "".join(f"| {severity} | `{code}` | {number:,} |\n" for (severity, code), number in codes.most_common())
        with suppress(OSError), open(path, "a", encoding="utf-8") as file:
            file.write(f"### convcli validate\n\n| | code | findings |\n| --- | --- | --- |\n{rows}\n")
