"""convcli stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from convcli.cli import _parts, _selecting, _shared
from convcli.cli._commands import add_option, declare
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.cli._types import PATH, format_of
from convcli.model.errors import JobError
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions
    from convcli.views.statistics import Statistics

EXAMPLES = """\
convcli stats ~/.claude/projects
convcli samples session -o session.jsonl
convcli stats session.jsonl -O json
"""


COLUMNS = ["what", "name", "count", "errors", "rejected", "size", "seconds", "cost"]


class StatsArguments(msgspec.Struct, frozen=True):
    """The arguments of the command."""

    paths: tuple[str, ...]
    reading: ReadingOptions
    form: str
    out_dir: str | None
    force: bool
    jobs: int
    engine: _parts.Engine | None
    price_file: str | None


@declare(EXAMPLES)
@_selecting.options
@_shared.inputs
@_shared.join_option
@add_option("-O", "--output-format", "form", type=format_of(tables), default="table", help="The format of the table.")
@_parts.folder_option
@add_option("--force", is_flag=True, help="Write into a folder that is not empty.")
@add_option(
    "--prices",
    "price_file",
    type=PATH,
    metavar="FILE",
    help="Prices in litellm's format, instead of the built-in ones.",
)
@_shared.jobs
@_parts.options
def command(screen: Screen, /, **values: Any) -> int:
    """Count models, tools, failures, tokens, time and cost.

    FILE is a file, FILE:LINE, a folder, a glob, or - for stdin. Sizes are in characters. Costs are estimates by list
    prices, by model, project and day. On a terminal there are plots over time and by tool.
    """
    from convcli.views import costs
    from convcli.views.columns import directory_of, project_of
    from convcli.views.statistics import Statistics

    arguments = StatsArguments(**values)
    prices = arguments.reading.configuration.settings.get("prices", {})
    if arguments.engine is not None:
        if arguments.price_file is not None:
            raise JobError("usage", "--engine and --prices exclude each other", help="set [prices] in convcli.toml")
        from convcli.cli import _in_parts

        return _in_parts.stats(screen, arguments, COLUMNS, prices)
    more = {} if arguments.price_file is None else costs.load(arguments.price_file)
    statistics = Statistics(costs.Prices(prices, more))
    codes, printer = ExitCodes(screen), DiagnosticPrinter(screen, arguments.reading)
    for document, transcript in _shared.lifted(arguments.paths, arguments.reading, codes, printer):
        statistics.add(transcript, document.dialect.name, project_of(directory_of(document, transcript)))
    if arguments.form == "table" and (width := _shared.width()) is not None:
        _tables(screen, statistics)
        _plots(screen, statistics, width)
    else:
        _shared.show_table(screen, arguments.form, COLUMNS, statistics.rows())
    from convcli.report import totals

    _selecting.announce_notes(screen, totals.notes(statistics))
    printer.finish()
    codes.finish()
    return codes.worst


def _tables(screen: Screen, statistics: Statistics) -> None:
    """Prints a table for each thing that is counted, with the columns that it fills: names need the width."""
    from itertools import groupby

    from convcli.report import totals

    for number, (what, rows) in enumerate(groupby(totals.rows(statistics), key=lambda row: row["what"])):
        screen.show("\n" * bool(number))
        named = ({what: row["name"], **row} for row in rows)
        _shared.show_table(screen, "table", [what, *totals.COLUMNS], named)


def _plots(screen: Screen, statistics: Statistics, width: int) -> None:
    from convcli.report import plots

    calls = {name: count for (what, name), count in statistics.counts.items() if what == "tools"}
    screen.show(plots.over_time(statistics.timeline, width, screen.out))
    screen.show(plots.by_tool(calls, statistics.errors, width, screen.out))
