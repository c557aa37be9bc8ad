"""The served folder: the transcripts that have a page, and the content of the pages.

Reading a long session takes several seconds. So its first page shows only the beginning, and its row in the index has
no counts. The pages reload themselves, and later requests get the whole session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from convcli.cli._beginning import beginning
from convcli.cli._pages import TOTALS, SessionIndex, marks, title_of
from convcli.jobs.inputs import Document, InputFile
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.report import page
from convcli.validation.wording import counted
from convcli.views.columns import row_of
from convcli.views.facts import Fact, facts_of

if TYPE_CHECKING:
    from convcli.cli._shared import ExitCodes
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.transcript import Transcript

MOST_OF_FILE = 1_000
"""Transcripts of one file that have a page."""
UNKNOWN = dict.fromkeys(TOTALS)
"""Columns that are unknown if only the beginning of a session was read."""


class PageAddress(NamedTuple):
    """A transcript with a page: its file, and its number in the file."""

    path: str
    number: int

    @property
    def name(self) -> str:
        """Returns the name in the address, which reveals nothing of the path."""
        return f"{sha256(os.fsencode(f'{self.path}:{self.number}')).hexdigest()[:20]}.html"


class Entry(NamedTuple):
    """A row of the index."""

    address: PageAddress
    row: dict[str, Any]
    title: str


class ServedFolder:
    """The transcripts of a folder, as they are now. A changed file is read again, a long one in the background."""

    def __init__(
        self, paths: Iterable[str], reading: ReadingOptions, codes: ExitCodes, target: Dialect | None, *, findings: bool
    ) -> None:
        self._paths, self._reading, self._codes = tuple(paths), reading, codes
        self._target, self._findings = target, findings
        self._entries = dict[str, tuple[str, list[Entry]]]()
        self._addresses = dict[str, PageAddress]()
        self._found = dict[str, InputFile]()
        self._lock = Lock()
        self._unread, self._waiting = SimpleQueue[str](), set[str]()
        Thread(target=self._read_long, daemon=True).start()

    def index(self) -> str:
        """Returns the index."""
        index, others = SessionIndex(), 0
        for file in self._files():
            entries = self._entries_of(file.path)
            others += not entries
            for entry in entries:
                index.add(entry.row, entry.title, entry.address.name)
        return "".join(index.page(f"{counted(others, 'file')} without a transcript" if others else "", live=True))

    def address(self, name: str) -> PageAddress | None:
        """Returns the transcript whose page has this name, None for an unknown name."""
        if name not in self._addresses:
            for file in self._files():
                self._entries_of(file.path)
        return self._addresses.get(name)

    def page(self, address: PageAddress, version: str) -> Iterator[str]:
        """Returns the page of a transcript. Raises ConvcliError if its file cannot be read now."""
        document, transcript = next(islice(self._transcripts(address.path), address.number, None))
        return self._page(document, transcript, version)

    def beginning(self, address: PageAddress) -> Iterator[str] | None:
        """Returns the page of the beginning of a long session, None for anything else."""
        document = beginning(address.path, self._reading) if self._is_still_served(address.path) else None
        if document is None:
            return None
        return self._page(
            document, document.lift_leniently()[0], page.FIRST, "this is its beginning, the rest is being read"
        )

    def _page(self, document: Document, transcript: Transcript, version: str, *more: str) -> Iterator[str]:
        title = title_of(transcript, document.file)
        about = [*facts_of(document, transcript, row_of(document, transcript)), *map(Fact, more)]
        over = marks(document, transcript, self._target, findings=self._findings)
        return page.conversation(transcript, title, about, over, up="./", version=version)

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

    def _entries_of(self, path: str) -> list[Entry]:
        now = version_of(path)
        with self._lock:
            before, entries = self._entries.get(path, ("", []))
        if now == before:
            return entries
        document = beginning(path, self._reading)
        if document is None:
            return self._keep(path, now, list(self._read(path)))
        self._read_later(path)
        return entries or self._keep(path, "", [_entry(path, 0, document, document.lift_leniently()[0], UNKNOWN)])

    def _keep(self, path: str, version: str, entries: list[Entry]) -> list[Entry]:
        with self._lock:
            self._entries[path] = version, entries
            self._addresses.update((entry.address.name, entry.address) for entry in entries)
        return entries

    def _read_later(self, path: str) -> None:
        with self._lock:
            if path not in self._waiting:
                self._waiting.add(path)
                self._unread.put(path)

    def _read_long(self) -> None:
        while True:
            path = self._unread.get()
            self._keep(path, version_of(path), list(self._read(path)))
            with self._lock:
                self._waiting.discard(path)

    def _read(self, path: str) -> Iterator[Entry]:
        with self._codes.guard(path):
            for number, (document, transcript) in enumerate(islice(self._transcripts(path), MOST_OF_FILE)):
                yield _entry(path, number, document, transcript)

    def _transcripts(self, path: str) -> Iterator[tuple[Document, Transcript]]:
        if not self._is_still_served(path):
            raise JobError("no-such-file", "this file is no longer in the folder", file=path)
        with self._reading.opened(path) as source:
            for item in source:
                if isinstance(item, Document):
                    yield item, item.lift_leniently()[0]


def _entry(
    path: str, number: int, document: Document, transcript: Transcript, unknown: Mapping[str, Any] | None = None
) -> Entry:
    row = {**row_of(document, transcript), **(unknown or {})}
    return Entry(PageAddress(path, number), row, title_of(transcript, path))


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
