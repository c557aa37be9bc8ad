"""JSON Lines: one finding per line, as described by `schemas/finding.schema.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from convcli.jobs.judging import Verdict
from convcli.report.tables import View
from convcli.report.text import json_text


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """Yields all findings; nothing if there are none."""
    for verdict in verdicts:
        for finding in verdict.findings:
            yield json_text(msgspec.to_builtins(finding)) + "\n"
