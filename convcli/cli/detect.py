"""convcli detect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from convcli.cli import _shared
from convcli.cli._commands import Command
from convcli.cli._types import format_of
from convcli.report import tables
from convcli.report.screen import Screen

EXAMPLES = """\
convcli detect samples/gemini/twin-weather.json
convcli detect "samples/openclaw/*.jsonl" --output-format json
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--output-format", "form", type=format_of(tables), default="table", help="How the rows are written.")
@click.pass_obj
def command(screen: Screen, paths: tuple[str, ...], form: str) -> int:
    """Show which dialect files are in, and why.

    Exits 1 when one of them is in no dialect, or could be in more than one.
    """
    from convcli.jobs import inputs

    codes = _shared.ExitCodes(screen)
    _shared.show_table(screen, form, ["file", "dialect", "why"], _rows(inputs.find(paths), codes))
    codes.finish()
    return codes.worst


def _rows(files: list[Any], codes: _shared.ExitCodes) -> Iterator[dict[str, Any]]:
    from convcli.jobs import inputs

    for path, _ in files:
        with codes.guard(path), inputs.opened(path) as source:
            detection = source.detection
            if detection is not None:
                others = [
                    {"dialect": name, "strength": clue.strength, "why": clue.reason} for name, clue in detection.others
                ]
                yield {
                    "file": source.name,
                    "dialect": detection.dialect,
                    "why": detection.clue.reason,
                    "strength": detection.clue.strength,
                    "others": others,
                }
