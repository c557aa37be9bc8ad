"""convcli serve: pages on this machine only, for whoever knows the address, and for nothing else."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from convcli.cli._served import PageAddress
from convcli.cli._serving import PageServer
from tests.cli_cases import CLEAN, command, environment, run, write

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
HOSTILE_CHAT = {"messages": [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": HOSTILE}]}

LONG_SESSION = [
    {"type": "session", "version": 3, "id": "s", "cwd": "/"},
    *(
        {
            "type": "message",
            "id": f"m{number}",
            "message": {"role": "user", "content": f"number {number} {'x' * 9_000}"},
        }
        for number in range(999)
    ),
]
"""Too long to be read at once."""


class Answer(NamedTuple):
    """What the server says."""

    status: int
    headers: dict[str, str]
    text: str


class Served:
    """The program while it serves a folder."""

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        """Without a cache, the index is a temporary file."""
        call = command("serve", folder, "--isolated", *(() if cache is not None else ("--no-cache",)))
        env = environment(XDG_CACHE_HOME=str(cache))
        self.process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().decode().strip()
        self.begin = urlsplit(self.address).path
        self.host = urlsplit(self.address).netloc

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """One request, with these headers in place of the usual; `_` in their names stands for `-`."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": self.host, **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        reported = Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        connection.close()
        return reported

    def send(self, request: bytes) -> bytes:
        """What comes back for these bytes."""
        host, _, port = self.host.partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def index(self, query: str = "") -> Answer:
        """The list, when all files are read."""
        end = time.monotonic() + 60
        while "still" in (answer := self.ask(self.begin + query)).text and time.monotonic() < end:
            time.sleep(0.05)
        return answer

    def page(self, title: str) -> str:
        """The address of the page that the index calls so."""
        return self.begin + next(address for address, name in entries(self.index().text) if name == title)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def entries(index: str) -> list[tuple[str, str]]:
    """The address and the title of each session, in the order of the list."""
    return re.findall(r'<a href="([0-9a-f]+\.html)[^"]*" title="[^"]*"[^>]*>([^<]*)<', index)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served")
    write(path / "clean.json", CLEAN)
    write(path / "hostile.json", HOSTILE_CHAT)
    write(path / "other.json", {"x": 1})
    (path / "secret.txt").write_text("never\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    server = Served(folder)
    yield server
    server.end()


def test_the_index_leads_to_a_page_of_each_transcript(served: Served) -> None:
    index = served.index()
    assert (index.status, index.text.count('<tr class="item">')) == (200, 2)
    assert "<span>2 sessions</span>" in index.text
    assert "<span>4 messages</span>" in index.text
    assert "1 file without a transcript" in index.text
    page = served.ask(served.page("hi"))
    assert (page.status, "hello" in page.text) == (200, True)
    assert '<a href="./">all sessions</a>' in page.text


def test_every_answer_has_the_strict_headers(served: Served) -> None:
    for path in (served.begin, served.page("hi"), "/", "/nothing"):
        headers = served.ask(path).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert policy.endswith("; frame-ancestors 'none'")
        assert "unsafe" not in policy
        assert {name: headers[name] for name in STRICT} == STRICT
        assert "Python" not in headers["Server"]
    for path in (served.begin, served.page("hi")):
        assert "connect-src 'self'" in served.ask(path).headers["Content-Security-Policy"]
    assert "connect-src" not in served.ask("/").headers["Content-Security-Policy"]


STRICT = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


def test_hostile_text_is_text_in_what_is_served(served: Served) -> None:
    page = served.ask(served.page(HOSTILE.replace("<", "&lt;").replace(">", "&gt;"))).text
    assert (page.count("<script"), page.count("onerror=alert(1)&gt;") > 3) == (1, True)
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1.evil.example:{port}"},
        {"Host": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_another_host_or_origin_is_refused(served: Served, headers: dict[str, str]) -> None:
    port = served.host.partition(":")[2]
    for path in (served.begin, served.page("hi")):
        answer = served.ask(path, **{name: value.format(port=port) for name, value in headers.items()})
        assert answer.status in (403, 421)
        assert len(answer.text) < 40


def test_its_own_name_and_origin_are_taken(served: Served) -> None:
    local = f"localhost:{served.host.partition(':')[2]}"
    assert served.ask(served.begin, Host=local, Origin=f"http://{local}").status == 200
    assert served.ask(served.begin, Sec_Fetch_Site="same-origin").status == 200
    assert served.ask(served.begin, Sec_Fetch_Site="none").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "X" * 99])
def test_it_is_read_only(served: Served, method: str) -> None:
    assert served.ask(served.begin, method).status == 405


def test_head_has_the_headers_of_get_and_no_page(served: Served) -> None:
    answer = served.ask(served.page("hi"), "HEAD")
    assert (answer.status, answer.text) == (200, "")
    assert answer.headers["ETag"] == served.ask(served.page("hi")).headers["ETag"]


@pytest.mark.parametrize(
    "path",
    [
        "/", "/x/", "{token}", "{begin}..", "{begin}../", "{begin}../../etc/passwd", "{begin}%2e%2e/%2e%2e/etc/passwd",
        "{begin}secret.txt", "{begin}clean.json", "{begin}/", "{begin}//etc/passwd", "//127.0.0.1{begin}", "/é".encode()
        .decode("latin-1"), "{begin}a.html?{begin}", "{begin}\\..\\x", "http://evil.example{begin}",
    ],
)  # fmt: skip
def test_a_path_is_the_name_of_a_page_or_nothing(served: Served, path: str) -> None:
    request = f"GET {path.format(begin=served.begin, token=served.begin.rstrip('/'))} HTTP/1.1\r\nHost: {served.host}"
    answer = served.send(f"{request}\r\n\r\n".encode("latin-1"))
    assert answer.partition(b"\r\n")[0].split()[1] == b"404"
    assert b"never" not in answer


@pytest.mark.parametrize(
    "request_",
    [
        b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET " + b"a" * 70_000, b"",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET {begin}\r\n", b"GET {begin} HTTP/1.1\r\n\r\n",
        b"GET {begin} HTTP/1.1\r\nHost: {host}\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET {begin} HTTP/1.1\r\nHost: {host}\r\n" + b"X: a\r\n" * 200 + b"\r\n",
        b"GET {begin} HTTP/1.1\r\nHost: {host}, evil.example\r\n\r\n",
        b"GET {begin} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: {host}\r\n\r\n",
        b"GET {begin} HTTP/1.1\r\nX: y\r\n Host: {host}\r\n\r\n",
        b"GET http://{host}{begin} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ],
    ids=range(16),
)  # fmt: skip
def test_what_is_no_request_gets_nothing_and_the_server_goes_on(served: Served, request_: bytes) -> None:
    whole = request_.replace(b"{begin}", served.begin.encode()).replace(b"{host}", served.host.encode())
    assert b"200" not in served.send(whole)[:20]
    two_hosts = f"GET {served.begin} HTTP/1.1\r\nHost: {served.host}\r\nHost: evil.example\r\n\r\n"
    assert b"421" in served.send(two_hosts.encode())[:20]
    assert served.ask(served.begin).status == 200


def test_what_follows_a_request_is_no_request(served: Served) -> None:
    """One connection is one request: none can hide in the body of another."""
    second = f"GET {served.begin} HTTP/1.1\r\nHost: {served.host}\r\n\r\n"
    for more in ("", "Connection: keep-alive\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"):
        both = f"HEAD {served.begin} HTTP/1.1\r\nHost: {served.host}\r\n{more}\r\n{second}"
        answer = served.send(both.encode())
        assert (answer.count(b"HTTP/1."), answer.count(b"<html")) == (1, 0)


@pytest.mark.exhaustive
def test_slow_clients_keep_nobody_waiting(served: Served) -> None:
    host, _, port = served.host.partition(":")
    slow = [socket.create_connection((host, int(port)), timeout=60) for _ in range(30)]
    for connection in slow:
        connection.sendall(b"GET / HTTP/1.1\r\nHost")
    assert served.ask(served.begin).status == 200
    for connection in slow:
        connection.close()


def test_what_a_link_leads_to_outside_and_a_pipe_are_no_part_of_the_folder(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    (inside / "below").mkdir(parents=True)
    write(outside / "a.json", {"messages": [{"role": "user", "content": "outside"}]})
    own = write(inside / "below" / "b.json", {"messages": [{"role": "user", "content": "inside"}]})
    (inside / "link.json").symlink_to(outside / "a.json")
    (inside / "own.json").symlink_to(own)
    (inside / "folder").symlink_to(outside)
    os.mkfifo(inside / "pipe.json")
    server = Served(inside)
    try:
        assert [title for _, title in entries(server.index().text)] == ["inside", "inside"]
    finally:
        server.end()


def test_a_listed_file_that_becomes_a_link_or_a_pipe_is_no_longer_served(tmp_path: Path) -> None:
    secret = {"messages": [{"role": "user", "content": "secret"}]}
    outside, inside = write(tmp_path / "outside.json", secret), tmp_path / "inside"
    inside.mkdir()
    listed = write(inside / "a.json", {"messages": [{"role": "user", "content": "inside"}]})
    server = Served(inside)
    try:
        page = server.page("inside")
        assert server.ask(page).status == 200
        for replace in (lambda: listed.symlink_to(outside), lambda: os.mkfifo(listed)):
            listed.unlink()
            replace()
            answer = server.ask(page)
            assert answer.status == 503
            assert "secret" not in answer.text
    finally:
        server.end()


def drip(client: socket.socket) -> None:
    for _ in range(2_000):
        client.sendall(b"G")
        time.sleep(0.01)


class Broken:
    """A folder with a bug: it breaks before the page or within it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def index(self, view: object) -> str:
        return self.text or str(1 / 0)

    def address(self, name: str) -> object:
        return PageAddress("x", 0)

    def beginning(self, address: object, view: object) -> Iterator[str]:
        yield self.text
        yield str(1 / 0)


def test_a_bug_is_reported_and_answered() -> None:
    bugs = list[Exception]()
    server = PageServer(Broken(""), 0, bugs.append)  # type: ignore[arg-type]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        path, client = urlsplit(server.address).path, http.client.HTTPConnection(*server.server_address[:2])
        client.request("GET", path)
        assert client.getresponse().status == 500
        client.request("GET", f"{path}page.html")
        page = client.getresponse()
        assert (page.status, page.read()) == (200, b"")
        assert [type(bug) for bug in bugs] == [ZeroDivisionError] * 2
    finally:
        server.shutdown()
        server.server_close()


def test_a_drip_of_bytes_does_not_hold_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convcli.cli._serving.SLOWEST", 0.2)
    server = PageServer(None, 0, print)  # type: ignore[arg-type]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        client = socket.create_connection(server.server_address[:2], timeout=60)
        with contextlib.closing(client), pytest.raises(OSError):
            drip(client)
    finally:
        server.shutdown()
        server.server_close()


def test_more_clients_than_are_answered_are_closed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convcli.cli._serving.MOST_REQUESTS", 2)
    server = PageServer(None, 0, print)  # type: ignore[arg-type]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    clients = [socket.create_connection(server.server_address[:2], timeout=60) for _ in range(3)]
    try:
        assert clients[2].recv(1) == b""
    finally:
        for client in clients:
            client.close()
        server.shutdown()
        server.server_close()


def test_who_opens_a_long_session_gets_its_beginning_and_then_all_of_it(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", *LONG_SESSION)
    server = Served(tmp_path)
    try:
        while not (listed := entries((index := server.ask(server.begin)).text)):
            pass  # a busy machine: its beginning is not read yet
        assert '<td class="messages">…</td>' in index.text
        ((name, _),) = listed
        first = server.ask(server.begin + name)
        assert ("number 500 " in first.text, "number 998 " in first.text) == (True, False)
        assert 'data-version="0"' in first.text
        assert "the rest is being read" in first.text
        assert "ETag" not in first.headers
        whole = server.ask(server.begin + name, If_None_Match="0")
        assert ("number 998 " in whole.text, "the rest is being read" in whole.text) == (True, False)
        assert server.ask(server.begin + name, If_None_Match=whole.headers["ETag"]).status == 304
        counted = server.index()
        assert '<td class="messages">999</td>' in counted.text
        assert server.ask(server.begin, If_None_Match=counted.headers["ETag"]).status == 304
    finally:
        server.end()


def test_a_session_that_grows_has_a_new_version(tmp_path: Path) -> None:
    file = write(tmp_path / "s.json", CLEAN)
    server = Served(tmp_path)
    try:
        page = server.page("hi")
        before = server.ask(page)
        assert server.ask(page, If_None_Match=before.headers["ETag"]).status == 304
        more = {**CLEAN, "messages": [*CLEAN["messages"], {"role": "user", "content": "And more."}]}
        write(file, more)
        after = server.ask(page, If_None_Match=before.headers["ETag"])
        assert (after.status, "And more." in after.text) == (200, True)
        file.write_text(json.dumps(more)[:-9], "utf-8")
        assert server.ask(page).status == 503
        file.unlink()
        assert server.ask(page).status == 503
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == -signal.SIGINT
    finally:
        server.end()


def said(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {
        **CLEAN,
        "messages": [{"role": "user", "content": f"prompt {number}"}, {"role": "assistant", "content": text}],
        **more,
    }


def test_the_text_of_all_sessions_is_searched_and_the_page_keeps_the_list(tmp_path: Path) -> None:
    for number, text in enumerate(("the quick brown fox", "a slow fox", "nothing")):
        write(tmp_path / f"{number}.json", said(number, text))
    server = Served(tmp_path)
    try:
        server.index()
        found = server.ask(f"{server.begin}?find=OW%20FO&by=none")
        ((name, title),) = entries(found.text)
        assert title == "prompt 1"
        assert "a sl<mark>ow fo</mark>x" in found.text
        assert f'href="{name}?by=none&amp;find=OW+FO#m1&amp;q=OW%20FO"' in found.text
        page = server.ask(f"{server.begin}{name}?find=fox&sort=title")
        assert [title for _, title in entries(page.text)] == ["prompt 0", "prompt 1"]
        assert page.text.count('aria-current="page"') == 1
        assert entries(server.ask(f"{server.begin}?find=%3Cscript%3E").text) == []
    finally:
        server.end()


def test_the_index_is_private_kept_and_follows_the_files(tmp_path: Path) -> None:
    folder, cache = tmp_path / "sessions", tmp_path / "cache"
    folder.mkdir()
    write(folder / "a.json", said(1, "sesame"))
    gone = write(folder / "b.json", said(2, "sesame"))
    server = Served(folder, cache)
    try:
        assert len(entries(server.index("?find=sesame").text)) == 2
    finally:
        server.end()
    files = list((cache / "convcli").iterdir())
    assert files
    assert {file.stat().st_mode & 0o077 for file in (cache / "convcli", *files)} == {0}
    gone.unlink()
    write(folder / "a.json", said(1, "poppy"))
    server = Served(folder, cache)
    try:
        assert [title for _, title in entries(server.index().text)] == ["prompt 1"]
        assert entries(server.index("?find=sesame").text) == []
        assert len(entries(server.index("?find=poppy").text)) == 1
        (folder / "a.json").unlink()
        assert entries(server.index().text) == []
    finally:
        server.end()
    (index,) = (cache / "convcli").glob("*.sqlite")
    assert b"poppy" not in index.read_bytes()


def test_without_a_cache_nothing_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    write(folder / "a.json", CLEAN)
    (tmp_path / "cache").write_text("a file", "utf-8")
    server = Served(folder, tmp_path / "cache")
    try:
        assert len(entries(server.index("?find=hello").text)) == 1
    finally:
        server.process.kill()
        assert b"the index is kept in a temporary file" in server.process.communicate()[1]
    assert sorted(os.listdir(tmp_path)) == ["cache", "sessions"]


def test_it_listens_on_the_loopback_address_only_and_its_token_is_new_each_time(served: Served, folder: Path) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/[\w-]{32}/", served.address)
    other = Served(folder)
    other.end()
    assert other.begin != served.begin


@pytest.mark.parametrize("words", [["none"], []])
def test_a_folder_without_files_is_told_and_nothing_is_served(tmp_path: Path, words: list[Any]) -> None:
    done = run("serve", *words or [tmp_path], cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    write(tmp_path / "a.json", CLEAN)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("serve", tmp_path, "--port", taken.getsockname()[1], timeout=60)
    assert done.returncode == 2
    assert b"error[usage] cannot listen on 127.0.0.1" in done.stderr
