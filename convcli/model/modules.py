"""The modules of a package, whose folders are the registry; modules that are loaded later, or being loaded."""

from __future__ import annotations

import os
import sys
from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which takes as long to import as the interpreter to start
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType
    from typing import Any


def names(folders: Iterable[str]) -> list[str]:
    """Returns the names of the public modules and packages in the folders of a package, sorted.

    Same as `pkgutil.iter_modules`, which takes three times as long, because it also lists the subfolders.
    """
    return sorted(
        os.path.splitext(entry)[0]
        for folder in folders
        for entry in os.listdir(folder)
        if not entry.startswith("_") and (entry.endswith(".py") or _is_package(folder, entry))
    )


class Later(type(sys)):  # type: ignore[misc]  # that is `types.ModuleType`
    """A module that is loaded when one of its attributes is first read: few runs need it, as the one that detects.

    It stands where the module would be imported, below `if TYPE_CHECKING`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def is_loaded_in(frame: FrameType | None) -> bool:
    """True if a module is being loaded in this frame or a caller of it.

    An exception of a signal handler must wait until it is loaded: some modules in C end by signal 11 otherwise."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib._bootstrap"):
            return True
        frame = frame.f_back
    return False


def _is_package(folder: str, entry: str) -> bool:
    return "." not in entry and os.path.exists(os.path.join(folder, entry, "__init__.py"))
