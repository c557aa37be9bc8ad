"""The sessions that the programs on this machine keep: where they are, and how one of them is named."""

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
from convcli.files import databases
from convcli.model.dialect import Dialect, Program, SessionFacts
from convcli.model.errors import ContentError, JobError
from convcli.validation.wording import unknown
from convcli.wire import exact_json

DATABASE = (".db", ".sqlite")
"""How the files of sessions end that are rows of a database."""


@cache
def _known() -> dict[str, tuple[Program, Dialect]]:
    every = (dialects.get(name) for name in dialects.names())
    return {program.name: (program, dialect) for dialect in every for program in dialect.programs}


def names() -> list[str]:
    """The programs whose sessions can be read."""
    return list(_known())


def resumable() -> list[str]:
    """Those for which a session can be written."""
    return [name for name, (program, _) in _known().items() if program.place is not None]


def get(name: str) -> Program:
    """The program of this name. Raises JobError `unknown-program`, with the nearest match."""
    if name not in names():
        raise unknown("program", name, names(), f"choose from {', '.join(names())}")
    return _known()[name][0]


def dialect_of(name: str) -> Dialect:
    """The dialect of the sessions of a program."""
    return _known()[name][1]


def folder(program: Program, home: str | None = None) -> str:
    """Where the program keeps what is its own; a home directory that is named goes before the variable."""
    named = os.environ.get(program.variable) if program.variable and home is None else None
    return os.path.abspath(named or os.path.join(home or os.path.expanduser("~"), *program.root.split("/")))


def path(program: Program, facts: SessionFacts, home: str | None = None) -> str:
    """Where the program looks for a session. Raises JobError where no place is known for one of this directory."""
    assert program.place is not None
    return os.path.join(folder(program, home), *program.place(facts).split("/"))


def command(program: Program, facts: SessionFacts, path: str, home: str | None = None) -> str:
    """What resumes the session at this path; where another home directory was named, the program is told of it."""
    words = program.command.format(id=facts.id, path=quote(path))
    if home is None or "{path}" in program.command or folder(program, home) == folder(program):
        return words
    value = folder(program, home) if program.variable else os.path.abspath(home)
    setting = f"{program.variable or 'HOME'}={quote(value)}"
    return " && ".join(f"{setting} {step}" for step in words.split(" && "))


def database_with(program: Program, id_: str, home: str | None = None) -> str | None:
    """The database of the program that holds a session of this id."""
    bases = (file for file in files(program, home) if file.endswith(DATABASE))
    return next((file for file in bases if id_ in _ids_in(file)), None)


def files(program: Program, home: str | None = None) -> Iterator[str]:
    """The files of its sessions."""
    root = glob.escape(folder(program, home))
    for pattern in program.pattern.split():
        yield from glob.iglob(os.path.join(root, *pattern.split("/")), recursive=True)


def directory(name: str, path: str) -> str | None:
    """Where the session at a path ran, as files of its program beside it say; None where none does."""
    find = get(name).directory
    found = None if find is None else find(path, _beside)
    return found if isinstance(found, str) and found else None


def _beside(path: str) -> Any:
    with suppress(OSError, ValueError, ContentError):
        return _content(path, os.stat(path).st_mtime_ns)
    return None


@lru_cache(maxsize=4)  # all sessions of a program have one index, which may be long
def _content(path: str, changed: int) -> Any:
    with open(path, "rb") as file:
        data = file.read()
    return exact_json.parse(data) if path.endswith(".json") else data.decode("utf-8").strip()


def file_of(word: str, home: str | None = None) -> str | None:
    """The file that `PROGRAM:ID` names, where the beginning of an id will do; None for any other word.

    Raises JobError `no-input` where the program has no such session, or more than one.
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
    """The file if it is the session of this id, or the sessions of a database that are, by their numbers."""
    if not path.endswith(DATABASE):
        return [path] if _has_id(path, id_) else []
    return [f"{path}:{n}" for n, one in enumerate(_ids_in(path), 1) if one.startswith(id_)]


def _ids_in(path: str) -> list[str]:
    """The ids of the sessions of a database; none of one that cannot be read."""
    with suppress(ContentError, JobError):
        return databases.ids_in(path)
    return []


def _has_id(path: str, id_: str) -> bool:
    """Does the name of the file, or of its folder, have this id at its beginning or behind a time?"""
    stem, folder = os.path.splitext(os.path.basename(path))[0], os.path.basename(os.path.dirname(path))
    return stem.startswith(id_) or folder.startswith(id_) or re.search(f"[-_]{re.escape(id_)}", stem) is not None
