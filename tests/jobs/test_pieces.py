"""Inputs are cut without a gap, and small files are done together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convcli.jobs import inputs
from convcli.jobs.pieces import InputPiece, bundled, cut
from tests.cli_cases import CLEAN, OTHER, write


def ranges(path: Path, size: int, *, counts: bool = False, dialect: str = OTHER) -> list[InputPiece]:
    """The pieces of a file."""
    length = path.stat().st_size
    with inputs.opened(str(path), dialect) as source:
        return list(cut(InputPiece(str(path), "v", length), source, size, counts=counts))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A file of lines, some of which are blank."""
    return write(tmp_path / "in.jsonl", *[json.dumps(CLEAN), "  "] * 40)


@pytest.mark.parametrize("size", [1, 37, 500])
def test_ranges_hold_every_byte_once_and_know_the_lines_in_front_of_them(lines: Path, size: int) -> None:
    text = lines.read_bytes()
    pieces = ranges(lines, size, counts=True)
    assert [piece.start for piece in pieces] == [0, *(piece.stop for piece in pieces[:-1])]
    assert (pieces[-1].stop, {piece.size for piece in pieces[:-1]}) == (len(text), {size})
    for piece in pieces:
        assert piece.before == text.count(b"\n", 0, max(piece.start - 1, 0))


def test_nobody_counts_lines_that_nobody_wants_to_know(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = ranges(lines, 100, counts=True)
    monkeypatch.setattr("convcli.files.framing.Source.newlines", lambda *_: pytest.fail("the file was read"))
    pieces = ranges(lines, 100)
    assert [(piece.start, piece.stop, piece.size) for piece in pieces] == [
        (piece.start, piece.stop, piece.size) for piece in counted
    ]
    assert [piece.is_uncounted for piece in pieces] == [False] + [True] * (len(pieces) - 1)


def test_what_cannot_be_cut_is_whole(lines: Path, tmp_path: Path) -> None:
    whole = write(tmp_path / "one.json", CLEAN)
    assert [piece.is_whole for piece in [*ranges(whole, 1), *ranges(lines, 1 << 20)]] == [True, True]


def small(name: str, size: int) -> list[InputPiece]:
    """A file that was not cut."""
    return [InputPiece(name, "", size)]


def test_small_files_are_done_together_and_ranges_alone(lines: Path) -> None:
    large = ranges(lines, 2000)
    files = [small("a", 40), small("b", 60), small("c", 1), large, small("d", 500), small("e", 1), small("f", 1)]
    names = ["".join(Path(piece.file).name[0] for piece in bundle) for bundle in bundled(files, 100, 10)]
    assert names == ["ab", "c", *"i" * len(large), "d", "ef"]
    assert [len(bundle) for bundle in bundled([small("a", 0)] * 7, 100, 3)] == [3, 3, 1]
