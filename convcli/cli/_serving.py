"""The pages of a folder, by HTTP on this machine only.

A page of another site that a browser shows meanwhile must not get at transcripts: every address has a token that only
this process prints, a request must name this server as its host (a foreign name may resolve to this machine), and one
that a browser makes for another origin is refused. No part of an address is a path: it is looked up among the pages.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from convcli.cli._pages import SessionIndex, about_of, marks, title_of
from convcli.cli._selecting import row_of
from convcli.jobs.inputs import Document, InputFile
from convcli.model.dialect import Dialect
from convcli.model.errors import ConvcliError, JobError
from convcli.report import page
from convcli.report.text import count

if TYPE_CHECKING:
    from convcli.cli._shared import ExitCodes
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.transcript import Transcript

LOOPBACK = "127.0.0.1"
MOST_OF_FILE = 1_000
"""Transcripts of one file that have a page."""
SLOWEST = 30
"""Seconds that a client may take to send its request or to take the next piece."""
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class PageAddress(NamedTuple):
    """A transcript that has a page: its file, and which one of the file it is."""

    path: str
    number: int

    @property
    def name(self) -> str:
        """What stands in the address: it says nothing of the path."""
        return f"{sha256(os.fsencode(f'{self.path}:{self.number}')).hexdigest()[:20]}.html"


class Entry(NamedTuple):
    """What the index says of a transcript."""

    address: PageAddress
    row: dict[str, Any]
    title: str


class ServedFolder:
    """What is served: the transcripts of a folder, as they are now. A file is read again when it has changed."""

    def __init__(
        self, paths: Iterable[str], reading: ReadingOptions, codes: ExitCodes, target: Dialect | None, *, findings: bool
    ) -> None:
        self._paths, self._reading, self._codes = tuple(paths), reading, codes
        self._target, self._findings = target, findings
        self._entries = dict[str, tuple[str, list[Entry]]]()
        self._addresses = dict[str, PageAddress]()
        self._lock = Lock()

    def index(self) -> Iterator[str]:
        """The page that leads to all others."""
        index, others = SessionIndex(), 0
        for file in self._files():
            entries = self._entries_of(file.path)
            others += not entries
            for entry in entries:
                index.add(entry.row, entry.title, entry.address.name)
        return index.page(f"{count(others, 'file')} without a transcript" if others else "")

    def address(self, name: str) -> PageAddress | None:
        """The transcript whose page has this name, None where there is none."""
        if name not in self._addresses:
            for file in self._files():
                self._entries_of(file.path)
        return self._addresses.get(name)

    def page(self, address: PageAddress, version: str) -> Iterator[str]:
        """The page of a transcript. Raises ConvcliError where its file cannot be read now."""
        document, transcript = next(islice(self._transcripts(address.path), address.number, None))
        title, about = title_of(transcript, address.path), about_of(row_of(document, transcript))
        over = marks(document, transcript, self._target, findings=self._findings)
        return page.conversation(transcript, title, about, over, up="./", version=version)

    def _files(self) -> list[InputFile]:
        with suppress(JobError):
            return [file for file in self._reading.find(self._paths) if file.path != "-"]
        return []

    def _entries_of(self, path: str) -> list[Entry]:
        now = version_of(path)
        with self._lock:
            before, entries = self._entries.get(path, ("", []))
            if now != before:
                entries = list(self._read(path))
                self._entries[path] = now, entries
                self._addresses.update((entry.address.name, entry.address) for entry in entries)
        return entries

    def _read(self, path: str) -> Iterator[Entry]:
        with self._codes.guard(path):
            for number, (document, transcript) in enumerate(islice(self._transcripts(path), MOST_OF_FILE)):
                yield Entry(PageAddress(path, number), row_of(document, transcript), title_of(transcript, path))

    def _transcripts(self, path: str) -> Iterator[tuple[Document, Transcript]]:
        with self._reading.opened(path) as source:
            for item in source:
                if isinstance(item, Document):
                    yield item, item.lift()


def version_of(path: str) -> str:
    """What differs when a file has changed; empty where it is gone."""
    try:
        there = os.stat(path)
    except OSError:
        return ""
    return f'"{there.st_size:x}-{there.st_mtime_ns:x}"'


class PageServer(ThreadingHTTPServer):
    """Serves a folder on the loopback address. `address` is where it begins, with the token."""

    daemon_threads = True

    def __init__(self, folder: ServedFolder, port: int) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.folder, self.token = folder, secrets.token_urlsafe(24)
        names = (LOOPBACK, "localhost")
        self.hosts = {f"{name}:{self.server_port}" for name in names} | set(names if self.server_port == 80 else ())

    @property
    def address(self) -> str:
        """Where a browser begins."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no error of ours, and what failed has been answered."""


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version, sys_version = "convcli", ""
    timeout = SLOWEST

    def parse_request(self) -> bool:
        """Nothing of a request is looked at before it is known to be one of ours."""
        if not super().parse_request():
            return False
        refused = self._refusal()
        if refused is not None:
            self.send_error(refused)
        return refused is None

    def _refusal(self) -> HTTPStatus | None:
        hosts, origins = self.headers.get_all("Host") or [], self.headers.get_all("Origin") or []
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            return HTTPStatus.MISDIRECTED_REQUEST
        sites = self.headers.get_all("Sec-Fetch-Site") or []
        if any(origin != f"http://{hosts[0]}" for origin in origins) or set(sites) - {"none", "same-origin"}:
            return HTTPStatus.FORBIDDEN
        return None if self.command in ("GET", "HEAD") else HTTPStatus.METHOD_NOT_ALLOWED

    def do_GET(self) -> None:
        """A page, if the address is one."""
        token, slash, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        is_known = self.path.startswith("/") and slash == "/"
        is_known = is_known and secrets.compare_digest(token.encode(), self.server.token.encode())
        if is_known and not name:
            self._send(self.server.folder.index, page.policy())
            return
        address = self.server.folder.address(name) if is_known else None
        if address is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        version = version_of(address.path)
        if version and self.headers.get("If-None-Match") == version:
            self._begin(HTTPStatus.NOT_MODIFIED, version)
            return
        self._send(lambda: self.server.folder.page(address, version), page.policy(page.LIVE), version)

    def do_HEAD(self) -> None:
        """What GET would answer, without the page."""
        self.do_GET()

    def _send(self, make: Any, policy: str, version: str = "") -> None:
        try:
            pieces = make()
        except (ConvcliError, StopIteration):  # it is being written, or gone
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        self._begin(HTTPStatus.OK, version, policy)
        for piece in pieces if self.command == "GET" else ():
            self.wfile.write(piece.encode("utf-8", "backslashreplace"))

    def _begin(self, status: HTTPStatus, version: str = "", policy: str = "default-src 'none'") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", f"{policy}; frame-ancestors 'none'")
        for name, value in ({"ETag": version} if version else {}).items() | HEADERS.items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The status and nothing else: an answer repeats nothing of the request."""
        self._begin(HTTPStatus(code))
        with suppress(OSError):
            if self.command != "HEAD":
                self.wfile.write(f"{code} {HTTPStatus(code).phrase}\n".encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Addresses have the token: nothing is logged."""
