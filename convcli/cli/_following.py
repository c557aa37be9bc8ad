"""`inspect --follow`: the messages of a session while its program writes it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from convcli.jobs.documents import Document
from convcli.model.errors import ContentError, ConvcliError, JobError
from convcli.report.message import line
from convcli.report.tables import View, jsonl
from convcli.views.rows import Row, by_message

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions
    from convcli.report.screen import Screen

EVERY = 0.3
"""Seconds between two reads of the file."""
LONG, TAIL = 8 << 20, 1 << 20
"""Sizes in bytes: sessions that are too long to be read again and again, and the part at their end that is read."""

COLUMNS = ("message", "role", "kind", "tool", "call", "status", "size", "tokens", "text", "time")


def show(batches: Iterator[list[Row]], screen: Screen, view: View, *, events: bool) -> NoReturn:
    """Prints each row on a line as it comes: short on a terminal, as JSON elsewhere."""
    for batch in batches:
        seen = [row for row in batch if row["role"] != "event" or events]
        if view.width is not None:
            screen.show(f"{line(row, view.width, view.paint)}\n" for row in seen)
        else:
            screen.show(jsonl.render(COLUMNS, ({name: row[name] for name in COLUMNS} for row in seen), view))
        screen.flush()
    raise AssertionError("a session that is followed has no end")


def rows(path: str, reading: ReadingOptions, in_short: int) -> Iterator[list[Row]]:
    """Yields the new rows of a session without end.

    A row that has grown comes again. Incomplete last lines and sessions without messages are waited for. Raises
    JobError if there is no such file, ConvcliError if it is no transcript from the beginning.
    """
    look = _Look(path, reading, in_short)
    while True:
        new = look.new_rows() if look.has_changed() else None
        if new is not None:
            yield new
        time.sleep(EVERY)


def _new(before: list[Row], now: list[Row]) -> list[Row]:
    """Returns the rows after the known ones, and the last known one if it has grown."""
    same = min(len(before), len(now))
    if same and before[same - 1]["size"] != now[same - 1]["size"]:
        same -= 1
    return now[same:]


def _content(rows: list[Row]) -> list[Any]:
    """Returns the values of the last row that do not depend on where counting starts."""
    return [rows[-1][name] for name in ("role", "kind", "tool", "size", "text", "time")]


def _calls(rows: list[Row]) -> int:
    return sum(row["kind"] == "call" for row in rows)


class _Look:
    """A file that is read again and again.

    Of a long session, only the first records and the end from byte `start` are read again; `messages` and `calls` count
    those before it.
    """

    def __init__(self, path: str, reading: ReadingOptions, in_short: int) -> None:
        self.path, self.reading, self.in_short = path, reading, in_short
        self.state: tuple[int, int] = (-1, 0)
        self.has_begun = False
        self.known, self.start = list[Row](), 0
        self.messages = self.calls = 0

    def has_changed(self) -> bool:
        """True if the file has changed since the last call."""
        before, self.state = self.state, self._state()
        if self.state[0] < self.start:  # the name belongs to another session now
            self.known, self.start, self.messages, self.calls = [], 0, 0, 0
        return before != self.state

    def _state(self) -> tuple[int, int]:
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            raise JobError("no-such-file", "there is no such file", file=self.path) from None
        except OSError as error:
            raise JobError("unreadable-input", f"cannot read it: {error.strerror}", file=self.path) from None
        return there.st_size, there.st_mtime_ns

    def new_rows(self) -> list[Row] | None:
        """Returns the added rows, None if they cannot be read yet. A call that may be running has no status."""
        try:
            now = self._read(self.start)
        except ConvcliError as error:
            is_torn = isinstance(error, ContentError) and self._is_torn()
            if self.has_begun or error.code in WAITED_FOR or is_torn:
                return None
            raise
        self.has_begun = self.has_begun or bool(now)
        new = [self._counted(row) for row in _new(self.known, now)]
        self.known = now
        if self.state[0] - self.start >= LONG:
            self._move()
        return new

    def _read(self, start: int) -> list[Row]:
        with self.reading.opened(self.path) as source:
            items = source.ending(start) if start else source
            document = next((item for item in items if isinstance(item, Document)), None)
            found = [] if document is None else by_message(document.lift_leniently()[0], in_short=self.in_short)
            return [row | {"status": None} if row["status"] == "open" else row for row in found]

    def _move(self) -> None:
        """From now on reads the end only, if that gives the same last row and nothing was added meanwhile."""
        start = self.state[0] - TAIL
        try:
            end = self._read(start)
        except ConvcliError:
            return
        if end and self.known and _content(end) == _content(self.known) and self._state() == self.state:
            self.messages += self.known[-1]["message"] - end[-1]["message"]
            self.calls += _calls(self.known) - _calls(end)
            self.known, self.start = end, start

    def _counted(self, row: Row) -> Row:
        call = row["call"]
        if call is not None and call.startswith("#"):
            call = f"#{int(call[1:]) + self.calls}"
        return row | {"message": row["message"] + self.messages, "call": call}

    def _is_torn(self) -> bool:
        """True if the file does not end with a newline, or has been cut or removed by now."""
        try:
            with open(self.path, "rb") as file:
                file.seek(-1, os.SEEK_END)
                return file.read(1) != b"\n"
        except OSError:
            return True


WAITED_FOR = frozenset(("no-messages", "empty-input"))
"""Codes of errors of a session that has only begun."""
