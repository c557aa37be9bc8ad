"""The work on one piece of the inputs: the same functions for `-j N`, for an engine and for the library, which only say
how its file is opened and where what comes of it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

import msgspec

from convcli.jobs import converting, judging
from convcli.jobs.converting import InputConversion, SplitConversion, Summary
from convcli.jobs.documents import finding_of
from convcli.jobs.inputs import Input
from convcli.jobs.judging import JudgingOptions, Verdict
from convcli.jobs.pieces import InputPiece
from convcli.jobs.strangers import is_no_transcript
from convcli.model.errors import ContentError

Opened: TypeAlias = Callable[[InputPiece], AbstractContextManager[Input]]
"""Opens the file of a piece."""
Judge: TypeAlias = Callable[[Input, JudgingOptions], Iterator[Verdict]]


class PieceResult(msgspec.Struct):
    """What came of a piece beside what was told and written: how many lines or rows were read and how many of them are
    blank, whether the file `grew` meanwhile, and the `error` of a file that cannot be read, or not to its end: what it
    has not given is a line more."""

    piece: InputPiece
    lines: int = 0
    blank: int = 0
    grew: bool = False
    summary: Summary | None = None
    error: ContentError | None = None


def convert_piece(
    piece: InputPiece, opened: Opened, conversion: Callable[[Input], InputConversion | SplitConversion]
) -> PieceResult:
    """Convert a piece of an input; `conversion` says into what. Raises ConvcliError when it cannot go on, but for a
    file that cannot be read."""
    result = PieceResult(piece)
    with keeping_error(result), reading(result, opened) as source:
        run = conversion(source)
        result.summary = run.summary
        converting.completed(run, is_range=not piece.is_whole)
    return result


def judge_piece(
    result: PieceResult, opened: Opened, options: JudgingOptions, judged: Judge = judging.judge
) -> Iterator[Verdict]:
    """The verdicts on a piece of an input, and what came of it beside them; that nothing of a file can be read, or not
    to its end, is a verdict too."""
    with keeping_error(result), reading(result, opened) as source:
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
    """The verdicts on a file."""
    return judge_piece(PieceResult(InputPiece(path, "", 0)), lambda piece: opened(piece.file), options, judged)


def _verdict_of(error: ContentError, path: str, options: JudgingOptions) -> Iterator[Verdict]:
    finding = finding_of(error)
    if options.skips and is_no_transcript(path, error):
        yield Verdict(path, 0, "", [], is_skipped=True)
    elif options.wants(finding):
        yield Verdict(error.file, error.line, "", [finding])


@contextmanager
def reading(result: PieceResult, opened: Opened) -> Iterator[Input]:
    """What a piece holds. Lines are counted also of a file that breaks off."""
    piece = result.piece
    with opened(piece) as source:
        try:
            yield source if piece.is_whole else source.part(piece.range)
        finally:
            result.lines, result.blank = source.lines_read
            result.grew = source.grew


@contextmanager
def keeping_error(result: PieceResult) -> Iterator[None]:
    """A file that cannot be read is told with what came of it, and others go on. Of a range it is an error that is
    raised: the lines of the next one are counted on from it."""
    try:
        yield
    except ContentError as error:
        if not result.piece.is_whole:
            raise
        result.error = error
        result.lines += 1
