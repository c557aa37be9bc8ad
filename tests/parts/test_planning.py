"""Plans: the ranges follow from names and sizes, and a task of an array job makes its own parts only."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.files import stores
from convcli.jobs import inputs
from convcli.parts import Part, Task, begin, finish, plan, planning, run_part
from convcli.parts.marks import read_mark
from tests.cli_cases import OTHER

TASK = Task("convert", OTHER, "anthropic", keep_going=True, losses="all")
ROWS = [{"messages": [{"role": "user", "name": "ada", "content": f"{row}"}]} for row in range(40)]
LINES = "\n".join(map(json.dumps, ROWS)) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory for inputs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def joined(kind: str = "", out: str = "out") -> bytes:
    return b"".join(path.read_bytes() for path in sorted(Path(out, kind).glob("part-*.jsonl")))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts what a task does: parts that it makes, inputs that it opens, marks and outputs that it asks for."""
    counts = Counter[str]()
    assert read_mark(b"{}") is None, "msgspec knows the types of a mark before they are replaced"

    def counting(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def counted(*args: Any, **values: Any) -> Any:
            counts[name] += 1
            return function(*args, **values)

        monkeypatch.setattr(owner, name, counted)

    counting(planning, "Part")
    counting(planning, "InputPiece")
    counting(inputs, "open_input")
    for name in ("size", "read", "output", "sizes"):
        counting(type(stores.folder_at("out")), name)
    return counts


@pytest.mark.parametrize("kind", ["one file", "many files"])
def test_a_task_does_the_same_work_in_a_job_of_any_size(folder: Path, work: Counter[str], kind: str) -> None:
    seen = []
    for parts in (6, 60):
        source = Path(f"in{parts}")
        source.mkdir()
        number, times = (1, 4 * parts) if kind == "one file" else (parts // 2, 8)
        row = (json.dumps({"messages": [{"role": "user", "content": "x" * 200}]}) + "\n").ljust(250)
        for file in range(number):
            Path(source, f"{file:03}.jsonl").write_text(row * times)
        words = ["convert", str(source), "--from", OTHER, "--to", "anthropic", "--part-size", "1000"]
        out = f"out{parts}"
        assert main([*words, "--out-dir", out, "--part", f"1/{parts}"]) == 0
        work.clear()
        assert main([*words, "--out-dir", out, "--part", f"3/{parts}"]) == 0
        assert Path(out, "part-00002.jsonl").exists()
        seen.append(dict(work))
    assert seen[0] == seen[1]
    assert seen[0]["Part"] == 2, "the task's own, and the first of all, which names the folder"
    assert seen[0]["open_input"] == 1


@pytest.mark.parametrize("size", [100, 500, len(LINES)])
@pytest.mark.parametrize("content", [gzip.compress(LINES.encode()), json.dumps(ROWS).encode(), b"{", b"\n" * 1500])
def test_the_first_range_has_all_of_a_file_that_cannot_be_cut(folder: Path, content: bytes, size: int) -> None:
    Path("in.jsonl").write_bytes(content)
    each = plan(["in.jsonl"], "out", TASK, size=size)
    assert len(each) == max(-(-len(content) // size), 1)
    begin(each)
    marks = [run_part(part) for part in reversed(each)][::-1]
    report = finish(each)
    code = main(["convert", "in.jsonl", "--from", OTHER, "--to", "anthropic", "--keep-going", "-o", "one.jsonl"])
    assert joined() == (Path("one.jsonl").read_bytes() if Path("one.jsonl").exists() else b"")
    assert (report.totals.refused > 0) is (code == 1)
    assert [mark.transcripts + mark.refused for mark in marks[1:]] == [0] * (len(each) - 1)


def test_a_part_of_a_plan_is_the_same_whoever_makes_it(folder: Path) -> None:
    Path("a.jsonl").write_text(LINES)
    for name in ("b.json", "c.json", "d.jsonl.gz", "e.log"):
        Path(name).write_text(LINES[:130])
    paths = ["a.jsonl", "b.json", "c.json", "d.jsonl.gz", "e.log"]
    each = plan(paths, "out", TASK, size=300)
    assert list(each) == [plan(paths, "out", TASK, size=300)[number] for number in range(len(each))]
    assert [part.number for part in each[1::3]] == list(range(1, len(each), 3))
    assert each[-1] == each[len(each) - 1]
    with pytest.raises(IndexError):
        each[len(each)]
    of_lines = [part.pieces[0] for part in each if part.pieces[0].file == "a.jsonl"]
    assert [(piece.start, piece.stop) for piece in of_lines] == [
        (start, min(start + 300, len(LINES))) for start in range(0, len(LINES), 300)
    ]
    files = [piece.file for part in each for piece in part.pieces]
    assert list(dict.fromkeys(files)) == planning.files_of(each) == planning.files_of(list[Part](each)) == paths
