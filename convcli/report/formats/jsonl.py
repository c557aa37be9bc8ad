"""JSON Lines: a finding on each line, as `schemas/finding.schema.json` describes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from convcli.jobs.judging import Verdict
from convcli.report.tables import View
from convcli.report.text import json_text


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """All findings, none left out; nothing when all is well."""
    for verdict in verdicts:
        for finding in verdict.findings:
            yield json_text(msgspec.to_builtins(finding)) + "\n"
