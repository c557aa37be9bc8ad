"""convcli detect."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from operator import is_
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from convcli.cli import _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._diagnostics import ExitCodes
from convcli.cli._types import PATH, format_of
from convcli.model.document import Rows
from convcli.model.errors import ConvcliError
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.engine.detection import Detection
    from convcli.jobs.inputs import Input
    from convcli.jobs.reading import ReadingOptions

EXAMPLES = """\
convcli samples rows -o rows.jsonl
convcli detect rows.jsonl
convcli detect ~/.claude/projects -O json
"""

MOST_ITEMS = 500
"""Items of each list that are compared: a long document is read by more than ten dialects otherwise."""


@declare(EXAMPLES)
@add_argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE...")
@_shared.reading_options
@add_option("-O", "--output-format", "form", type=format_of(tables), default="table", help="The format of the table.")
def command(screen: Screen, paths: tuple[str, ...], form: str, reading: ReadingOptions) -> int:
    """Detect the dialect of each file, and show why.

    Exits 1 if a file matches no dialect, or more than one equally well.
    """
    codes = ExitCodes(screen)
    _shared.show_table(screen, form, ["file", "dialect", "why"], _rows(reading, paths, codes))
    _shared.tell_others(screen, paths)
    codes.finish()
    return codes.worst


def _rows(reading: ReadingOptions, paths: tuple[str, ...], codes: ExitCodes) -> Iterator[dict[str, Any]]:
    reading = replace(reading, calls="auto")
    for path, _ in reading.find(paths):
        with codes.guard(path), reading.opened(path) as source:
            row = {"file": source.name, "dialect": source.dialect.name, **_reason(source.detection, reading)}
            alike, is_whole = _alike(source) if source.joined is None else ([], True)
            if alike:
                row["why"] += f"; {'' if is_whole else 'its beginning is '}read the same with --from {', '.join(alike)}"
            if source.joined is not None:
                row["why"] += "; these are calls of a log, which convert joins"
            yield {**row, "alike": alike}


def _alike(source: Input) -> tuple[list[str], bool]:
    """Returns other dialects that read the first document as the same transcript, if the evidence is weak.

    False if only the beginning of the document was compared.
    """
    from convcli import dialects
    from convcli.engine import reading
    from convcli.jobs import choosing
    from convcli.jobs.documents import Document
    from convcli.validation import schemas

    if source.detection is None or source.detection.evidence.strength >= choosing.CERTAIN:
        return [], True
    document = next((item for item in source if isinstance(item, Document)), None)
    if document is None:
        return [], True
    value = _beginning(document.value)
    is_whole = value is document.value
    transcript, alike = document.lift() if is_whole else reading.lift(value, source.dialect), []
    for dialect in map(dialects.get, dialects.names()):
        with suppress(ConvcliError):
            if dialect is not source.dialect and schemas.accepts(dialect.name, value):
                alike += [dialect.name] if reading.lift(value, dialect) == transcript else []
    return alike, is_whole


def _beginning(value: Any) -> Any:
    """Returns a document with the first items of each long list; the same object if no list is long."""
    if isinstance(value, dict):
        members = {key: _beginning(member) for key, member in value.items()}
        return value if all(members[key] is value[key] for key in members) else members
    if isinstance(value, list):
        items = [_beginning(item) for item in value[:MOST_ITEMS]]
        if len(items) == len(value) and all(map(is_, items, value)):
            return value
        return Rows(items, value.lines[:MOST_ITEMS], value.companion) if isinstance(value, Rows) else items
    return value


def _reason(detection: Detection | None, reading: ReadingOptions) -> dict[str, Any]:
    """Returns why it is this dialect: the evidence in the file, or the configuration."""
    if detection is None:
        file = os.path.basename(reading.configuration.file)
        return {"why": f"{file} names it", "strength": None, "others": []}
    others = [
        {"dialect": name, "strength": evidence.strength, "why": evidence.reason} for name, evidence in detection.others
    ]
    return {"why": detection.evidence.reason, "strength": detection.evidence.strength, "others": others}
