"""convcli detect."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from convcli.cli import _shared
from convcli.cli._commands import Command
from convcli.cli._types import PATH, format_of
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.engine.detection import Detection
    from convcli.jobs.reading import ReadingOptions

EXAMPLES = """\
convcli detect samples/gemini/twin-weather.json
convcli detect "samples/openclaw/*.jsonl" --output-format json
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE...")
@_shared.reading_options
@click.option("--output-format", "form", type=format_of(tables), default="table", help="How the rows are written.")
@click.pass_obj
def command(screen: Screen, paths: tuple[str, ...], form: str, reading: ReadingOptions) -> int:
    """Show which dialect files are in, and why.

    Exits 1 when one of them is in no dialect, or could be in more than one.
    """
    codes = _shared.ExitCodes(screen)
    _shared.show_table(screen, form, ["file", "dialect", "why"], _rows(reading, paths, codes))
    codes.finish()
    return codes.worst


def _rows(reading: ReadingOptions, paths: tuple[str, ...], codes: _shared.ExitCodes) -> Iterator[dict[str, Any]]:
    for path, _ in reading.find(paths):
        with codes.guard(path), reading.opened(path) as source:
            yield {"file": source.name, "dialect": source.dialect.name, **_reason(source.detection, reading)}


def _reason(detection: Detection | None, reading: ReadingOptions) -> dict[str, Any]:
    """Why it is this dialect: a clue in the file, or the configuration, which is not asked for reasons."""
    if detection is None:
        file = os.path.basename(reading.configuration.file)
        return {"why": f"{file} names it", "strength": None, "others": []}
    others = [{"dialect": name, "strength": clue.strength, "why": clue.reason} for name, clue in detection.others]
    return {"why": detection.clue.reason, "strength": detection.clue.strength, "others": others}
