"""Serves the pages of a folder by HTTP, on this machine only.

A website that is open in the same browser must not read transcripts. So every address contains a token that only this
process prints. A request must name this server as its host, because other host names can resolve to this machine. A
request from another origin is refused. No part of an address is used as a file path: it is looked up in the table of
pages.
"""

from __future__ import annotations

import io
import secrets
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any

from convcli.cli._served import PageAddress, ServedFolder, version_of
from convcli.model.errors import ConvcliError
from convcli.report import page
from convcli.views.session_rows import ListView

LOOPBACK = "127.0.0.1"
SLOWEST = 30
"""Seconds that a client may take to send its request, all of it, or to receive the next piece."""
MOST_REQUESTS = 64
"""Requests that are answered at the same time; others are closed at once."""
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class PageServer(ThreadingHTTPServer):
    """Serves a folder on the loopback address. `announce` prints an unexpected exception."""

    daemon_threads = True

    def __init__(self, folder: ServedFolder, port: int, announce: Callable[[Exception], object]) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.folder, self.announce, self.token = folder, announce, secrets.token_urlsafe(24)
        self._free = BoundedSemaphore(MOST_REQUESTS)
        names = (LOOPBACK, "localhost")
        self.hosts = {f"{name}:{self.server_port}" for name in names} | set(names if self.server_port == 80 else ())

    @property
    def address(self) -> str:
        """Returns the URL of the index."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answers in a new thread, unless too many are busy."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers, in its own thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that have gone; other errors have been answered (`do_GET`)."""


class _Request(io.RawIOBase):
    """The bytes of a request, until its time is over: a byte now and then does not hold a thread."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._end = connection, time.monotonic() + SLOWEST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(SLOWEST)


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version, sys_version = "convcli", ""
    timeout = SLOWEST
    has_begun = False
    """True if the head of the answer is sent."""

    def setup(self) -> None:
        """Reads the request within a time."""
        super().setup()
        self.rfile = io.BufferedReader(_Request(self.connection))

    def parse_request(self) -> bool:
        """Rejects requests without our host and token before anything else is read."""
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
        """Answers with a page, if the address names one, or with an error."""
        try:
            self._get()
        except OSError:  # the client has gone
            raise
        except (ConvcliError, StopIteration):  # the file is being written, or gone
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
        except Exception as error:
            self.server.announce(error)
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)

    def _get(self) -> None:
        path, _, query = self.path.partition("?")
        token, slash, name = path.removeprefix("/").partition("/")
        is_known = self.path.startswith("/") and slash == "/"
        is_known = is_known and secrets.compare_digest(token.encode(), self.server.token.encode())
        if is_known and not name:
            self._index(ListView.of_query(query))
            return
        address = self.server.folder.address(name) if is_known else None
        if address is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self._page(address, ListView.of_query(query))

    def do_HEAD(self) -> None:
        """Answers like GET, without the page."""
        self.do_GET()

    def _index(self, view: ListView) -> None:
        text = self.server.folder.index(view)
        version = f'"{sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:20]}"'
        self._answer(version, page.INDEX, lambda: [text])

    def _page(self, address: PageAddress, view: ListView) -> None:
        """Answers with the beginning of a long session, and with all of it when the page asks for more."""
        folder, version = self.server.folder, version_of(address.path)
        first = folder.beginning(address, view) if self.headers.get("If-None-Match") is None else None
        if first is not None:
            self._answer("", page.SERVED, lambda: first)
        else:
            self._answer(version, page.SERVED, lambda: folder.page(address, version, view))

    def _answer(self, version: str, frame: page.Frame, make: Callable[[], Iterable[str]]) -> None:
        """Answers with the page, unless the browser has this version."""
        if version and self.headers.get("If-None-Match") == version:
            self._begin(HTTPStatus.NOT_MODIFIED, version)
            return
        pieces = make()
        self._begin(HTTPStatus.OK, version, page.policy(frame, page.LIVE))
        for piece in pieces if self.command == "GET" else ():
            self.wfile.write(piece.encode("utf-8", "backslashreplace"))

    def _begin(self, status: HTTPStatus, version: str = "", policy: str = "default-src 'none'") -> None:
        self.has_begun = True
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", f"{policy}; frame-ancestors 'none'")
        for name, value in ({"ETag": version} if version else {}).items() | HEADERS.items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers with the status only, unless an answer has begun: an answer repeats nothing of the request."""
        if self.has_begun:
            return
        self._begin(HTTPStatus(code))
        with suppress(OSError):
            if self.command != "HEAD":
                self.wfile.write(f"{code} {HTTPStatus(code).phrase}\n".encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing: addresses contain the token."""
