"""Plans a job as independent parts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import msgspec
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import arguments
from convcli.engine.texts import ArgumentStyle
from convcli.files import stores
from convcli.files.framing import MAX_LINE
from convcli.files.names import LINES, PACKED, split_line
from convcli.jobs import converting, inputs
from convcli.jobs.config import Configuration
from convcli.jobs.converting import Job
from convcli.jobs.documents import Calls, Nulls
from convcli.jobs.inputs import Input
from convcli.jobs.judging import JudgingOptions
from convcli.jobs.pieces import InputPiece, cut, grouped
from convcli.jobs.reading import ReadingOptions
from convcli.jobs.results import RowShape
from convcli.jobs.splitting import Splitting
from convcli.model.dialect import Dialect
from convcli.model.errors import ContentError, JobError
from convcli.proof.reasons import Level
from convcli.validation.rules.conformance import arguments_match
from convcli.views import row_columns
from convcli.wire.patterns import pattern
from convcli.wire.strict_json import DuplicateKeys

Command: TypeAlias = Literal["convert", "validate", "stats"]
Kept: TypeAlias = Literal["all", "first", "none"]

PART_SIZE = 64 << 20
"""Stored bytes of input per part: a part takes a second or two, and starting a process 0.3 s."""
MOST_PIECES = 10_000
"""Maximum number of files in one part."""
LOSSES, FINDINGS, REFUSED, RESTORE = "_losses/", "_findings/", "_refused/", "_restore/"
"""Folders of outputs other than documents."""
UNCUT = (".arrow", ".db", ".eval", ".sse", *PACKED)
"""Suffixes of files that cannot be cut."""
TABLES = (".parquet",)
CUT = (*LINES, *TABLES)
"""Suffixes of files that can be cut, unless their content is another one."""
OTHERS = (LOSSES, FINDINGS, REFUSED, RESTORE)
OUTPUT_NAME = pattern(rf"({'|'.join(OTHERS)})?part-(\d{{5,}})\.jsonl")
"""The name of an output of a part."""
MARK_NAME = pattern(r"_done/(\d{5,})\.json")
"""The name of a mark."""


class Task(msgspec.Struct, frozen=True):
    """What to do with each transcript: plain values, like everything in a part, so that any engine can pass them on.

    `source`: None if each file has the dialect that is detected, the same for all of its ranges · `target`: of
    `convert`, and for `validate` the service that must accept it · `losses`: write all losses and findings, the first
    of each kind, or only counts · `restores`: write restore records · `calls`: as in `inputs.opened` · others as in
    `Job`, `Options` and `JudgingOptions`; `set_keys` as in `--set`, `defaults` as in `--default`, `models` as in
    `--map-model`, `prices` as in the configuration.
    """

    command: Command
    source: str | None
    target: str = ""
    keep_going: bool = False
    losses: Kept = "first"
    restores: bool = False
    duplicate_keys: DuplicateKeys = "error"
    nulls: Nulls = "drop"
    max_line: int = MAX_LINE
    calls: Calls = "apart"
    fail_on: Level | None = None
    form: str | None = None
    branch: Literal["active", "all"] = "all"
    view: Literal["history", "context"] = "history"
    chunk: int = 0
    program_turns: Literal["keep", "drop"] | None = None
    tools: Literal["recorded", "program", "none"] | None = None
    tools_of: str | None = None
    columns: str | None = None
    splitting: Splitting | None = None
    set_keys: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    models: Mapping[str, str] = {}
    lenient: bool = False
    text_columns: bool = False
    arguments: ArgumentStyle | None = None
    strict: bool = False
    check_arguments: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    prices: Mapping[str, Mapping[str, float]] = {}

    @property
    def job(self) -> Job:
        """The task for `converting`.

        Raises JobError for options that the target does not have, and if it writes rows: those of several transcripts
        cannot be in one file.
        """
        target = dialects.get(self.target)
        options = arguments.options(
            target,
            self.form,
            self.branch,
            self.chunk,
            self.view,
            self.set_keys,
            defaults=self.defaults,
            models=self.models,
            lenient=self.lenient,
        )
        options = arguments.with_row_choices(options, self.program_turns, self.tools, self.tools_of)
        if converting.writes_rows(target):
            message = f"a {target.title} file has one transcript, but a part has several"
            raise JobError(
                "one-transcript-only", message, help="--out-dir DIR without --engine writes one file per transcript"
            )
        return Job(
            target,
            options,
            self.keep_going,
            self.fail_on,
            layout="jsonl",
            is_joined=True,
            text_columns=self.text_columns,
            arguments=self.arguments,
            shape=self._shape(target),
        )

    def _shape(self, target: Dialect) -> RowShape:
        """Returns what rows are made of. With restore records, a row has all of its document."""
        if self.restores and self.splitting is not None:
            raise JobError("usage", "--restore-file excludes options that split conversations")
        columns = row_columns.chosen(self.columns, target, is_table=False)
        return RowShape(columns, self.splitting, target.is_training and not self.restores)

    @property
    def judging(self) -> JudgingOptions:
        """The task for `judging`."""
        return JudgingOptions(
            self.strict,
            dialects.get(self.target) if self.target else None,
            (arguments_match(),) if self.check_arguments else (),
            frozenset(self.select),
            frozenset(self.ignore),
        )


class Part(msgspec.Struct, frozen=True):
    """One part of a job, and the folder for its outputs."""

    number: int
    out: str
    task: Task
    pieces: tuple[InputPiece, ...]

    @property
    def name(self) -> str:
        """The name of its outputs, in the folder of each kind."""
        return f"part-{self.number:05}.jsonl"

    @property
    def inputs(self) -> Iterator[str]:
        """The files whose permissions its outputs get."""
        return (piece.file for piece in self.pieces)

    @property
    def size(self) -> int:
        """The bytes of its inputs, about."""
        return sum(piece.size for piece in self.pieces)

    @property
    def mark(self) -> str:
        """The name of its mark."""
        return f"_done/{self.number:05}.json"


class _Stored(NamedTuple):
    """A file as its listing describes it; `version` changes when the file does."""

    path: str
    size: int
    version: str


class _Group(msgspec.Struct, frozen=True):
    """Consecutive parts: one of small files, or one for each range of a large file.

    `starts`: the ranges by size · `pieces`: those that were read in a file whose name does not say if it can be cut."""

    files: tuple[_Stored, ...]
    starts: range = range(1)
    pieces: Sequence[InputPiece] = ()

    @property
    def count(self) -> int:
        """The number of its parts."""
        return len(self.pieces) or len(self.starts)


class Plan(Sequence[Part]):
    """The parts of a job. Each is made when it is asked for, so that a task costs no more in a job of many tasks.

    Names and sizes of the inputs decide on the ranges; whoever does a part sees what its range has (`pieces.settled`).
    """

    def __init__(self, named: Iterable[str], out: str, task: Task, size: int, reading: ReadingOptions) -> None:
        named = list(named)
        self._out, self._task, self._size, self._reading = out, task, size, reading
        self._named, self._has_lines = frozenset(named), task.command == "convert" and _writes_lines(task)
        self._config = reading.configuration if task.command == "validate" else Configuration()
        cut = (self._cut(_Stored(file, *stores.facts(_readable(file)))) for file, _ in reading.find(named))
        self._groups = [_together(group) for group in grouped(cut, size, MOST_PIECES, _measured)]
        *self._firsts, self._count = accumulate((group.count for group in self._groups), initial=0)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Part: ...

    @overload
    def __getitem__(self, number: slice) -> list[Part]: ...

    def __getitem__(self, number: int | slice) -> Part | list[Part]:
        chosen = range(self._count)[number]
        return self._part(chosen) if isinstance(chosen, int) else list(map(self._part, chosen))

    @property
    def files(self) -> list[str]:
        """The files of all parts."""
        return [file.path for group in self._groups for file in group.files]

    def _part(self, number: int) -> Part:
        at = bisect_right(self._firsts, number) - 1
        group, index = self._groups[at], number - self._firsts[at]
        pieces: tuple[InputPiece, ...]
        if group.pieces:
            pieces = (group.pieces[index],)
        elif group.count > 1:
            pieces = (self._range(group.files[0], group.starts[index]),)
        else:
            pieces = tuple(map(self._whole, group.files))
        return Part(number, self._out, self._task, pieces)

    def _whole(self, file: _Stored) -> InputPiece:
        dialect = self._reading.configuration.dialect(file.path) if self._task.source is None else None
        ignore, places = self._config.ignored(file.path), self._config.ignored_places(file.path)
        is_known = dialect is not None or self._task.source is not None or file.path in self._named
        skips = self._task.command == "validate" and not is_known
        return InputPiece(
            file.path, file.version, file.size, ignore=ignore, places=places, dialect=dialect, skips=skips
        )

    def _range(self, file: _Stored, start: int) -> InputPiece:
        stop, before = min(start + self._size, file.size), -1 if start else 0
        return replace(self._whole(file), size=stop - start, start=start, stop=stop, before=before, by_size=True)

    def _cut(self, file: _Stored) -> _Group:
        """Returns the parts of a file. It is opened if neither its name nor its size says how it can be cut.

        Lines are counted here only if line numbers are needed. Unreadable files are reported later, in order."""
        if file.size <= self._size or file.path.lower().endswith(UNCUT):
            return _Group((file,))
        counts = self._has_lines or any(place.line is not None for place in self._config.ignored_places(file.path))
        if file.path.lower().endswith(CUT if not counts else TABLES):
            return _Group((file,), range(0, file.size, self._size))
        whole = self._whole(file)
        try:
            with opened(whole, self._task) as source:
                pieces = list(cut(whole, source, self._size, counts=counts))
        except ContentError:
            pieces = []
        return _Group((file,), pieces=pieces if len(pieces) > 1 else ())


def _writes_lines(task: Task) -> bool:
    """True if rows may have a column with the line of their document in the file."""
    columns = row_columns.chosen(task.columns, dialects.get(task.target), is_table=False)
    if columns is None or "line" not in columns.names:
        return False
    is_split = columns.adds_to_all or task.splitting is not None
    return is_split or task.source is None or dialects.get(task.source).names_conversations


def _measured(group: _Group) -> tuple[int, bool]:
    return group.files[0].size, group.count > 1


def _together(groups: Sequence[_Group]) -> _Group:
    """Returns a cut file as it is, and small files as one part."""
    return groups[0] if len(groups) == 1 else _Group(tuple(group.files[0] for group in groups))


def plan(
    paths: Iterable[str],
    out: str,
    task: Task,
    *,
    size: int = PART_SIZE,
    reading: ReadingOptions = ReadingOptions(),  # noqa: B008  (frozen)
) -> Plan:
    """Plans a job on files, folders, globs and URLs: the same inputs always give the same plan.

    `reading` has the project's exclusions and ignored findings. Raises JobError for missing inputs, and for an invalid
    task."""
    _ = task.job if task.command == "convert" else task.judging
    return Plan(paths, out, task, size, reading)


def files_of(parts: Sequence[Part]) -> list[str]:
    """Returns the files of these parts."""
    every = parts.files if isinstance(parts, Plan) else (file for part in parts for file in part.inputs)
    return list(dict.fromkeys(every))


def opened(piece: InputPiece, task: Task) -> AbstractContextManager[Input]:
    """Opens the file of a piece as the task reads it."""
    accepted = dialects.get(task.target) if task.command == "validate" and task.target else None
    return inputs.opened(
        piece.file,
        task.source or piece.dialect,
        duplicate_keys=task.duplicate_keys,
        nulls=task.nulls,
        otherwise=accepted,
        calls="apart" if task.restores else task.calls,
        max_line=task.max_line,
    )


def _readable(path: str) -> str:
    """Returns the path if every process can open it by name."""
    if path == "-" or split_line(path)[1] is not None:
        raise JobError("usage", "a job in parts needs files, not stdin or FILE:LINE", help="omit --engine and --part")
    return path
