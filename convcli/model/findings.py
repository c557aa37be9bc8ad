"""A finding: something wrong with an input, or something that a target would not accept."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Severity = Literal["error", "warning", "info"]

OF_FILE = frozenset(("padded-key", "padded-object", "column-type"))
"""Codes of which there is one finding for each column of a file, told at its end."""


class Finding(msgspec.Struct, omit_defaults=True, frozen=True):
    """What is wrong, where, and what to do.

    `code` is a kebab-case word that never changes its meaning (`missing-tool-result`). `where` is a JSON Pointer
    into the document; `line` and `column` count from 1 and `byte` from 0, 0 and -1 mean unknown. For JSONL, `line`
    is the line of the record, `where` is relative to it, and the column of a row of a session is not known. In a table
    `row` counts from 0 in place of the line, and `group` is that of the row groups of Parquet. `message`
    names places, types and lengths, never values: transcripts hold secrets. `notes` are further lines (what was
    expected, which calls are open). `count` is how often it is so, where it is told only once of a file, and the place
    is then the first.
    """

    code: str
    severity: Severity
    message: str
    where: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    byte: int = -1
    help: str = ""
    notes: tuple[str, ...] = ()
    count: int = 1
    row: int = -1
    group: int = -1

    def to_dict(self) -> dict[str, Any]:
        """The finding as a JSON value, as `schemas/finding.schema.json` describes it."""
        record: dict[str, Any] = msgspec.to_builtins(self)
        return record
