"""Where the installed program begins. Until it handles signals, Ctrl-C ends it silently: there is nothing to discard.

Python prints a traceback otherwise. What this module imports is loaded already."""

from __future__ import annotations

import _signal  # part of the interpreter; `signal` loads ten other modules

TYPE_CHECKING = False  # as in `typing`, which takes as long to import as the interpreter to start
if TYPE_CHECKING:
    from typing import NoReturn


def program() -> NoReturn:
    """Runs the command line as a process."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # it is ignored after nohup
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    from convcli.__main__ import program

    program()
