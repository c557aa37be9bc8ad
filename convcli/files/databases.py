"""SQLite databases of programs as records: a session is like a line of JSON Lines.

A session is returned as its program exports it (`program_databases`). Nothing is changed (`sqlite`). Sessions are read
one at a time. Format: https://www.sqlite.org/fileformat.html"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from convcli.files.framing import Framing, Range, Record, open_stored
from convcli.files.json_values import JsonValues
from convcli.files.packed import CountedFile
from convcli.files.program_databases import program_with
from convcli.files.program_databases.query import Query
from convcli.files.sqlite import database_of, open_database, reason
from convcli.model.errors import ContentError, ConvcliError
from convcli.wire.encodings import DATABASE, of_beginning
from convcli.wire.strict_json import DuplicateKeys

OF_WARP = {"ai_queries", "terminal_panes"}
"""Tables of Warp's database (`warp.sqlite`)."""

_WRONG = (AttributeError, LookupError, TypeError, ValueError)
"""Errors from values of another type: the tables may contain anything."""


class DatabaseSource:
    """An opened database. Sessions are counted from 1, like lines; `lines` of them were read.

    Raises ContentError `not-json` or `unknown-dialect` for one of another program, and `broken-compression` for one
    that is damaged."""

    framing: Framing = "jsonl"
    unpacked_size = 0
    grew = False
    blank = 0

    def __init__(self, stored: CountedFile, chunks: Iterable[bytes] | None, keys: DuplicateKeys) -> None:
        from sqlite3 import Error

        self.name, self._stored, self._json, self.lines = stored.name, stored, JsonValues(keys), 0
        self._bytes = 0
        try:
            with ExitStack() as on_error:
                self._database = open_database(stored.name) if chunks is None else database_of(chunks)
                on_error.callback(self._database.close)
                self._query = Query(self._database, self._json, stored.name)
                self._program = program_with(self._query)
                self._ids = self._all_ids()
                on_error.pop_all()
        except (Error, *_WRONG) as error:
            raise _named(reason(error, "the SQLite database is damaged or cut off"), self.name) from error
        self._bytes = os.path.getsize(self.name) if chunks is None else stored.count

    def _all_ids(self) -> list[Any]:
        """Returns the ids of the sessions: strings, unless the database is damaged; None for one that is missing."""
        if self._program is None:
            raise self._not_read()
        return self._program.ids(self._query)

    def _not_read(self) -> ContentError:
        """Names a database that convcli does not read."""
        if self._query.tables() >= OF_WARP:
            message, help_ = "this looks like the database of Warp; convcli cannot read it yet", "it has prompts only"
            return ContentError("unknown-dialect", message, file=self.name, help=help_)
        other = of_beginning(DATABASE)
        assert other is not None
        return ContentError(other.code, other.message, file=self.name, help=other.help)

    @property
    def ids(self) -> list[str]:
        """Returns the ids of the sessions, in order; empty for one that is missing."""
        return ["" if id_ is None else str(id_) for id_ in self._ids]

    def __enter__(self) -> DatabaseSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()
        self._stored.close()

    @property
    def bytes_read(self) -> int:
        """The bytes of the file that count as read: all, once its first session is."""
        return self._bytes if self.lines else 0

    def each(self) -> Iterator[Record]:
        """Yields all sessions."""
        return self.records()

    def records(self, start: int = 0, stop: int | None = None, before: int = 0) -> Iterator[Record]:
        """Yields all sessions, whatever the range: there is only one. Unreadable ones are records with an error."""
        for number, id_ in enumerate(self._ids, before + 1):
            record, self.lines = Record(number, 0, 0, b""), number - before
            try:
                record.value = self._session(id_)
            except ContentError as error:
                record.error = self._in_session(error, number)
            warning = self._json.take_warning()
            record.warning = None if warning is None else self._in_session(warning, number)
            yield record

    def _in_session(self, error: ContentError, number: int) -> ContentError:
        return ContentError(error.code, error.message, file=self.name, line=number, where=error.where, help=error.help)

    def ranges(self, size: int) -> Iterator[Range]:
        """Yields one range for the whole database."""
        yield Range(0, 1, 0)

    def _session(self, id_: Any) -> Any:
        from sqlite3 import Error

        assert self._program is not None
        damage = "this session's rows do not match its program's format"
        if not isinstance(id_, str):
            raise ContentError("not-json", damage)
        self._database.begin()
        try:
            return self._program.session(self._query, id_)
        except (Error, *_WRONG) as error:
            raise reason(error, damage) from error


def ids_in(path: str) -> list[str]:
    """Returns the session ids of a database, in order. Raises as DatabaseSource does."""
    with DatabaseSource(open_stored(path), None, "last") as source:
        return source.ids


def _named(error: ConvcliError, file: str) -> ConvcliError:
    error.file = file
    return error
