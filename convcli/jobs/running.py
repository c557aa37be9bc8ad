"""Processes one piece of the inputs, in the same way for `-j N`, for an engine and for the library.

Callers only specify how its file is opened and where the results go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TypeAlias

import msgspec

from convcli.jobs import converting, judging
from convcli.jobs.converting import InputConversion, SplitConversion
from convcli.jobs.documents import finding_of
from convcli.jobs.inputs import Input
from convcli.jobs.judging import JudgingOptions, Verdict
from convcli.jobs.pieces import EmptyRangeError, InputPiece, settled, settled_whole
from convcli.jobs.summaries import Summary
from convcli.jobs.unsupported import is_no_transcript
from convcli.model.errors import ContentError

Opened: TypeAlias = Callable[[InputPiece], AbstractContextManager[Input]]
"""Opens the file of a piece."""
Judge: TypeAlias = Callable[[Input, JudgingOptions], Iterator[Verdict]]


class PieceResult(msgspec.Struct):
    """The result of a piece, besides reports and output.

    `piece`: as it was asked for, then as it is in the open file · `lines`, `blank`: lines or rows read, and blank
    ones among them · `grew`: whether the file grew meanwhile · `error`: why a file could not be read to its end; the
    missing part counts as one line.
    """

    piece: InputPiece
    lines: int = 0
    blank: int = 0
    grew: bool = False
    summary: Summary | None = None
    error: ContentError | None = None


def convert_piece(
    piece: InputPiece, opened: Opened, conversion: Callable[[Input], InputConversion | SplitConversion]
) -> PieceResult:
    """Converts a piece of an input with `conversion`.

    Raises ConvcliError if it cannot continue, except for a file that cannot be read.
    """
    result = PieceResult(piece)
    with keeping_error(result), reading(result, opened) as source:
        run = conversion(source)
        result.summary = run.summary
        converting.completed(run, is_range=not result.piece.is_whole)
    return result


def judge_piece(
    result: PieceResult, opened: Opened, options: JudgingOptions, judged: Judge = judging.judge
) -> Iterator[Verdict]:
    """Yields the verdicts on a piece and fills in `result`. An unreadable file is a verdict too."""
    with keeping_error(result), reading(result, opened) as source:
        error = source.undetected
        if options.skips and error is not None and is_no_transcript(result.piece.file, error):
            raise error  # whatever the target finds in it
        yield from judged(source, options)
    if result.error is not None:
        yield from _verdict_of(result.error, result.piece.file, options)
        result.error = None


def judge_file(
    path: str,
    opened: Callable[[str], AbstractContextManager[Input]],
    options: JudgingOptions,
    judged: Judge = judging.judge,
) -> Iterator[Verdict]:
    """Yields the verdicts on a file."""
    return judge_piece(PieceResult(InputPiece(path, "", 0)), lambda piece: opened(piece.file), options, judged)


def _verdict_of(error: ContentError, path: str, options: JudgingOptions) -> Iterator[Verdict]:
    finding = finding_of(error)
    if options.skips and is_no_transcript(path, error):
        yield Verdict(path, 0, "", [], is_skipped=True)
    elif options.wants(finding):
        yield Verdict(error.file, error.line, "", [finding])


@contextmanager
def reading(result: PieceResult, opened: Opened) -> Iterator[Input]:
    """Opens a piece; lines are counted even if the file breaks off."""
    with opened(result.piece) as source:
        piece = result.piece = settled(result.piece, source)
        try:
            yield source if piece.is_whole else source.part(piece.range)
        finally:
            result.lines, result.blank = source.lines_read
            result.grew = source.grew


@contextmanager
def keeping_error(result: PieceResult) -> Iterator[None]:
    """Keeps the error of an unreadable file in the result, so that others continue. A range may have nothing.

    For a range it is raised, because the next range counts lines from this one.
    """
    with suppress(EmptyRangeError):
        try:
            yield
        except ContentError as error:
            if result.piece.by_size:  # the file could not be opened: its first range reports that
                result.piece = settled_whole(result.piece)
            elif not result.piece.is_whole:
                raise
            result.error = error
            result.lines += 1
