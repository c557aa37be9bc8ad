"""convcli serve."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from convcli.cli import _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._diagnostics import ExitCodes, announce_bug
from convcli.cli._types import DIALECT, PATH, Number
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions

EXAMPLES = """\
convcli serve ~/.claude/projects                     # prints the address to open; Ctrl-C ends it
convcli serve ~/.claude/projects --port 8123
"""


@declare(EXAMPLES)
@add_argument("paths", nargs=-1, required=True, type=PATH, metavar="DIR...")
@_shared.from_option
@_shared.reading_options
@add_option("--port", type=Number(0, 65535), default=0, metavar="N", help="The port; 0 is any free one.")
@add_option("-t", "--to", "target", type=DIALECT, metavar="DIALECT", help="Mark what this dialect cannot store.")
@add_option("--findings", is_flag=True, help="Mark the findings of validate.")
@add_option("--no-cache", is_flag=True, help="Keep the index for the search in a temporary file.")
def command(
    screen: Screen,
    paths: tuple[str, ...],
    reading: ReadingOptions,
    port: int,
    target: Dialect | None,
    findings: bool,
    no_cache: bool,
) -> int:
    """Show the sessions of a folder in your browser.

    The list is sorted and grouped by day or project, with costs and failures, and searches the text of all sessions.
    The pages are those of inspect. A page updates while its session runs. The sessions are not changed. The address
    is on 127.0.0.1 and contains a random token, without which the server answers nothing.

    An index of the texts makes the search fast. It is a private file in your cache directory, is updated when sessions
    change, and is deleted after a month without use.
    """
    from convcli.cli import _index_store
    from convcli.cli._served import ServedFolder
    from convcli.cli._serving import LOOPBACK, PageServer
    from convcli.files.names import split_line
    from convcli.views.costs import Prices

    for file in reading.find(paths):
        if not os.path.exists(split_line(file.path)[0]):
            raise JobError("no-such-file", "there is no such file", file=file.path)
    prices = Prices(reading.configuration.settings.get("prices", {}))
    store = _index_store.opened(screen, paths, reading, is_kept=not no_cache)
    codes = ExitCodes(screen)
    folder = ServedFolder(paths, reading, codes, store, prices, target=target, findings=findings)
    try:
        server = PageServer(folder, port, partial(announce_bug, screen))
    except OSError as error:
        raise JobError("usage", f"cannot listen on {LOOPBACK}:{port}: {error.strerror}") from None
    screen.show([f"{server.address}\n"])
    screen.flush()
    with server:
        server.serve_forever()
    return 0
