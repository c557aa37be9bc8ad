"""convcli diff."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from convcli.cli import _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._output_names import format_of_report
from convcli.cli._types import DIALECT, PATH, Near, format_of
from convcli.model.dialect import Dialect
from convcli.model.errors import DONE, UNACCEPTABLE
from convcli.report import tables
from convcli.report.choice import names
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.engine.compare import Difference
    from convcli.jobs.documents import Document
    from convcli.jobs.reading import ReadingOptions
    from convcli.report.side_by_side import Comparison

EXAMPLES = """\
convcli samples chat -o chat.json
convcli convert chat.json --to gemini -o gemini.json
convcli diff chat.json gemini.json                   # the same conversation: exit 0
convcli diff chat.json gemini.json --level content -O json
convcli diff chat.json gemini.json -o diff.html      # side by side, for a browser
"""

COLUMNS = ["level", "kind", "field", "line", "first", "second", "before", "after"]
ONE_SIDED = ("dropped", "invented")
LEVELS = {"content": ("content",), "context": ("content", "context"), "any": ("content", "context", "envelope")}


class DiffArguments(msgspec.Struct, frozen=True):
    """The arguments of the command."""

    first: str
    second: str
    reading: ReadingOptions
    target: Dialect | None
    level: str
    exact: bool
    with_ids: bool
    output: str | None
    force: bool
    form: str | None


@declare(EXAMPLES)
@add_argument("first", type=PATH, metavar="FIRST")
@add_argument("second", type=PATH, metavar="SECOND")
@_shared.from_option
@_shared.reading_options
@add_option("-t", "--to", "target", type=DIALECT, metavar="DIALECT", help="The dialect of SECOND.")
@add_option(
    "--level",
    type=Near("level", lambda: list(LEVELS)),
    default="any",
    help="Differences that count: what a model reads (content), what replaying needs too (context), or all.",
)
@add_option("--exact", is_flag=True, help="Also count ids, and what the dialect of the other file cannot store.")
@add_option("--ids", "with_ids", is_flag=True, help="Also count ids and times, which differ between any two runs.")
@add_option("-o", "--output", type=PATH, metavar="FILE|-", help="The output; FILE.html is a page, side by side.")
@add_option("--force", is_flag=True, help="Replace an existing output.")
@add_option(
    "-O",
    "--output-format",
    "form",
    type=Near("format", lambda: ["text", *format_of(tables).words()]),
    help="The format of the differences: text, or html for a page, side by side.  [default: by the suffix of -o]",
)
def command(screen: Screen, /, **values: Any) -> int:
    """Compare two conversations, across dialects.

    Ids, times, and what the dialect of the other file cannot store do not count. Files with many transcripts
    are compared one by one. Exits 0 if they are equal, 1 if not.
    """
    arguments = DiffArguments(**values)
    form = arguments.form or format_of_report(screen, arguments.output, names(tables), "text")
    comparing = Comparing(arguments)
    compared = list(comparing.run())
    with _sink(screen, arguments):
        _show(screen, arguments, form, compared, comparing)
    return UNACCEPTABLE if any(each.rows for each in compared) else DONE


def _sink(screen: Screen, arguments: DiffArguments) -> AbstractContextManager[None]:
    if arguments.output is None:
        return nullcontext()
    from convcli.files.outputs import open_output
    from convcli.jobs.paths import find

    inputs = [file.path for file in find([arguments.first, arguments.second])]
    return screen.into(open_output(arguments.output, force=arguments.force, inputs=inputs))


def _show(
    screen: Screen, arguments: DiffArguments, form: str, compared: list[Comparison], comparing: Comparing
) -> None:
    from convcli.report import differences, side_by_side

    rows = [row for each in compared for row in each.rows]
    if form not in ("text", "html"):
        _shared.show_table(screen, form, COLUMNS, rows)
        return
    others = differences.Uncounted(comparing.unstored, comparing.identities)
    if form == "text":
        screen.show(differences.listed(rows, arguments.first, arguments.second, screen.out, others))
    else:
        summary = differences.summary(rows, others)
        screen.show(side_by_side.page(arguments.first, arguments.second, compared, summary))


class Comparing:
    """Compares the transcripts of two files.

    `unstored` counts content that only one file has because the dialect of the other cannot store it; `identities`
    counts differences of ids and times that do not count.
    """

    def __init__(self, arguments: DiffArguments) -> None:
        self.arguments = arguments
        self.unstored = self.identities = 0

    def run(self) -> Iterator[Comparison]:
        """Yields each pair of transcripts with the rows of the differences that count."""
        from convcli.engine.compare import Difference
        from convcli.report.side_by_side import Comparison

        arguments = self.arguments
        ours = arguments.reading.documents(arguments.first)
        target = arguments.target
        theirs = replace(arguments.reading, dialect=None if target is None else target.name).documents(arguments.second)
        for one, other in zip_longest(ours, theirs):
            if one is None or other is None:
                only_in = Difference("content", "invented" if one is None else "dropped", "transcript", "", "")
                first, second = (None if each is None else each.lift() for each in (one, other))
                only = first if second is None else second
                whole = range(0 if only is None else len(only.messages))
                yield Comparison(
                    first, second, [_row(each, one, other) for each in self._counted([only_in])], (whole, whole)
                )
            else:
                yield self._compared(one, other)

    def _compared(self, one: Document, other: Document) -> Comparison:
        from convcli.engine.compare import differences
        from convcli.report.side_by_side import Comparison
        from convcli.views.changed_messages import messages_at

        first, second = one.lift(), other.lift()
        found = differences(first, second, one.dialect, other.dialect, exact=self.arguments.exact)
        if not found and one.dialect is not other.dialect:
            more = differences(first, second, one.dialect, other.dialect, exact=True)
            self.unstored += sum(each.level == "content" and each.kind in ONE_SIDED for each in more)
        counted = self._counted(found)
        changed = (
            messages_at(first, one.dialect, [each.first for each in counted]),
            messages_at(second, other.dialect, [each.second for each in counted]),
        )
        return Comparison(first, second, [_row(each, one, other) for each in counted], changed)

    def _counted(self, found: list[Difference]) -> list[Difference]:
        from convcli.engine.identities import is_identity

        counted = [each for each in found if each.level in LEVELS[self.arguments.level]]
        if self.arguments.exact or self.arguments.with_ids:
            return counted
        kept = [each for each in counted if not is_identity(each)]
        self.identities += len(counted) - len(kept)
        return kept


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
