"""Sets and orders of any size: SQLite keeps them in a temporary file, and at most `CACHE` bytes in memory."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

CACHE = 64 << 20
"""Bytes of memory for each set or order."""


def _database(cache: int = CACHE) -> sqlite3.Connection:
    """Opens a database in a temporary file without a name, which ends with the connection.

    It has `cache` bytes of pages in memory; sorting needs the same again.
    """
    import sqlite3

    database = sqlite3.connect("", isolation_level=None)
    database.execute(f"PRAGMA cache_size = -{cache >> 10}")
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA temp_store = FILE")
    database.execute("BEGIN")
    return database


class DigestSet:
    """A set of digests."""

    def __init__(self) -> None:
        self._database = _database()
        self._database.execute("CREATE TABLE digests (digest BLOB PRIMARY KEY) WITHOUT ROWID")

    def add(self, digest: bytes) -> bool:
        """Adds a digest. Returns True if it is new."""
        return self._database.execute("INSERT OR IGNORE INTO digests VALUES (?)", (digest,)).rowcount > 0

    def __contains__(self, digest: bytes) -> bool:
        return self._database.execute("SELECT 1 FROM digests WHERE digest = ?", (digest,)).fetchone() is not None


class ShuffledLines:
    """Lines in a random order that only they and the seed determine, not the order in which they were added."""

    def __init__(self, seed: int) -> None:
        self._key = str(seed).encode()
        self._database = _database(CACHE // 2)
        self._database.execute("CREATE TABLE lines (place BLOB, line BLOB)")

    def add(self, line: bytes) -> None:
        """Adds a line."""
        place = blake2b(line, digest_size=8, key=self._key).digest()
        self._database.execute("INSERT INTO lines VALUES (?, ?)", (place, line))

    def __iter__(self) -> Iterator[bytes]:
        for (line,) in self._database.execute("SELECT line FROM lines ORDER BY place, rowid"):
            yield line
