"""`inspect --follow`: the messages of a session while its program writes it."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NoReturn

from convcli.files.folders import MESSAGES, stands_for_folder
from convcli.files.framing import open_source
from convcli.files.names import split_line
from convcli.files.packed import may_wait
from convcli.files.sqlite import LOG
from convcli.files.stores import is_url
from convcli.jobs.choosing import LOOK_AHEAD
from convcli.jobs.documents import Document, Skipped
from convcli.jobs.inputs import UNDETECTED
from convcli.model.errors import ContentError, ConvcliError, JobError
from convcli.report.message import line
from convcli.report.tables import View, jsonl
from convcli.report.text import safe_text
from convcli.views.rows import Row, by_message

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.transcript import Transcript
    from convcli.report.screen import Screen

EVERY = 0.3
"""Seconds between two looks at the file."""
PATIENCE = 10
"""Looks at a file that does not change, until what cannot be read is reported."""
LONG, TAIL = 8 << 20, 1 << 20
"""Sizes in bytes: sessions that are too long to be read again and again, and the part at their end that is read."""
LAST = 4
"""Bytes at the end of a file that may be half of a character."""
BEGUN = frozenset(("no-messages", "empty-input"))
"""Codes of errors of a session that has only begun."""
CUT = frozenset((*BEGUN, "torn-record", "broken-compression"))
"""Codes of errors that more bytes can remove."""

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


def rows(
    path: str, reading: ReadingOptions, in_short: int, longest: int | None, announce: Callable[[str], object]
) -> Iterator[list[Row]]:
    """Yields the new rows of a session without end.

    A row that has changed comes again. What more bytes can make readable is waited for, and `announce` gets a note if
    that takes long. Raises JobError if there is no such file, it cannot be followed, or it has several transcripts;
    ConvcliError if it is no transcript from the beginning, or has stayed unreadable; BrokenPipeError if the reader of
    standard output is gone.
    """
    look, waited = Look(path, reading, in_short, longest), 0
    problem: ConvcliError | None = None
    while True:
        has_changed = look.has_changed()
        waited = 0 if has_changed else waited + 1
        if has_changed or (problem is not None and waited <= PATIENCE):  # a database may have been locked
            problem = None
            try:
                new = look.new_rows()
            except ConvcliError as error:
                problem = error
            else:
                yield new
        if problem is not None and (waited == PATIENCE or not look.has_begun):
            if not look.may_pass(problem):
                raise problem
            if waited == PATIENCE and problem.code not in BEGUN:
                announce(f"note: {safe_text(path)}: {problem.message}; waiting for more\n")
        pause()


def pause() -> None:
    """Waits for the next look. Raises BrokenPipeError if the reader of standard output is gone."""
    try:
        from select import POLLERR, POLLHUP, poll  # not on Windows

        stdout = poll()
        stdout.register(sys.stdout.fileno(), 0)
    except (ImportError, AttributeError, OSError, ValueError):
        time.sleep(EVERY)
        return
    if any(event & (POLLERR | POLLHUP) for _, event in stdout.poll(EVERY * 1000)):
        raise BrokenPipeError


def content_of(row: Row) -> int:
    """Returns the hash of what does not depend on where counting starts."""
    return hash(tuple(row[name] for name in ("role", "kind", "tool", "size", "text", "time")))


def _calls(rows: list[Row]) -> int:
    return sum(row["kind"] == "call" for row in rows)


class Look:
    """A file that is read again and again.

    `known` counts the rows of the last look by their content. Of a long session, only the first records and the end
    from byte `start` are read again; `before` counts the rows between them, `messages` and `calls` their numbers.
    """

    def __init__(self, path: str, reading: ReadingOptions, in_short: int, longest: int | None) -> None:
        self.path, self.reading, self.in_short, self.longest = path, reading, in_short, longest
        self.file = split_line(path)[0]
        if is_url(path) or may_wait(self.file):
            raise JobError("usage", "--follow is for a file, not for a pipe, a device or a store", file=path)
        self.state: list[tuple[int, int, int]] = []
        self.has_begun = False
        self.session: str | None = None
        self.known, self.before = Counter[int](), Counter[int]()
        self.start = self.messages = self.calls = 0

    def has_changed(self) -> bool:
        """True if the file has changed since the last call."""
        before, self.state = self.state, self._state()
        is_other = before and (before[0][0] != self.state[0][0] or self.state[0][1] < self.start)
        if is_other and self.start:
            self._read_all_again()
        return before != self.state

    def _state(self) -> list[tuple[int, int, int]]:
        """Returns identity, size and time of the file, and of others in which its session grows."""
        try:
            states = [_facts(self.file)]
        except FileNotFoundError:
            raise JobError("no-such-file", "there is no such file", file=self.file) from None
        except OSError as error:
            raise JobError("unreadable-input", f"cannot read it: {error.strerror}", file=self.file) from None
        others = [self.file + LOG]
        if stands_for_folder(self.file):
            others.append(os.path.join(os.path.dirname(self.file), MESSAGES))
        for other in others:
            with suppress(OSError):
                states.append(_facts(other))
        return states

    def new_rows(self) -> list[Row]:
        """Returns the rows that the last look did not have. A call that may be running has no status.

        Raises ConvcliError if the file cannot be read."""
        transcript, now = self._read(self.start)
        session = None if transcript is None else transcript.id
        is_other = self.session is not None and session is not None and session != self.session
        if self.start and (is_other or transcript is None):
            self._read_all_again()
            transcript, now = self._read(0)
        if is_other:
            self.known.clear()
        self.session = session or self.session
        self.has_begun = self.has_begun or bool(now)
        new = [self._counted(row) for row in self._unknown(now)]
        self.known = Counter(map(content_of, now))
        if self.state[0][1] - self.start >= LONG:
            self._move(now)
        return new

    def _unknown(self, rows: list[Row]) -> Iterator[Row]:
        seen = Counter[int]()
        for row in rows:
            content = content_of(row)
            seen[content] += 1
            if seen[content] > self.known[content]:
                yield row

    def _read(self, start: int) -> tuple[Transcript | None, list[Row]]:
        """Returns the transcript of the file, if it has begun, and its rows. Raises JobError if there are several."""
        with self.reading.opened(self.path) as source:
            found: Document | None = None
            for item in source.ending(start) if start else source:
                if isinstance(item, Skipped):
                    if not item.torn:
                        raise item.error
                elif found is not None:
                    self.has_begun = True
                    message = "--follow is for one transcript, and the file has several"
                    raise JobError("usage", message, file=self.path, help="name one: FILE:LINE")
                else:
                    found = item
            if found is None:
                return None, []
            transcript = found.lift_leniently()[0]
            each = by_message(transcript, longest=self.longest, in_short=self.in_short)
            return transcript, [row | {"status": None} if row["status"] == "open" else row for row in each]

    def _move(self, now: list[Row]) -> None:
        """From now on reads the end only, if that gives the same last row and nothing was added meanwhile."""
        start = self.state[0][1] - TAIL
        try:
            _, end = self._read(start)
        except ConvcliError:
            return
        if end and now and content_of(end[-1]) == content_of(now[-1]) and self._state() == self.state:
            self.messages += now[-1]["message"] - end[-1]["message"]
            self.calls += _calls(now) - _calls(end)
            read = Counter(map(content_of, end))
            self.before += self.known - read
            self.known, self.start = read, start

    def _read_all_again(self) -> None:
        """From now on reads all of the file, which may be another session."""
        self.known, self.before = self.known + self.before, Counter()
        self.start = self.messages = self.calls = 0

    def _counted(self, row: Row) -> Row:
        call = row["call"]
        if call is not None and call.startswith("#"):
            call = f"#{int(call[1:]) + self.calls}"
        return row | {"message": row["message"] + self.messages, "call": call}

    def may_pass(self, problem: ConvcliError) -> bool:
        """True for an error that more bytes at the end of the file can remove."""
        if problem.code in CUT or not isinstance(problem, ContentError):
            return problem.code in CUT
        if problem.code in UNDETECTED:
            return self._has_only_begun()
        return problem.byte + (LAST if problem.code == "not-utf8" else 0) >= self._end()

    def _has_only_begun(self) -> bool:
        """True for a few lines: the next one may show what they are."""
        with suppress(ConvcliError), open_source(self.file, max_line=self.reading.max_line) as source:
            if source.framing == "json":
                return b"\n" not in source.document()[1].strip()
            return sum(1 for _ in islice(source.each(), LOOK_AHEAD)) < LOOK_AHEAD
        return False

    def _end(self) -> int:
        """Returns the number of bytes up to white space at the end of the file; 0 if it cannot be read."""
        try:
            with open(self.file, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(size - TAIL, 0))
                tail = file.read(TAIL)
                return size - len(tail) + len(tail.rstrip())
        except OSError:
            return 0


def _facts(path: str) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns
