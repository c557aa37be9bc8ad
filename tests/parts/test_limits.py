"""A limit of time per part: what takes longer is ended, repeated and reported, and leaves nothing half-written."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.files.outputs import Replacement
from convcli.jobs import workers
from convcli.model.errors import OutputError
from convcli.parts import Part, Task, attempts, begin, finish, plan, run_part, unfinished
from convcli.parts.attempts import attempt
from convcli.parts.limits import limited
from tests import tiers
from tests.cli_cases import OTHER

TASK = Task("convert", OTHER, "anthropic", losses="all")
LIMIT = 0.05


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with inputs of several parts; the timer of the tests is as before when they end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(attempts, "PAUSE", 0)
    monkeypatch.setattr("convcli.parts.limits.CLEANUP", 0.2)
    Path("in").mkdir()
    for name in "ab":
        rows = ({"messages": [{"role": "user", "name": "ada", "content": f"{row}"}]} for row in range(40))
        Path("in", f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def job(out: str = "out") -> list[Part]:
    each = plan(["in"], out, TASK, size=1800)
    begin(each)
    return each


def written(out: str) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in Path(out).rglob("part-*.jsonl")}


def slow(function: Any, calls: list[float], at: int) -> Any:
    """Returns the function, which hangs at one of its calls, for the first time only."""

    def hanging(*args: Any, **named: Any) -> Any:
        calls.append(time.monotonic())
        if len(calls) == at:
            time.sleep(60)
        return function(*args, **named)

    return hanging


@pytest.mark.parametrize("at", tiers.few(range(1, 40, 4), 1))
def test_a_part_that_hangs_is_ended_and_repeated(folder: Path, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, calls = job("whole"), list[float]()
    for part in whole:
        run_part(part)
    finish(whole)
    parts = job()
    with monkeypatch.context() as patched:
        patched.setattr(Replacement, "write", slow(Replacement.write, calls, at))
        assert [attempt(part, seconds=6 * LIMIT, retries=20) for part in parts] == [None] * len(parts)
    assert finish(parts).missing == []
    assert written("out") == written("whole")
    tries = [part["attempts"] for part in json.loads(Path("out/_report.json").read_bytes())["by_part"]]
    assert sum(tries) > len(parts)


@pytest.mark.parametrize("function", ["write", "sync", "publish"])
def test_a_part_that_always_hangs_is_reported_and_leaves_nothing(
    folder: Path, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, original = job(), getattr(Replacement, function)

    def hanging(output: Any, *data: bytes) -> Any:
        if "_failed" not in output.name:
            time.sleep(60)
        return original(output, *data)

    with monkeypatch.context() as patched:
        patched.setattr(Replacement, function, hanging)
        error = attempt(parts[1], seconds=LIMIT, retries=1)
    assert isinstance(error, OutputError)
    assert (error.code, error.message) == ("time-limit", "the part was ended after 0.05 s, the limit of --part-timeout")
    assert sorted(path.name for path in Path("out").rglob("*") if path.is_file()) == ["00001.json", "job.json"]
    assert json.loads(Path("out/_failed/00001.json").read_bytes())["attempts"] == 2
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert [part.number for part in unfinished(parts)] == [part.number for part in parts]


def test_a_cleanup_that_hangs_is_ended_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, discard, calls = job(), Replacement.discard, list[float]()
    monkeypatch.setattr(Replacement, "write", slow(Replacement.write, list[float](), 5))
    monkeypatch.setattr(Replacement, "discard", slow(discard, calls, 1))
    error = attempt(parts[0], seconds=LIMIT)
    assert getattr(error, "code", "") == "time-limit"
    assert len(calls) > 2, "other outputs are discarded all the same"


class Dying:
    """Takes long at the end of its life, where Python ignores exceptions."""

    def __del__(self) -> None:
        end = time.monotonic() + 3 * LIMIT
        while time.monotonic() < end:
            pass


def end_after(step: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes a step that is longer than the limit, and then a long one, in which no second alarm comes."""
    monkeypatch.setattr("convcli.parts.limits.CLEANUP", 1000)
    with limited(LIMIT):
        step()
        time.sleep(10)


def test_an_alarm_that_python_ignores_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError, match="was ended"):
        end_after(Dying, monkeypatch)


def test_an_alarm_waits_for_a_module_that_is_being_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(tmp_path, "slow_module.py").write_text(f"import time\ntime.sleep({3 * LIMIT})\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OutputError, match="was ended"):
        end_after(lambda: importlib.import_module("slow_module"), monkeypatch)
    assert sys.modules.pop("slow_module").time is time


@pytest.mark.exhaustive
@pytest.mark.skipif(not workers.can_start(), reason="processes cannot be started here")
@pytest.mark.parametrize("more", [[], ["-j", "2"]])
def test_the_report_has_the_reason(folder: Path, more: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    rows = ({"messages": [{"role": "user", "content": f"{row} " * 20}]} for row in range(3000))
    Path("in/big.jsonl.part").write_text("\n".join(map(json.dumps, rows)))
    os.rename("in/big.jsonl.part", "in/big.jsonl")
    words = ["convert", "in", "--from", OTHER, "--to", "anthropic", "--engine", "local", "--out-dir", "out"]
    assert main([*words, "--part-timeout", "0.02", "--part-size", "100M", *more]) == 3
    assert "error[time-limit] the part was ended after 0.02 s" in capfd.readouterr().err
    report = json.loads(Path("out/_report.json").read_bytes())
    assert report["missing"] == [0]
    assert report["by_part"][0]["reason"].startswith("time-limit: the part was ended after 0.02 s")
    assert sorted(path.name for path in Path("out").rglob("*") if path.is_file()) == [
        "00000.json", "_report.json", "job.json"
    ]  # fmt: skip
    assert main([*words, "--part-timeout", "100", "--part-size", "100M", *more]) == 0
    assert Path("out/_SUCCESS").exists()


def test_a_limit_is_for_a_job_in_parts(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "in/a.jsonl", "--to", "anthropic", "--part-timeout", "3"]) == 2
    assert "--part-timeout is for a job with --engine or --part" in capfd.readouterr().err


@pytest.mark.parametrize("limit", ["0", "nan", "inf"])
def test_a_limit_is_a_time(folder: Path, limit: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--to", "anthropic", "--engine", "local", "--out-dir", "out"]
    assert main(["convert", "in/a.jsonl", *words, "--part-timeout", limit]) == 2
    assert "--part-timeout" in capfd.readouterr().err
