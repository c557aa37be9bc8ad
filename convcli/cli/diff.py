"""convcli diff."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from convcli.cli import _shared
from convcli.cli._commands import Command
from convcli.cli._types import DIALECT, PATH, Near, format_of
from convcli.model.dialect import Dialect
from convcli.model.errors import DONE, UNACCEPTABLE
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.engine.compare import Difference
    from convcli.jobs.inputs import Document
    from convcli.jobs.reading import ReadingOptions

EXAMPLES = """\
convcli samples chat -o chat.json
convcli convert chat.json --to gemini -o gemini.json
convcli diff chat.json gemini.json                   # the same conversation: exit 0
convcli diff chat.json gemini.json --level content -O json
"""

COLUMNS = ["level", "kind", "field", "line", "first", "second", "before", "after"]
ONE_SIDED = ("dropped", "invented")
LEVELS = {"content": ("content",), "context": ("content", "context"), "any": ("content", "context", "envelope")}


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("first", type=PATH, metavar="FIRST")
@click.argument("second", type=PATH, metavar="SECOND")
@_shared.from_option
@_shared.reading_options
@click.option("-t", "--to", "target", type=DIALECT, metavar="DIALECT", help="The dialect of SECOND.")
@click.option(
    "--level",
    type=Near("level", lambda: list(LEVELS)),
    default="any",
    help="Differences that count: what a model reads (content), what replaying needs too (context), or all.",
)
@click.option("--exact", is_flag=True, help="Also count what the dialect of the other file cannot store.")
@click.option(
    "-O",
    "--output-format",
    "form",
    type=Near("format", lambda: ["text", *format_of(tables).words()]),
    default="text",
    help="The format of the differences.",
)
@click.pass_obj
def command(
    screen: Screen,
    first: str,
    second: str,
    reading: ReadingOptions,
    target: Dialect | None,
    level: str,
    exact: bool,
    form: str,
) -> int:
    """Compare two conversations, across dialects.

    Two things do not count: ids that only link calls to results, and what the dialect of the other file cannot store.
    Files with many transcripts are compared one by one. Exits 0 if they are equal, 1 if not.
    """
    every = list(_rows(first, second, reading, target, exact=exact))
    rows = [row for row, counts in every if counts and row["level"] in LEVELS[level]]
    if form == "text":
        from convcli.report import differences

        beyond = sum(not counts and row["level"] == "content" and row["kind"] in ONE_SIDED for row, counts in every)
        screen.show(differences.listed(rows, first, second, screen.out, beyond))
    else:
        _shared.show_table(screen, form, COLUMNS, rows)
    return UNACCEPTABLE if rows else DONE


def _rows(
    first: str, second: str, reading: ReadingOptions, target: Dialect | None, *, exact: bool
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yields each difference as a row, and whether it counts; for equal transcripts, those of `--exact`."""
    from convcli.engine.compare import Difference, differences

    ours = reading.documents(first)
    theirs = replace(reading, dialect=None if target is None else target.name).documents(second)
    for one, other in zip_longest(ours, theirs):
        if one is None or other is None:
            only_in = Difference("content", "invented" if one is None else "dropped", "transcript", "", "")
            yield _row(only_in, one, other), True
        else:
            compared = one.lift(), other.lift(), one.dialect, other.dialect
            found = differences(*compared, exact=exact)
            yield from ((_row(each, one, other), True) for each in found)
            if not found and one.dialect is not other.dialect:
                yield from ((_row(each, one, other), False) for each in differences(*compared, exact=True))


def _row(difference: Difference, one: Document | None, other: Document | None) -> dict[str, Any]:
    """Returns the columns and the line in each file; a missing value is None."""
    from convcli.proof.reasons import MISSING

    row = {name: getattr(difference, name, None) for name in COLUMNS}
    line, row["first"] = one.place(difference.first) if one is not None else (0, "")
    other_line, row["second"] = other.place(difference.second) if other is not None else (0, "")
    values = {name: None if row[name] is MISSING else row[name] for name in ("before", "after")}
    return {
        **row,
        **values,
        "line": one and one.number_of(line),
        "line_of_second": other and other.number_of(other_line),
    }
