"""Engines: what goes wrong with a part ends no other, and Ray does what one process does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convcli.__main__ import main
from convcli.model.errors import JobError
from convcli.parts import Task, attempts, begin, engines, finish, plan
from tests.cli_cases import OTHER

WORDS = ["convert", "in.jsonl", "--from", OTHER, "--to", "anthropic", "--losses", "all", "--part-size", "900"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an input of several parts."""
    monkeypatch.chdir(tmp_path)
    rows = ({"messages": [{"role": "user", "name": "ada", "content": f"{row}"}]} for row in range(60))
    Path("in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_a_part_that_fails_ends_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    each = plan(["in.jsonl"], "out", Task("convert", OTHER, "anthropic"), size=900)
    begin(each)
    work = attempts.run_part

    def failing(part: object, number: int) -> object:
        if part == each[1]:
            raise JobError("unreadable-input", "gone")
        return work(part)  # type: ignore[arg-type]

    monkeypatch.setattr(attempts, "run_part", failing)
    errors = [error for _, error in engines.on_processes(each, 1)]
    assert [isinstance(error, JobError) for error in errors] == [part.number == 1 for part in each]
    assert finish(each).missing == [1]


@pytest.mark.ray
def test_ray_does_what_one_process_does(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray")
    assert main([*WORDS, "--engine", "local", "--out-dir", "one"]) == 0
    first = capfd.readouterr().err
    assert main([*WORDS, "--engine", "ray", "--out-dir", "two"]) == 0
    assert capfd.readouterr().err.endswith(first)
    files = sorted(path.relative_to("one") for path in Path("one").rglob("*.jsonl"))
    assert len(files) > 8
    assert [Path("two", name).read_bytes() for name in files] == [Path("one", name).read_bytes() for name in files]
    assert Path("two/_SUCCESS").exists()
