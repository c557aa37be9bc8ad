"""convcli stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from convcli.cli import _selecting, _shared
from convcli.cli._commands import Command
from convcli.cli._types import format_of
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions

EXAMPLES = """\
convcli stats samples/openclaw/*.jsonl
convcli stats samples/openclaw/*.jsonl --output-format json
"""


class StatsArguments(NamedTuple):
    """What the command line says."""

    paths: tuple[str, ...]
    reading: ReadingOptions
    form: str


@click.command(cls=Command, examples=EXAMPLES)
@_selecting.options
@_shared.inputs
@click.option("--output-format", "form", type=format_of(tables), default="table", help="How the rows are written.")
@click.pass_obj
def command(screen: Screen, /, **values: Any) -> int:
    """Count models, roles, tools, errors and tokens of transcripts.

    FILE is a file, FILE:LINE, a folder, a glob, or - for stdin. Sizes are in characters.
    """
    from convcli.views.rows import Statistics

    arguments, statistics = StatsArguments(**values), Statistics()
    codes, printer = _shared.ExitCodes(screen), _shared.DiagnosticPrinter(screen, arguments.reading)
    for document, transcript in _shared.lifted(arguments.paths, arguments.reading, codes, printer):
        statistics.add(transcript, document.dialect.name)
    _shared.show_table(screen, arguments.form, ["what", "name", "count", "errors", "size"], statistics.rows())
    printer.finish()
    codes.finish()
    return codes.worst
