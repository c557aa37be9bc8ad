"""JUnit XML, which nearly every CI system reads: a test case per transcript, a failure per error.

Warnings do not fail a build: they are in the output of their test case. The format is that of Ant's JUnit reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from convcli.jobs.judging import Verdict
from convcli.model.findings import Finding
from convcli.model.located import number_of
from convcli.report.tables import View
from convcli.report.text import place, safe_text

MOST_IN_A_FILE = 100


class Case(NamedTuple):
    """A transcript by file and line, the seconds until its verdict, its errors and its warnings."""

    name: str
    seconds: float
    errors: list[Finding]
    warnings: list[Finding]


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """Yields the report once all verdicts are known: it begins with totals."""
    cases = list(_cases(verdicts))
    failed = sum(bool(case.errors) for case in cases)
    seconds = sum(case.seconds for case in cases)
    counts = f'tests="{len(cases)}" failures="{failed}" errors="0" time="{seconds:.3f}"'
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="convcli" {counts}>\n'
    yield f' <testsuite name="convcli validate" {counts}>\n'
    for case in cases:
        yield from _written(case)
    yield " </testsuite>\n</testsuites>\n"


def _cases(verdicts: Iterable[Verdict]) -> Iterator[Case]:
    begin = monotonic()
    for verdict in verdicts:
        end = monotonic()
        errors = [finding for finding in verdict.findings if finding.severity == "error"]
        warnings = [finding for finding in verdict.findings if finding.severity != "error"]
        yield Case(
            place(verdict.file, verdict.row if verdict.row >= 0 else verdict.line or None),
            end - begin,
            errors,
            warnings,
        )
        begin = end


def _written(case: Case) -> Iterator[str]:
    attributes = f'classname="convcli" name={quoteattr(case.name)} time="{case.seconds:.3f}"'
    if not case.errors and not case.warnings:
        yield f"  <testcase {attributes}/>\n"
        return
    yield f"  <testcase {attributes}>\n"
    for finding in case.errors[:MOST_IN_A_FILE]:
        message = quoteattr(safe_text(f"{finding.code}: {finding.message}"))
        yield f'   <failure type="{finding.code}" message={message}>{_text(finding)}</failure>\n'
    more = len(case.errors) - MOST_IN_A_FILE
    if more > 0:
        yield f'   <failure type="more" message="and {more:,} more"/>\n'
    if case.warnings:
        output = "".join(f"{_text(finding)}\n" for finding in case.warnings[:MOST_IN_A_FILE])
        yield f"   <system-out>{output}</system-out>\n"
    yield "  </testcase>\n"


def _text(finding: Finding) -> str:
    where = place(finding.file, number_of(finding), finding.column, finding.where)
    lines = [f"{finding.severity}[{finding.code}] {finding.message}", *finding.notes]
    lines += [f"help: {finding.help}"] if finding.help else []
    return escape("\n".join([where, *map(safe_text, lines)]))
