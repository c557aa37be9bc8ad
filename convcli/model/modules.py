"""Lists the modules of a package: its folders are the registry."""

from __future__ import annotations

import os
from collections.abc import Iterable


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


def _is_package(folder: str, entry: str) -> bool:
    return "." not in entry and os.path.exists(os.path.join(folder, entry, "__init__.py"))
