"""What is to be done, in parts that do not depend on each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import arguments
from convcli.engine.texts import ArgumentStyle
from convcli.files import stores
from convcli.jobs import converting, inputs
from convcli.jobs.config import Configuration, IgnoredPlace
from convcli.jobs.converting import Job
from convcli.jobs.inputs import Nulls
from convcli.jobs.judging import JudgingOptions
from convcli.jobs.reading import ReadingOptions
from convcli.model.errors import ContentError, JobError
from convcli.proof.reasons import Level
from convcli.validation.rules.conformance import arguments_match
from convcli.wire.strict_json import DuplicateKeys

Command: TypeAlias = Literal["convert", "validate", "stats"]
Kept: TypeAlias = Literal["all", "first", "none"]

PART_SIZE = 64 << 20
"""Bytes of inputs, as they are stored, that make a part: it takes a second or two, and a process 0.3 s to start."""
MOST_PIECES = 10_000
"""Files of one part."""


class Task(msgspec.Struct, frozen=True):
    """What is done with each transcript: plain values, as all of a part, so that any engine can carry them.

    `source` is required, since parts could be taken for different dialects · `target` of `convert`, and of `validate`
    the service that has to take it · `losses`: write all of them and all findings, only the first of each kind, or only
    count them · the others as in `Job`, `Options` and `JudgingOptions`; `added` as `--set` has it, `prices`
    as the configuration has them.
    """

    command: Command
    source: str
    target: str = ""
    keep_going: bool = False
    losses: Kept = "first"
    duplicate_keys: DuplicateKeys = "error"
    nulls: Nulls = "drop"
    fail_on: Level | None = None
    form: str | None = None
    branch: Literal["active", "all"] = "all"
    view: Literal["history", "context"] = "history"
    chunk: int = 0
    added: Mapping[str, Any] = {}
    text_columns: bool = False
    arguments: ArgumentStyle | None = None
    strict: bool = False
    check_arguments: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    prices: Mapping[str, Mapping[str, float]] = {}

    @property
    def job(self) -> Job:
        """The same for `converting`. Raises JobError for what the target does not have, and where it writes rows: those
        of several transcripts cannot stand in one file."""
        target = dialects.get(self.target)
        options = arguments.options(target, self.form, self.branch, self.chunk, self.view, self.added)
        if converting.writes_rows(target):
            message = f"a file of {target.title} holds one transcript, and a part has more than one"
            raise JobError("one-transcript-only", message, help="--out-dir DIR without --engine writes a file each")
        return Job(
            target,
            options,
            self.keep_going,
            self.fail_on,
            layout="jsonl",
            is_joined=True,
            text_columns=self.text_columns,
            arguments=self.arguments,
        )

    @property
    def judging(self) -> JudgingOptions:
        """The same for `judging`."""
        return JudgingOptions(
            self.strict,
            dialects.get(self.target) if self.target else None,
            (arguments_match(),) if self.check_arguments else (),
            frozenset(self.select),
            frozenset(self.ignore),
        )


class InputPiece(msgspec.Struct, frozen=True):
    """A file, or bytes `start` to `stop` of it, or row groups with `before` rows in front of them; how many lines are
    in front of a range of bytes nobody has counted, unless `before` says it. `version` is another one when the file has
    changed; `size` is that of the piece, about. `ignore` and `places`: what `validate` does not tell of this file."""

    file: str
    version: str
    size: int
    start: int = 0
    stop: int = -1
    before: int = -1
    ignore: frozenset[str] = frozenset()
    places: tuple[IgnoredPlace, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Is it all of the file?"""
        return self.stop < 0

    @property
    def is_lines(self) -> bool:
        """Is it a range of bytes, whose lines are counted from its beginning?"""
        return not self.is_whole and self.before < 0


class Part(msgspec.Struct, frozen=True):
    """One part of a job, and the folder that gets what comes of it."""

    number: int
    out: str
    task: Task
    pieces: tuple[InputPiece, ...]

    @property
    def name(self) -> str:
        """The name of its outputs, in the folder of each kind."""
        return f"part-{self.number:05}.jsonl"

    @property
    def mark(self) -> str:
        """The name of its mark."""
        return f"_done/{self.number:05}.json"


def plan(
    paths: Iterable[str],
    out: str,
    task: Task,
    *,
    size: int = PART_SIZE,
    reading: ReadingOptions = ReadingOptions(),  # noqa: B008  (frozen)
) -> list[Part]:
    """The parts of a job on files, folders, globs and URLs: one plan for the same inputs, whoever makes it. What a
    project excludes and ignores is said by `reading`.

    Raises JobError for inputs that are not there, and for what the task cannot be."""
    _ = task.job if task.command == "convert" else task.judging
    config = reading.configuration if task.command == "validate" else Configuration()
    each = (file.path for file in reading.find(paths))
    cut = _bundled(
        (_pieces(path, task, size, config.ignored(path), config.ignored_places(path)) for path in each), size
    )
    return [Part(number, out, task, tuple(pieces)) for number, pieces in enumerate(cut)]


def _bundled(files: Iterable[tuple[list[InputPiece], int]], size: int) -> Iterator[list[InputPiece]]:
    """The pieces of each part: one of a file that was cut, else files that have about such a size together."""
    bundle, held = list[InputPiece](), 0
    for pieces, length in files:
        is_cut = len(pieces) > 1
        if bundle and (is_cut or held + length > size or len(bundle) == MOST_PIECES):
            yield bundle
            bundle, held = [], 0
        if is_cut:
            yield from ([piece] for piece in pieces)
        else:
            bundle, held = bundle + pieces, held + length
    if bundle:
        yield bundle


def _pieces(
    path: str, task: Task, size: int, ignore: frozenset[str], places: tuple[IgnoredPlace, ...]
) -> tuple[list[InputPiece], int]:
    """The pieces of a file, and its size."""
    length, version = stores.facts(_readable(path))
    whole = InputPiece(path, version, length, ignore=ignore, places=places)
    cut = _ranges(whole, task, size) if length > size else []
    return cut if len(cut) > 1 else [whole], length


def _readable(path: str) -> str:
    """Every process has to find it by its name."""
    if path == "-" or inputs.split_line(path)[1]:
        raise JobError("usage", "parts are made of files, not of stdin or FILE:LINE", help="leave --engine out")
    return path


def _ranges(whole: InputPiece, task: Task, size: int) -> list[InputPiece]:
    """The ranges of a large file; none where it cannot be cut, or not even be read, which is told in its turn."""
    try:
        with inputs.opened(whole.file, task.source, duplicate_keys=task.duplicate_keys, nulls=task.nulls) as source:
            return list(_cut(whole, source, size)) if source.has_ranges else []
    except ContentError:
        return []


def _cut(whole: InputPiece, source: inputs.Input, size: int) -> Iterator[InputPiece]:
    """Lines are counted here only where somebody has to know the number of one."""
    if source.is_table or any(place.line for place in whole.places):
        ranges = list(source.ranges(size))
        for start, stop, before in ranges:
            length = source.size // len(ranges) if source.is_table else stop - start
            yield replace(whole, size=length, start=start, stop=stop, before=before)
    else:
        for start in range(0, source.size, size):
            stop = min(start + size, source.size)
            yield replace(whole, size=stop - start, start=start, stop=stop)
