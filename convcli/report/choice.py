"""The formats of a report: one file each in a folder, chosen by name. A new file is a new format."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any


def names(package: ModuleType) -> list[str]:
    """The formats in a folder, in alphabetical order."""
    return [module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")]


def renderer(package: ModuleType, name: str) -> Any:
    """The function `render` of a format."""
    return import_module(f"{package.__name__}.{name}").render
