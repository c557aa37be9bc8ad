"""Which record of a file is told of: findings, losses and errors have a line, or a row of a table."""

from __future__ import annotations

from typing import Protocol


class Located(Protocol):
    """What has the `line` of a record, from 1 and 0 where there is none, and its `row`, from 0 and -1 for none."""

    @property
    def line(self) -> int: ...

    @property
    def row(self) -> int: ...


def record_of(located: Located) -> int:
    """The number of the record from 1, be it a line or a row; 0 where it is not known."""
    return located.line or located.row + 1


def number_of(located: Located) -> int | None:
    """What names the record behind the file: its line from 1, or its row from 0; None where it is not known."""
    return located.row if located.row >= 0 else located.line or None
