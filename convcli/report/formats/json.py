"""One JSON object with all findings and the number of transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from convcli.jobs.judging import Verdict
from convcli.report.tables import View
from convcli.report.text import json_text

VERSION = 1


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """`{"version", "findings": […], "transcripts", "clean"}`, written as the verdicts come."""
    yield f'{{"version": {VERSION}, "findings": ['
    total = clean = 0
    comma = "\n"
    for verdict in verdicts:
        if not verdict.is_of_file:
            total, clean = total + 1, clean + (not verdict.findings)
        for finding in verdict.findings:
            yield comma + json_text(msgspec.to_builtins(finding))
            comma = ",\n"
    yield f'\n], "transcripts": {total}, "clean": {clean}}}\n'
