"""The rows and texts of many sessions in a SQLite database, so that they are read once and searched quickly.

The database is a cache: whatever is wrong with it, it is made again. The index has three characters per entry, so a
search finds any part of a word in any language; texts that it proposes are compared with what is searched for.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Lock
from typing import Any, NamedTuple

import msgspec

from convcli.files.packed import unreadable
from convcli.files.sqlite import JOURNAL, LOG, SHARED_MEMORY
from convcli.views.session_rows import SessionRow

FORMAT = 2
"""The version of the tables. Databases of other versions are made again."""
CACHE = 8 << 20
"""Bytes of the database in memory."""
LONGEST_SEARCH_SECONDS = 2.0
"""Seconds after which a search ends with what it has found."""
PART = 3
"""Characters of an entry of the index; shorter texts are looked for without it."""
BEFORE, AFTER = 40, 100
"""Characters of the text before and after a hit that are shown."""
TABLES = """
CREATE TABLE files (path BLOB PRIMARY KEY, version TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (name TEXT PRIMARY KEY, path BLOB NOT NULL, number INTEGER NOT NULL, row BLOB NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, session TEXT NOT NULL, message INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX sessions_of_file ON sessions (path);
CREATE INDEX texts_of_session ON texts (session);
"""
INDEX = (
    "CREATE VIRTUAL TABLE parts USING fts5(text, content='texts', content_rowid='id', tokenize='trigram', detail=none)"
)
_OF_FILE = "SELECT id FROM texts WHERE session IN (SELECT name FROM sessions WHERE path = ?)"
_SPACES = dict.fromkeys((0, 9, 10, 11, 12, 13, 28, 29, 30, 31, 133, 160, 8232, 8233), " ")
"""White space, and the character at which SQLite ends a text."""


class StoredSession(NamedTuple):
    """A session to store: the name of its page, its row, and the texts of its messages by their index."""

    name: str
    row: SessionRow
    texts: Iterable[tuple[int, str]]


class TextHit(NamedTuple):
    """A session that contains a text: in how many messages, the first of them, and the text around it."""

    messages: int
    message: int
    before: str
    text: str
    after: str


class SearchResult(NamedTuple):
    """The sessions that contain a text, by the name of their page. Not complete if the time was too short."""

    hits: dict[str, TextHit]
    is_complete: bool = True


class SessionStore:
    """Sessions by the file that contains them. Without a path they are kept in a temporary file that ends with it."""

    def __init__(self, path: str = "") -> None:
        self._lock, self._path = Lock(), path
        try:
            self._database = self._open()
        except sqlite3.Error:
            for end in (LOG, SHARED_MEMORY, JOURNAL, ""):
                with suppress(OSError):
                    if path:
                        os.truncate(path + end, 0)
            with self._reported():
                self._database = self._open()

    def versions(self) -> dict[str, str]:
        """Returns the version of each file that was read completely."""
        return {os.fsdecode(path): version for path, version in self._rows("SELECT path, version FROM files")}

    def rows(self) -> dict[str, dict[str, SessionRow]]:
        """Returns the rows of all sessions, by file and by the name of their page."""
        rows = dict[str, dict[str, SessionRow]]()
        for path, name, row in self._rows("SELECT path, name, row FROM sessions ORDER BY path, number"):
            rows.setdefault(os.fsdecode(path), {})[name] = msgspec.json.decode(row, type=SessionRow)
        return rows

    def replace(self, path: str, sessions: Iterable[StoredSession]) -> dict[str, SessionRow]:
        """Stores the sessions of a file in place of those that it had. Returns their rows.

        They are stored one by one: the memory is that of one session. `finish` says that they were all.
        """
        rows = dict[str, SessionRow]()
        for number, session in enumerate(sessions):
            with self._writing():
                if number == 0:
                    self._forget(path)
                self._add(path, number, session)
            rows[session.name] = session.row
        if not rows:
            self.forget([path])
        return rows

    def finish(self, path: str, version: str) -> None:
        """States that all sessions of a file were read in this version."""
        with self._writing():
            self._database.execute("INSERT OR REPLACE INTO files VALUES (?, ?)", (os.fsencode(path), version))

    def forget(self, paths: Iterable[str]) -> None:
        """Removes the sessions of files."""
        for path in paths:
            with self._writing():
                self._forget(path)

    def search(self, text: str) -> SearchResult:
        """Returns the sessions that contain a text, in capitals or not."""
        wanted, hits = _flat(text).lower(), dict[str, TextHit]()
        end = time.monotonic() + LONGEST_SEARCH_SECONDS
        with closing(self._candidates(wanted)) as candidates:
            for session, message, content in candidates:
                if time.monotonic() > end:
                    return SearchResult(hits, is_complete=False)
                at = content.lower().find(wanted)
                if at >= 0:
                    known = hits.get(session)
                    is_later = known is not None and known.message < message
                    hit = known if known is not None and is_later else _hit(content, at, len(wanted), message)
                    hits[session] = hit._replace(messages=known.messages + 1 if known is not None else 1)
        return SearchResult(hits)

    def close(self) -> None:
        """Closes the database."""
        with self._lock:
            self._database.close()

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=30, check_same_thread=False, isolation_level=None)
        try:
            self._prepare(database)
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        """Makes the tables, unless they are there."""
        database.execute(f"PRAGMA cache_size = -{CACHE >> 10}")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA secure_delete = ON")
        if database.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT NULL").fetchall()
            for (name,) in names:
                with suppress(sqlite3.Error):
                    database.execute(f'DROP TABLE "{name}"')
            database.executescript(TABLES)
            with suppress(sqlite3.OperationalError):  # a SQLite without FTS5 or before 3.34 searches without an index
                database.execute(INDEX)
                database.execute("INSERT INTO parts (parts, rank) VALUES ('secure-delete', 1)")  # since 3.42
            database.execute(f"PRAGMA user_version = {FORMAT}")
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        self._has_index = "parts" in tables

    def _add(self, path: str, number: int, session: StoredSession) -> None:
        row = session.name, os.fsencode(path), number, msgspec.json.encode(session.row)
        self._database.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", row)
        for message, text in session.texts:
            content = _flat(text)
            added = self._database.execute(
                "INSERT INTO texts (session, message, text) VALUES (?, ?, ?)", (session.name, message, content)
            )
            if self._has_index:
                self._database.execute("INSERT INTO parts (rowid, text) VALUES (?, ?)", (added.lastrowid, content))

    def _forget(self, path: str) -> None:
        file = (os.fsencode(path),)
        if self._has_index:
            self._database.execute(
                f"INSERT INTO parts (parts, rowid, text) SELECT 'delete', id, text FROM texts WHERE id IN ({_OF_FILE})",
                file,
            )
        for sql in (f"DELETE FROM texts WHERE id IN ({_OF_FILE})", "DELETE FROM sessions WHERE path = ?"):
            self._database.execute(sql, file)
        self._database.execute("DELETE FROM files WHERE path = ?", file)

    def _candidates(self, wanted: str) -> Generator[tuple[str, int, str]]:
        """Yields the texts that may contain this one, the last stored first."""
        sql, values = "SELECT session, message, text FROM texts ORDER BY id DESC", tuple[str, ...]()
        if self._has_index and len(wanted) >= PART:
            parts = dict.fromkeys(wanted[at : at + PART] for at in range(len(wanted) - PART + 1))
            values = (" AND ".join('"{}"'.format(part.replace('"', '""')) for part in parts),)
            sql = (
                "SELECT session, message, texts.text FROM parts JOIN texts ON texts.id = parts.rowid"
                " WHERE parts MATCH ? ORDER BY parts.rowid DESC"
            )
        yield from self._rows(sql, values)

    def _rows(self, sql: str, values: tuple[str, ...] = ()) -> Generator[Any]:
        with self._lock, self._reported():
            yield from self._database.execute(sql, values)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Writes all of it or nothing."""
        with self._lock, self._reported():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise unreadable(self._path or "the temporary index", OSError(0, str(error))) from None


def _flat(text: str) -> str:
    """Returns text as the page searches it: each white space is a space."""
    return text.translate(_SPACES).encode("utf-8", "replace").decode()


def _hit(text: str, at: int, length: int, message: int) -> TextHit:
    before, after = text[max(0, at - BEFORE) : at], text[at + length : at + length + AFTER]
    return TextHit(0, message, f"{'…' * (at > BEFORE)}{before}", text[at : at + length], after)
