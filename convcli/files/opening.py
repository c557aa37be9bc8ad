"""Opens any input: text, a table, an archive, a database or a folder. Its first bytes decide, for a folder its name.

Tables and archives that are not seekable (a pipe or a compressed file) are copied to a temporary file; databases are
copied to memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from convcli.files.framing import MAX_LINE, Source, closed_on_error, open_stored
from convcli.files.outputs import cannot_write
from convcli.files.packed import CountedFile, unpacked
from convcli.wire.encodings import ARCHIVE, DATABASE
from convcli.wire.strict_json import DuplicateKeys

if TYPE_CHECKING:
    from convcli.files.archives import ArchiveSource
    from convcli.files.databases import DatabaseSource
    from convcli.files.folders import FolderSource
    from convcli.files.tables import TableSource

    AnySource: TypeAlias = Source | TableSource | ArchiveSource | DatabaseSource | FolderSource

TABLES = {b"PAR1": "a Parquet file", b"ARROW1": "an Arrow file", b"\xff\xff\xff\xff": "an Arrow stream"}
"""Magic bytes of tables, and their names."""
_MOST_MAGIC = 16


def open_input(path: str, *, duplicate_keys: DuplicateKeys = "error", max_line: int = MAX_LINE) -> AnySource:
    """Opens an input by path, "-" for stdin; lines, and members of arrays, have at most `max_line` bytes.

    Raises as `open_source` does, JobError `arrow-missing` and ContentError `damaged-table` for tables, and ContentError
    `not-json` and `broken-compression` for archives and databases."""
    stored = open_stored(path)
    with closed_on_error(stored):
        head, chunks = _head(stored)
        if head.startswith(DATABASE):
            return _database(stored, chunks, duplicate_keys)
        kind = next((kind for magic, kind in TABLES.items() if head.startswith(magic)), "")
        if kind:
            return _table(stored, kind, chunks)
        if head.startswith(ARCHIVE):
            return _archive(stored, chunks, duplicate_keys)
        if path.endswith("agent.json"):
            from convcli.files import folders

            if folders.stands_for_folder(path):
                return folders.FolderSource(stored, duplicate_keys)
        return Source(stored.name, stored, chunks, max_line, duplicate_keys)


def _table(stored: CountedFile, kind: str, chunks: Iterable[bytes]) -> TableSource:
    from convcli.files.columns import pyarrow
    from convcli.files.tables import TableSource

    pyarrow(stored.name)
    file = _seekable(stored, chunks)
    with closed_on_error(file):
        return TableSource(stored, kind, file)


def _archive(stored: CountedFile, chunks: Iterable[bytes], duplicate_keys: DuplicateKeys) -> ArchiveSource:
    from convcli.files.archives import ArchiveSource

    file = _seekable(stored, chunks)
    with closed_on_error(file):
        return ArchiveSource(stored, file, duplicate_keys)


def _database(stored: CountedFile, chunks: Iterator[bytes], duplicate_keys: DuplicateKeys) -> DatabaseSource:
    from convcli.files.databases import DatabaseSource

    return DatabaseSource(stored, None if stored.unpacked_size else chunks, duplicate_keys)


def _head(stored: CountedFile) -> tuple[bytes, Iterator[bytes]]:
    """Returns the first bytes of the unpacked content, and all of it."""
    if not stored.packer:
        return stored.peek(_MOST_MAGIC), unpacked(stored)
    chunks, taken = unpacked(stored), list[bytes]()
    while sum(map(len, taken)) < _MOST_MAGIC and (chunk := next(chunks, None)) is not None:
        taken.append(chunk)
    return b"".join(taken), chain(taken, chunks)


def _seekable(stored: CountedFile, chunks: Iterable[bytes]) -> CountedFile:
    """Returns the file, or a temporary copy of its content."""
    return stored if stored.unpacked_size else _spooled(stored.name, chunks)


def _spooled(name: str, chunks: Iterable[bytes]) -> CountedFile:
    from tempfile import TemporaryFile

    try:
        with ExitStack() as on_error:
            spool = on_error.enter_context(TemporaryFile(buffering=0))
            for chunk in chunks:
                spool.write(chunk)
            spool.seek(0)
            on_error.pop_all()
    except OSError as error:
        raise cannot_write("a temporary file", error) from None
    return CountedFile(name, spool, owned=True)
