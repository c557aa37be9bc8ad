"""What `convcli inspect` shows: rows of a table, one message, pages, or the new messages of a session."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from convcli.cli import _selecting, _shared
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.documents import Document
    from convcli.jobs.paths import InputFile
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.transcript import Transcript
    from convcli.views.columns import RowKind
    from convcli.views.costs import Prices
    from convcli.views.rows import Row

NARROW = 100
SPARED = frozenset(("size", "tokens", "model", "dialect"))
"""Narrower terminals do not get the columns of `SPARED`: titles, text and file names need the room."""
HEADING = "heading"
"""The key of a row for the title of a session, or its first words."""
BESIDE_TEXTS, LEAST_ROOM = 60, 30
"""Cells of the other columns in a table of messages, and the least that the column of text gets."""


class InspectArguments(msgspec.Struct, frozen=True):
    """The arguments of the command."""

    paths: tuple[str, ...]
    reading: ReadingOptions
    summary: bool
    tool_rows: bool
    number: int | None
    where: tuple[str, ...]
    events: str | None
    columns: str | None
    limit: int | None
    whole: bool
    form: str
    output: str | None
    out_dir: str | None
    target: Dialect | None
    findings: bool
    force: bool
    pager: bool | None
    follow: bool


class Inspecting:
    """A running `inspect`."""

    def __init__(self, screen: Screen, arguments: InspectArguments) -> None:
        self.screen, self.arguments = screen, arguments
        self.codes, self.printer = ExitCodes(screen), DiagnosticPrinter(screen, arguments.reading)

    def run(self) -> int:
        """Shows a single transcript by message, several by row. Returns the exit code."""
        self._check()
        if self.arguments.follow:
            self._follow()
        lifted = _shared.lifted(self.arguments.paths, self.arguments.reading, self.codes, self.printer)
        if self.arguments.out_dir is not None:
            self._pages(lifted)
            self.codes.finish()
            return self.codes.worst
        if not self._shown_early(lifted):
            first = list(islice(lifted, 2))
            if first:
                with self._sink():
                    self._shown(first, lifted)
        self.printer.finish()
        self.codes.finish()
        return self.codes.worst

    def _shown_early(self, lifted: Iterator[tuple[Document, Transcript]]) -> bool:
        """Shows the beginning of a long session on a terminal before the rest is read, and then the rest.

        Returns False for anything else; nothing is shown then.
        """
        arguments, width = self.arguments, self._width()
        others = (arguments.summary, arguments.tool_rows, arguments.number is not None, arguments.where,
                  arguments.columns, arguments.limit is not None, arguments.whole)  # fmt: skip
        if width is None or arguments.form != "table" or any(others):
            return False
        from convcli.cli._beginning import first_rows

        files = arguments.reading.find(arguments.paths)
        early = first_rows(files[0].path, arguments.reading, _room_of_texts(width)) if len(files) == 1 else []
        if early:
            with self._sink():
                self._show("message", self._wanted(iter(early)), [])
                self.screen.flush()
                for document, transcript in lifted:
                    self._messages(document, transcript, early)
        return bool(early)

    def _follow(self) -> NoReturn:
        from convcli.cli import _following
        from convcli.views.rows import LONGEST

        file, arguments, width = self._one_file(), self.arguments, self._width()
        lines = arguments.form == "table" and width is not None
        if lines and arguments.whole:
            raise JobError("usage", "--follow and --no-trunc exclude each other", help="add --output-format jsonl")
        view = tables.View(width if lines else None, self.screen.out)
        room, longest = _room_of_texts(width) if lines else 0, None if arguments.whole else LONGEST
        rows = _following.rows(file.path, arguments.reading, room, longest, self.screen.announce)
        _following.show(rows, self.screen, view, events=arguments.events == "show")

    def _one_file(self) -> InputFile:
        """Returns the file to follow. Raises JobError for options that do not fit."""
        arguments = self.arguments
        others = {"-o": arguments.output, "--out-dir": arguments.out_dir, "--tools": arguments.tool_rows,
                  "--summary": arguments.summary, "--message": arguments.number is not None,
                  "--where": arguments.where, "--columns": arguments.columns,
                  "--limit": arguments.limit is not None}  # fmt: skip
        if named := [name for name, value in others.items() if value]:
            raise JobError("usage", f"--follow and {named[0]} exclude each other")
        if arguments.form not in ("table", "jsonl"):
            raise JobError("usage", f"--follow cannot write {arguments.form}", help="it writes table and jsonl")
        if arguments.reading.selection is not None:
            raise JobError("usage", "--follow excludes the options that choose transcripts")
        files = arguments.reading.find(arguments.paths)
        if len(files) != 1 or files[0].path == "-":
            raise JobError("usage", "--follow is for one file")
        return files[0]

    def _overview(self, rows: Iterator[Row]) -> None:
        """Shows a row for each transcript, and the totals below a table."""
        from convcli.report.message import Totals

        totals = Totals()
        self._show("transcript", rows, ["transcripts"], totals.add)
        if self.arguments.form == "table" and totals.rows > 1:
            self.screen.announce(totals.reported())

    def _sink(self) -> AbstractContextManager[None]:
        """Returns the target: stdout, a pager on a terminal, or the file of `-o`."""
        arguments = self.arguments
        if arguments.output is None:
            return self.screen.paged(arguments.pager)
        from convcli.files.outputs import open_output

        files = [path for path, _ in arguments.reading.find(arguments.paths)]
        return self.screen.into(open_output(arguments.output, force=arguments.force, inputs=files))

    def _width(self) -> int | None:
        return _shared.width() if self.arguments.output is None else None

    def _shown(self, first: list[tuple[Document, Transcript]], others: Iterator[tuple[Document, Transcript]]) -> None:
        if len(first) == 1 and not self.arguments.summary:
            self._one(*first[0])
            return
        if self.arguments.tool_rows or self.arguments.number is not None:
            raise JobError("usage", "--tools and --message are for one transcript", help="name one: FILE:LINE")
        names = self._named_columns()
        self._overview(self._row_with_heading(*pair, names) for pair in chain(first, others))

    def _row_with_heading(self, document: Document, transcript: Transcript, names: Collection[str]) -> Row:
        """Returns the row of one of many transcripts; for a terminal with the words that stand for a missing title."""
        from convcli.views.columns import row_of
        from convcli.views.titles import SHORT, title_of

        row = row_of(document, transcript, names)
        return row if self._width() is None else {**row, HEADING: title_of(transcript, SHORT)}

    def _check(self) -> None:
        arguments = self.arguments
        if arguments.output is not None and arguments.out_dir is not None:
            raise JobError("usage", "-o and --out-dir exclude each other")
        of_pages = {"--out-dir": arguments.out_dir, "--to": arguments.target, "--findings": arguments.findings}
        named = [name for name, value in of_pages.items() if value]
        if named and arguments.form != "html":
            raise JobError("usage", f"{named[0]} is for pages", help="add --output-format html")

    def _pages(self, lifted: Iterator[tuple[Document, Transcript]]) -> None:
        from convcli.cli import _pages
        from convcli.views.program_texts import without_events

        assert self.arguments.out_dir is not None
        folder = _pages.PageFolder(self.arguments.out_dir, self._prices(), force=self.arguments.force)
        try:
            for document, transcript in lifted:
                if self.arguments.events == "hide":
                    transcript = without_events(transcript)
                whole = self._with_runs(document, transcript)
                folder.add(document, transcript, self._marks(document, transcript), whole)
            self.screen.announce(folder.finish())
        finally:
            folder.discard()

    def _prices(self) -> Prices:
        from convcli.views.costs import Prices

        return Prices(self.arguments.reading.configuration.settings.get("prices", {}))

    def _with_runs(self, document: Document, transcript: Transcript) -> Transcript:
        """Returns the session with the runs of its subagents that stand in files of their own."""
        from convcli.jobs.agent_files import with_runs
        from convcli.views.program_texts import without_events

        whole = with_runs(transcript, document.file, self.arguments.reading.opened)
        return without_events(whole) if whole is not transcript and self.arguments.events == "hide" else whole

    def _marks(self, document: Document, transcript: Transcript) -> Any:
        from convcli.cli._pages import marks

        return marks(document, transcript, self.arguments.target, findings=self.arguments.findings)

    def _is_page(self) -> bool:
        """True if the output is a page of a conversation, not a table of some of its rows."""
        arguments = self.arguments
        chosen = arguments.where or arguments.columns or arguments.limit is not None
        return arguments.form == "html" and not chosen and not arguments.tool_rows and arguments.number is None

    def _one(self, document: Document, transcript: Transcript) -> None:
        from convcli.report import message
        from convcli.views import rows as overview
        from convcli.views.columns import row_of

        if self._is_page():
            from convcli.cli._pages import title_of
            from convcli.report import page
            from convcli.views.facts import facts_of
            from convcli.views.program_texts import without_events

            if self.arguments.events == "hide":
                transcript = without_events(transcript)
            name, about = (
                title_of(transcript, document.file),
                facts_of(document, transcript, row_of(document, transcript), self._prices()),
            )
            whole = self._with_runs(document, transcript)
            self.screen.show(page.conversation(whole, name, about, self._marks(document, transcript)))
            return
        is_whole = self.arguments.whole or self.arguments.form == "html"
        is_searched = any("~" in condition for condition in self.arguments.where)  # all of a text, not its beginning
        longest = None if is_whole or is_searched else overview.LONGEST
        if self.arguments.number is not None:
            number = _checked(transcript, self.arguments.number)
            view = tables.View(self._width(), self.screen.out, self.arguments.whole)
            self.screen.show(message.shown(transcript, number, self.arguments.form, view))
            return
        in_short = 0 if is_whole or self.arguments.form != "table" else _room_of_texts(self._width())
        title = message.title(row_of(document, transcript), hides_events=self._hides_events)
        if self.arguments.tool_rows:
            rows = overview.by_call(transcript, longest=longest, in_short=in_short)
            self._show("call", rows, title)
            return
        rows = overview.by_message(transcript, longest=longest, in_short=in_short)
        self._show("message", self._wanted(rows), title)

    def _messages(self, document: Document, transcript: Transcript, shown: list[Row]) -> None:
        """Shows the rest of a long session on a terminal."""
        from convcli.cli._beginning import others
        from convcli.report.message import title
        from convcli.views.columns import row_of
        from convcli.views.rows import by_message

        words = title(row_of(document, transcript), hides_events=self._hides_events)
        rows = by_message(transcript, in_short=_room_of_texts(self._width()))
        self._show("message", self._wanted(others(rows, shown)), words)

    def _wanted(self, rows: Iterator[Row]) -> Iterator[Row]:
        return (row for row in rows if row["role"] != "event") if self._hides_events else rows

    @property
    def _hides_events(self) -> bool:
        arguments = self.arguments
        by_default = arguments.form == "table" and not arguments.where and not arguments.tool_rows
        return by_default if arguments.events is None else arguments.events == "hide"

    def _named_columns(self) -> set[str]:
        """Returns the names in the options, which may be columns that are found only on demand."""
        from convcli.views.conditions import parsed

        names = {term.column for text in self.arguments.where for term in parsed(text)}
        return names.union(name.strip() for name in (self.arguments.columns or "").split(","))

    def _show(
        self,
        rows_of: RowKind,
        rows: Iterator[Row],
        title: list[str],
        each: Callable[[Row], None] | None = None,
    ) -> None:
        """Shows a heading, if the title is of one transcript, and the rows; nothing if a column is unknown.

        `each` is called with every row that is shown.
        """
        from convcli.report.message import heading
        from convcli.report.tables.table import HEADS
        from convcli.views.columns import SHOWN, known
        from convcli.views.conditions import column_named, conditions

        every, columns, chosen = known(rows_of), list(SHOWN[rows_of]), self.arguments.columns
        found = [condition for text in self.arguments.where for condition in conditions(text, every, HEADS)]
        for condition in found:
            rows = filter(condition.holds, rows)
        rows = islice(rows, self.arguments.limit)
        if each is not None:
            rows = passed_by(rows, each)
        if chosen is not None:
            columns = [column_named(name, every, HEADS) for name in chosen.split(",")]
            rows = ({name: row[name] for name in columns} for row in rows)
        if chosen is None and self.arguments.form == "table" and self._width() is not None:
            if rows_of == "transcript":
                columns, rows = headed(columns, rows)
            if (self._width() or NARROW) < NARROW:
                columns = [name for name in columns if name not in SPARED]
        if len(title) > 1:
            self.screen.announce(heading(title, self.screen.err, _shared.width(sys.stderr)))
        view = tables.View(self._width(), self.screen.out, self.arguments.whole, tuple(title))
        _shared.show_table(self.screen, self.arguments.form, columns, rows, view)
        _selecting.announce_notes(self.screen, (note for condition in found for note in condition.notes()))


def headed(columns: list[str], rows: Iterator[Row]) -> tuple[list[str], Iterator[Row]]:
    """Returns columns with title and age first, the file last, and the rows that fill them."""
    last = [name for name in ("file", "line") if name in columns]
    others = [name for name in columns if name not in ("title", "unpaired", "output", *last)]
    shown = ({**row, "title": row[HEADING], "ended": age(row["end"])} for row in rows)
    return ["title", "ended", *others, *last], shown


def age(time: str | None) -> str | None:
    """Returns how long ago a session ended; None if that is unknown."""
    from convcli.views.times import ago, moment_of

    moment = moment_of(time)
    return None if moment is None else ago(moment)


def _room_of_texts(width: int | None) -> int:
    """Returns about how many characters of text a table of this width shows; 0 without a limit."""
    return 0 if width is None else max(width - BESIDE_TEXTS, LEAST_ROOM)


def passed_by(rows: Iterator[Row], each: Callable[[Row], None]) -> Iterator[Row]:
    """Yields the rows after calling `each` with them."""
    for row in rows:
        each(row)
        yield row


def _checked(transcript: Transcript, number: int) -> int:
    last = len(transcript.messages) - 1
    if number > last:
        help_text = f"they go from 0 to {last}" if last >= 0 else "the transcript holds none"
        raise JobError("unknown-message", f"there is no message {number}", help=help_text)
    return number
