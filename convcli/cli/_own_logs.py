"""`convcli dialects --draft` and `--check`: tables for the logs of one's own programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from convcli.cli import _shared
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.kit.codec import found
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.report.screen import Screen
from convcli.validation.wording import counted
from convcli.wire.pointers import pointer

MOST = 1000
"""Records of a file that a draft is made from."""


TYPES = {str: "string", bool: "boolean", int: "number", float: "number", list: "list", dict: "object"}


class Unexplained(msgspec.Struct):
    """Values at one path, in which `*` is any item of a list: their type, their number and the first one."""

    where: str
    type: str
    first: str
    count: int = 0


def draft(screen: Screen, paths: Sequence[str]) -> int:
    """Prints the first draft of a table for these files."""
    from convcli.kit.codec.draft import draft as drafted

    values: list[Any] = []
    lines = False
    for path in paths:
        read, is_lines = _values(path)
        values, lines = values + read, lines or is_lines
    screen.show([drafted(values, lines=lines)])
    screen.announce("next: save it as NAME.toml; convcli dialects --check NAME.toml FILE lists what it lacks\n")
    return 0


def _values(path: str) -> tuple[list[Any], bool]:
    """Returns the first documents of a file, and whether they are lines."""
    from itertools import islice

    from convcli.files.framing import open_source

    with open_source(path) as source:
        records = list(islice(source.each(), MOST))
        for record in records:
            if record.error is not None:
                raise record.error
        return [record.value for record in records], source.framing == "jsonl"


def check(screen: Screen, form: str, dialect: Dialect, paths: Sequence[str]) -> int:
    """Lists the values that the table does not explain. Exits 1 if there are any."""
    from convcli.jobs import config
    from convcli.jobs.reading import ReadingOptions

    if found.layout(dialect.name) is None:
        raise JobError("usage", f"{dialect.title} is not described by a table", help="name a TOML file with a table")
    reading = ReadingOptions(config.load(), dialect.name)
    codes, printer = ExitCodes(screen), DiagnosticPrinter(screen, reading)
    rows: dict[tuple[str, str], Unexplained] = {}
    count = 0
    for document, transcript in _shared.lifted(paths, reading, codes, printer):
        count += 1
        for where, kind, at in _unexplained(dialect, transcript):
            line, _ = document.place(at)
            first = f"{document.file}:{line}" if line else document.file
            row = rows.setdefault((where, kind), Unexplained(where, kind, first))
            row.count += 1
    printer.finish()
    if rows:
        _shared.show_table(
            screen, form, ["where", "type", "count", "first"], map(msgspec.structs.asdict, rows.values())
        )
        codes.add(1)
    words = f"{counted(len(rows), 'place')} that the table does not explain" if rows else "every value is explained"
    screen.announce(f"{counted(count, 'transcript')}, {words}\n" if count else "")
    codes.finish()
    return codes.worst


def _unexplained(dialect: Dialect, transcript: Any) -> Iterator[tuple[str, str, str]]:
    """Yields the pattern, the type and the pointer of each value that the table does not explain."""
    from convcli.kit.codec.check import unexplained

    layout = found.layout(dialect.name)
    assert layout is not None, "the dialect is described by a table"
    for path, value in unexplained(layout, transcript):
        pattern = pointer(tuple("*" if isinstance(step, int) else step for step in path))
        yield pattern, TYPES.get(type(value), "number"), pointer(path)
