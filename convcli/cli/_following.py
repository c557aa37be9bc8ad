"""The messages of a session as they come, while its program is writing it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from convcli.jobs.inputs import Document
from convcli.model.errors import ConvcliError, JobError
from convcli.report.message import line
from convcli.report.tables import View, jsonl
from convcli.views.rows import Row, by_message

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions
    from convcli.report.screen import Screen

EVERY = 0.3
"""Seconds between two looks at the file."""


COLUMNS = ("message", "role", "kind", "tool", "call", "status", "size", "tokens", "text", "time")


def show(batches: Iterator[list[Row]], screen: Screen, view: View, *, events: bool) -> NoReturn:
    """Each row on a line of its own as it comes: for a terminal in few words, elsewhere as JSON."""
    for batch in batches:
        seen = [row for row in batch if row["role"] != "event" or events]
        if view.width is not None:
            screen.show(f"{line(row, view.width, view.paint)}\n" for row in seen)
        else:
            screen.show(jsonl.render(COLUMNS, ({name: row[name] for name in COLUMNS} for row in seen), view))
        screen.flush()
    raise AssertionError("a session that is followed has no end")


def rows(path: str, reading: ReadingOptions, in_short: int) -> Iterator[list[Row]]:
    """What is new in a session, whenever something is; it never ends.

    A row that has grown comes again. A last line that is not complete yet is waited for, and so is a session in which
    nothing was said yet. Raises JobError when the file is not there, ConvcliError when it is no transcript from the
    beginning.
    """
    look = _Look(path, reading, in_short)
    before: list[Row] = []
    while True:
        now = look.rows() if look.has_changed() else None
        if now is not None:
            yield _new(before, now)
            before = now
        time.sleep(EVERY)


def _new(before: list[Row], now: list[Row]) -> list[Row]:
    """The rows behind those that are known: the last of these again if more has been said in it."""
    same = min(len(before), len(now))
    if same and before[same - 1]["size"] != now[same - 1]["size"]:
        same -= 1
    return now[same:]


class _Look:
    """A file that is looked at again and again."""

    def __init__(self, path: str, reading: ReadingOptions, in_short: int) -> None:
        self.path, self.reading, self.in_short = path, reading, in_short
        self.state: tuple[int, int] | None = None
        self.has_begun = False

    def has_changed(self) -> bool:
        """Is it another one than at the last look?"""
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            raise JobError("no-such-file", "there is no such file", file=self.path) from None
        except OSError as error:
            raise JobError("unreadable-input", f"cannot read it: {error.strerror}", file=self.path) from None
        before, self.state = self.state, (there.st_size, there.st_mtime_ns)
        return before != self.state

    def rows(self) -> list[Row] | None:
        """All of its rows, None where they cannot be read yet; a call that may be running is not told to be open."""
        try:
            with self.reading.opened(self.path) as source:
                document = next((item for item in source if isinstance(item, Document)), None)
                found = [] if document is None else list(by_message(document.lift(), in_short=self.in_short))
        except ConvcliError as error:
            if self.has_begun or error.code in WAITED_FOR or self._is_torn():
                return None
            raise
        self.has_begun = self.has_begun or bool(found)
        return [row | {"status": None} if row["status"] == "open" else row for row in found]

    def _is_torn(self) -> bool:
        with open(self.path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"


WAITED_FOR = frozenset(("no-messages", "empty-input"))
"""What is wrong with a session of which only the beginning is there."""
