"""Converted rows of many files, chosen by conditions, for the library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from convcli.jobs.documents import Document
from convcli.jobs.reading import ReadingOptions
from convcli.jobs.results import item_results
from convcli.jobs.selection import Selection
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import ContentError, ConvcliError, RefusedError
from convcli.model.findings import Finding
from convcli.model.transcript import Transcript
from convcli.proof.reasons import Loss
from convcli.views.conditions import of_transcripts
from convcli.views.duplicates import Duplicates, Way


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


def selection(where: Iterable[str], since: str | None, until: str | None, dedupe: Way | None) -> Selection:
    """Returns what these conditions select. Raises JobError."""
    conditions = [of_transcripts(where, since, until), None if dedupe is None else Duplicates(dedupe)]
    return Selection([condition for condition in conditions if condition is not None])


def rows(
    paths: Sequence[str], target: Dialect, options: Options, reading: ReadingOptions, *, keep_going: bool
) -> Iterator[ConvertedRow]:
    """Yields the rows of files, folders and globs. With `keep_going`, documents that cannot be read are skipped.

    Raises ConvcliError.
    """
    for file in reading.find(paths):
        try:
            yield from _rows(file.path, target, options, reading, keep_going=keep_going)
        except ContentError:
            if not keep_going:
                raise


def _rows(
    path: str, target: Dialect, options: Options, reading: ReadingOptions, *, keep_going: bool
) -> Iterator[ConvertedRow]:
    with reading.opened(path) as source:
        for step in item_results(source, target, options):
            if step.refused is not None and not keep_going:
                raise _error(step.refused, step.findings)
            if step.item is not None and step.conversion is not None:
                done = step.conversion
                place = step.item.file, step.item.number
                yield ConvertedRow(done.document, *place, done.transcript, step.losses, step.findings)


def _error(refused: Any, findings: list[Finding]) -> ConvcliError:
    return RefusedError(findings) if isinstance(refused, Document) else refused.error
