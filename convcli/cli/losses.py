"""convcli losses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from convcli.cli import _work
from convcli.cli._commands import Command
from convcli.cli._types import DIALECT, format_of
from convcli.dialect import Dialect
from convcli.errors import UNACCEPTABLE, JobError
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.loss import Loss

EXAMPLES = """\
convcli losses chat.json --to openai-chat                   # of this file
convcli losses --from intermediate --to openai-chat         # of the two dialects in general
"""

COLUMNS = ["file", "line", "where", "level", "kind", "field", "why"]
GENERAL = ["level", "kind", "field", "why", "samples"]


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[FILE]...")
@_work.from_option
@click.option("--to", "target", type=DIALECT, required=True, metavar="DIALECT", help="The dialect to convert to.")
@click.option("--output-format", "form", type=format_of(tables), default="table", help="How the losses are written.")
@click.pass_obj
def command(screen: Screen, paths: tuple[str, ...], source: Dialect | None, target: Dialect, form: str) -> int:
    """Tell what a conversion would lose, and write nothing: for files, or for two dialects by their samples."""
    codes = _work.Codes(screen)
    if paths:
        rows = (_row(loss) for loss in _of_files(list(paths), source, target, codes, _work.Teller(screen)))
        _work.show_table(screen, form, COLUMNS, rows)
    elif source is None:
        raise JobError("usage", "of which files, or from which dialect?", help="name a FILE or say --from DIALECT")
    else:
        _work.show_table(screen, form, GENERAL, _in_general(source, target, codes, screen))
    return codes.worst


def _of_files(
    paths: list[str], source: Dialect | None, target: Dialect, codes: _work.Codes, teller: _work.Teller
) -> Iterator[Loss]:
    """The losses of each input, one document at a time; what is refused is told."""
    from convcli import files
    from convcli.job import steps

    for path, _ in files.find(paths):
        with codes.guard(path), files.opened(path, None if source is None else source.name) as opened:
            for step in steps(opened, target):
                yield from step.losses
                for finding in step.findings:
                    teller.finding(finding)
                    codes.add(UNACCEPTABLE)


def _row(loss: Loss) -> dict[str, Any]:
    """No values: transcripts hold secrets."""
    return {name: getattr(loss, name) for name in COLUMNS}


def _in_general(source: Dialect, target: Dialect, codes: _work.Codes, screen: Screen) -> Iterator[dict[str, Any]]:
    """What the samples of a dialect lose; without samples, what the target says that it cannot carry."""
    samples = _samples(source.name)
    if not samples:
        screen.tell(f"there are no samples of {source.name} here: this is what {target.name} says of itself\n")
        for field, why in target.reasons.items():
            yield {"level": None, "kind": "dropped", "field": field, "why": why, "samples": None}
        return
    found: dict[tuple[str, ...], set[str]] = {}
    for loss in _of_files(samples, source, target, codes, _work.Teller(screen)):
        found.setdefault((loss.level, loss.kind, loss.field, loss.why), set()).add(loss.file)
    for key in sorted(found, key=lambda key: (["content", "context", "envelope"].index(key[0]), key)):
        yield dict(zip(GENERAL, (*key, len(found[key])), strict=True))


def _samples(name: str) -> list[str]:
    """The good samples of a dialect, beside the schemas."""
    from convcli import catalog

    folder = str(catalog.folder().parent / "samples" / name)
    if not os.path.isdir(folder):
        return []
    return [entry.path for entry in sorted(os.scandir(folder), key=lambda entry: entry.name) if entry.is_file()]
