"""The user's cache: private files that convcli can make again, and deletes when nothing has used them for a month."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress

from convcli.files.outputs import cannot_write
from convcli.model.errors import OutputError

UNUSED = 30 * 24 * 3600
"""Seconds after which an unused file of the cache is deleted."""


def cache_folder() -> str:
    """Returns convcli's folder in the user's cache directory (`XDG_CACHE_HOME`; on Windows `LOCALAPPDATA`)."""
    named = [os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "LOCALAPPDATA")]
    root = next(filter(os.path.isabs, named), os.path.join(os.path.expanduser("~"), ".cache"))
    return os.path.join(root, "convcli")


def private_file(name: str) -> str:
    """Returns the path of a file in the cache that only its owner can read, and creates it if it is missing.

    Raises OutputError if it cannot be written, or if somebody else could read it or has put a link in its place.
    """
    folder = cache_folder()
    path = os.path.join(folder, name)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _make_private(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), 0o700)
        _make_private(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.utime(path)
    except OSError as error:
        raise cannot_write(path, error) from None
    return path


def delete_unused(prefix: str, suffix: str) -> None:
    """Deletes the files of the cache with such names that nothing has used for a month."""
    with suppress(OSError), os.scandir(cache_folder()) as entries:
        for entry in entries:
            is_old = entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < time.time() - UNUSED
            if is_old and entry.name.startswith(prefix) and entry.name.endswith(suffix):
                os.unlink(entry.path)


def _make_private(path: str, flags: int, mode: int) -> None:
    """Takes the permissions of others from a file or folder. Raises OutputError for a link and for another's file."""
    handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        status = os.fstat(handle)
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            raise OutputError("cannot-write", f"cannot write {path}: it belongs to another user")
        if not stat.S_ISDIR(status.st_mode) and status.st_nlink != 1:
            raise OutputError("cannot-write", f"cannot write {path}: it has other names")
        if hasattr(os, "fchmod") and stat.S_IMODE(status.st_mode) != mode:
            os.fchmod(handle, mode)
    finally:
        os.close(handle)
