"""Converted rows of many files, chosen by conditions, for the library."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from convcli import dialects
from convcli.engine import arguments
from convcli.jobs.documents import Document
from convcli.jobs.reading import ReadingOptions
from convcli.jobs.results import RowShape, item_results
from convcli.jobs.selection import Selection
from convcli.jobs.splitting import splitting
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import ContentError, ConvcliError, RefusedError
from convcli.model.findings import Finding
from convcli.model.transcript import Transcript
from convcli.proof.reasons import Loss
from convcli.views import row_columns
from convcli.views.conditions import of_transcripts
from convcli.views.duplicates import Duplicates, Way

if TYPE_CHECKING:
    from convcli.dialects._names import DialectName


class ConvertedRow(msgspec.Struct, frozen=True):
    """One converted transcript.

    `document`: in the target dialect · `file`, `line`: where the transcript is; `line` is None if it is the whole file,
    and in a table it is the row from 0 · `transcript`: in the intermediate format · `losses`, `findings`: as in
    `Conversion`.
    """

    document: Any
    file: str
    line: int | None
    transcript: Transcript
    losses: list[Loss]
    findings: list[Finding]


def rows(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    to: DialectName | str,
    *,
    where: str | Iterable[str] = (),
    since: str | None = None,
    until: str | None = None,
    dedupe: Way | None = None,
    source: DialectName | str | None = None,
    form: str | None = None,
    branch: Literal["active", "all"] = "all",
    view: Literal["history", "context"] = "history",
    set: Mapping[str, Any] | None = None,
    default: Mapping[str, Any] | None = None,
    map_model: Mapping[str, str] | None = None,
    program_turns: Literal["keep", "drop"] | None = None,
    tools: Literal["recorded", "program", "none"] | None = None,
    tools_of: str | None = None,
    columns: str | Iterable[str] | None = None,
    split_at: Literal["compaction"] | None = None,
    max_turns: int | None = None,
    max_tokens: int | None = None,
    tokenizer: str | None = None,
    keep_going: bool = False,
) -> Iterator[ConvertedRow]:
    """Yields the converted transcripts of files, folders and globs: `document`, `file`, `line`, `losses`, `findings`.

    `where`, `since`, `until` and `dedupe` select as on the command line (`convcli help selecting`); the others are
    those of `convcli convert`, with its defaults: rows of `hf-chat` from sessions have columns of their origin, and the
    run of a subagent is a row of its own (`convcli help training`). `columns`: `all`, `none` or names. With
    `keep_going`, documents that cannot be read are skipped; otherwise they raise ContentError or RefusedError. Raises
    JobError for a wrong condition, an unknown dialect or a missing file.

        for row in convcli.rows("~/.claude/projects", "hf-chat", where="errors=0 and project=shop"):
            print(row.file, len(row.document["messages"]))
    """
    target, own = dialects.get(to), None if source is None else dialects.get(source)
    options = arguments.options(target, form, branch, 0, view, set, default, map_model)
    options = arguments.with_row_choices(options, program_turns, tools, tools_of)
    words = columns if columns is None or isinstance(columns, str) else ",".join(columns)
    split = splitting(split_at, max_turns, max_tokens, tokenizer)
    shape = RowShape(row_columns.chosen(words, target, is_table=False), split, target.is_training)
    named = [paths] if isinstance(paths, (str, PathLike)) else paths
    files = [os.path.expanduser(arguments.path_of(path)) for path in named]
    reading = ReadingOptions(
        dialect=None if own is None else own.name, selection=_selection(where, since, until, dedupe)
    )
    return _rows_of(files, _Job(target, options, shape, reading, keep_going))


def _selection(where: str | Iterable[str], since: str | None, until: str | None, dedupe: Way | None) -> Selection:
    """Returns what these conditions select. Raises JobError."""
    where = [where] if isinstance(where, str) else where
    conditions = [of_transcripts(where, since, until), None if dedupe is None else Duplicates(dedupe)]
    return Selection([condition for condition in conditions if condition is not None])


class _Job(msgspec.Struct, frozen=True):
    """How documents are read and converted."""

    target: Dialect
    options: Options
    shape: RowShape
    reading: ReadingOptions
    keep_going: bool


def _rows_of(paths: Sequence[str], job: _Job) -> Iterator[ConvertedRow]:
    for file in job.reading.find(paths):
        try:
            yield from _rows(file.path, job)
        except ContentError:
            if not job.keep_going:
                raise


def _rows(path: str, job: _Job) -> Iterator[ConvertedRow]:
    with job.reading.opened(path) as source:
        for step in item_results(source, job.target, job.options, shape=job.shape):
            if step.refused is not None and not job.keep_going:
                raise _error(step.refused, step.findings)
            if step.item is not None and step.conversion is not None:
                done = step.conversion
                place = step.item.file, step.item.number
                yield ConvertedRow(done.document, *place, done.transcript, list(step.losses), step.findings)


def _error(refused: Any, findings: list[Finding]) -> ConvcliError:
    return RefusedError(findings) if isinstance(refused, Document) else refused.error
