"""Sessions that agent programs keep on this machine: their locations and names."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from shlex import quote
from typing import Any

from convcli import dialects
from convcli.files import folders
from convcli.files.packed import may_wait
from convcli.model.dialect import Dialect, Program, SessionFacts
from convcli.model.errors import ContentError, JobError
from convcli.validation.wording import unknown
from convcli.wire import exact_json

DATABASE = (".db", ".sqlite", ".sqlite3", ".vscdb")
"""Suffixes of databases, whose rows are sessions."""


@cache
def _known() -> dict[str, tuple[Program, Dialect]]:
    every = (dialects.get(name) for name in dialects.names())
    return {program.name: (program, dialect) for dialect in every for program in dialect.programs}


def names() -> list[str]:
    """Returns the programs whose sessions can be read."""
    return list(_known())


def resumable() -> list[str]:
    """Returns the programs for which a session can be written."""
    return [name for name, (program, _) in _known().items() if program.place is not None]


def get(name: str) -> Program:
    """Returns the program of this name. Raises JobError `unknown-program`, with the nearest match."""
    if name not in names():
        raise unknown("program", name, names(), f"choose from {', '.join(names())}")
    return _known()[name][0]


def dialect_of(name: str) -> Dialect:
    """Returns the dialect of a program's sessions."""
    return _known()[name][1]


def folder(program: Program, home: str | None = None) -> str:
    """Returns the program's data folder; a given home directory overrides the environment variable."""
    named = os.environ.get(program.variable) if program.variable and home is None else None
    return os.path.abspath(named or os.path.join(home or os.path.expanduser("~"), *program.root.split("/")))


def path(program: Program, facts: SessionFacts, home: str | None = None) -> str:
    """Returns where the program looks for a session. Raises JobError if that is unknown for this directory."""
    assert program.place is not None
    return os.path.join(folder(program, home), *program.place(facts).split("/"))


def command(program: Program, facts: SessionFacts, path: str, home: str | None = None) -> str:
    """Returns the command that resumes the session at this path; it sets the home directory if one was given."""
    words = program.command.format(id=facts.id, path=quote(path))
    if home is None or "{path}" in program.command or folder(program, home) == folder(program):
        return words
    value = folder(program, home) if program.variable else os.path.abspath(home)
    setting = f"{program.variable or 'HOME'}={quote(value)}"
    return " && ".join(f"{setting} {step}" for step in words.split(" && "))


def database_with(program: Program, id_: str, home: str | None = None) -> str | None:
    """Returns the program's database that has a session with this id."""
    bases = (file for file in files(program, home) if file.endswith(DATABASE))
    return next((file for file in bases if id_ in _ids_in(file)), None)


def files(program: Program, home: str | None = None) -> Iterator[str]:
    """Yields the files of the program's sessions."""
    root = glob.escape(folder(program, home))
    for pattern in program.pattern.split():
        paths = glob.iglob(os.path.join(root, *pattern.split("/")), recursive=True)
        yield from (path for path in paths if not may_wait(path))


def directory(program: str, path: str) -> str | None:
    """Returns the directory in which the session ran, from files next to it; None if unknown."""
    find = get(program).directory
    name = None if find is None else find(path, _neighbour)
    return name if isinstance(name, str) and name else None


def _neighbour(path: str) -> Any:
    with suppress(OSError, ValueError, ContentError):
        return None if may_wait(path) else _content(path, os.stat(path).st_mtime_ns)
    return None


@lru_cache(maxsize=4)  # all sessions of a program share one index, which may be long
def _content(path: str, changed: int) -> Any:
    with open(path, "rb") as file:
        data = file.read()
    return exact_json.parse(data) if path.endswith(".json") else data.decode("utf-8").strip()


def file_of(word: str, home: str | None = None) -> str | None:
    """Returns the file that `PROGRAM:ID` names, where a prefix of the id suffices; None for any other word.

    Raises JobError `no-input` if the program has no such session, or more than one.
    """
    name, colon, id_ = word.partition(":")
    if not colon or not id_ or name not in names():
        return None
    matches = sorted(match for file in files(get(name), home) for match in _sessions_of(file, id_))
    if len(matches) != 1:
        how = f"has {len(matches):,} sessions" if matches else "has no session"
        raise JobError("no-input", f"{name} {how} whose id begins with {id_}", help="convcli sessions lists them")
    return matches[0]


def _sessions_of(path: str, id_: str) -> list[str]:
    """Returns the file if it has this id, or the matching sessions of a database, by number."""
    if not path.endswith(DATABASE):
        return [path] if _has_id(path, id_) else []
    return [f"{path}:{n}" for n, one in enumerate(_ids_in(path), 1) if one.startswith(id_)]


def _ids_in(path: str) -> list[str]:
    """Returns the session ids in a database; none if it cannot be read."""
    from convcli.files import databases  # few programs have one

    with suppress(ContentError, JobError):
        return databases.ids_in(path)
    return []


def _has_id(path: str, id_: str) -> bool:
    """True if the name of the file or its folder has this id as a prefix, or after a timestamp."""
    path = folders.session_of(path) if os.path.basename(path) == folders.AGENT else path
    stem, parent = os.path.splitext(os.path.basename(path))[0], os.path.basename(os.path.dirname(path))
    return stem.startswith(id_) or parent.startswith(id_) or re.search(f"[-_]{re.escape(id_)}", stem) is not None
