"""The served folder: the transcripts that have a page, and the content of the pages.

A thread reads the files, the newest first, and stores their rows and texts. A list shows what is stored so far. Reading
a long session takes several seconds. So its first page shows only the beginning, and its row in the list has no counts
at first. The pages reload themselves, and later requests get the whole session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from queue import PriorityQueue
from threading import Condition, Thread
from typing import TYPE_CHECKING, NamedTuple

from convcli.cli._beginning import beginning
from convcli.cli._pages import marks, title_of
from convcli.jobs.agent_files import with_runs
from convcli.jobs.documents import Document
from convcli.jobs.paths import InputFile
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.report import page
from convcli.report.page.sessions import SessionList
from convcli.validation.wording import counted
from convcli.views.columns import row_of
from convcli.views.costs import Prices
from convcli.views.facts import Fact, facts_of
from convcli.views.session_rows import ListView, SessionRow, session_row, uncounted
from convcli.views.session_store import StoredSession
from convcli.views.session_texts import message_texts

if TYPE_CHECKING:
    from convcli.cli._diagnostics import ExitCodes
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.transcript import Transcript
    from convcli.views.session_store import SessionStore

MOST_OF_FILE = 1_000
"""Transcripts of one file that have a page."""
PATIENCE = 1.0
"""Seconds that a list waits for files that are being read."""


class PageAddress(NamedTuple):
    """A transcript with a page: its file, and its number in the file."""

    path: str
    number: int

    @property
    def name(self) -> str:
        """Returns the name in the address, which reveals nothing of the path."""
        return f"{sha256(os.fsencode(f'{self.path}:{self.number}')).hexdigest()[:20]}.html"


class _Unread(NamedTuple):
    """A file to read. The smallest is read first: the newest, and then the rest of long sessions."""

    is_rest: bool
    age: float
    path: str


class ServedFolder:
    """The transcripts of a folder, as they are now. Changed files are read again in the background."""

    def __init__(
        self,
        paths: Iterable[str],
        reading: ReadingOptions,
        codes: ExitCodes,
        store: SessionStore,
        prices: Prices,
        *,
        target: Dialect | None = None,
        findings: bool = False,
    ) -> None:
        self._paths, self._reading, self._codes, self._store = tuple(paths), reading, codes, store
        self._prices, self._target, self._findings = prices, target, findings
        self._found, self._addresses = dict[str, InputFile](), dict[str, PageAddress]()
        self._versions, self._rows = store.versions(), dict[str, dict[str, SessionRow]]()
        for path, rows in store.rows().items():
            self._keep(path, rows)
        self._unread, self._waiting = PriorityQueue[_Unread](), dict[str, bool]()
        self._changed = Condition()
        Thread(target=self._read_all, daemon=True).start()
        self._look()

    def index(self, view: ListView) -> str:
        """Returns the index."""
        shown, notes = self._list(view, wait=PATIENCE)
        return "".join(page.index("Sessions", shown, notes, live=True))

    def address(self, name: str) -> PageAddress | None:
        """Returns the transcript whose page has this name, None for an unknown name."""
        if name not in self._addresses:
            self._list(ListView(), wait=PATIENCE)
        return self._addresses.get(name)

    def page(self, address: PageAddress, version: str, view: ListView) -> Iterator[str]:
        """Returns the page of a transcript. Raises ConvcliError if its file cannot be read now."""
        document, transcript = next(islice(self._transcripts(address.path), address.number, None))
        return self._page(document, transcript, version, address, view)

    def beginning(self, address: PageAddress, view: ListView) -> Iterator[str] | None:
        """Returns the page of the beginning of a long session, None for anything else."""
        document = beginning(address.path, self._reading) if self._is_still_served(address.path) else None
        if document is None:
            return None
        more = "this is its beginning, the rest is being read"
        return self._page(document, document.lift_leniently()[0], page.FIRST, address, view, more)

    def _page(
        self,
        document: Document,
        transcript: Transcript,
        version: str,
        address: PageAddress,
        view: ListView,
        *more: str,
    ) -> Iterator[str]:
        title = title_of(transcript, document.file)
        about = [*facts_of(document, transcript, row_of(document, transcript), self._prices), *map(Fact, more)]
        if not more:
            transcript = with_runs(transcript, document.file, self._reading.opened, self._is_still_served)
        over = marks(document, transcript, self._target, findings=self._findings)
        shown = self._list(view)[0]._replace(here=address.name, current=address.name)
        up = f"./{view.query}"
        return page.conversation(transcript, title, about, over, up=up, version=version, sessions=shown)

    def _list(self, view: ListView, wait: float = 0.0) -> tuple[SessionList, list[str]]:
        """Returns the list of what is stored, and notes about the rest. Waits so many seconds for unread files."""
        paths = self._look()
        with self._changed:
            self._changed.wait_for(lambda: all(self._waiting.get(path, True) for path in paths), wait)
            rows = {path: self._rows[path] for path in paths if path in self._rows}
            unread = sum(not self._waiting.get(path, True) for path in paths)
        others = sum(path not in rows or not rows[path] for path in paths) - unread
        notes = [f"{counted(unread, 'file')} still to be read"] if unread else []
        notes += [f"{counted(others, 'file')} without a transcript"] if others > 0 else []
        result = self._store.search(view.find) if view.find else None
        if result is not None and not result.is_complete:
            notes.append("the search took too long: there may be more hits")
        every = {name: row for each in rows.values() for name, row in each.items()}
        return SessionList(every, view, None if result is None else result.hits, "./"), notes

    def _look(self) -> list[str]:
        """Returns the files that are there now, and notes which of them have to be read."""
        paths = [file.path for file in self._files()]
        with self._changed:
            gone = self._versions.keys() - set(paths)
            for path in gone:
                self._versions.pop(path)
                self._rows.pop(path, None)
        self._store.forget(gone)
        for path in paths:
            if version_of(path) != self._versions.get(path):
                self._read_later(path)
        return paths

    def _files(self) -> list[InputFile]:
        with suppress(JobError):
            files = [file for file in self._reading.find(self._paths) if self._is_served(file)]
            self._found.update((file.path, file) for file in files)
            return files
        return []

    def _is_served(self, file: InputFile) -> bool:
        return file.path in self._paths or _is_inside(file)

    def _is_still_served(self, path: str) -> bool:
        """True if a file that was listed is not a link or pipe by now."""
        file = self._found.get(path)
        return file is not None and self._is_served(file)

    def _keep(self, path: str, rows: dict[str, SessionRow]) -> None:
        self._rows[path] = rows
        self._addresses.update((name, PageAddress(path, number)) for number, name in enumerate(rows))

    def _read_later(self, path: str) -> None:
        with self._changed:
            if path not in self._waiting:
                self._waiting[path] = False
                self._unread.put(_Unread(False, -_changed_at(path), path))

    def _read_all(self) -> None:
        while True:
            unread = self._unread.get()
            path, version, rows = unread.path, version_of(unread.path), dict[str, SessionRow]()
            with self._codes.guard(path):
                first = None if unread.is_rest else self._first_row(path)
                rows = {PageAddress(path, 0).name: first} if first is not None else self._read(path, version)
            with self._changed:
                self._versions[path] = version
                self._keep(path, rows)
                self._waiting.pop(path)
                if any(row.messages is None for row in rows.values()):
                    self._waiting[path] = True
                    self._unread.put(unread._replace(is_rest=True))
                self._changed.notify_all()

    def _first_row(self, path: str) -> SessionRow | None:
        """Returns the row of a long session that has none yet, None for others."""
        document = None if self._rows.get(path) else beginning(path, self._reading)
        if document is None:
            return None
        transcript = document.lift_leniently()[0]
        return uncounted(session_row(document, transcript, title_of(transcript, path), self._prices))

    def _read(self, path: str, version: str) -> dict[str, SessionRow]:
        rows = self._store.replace(path, self._sessions(path))
        self._store.finish(path, version)
        return rows

    def _sessions(self, path: str) -> Iterator[StoredSession]:
        for number, (document, transcript) in enumerate(islice(self._transcripts(path), MOST_OF_FILE)):
            row = session_row(document, transcript, title_of(transcript, path), self._prices)
            yield StoredSession(PageAddress(path, number).name, row, message_texts(transcript))

    def _transcripts(self, path: str) -> Iterator[tuple[Document, Transcript]]:
        if not self._is_still_served(path):
            raise JobError("no-such-file", "this file is no longer in the folder", file=path)
        with self._reading.opened(path) as source:
            for item in source:
                if isinstance(item, Document):
                    yield item, item.lift_leniently()[0]


def _changed_at(path: str) -> float:
    with suppress(OSError):
        return os.stat(path).st_mtime
    return 0.0


def _is_inside(file: InputFile) -> bool:
    """True for a regular file in the folder; False for a pipe, or a link to somewhere else."""
    root, place = (os.path.realpath(path) for path in (file.path.removesuffix(file.relative) or ".", file.path))
    return place.startswith(os.path.join(root, "")) and os.path.isfile(place)


def version_of(path: str) -> str:
    """Returns values that differ when a file has changed; none if it is gone."""
    try:
        there = os.stat(path)
    except OSError:
        return ""
    return f'"{there.st_size:x}-{there.st_mtime_ns:x}"'
