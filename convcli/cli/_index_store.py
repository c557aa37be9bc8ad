"""Where `serve` keeps the rows and texts of a folder: in the user's cache, else in a temporary file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from convcli.files.cache import delete_unused, private_file
from convcli.model.errors import OutputError
from convcli.model.version import __version__
from convcli.views.session_store import SessionStore

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions
    from convcli.report.screen import Screen

PREFIX, SUFFIX = "sessions-", ".sqlite"


def opened(screen: Screen, paths: Sequence[str], reading: ReadingOptions, *, is_kept: bool) -> SessionStore:
    """Returns the index of these paths, with what it knows from before if it is kept."""
    if is_kept:
        delete_unused(PREFIX, SUFFIX)
        try:
            return SessionStore(private_file(f"{PREFIX}{_digest(paths, reading)}{SUFFIX}"))
        except OutputError as error:
            screen.announce(f"{error.message}; the index is kept in a temporary file\n")
    return SessionStore()


def _digest(paths: Sequence[str], reading: ReadingOptions) -> str:
    """Returns a name for what the rows depend on: the folders, how they are read, prices, and convcli's version."""
    settings = sorted(reading.configuration.settings.items(), key=lambda item: item[0])
    read = reading.dialect, reading.keys, reading.nulls, reading.max_line, settings
    return sha256(repr((__version__, sorted(map(os.path.realpath, paths)), read)).encode()).hexdigest()[:20]
