"""The beginning of a session that takes long to read: it is shown before the rest is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from convcli.cli._shared import size_of
from convcli.jobs.inputs import Document
from convcli.model.errors import ConvcliError
from convcli.views.rows import Row, by_message

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions

LONG = 8 << 20
"""Bytes of a session that takes longer to read than people like to wait."""
RECORDS = 600
UNSURE = frozenset(("open", "branch"))
"""What only the rest of a session can tell: that no result comes, and that the active branch is another one."""


def beginning(path: str, reading: ReadingOptions) -> Document | None:
    """A long session as if it ended behind its first records; None of anything else, and where it cannot be read."""
    if size_of(path) >= LONG:
        with suppress(ConvcliError), reading.opened(path) as source:  # it is told when all of it is read
            return next((item for item in source.beginning(RECORDS) if isinstance(item, Document)), None)
    return None


def first_rows(path: str, reading: ReadingOptions, in_short: int) -> list[Row]:
    """The first rows of a long session; none of anything else. What is unsure is not said, and the last half is left
    out, to which something may still be added."""
    document = beginning(path, reading)
    rows = list(by_message(document.lift(), in_short=in_short)) if document is not None else []
    return [row | {"status": None} if row["status"] in UNSURE else row for row in rows[: len(rows) // 2]]


def others(rows: Iterable[Row], shown: list[Row]) -> Iterator[Row]:
    """What is not shown yet, and what was shown and turns out to be otherwise."""
    for index, row in enumerate(rows):
        if index >= len(shown) or shown[index] != row:
            yield row
