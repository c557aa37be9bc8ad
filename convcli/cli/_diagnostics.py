"""How the commands print errors, findings and losses on stderr, and how these decide the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from convcli.cli import _selecting
from convcli.model.errors import BUG, CANNOT_WRITE, UNACCEPTABLE, WRONG_JOB, ConvcliError, OutputError
from convcli.model.findings import OF_FILE, Finding
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions
    from convcli.proof.reasons import Loss

MOST_REPORTED = 100
"""Findings or losses per file that are printed on stderr."""
MOST_ALIKE = 5
"""Findings or losses per file and kind."""
MOST_OF_A_KIND = 50
"""Findings or losses per kind, over all files."""
MOST_INFOS = 3
"""The same for findings that only inform."""
MOST_ERRORS = 20
MOST_OF_JOB = 3
"""Errors with the same code that are printed, of content and of the job, which may repeat for each input."""
MOST_KINDS = 8
"""Kinds that are named when the rest is counted at the end."""


class ExitCodes:
    """Collects the exit codes of the inputs. An error of one input is printed, and the job continues."""

    def __init__(self, screen: Screen) -> None:
        self._screen, self._codes = screen, {0}
        self._printed, self._helps = Counter[str](), {""}
        self._limits: dict[str, int] = {}

    def add(self, code: int) -> None:
        """Adds an exit code."""
        self._codes.add(code)

    @property
    def worst(self) -> int:
        """Returns the exit code of the whole job."""
        from convcli.model.errors import worst

        return worst(self._codes)

    @contextmanager
    def guard(self, name: str, unread: Callable[[ConvcliError], None] | None = None) -> Iterator[None]:
        """Prints an error of the input `name` and goes on. BrokenPipeError still ends the job.

        `unread` takes an error of content, which then does not decide the exit code.
        """
        try:
            yield
        except BrokenPipeError:
            raise
        except ConvcliError as error:
            error.file = error.file or ("" if isinstance(error, OutputError) else name)
            self._printed[error.code] += 1
            if self._printed[error.code] <= self._most(error.code, error.exit_code):
                help_text = error.help
                error.help = "" if help_text in self._helps else help_text
                self._screen.error(error)
                self._helps.add(help_text)
            if unread is not None and error.exit_code == UNACCEPTABLE:
                unread(error)
            else:
                self._codes.add(error.exit_code)
        except Exception as error:
            self._codes.add(announce_bug(self._screen, error, name))

    def finish(self) -> None:
        """Prints how many errors were not printed."""
        from convcli.validation.wording import counted

        for code, number in self._printed.items():
            if number > self._most(code):
                text = f"and {counted(number - self._most(code), 'more input')} with error[{code}]\n"
                self._screen.announce(text, is_error=True)

    def _most(self, code: str, exit_code: int | None = None) -> int:
        """Returns how many errors with this code are printed; the first one determines its exit code."""
        return self._limits.setdefault(code, MOST_OF_JOB if exit_code == WRONG_JOB else MOST_ERRORS)


def announce_bug(screen: Screen, error: Exception, name: str = "") -> int:
    """Prints an unexpected exception in one line, with `--debug` its traceback too. Returns the exit code."""
    if screen.debug:
        import traceback

        screen.announce("".join(traceback.format_exception(error)), is_error=True)
    if isinstance(error, MemoryError):
        screen.error(OutputError("out-of-memory", "there is not enough memory", file=name))
        return CANNOT_WRITE
    from convcli.report.text import safe_text

    where = f" while working on {safe_text(name)}" if name else ""
    hint = "" if screen.debug else "; --debug shows more"
    screen.announce(f"error[bug] internal error{where}: please report it{hint}\n", is_error=True)
    return BUG


class DiagnosticPrinter:
    """Prints findings and losses on stderr as they come: the first of each file and kind, then their number."""

    def __init__(self, screen: Screen, reading: ReadingOptions) -> None:
        self.screen, self._reading = screen, reading
        self._of_file, self._of_kind = Counter[str](), Counter[str]()
        self._alike = Counter[tuple[str, str]]()
        self._hidden = dict[str, Counter[str]]()

    def finding(self, finding: Finding) -> None:
        """Prints a finding; `--quiet` leaves errors only."""
        from convcli.report.formats.full import block
        from convcli.validation.rules.keys import TOP_LEVEL_CODES

        most = 1 if finding.code in TOP_LEVEL_CODES else MOST_ALIKE
        of_kind = MOST_INFOS if finding.severity == "info" else MOST_OF_A_KIND
        if not self._reading.hides(finding) and self._may_tell(finding.file, finding.code, most, of_kind):
            self.screen.announce(block(finding, self.screen.err), is_error=finding.severity == "error")

    def loss(self, loss: Loss, *, is_error: bool = False) -> None:
        """Prints a loss; one that the job does not accept is an error."""
        from convcli.report.losses import listed

        if self._may_tell(loss.file, f"{loss.kind} {loss.field}"):
            self.screen.announce("".join(listed([loss], self.screen.err)), is_error=is_error)

    def finish(self) -> None:
        """Prints how many were not printed, and which conditions matched nothing."""
        _selecting.announce_unused(self.screen, self._reading.selection)
        from convcli.report.text import cut, place, safe_text
        from convcli.validation.wording import counted

        for kind, files in list(self._hidden.items())[:MOST_KINDS]:
            where = place(next(iter(files))) if len(files) == 1 else counted(len(files), "file")
            self.screen.announce(f"and {files.total():,} more {cut(safe_text(kind), 60)} in {where}\n")
        if more := list(self._hidden.values())[MOST_KINDS:]:
            number = sum(files.total() for files in more)
            self.screen.announce(f"and {number:,} more of {counted(len(more), 'other kind')}\n")
        self._hidden.clear()

    def _may_tell(self, file: str, kind: str, alike: int = MOST_ALIKE, of_kind: int = MOST_OF_A_KIND) -> bool:
        self._of_file[file] += 1
        self._of_kind[kind] += 1
        self._alike[file, kind] += 1
        reported = (kind in OF_FILE or self._of_file[file] <= MOST_REPORTED) and self._of_kind[kind] <= of_kind
        if reported and self._alike[file, kind] <= alike:
            return True
        self._hidden.setdefault(kind, Counter())[file] += 1
        return False
