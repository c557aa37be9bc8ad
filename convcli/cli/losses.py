"""convcli losses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from convcli import dialects
from convcli.cli import _selecting, _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.cli._types import BRANCH, DIALECT, PATH, VIEW, format_of
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import DONE, UNACCEPTABLE, JobError
from convcli.model.located import number_of
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.documents import Item
    from convcli.jobs.reading import ReadingOptions
    from convcli.jobs.results import ItemResult
    from convcli.proof.reasons import Loss
    from convcli.views.outcomes import LossGroup, OutcomeTable

EXAMPLES = """\
convcli samples session -o session.jsonl
convcli losses session.jsonl --to openai-chat                   # of this file
convcli losses session.jsonl --to openai-chat --summary         # by field, with counts
convcli losses --from anthropic --to openai-chat                # of two dialects in general
"""

COLUMNS = ["file", "line", "where", "level", "kind", "field", "why"]
GROUPED = ["level", "kind", "field", "count", "first", "why"]
GENERAL = ["outcome", "feature", "kind", "field", "why"]
TABLE = "table"
"""The column with the table that gave the reason."""
ORDER = ["lost", "changed", "encoded", "kept"]


@declare(EXAMPLES)
@add_argument("paths", nargs=-1, type=PATH, metavar="[FILE]...")
@_selecting.options
@_shared.at_option
@_shared.join_option
@_shared.line_option
@_shared.from_option
@_shared.reading_options
@add_option(
    "-t",
    "--to",
    "target",
    type=DIALECT,
    required=True,
    metavar="DIALECT",
    help="The dialect to convert to (convcli dialects lists them).",
)
@add_option("--summary", is_flag=True, help="A row for each field: how often it is lost or kept.")
@add_option("--why", is_flag=True, help="Add the table that gives each reason, for authors of dialects.")
@add_option("--branch", type=BRANCH, default="all", help="For sessions with branches: the active branch, or all.")
@add_option("--view", type=VIEW, default="history", help="For sessions with a compaction, as in convert.")
@add_option("-O", "--output-format", "form", type=format_of(tables), default="table", help="The format of the losses.")
def command(
    screen: Screen,
    paths: tuple[str, ...],
    reading: ReadingOptions,
    target: Dialect,
    summary: bool,
    why: bool,
    branch: Any,
    view: Any,
    form: str,
) -> int:
    """Show what a conversion would lose, without converting.

    Name files, or two dialects to compare them in general. On a terminal, a picture shows for each message what is
    kept, changed and lost, and why.
    """
    width = _shared.width() if form == "table" and not summary and not why else None
    if paths:
        losses = _Losses(screen, paths, reading, target, Options(branch=branch, view=view, lenient=True))
        return losses.listed(form, summary, why) if width is None else losses.drawn(width)
    if reading.dialect is None:
        raise JobError("usage", 'missing argument "FILE"', help="name a FILE, or two dialects with --from and --to")
    source = dialects.get(reading.dialect)
    if width is None:
        _shared.show_table(screen, form, GENERAL, _in_general(source, target))
    else:
        from convcli.report import picture

        screen.show(picture.general(_in_general(source, target), width, screen.out))
    return DONE


class _Losses:
    """The losses of files, one document at a time. Refused documents are printed as findings."""

    def __init__(
        self, screen: Screen, paths: tuple[str, ...], reading: ReadingOptions, target: Dialect, options: Options
    ) -> None:
        self.screen, self.paths, self.target, self.options = screen, paths, target, options
        self.reading = reading
        self.codes, self.printer = ExitCodes(screen), DiagnosticPrinter(screen, reading)

    def listed(self, form: str, summary: bool, why: bool) -> int:
        """Prints a row for each loss; with `summary`, for each kind of loss and for each field that is kept. With
        `why`, rows have the table that gives the reason."""
        table = [TABLE] if why else []
        if summary:
            outcomes = self._outcomes()
            files = {loss.file for group in outcomes.groups for loss in group.first}
            is_one = form == "table" and _shared.width() is not None and len(files) == 1
            losses = iter([group.first[0] for group in outcomes.groups])
            rows: Iterator[dict[str, Any]] = chain(
                (self._traced(_of_group(group, is_one), group.first[0], why) for group in outcomes.groups),
                _kept(outcomes),
            )
        else:
            losses = chain.from_iterable(result.losses for _, result in self._results())
            rows = (self._traced(_row(loss), loss, why) for loss in losses)
        head = list(islice(rows, 1))
        if not (outcomes.groups if summary else head) and self.codes.worst == DONE:
            self.screen.announce("nothing lost\n")
        if summary:  # all is read, so the number of other findings is known
            self.printer.finish()
        _shared.show_table(self.screen, form, [*(GROUPED if summary else COLUMNS), *table], chain(head, rows))
        if not summary:
            self.printer.finish()
        self.codes.finish()
        return self.codes.worst

    def _traced(self, row: dict[str, Any], loss: Loss, why: bool) -> dict[str, Any]:
        """Returns the row, with the table that gives the reason if asked."""
        if not why:
            return row
        from convcli.proof.reasons import table_of
        from convcli.validation import schemas

        return {**row, TABLE: table_of(loss, self.target, partial(schemas.vocabulary, self.target.name))}

    def drawn(self, width: int) -> int:
        """Draws a picture on a terminal."""
        from convcli.report import picture

        outcomes = self._outcomes()
        self.printer.finish()  # after the findings, before the picture
        if outcomes.transcripts:
            self.screen.show(picture.drawn(outcomes, self.paths, self.target, width, self.screen.out))
        self.codes.finish()
        return self.codes.worst

    def _outcomes(self) -> OutcomeTable:
        from convcli.jobs.documents import Document
        from convcli.views.outcomes import OutcomeTable

        outcomes = OutcomeTable()
        for item, result in self._results():
            if isinstance(item, Document) and result.is_read:
                outcomes.add(item.lift_leniently()[0], list(result.losses), item.dialect, self.target, item.place)
            else:
                outcomes.lose(list(result.losses))
        return outcomes

    def _results(self) -> Iterator[tuple[Item, ItemResult]]:
        from convcli.jobs.results import item_results
        from convcli.validation.rules.keys import TOP_LEVEL_CODES

        for path, _ in self.reading.find(self.paths):
            with self.codes.guard(path), self.reading.opened(path) as opened:
                is_all = not (opened.is_selected or opened.is_one_line)
                is_own = is_all and opened.has_container and opened.dialect is self.target and self.options.form is None
                for item in opened:
                    for result in item_results([item], self.target, self.options, keeps_container=is_own):
                        yield item, result
                        for finding in result.findings:
                            if finding.code not in TOP_LEVEL_CODES:  # nothing is written, so no key can be added
                                self.printer.finding(finding)
                        self.codes.add(UNACCEPTABLE if result.is_refused else DONE)
                for note in opened.notes:
                    self.printer.finding(note)
                _shared.announce_passed(self.screen, opened)


def _row(loss: Loss) -> dict[str, Any]:
    """Returns a row without values, which may be secret."""
    return {name: getattr(loss, name) for name in COLUMNS} | {"line": number_of(loss)}


def _of_group(group: LossGroup, is_one: bool) -> dict[str, Any]:
    """Returns a row with the count and the first place; with `is_one`, the place does not repeat the file."""
    from convcli.report.text import place, position

    loss = group.first[0]
    row = {name: getattr(group, name) for name in GROUPED if name != "first"}
    return row | {
        "first": position(loss.line, loss.where, loss.row)
        if is_one
        else place(loss.file, number_of(loss), 0, loss.where)
    }


def _kept(outcomes: OutcomeTable) -> Iterator[dict[str, Any]]:
    """Yields the fields that are kept, by the names that losses have."""
    for row in outcomes.facts:
        if row.outcomes["kept"]:
            cells = {"level": row.level, "kind": "kept", "field": row.name, "count": row.outcomes["kept"]}
            yield cells | {"first": None, "why": None}


def _in_general(source: Dialect, target: Dialect) -> Iterator[dict[str, Any]]:
    """Yields the outcome of each feature of the source, the worst first. Raises JobError for a read-only target."""
    from convcli.views import probes

    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for feature, report in probes.converted(source, target):
        for loss in report.losses if report.outcome != "kept" else ():
            row = {"outcome": report.outcome, "feature": feature, "field": loss.field, "level": loss.level}
            rows.setdefault((feature, loss.field), row | {"kind": loss.kind, "why": loss.why})
        if report.outcome == "kept":
            rows[feature, ""] = {"outcome": "kept", "feature": feature} | dict.fromkeys(
                ("field", "level", "kind", "why")
            )
    yield from sorted(rows.values(), key=lambda row: ORDER.index(row["outcome"]))
