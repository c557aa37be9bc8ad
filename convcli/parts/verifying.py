"""Verifies the folder of a job in parts: each part is there, and its files are as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from itertools import islice
from typing import Literal

import msgspec

from convcli.files.framing import open_stored
from convcli.files.stores import OutputFolder, folder_at, join
from convcli.model.errors import ContentError, JobError
from convcli.parts.finishing import REPORT, SUCCESS, is_of_job
from convcli.parts.marks import PartMark, read_mark
from convcli.parts.planning import MARK_NAME, OUTPUT_NAME
from convcli.validation.wording import counted
from convcli.wire import exact_json

MOST_MISSING = 1_000
"""Missing parts that are named one by one."""


class PartProblem(msgspec.Struct, frozen=True):
    """A file that is not as its job has written it, or a part that is missing; a warning costs storage only."""

    file: str
    problem: str
    severity: Literal["error", "warning"] = "error"


class Verified(msgspec.Struct):
    """What was verified: `parts` that are complete, `files` and `bytes` of their outputs."""

    parts: int = 0
    files: int = 0
    bytes: int = 0


def verify(path: str, verified: Verified) -> Iterator[PartProblem]:
    """Yields the differences between a folder and its marks, and counts in `verified` what is right.

    Reads all outputs. Raises JobError `not-parts` for a folder without the report of a job."""
    folder = folder_at(path)
    sizes = folder.sizes()
    expected = expected_parts(folder, sizes, path)
    if SUCCESS not in sizes:
        yield PartProblem(SUCCESS, "is missing: the job has not succeeded")
    known, names = set[str](), mark_names(sizes)
    yield from _missing(names, expected)
    for (number, name), raw in zip(names.items(), folder.read(names.values()), strict=True):
        mark = read_mark(raw)
        if mark is None:
            yield PartProblem(name, "is no mark that this version of convcli can read")
            continue
        if number >= expected or mark.part.number != number:
            yield PartProblem(name, "is the mark of another part")
            continue
        known |= mark.outputs.keys()
        differences = list(_of_part(mark, path, sizes, verified))
        verified.parts += not differences
        yield from differences
    for name in sorted(name for name in sizes if OUTPUT_NAME.fullmatch(name) and name not in known):
        yield PartProblem(name, "belongs to no finished part")
    for name in dict.fromkeys(output.name for output in folder.unfinished() if is_of_job(output.name)):
        yield PartProblem(name, "has an unfinished copy of a killed process; the next run removes it", "warning")


def mark_names(names: Iterable[str]) -> dict[int, str]:
    """Returns the names of marks among these names by the number of their part, in order."""
    marks = filter(None, map(MARK_NAME.fullmatch, names))
    return dict(sorted((int(mark[1]), mark[0]) for mark in marks))


def _missing(names: Mapping[int, str], expected: int) -> Iterator[PartProblem]:
    """Yields the missing marks; of very many, the first and their number, since the report may be damaged."""
    missing = (number for number in range(expected) if number not in names)
    for number in islice(missing, MOST_MISSING):
        yield PartProblem(f"_done/{number:05}.json", "is missing: the part was not finished")
    rest = expected - sum(number < expected for number in names) - MOST_MISSING
    if rest > 0:
        yield PartProblem(REPORT, f"has {counted(rest, 'further part')} without a mark")


def expected_parts(folder: OutputFolder, sizes: Mapping[str, int], path: str) -> int:
    """Returns the number of parts in the report of a job. Raises JobError `not-parts` if it has no report."""
    try:
        report = exact_json.parse(next(folder.read([REPORT]))) if REPORT in sizes else None
    except ContentError:
        report = None
    parts = report.get("parts") if isinstance(report, dict) else None
    if type(parts) is not int or parts < 1:
        help_text = "the command that made the parts, without --part and with --engine local, writes the report"
        raise JobError("not-parts", f"the folder has no {REPORT} of a job in parts", file=path, help=help_text)
    return parts


def _of_part(mark: PartMark, path: str, sizes: dict[str, int], verified: Verified) -> Iterator[PartProblem]:
    for name, size in mark.outputs.items():
        if name not in sizes:
            yield PartProblem(name, "is missing")
        elif sizes[name] != size:
            yield PartProblem(name, f"has {sizes[name]:,} bytes instead of {size:,}")
        elif name not in mark.sums:
            yield PartProblem(name, "has no checksum in its mark")
        elif _checksum(join(path, name)) != mark.sums[name]:
            yield PartProblem(name, "has another content (SHA-256)")
        else:
            verified.files, verified.bytes = verified.files + 1, verified.bytes + size


def _checksum(path: str) -> str:
    """Returns the SHA-256 of an output, which can be larger than the memory."""
    checksum = sha256()
    with closing(open_stored(path)) as stored:
        for piece in iter(stored.read, b""):
            checksum.update(piece)
    return checksum.hexdigest()
