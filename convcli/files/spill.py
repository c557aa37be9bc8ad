"""Sets and orders of any size: SQLite keeps them in a temporary file, and at most `CACHE` bytes in memory.

All methods raise OutputError if the temporary file cannot be written, for example because the disk is full."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from convcli.model.errors import OutputError

if TYPE_CHECKING:
    import sqlite3

CACHE = 64 << 20
"""Bytes of memory for each set or order."""


class _TemporaryTable:
    """A table in a temporary file without a name, which ends with this object.

    It has `cache` bytes of pages in memory; sorting needs the same again.
    """

    def __init__(self, definition: str, cache: int) -> None:
        import sqlite3

        self._error_type = sqlite3.Error
        self._connection = sqlite3.connect("", isolation_level=None)
        settings = f"cache_size = -{cache >> 10}", "journal_mode = OFF", "temp_store = FILE"
        for statement in (*(f"PRAGMA {setting}" for setting in settings), "BEGIN", f"CREATE TABLE {definition}"):
            self.execute(statement)

    def execute(self, statement: str, *values: bytes) -> sqlite3.Cursor:
        """Executes a statement, as far as its first row."""
        try:
            return self._connection.execute(statement, values)
        except self._error_type as error:
            raise _cannot_write(error) from None

    def rows(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Yields the rows of a query, whose sorting may need another temporary file."""
        try:
            yield from self.execute(statement)
        except self._error_type as error:
            raise _cannot_write(error) from None


def _cannot_write(error: Exception) -> OutputError:
    return OutputError("cannot-write", f"cannot write a temporary file: {error}")


class DigestSet:
    """A set of digests."""

    def __init__(self, cache: int = CACHE) -> None:
        self._table = _TemporaryTable("digests (digest BLOB PRIMARY KEY) WITHOUT ROWID", cache)

    def add(self, digest: bytes) -> bool:
        """Adds a digest. Returns True if it is new."""
        return self._table.execute("INSERT OR IGNORE INTO digests VALUES (?)", digest).rowcount > 0

    def __contains__(self, digest: bytes) -> bool:
        return self._table.execute("SELECT 1 FROM digests WHERE digest = ?", digest).fetchone() is not None


class ShuffledLines:
    """Lines in a random order that only they and the seed determine, not the order in which they were added."""

    def __init__(self, seed: int, cache: int = CACHE) -> None:
        self._key = str(seed).encode()
        self._table = _TemporaryTable("lines (place BLOB, line BLOB)", cache // 2)

    def add(self, line: bytes) -> None:
        """Adds a line."""
        place = blake2b(line, digest_size=8, key=self._key).digest()
        self._table.execute("INSERT INTO lines VALUES (?, ?)", place, line)

    def __iter__(self) -> Iterator[bytes]:
        for (line,) in self._table.rows("SELECT line FROM lines ORDER BY place, rowid"):
            yield line
