"""Which words of two texts differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from convcli.wire.patterns import pattern

MOST_WORDS = 1_000
"""Words of the part that differs up to which they are compared one by one; beyond, the part differs as a whole."""
CONTEXT = 30
"""Characters shown on either side of a change."""
GAP = "…"
_WORDS = pattern(r"\w+\s*|[^\w\s]\s*|\s+")


class Words(NamedTuple):
    """A piece of a text, and whether the other text lacks it."""

    text: str
    differs: bool


def compared(before: str, after: str) -> tuple[list[Words], list[Words]]:
    """Returns both texts in pieces, by whole words."""
    first, second = _WORDS.findall(before), _WORDS.findall(after)
    start = _common(first, second)
    end = _common(first[start:][::-1], second[start:][::-1])
    middle, other = first[start : len(first) - end], second[start : len(second) - end]
    pieces: tuple[list[Words], list[Words]] = ([], [])
    for side, words, its in zip(pieces, (first, second), _changes(middle, other), strict=True):
        _add(side, words[:start], differs=False)
        for part, differs in its:
            _add(side, part, differs=differs)
        _add(side, words[len(words) - end :], differs=False)
    return pieces


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Returns the number of words with which both begin."""
    pairs = zip(first, second, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def _changes(
    first: Sequence[str], second: Sequence[str]
) -> tuple[list[tuple[Sequence[str], bool]], list[tuple[Sequence[str], bool]]]:
    if max(len(first), len(second)) > MOST_WORDS:
        return [(first, True)], [(second, True)]
    codes = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    differs = [tag != "equal" for tag, *_ in codes]
    ours = [first[i:j] for _, i, j, _, _ in codes]
    theirs = [second[i:j] for _, _, _, i, j in codes]
    return list(zip(ours, differs, strict=True)), list(zip(theirs, differs, strict=True))


def _add(pieces: list[Words], words: Iterable[str], *, differs: bool) -> None:
    text = "".join(words)
    if text:
        pieces.append(Words(text, differs))


def around_changes(pieces: Sequence[Words], room: int) -> list[Words]:
    """Returns the changed pieces with some context, in at most `room` characters."""
    if sum(len(piece.text) for piece in pieces) <= room:
        return list(pieces)
    shown: list[Words] = []
    left = room
    for piece in _shortened(pieces, room):
        text = piece.text if len(piece.text) <= left else piece.text[: left - 1] + GAP
        shown.append(Words(text, piece.differs))
        left -= len(text)
        if left <= 1:
            break
    return shown


def _shortened(pieces: Sequence[Words], room: int) -> Iterator[Words]:
    """Yields the pieces, equal ones cut to the context of their neighbours."""
    last = len(pieces) - 1
    for index, (text, differs) in enumerate(pieces):
        begin, end = CONTEXT * (index > 0), CONTEXT * (index < last)
        if not differs and last and len(text) > begin + end + 1:
            text = f"{text[:begin]}{GAP}{text[len(text) - end :]}"
        yield Words(text if differs else text[:room], differs)
