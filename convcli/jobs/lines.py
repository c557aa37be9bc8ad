"""Many documents in sequence, for the library: transcripts of files, and lines of JSON as bytes.

Errors of one document are reported in its place, and the next one follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from convcli.engine import arguments
from convcli.files.layouts import encoded
from convcli.jobs.documents import Document, Item, Skipped, finding_of, torn
from convcli.jobs.inputs import opened
from convcli.jobs.judging import JudgingOptions, judged
from convcli.jobs.paths import InputFile, find
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import ContentError, ConvcliError, JobError, RefusedError
from convcli.model.findings import Finding
from convcli.model.transcript import Transcript
from convcli.proof.reasons import Loss
from convcli.wire import exact_json


class LineOutcome(msgspec.Struct, frozen=True):
    """The result of one line.

    `line` counts from 1 · `data` is the converted document without a final newline, None if nothing was converted, and
    empty for a blank line · `losses`, `findings`: as in `Conversion`; the findings of a line that was not converted say
    why.
    """

    line: int
    data: bytes | None = None
    losses: list[Loss] = []
    findings: list[Finding] = []


Step: TypeAlias = Callable[[Document], LineOutcome]


# ---------------------------------------------------------------- files


def transcripts(path: str | PathLike[str], source: str | None) -> Iterator[Transcript | ConvcliError]:
    """Yields the transcripts of a file, folder or glob, or the errors of documents without one.

    Raises JobError for a value that is not a path, and, in order, for a file that cannot be opened.
    """
    return _transcripts(find([arguments.path_of(path)]), source)


def _transcripts(files: Iterable[InputFile], source: str | None) -> Iterator[Transcript | ConvcliError]:
    for file in files:
        try:
            with opened(file.path, source) as items:
                yield from map(_transcript, items)
        except ContentError as error:
            yield error


def _transcript(item: Item) -> Transcript | ConvcliError:
    if isinstance(item, Skipped):
        if item.torn:
            return ContentError("torn-record", torn(item), file=item.error.file, line=item.error.line)
        return item.error
    try:
        return item.lift()
    except RefusedError as error:
        return error


# ---------------------------------------------------------------- lines


def convert(lines: Iterable[bytes], source: Dialect | None, target: Dialect, options: Options) -> Iterator[LineOutcome]:
    """Yields each line in another dialect. A document of rows becomes several lines of one outcome."""

    def convert_document(document: Document) -> LineOutcome:
        result = document.convert(target, options)
        data = b"".join(encoded(result.document, ".jsonl")).removesuffix(b"\n")
        return LineOutcome(document.line, data, result.losses, result.findings)

    return _each(lines, source, convert_document)


def validate(lines: Iterable[bytes], source: Dialect | None, options: JudgingOptions) -> Iterator[LineOutcome]:
    """Yields the findings on each line. A line without a dialect is read in the target's."""

    def judge(document: Document) -> LineOutcome:
        return LineOutcome(document.line, findings=judged(document, options))

    return _each(lines, source, judge, options.target)


def _each(
    lines: Iterable[bytes], source: Dialect | None, step: Step, otherwise: Dialect | None = None
) -> Iterator[LineOutcome]:
    for number, line in enumerate(lines, 1):
        if not isinstance(line, (bytes, bytearray, memoryview)):
            raise JobError("usage", f"line {number:,} is not bytes: open the file with mode 'rb', or encode the text")
        raw = bytes(line).rstrip(b"\r\n")
        yield _outcome(raw, number, source, step, otherwise) if raw.strip() else LineOutcome(number, b"")


def _outcome(raw: bytes, number: int, source: Dialect | None, step: Step, otherwise: Dialect | None) -> LineOutcome:
    """Processes a line; internal errors become findings, because one line must not end the work on all others."""
    try:
        value = exact_json.parse(raw, start=(number, 1, 0))
        dialect = arguments.dialect_of(value, None, otherwise) if source is None else source
        return step(Document("", number, value, raw, dialect))
    except RefusedError as error:
        return LineOutcome(number, findings=error.findings)
    except ContentError as error:
        return LineOutcome(number, findings=[replace(finding_of(error), line=number)])
    except (JobError, MemoryError):
        raise
    except Exception as error:
        message = f"internal error of convcli ({type(error).__name__}): please report this"
        return LineOutcome(number, findings=[Finding("bug", "error", message, line=number)])
