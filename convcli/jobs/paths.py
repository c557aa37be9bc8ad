"""Which files an input means: paths, folders, globs, URLs, FILE:LINE, and sessions of programs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from convcli.files import stores
from convcli.model.errors import ContentError, JobError
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

SUFFIXES = (".json", ".jsonl", ".ndjson", ".sse", ".traj", ".parquet", ".arrow", ".eval", ".db")
PACKED = (".gz", ".bz2", ".xz", ".zst")
_MAGIC = pattern("[*?[]")
"""What a pattern of file names has, by which `glob` knows it."""
_LINE = r"(?P<file>.+):(?P<line>0|[1-9][0-9]{0,17})"
_WITH_LINE = pattern(_LINE)
_WITH_COLUMN = pattern(rf"{_LINE}:[0-9]+")


class InputFile(NamedTuple):
    """An input and its path below the folder that was named, for a tree of outputs like that of the inputs."""

    path: str
    relative: str


def find(paths: Iterable[str], line: int | None = None) -> list[InputFile]:
    """The files that these paths mean: files and "-" as they are, folders and globs as what they hold, sorted. With a
    `line`, the one file as FILE:LINE.

    Raises JobError `no-input` for a folder or a glob that holds no file of ours, and `usage` for a line of several
    and for an empty name.
    """
    paths = list(paths)
    if "" in paths:
        raise JobError("usage", "an empty text names no file", help="is a variable of the shell not set?")
    files = list(dict.fromkeys(file for path in paths for file in _find(path)))
    if line is None:
        return files
    if len(files) != 1 or split_line(files[0].path)[1] is not None:
        raise JobError("usage", "--line is for one FILE")
    return _find(f"{files[0].path}:{line}")


def split_line(path: str) -> tuple[str, int | None]:
    """The file and the line of FILE:LINE or FILE:LINE:COLUMN, as findings have them, of a table the row; None where
    none is named.

    A file that has such a name is that file."""
    for form in () if os.path.lexists(path) else (_WITH_LINE, _WITH_COLUMN):
        match = form.fullmatch(path)
        if match is not None and (match["file"] == "-" or os.path.lexists(match["file"])):
            return match["file"], int(match["line"])
    return path, None


def _find(path: str) -> list[InputFile]:
    file, line = split_line(path)
    if line is not None:
        stem, suffix = os.path.splitext(without_packing(_find(file)[0].relative))
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
    found = [InputFile(*each) for each in stores.find(url)]
    return found if [url] == [file.path for file in found] else [file for file in found if _is_ours(file.path)]


def _walk(folder: str) -> list[InputFile]:
    """The files of ours; a folder that cannot be listed stands among them, to be told as a file that cannot be read."""
    files = list[InputFile]()

    def keep(error: OSError) -> None:
        files.append(InputFile(error.filename, os.path.relpath(error.filename, folder)))

    for place, below, names in os.walk(folder, onerror=keep):
        below.sort()
        paths = (os.path.join(place, name) for name in sorted(names) if _is_ours(name))
        files += [InputFile(path, os.path.relpath(path, folder)) for path in paths]
    if not files:
        raise JobError("no-input", f"there is no {', '.join(SUFFIXES)} file in the folder {folder}")
    return files


def count_others(paths: Iterable[str]) -> dict[str, int]:
    """Counts the files of these folders that are not read, by suffix; hidden files and folders do not count."""
    counts: dict[str, int] = {}
    for path in filter(os.path.isdir, paths):
        for _, below, names in os.walk(path):
            below[:] = [name for name in below if not name.startswith(".")]
            for name in names:
                if not name.startswith(".") and not _is_ours(name):
                    suffix = os.path.splitext(without_packing(name))[1].lower()
                    counts[suffix] = counts.get(suffix, 0) + 1
    return counts


def _matches(pattern: str) -> list[InputFile]:
    import glob  # few calls need it

    matches = sorted(glob.glob(pattern, recursive=True))
    files = [below for match in matches for below in (_walk(match) if os.path.isdir(match) else _find(match))]
    if not files:
        raise JobError("no-input", f"no file matches {pattern}")
    return files


def _is_ours(name: str) -> bool:
    return without_packing(name).lower().endswith(SUFFIXES)


def beside(path: str, suffix: str) -> Any:
    """What the file with this suffix beside a file says; None where there is none that can be read."""
    other = os.path.splitext(without_packing(path))[0] + suffix
    if not suffix or not os.path.isfile(other):
        return None
    with suppress(ContentError, OSError), open(other, "rb") as file:
        return exact_json.parse(file.read())
    return None


def without_packing(name: str) -> str:
    """A file name without the suffix of a compression."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in PACKED else name


def is_lines(name: str) -> bool:
    """Does the name of a file say that it holds JSON Lines?"""
    return without_packing(name).lower().endswith((".jsonl", ".ndjson"))
