"""Cuts inputs into independent pieces, in the same way for `-j N`, for an engine and for the library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from convcli.files.framing import Range
from convcli.jobs.config import IgnoredPlace
from convcli.jobs.inputs import Input


class InputPiece(msgspec.Struct, frozen=True):
    """A file, a range of its bytes, or some of its row groups.

    `start` and `stop`: bytes or row groups · `before`: lines or rows before it, -1 if not counted · `version`: changes
    when the file does · `size`: bytes of the piece, about · `ignore`, `places`: findings not reported for this file ·
    `dialect`: the one that the configuration names for this file.
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


def bundled(files: Iterable[Sequence[InputPiece]], size: int, most: int) -> Iterator[tuple[InputPiece, ...]]:
    """Groups pieces into tasks: each piece of a cut file, or at most `most` files with about this total size."""
    bundle, total = list[InputPiece](), 0
    for pieces in files:
        is_cut = len(pieces) > 1
        length = sum(piece.size for piece in pieces)
        if bundle and (is_cut or total + length > size or len(bundle) == most):
            yield tuple(bundle)
            bundle, total = [], 0
        if is_cut:
            yield from ((piece,) for piece in pieces)
        else:
            bundle += pieces
            total += length
    if bundle:
        yield tuple(bundle)
