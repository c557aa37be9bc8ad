"""A finding: something wrong with an input, or something that a target would not accept."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Severity = Literal["error", "warning", "info"]

OF_FILE = frozenset(("padded-key", "padded-object", "column-type", "judged-as-converted"))
"""Codes reported once for each column of a file, or for each kind of finding in it, at its end."""


class Finding(msgspec.Struct, omit_defaults=True, frozen=True):
    """What is wrong, where, and how to fix it.

    `code` is a kebab-case word that never changes its meaning (`missing-tool-result`). `where` is a JSON Pointer into
    the document. `line` and `column` count from 1 and `byte` from 0; 0 and -1 mean unknown. In JSONL, `line` is the
    line of the record and `where` is relative to it; the column in a session row is unknown. In a table, `row` counts
    from 0 and replaces the line, and `group` is the row group of Parquet.

    `message` names paths, types and lengths, never values: transcripts contain secrets. `notes` are further lines (what
    was expected, which calls are open). `count` is the number of occurrences, if the finding is reported once per file;
    its pointer is then that of the first.
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
        """Returns the finding as a JSON value that matches `schemas/finding.schema.json`."""
        record: dict[str, Any] = msgspec.to_builtins(self)
        return record
