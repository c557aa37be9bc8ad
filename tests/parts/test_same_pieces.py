"""`-j N` and an engine do the same pieces with the same functions: what one gives the program, the other writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.jobs import inputs, parallel, running, workers
from convcli.jobs.pieces import InputPiece
from convcli.parts import Part, Task, plan, run_part
from convcli.parts import work as work_module
from convcli.parts.marks import with_lines_moved
from convcli.parts.work import finding_line
from convcli.wire import exact_json
from convcli.wire.decimals import builtins
from tests.cli_cases import CLEAN, OTHER, WRONG, write

TARGET = "anthropic"
NAMED = {"messages": [{"role": "user", "name": "half \ud800", "content": "東京\u2028"}], "seed": 7}
LINES = [json.dumps(each) for each in (CLEAN, NAMED, WRONG)] + ["{", " ", json.dumps(NAMED) + "\r"]
SIZE = 700
CONVERT = Task("convert", OTHER, TARGET, keep_going=True, losses="all")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that is cut, and small ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inputs, "WORTH", 1)
    monkeypatch.setattr(inputs, "RANGE", SIZE)
    write(tmp_path / "in.jsonl", *LINES * 9)
    for number in range(9):
        write(tmp_path / f"small{number}.json", [NAMED, WRONG, CLEAN][number % 3])
    return tmp_path


Done = list[tuple[Any, list[Any]]]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Done:
    """The tasks that `-j 2` gives to its processes, each with what its worker emitted; here this process does them."""
    tasks: Done = []

    @contextmanager
    def all_here(work: workers.Work, each: Iterable[Any], processes: int) -> Iterator[Iterator[Any]]:
        def results() -> Iterator[Any]:
            for task in each:
                reported = list[Any]()
                value = work(task, lambda item, size=0, taken=reported: taken.append(item))
                tasks.append((task, reported))
                yield SimpleNamespace(
                    emitted=partial(iter, reported), value=lambda value=value: value, has_failed=False
                )

        yield results()

    monkeypatch.setattr(parallel, "all_done", all_here)
    return tasks


def pieces_of(parts: Iterable[Part]) -> list[list[tuple[str, int, int]]]:
    """What each part reads."""
    return [[(piece.file, piece.start, piece.stop) for piece in part.pieces] for part in parts]


def written(part: Part, kind: str = "") -> bytes:
    """What a part has written."""
    path = Path("out", kind, part.name)
    return path.read_bytes() if path.exists() else b""


def reported(items: Iterable[Any], name: str) -> list[Any]:
    """Returns what a worker has emitted under a name."""
    return [item[1] for item in items if isinstance(item, tuple) and item[0] == name]


def more_lines(part: Part, piece: InputPiece) -> int:
    """How many lines more are in front of a range that `-j 2` has counted."""
    return piece.before - part.pieces[0].before


def same(part: Part, items: list[Any], before: int) -> None:
    """Compares what a worker has emitted for a range with what its part has written, where lines count from there."""
    run_part(part)
    assert b"".join(reported(items, "output")) == written(part)
    losses = [exact_json.write_line(builtins(loss)) for loss in reported(items, "loss")]
    assert losses == list(with_lines_moved(written(part, "_losses").splitlines(), before))
    findings = [finding_line(finding) for finding in reported(items, "finding")]
    assert findings == list(with_lines_moved(written(part, "_findings").splitlines(), before))


def test_there_is_one_function_for_a_piece() -> None:
    modules: list[Any] = [parallel, work_module]
    assert all(module.convert_piece is running.convert_piece for module in modules)
    assert all(module.judge_piece is running.judge_piece for module in modules)


@pytest.mark.parametrize(("most", "size"), [(10**9, 1500), (1000, 1000)])
def test_the_ranges_of_a_large_file_grow_with_it(
    folder: Path, done: Done, monkeypatch: pytest.MonkeyPatch, most: int, size: int
) -> None:
    monkeypatch.setattr(parallel, "MOST_RANGE", most)
    monkeypatch.setattr(inputs, "RANGE", 100)
    line = json.dumps(CLEAN).ljust(1499) + "\n"
    (folder / "large.jsonl").write_text(line * 2 * parallel.RANGES)
    assert main(["convert", "large.jsonl", "--from", OTHER, "--to", TARGET, "-o", "out.jsonl", "-j", "2"]) == 0
    assert {task.size for task, _ in done} == {size}


def test_a_file_is_cut_into_the_ranges_of_its_parts_and_each_gives_the_same(folder: Path, done: Done) -> None:
    parts = plan(["in.jsonl"], "out", CONVERT, size=SIZE)
    words = ["convert", "in.jsonl", "--from", OTHER, "--to", TARGET, "--keep-going", "-o", "one.jsonl"]
    assert main([*words, "--losses", "losses", "-j", "2"]) == 1
    assert [[(task.file, task.start, task.stop)] for task, _ in done] == pieces_of(parts)
    assert len(parts) > 5
    for part, (task, items) in zip(parts, done, strict=True):
        same(part, items, more_lines(part, task))
    assert b"".join(map(written, parts)) == Path("one.jsonl").read_bytes()


def test_small_files_are_done_together_as_in_their_parts_and_each_gives_the_same(folder: Path, done: Done) -> None:
    parts = plan(["small*.json"], "out", CONVERT, size=SIZE)
    words = ["convert", "small*.json", "--from", OTHER, "--to", TARGET, "--keep-going", "-o", "one.jsonl"]
    assert main([*words, "--losses", "losses", "-j", "2"]) == 1
    tasks = [[(piece.file, piece.start, piece.stop) for piece, _ in task] for task, _ in done]
    assert tasks == pieces_of(parts)
    assert 1 < len(parts) < 9
    for part, (_, items) in zip(parts, done, strict=True):
        same(part, items, 0)


@pytest.mark.parametrize("name", ["in.jsonl", "small*.json"])
def test_the_verdicts_are_the_same(folder: Path, done: Done, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    parts = plan([name], "out", Task("validate", OTHER), size=SIZE)
    assert main(["validate", name, "--from", OTHER, "--output-format", "jsonl", "-j", "2"]) == 1
    assert len(done) == len(parts) > 1
    lines = list[bytes]()
    for part, (task, items) in zip(parts, done, strict=True):
        run_part(part)
        before = more_lines(part, task) if isinstance(task, InputPiece) else 0
        verdicts = (item for item in items if not isinstance(item, running.PieceResult))
        mine = [finding_line(finding) for verdict in verdicts for finding in verdict.findings]
        assert mine == list(with_lines_moved(written(part).splitlines(), before))
        lines += mine
    assert b"".join(lines).decode() == capfd.readouterr().out


@pytest.mark.skipif(not workers.can_start(), reason="processes cannot be started here")
def test_a_worker_of_two_gives_for_a_range_what_its_part_has_written(folder: Path) -> None:
    parts = plan(["in.jsonl"], "out", CONVERT, size=SIZE)
    with inputs.opened("in.jsonl", OTHER) as source:
        work = partial(parallel.convert_range, source, CONVERT.job, (True, False))
        with workers.all_done(work, [part.pieces[0] for part in parts], 2) as each:
            for part, result in zip(parts, each, strict=True):
                same(part, list(result.emitted()), 0)
                value, totals = result.value(), run_part(part).totals
                expected = totals.lines, totals.blank, totals.written
                assert (value.lines, value.blank, value.summary.transcripts) == expected
