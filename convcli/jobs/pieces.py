"""Inputs in pieces that do not depend on each other: the same cut for `-j N`, for an engine and for the library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from convcli.files.framing import Range
from convcli.jobs.config import IgnoredPlace
from convcli.jobs.inputs import Input


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
    def is_uncounted(self) -> bool:
        """Is it a range of bytes whose lines are counted from its beginning, not from that of the file?"""
        return not self.is_whole and self.before < 0

    @property
    def range(self) -> Range:
        """The range of a piece that is not whole."""
        return Range(self.start, self.stop, self.before)


def cut(whole: InputPiece, source: Input, size: int, *, counts: bool = False) -> Iterator[InputPiece]:
    """The ranges of a file, each of about such a size; itself where it cannot be cut, or would be one range.

    Where nobody `counts` the lines in front of each, a range is told without a look into the file."""
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


def bundled(files: Iterable[Sequence[InputPiece]], size: int, most: int) -> Iterator[tuple[InputPiece, ...]]:
    """What is done together: a piece of a file that was cut, else files that have about such a size together, at
    `most` so many."""
    bundle, held = list[InputPiece](), 0
    for pieces in files:
        is_cut = len(pieces) > 1
        length = sum(piece.size for piece in pieces)
        if bundle and (is_cut or held + length > size or len(bundle) == most):
            yield tuple(bundle)
            bundle, held = [], 0
        if is_cut:
            yield from ((piece,) for piece in pieces)
        else:
            bundle += pieces
            held += length
    if bundle:
        yield tuple(bundle)
