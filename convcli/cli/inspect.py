"""convcli inspect."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from convcli.cli import _work
from convcli.cli._commands import Command
from convcli.cli._types import format_of
from convcli.dialect import Dialect
from convcli.errors import UNACCEPTABLE, RefusedError
from convcli.report import tables
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.files import Document, Found
    from convcli.overview import Row
    from convcli.transcript import Transcript

EXAMPLES = """\
convcli inspect chat.json                     # a row for each message
convcli inspect sessions/*.jsonl              # a row for each transcript
convcli inspect chat.json --output-format jsonl
"""

MESSAGES = ["message", "role", "parts", "text"]
TRANSCRIPTS = ["file", "line", "dialect", "messages", "calls", "results", "errors", "unpaired", "model", "title"]


@click.command(cls=Command, examples=EXAMPLES)
@_work.inputs
@click.option("--summary", is_flag=True, help="A row of counts for each transcript, even if there is only one.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most this many rows.")
@click.option("--output-format", "form", type=format_of(tables), default="table", help="How the rows are written.")
@click.pass_obj
def command(screen: Screen, /, **given: Any) -> int:
    """Show transcripts as a table: a row for each message of one transcript, or for each of many transcripts.

    FILE is a file, a folder, a glob, or - for stdin.
    """
    return _Inspecting(screen, Wish(**given)).run()


class Wish(NamedTuple):
    """What the command line says."""

    paths: tuple[str, ...]
    source: Dialect | None
    summary: bool
    limit: int | None
    form: str
    duplicate_keys: Any


class _Inspecting:
    """One call of the command."""

    def __init__(self, screen: Screen, wish: Wish) -> None:
        self.screen, self.wish = screen, wish
        self.codes, self.teller = _work.Codes(screen), _work.Teller(screen)

    def run(self) -> int:
        """One transcript alone is shown by its messages; whether it is alone shows when the second comes."""
        from convcli import files, overview

        lifted = self._lifted(files.find(self.wish.paths))
        first = list(islice(lifted, 2))
        if len(first) == 1 and not self.wish.summary:
            document, transcript = first[0]
            self.screen.tell(_title(document, transcript, overview.by_transcript(transcript, document.file, 0, "")))
            self._show(MESSAGES, overview.by_message(transcript))
        elif first:
            self._show(TRANSCRIPTS, (_row(*pair) for pair in chain(first, lifted)))
        self.teller.finish()
        return self.codes.worst

    def _show(self, columns: list[str], rows: Iterator[Row]) -> None:
        _work.show_table(self.screen, self.wish.form, columns, islice(rows, self.wish.limit))

    def _lifted(self, found: list[Found]) -> Iterator[tuple[Document, Transcript]]:
        from convcli import files

        source_name = None if self.wish.source is None else self.wish.source.name
        for path, _ in found:
            with (
                self.codes.guard(path),
                files.opened(path, source_name, duplicate_keys=self.wish.duplicate_keys) as source,
            ):
                for item in source:
                    yield from self._transcript(item)

    def _transcript(self, item: Any) -> Iterator[tuple[Document, Transcript]]:
        from convcli.files import Skipped
        from convcli.judge import skipped

        if isinstance(item, Skipped):
            self.teller.finding(skipped(item))
            self.codes.add(0 if item.torn else UNACCEPTABLE)
            return
        try:
            yield item, item.lift()
        except RefusedError as error:
            self.codes.add(UNACCEPTABLE)
            for finding in error.findings:
                self.teller.finding(finding)


def _row(document: Document, transcript: Transcript) -> Row:
    from convcli import overview

    return overview.by_transcript(transcript, document.file, document.line, document.dialect.name)


def _title(document: Document, transcript: Transcript, counts: Row) -> str:
    from convcli.report.text import count, safe_text

    words = [document.dialect.name] + ([transcript.model] if transcript.model else [])
    numbers = [count(counts[name], name[:-1]) for name in ("messages", "calls", "errors")]
    open_ends = [f"{counts['unpaired']:,} unpaired"] if counts["unpaired"] else []
    return safe_text(f"{document.file}: {', '.join(words + numbers + open_ends)}") + "\n"
