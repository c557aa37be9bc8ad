"""convcli losses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from convcli.cli import _work
from convcli.cli._commands import Command
from convcli.cli._types import DIALECT, format_of
from convcli.dialect import Dialect
from convcli.errors import DONE, UNACCEPTABLE, JobError
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.loss import Loss

EXAMPLES = """\
convcli losses chat.json --to openai-chat                   # of this file
convcli losses chat.json --to openai-chat --summary         # by field, with counts
convcli losses --from intermediate --to openai-chat         # of the two dialects in general
"""

COLUMNS = ["file", "line", "where", "level", "kind", "field", "why"]
GROUPED = ["level", "kind", "field", "count", "first", "why"]
GENERAL = ["outcome", "feature", "kind", "field", "why"]
ORDER = ["lost", "changed", "encoded", "kept"]


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[FILE]...")
@_work.from_option
@click.option("--to", "target", type=DIALECT, required=True, metavar="DIALECT", help="The dialect to convert to.")
@click.option("--summary", is_flag=True, help="A row for each field, with how often.")
@click.option("--output-format", "form", type=format_of(tables), default="table", help="How the losses are written.")
@click.pass_obj
def command(
    screen: Screen, paths: tuple[str, ...], source: Dialect | None, target: Dialect, summary: bool, form: str
) -> int:
    """Tell what a conversion would lose, and write nothing.

    For files, or for two dialects in general: then of every feature that the one can say, measured by converting a
    probe.
    """
    codes, teller = _work.Codes(screen), _work.Teller(screen)
    if paths:
        losses = _of_files(list(paths), source, target, codes, teller)
        rows = iter(_grouped(losses) if summary else map(_row, losses))
        first = list(islice(rows, 1))
        if not first and codes.worst == DONE:
            screen.tell("nothing lost\n")
        narrow = _work.width() is not None and len(paths) == 1 and os.path.isfile(paths[0])
        columns = COLUMNS[narrow:]  # no need to name the one file on each line
        _work.show_table(screen, form, GROUPED if summary else columns, chain(first, rows))
    elif source is None:
        raise JobError("usage", "of which files, or from which dialect?", help="name a FILE or say --from DIALECT")
    else:
        _work.show_table(screen, form, GENERAL, _in_general(source, target))
    teller.finish()
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
    return {name: getattr(loss, name) for name in COLUMNS} | {"line": loss.line or None}


def _in_general(source: Dialect, target: Dialect) -> Iterator[dict[str, Any]]:
    """What becomes of each feature that the source can say, the worst first. Raises JobError for a read-only target."""
    from convcli import probes

    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for feature, report in probes.converted(source, target):
        for loss in report.losses:
            row = {"outcome": report.outcome, "feature": feature, "field": loss.field, "level": loss.level}
            rows.setdefault((feature, loss.field), row | {"kind": loss.kind, "why": loss.why})
        if not report.losses:
            rows[feature, ""] = {"outcome": "kept", "feature": feature} | dict.fromkeys(
                ("field", "level", "kind", "why")
            )
    yield from sorted(rows.values(), key=lambda row: ORDER.index(row["outcome"]))


def _grouped(losses: Iterable[Loss]) -> Iterator[dict[str, Any]]:
    """A row for each kind of loss: how often, and where first; content first, then the most frequent."""
    groups: dict[tuple[str, str, str, str], list[Any]] = {}
    for loss in losses:
        counted = groups.setdefault((loss.level, loss.kind, loss.field, loss.why), [0, loss.where])
        counted[0] += 1
    order = ["content", "context", "envelope"]
    for key, (number, first) in sorted(groups.items(), key=lambda item: (order.index(item[0][0]), -item[1][0])):
        level, kind, field, why = key
        yield {"level": level, "kind": kind, "field": field, "count": number, "first": first, "why": why}
