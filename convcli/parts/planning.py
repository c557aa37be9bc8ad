"""What is to be done, in parts that do not depend on each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from convcli import dialects
from convcli.engine import arguments
from convcli.engine.texts import ArgumentStyle
from convcli.files import stores
from convcli.jobs import converting, inputs
from convcli.jobs.config import Configuration
from convcli.jobs.converting import Job
from convcli.jobs.inputs import Nulls
from convcli.jobs.judging import JudgingOptions
from convcli.jobs.pieces import InputPiece, bundled, cut
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
    files = (_pieces(file.path, task, size, config) for file in reading.find(paths))
    return [Part(number, out, task, pieces) for number, pieces in enumerate(bundled(files, size, MOST_PIECES))]


def _pieces(path: str, task: Task, size: int, config: Configuration) -> list[InputPiece]:
    """The pieces of a file. Lines are counted here only where somebody has to know the number of one. What cannot be
    read is told in its turn."""
    length, version = stores.facts(_readable(path))
    whole = InputPiece(path, version, length, ignore=config.ignored(path), places=config.ignored_places(path))
    if length <= size:
        return [whole]
    try:
        with inputs.opened(path, task.source, duplicate_keys=task.duplicate_keys, nulls=task.nulls) as source:
            return list(cut(whole, source, size, counts=any(place.line is not None for place in whole.places)))
    except ContentError:
        return [whole]


def _readable(path: str) -> str:
    """Every process has to find it by its name."""
    if path == "-" or inputs.split_line(path)[1] is not None:
        raise JobError("usage", "parts are made of files, not of stdin or FILE:LINE", help="leave --engine out")
    return path
