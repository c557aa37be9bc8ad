"""Dialects that other packages bring: entry points of one group, and the schemas that stand in their packages."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "convcli.dialects"
SCHEMA_PLACES = ("schemas/{}.schema.json", "{}.schema.json")
"""Where the schema of a dialect stands, relative to the package that its entry point names."""


@cache
def names() -> tuple[str, ...]:
    """The names of the dialects that plugins bring, in alphabetical order."""
    from importlib.metadata import entry_points  # takes as long to import as all that most calls need

    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


@cache
def entry(name: str) -> EntryPoint | None:
    """The entry point of this name, None when no plugin brings it."""
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=GROUP, name=name)), None)


def schema_text(name: str) -> bytes | None:
    """The schema that the package of a plugin holds for its dialect, None when it holds none.

    It may raise whatever the import of the package raises.
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
