"""Findings on a whole file that processes report for its parts."""

from __future__ import annotations

from convcli.jobs.file_findings import TYPE, ReportedOnce
from convcli.model.findings import Finding


def test_findings_on_parts_of_a_file_become_one_with_their_sum() -> None:
    once, reported = ReportedOnce(), list[Finding]()
    report = once.only(reported.append)
    other = Finding("a-code", "error", "m", file="f")
    parts = [Finding("padded-key", severity, "m", file="f", count=2) for severity in ("info", "warning", "info")]
    types = [Finding(TYPE, "info", "m", file="f")] * 2
    for finding in (*parts, other, *types, other):
        report(finding)
    assert reported == [other, other]
    assert list(once.rest()) == [types[0], Finding("padded-key", "warning", "m", file="f", count=6)]
    assert list(once.rest()) == []


def test_findings_on_two_files_stay_apart() -> None:
    once = ReportedOnce()
    each = [Finding("padded-key", "info", "m", file=name) for name in "ab"]
    assert not any(map(once.is_other, each))
    assert list(once.rest()) == each
