"""One line per finding in aligned columns; tab-separated if the output is not a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.jobs.judging import Verdict
from convcli.model.located import number_of
from convcli.report import tables
from convcli.report.formats.full import capped
from convcli.report.tables import View, table

COLUMNS = ["file", "line", "severity", "code", "where", "message"]


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """Yields the findings as rows of `report/tables/table`."""
    notes: list[str] = []
    rows = []
    for finding in capped(verdicts):
        if isinstance(finding, str):
            notes.append(finding)
        else:
            rows.append({name: getattr(finding, name) or None for name in COLUMNS} | {"line": number_of(finding)})
    yield from table.render(COLUMNS, rows, tables.View(view.width, view.paint))
    yield from notes
