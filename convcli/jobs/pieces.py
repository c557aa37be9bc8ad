"""Cuts inputs into independent pieces, in the same way for `-j N`, for an engine and for the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from convcli.files.framing import Range
from convcli.jobs.config import IgnoredPlace
from convcli.jobs.inputs import Input

T = TypeVar("T")


class EmptyRangeError(Exception):
    """No line or row group begins in a range, or the file cannot be cut and its first range has all of it."""


class InputPiece(msgspec.Struct, frozen=True):
    """A file, a range of its bytes, or some of its row groups.

    `start` and `stop`: bytes or row groups · `before`: lines or rows before it, -1 if not counted · `version`: changes
    when the file does · `size`: bytes of the piece, about · `ignore`, `places`: findings not reported for this file ·
    `dialect`: the one that the configuration names for this file · `skips`: the file is skipped if it is no
    transcript · `by_size`: the range was planned by the size of a file that nobody has opened yet, and `settled`
    returns what it has.
    """

    file: str
    version: str
    size: int
    start: int = 0
    stop: int = -1
    before: int = -1
    ignore: frozenset[str] = frozenset()
    places: tuple[IgnoredPlace, ...] = ()
    dialect: str | None = None
    skips: bool = False
    by_size: bool = False

    @property
    def is_whole(self) -> bool:
        """True if it is all of the file."""
        return self.stop < 0

    @property
    def is_uncounted(self) -> bool:
        """True if its lines are counted from its own start, not from that of the file."""
        return not self.is_whole and self.before < 0

    @property
    def range(self) -> Range:
        """The range of a piece that is not the whole file."""
        return Range(self.start, self.stop, self.before)


def cut(whole: InputPiece, source: Input, size: int, *, counts: bool = False) -> Iterator[InputPiece]:
    """Yields ranges of a file, each of about this size; the whole file if it cannot be cut or is small.

    Unless `counts`, lines before each range are not counted, and the file is not read."""
    if not source.has_ranges or (not source.is_table and source.size <= size):
        yield whole
    elif source.is_table:
        ranges = list(source.ranges(size))
        length = source.size // len(ranges)
        yield from (_piece(whole, each, length) for each in ranges) if len(ranges) > 1 else [whole]
    else:
        for each in source.ranges(size) if counts else _uncounted(source.size, size):
            yield _piece(whole, each, each.stop - each.start)


def _piece(whole: InputPiece, part: Range, size: int) -> InputPiece:
    return replace(whole, size=size, start=part.start, stop=part.stop, before=part.before)


def _uncounted(length: int, size: int) -> Iterator[Range]:
    for start in range(0, length, size):
        yield Range(start, min(start + size, length), -1 if start else 0)


def settled(piece: InputPiece, source: Input) -> InputPiece:
    """Returns what a range that was planned by the size of a file is in the open file: lines, row groups, or all of it.

    Raises EmptyRangeError if it has none."""
    if not piece.by_size:
        return piece
    if not source.has_ranges:
        return settled_whole(piece)
    return _row_groups(piece, source) if source.is_table else replace(piece, by_size=False)


def settled_whole(piece: InputPiece) -> InputPiece:
    """Returns the whole file for the first range of one that cannot be cut. Raises EmptyRangeError for the others."""
    if piece.start:
        raise EmptyRangeError
    return replace(piece, stop=-1, before=-1, by_size=False)


def _row_groups(piece: InputPiece, source: Input) -> InputPiece:
    """Returns the row groups that would begin in the range if all had the same size."""
    groups = list(source.ranges(1))
    first, end = (-(-at * len(groups) // source.size) for at in (piece.start, piece.stop))
    if first >= end:
        raise EmptyRangeError
    start, stop, before = groups[first].start, groups[end - 1].stop, groups[first].before
    return replace(piece, start=start, stop=stop, before=before, by_size=False)


def grouped(
    files: Iterable[T], size: int, most: int, measured: Callable[[T], tuple[int, bool]]
) -> Iterator[Sequence[T]]:
    """Groups consecutive files: each that is cut alone, others at most `most` together, with about this total size.

    `measured` returns the size of a file, and whether it is cut."""
    group, total = list[T](), 0
    for file in files:
        length, is_cut = measured(file)
        if group and (is_cut or total + length > size or len(group) == most):
            yield group
            group, total = [], 0
        group.append(file)
        total += length
        if is_cut:
            yield group
            group, total = [], 0
    if group:
        yield group


def bundled(files: Iterable[Sequence[InputPiece]], size: int, most: int) -> Iterator[tuple[InputPiece, ...]]:
    """Groups pieces into tasks: each piece of a cut file, or at most `most` files with about this total size."""
    for group in grouped(files, size, most, lambda pieces: (sum(piece.size for piece in pieces), len(pieces) > 1)):
        if len(group) == 1:
            yield from ((piece,) for piece in group[0])
        else:
            yield tuple(piece for pieces in group for piece in pieces)
