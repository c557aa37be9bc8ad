"""Finds the files of an input: paths, folders, globs, URLs, FILE:LINE, and sessions of agent programs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from convcli.files import stores
from convcli.files.names import split_line, split_name, without_packing
from convcli.files.packed import may_wait
from convcli.model.errors import ContentError, JobError
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

SUFFIXES = (".json", ".jsonl", ".ndjson", ".sse", ".traj", ".parquet", ".arrow", ".eval", ".db")
_MAGIC = pattern("[*?[]")
"""Characters by which `glob` recognises a pattern."""


class InputFile(NamedTuple):
    """An input, and its path below the named folder, for a tree of outputs like that of the inputs."""

    path: str
    relative: str


def find(paths: Iterable[str], line: int | None = None) -> list[InputFile]:
    """Returns the files that these paths mean: files and "-" as they are, folders and globs expanded and sorted.

    With a `line`, returns the one file as FILE:LINE. Raises JobError `no-input` for a folder or glob without supported
    files, and `usage` for a line of several files and for an empty name.
    """
    paths = list(paths)
    if "" in paths:
        raise JobError("usage", "an empty string is not a file name", help="is a shell variable unset?")
    files = list(dict.fromkeys(file for path in paths for file in _find(path)))
    if line is None:
        return files
    if len(files) != 1 or split_line(files[0].path)[1] is not None:
        raise JobError("usage", "--line requires exactly one FILE")
    return _find(f"{files[0].path}:{line}")


def _find(path: str) -> list[InputFile]:
    file, line = split_line(path)
    if line is not None:
        stem, suffix = split_name(_find(file)[0].relative)
        return [InputFile(f"{file}:{line}", f"{stem}-{line}{suffix}")]
    if stores.is_url(path):
        return _find_url(path)
    if ":" in path and not os.path.lexists(path):
        from convcli.jobs import programs

        path = programs.file_of(path) or path
    if path == "-":
        return [InputFile("-", "stdin.json")]
    if os.path.isdir(path):
        return _walk(path)
    if not os.path.lexists(path) and _MAGIC.search(path):
        return _matches(path)
    return [InputFile(path, os.path.basename(path))]


def _find_url(url: str) -> list[InputFile]:
    matches = [InputFile(*each) for each in stores.find(url)]
    return matches if [url] == [file.path for file in matches] else [file for file in matches if _is_ours(file.path)]


def _walk(folder: str) -> list[InputFile]:
    """Returns the supported files; a folder that cannot be listed is included, to be reported as unreadable."""
    from convcli.files.folders import is_piece

    files = list[InputFile]()

    def keep(error: OSError) -> None:
        files.append(InputFile(error.filename, os.path.relpath(error.filename, folder)))

    for place, below, names in os.walk(folder, onerror=keep):
        below.sort()
        paths = (path for name in sorted(names) if _is_read(path := os.path.join(place, name)) and not is_piece(path))
        files += [InputFile(path, os.path.relpath(path, folder)) for path in paths]
    if not files:
        raise JobError("no-input", f"there is no {', '.join(SUFFIXES)} file in the folder {folder}")
    return files


def count_others(paths: Iterable[str]) -> dict[str, int]:
    """Counts the files of these folders that are not read, by suffix; hidden files and folders do not count."""
    counts: dict[str, int] = {}
    for path in filter(os.path.isdir, paths):
        for place, below, names in os.walk(path):
            below[:] = [name for name in below if not name.startswith(".")]
            for name in names:
                if not name.startswith(".") and not _is_read(os.path.join(place, name)):
                    suffix = split_name(name)[1].lower()
                    counts[suffix] = counts.get(suffix, 0) + 1
    return counts


def is_named_pipe(path: str) -> bool:
    """True for a pipe that has no writer until a program opens it; one of a shell's `<(command)` has a writer."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode) and not path.startswith(("/dev/fd/", "/proc/"))
    except (OSError, ValueError):
        return False


def _matches(pattern: str) -> list[InputFile]:
    import glob  # rarely needed

    matches = sorted(match for match in glob.glob(pattern, recursive=True) if not may_wait(match))
    files = [below for match in matches for below in (_walk(match) if os.path.isdir(match) else _find(match))]
    if not files:
        raise JobError("no-input", f"no file matches {pattern}")
    return files


def _is_ours(name: str) -> bool:
    return without_packing(name).lower().endswith(SUFFIXES)


def _is_read(path: str) -> bool:
    """True for a file of a folder that has the suffix of a transcript, or of a log and its beginning."""
    if _is_ours(path):
        return not may_wait(path)
    from convcli.jobs import logs  # rarely needed

    is_log = without_packing(path).lower().endswith(logs.LOGS) and not may_wait(path)
    return is_log and logs.begins_like_transcript(path)


def companion(path: str, suffix: str) -> Any:
    """Returns the content of the file with the same name and this suffix; None if none can be read."""
    other = split_name(path)[0] + suffix
    if not suffix or not os.path.isfile(other):
        return None
    with suppress(ContentError, OSError), open(other, "rb") as file:
        return exact_json.parse(file.read())
    return None
