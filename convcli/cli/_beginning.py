"""The beginning of a long session, which `inspect` shows before it reads the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from convcli.cli._shared import size_of
from convcli.jobs.documents import Document
from convcli.model.errors import ConvcliError
from convcli.views.rows import Row, by_message

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions

LONG = 8 << 20
"""Bytes of a session that takes noticeably long to read."""
RECORDS = 600
UNSURE = frozenset(("open", "branch"))
"""Statuses that depend on the rest of a session: an open call, another branch."""


def beginning(path: str, reading: ReadingOptions) -> Document | None:
    """Returns a long session up to its first records; None for other files and unreadable ones."""
    if size_of(path) >= LONG:
        with suppress(ConvcliError), reading.opened(path) as source:  # reported when all of it is read
            return next((item for item in source.beginning(RECORDS) if isinstance(item, Document)), None)
    return None


def first_rows(path: str, reading: ReadingOptions, in_short: int) -> list[Row]:
    """Returns the first rows of a long session, none for other files.

    Uncertain statuses are left out, and so is the last half of the rows, which may still grow.
    """
    document = beginning(path, reading)
    rows = list(by_message(document.lift_leniently()[0], in_short=in_short)) if document is not None else []
    return [row | {"status": None} if row["status"] in UNSURE else row for row in rows[: len(rows) // 2]]


def others(rows: Iterable[Row], shown: list[Row]) -> Iterator[Row]:
    """Yields the rows that are not shown yet or were shown differently."""
    for index, row in enumerate(rows):
        if index >= len(shown) or shown[index] != row:
            yield row
