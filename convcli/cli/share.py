"""convcli share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from convcli.cli import _redacting, _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.cli._output_names import format_of_report
from convcli.cli._types import PATH
from convcli.model.errors import JobError
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.documents import Document
    from convcli.jobs.reading import ReadingOptions
    from convcli.jobs.redacting import Redaction
    from convcli.model.transcript import Transcript
    from convcli.views.costs import Prices

EXAMPLES = """\
convcli samples session -o session.jsonl
convcli share session.jsonl -o share.html            # one page, without private data
convcli share session.jsonl --markdown -o share.md   # for an issue or a gist
convcli share session.jsonl -o share2.html --mask "Project X"
"""


@declare(EXAMPLES)
@add_argument("path", type=PATH, metavar="SESSION")
@_shared.line_option
@_shared.from_option
@_shared.reading_options
@_redacting.word_options
@add_option(
    "-o",
    "--output",
    type=PATH,
    metavar="FILE|-",
    help="The output, Markdown for FILE.md; without it, share-ID.html or share-ID.md.",
)
@add_option("--markdown", "is_markdown", is_flag=True, help="Write Markdown, for an issue or a gist.")
@add_option("--force", is_flag=True, help="Replace an existing output.")
def command(
    screen: Screen, path: str, reading: ReadingOptions, words: tuple[str, ...], allow: str | None,
    output: str | None, is_markdown: bool, force: bool,
) -> int:  # fmt: skip
    """Write one page of a session that you can give to others.

    Private data is masked, events of the agent program are left out, and the end lists what was masked. The page loads
    nothing. SESSION is a file, FILE:LINE or PROGRAM:ID. convcli help redaction lists what is masked, and what is not.
    """
    from convcli.files.outputs import open_output
    from convcli.jobs.agent_files import with_runs
    from convcli.views.costs import Prices

    redaction = _redacting.redaction_of(words, allow, is_one_session=True)
    codes = ExitCodes(screen)
    reading = replace(reading, redaction=redaction)
    printer = DiagnosticPrinter(screen, reading)
    found = list(_shared.lifted([path], reading, codes, printer))
    if len(found) > 1:
        raise JobError("several-inputs", f"{len(found):,} transcripts, and one page", help="name one: FILE:LINE")
    prices = Prices(reading.configuration.settings.get("prices", {}))
    for document, transcript in found:
        form = "md" if is_markdown else format_of_report(screen, output, ("html", "md"), "html")
        name = output or f"share-{_name(transcript.id)}.{form}"
        target = open_output(name, force=force, inputs=[document.file])
        try:
            whole = with_runs(transcript, path, reading.opened)
            for piece in _pieces(document, transcript, whole, redaction, prices, is_markdown=form == "md"):
                target.write(piece.encode("utf-8", "backslashreplace"))
            target.commit()
        finally:
            target.discard()
        screen.announce(f"wrote {name}\n")
        _redacting.announce(screen, redaction)
    printer.finish()
    codes.finish()
    return codes.worst


def _name(identifier: str | None) -> str:
    """Returns the first characters of an id that any file system takes."""
    return re.sub(r"[^A-Za-z0-9]+", "-", identifier or "")[:13].strip("-") or "session"


def _pieces(
    document: Document,
    transcript: Transcript,
    whole: Transcript,
    redaction: Redaction,
    prices: Prices,
    *,
    is_markdown: bool,
) -> Iterator[str]:
    """Returns the page or the Markdown of a transcript without events. `whole` has the runs of other files too."""
    from convcli.cli._pages import title_of
    from convcli.report import page
    from convcli.report.conversation import markdown
    from convcli.views.columns import row_of
    from convcli.views.facts import facts_of
    from convcli.views.program_texts import without_events

    shown = without_events(transcript)
    title = title_of(shown, document.file)
    about = facts_of(document, shown, row_of(document, shown), prices)
    masked = sorted(redaction.counts.items())
    if is_markdown:
        return markdown(without_events(whole), title, [fact.text for fact in about], masked)
    return page.conversation(without_events(whole), title, about, masked=masked)
