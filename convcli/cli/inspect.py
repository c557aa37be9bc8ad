"""convcli inspect."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from convcli.cli import _shared
from convcli.cli._commands import Command
from convcli.cli._types import DIALECT, format_of
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.report import tables
from convcli.report.screen import Screen
from convcli.report.text import safe_text

if TYPE_CHECKING:
    from convcli.jobs.inputs import Document
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.transcript import Transcript
    from convcli.views.rows import Row

EXAMPLES = """\
convcli inspect samples/cohere/twin-weather.json      # a row for each message, call and result
convcli inspect samples/cohere/twin-weather.json --tools --where status=error,open
convcli inspect samples/cohere/twin-weather.json --message 3       # all of one message
convcli inspect samples/openclaw/*.jsonl              # a row for each transcript
convcli inspect samples/cohere/twin-weather.json --output-format html > chat.html
"""

MESSAGES = ["message", "role", "kind", "tool", "call", "status", "size", "tokens", "text"]
MORE_OF_MESSAGES = ["name", "model", "time"]
NARROW = 100
SPARED = frozenset(("size", "tokens", "output", "model", "title"))
"""Below so many cells a terminal gets none of these columns: texts and names of files need the room."""
MOST_SEEN = 1_000
"""Words of a column that are remembered for the case that a condition holds for no row."""
TOOLS = ["call", "tool", "status", "seconds", "asked", "answered", "size", "arguments", "result"]
TRANSCRIPTS = ["file", "line", "dialect", "messages", "calls", "errors", "unpaired", "output", "model", "title"]
MORE_OF_TRANSCRIPTS = [
    "results", "reasoning", "images", "events", "system", "developer", "user", "assistant", "tool", "input", "id",
    "begin", "end",
]  # fmt: skip


@click.command(cls=Command, examples=EXAMPLES)
@_shared.inputs
@click.option("--summary", is_flag=True, help="A row of counts for each transcript, even if there is only one.")
@click.option("--tools", "tool_rows", is_flag=True, help="A row for each tool call, with its result.")
@click.option(
    "--message", "number", type=click.IntRange(min=0), metavar="N", help="One message in full; the first is 0."
)
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=A,B",
    shell_complete=lambda _, __, word: _completed(word, "="),
    help="Only rows in which a column says A or B.",
)
@click.option(
    "--columns",
    metavar="A,B",
    shell_complete=lambda _, __, word: _completed(word, ""),
    help="These columns, in this order.",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most this many rows.")
@click.option("--no-trunc", "whole", is_flag=True, help="Do not cut texts.")
@click.option(
    "--out-dir", type=click.Path(), metavar="DIR", help="With html: a page for each transcript, and an index."
)
@click.option("-t", "--to", "target", type=DIALECT, metavar="DIALECT", help="With html: mark what that would lose.")
@click.option("--findings", is_flag=True, help="With html: mark what validate would find.")
@click.option("--force", is_flag=True, help="Replace pages that exist.")
@click.option("--output-format", "form", type=format_of(tables), default="table", help="How the rows are written.")
@click.pass_obj
def command(screen: Screen, /, **values: Any) -> int:
    """Show the messages of a transcript, or a row for each of many.

    FILE is a file, FILE:LINE, a folder, a glob, or - for stdin. A call and its result have the same mark, #1 for the
    first call.
    """
    return _Inspecting(screen, InspectArguments(**values)).run()


def _completed(word: str, sign: str) -> list[str]:
    """The columns that may be meant by the last word of a list."""
    before, comma, last = word.rpartition(",")
    every = dict.fromkeys(MESSAGES + MORE_OF_MESSAGES + TOOLS + TRANSCRIPTS + MORE_OF_TRANSCRIPTS)
    return [f"{before}{comma}{name}{sign}" for name in every if name.startswith(last)]


class InspectArguments(NamedTuple):
    """What the command line says."""

    paths: tuple[str, ...]
    reading: ReadingOptions
    summary: bool
    tool_rows: bool
    number: int | None
    where: tuple[str, ...]
    columns: str | None
    limit: int | None
    whole: bool
    form: str
    out_dir: str | None
    target: Dialect | None
    findings: bool
    force: bool


class _Inspecting:
    """One call of the command."""

    def __init__(self, screen: Screen, arguments: InspectArguments) -> None:
        self.screen, self.arguments = screen, arguments
        self.codes, self.printer = _shared.ExitCodes(screen), _shared.DiagnosticPrinter(screen, arguments.reading)

    def run(self) -> int:
        """One transcript alone is shown by its messages; whether it is alone shows when the second comes."""
        self._check()
        lifted = _shared.lifted(self.arguments.paths, self.arguments.reading, self.codes, self.printer)
        if self.arguments.out_dir is not None:
            self._pages(lifted)
            self.codes.finish()
            return self.codes.worst
        first = list(islice(lifted, 2))
        if len(first) == 1 and not self.arguments.summary:
            self._one(*first[0])
        elif first:
            if self.arguments.tool_rows or self.arguments.number is not None:
                raise JobError("usage", "--tools and --message are for one transcript", help="name one: FILE:LINE")
            self._show(
                TRANSCRIPTS, MORE_OF_TRANSCRIPTS, (_row(*pair) for pair in chain(first, lifted)), ["transcripts"]
            )
        self.printer.finish()
        self.codes.finish()
        return self.codes.worst

    def _check(self) -> None:
        arguments = self.arguments
        of_pages = {"--out-dir": arguments.out_dir, "--to": arguments.target, "--findings": arguments.findings}
        named = [name for name, value in of_pages.items() if value]
        if named and arguments.form != "html":
            raise JobError("usage", f"{named[0]} is for pages", help="add --output-format html")

    def _pages(self, lifted: Iterator[tuple[Document, Transcript]]) -> None:
        from convcli.cli import _pages

        assert self.arguments.out_dir is not None
        folder = _pages.PageFolder(self.arguments.out_dir, force=self.arguments.force)
        for document, transcript in lifted:
            folder.add(_row(document, transcript), transcript, self._marks(document, transcript))
        self.screen.tell(folder.finish())

    def _marks(self, document: Document, transcript: Transcript) -> Any:
        from convcli.engine import pipeline
        from convcli.report.page.marks import marks_of

        arguments, dialect = self.arguments, document.dialect
        losses = [] if arguments.target is None else pipeline.convert(document.value, dialect, arguments.target).losses
        findings = pipeline.validate(document.value, dialect) if arguments.findings else []
        return marks_of(transcript, losses, findings)

    def _is_page(self) -> bool:
        """Is a conversation wanted, and no table of some of its rows?"""
        arguments = self.arguments
        chosen = arguments.where or arguments.columns or arguments.limit is not None
        return arguments.form == "html" and not chosen and not arguments.tool_rows and arguments.number is None

    def _one(self, document: Document, transcript: Transcript) -> None:
        from convcli.report import message
        from convcli.views import rows as overview

        if self._is_page():
            from convcli.report import page
            from convcli.views.gists import first_words

            file, *about = message.title(_row(document, transcript))
            name = transcript.title or first_words(transcript) or os.path.basename(file)
            self.screen.show(page.conversation(transcript, name, about, self._marks(document, transcript)))
            return
        longest = None if self.arguments.whole or self.arguments.form == "html" else overview.LONGEST
        if self.arguments.number is not None:
            number, view = _checked(transcript, self.arguments.number), tables.View(_shared.width(), self.screen.out)
            self.screen.show(message.shown(transcript, number, self.arguments.form, view))
            return
        title = message.title(_row(document, transcript))
        if self.arguments.tool_rows:
            self._show(TOOLS, [], overview.by_call(transcript, longest=longest), title)
        else:
            self._show(MESSAGES, MORE_OF_MESSAGES, overview.by_message(transcript, longest=longest), title)

    def _show(self, columns: list[str], more: list[str], rows: Iterator[Row], title: list[str]) -> None:
        """The heading, where a title is of one transcript, and the rows; nothing of it if a column is unknown."""
        from convcli.report.message import heading

        known, chosen = [*columns, *more], self.arguments.columns
        conditions = [Condition(wanted, known) for wanted in self.arguments.where]
        for condition in conditions:
            rows = filter(condition, rows)
        if chosen is not None:
            columns = [_column(name, known) for name in chosen.split(",")]
            rows = ({name: row[name] for name in columns} for row in rows)
        if chosen is None and self.arguments.form == "table" and (_shared.width() or NARROW) < NARROW:
            columns = [name for name in columns if name not in SPARED]
        if len(title) > 1:
            self.screen.tell(heading(title, self.screen.err))
        view = tables.View(_shared.width(), self.screen.out, self.arguments.whole, tuple(title))
        _shared.show_table(self.screen, self.arguments.form, columns, islice(rows, self.arguments.limit), view)
        self.screen.tell("".join(filter(None, (condition.in_vain() for condition in conditions))))


def _column(name: str, known: list[str]) -> str:
    if name not in known:
        from convcli.validation.wording import unknown

        raise unknown("column", name, known, f"choose from {', '.join(known)}")
    return name


class Condition:
    """`role=tool,error`: does the column say one of these? A cell with several words says each of them."""

    def __init__(self, wanted: str, known: list[str]) -> None:
        name, sign, words = wanted.partition("=")
        if not sign:
            raise JobError("usage", f'"{wanted}" is no condition', help="say --where role=user,assistant")
        self.column, self.accepted = _column(name, known), words.split(",")
        self.seen, self.held = set[str](), False

    def __call__(self, row: Row) -> bool:
        words = _words(row[self.column])
        holds = any(word in self.accepted for word in words)
        self.held = self.held or holds
        if not self.held and len(self.seen) < MOST_SEEN:
            self.seen.update(words)
        return holds

    def in_vain(self) -> str | None:
        """What to say when it held for no row, with the nearest word of those that the rows have."""
        if self.held or not self.seen:
            return None
        from convcli.validation.wording import nearest

        words, seen = ",".join(self.accepted), sorted(self.seen)
        near = next(filter(None, (nearest(word, seen) for word in self.accepted)), None)
        hint = f'; did you mean "{safe_text(near)}"?' if near is not None else ""
        return f"note: no row has {self.column}={safe_text(words)}{hint}\n"


def _words(value: Any) -> list[str]:
    return [""] if value is None else [str(value), *str(value).split(", ")]


def _checked(transcript: Transcript, number: int) -> int:
    last = len(transcript.messages) - 1
    if number > last:
        raise JobError("unknown-message", f"there is no message {number}", help=f"they go from 0 to {last}")
    return number


def _row(document: Document, transcript: Transcript) -> Row:
    from convcli.views import rows as overview

    return overview.by_transcript(transcript, document.file, document.first_line, document.dialect.name)
