"""What the commands share: options for inputs, and the loop over many inputs."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

from convcli.cli import _selecting
from convcli.cli._commands import add_argument, add_option
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.cli._types import DIALECT, PATH, Near, Number, Size
from convcli.kit.codec.found import without_project
from convcli.model.dialect import Dialect
from convcli.model.errors import UNACCEPTABLE, RefusedError
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from convcli.jobs.documents import Document
    from convcli.jobs.envelopes import Pattern
    from convcli.jobs.inputs import Input
    from convcli.jobs.paths import InputFile
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.transcript import Transcript
    from convcli.report.tables import View

F = TypeVar("F", bound=Callable[..., Any])

CALLS: dict[Any, str] = {None: "auto", True: "join", False: "each"}
"""How the calls of a log are read, by the option `--join`."""


def inputs(function: F, *, is_converted: bool = False) -> F:
    """Adds the argument FILE… and the options for how files are read, which become one argument `reading`."""
    options = reading_options(verbose_option(function), is_converted=is_converted)
    return add_argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE...")(
        at_option(line_option(from_option(options)))
    )


def converted_inputs(function: F) -> F:
    """Adds what `inputs` adds, for the command whose results depend on duplicate keys and nulls."""
    return inputs(function, is_converted=True)


def verbose_option(function: F) -> F:
    """Adds the option that asks for the number of files and bytes and the speed."""

    help_text = "Print the number of files and bytes read, and the speed."
    return add_option("-v", "--verbose", is_flag=True, sets="verbose", help=help_text)(function)


def line_option(function: F) -> F:
    """Adds the option that names one transcript of a file."""
    help_text = "Only the transcript on this line of FILE, like FILE:LINE; in a table, in this row."
    return add_option("--line", type=Number(0), metavar="N", help=help_text)(function)


def at_option(function: F) -> F:
    """Adds the option that picks transcripts out of documents."""
    help_text = 'JSON Pointer (or preset, such as langfuse) to conversations nested in logs: "/observations/*/input".'
    option = add_option(
        "--at", multiple=True, metavar="POINTER", shell_complete=lambda _, __, word: _presets(word), help=help_text
    )
    return option(function)


def _patterns(at: tuple[str, ...]) -> tuple[Pattern, ...]:
    """Returns the patterns of `--at`."""
    if not at:
        return ()
    from convcli.jobs.envelopes import patterns

    return patterns(at)


def _presets(word: str) -> list[str]:
    from convcli.jobs.envelopes import PRESETS

    return [name for name in PRESETS if name.startswith(word)]


def announce_passed(screen: Screen, source: Input) -> None:
    """Reports how many values that `--at` picked are no transcripts."""
    passed = source.passed
    if passed is None or not passed.count:
        return
    from convcli.report.text import safe_text

    text = f"note: {passed.count:,} of {passed.total:,} values under --at are no conversations (skipped)"
    more = "".join(f"; {count:,} of them: {message}" for message, count in passed.unsupported.items() if count)
    screen.announce(f"{text} (the first: {safe_text(passed.first)}){safe_text(more)}\n")


def join_option(function: F) -> F:
    """Adds the option that joins the calls of a log. It becomes a part of the argument `reading`."""

    help_text = (
        "Join the calls of one conversation: write the last call and its answer, and report what they lack; or write "
        "each call. By default, calls in logs are joined."
    )
    return add_option("--join/--no-join", "calls", default=None, help=help_text)(function)


def announce_joined(screen: Screen, calls: int, conversations: int) -> None:
    """Reports how many calls were joined."""
    if calls <= conversations:
        return
    from convcli.validation.wording import counted

    text = f"{counted(calls, 'call')} → {counted(conversations, 'conversation')}"
    screen.announce(f"note: joined {text} (--no-join writes each call)\n")


MOST_SUFFIXES = 5
"""The number of suffixes of skipped files that are named."""


def tell_others(screen: Screen, paths: Iterable[str]) -> None:
    """Prints how many files of folders were skipped, with the commonest suffixes, and which inputs are named pipes."""
    from convcli.jobs.paths import count_others, is_named_pipe
    from convcli.report.text import safe_text

    paths = list(paths)
    for pipe in filter(is_named_pipe, paths):
        screen.announce(f"note: {safe_text(pipe)} is a pipe: convcli waits for the program that writes to it\n")
    counts = count_others(paths)
    if not counts:
        return
    most = sorted(counts, key=lambda suffix: (-counts[suffix], suffix))
    named = ", ".join(f"{counts[suffix]:,} {suffix or 'without a suffix'}" for suffix in most[:MOST_SUFFIXES])
    more = f" and {len(most) - MOST_SUFFIXES:,} more kinds" if len(most) > MOST_SUFFIXES else ""
    screen.announce(f"note: {sum(counts.values()):,} other files in folders were skipped ({safe_text(named)}{more})\n")


def reading_options(function: F, *, is_converted: bool = False) -> F:
    """Adds the options for which files are read, and how.

    With `source`, `line`, `at`, the options that choose transcripts and the configuration they become the argument
    `reading`. `--duplicate-keys` and `--nulls` are shown only where files are converted.
    """

    @wraps(function)
    def with_reading(
        *args: Any,
        duplicate_keys: Any,
        exclude: tuple[str, ...],
        isolated: bool,
        nulls: Any,
        max_line: int,
        source: Dialect | None = None,
        line: int | None = None,
        at: tuple[str, ...] = (),
        only: tuple[str, ...] = (),
        since: str | None = None,
        until: str | None = None,
        dedupe: Any = None,
        offset: int = 0,
        most: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        calls: Any = "apart",
        **values: Any,
    ) -> Any:
        from convcli.jobs import config
        from convcli.jobs.reading import ReadingOptions

        configuration = config.Configuration() if isolated else config.load()
        name = None if source is None else source.name
        selection = _selecting.selection(only, since, until, dedupe, offset, most, sample, seed)
        how = {"nulls": nulls, "calls": CALLS.get(calls, calls), "max_line": max_line}
        reading = ReadingOptions(configuration, name, duplicate_keys, exclude, line, _patterns(at), selection, **how)
        with without_project(is_asked=isolated):
            return function(*args, reading=reading, **values)

    return _file_options(cast(F, with_reading), is_converted=is_converted)


def _file_options(function: F, *, is_converted: bool) -> F:
    help_text = "A key that occurs twice in an object is an error, or its last value is used.  [default: error]"
    choice = Near("choice", lambda: ["error", "last"])
    keys = add_option("--duplicate-keys", type=choice, help=help_text, hidden=not is_converted)
    isolated = add_option("--isolated", is_flag=True, help="Ignore convcli.toml and pyproject.toml.")
    help_text = 'Skip files that match, or whose folder does: drafts, "data/*.json". Repeatable.'
    exclude = add_option("--exclude", multiple=True, metavar="GLOB", help=help_text)
    help_text = "For tables: drop nulls in tool arguments and other open objects (padding), or keep them (data)."
    choice = Near("choice", lambda: ["drop", "keep"])
    nulls = add_option("--nulls", type=choice, default="drop", help=help_text, hidden=not is_converted)
    help_text = "Read lines, and members of arrays, of at most this size. They must fit into memory."
    size, is_hidden = Size("--max-line"), not is_converted
    longest = add_option("--max-line", type=size, metavar="SIZE", default="256M", help=help_text, hidden=is_hidden)
    return exclude(keys(nulls(longest(isolated(function)))))


def from_option(function: F) -> F:
    """Adds the option that names the dialect of the inputs."""
    help_text = "The dialect of the input; without it, it is detected."
    return add_option("-f", "--from", "--dialect", "source", type=DIALECT, metavar="DIALECT", help=help_text)(function)


def tools_of(function: F) -> F:
    """Adds the option that names the agent program whose tools the calls of a session name."""
    help_text = (
        "Rename the tools that a session calls to those of another agent program, where every argument fits. By "
        "default none."
    )
    kind = Near("program", _programs_of_tools)
    return add_option("--tools-of", type=kind, metavar="PROGRAM|none", help=help_text)(function)


def _programs_of_tools() -> list[str]:
    from convcli.engine.arguments import programs_of_tools

    return programs_of_tools()


def jobs(function: F) -> F:
    """Adds the option for the number of processes."""
    help_text = "Use N processes for many files or a large file of records; 0 is one per core."
    option = add_option("-j", "--jobs", type=Number(0), default=1, metavar="N", help=help_text)
    return option(function)


def processes(asked: int, paths: Iterable[str], screen: Screen) -> int:
    """Returns the number of processes for these inputs, at most the number that is asked for."""
    from convcli.jobs import inputs as files

    if asked == 1 or sum(map(size_of, paths)) < files.WORTH:
        return 1
    from convcli.jobs import workers

    if not workers.can_start():
        screen.announce("note: this system cannot start other processes; one does all the work\n")
        return 1
    return asked or workers.cores()


def read_ahead(screen: Screen, reading: ReadingOptions, files: list[InputFile]) -> None:
    """Reads the files, with a progress line, if the selection depends on all of them."""
    if reading.selection is None:
        return
    with screen.progress(sum(size_of(file.path) for file in files)) as progress:

        def watched(opened: Callable[[str], AbstractContextManager[Input]]) -> Callable[[str], Any]:
            @contextmanager
            def opened_and_watched(path: str) -> Iterator[Input]:
                with opened(path) as source:
                    progress.watch(partial(getattr, source, "bytes_read"))
                    yield source
                progress.pass_by(size_of(path))

            return opened_and_watched

        reading.read_ahead(files, watched)


def size_of(path: str) -> int:
    """Returns the size of a regular file in bytes; 0 for anything else."""
    try:
        there = os.stat(path)
    except OSError:
        return 0
    return there.st_size if stat.S_ISREG(there.st_mode) else 0


def lifted(
    paths: Iterable[str], reading: ReadingOptions, codes: ExitCodes, printer: DiagnosticPrinter
) -> Iterator[tuple[Document, Transcript]]:
    """Yields the transcripts of these files. Refused ones are printed as findings."""
    paths = list(paths)
    selected = reading.find(paths)
    tell_others(printer.screen, paths)
    with printer.screen.progress(sum(size_of(path) for path, _ in selected)) as progress:
        for path, _ in selected:
            with codes.guard(path), reading.opened(path) as source:
                progress.watch(partial(getattr, source, "bytes_read"))
                for item in source:
                    yield from _transcript(item, codes, printer)
                for note in source.notes:
                    printer.finding(note)
                announce_passed(printer.screen, source)
                if source.joined is not None:
                    announce_joined(printer.screen, source.joined.calls, source.joined.conversations)
            progress.pass_by(size_of(path))


def _transcript(item: Any, codes: ExitCodes, printer: DiagnosticPrinter) -> Iterator[tuple[Document, Transcript]]:
    from convcli.jobs.documents import Skipped, skipped, torn_warning

    if isinstance(item, Skipped):
        printer.finding(torn_warning(item) if item.torn else skipped(item))
        codes.add(0 if item.torn else UNACCEPTABLE)
        return
    for finding in item.notes:
        printer.finding(finding)
    try:
        transcript, findings = item.lift_leniently()
    except RefusedError as error:
        codes.add(UNACCEPTABLE)
        for finding in error.findings:
            printer.finding(finding)
        return
    for finding in findings:
        printer.finding(finding)
    yield item, transcript


def show_table(
    screen: Screen, name: str, columns: list[str], rows: Iterable[dict[str, Any]], view: View | None = None
) -> None:
    """Prints rows in a format of `report/tables`; without a `view`, as wide as the terminal."""
    from convcli.report import choice, tables

    screen.show(choice.renderer(tables, name)(columns, rows, view or tables.View(width(), screen.out)))


def width(stream: TextIO | None = None) -> int | None:
    """Returns the width of the terminal of a stream (stdout by default); None if it is no terminal."""
    stream = stream or sys.stdout
    if stream is None or not stream.isatty():
        return None
    import shutil

    return max(shutil.get_terminal_size().columns, 20)
