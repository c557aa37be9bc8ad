"""Locks a folder while processes write into it. The system drops the lock when they end, however they end."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from convcli.files.outputs import make_folder
from convcli.files.stores import is_url
from convcli.model.errors import JobError

_HELD = frozenset((errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES))


@contextmanager
def locked(
    folder: str, *, is_shared: bool, announce: Callable[[str], object] = lambda _: None
) -> Iterator[Callable[[], None]]:
    """Locks a folder, which is created, for one process or for all that share the work; yields a check of the lock.

    A folder of a store is claimed (`claims`); `announce` is called if that must wait. File systems without locks are
    not locked. Raises JobError `output-in-use` if another process has a lock that excludes this one, as the check does
    if another run has taken over, and OutputError if there can be no such folder."""
    if is_url(folder):
        from convcli.files.claims import claimed  # only stores need it

        with claimed(folder, is_shared=is_shared, announce=announce) as check:
            yield check
        return
    make_folder(folder)
    descriptor = _lock(folder, is_shared)
    try:
        yield lambda: None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(folder: str, is_shared: bool) -> int | None:
    """Returns the descriptor that has the lock; None if the system has no locks of folders."""
    try:
        fcntl = import_module("fcntl")
        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno not in _HELD:
            return None
        message = "another run of convcli is writing into this folder"
        raise JobError("output-in-use", message, file=folder, help="wait until it has ended") from None
    return descriptor
