"""Standard output for results, standard error for everything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias

from convcli.files.outputs import cannot_write
from convcli.model.errors import ConvcliError, OutputError
from convcli.report.text import Paint, safe_text

if TYPE_CHECKING:
    from convcli.files.outputs import Output
    from convcli.report.pager import Pager
    from convcli.report.progress import Progress

Colour: TypeAlias = Literal["auto", "always", "never"]


class Screen:
    """Where a command prints. `out` and `err` say whether colours are wanted there; `quiet` allows errors only.

    `if_stopped` is what a signal leaves of the job, where that is not just the outputs that are written."""

    def __init__(self, colour: Colour = "auto", *, debug: bool = False) -> None:
        self.debug, self.verbose, self.quiet = debug, False, False
        self.if_stopped = ""
        self.out = Paint(wants_colour(sys.stdout, colour, os.environ))
        self.err = Paint(wants_colour(sys.stderr, colour, os.environ))
        self._progress: Progress | None = None
        self._output: Output | None = None
        self._pager: Pager | None = None

    @contextmanager
    def into(self, output: Output) -> Iterator[None]:
        """Redirects results to this output, without colors; it is committed once all of it is written."""
        paint, self.out, self._output = self.out, Paint(), output
        try:
            yield
            output.commit()
        finally:
            output.discard()
            self.out, self._output = paint, None

    @contextmanager
    def paged(self, wanted: bool | None = None) -> Iterator[None]:
        """Sends results through a pager if the output is a terminal. Closing it early is not an error."""
        from convcli.report.pager import Pager, command

        self._pager = Pager(words) if (words := command(wanted, os.environ)) else None
        try:
            yield
        except BrokenPipeError:
            if self._pager is None:
                raise
        finally:
            running, self._pager = self._pager, None
            if running is not None:
                running.close()

    def show(self, pieces: Iterable[str]) -> None:
        """Prints a result. Raises OutputError if it cannot be written, BrokenPipeError if its reader is gone."""
        if self._output is not None:
            for piece in pieces:
                self._output.write(piece.encode("utf-8", "backslashreplace"))
            return
        if self._progress is not None and sys.stdout is not None and sys.stdout.isatty():
            self._progress.stop()
        if sys.stdout is None:
            raise OutputError("cannot-write", "cannot write standard output: it is closed")
        for piece in pieces:
            try:
                _write(sys.stdout, piece, self._pager)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise cannot_write("standard output", error) from None

    def flush(self) -> None:
        """Flushes standard output or the pager."""
        if self._pager is not None:
            self._pager.flush()
        elif sys.stdout is not None:
            sys.stdout.buffer.flush()

    def announce(self, text: str, *, is_error: bool = False) -> None:
        """Prints what is no result on stderr, unless `quiet` is set and it is no error. A closed stderr is ignored."""
        if self.quiet and not is_error:
            return
        if self._progress is not None:
            self._progress.clear()
        if self._pager is not None and text and sys.stderr is not None and sys.stderr.isatty():
            _write(sys.stderr, text, self._pager)
        elif sys.stderr is not None:
            with suppress(OSError):
                _write(sys.stderr, text)
                sys.stderr.flush()

    def report_stop(self) -> None:
        """Prints in one line that a signal stopped the job, and what is written."""
        from convcli.files.outputs import WRITTEN

        left = self.if_stopped
        if not left and WRITTEN.count > 1:
            left = f"{WRITTEN.count:,} files were written"
        elif not left and WRITTEN.is_expected:
            left = f"{safe_text(WRITTEN.last)} was written" if WRITTEN.count else "nothing was written"
        is_after_sign = sys.stderr is not None and sys.stderr.isatty()  # the terminal shows ^C
        self.announce(f"{chr(10) * is_after_sign}{'; '.join(filter(None, ('stopped', left)))}\n")

    def announce_speed(self) -> None:
        """Reports how much was read and how fast, with `--verbose`."""
        if self.verbose and self._progress is not None:
            self.announce(f"{self._progress.summary()}\n")

    def progress(self, total: int) -> Progress:
        """Starts a progress line for a long job; other output clears it."""
        from convcli.report.progress import Progress

        is_covered = self._pager is not None and self._pager.is_running
        self._progress = Progress(total, shown=not (is_covered or self.quiet))
        return self._progress

    def error(self, error: ConvcliError) -> None:
        """Prints an error."""
        from convcli.jobs.documents import finding_of
        from convcli.report.formats.full import block

        for finding in getattr(error, "findings", None) or [finding_of(error)]:
            self.announce(block(finding, self.err), is_error=True)


def _write(stream: TextIO, text: str, pager: Pager | None = None) -> None:
    """Writes UTF-8 to files and pipes; on a terminal, characters outside its encoding become visible escapes."""
    encoding = (stream.encoding if stream.isatty() else None) or "utf-8"
    (pager or stream.buffer).write(text.encode(encoding, "backslashreplace"))


def wants_colour(stream: TextIO | None, colour: Colour, environment: Mapping[str, str]) -> bool:
    """True if output is colored: by the option, then NO_COLOR and FORCE_COLOR, then the terminal."""
    if colour != "auto":
        return colour == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return environment.get("TERM") != "dumb" and stream is not None and stream.isatty()
