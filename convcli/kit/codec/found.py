"""Finds tables by the name of their dialect: in the settings of the project, or in a TOML file.

A table is read once per process. Names are resolved in each process anew, so jobs in several processes need no state.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from convcli.files import project
from convcli.kit.codec import schema, table
from convcli.kit.codec.layout import Layout
from convcli.model.errors import JobError

SUFFIX = ".toml"


def is_file(name: str) -> bool:
    """True if a dialect is named by the file of its table."""
    return name.endswith(SUFFIX)


@cache
def layout(name: str) -> Layout | None:
    """Returns the table of this name; None if there is none. Raises JobError for a file that is missing or wrong."""
    if is_file(name):
        stated = project.read(name)
        if stated is None:
            raise JobError("no-such-file", "there is no such file", file=name)
        return Layout(table.parse(stated, name), owner_of(name))
    found = project.nearest()
    tables = _tables(found[1]) if found is not None else {}
    if found is None or name not in tables:
        return None
    return Layout(table.parse(tables[name], found[0], f"dialects.{name}"), name)


@cache
def names() -> tuple[str, ...]:
    """Returns the names of the project's own dialects."""
    found = project.nearest()
    return () if found is None else tuple(_tables(found[1]))


def schema_of(name: str) -> dict[str, Any] | None:
    """Returns the schema that follows from the table of this name; None if there is none."""
    stated = layout(name)
    return None if stated is None else schema.of_table(stated, name)


def owner_of(name: str) -> str:
    """Returns the name under which extras are kept: that of the file without its folder and ending."""
    return os.path.basename(name).removesuffix(SUFFIX)


def _tables(settings: dict[str, Any]) -> dict[str, Any]:
    stated = settings.get("dialects")
    return {name: each for name, each in stated.items() if isinstance(each, dict)} if isinstance(stated, dict) else {}
