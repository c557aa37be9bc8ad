"""The formats of a report: one module each in a package, chosen by name. A new module is a new format."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from convcli.model import modules


def names(package: ModuleType) -> list[str]:
    """Returns the formats in a package, in alphabetical order."""
    return modules.names(package.__path__)


def renderer(package: ModuleType, name: str) -> Any:
    """Returns the function `render` of a format."""
    return import_module(f"{package.__name__}.{name}").render
