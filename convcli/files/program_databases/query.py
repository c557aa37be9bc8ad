"""A SQLite database of a program: its rows as objects, and what a program declares of it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from convcli.files.json_values import JsonValues
from convcli.files.packed import unpacked_value
from convcli.files.sqlite import Database
from convcli.model.errors import ContentError

Row: TypeAlias = dict[str, Any]
_IDS = ("id", "key", "hash", "seq")
"""Columns that name a row."""


class Query:
    """A database, with the parser of its JSON strings."""

    def __init__(self, database: Database, parser: JsonValues, name: str) -> None:
        self._database, self._json, self._name = database, parser, name

    def rows(self, statement: str, *values: Any) -> Iterator[Row]:
        """Yields the rows as objects, without nulls."""
        return (
            {name: _number(value) for name, value in zip(names, row, strict=True) if value is not None}
            for names, row in self._database.rows(statement, *values)
        )

    def tables(self) -> set[str]:
        """Returns the names of the tables."""
        return {row["name"] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def json(self, row: Row, name: str) -> Any:
        """Parses the JSON string of the column `table.column`, which may be stored as bytes; returns any other value
        unchanged.

        Raises ContentError that names the column and its row if there is no JSON."""
        value = row.get(_column(name))
        if is_blank(value):
            raise self.wrong(row, name, "is empty; expected JSON")
        try:
            return self._parsed(value)
        except ContentError as error:
            raise self.wrong(row, name, f"cannot be read: {error.message}", error.code) from error

    def object(self, row: Row, name: str) -> Row:
        """Same as `json`, for a column whose JSON is an object."""
        value = self.json(row, name)
        if not isinstance(value, dict):
            raise self.wrong(row, name, "is no JSON object")
        return value

    def optional(self, row: Row, name: str) -> Any:
        """Same as `json`, for a column without which the conversation can be read: an empty string is None, and one
        that is not JSON stays a string, with a warning."""
        value = row.get(_column(name))
        if is_blank(value):
            return None
        try:
            return self._parsed(value)
        except ContentError as error:
            message = f"cannot be read, and is kept as a string: {error.message}"
            self._json.warn(self.wrong(row, name, message, error.code))
            return as_json(value)

    def _parsed(self, value: Any) -> Any:
        data = value.encode() if isinstance(value, str) else value
        return self._json.parse(data, self._name) if isinstance(data, bytes) else data

    def wrong(self, row: Row, name: str, what: str, code: str = "not-json", where: str = "") -> ContentError:
        """Returns the error for a column: `the column messages.parts in the row "b" is empty`."""
        id_ = next((row[key] for key in _IDS if key in row), None)
        of_row = "" if id_ is None else f' in the row "{id_}"'
        return ContentError(code, f"the column {name}{of_row} {what}", file=self._name, where=where)

    def unpacked(self, data: bytes) -> str:
        """Returns a string that is packed by zstd."""
        return unpacked_value(data, "zstd", self._name).decode()


def _number(value: Any) -> Any:
    """Writes whole numbers without a decimal point, as the programs do."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _column(name: str) -> str:
    return name.rpartition(".")[2]


def is_blank(value: Any) -> bool:
    """True if a column has no JSON: null, or a string without a character."""
    return value is None or (isinstance(value, str | bytes) and not value.strip())


def other_columns(row: Row, *read: str) -> Row:
    """Returns the columns of a row that are not read, which other versions of a program have."""
    return {name: as_json(value) for name, value in row.items() if name not in read}


def as_json(value: Any) -> Any:
    """Returns a value of a column as JSON has it: bytes in base64."""
    return b64encode(value).decode() if isinstance(value, bytes) else value


class ProgramDatabase(NamedTuple):
    """A program's database: its tables, the ids of its sessions, and the export of one."""

    tables: tuple[str, ...]
    ids: Callable[[Query], list[Any]]
    session: Callable[[Query, str], Any]


def column(statement: str) -> Callable[[Query], list[Any]]:
    """Returns a function for the ids that a statement selects: None for one that is missing."""
    return lambda query: [row.get("id") for row in query.rows(statement)]
