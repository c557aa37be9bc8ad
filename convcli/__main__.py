"""The program: signals, standard streams and exit codes around the command line.

A signal becomes an exception, so that outputs are discarded where they are made; then the process dies by the same
signal. A closed pipe on stdout is no error, any other failure to write to it is."""

from __future__ import annotations

if __name__ == "__main__":  # before the imports, as in `_start`
    import _signal

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import _signal as signal  # `signal` itself also makes enumerations
import _thread
import gc
import os
import sys
import time
from contextlib import contextmanager, suppress
from itertools import pairwise

from convcli.model import modules
from convcli.model.version import __version__

TYPE_CHECKING = False  # as in `typing`, which takes as long to import as the interpreter to start
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType
    from typing import Any, NoReturn


SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))  # not on Windows
READER_GONE = 141
_SIGNALLED = 128
"""The exit code where processes do not die by signals, minus the number of the signal."""
_SOON = 0.005
"""Seconds until a signal is repeated that came while a module was being loaded."""


class Interrupted(BaseException):
    """A signal asks the program to stop."""


def program() -> NoReturn:
    """Runs the command line as a process, which ends as soon as everything is written.

    Freeing each object would take as long as a small conversion, and so would collecting cycles among what is loaded.
    """
    gc.set_threshold(50_000, 10, 10)
    os._exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code. After a signal it does not return."""
    _keep_standard_descriptors()
    stop, code = _Stop(), 0
    with suppress(Interrupted), _handled(stop):  # it may also come before or after the work
        try:
            code = _run(list(sys.argv[1:] if argv is None else argv))
        except Interrupted:
            pass
        except BrokenPipeError:
            code = READER_GONE
        except OSError as error:  # of the version, if Python does not buffer
            code = _not_written(error, "standard output", code)
        code = _flushed(code)
    return _die_by(stop.number) if stop.number else code


def _run(argv: list[str]) -> int:
    if argv in (["--version"], ["-V"]):  # other programs ask for it again and again
        if sys.stdout is not None:
            sys.stdout.write(f"convcli {__version__}\n")
        return 0
    return _command(argv)


def _command(argv: list[str]) -> int:
    from convcli.model.libraries import load_libraries

    load_libraries()
    from convcli.model.errors import ConvcliError, OutputError
    from convcli.report.screen import Screen

    screen = Screen(_colour(argv), debug="--debug" in argv)
    question = os.environ.get("_CONVCLI_COMPLETE")
    try:
        if question:
            load_libraries("click")
            from convcli.cli.completion import answer

            return answer(question)
        from convcli.cli._commands import call

        return call(argv, screen)
    except Interrupted:
        screen.report_stop()
        raise
    except BrokenPipeError:
        raise
    except ConvcliError as error:
        screen.error(error)
        return error.exit_code
    except OSError as error:  # no descriptor or space for an import or the help
        screen.error(OutputError("refused-by-system", f"the system refuses: {error.strerror}"))
        return OutputError.exit_code
    except Exception as error:
        from convcli.cli._diagnostics import announce_bug

        return announce_bug(screen, error)


def _colour(argv: list[str]) -> Any:
    """Returns the value of --color, which errors of the command line need before click has parsed it."""
    words = [word.removeprefix("--color=") for word in argv if word.startswith("--color=")]
    words += [word for name, word in pairwise(argv) if name == "--color"]
    return words[-1] if words and words[-1] in ("always", "never") else "auto"


# --- the process -----------------------------------------------------------------------------------------------------


class _Stop:
    """Raises Interrupted for the first signal, and ignores further ones during the cleanup. `number` is the first.

    It waits until no module is being loaded: an exception there ends some modules in C by signal 11."""

    def __init__(self) -> None:
        self.number = 0
        self._is_raised = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.number = self.number or number
        if self._is_raised:
            return
        if modules.is_loaded_in(frame):
            self._repeat()
            return
        self._is_raised = True
        raise Interrupted

    def ignored(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Repeats a signal that came while Python ran what must not fail, such as the end of an object's life."""
        if unraisable.exc_type is not Interrupted:
            sys.__unraisablehook__(unraisable)
            return
        self._is_raised = False
        self._repeat()

    def _repeat(self) -> None:
        _thread.start_new_thread(_send_soon, (self.number, _thread.get_ident()))


def _send_soon(number: int, thread: int) -> None:
    """Sends a signal to a thread, whose blocking call it ends; Windows can only send it to the process."""
    time.sleep(_SOON)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, number)
    else:
        signal.raise_signal(number)


@contextmanager
def _handled(stop: _Stop) -> Iterator[None]:
    """Stops the program at a signal."""
    before = {each: signal.getsignal(each) for each in SIGNALS}
    hook, sys.unraisablehook = sys.unraisablehook, stop.ignored
    try:
        for each, handler in before.items():
            if handler is not signal.SIG_IGN:  # as after nohup
                signal.signal(each, stop)
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        sys.unraisablehook = hook


def _die_by(number: int) -> int:
    """Kills the process by this signal: a shell loop around it would go on otherwise. Windows only has exit codes."""
    if sys.platform != "win32":
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return _SIGNALLED + number


def _keep_standard_descriptors() -> None:
    """Opens closed descriptors 0 to 2, which the next opened files would get otherwise."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)


def _flushed(code: int) -> int:
    """Flushes the standard streams and returns the exit code; the interpreter itself would exit with 120."""
    for stream, name in ((sys.stdout, "standard output"), (sys.stderr, "")):
        try:
            if stream is not None:
                stream.flush()
        except OSError as error:
            _give_up(stream.fileno())
            if name and code != READER_GONE:
                code = _not_written(error, name, code)
    return code


def _give_up(descriptor: int) -> None:
    """Redirects a descriptor to the null device, so that buffered data is dropped."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def _not_written(error: OSError, name: str, code: int) -> int:
    from convcli.files.outputs import cannot_write
    from convcli.model.errors import worst
    from convcli.report.screen import Screen

    if isinstance(error, BrokenPipeError):
        return READER_GONE
    problem = cannot_write(name, error)
    if code != problem.exit_code:  # otherwise it is printed already
        Screen().error(problem)
    return worst({code, problem.exit_code})


if __name__ == "__main__":
    program()
