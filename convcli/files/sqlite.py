"""Opens SQLite databases from anywhere, for reading: nothing next to them changes, and a small file stays small.

A database is opened where it is, if SQLite can read it there without writing. Otherwise a private copy is opened: after
a crash, its journal must be rolled back, or its log applied, and both need a writable folder.
https://www.sqlite.org/security.html, https://www.sqlite.org/lockingv3.html#hot_journals"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convcli.files.outputs import cannot_write
from convcli.files.packed import unreadable
from convcli.model.errors import ContentError, ConvcliError, JobError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

LOG, JOURNAL, SHARED_MEMORY = "-wal", "-journal", "-shm"
_VERSION = 18
"""The offset of the byte that is 2 in a database with a write-ahead log."""
_LEAST = 1 << 20
"""Bytes that the rows of every session may have; more are allowed by the size of the file."""
_STEPS, _STEPS_OF_BYTE = 10_000_000, 100
"""Steps of the virtual machine that a session may need, and more for each byte of the file."""
_INTERVAL = 100_000
"""Steps between two checks of their number."""
MAX_VALUE = 256 << 20


class Database:
    """An open database. Its rows together may not be much larger than the file, as generated columns can be.

    Raises ContentError `compression-bomb` beyond the limits, `not-json` for damage and for a database that changes
    while it is read, and JobError if it cannot be read now.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        size: int,
        unchanged: Callable[[], bool],
        delete: Callable[[], None] | None = None,
    ) -> None:
        self._connection, self._size, self._is_unchanged = connection, max(size, _LEAST), unchanged
        self._delete = delete
        self._steps = self._bytes = 0
        self._most_steps = _STEPS + _STEPS_OF_BYTE * size
        _restrict(connection, self._size)
        connection.set_progress_handler(self._count_steps, _INTERVAL)

    def begin(self) -> None:
        """Starts counting the rows of a session. Raises ContentError if the file has changed since it was opened."""
        self._steps = self._bytes = 0
        if not self._is_unchanged():
            raise ContentError("not-json", "the database has changed while it was read", help="read it again")

    def rows(self, statement: str, *values: Any) -> Iterable[tuple[list[str], tuple[Any, ...]]]:
        """Yields the column names and values of each row."""
        cursor = self._connection.execute(statement, values)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            self._bytes += sum(len(value) for value in row if isinstance(value, str | bytes))
            if self._bytes > 2 * self._size:
                raise ContentError("compression-bomb", "the rows of this session are larger than the database")
            yield names, row

    def close(self) -> None:
        """Closes the database, and deletes a private copy that could not be deleted while it was open."""
        self._connection.close()
        if self._delete is not None:
            self._delete()

    def _count_steps(self) -> bool:
        """Returns True, which interrupts the statement, after more steps than a session of this file needs."""
        self._steps += _INTERVAL
        return self._steps > self._most_steps


def open_database(path: str) -> Database:
    """Opens a file read-only, with what its program has committed. Raises sqlite3.Error, JobError and OutputError."""
    from sqlite3 import OperationalError

    if _has(path + LOG) and not os.path.exists(path + SHARED_MEMORY):
        return _private(path)  # SQLite would leave a new -shm in the folder
    try:
        return _in_place(path)
    except OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _needs_copy():
            raise
    return _private(path)


def database_of(chunks: Iterable[bytes]) -> Database:
    """Opens the bytes of a database. Raises as `open_database` does."""

    def write(path: str) -> None:
        with open(path, "wb") as file:
            file.writelines(chunks)
            if file.tell() > _VERSION:
                file.seek(_VERSION)
                file.write(b"\1\1")  # a log cannot be next to these bytes

    return _in_private_folder(write)


def reason(error: Exception, damage: str) -> ConvcliError:
    """Returns the error for what SQLite reports; `damage` is the message for anything but a limit or a lock."""
    import sqlite3

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOMEM):
        return ContentError("compression-bomb", "reading this needs far more memory or time than its size explains")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return JobError("unreadable-input", "another program is writing this database", help="try again later")
    return ContentError("not-json", damage)


def _in_place(path: str) -> Database:
    """A database with a log and no program is immutable: otherwise SQLite would create a log and a shared memory."""
    status = _status(path)
    is_idle = _version(path) == 2 and not _has(path + LOG)
    uri = f"{Path(path).absolute().as_uri()}?mode=ro{'&immutable=1' * is_idle}"
    connection = _connected(uri)

    def is_unchanged() -> bool:
        return not is_idle or (_status(path) == status and not _has(path + LOG))

    return Database(connection, status[0] + _size(path + LOG), is_unchanged)


def _private(path: str) -> Database:
    def copy(to: str) -> None:
        for suffix in ("", JOURNAL, LOG):
            with suppress(FileNotFoundError):
                shutil.copyfile(path + suffix, to + suffix)

    return _in_private_folder(copy)


def _in_private_folder(fill: Callable[[str], None]) -> Database:
    """Opens a copy. Its name is removed at once, so nothing is left behind, however the program ends.

    Windows removes no open files: there, closing it removes it."""
    from tempfile import TemporaryDirectory

    try:
        folder = TemporaryDirectory(prefix="convcli-", ignore_cleanup_errors=True)
        with folder as name:
            path = os.path.join(name, "copy.db")
            fill(path)
            connection = _connected(Path(path).as_uri())
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()  # rolls back, or applies the log
            return Database(connection, _size(path), lambda: True, folder.cleanup)
    except OSError as error:
        raise cannot_write("a temporary file", error) from None


def _connected(uri: str) -> sqlite3.Connection:
    """Opens a database and reads its schema, so that SQLite reports now what it needs."""
    import sqlite3

    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _restrict(connection: sqlite3.Connection, size: int) -> None:
    """Sets limits for a schema and values that anyone may have written. No value is larger than the file."""
    import sqlite3

    for statement in ("query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {statement}").fetchall()
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(size, MAX_VALUE))
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)


def _needs_copy() -> frozenset[int]:
    """Returns the primary error codes of a database that must be written before it can be read, or has no locks."""
    import sqlite3

    return frozenset((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR))


def _version(path: str) -> int:
    with open(path, "rb") as file:
        return (file.read(_VERSION + 1)[_VERSION:] or b"\0")[0]


def _status(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise unreadable(path, error) from None
    return status.st_size, status.st_mtime_ns


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _has(path: str) -> bool:
    return _size(path) > 0
