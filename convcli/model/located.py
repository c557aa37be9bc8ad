"""The record of a file that a finding, loss or error is about: a line, or a row of a table."""

from __future__ import annotations

from typing import Protocol


class Located(Protocol):
    """Anything with the `line` of a record (from 1; 0: none) and its `row` (from 0; -1: none)."""

    @property
    def line(self) -> int: ...

    @property
    def row(self) -> int: ...


def record_of(located: Located) -> int:
    """Returns the number of the record from 1, whether line or row; 0 if unknown."""
    return located.line or located.row + 1


def number_of(located: Located) -> int | None:
    """Returns the number to print after the file name: the line from 1, or the row from 0; None if unknown."""
    return located.row if located.row >= 0 else located.line or None
