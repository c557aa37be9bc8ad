"""Dialects of other packages: the entry points of one group, and the schemas in their packages."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "convcli.dialects"
SCHEMA_PLACES = ("schemas/{}.schema.json", "{}.schema.json")
"""The paths of a dialect's schema, relative to the package that its entry point names."""


@cache
def names() -> tuple[str, ...]:
    """Returns the names of the dialects that plugins provide, in alphabetical order."""
    from importlib.metadata import entry_points  # importing it takes as long as everything else that most commands need

    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


@cache
def entry(name: str) -> EntryPoint | None:
    """Returns the entry point of this name; None if no plugin provides it."""
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=GROUP, name=name)), None)


def schema_text(name: str) -> bytes | None:
    """Returns the schema of a plugin's dialect from the plugin's package; None if there is none.

    Raises whatever importing the package raises.
    """
    from pkgutil import get_data

    brought = entry(name)
    for place in SCHEMA_PLACES if brought is not None else ():
        try:
            text = get_data(brought.module, place.format(name)) if brought is not None else None
        except OSError:
            continue
        if text is not None:
            return text
    return None
