"""The errors of convcli, and their exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convcli.model.findings import Finding

DONE, UNACCEPTABLE, WRONG_JOB, CANNOT_WRITE, BUG = 0, 1, 2, 3, 70
"""Done (losses are allowed) · the data are not acceptable · wrong usage or a missing input · the output cannot be
written · an internal error."""

SEVERITY_OF_EXIT = (BUG, CANNOT_WRITE, WRONG_JOB, UNACCEPTABLE, DONE)


class ConvcliError(Exception):
    """convcli cannot continue. `code` is a kebab-case word that never changes its meaning."""

    exit_code = UNACCEPTABLE

    def __init__(
        self,
        code: str,
        message: str,
        *,
        file: str = "",
        line: int = 0,
        column: int = 0,
        byte: int = -1,
        where: str = "",
        help: str = "",
        row: int = -1,
        group: int = -1,
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.help = code, message, help
        self.file, self.line, self.column, self.byte, self.where = file, line, column, byte, where
        self.row, self.group = row, group

    def __str__(self) -> str:
        """Returns one line with everything needed to find the cause: `chats.jsonl:14:9 /messages/0: … [missing-key];
        …`."""
        numbers = [str(number) for number in (self.line, self.column if self.line else 0) if number]
        numbers = [str(self.row)] if self.row >= 0 else numbers
        file = ":".join((self.file, *numbers)) if self.file else "line " * bool(numbers) + ":".join(numbers)
        place = " ".join(filter(None, (file, self.where)))
        return f"{place}{': ' * bool(place)}{self.message} [{self.code}]{'; ' * bool(self.help)}{self.help}"

    def __reduce__(self) -> Any:
        """Makes errors from worker processes equal to local ones; by default `pickle` would call the class."""
        return Exception.__new__, (type(self), self.message), self.__dict__


class ContentError(ConvcliError):
    """The bytes or the JSON cannot be read, or are not a known transcript."""


class RefusedError(ConvcliError):
    """The document was read but is not acceptable: `findings` say why."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        first = findings[0]
        super().__init__(
            first.code,
            first.message,
            file=first.file,
            line=first.line,
            column=first.column,
            byte=first.byte,
            where=first.where,
            help=first.help,
            row=first.row,
            group=first.group,
        )
        self.findings = list(findings)

    def __str__(self) -> str:
        more = len(self.findings) - 1
        return f"{super().__str__()}{f' (and {more:,} more)' * bool(more)}"


class JobError(ConvcliError):
    """Wrong usage or configuration, a missing or unreadable input, or an output that exists."""

    exit_code = WRONG_JOB


class OutputError(ConvcliError):
    """The output cannot be written."""

    exit_code = CANNOT_WRITE


def worst(codes: set[int]) -> int:
    """Returns the exit code of a job with many files: the first of 70, 3, 2, 1 and 0 that occurred."""
    return next((code for code in SEVERITY_OF_EXIT if code in codes), DONE)
