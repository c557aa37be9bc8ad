"""Finds tables by the name of their dialect: in the settings of the project, or in a TOML file.

Every process resolves names by itself, so jobs in several processes share no state. A table is read once per process
and working directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from convcli.files import project
from convcli.model.errors import JobError

if TYPE_CHECKING:
    from convcli.kit.codec.layout import LogLayout

SUFFIX = ".toml"
ISOLATED = "CONVCLI_ISOLATED"
"""The environment variable that is set while the settings of the project are ignored."""


def layout(name: str) -> LogLayout | None:
    """Returns the table of this name; None if there is none. Raises JobError for a file that is missing or wrong."""
    if name.endswith(SUFFIX):
        return _of_file(os.path.abspath(name), name)
    return _of_project(name, os.getcwd()) if name in names() else None


def names() -> tuple[str, ...]:
    """Returns the names of the project's own dialects."""
    return () if os.environ.get(ISOLATED) else _names(os.getcwd())


@contextmanager
def without_project(*, is_asked: bool = True) -> Iterator[None]:
    """Ignores the settings of the project if asked, in this process and in those that it starts."""
    if not is_asked:
        yield
        return
    before = os.environ.get(ISOLATED)
    os.environ[ISOLATED] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[ISOLATED]
        else:
            os.environ[ISOLATED] = before


def schema_of(name: str) -> dict[str, Any] | None:
    """Returns the schema that follows from the table of this name; None if there is none."""
    stated = layout(name)
    if stated is None:
        return None
    from convcli.kit.codec import schema

    return schema.of_table(stated, name)


@lru_cache(maxsize=64)
def _of_file(path: str, name: str) -> LogLayout:
    stated = project.read(path)
    if stated is None:
        raise JobError("no-such-file", "there is no such file", file=name)
    return _compiled(stated, name, "", os.path.basename(name).removesuffix(SUFFIX))


@lru_cache(maxsize=64)
def _of_project(name: str, folder: str) -> LogLayout:
    path, tables = _tables(folder)
    return _compiled(tables[name], path, f"dialects.{name}", name)


def _compiled(stated: dict[str, Any], file: str, at: str, owner: str) -> LogLayout:
    from convcli.kit.codec import layout, table  # most jobs have no table

    return layout.LogLayout(table.parse(stated, file, at), owner)


@lru_cache(maxsize=64)
def _names(folder: str) -> tuple[str, ...]:
    return tuple(_tables(folder)[1])


def _tables(folder: str) -> tuple[str, dict[str, Any]]:
    """Returns the path of the project's settings, and their tables of dialects."""
    path, settings = project.nearest(folder) or ("", {})
    stated = settings.get("dialects")
    tables = stated.items() if isinstance(stated, dict) else ()
    return path, {name: each for name, each in tables if isinstance(each, dict)}
