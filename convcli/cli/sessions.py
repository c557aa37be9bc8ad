"""convcli sessions."""

from __future__ import annotations

import os
from bisect import insort
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import structs

from convcli.cli import _selecting, _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.cli._types import PATH, Near, Number, format_of
from convcli.model.errors import DONE, ConvcliError
from convcli.report import tables
from convcli.report.screen import Screen
from convcli.views.nesting import nested

if TYPE_CHECKING:
    from convcli.jobs.documents import Document
    from convcli.jobs.inputs import Input
    from convcli.jobs.reading import ReadingOptions
    from convcli.views.rows import Row

EXAMPLES = """\
convcli sessions                                     # of all known programs, newest first
convcli sessions --program claude-code --limit 10
convcli sessions --cwd . --since 14d                 # of this project, in two weeks
convcli sessions --where "project=convcli and errors>0"
convcli sessions ~/.claude/projects -O json          # of one folder
"""

COLUMNS = ["program", "id", "end", "messages", "calls", "errors", "size", "cwd", "title", "file", "parent"]
WITHOUT_MESSAGES = ("no-messages", "empty-input")
DAY = 86_400
"""Seconds."""
ON_TERMINAL = ["title", "ended", "program", "messages", "errors", "project", "id"]


def _programs() -> list[str]:
    from convcli.jobs import programs

    return programs.names()


@declare(EXAMPLES)
@add_argument("folder", required=False, type=PATH, metavar="[DIR]")
@add_option("--program", type=Near("program", _programs), metavar="NAME", help="Only sessions of this agent program.")
@add_option("--home", type=PATH, metavar="DIR", help="The home directory that contains the folders of the programs.")
@add_option("--cwd", type=PATH, metavar="DIR", help="Only sessions that ran in this directory or below it.")
@_selecting.where
@_selecting.dated
@add_option("--limit", type=Number(0), metavar="N", help="At most this many sessions, newest first.")
@_shared.reading_options
@add_option(
    "-i", "--interactive", "picks", is_flag=True, help="Pick a session on the terminal, to inspect, resume or share it."
)
@add_option("-O", "--output-format", "form", type=format_of(tables), default="table", help="The format of the table.")
def command(
    screen: Screen,
    folder: str | None,
    program: str | None,
    home: str | None,
    cwd: str | None,
    limit: int | None,
    picks: bool,
    form: str,
    reading: ReadingOptions,
) -> int:
    """List the agent sessions on this machine, newest first.

    The runs of subagents are listed below their session. With DIR, list the sessions of that folder. Nothing is
    changed. Every command accepts PROGRAM:ID for a session: convcli inspect codex:0c0ffee0
    """
    from convcli.jobs import programs

    paths: list[tuple[str, str | None]]
    if folder is not None:
        paths = [(file.path, None) for file in reading.find([folder])]
    else:
        chosen = [programs.get(name) for name in programs.names() if program in (None, name)]
        paths = [(path, each.name) for each in chosen for path in programs.files(each, home)]
    codes, printer, empty = ExitCodes(screen), DiagnosticPrinter(screen, reading), list[str]()

    def rows_of(files: _Files) -> Iterator[Row]:
        for row in _rows(files, reading, codes, empty):
            if program in (None, row["program"]) and (cwd is None or _is_below(row["cwd"], cwd)):
                yield row

    rows = _below_sessions(_newest(_sessions(paths), rows_of, limit), limit)
    if not paths:
        screen.announce("no sessions found\n")
    elif picks:
        from convcli.cli import _picking

        codes.add(_picking.run(screen, rows, home))
    elif form == "table" and _shared.width() is not None:
        _shared.show_table(screen, form, ON_TERMINAL, map(_with_age, rows))
    else:
        _shared.show_table(screen, form, COLUMNS, rows)
    if empty:
        from convcli.validation.wording import counted

        verb = "is" if len(empty) == 1 else "are"
        screen.announce(f"note: {counted(len(empty), 'file')} without messages {verb} not listed\n")
    printer.finish()
    codes.finish()
    return codes.worst


def _is_below(directory: str | None, parent: str) -> bool:
    """True for the directory itself, and for one below it; links are followed."""
    if not directory:
        return False
    root, path = os.path.realpath(os.path.expanduser(parent)), os.path.realpath(directory)
    return path == root or path.startswith(os.path.join(root, ""))


def _with_age(row: Row) -> Row:
    from convcli.cli._inspecting import age
    from convcli.views.columns import project_of

    title = f"↳ {row['title'] or ''}" if row.get("below") else row["title"]
    return {**row, "title": title, "ended": age(row["end"]), "project": project_of(row["cwd"])}


_Files: TypeAlias = list[tuple[str, str | None]]
"""Files, each with the program in whose folder it is."""


def _sessions(paths: _Files) -> list[tuple[float, _Files]]:
    """Returns the files of each session, those of the runs of its subagents behind its own, and when it changed.

    The session that changed last comes first.
    """
    from convcli.jobs.agent_files import session_of

    sessions: dict[str, _Files] = {}
    for path, program in sorted(paths, key=lambda file: _changed(file[0])):
        session = session_of(path)
        session = session if session is not None and os.path.exists(session) else path
        files = sessions.setdefault(session, [])
        files.insert(0 if path == session else len(files), (path, program))
    ordered = sorted((-_changed(session), session) for session in sessions)
    return [(-changed, sessions[session]) for changed, session in ordered]


def _newest(
    sessions: list[tuple[float, _Files]], rows_of: Callable[[_Files], Iterable[Row]], limit: int | None
) -> Iterator[Row]:
    """Yields the rows of all sessions, or at least of the newest so many.

    No session ends after its file has changed. So the others are older once so many have ended after the next file
    changed, by more than a time zone: some programs write local times.
    """
    ends: list[float] = []
    for changed, files in sessions:
        if limit is not None and len(ends) >= limit and (limit == 0 or ends[-limit] > changed + DAY):
            return
        for row in rows_of(files):
            if row["parent"] is None:
                insort(ends, _end(row))
            yield row


def _below_sessions(rows: Iterable[Row], limit: int | None) -> Iterator[Row]:
    """Yields so many sessions, the newest first, and below each the runs of its subagents."""
    families = nested(rows, lambda row: row["id"], lambda row: row["parent"])
    for session, *runs in sorted(families, key=lambda family: -_end(family[0]))[:limit]:
        yield session
        yield from ({**row, "below": True} for row in runs)


def _end(row: Row) -> float:
    """Returns when a session ended, in seconds since 1970; 0 if it has no times."""
    from convcli.kit.values import milliseconds_of_time

    return (milliseconds_of_time(row["end"] or "") or 0) / 1000


def _changed(path: str) -> float:
    """Returns when a session changed; infinite if other files than this one may have changed."""
    from convcli.files import folders
    from convcli.jobs import programs

    if path.endswith(programs.DATABASE) or os.path.basename(path) == folders.AGENT:
        return inf
    with suppress(OSError):
        return os.stat(path).st_mtime
    return 0.0


def _rows(files: _Files, reading: ReadingOptions, codes: ExitCodes, empty: list[str]) -> Iterator[Row]:
    """Yields a row for each session. A session that was begun and left has no messages: its file goes into `empty`."""
    from convcli.jobs import programs
    from convcli.jobs.documents import Document

    names = {programs.dialect_of(name).name: name for name in reversed(programs.names())}
    for path, program in files:
        with codes.guard(path), _without_messages(path, empty), _opened(path, program, reading, names) as opened:
            if opened.dialect.name in names:
                for item in opened:
                    if isinstance(item, Document):
                        yield _row(item, program or names[opened.dialect.name])
                        codes.add(DONE)


@contextmanager
def _without_messages(path: str, empty: list[str]) -> Iterator[None]:
    try:
        yield
    except ConvcliError as error:
        if error.code not in WITHOUT_MESSAGES:
            raise
        empty.append(path)


@contextmanager
def _opened(path: str, program: str | None, reading: ReadingOptions, names: Container[str]) -> Iterator[Input]:
    """Opens a file in its detected dialect, or as a session of the program whose folder it is in.

    A session with nothing but text has no marks of its program.
    """
    from convcli.jobs import programs

    with reading.opened(path) as opened:
        if program is None or opened.dialect.name in names:
            yield opened
            return
    with structs.replace(reading, dialect=programs.dialect_of(program).name).opened(path) as opened:
        yield opened


def _row(document: Document, program: str) -> Row:
    from convcli.jobs import programs
    from convcli.jobs.portions import portions
    from convcli.views.rows import by_transcript
    from convcli.views.titles import SHORT, title_of

    transcript = document.lift_leniently()[0]
    row: dict[str, Any] = by_transcript(
        transcript, document.file, document.number_of(document.line), document.dialect.name
    )
    size = None if document.line else _shared.size_of(document.file)  # one of many in a database has no size
    directory = transcript.cwd or programs.directory(program, document.file)
    first = portions(transcript, document.dialect, None)[0]  # the file of a run repeats its session's id
    about = {
        "program": program,
        "id": first.id or transcript.id,
        "parent": first.parent,
        "cwd": directory,
        "size": size,
    }
    return {**row, **about, "title": title_of(transcript, SHORT)}
