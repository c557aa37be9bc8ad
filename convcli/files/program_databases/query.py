"""A SQLite database of a program: its rows as objects, and what a program declares of it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from convcli.files.json_values import JsonValues
from convcli.files.packed import unpacked_value
from convcli.files.sqlite import Database


class Query:
    """A database, with the parser of its JSON strings."""

    def __init__(self, database: Database, parser: JsonValues, name: str) -> None:
        self._database, self._json, self._name = database, parser, name

    def rows(self, statement: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yields the rows as objects, without nulls."""
        return (
            {name: _number(value) for name, value in zip(names, row, strict=True) if value is not None}
            for names, row in self._database.rows(statement, *values)
        )

    def tables(self) -> set[str]:
        """Returns the names of the tables."""
        return {row["name"] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def json(self, text: Any) -> Any:
        """Parses a JSON string, which may be stored as bytes; returns any other value unchanged."""
        data = text.encode() if isinstance(text, str) else text
        return self._json.parse(data, self._name) if isinstance(data, bytes) else data

    def unpacked(self, data: bytes) -> str:
        """Returns a string that is packed by zstd."""
        return unpacked_value(data, "zstd", self._name).decode()


def _number(value: Any) -> Any:
    """Writes whole numbers without a decimal point, as the programs do."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def other_columns(row: dict[str, Any], *read: str) -> dict[str, Any]:
    """Returns the columns of a row that are not read, which other versions of a program have."""
    others = {name: value for name, value in row.items() if name not in read}
    return {name: b64encode(value).decode() if isinstance(value, bytes) else value for name, value in others.items()}


class ProgramDatabase(NamedTuple):
    """A program's database: its tables, the ids of its sessions, and the export of one."""

    tables: tuple[str, ...]
    ids: Callable[[Query], list[Any]]
    session: Callable[[Query, str], Any]


def column(statement: str) -> Callable[[Query], list[Any]]:
    """Returns a function for the ids that a statement selects: None for one that is missing."""
    return lambda query: [row.get("id") for row in query.rows(statement)]
