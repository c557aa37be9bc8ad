"""convcli resume."""

from __future__ import annotations

import os
import sys
from collections import Counter
from shlex import quote
from typing import TYPE_CHECKING, Any

from convcli.cli import _redacting, _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._diagnostics import DiagnosticPrinter
from convcli.cli._types import PATH, VIEW, Near
from convcli.model.errors import DONE, UNACCEPTABLE, ContentError, JobError
from convcli.report.screen import Screen
from convcli.wire.patterns import pattern

if TYPE_CHECKING:
    from convcli.engine.conversion import Conversion
    from convcli.files.outputs import Output
    from convcli.jobs.documents import Document
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.dialect import Dialect, Program, SessionFacts

EXAMPLES = """\
convcli samples session -o session.jsonl
convcli resume session.jsonl --in codex --home home             # prints the command that continues it
convcli resume session.jsonl --in gemini-cli --home home --dry-run
"""
TIME = pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")


def _programs() -> list[str]:
    from convcli.jobs import programs

    return programs.resumable()


@declare(EXAMPLES)
@add_argument("path", type=PATH, metavar="FILE")
@add_option(
    "--in",
    "--to",
    "-t",
    "program",
    type=Near("program", _programs),
    required=True,
    metavar="PROGRAM",
    help="The program that continues: claude-code, cline, codex, continue, copilot-cli, droid, gemini-cli, goose, "
    "gptme, grok-build, openclaw, opencode, pi, qwen-code or strands.",
)
@_shared.from_option
@_shared.reading_options
@_redacting.option
@add_option(
    "--home",
    type=PATH,
    metavar="DIR",
    help="The home directory to write to: the one that contains the folder of the program.",
)
@add_option(
    "--cwd",
    type=PATH,
    metavar="DIR",
    help="The working directory; by default that of the session if it exists, else the current one.",
)
@add_option(
    "--view",
    type=VIEW,
    default="context",
    help="For sessions with a compaction: the whole history, or what the model would be sent next.",
)
@_shared.tools_of
@add_option("--keep-going", is_flag=True, help="Skip lines that cannot be read, report them and exit 1.")
@add_option("--dry-run", is_flag=True, help="Report what would be written and lost, and write nothing.")
def command(
    screen: Screen,
    path: str,
    program: str,
    reading: ReadingOptions,
    home: str | None,
    cwd: str | None,
    view: Any,
    tools_of: str | None,
    keep_going: bool,
    dry_run: bool,
) -> int:
    """Continue a session in another agent program.

    The session is written where that program looks for it, and the command that continues it is printed. FILE is a
    session, any other transcript, or PROGRAM:ID as `convcli sessions` lists them. No file is replaced. Programs drop
    calls without a result, so these get a placeholder, which is reported as invented.
    """
    from convcli.jobs import programs

    chosen = programs.get(program)
    document, left_out = _document(screen, path, reading, keep_going)
    conversion, facts = _converted(document, chosen, cwd, view, tools_of)
    target = programs.path(chosen, facts, home)
    if database := programs.database_with(chosen, facts.id, home):
        raise JobError("output-exists", f"{database} holds the session {facts.id} already", help=IN_PROGRAM)
    if not dry_run:
        _write(_contents(conversion.document, chosen, facts, target), document.file)
    _report_findings(screen, document, conversion, programs.dialect_of(program), reading)
    _report_losses(screen, document, conversion, chosen)
    _report_unsent(screen, conversion, chosen)
    screen.announce(f"{'would write' if dry_run else 'wrote'} {target}\n")
    if not os.path.isdir(facts.cwd):
        screen.announce(f"note: there is no directory {facts.cwd} here\n")
    screen.show([f"cd {quote(facts.cwd)} && {programs.command(chosen, facts, target, home)}\n"])
    return UNACCEPTABLE if left_out else DONE


def _document(screen: Screen, path: str, reading: ReadingOptions, keep_going: bool) -> tuple[Document, int]:
    """Returns the only transcript and the number of unreadable lines.

    An incomplete last line is always skipped, with a note: the program may still be writing it.
    """
    from convcli.jobs.documents import Document, skipped

    documents, left_out = [], 0
    printer = DiagnosticPrinter(screen, reading)
    for file in reading.find([path]):
        with reading.opened(file.path) as opened:
            for item in opened:
                if isinstance(item, Document):
                    documents.append(item)
                elif item.torn:
                    screen.announce("note: the last line is torn and left out\n")
                elif keep_going:
                    printer.finding(skipped(item))
                    left_out += 1
                else:
                    item.error.help = item.error.help or "--keep-going leaves out what cannot be read"
                    raise item.error
    printer.finish()
    if len(documents) != 1:
        raise JobError("usage", f"there are {len(documents):,} transcripts in {path}", help="name one as FILE:LINE")
    return documents[0], left_out


def _converted(
    document: Document, program: Program, cwd: str | None, view: Any, tools_of: str | None
) -> tuple[Conversion, SessionFacts]:
    from convcli.engine.arguments import program_of_tools
    from convcli.engine.resuming import resumed
    from convcli.jobs import programs
    from convcli.kit.ids import uuid_of
    from convcli.kit.sessions import EPOCH
    from convcli.model.dialect import Options, SessionFacts

    transcript, target = document.lift(), programs.dialect_of(program.name)
    own = transcript.cwd if transcript.cwd and os.path.isdir(transcript.cwd) else os.getcwd()
    directory = os.path.abspath(cwd) if cwd is not None else own
    options = Options(branch="active", view=view, form=program.form, tools_of=program_of_tools(tools_of))
    conversion = resumed(transcript, target, document.dialect, options, directory, program.fit)
    written = target.lift(conversion.document)
    if all(message.role == "event" for message in written.messages):
        message = f"there is no message left in the view {view}"
        raise ContentError("no-messages", message, file=document.file, help="--view history has all messages")
    begin = written.created_at if written.created_at and TIME.match(written.created_at) else EPOCH
    answer = next((m for m in reversed(transcript.messages) if m.role == "assistant"), transcript.messages[-1])
    model, id_ = answer.model or transcript.model, written.id or uuid_of(conversion.document)
    return conversion, SessionFacts(id_, directory, begin, transcript.title, model, answer.provider)


def _contents(document: Any, program: Program, facts: SessionFacts, path: str) -> dict[str, Any]:
    """Returns the documents to write, by path: that of the session first."""
    if program.files is None:
        return {path: document}
    files, folder = program.files(document, facts, path), os.path.dirname(path)
    return {os.path.normpath(os.path.join(folder, name)): content for name, content in files.items()}


def _write(contents: dict[str, Any], source: str) -> None:
    """Writes all files or none, as private as the source. Raises JobError `output-exists` and OutputError."""
    from convcli.files.layouts import DocumentWriter
    from convcli.files.outputs import NewFolders

    outputs: list[Output] = []
    folders = NewFolders()
    try:
        for n, path in enumerate(contents):
            folders.make(os.path.dirname(path))
            outputs.append(_opened(path, IN_PROGRAM if n == 0 else LISTED, source))
        writers = [DocumentWriter(output, "jsonl") for output in outputs]
        for writer, document in zip(writers, contents.values(), strict=True):
            writer.add(document)
        for writer in writers:
            writer.commit()
    finally:
        for output in outputs:
            output.discard()
        folders.discard()


IN_PROGRAM = "the program has this session already: resume it there, or compare the two with convcli diff"
LISTED = "the program uses this file for another session: let it continue that one first"


def _opened(path: str, help: str, source: str) -> Output:
    from convcli.files.outputs import open_output

    try:
        return open_output(path, inputs=[source])
    except JobError as error:
        error.help = help
        raise


def _report_findings(
    screen: Screen, document: Document, conversion: Conversion, target: Dialect, reading: ReadingOptions
) -> None:
    """Prints what the program would refuse or leave out of the session."""
    from convcli.jobs.results import as_warning

    printer = DiagnosticPrinter(screen, reading)
    for finding in document.located(conversion.findings):
        printer.finding(as_warning(finding, target))
    printer.finish()


def _report_unsent(screen: Screen, conversion: Conversion, program: Program) -> None:
    """Prints what the program does not send to the model again, and what it rewrites; in its own sessions too."""
    from convcli.jobs import programs
    from convcli.validation.rules.turns import SENT_WORDS

    target = programs.dialect_of(program.name)
    title = target.title if program.name == target.name else program.name
    messages = target.lift(conversion.document).messages
    parts = [part for message in messages for part in message.parts]
    held = {message.role for message in messages} | {part.type for part in parts}
    for kind in program.unsent:
        if kind in held:
            screen.announce(f"note: {title} does not send the {SENT_WORDS[kind]} of a session\n")
    changes = Counter(filter(None, map(program.resent, parts))) if program.resent is not None else {}
    for change, count in changes.items():
        screen.announce(f"note: {title} sends {change} ({count:,} ×)\n")


def _report_losses(screen: Screen, document: Document, conversion: Conversion, program: Program) -> None:
    from convcli.jobs import programs
    from convcli.jobs.summaries import Summary
    from convcli.report.losses import summary

    document.locate(conversion.losses)
    total = Summary(
        [document.dialect.name],
        programs.dialect_of(program.name).name,
        transcripts=1,
        rows=1,
        lossy=bool(conversion.losses),
        outputs=1,
    )
    for loss in conversion.losses:
        total.count(loss)
    listing = f"convcli losses FILE --to {total.target} lists them"
    screen.announce(summary(total, screen.err, "resume", _shared.width(sys.stderr), listing))
