"""Which record is reported: by its line, by its row, or not at all."""

from __future__ import annotations

import pytest

from convcli.model.errors import ContentError
from convcli.model.findings import Finding
from convcli.model.located import Located, number_of, record_of
from convcli.proof.reasons import Loss


@pytest.mark.parametrize(
    ("located", "record", "number"),
    [
        (Finding("code", "error", "text"), 0, None),
        (Finding("code", "error", "text", line=3), 3, 3),
        (Finding("code", "error", "text", row=0), 1, 0),
        (Loss("dropped", "", "title", "context", "why", row=4), 5, 4),
        (ContentError("code", "text", line=2), 2, 2),
    ],
)
def test_records_count_from_1_and_rows_are_named_from_0(located: Located, record: int, number: int | None) -> None:
    assert (record_of(located), number_of(located)) == (record, number)
