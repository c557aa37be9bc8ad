"""Conditions on rows, as `--where` takes them: `errors>0 and model=gpt-4o,o3 and title~deploy`.

A condition is a column, an operator and a value. `=` and `!=` accept several values, separated by commas; `~` is a
regular expression, found anywhere, in any case. `<`, `<=`, `>` and `>=` compare numbers and times. A value in quotes
may contain commas and `and`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.jobs.documents import Document
from convcli.model.errors import JobError, RefusedError
from convcli.validation.wording import unknown
from convcli.views.columns import EVERY_OF_TRANSCRIPTS, Kind, row_of
from convcli.views.rows import Row
from convcli.views.times import Period, moment_of, period
from convcli.wire.patterns import pattern

HELP = 'write COLUMN=A,B, COLUMN!=A, COLUMN>N or COLUMN~PATTERN, joined by "and": errors=0 and title~deploy'
MOST_SEEN = 1_000
"""Values of a column that are remembered, to suggest one if a condition holds for no row."""

_SIGN = r"(?P<sign>!=|>=|<=|=|~|>|<)"
_BEGIN = pattern(rf"\s*(?P<column>[\w#-]+)\s*{_SIGN}[ \t]*")
_JOINED = pattern(rf"\s+and\s+(?=[\w#-]+\s*{_SIGN})", re.IGNORECASE)
_QUOTED = pattern(r"""(?:"([^"]*)"|'([^']*)')""")
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Term(msgspec.Struct, frozen=True):
    """One condition as it is written: `at` and `value_at` are positions of characters, from 1."""

    column: str
    sign: str
    values: tuple[str, ...]
    at: int
    value_at: int

    @property
    def text(self) -> str:
        """The condition in its usual spelling."""
        return f"{self.column}{self.sign}{','.join(self.values)}"


def parsed(text: str) -> Iterator[Term]:
    """Yields the terms of a condition. Raises JobError `usage` with the position of what is wrong."""
    at = 0
    while True:
        begin = _BEGIN.match(text, at)
        if begin is None:
            raise _error(text, at, "expected a column and an operator")
        values, end = _values(text, begin.end(), begin["sign"])
        yield Term(begin["column"], begin["sign"], values, begin.start("column") + 1, begin.end() + 1)
        if end == len(text):
            return
        joined = _JOINED.match(text, end)
        if joined is None:
            raise _error(text, end, 'expected the end, or "and" with another condition')
        at = joined.end()


def _values(text: str, at: int, sign: str) -> tuple[tuple[str, ...], int]:
    """Returns the values that begin at a position, and their end."""
    values = list[str]()
    while quoted := _QUOTED.match(text, at):
        values.append(quoted[1] if quoted[1] is not None else quoted[2])
        at = quoted.end()
        if text[at : at + 1] != ",":
            return tuple(values), len(text) if not text[at:].strip() else at
        at += 1
    joined = _JOINED.search(text, at)
    end = len(text) if joined is None else joined.start()
    return (*values, *(text[at:end].split(",") if sign in ("=", "!=") else [text[at:end]])), end


def _error(text: str, at: int, message: str, help_text: str = HELP) -> JobError:
    return JobError("usage", f'character {at + 1} of the condition "{text}": {message}', help=help_text)


def conditions(text: str, columns: Mapping[str, Kind], heads: Mapping[str, str] | None = None) -> list[Condition]:
    """Returns the conditions of a text, and all must hold. `heads` are other names of columns.

    Raises JobError `usage` or `unknown-column`.
    """
    found = list[Condition]()
    for term in parsed(text):
        term = replace(term, column=column_named(term.column, columns, heads))
        try:
            found.append(Condition(term, columns[term.column]))
        except _ValueError as error:
            raise _error(text, error.at - 1, error.message, error.help) from None
    return found


def column_named(name: str, columns: Iterable[str], heads: Mapping[str, str] | None = None) -> str:
    """Returns the name of a column, by its name or its head in a table. Raises JobError `unknown-column`."""
    name = name.strip()
    columns = list(columns)
    name = next((column for column in columns if (heads or {}).get(column) == name), name)
    if name not in columns:
        raise unknown("column", name, columns, f"choose from {', '.join(columns)}")
    return name


class _ValueError(Exception):
    """A value or an operator that does not fit the type of its column."""

    def __init__(self, at: int, message: str, help_text: str = HELP) -> None:
        self.at, self.message, self.help = at, message, help_text


class Condition:
    """True for the rows whose cell in a column has a value. Remembers whether it ever held.

    A cell of text with several values, separated by commas, has each of them. A missing number or time is not equal to
    any, and neither less nor greater.
    """

    def __init__(self, term: Term, kind: Kind) -> None:
        self.term, self.column, self.kind = term, term.column, kind
        self.held, self.undated, self._seen = False, 0, set[str]()
        self._is_true = _test(term, kind)

    def holds(self, row: Row) -> bool:
        """True if the condition holds for a row."""
        cell = row[self.column]
        holds = self._is_true(cell)
        self.held = self.held or holds
        self.undated += self.kind == "time" and moment_of(cell) is None
        if not self.held and len(self._seen) < MOST_SEEN and self.term.sign == "=":
            self._seen.update(_words(cell))
        return holds

    def notes(self) -> Iterator[str]:
        """Yields notes: the condition held for no row, with the nearest value that rows have; rows without a time."""
        if self.undated:
            number = "1 row has" if self.undated == 1 else f"{self.undated:,} rows have"
            yield f"{number} no time in {self.column}, and {self.term.text} is false there"
        if self.held or (self.term.sign == "=" and not self._seen):
            return
        from convcli.validation.wording import nearest

        near = next(filter(None, (nearest(word, sorted(self._seen)) for word in self.term.values)), None)
        hint = f'; did you mean "{near}"?' if near is not None else ""
        yield f"no row has {self.term.text}{hint}"


def _test(term: Term, kind: Kind) -> Callable[[Any], bool]:
    """Returns the test of a cell. Raises _ValueError."""
    if term.sign == "~":
        found = _regular_expression(term)
        return lambda cell: found.search("" if cell is None else str(cell)) is not None
    if kind == "text" and term.sign in _ORDERS:
        raise _ValueError(term.at, f"{term.column} is text, which has no order", "use =, != or ~")
    equal = {"text": _equal_texts, "number": _equal_numbers, "time": _equal_times}[kind]
    if term.sign in _ORDERS:
        return _ordered_numbers(term) if kind == "number" else _ordered_times(term)
    is_equal = equal(term)
    return is_equal if term.sign == "=" else lambda cell: not is_equal(cell)


def _regular_expression(term: Term) -> re.Pattern[str]:
    try:
        return re.compile(term.values[0], re.IGNORECASE)
    except re.error as error:
        at = term.value_at + (error.pos or 0)
        raise _ValueError(at, f"no regular expression: {error.msg}") from None


def _equal_texts(term: Term) -> Callable[[Any], bool]:
    accepted = frozenset(term.values)
    return lambda cell: not accepted.isdisjoint(_words(cell))


def _words(cell: Any) -> list[str]:
    return [""] if cell is None else [str(cell), *str(cell).split(", ")]


def _equal_numbers(term: Term) -> Callable[[Any], bool]:
    accepted = {_number(term, value) if value else None for value in term.values}
    return lambda cell: cell in accepted


def _ordered_numbers(term: Term) -> Callable[[Any], bool]:
    order, bound = _ORDERS[term.sign], _number(term, term.values[0])
    return lambda cell: cell is not None and order(cell, bound)


def _number(term: Term, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise _ValueError(term.value_at, f'{term.column} is a number, and "{value}" is none') from None


def _equal_times(term: Term) -> Callable[[Any], bool]:
    accepted = [_period(term, value) if value else None for value in term.values]

    def is_equal(cell: Any) -> bool:
        moment = moment_of(cell)
        return any(moment is None if one is None else moment is not None and one.contains(moment) for one in accepted)

    return is_equal


def _ordered_times(term: Term) -> Callable[[Any], bool]:
    """Compares with a period: `>` is after its end, `<=` before its end."""
    bounds = _period(term, term.values[0])
    is_late, is_moment = term.sign in (">", "<="), bounds.begin == bounds.end
    sign = {">": ">=", "<=": "<"}.get(term.sign, term.sign) if is_late and not is_moment else term.sign
    order, bound = _ORDERS[sign], bounds.end if is_late else bounds.begin

    def is_true(cell: Any) -> bool:
        moment = moment_of(cell)
        return moment is not None and order(moment, bound)

    return is_true


def _period(term: Term, value: str) -> Period:
    try:
        return period(value)
    except (ValueError, OverflowError) as error:
        help_text = str(error) if isinstance(error, ValueError) else ""
        raise _ValueError(term.value_at, f'"{value}" is no date', help_text) from None


class Filter:
    """True for the documents whose row meets all conditions. A refused document passes, so that it is reported."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.conditions = conditions
        self._names = frozenset(condition.column for condition in conditions)

    def __call__(self, document: Document) -> bool:
        """True if all conditions hold for a document."""
        try:
            row = row_of(document, document.lift_once()[0], self._names)
        except RefusedError:
            return True
        return all(condition.holds(row) for condition in self.conditions)

    def notes(self) -> Iterator[str]:
        """Yields the notes of all conditions."""
        for condition in self.conditions:
            yield from condition.notes()


def of_transcripts(
    where: Iterable[str], since: str | None = None, until: str | None = None, heads: Mapping[str, str] | None = None
) -> Filter | None:
    """Returns the filter for transcripts; None without conditions.

    `since` and `until` are dates: transcripts that ended at or after the one, and began at or before the other.
    Raises JobError.
    """
    found = [each for text in where for each in conditions(text, EVERY_OF_TRANSCRIPTS, heads)]
    for name, column, sign, value in (("since", "end", ">=", since), ("until", "begin", "<=", until)):
        if value is not None:
            try:
                found.append(Condition(Term(column, sign, (value,), 1, 1), "time"))
            except _ValueError as error:
                raise JobError("usage", f"{name}: {error.message}", help=error.help) from None
    return Filter(found) if found else None
