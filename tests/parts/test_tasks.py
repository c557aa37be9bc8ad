"""Tasks of an array job: `--part K/N` in any order, killed and repeated, gives what one process gives; and what
`convcli parts verify` finds in its folder."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from convcli.__main__ import main
from convcli.files.locks import locked
from convcli.files.stores import folder_at
from convcli.model.errors import OutputError
from convcli.parts import Task, attempts, begin, finish, plan, run_part
from convcli.parts.verifying import Verified, verify
from tests import parts_long, tiers
from tests.cli_cases import OTHER, ROOT, run, write

WORDS = ["convert", "in", "--from", OTHER, "--to", "anthropic", "--keep-going", "--losses", "all", "--part-size", "900"]
TASK = Task("convert", OTHER, "anthropic", keep_going=True, losses="all")
TASKS = 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with inputs of many parts; some lines are not accepted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(attempts, "PAUSE", 0)
    Path("in").mkdir()
    for name in "abc":
        rows = (json.dumps({"messages": [{"role": "user", "name": "ada", "content": f"{row}"}]}) for row in range(60))
        Path("in", f"{name}.jsonl").write_text(
            "\n".join("{" if row % 17 == 3 else text for row, text in enumerate(rows))
        )
    return tmp_path


def contents(out: str) -> dict[str, bytes]:
    """The outputs of a job; not its marks and report, which have times."""
    return {str(path.relative_to(out)): path.read_bytes() for path in Path(out).rglob("part-*.jsonl")}


def share(task: int, out: str = "out") -> int:
    return main([*WORDS, "--out-dir", out, "--part", f"{task}/{TASKS}"])


def whole(out: str) -> int:
    return main([*WORDS, "--out-dir", out, "--engine", "local"])


def test_tasks_in_any_order_give_what_one_process_gives(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert whole("one") == 1
    capfd.readouterr()
    for task in random.Random(1).sample(range(1, TASKS + 1), TASKS):
        assert share(task) == 1
        assert f"task {task} of {TASKS}: " in capfd.readouterr().err
        assert not Path("out/_SUCCESS").exists()
    assert whole("out") == 1
    assert "parts were finished before" in capfd.readouterr().err
    assert contents("out") == contents("one")
    one, out = (json.loads(Path(name, "_report.json").read_bytes()) for name in ("one", "out"))
    assert [part["part"] for part in out["by_part"]] == list(range(out["parts"]))
    assert {**one, "by_part": []} == {**out, "by_part": []}
    assert sum(part["bytes"] for part in out["by_part"]) == sum(path.stat().st_size for path in Path("in").iterdir())
    assert share(1) == 1
    assert Path("out/_SUCCESS").exists(), "a task without work leaves the result of the job alone"


@pytest.mark.exhaustive
def test_tasks_that_are_killed_and_repeated_give_what_one_process_gives(folder: Path) -> None:
    assert whole("one") == 1
    luck, waiting = random.Random(7), dict.fromkeys(range(1, TASKS + 1), 3)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = "import convcli.cli._parts as parts, convcli.__main__ as main; parts.LEAST = 1; main.program()"
    while waiting:
        task = luck.choice(list(waiting))
        words = [sys.executable, "-c", script, *WORDS, "--out-dir", "out", "--part", f"{task}/{TASKS}"]
        process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
        waiting[task] -= 1
        if waiting[task]:
            time.sleep(luck.uniform(0.2, 0.8))
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()
        else:
            assert process.wait() == 1
            del waiting[task]
    assert whole("out") == 1
    assert contents("out") == contents("one")
    assert list(verify("out", Verified())) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("parts", "tasks", "killed"), [(40, 20, 0), (120, 40, 10)])
def test_many_tasks_that_die_anywhere_give_what_one_process_gives(
    tmp_path: Path, parts: int, tasks: int, killed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    counts = parts_long.simulate(tmp_path, parts, tasks, killed, seed=3)
    assert counts.parts >= parts
    assert counts.died > 0
    assert counts.killed + counts.ended == killed
    assert parts_long.compare(tmp_path) == []


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "a/b", "1/4/4"])
def test_a_part_has_a_number_of_the_number_of_tasks(folder: Path, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--out-dir", "out", "--part", text]) == 2
    assert "--part needs K/N" in capfd.readouterr().err


def test_one_run_at_a_time_writes_into_a_folder_but_tasks_share_it(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with locked("out", is_shared=True):
        assert share(1) == 1
        assert whole("out") == 2
    assert "error[output-in-use] another run of convcli is writing into this folder" in capfd.readouterr().err
    with locked("out", is_shared=False):
        assert share(2) == 2
    assert share(2) == 1


def job() -> list[object]:
    each = plan(["in"], "out", TASK, size=900)
    begin(each)
    for part in each:
        run_part(part)
    finish(each)
    return list(each)


def changed(data: bytes) -> bytes:
    return data[:-2] + b"?\n"


EDITS: list[tuple[str, Callable[[Path], object], str]] = [
    ("part-00001.jsonl", lambda path: path.write_bytes(changed(path.read_bytes())), "has another content (SHA-256)"),
    ("part-00001.jsonl", lambda path: path.write_bytes(b""), "has 0 bytes instead of"),
    ("_losses/part-00002.jsonl", Path.unlink, "is missing"),
    ("_done/00002.json", Path.unlink, "is missing: the part was not finished"),
    ("_done/00002.json", lambda path: path.write_bytes(b"{"), "is no mark"),
    ("_SUCCESS", Path.unlink, "is missing: the job has not succeeded"),
    ("part-99999.jsonl", Path.touch, "belongs to no finished part"),
]


@pytest.mark.parametrize(
    ("name", "edit", "problem"), tiers.few(EDITS, 3), ids=lambda value: value if isinstance(value, str) else ""
)
def test_verify_finds_each_file_that_is_not_as_it_was_written(
    folder: Path, name: str, edit: Callable[[Path], object], problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    each = job()
    assert main(["parts", "verify", "out"]) == 0
    assert f"{len(each)} parts complete: " in capfd.readouterr().err
    edit(Path("out", name))
    assert main(["parts", "verify", "out"]) == 1
    assert f"error: {name} {problem}" in capfd.readouterr().err


def test_verify_needs_less_memory_than_a_part(folder: Path) -> None:
    """A compressed file is one part, however large it is."""
    Path("in/a.jsonl").write_text(json.dumps({"messages": [{"role": "user", "content": "x" * (8 << 20)}]}))
    parts = plan(["in/a.jsonl"], "out", TASK)
    begin(parts)
    run_part(parts[0])
    finish(parts)
    tracemalloc.start()
    verified = Verified()
    assert list(verify("out", verified)) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20 < verified.bytes


def test_verify_needs_the_report_of_a_job(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["parts", "verify", "in"]) == 2
    assert "error[not-parts]" in capfd.readouterr().err


def test_a_part_is_repeated_if_the_storage_refuses_it_and_the_report_has_the_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    calls: list[int] = []

    def failing(part: object, number: int) -> object:
        if part.number == 1 and (len(calls) < 2 or part.out == "never"):  # type: ignore[attr-defined]
            calls.append(number)
            raise OutputError("cannot-write", "cannot write x: 503 SlowDown")
        return run_part(part, number)  # type: ignore[arg-type]

    monkeypatch.setattr(attempts, "run_part", failing)
    assert main([*WORDS, "--out-dir", "out", "--engine", "local", "--retries", "2"]) == 1
    assert calls == [1, 2]
    report = json.loads(Path("out/_report.json").read_bytes())
    assert [part["attempts"] for part in report["by_part"][:3]] == [1, 3, 1]
    assert main([*WORDS, "--out-dir", "never", "--engine", "local", "--retries", "1"]) == 3
    report = json.loads(Path("never/_report.json").read_bytes())
    reason = {"attempts": 2, "reason": "cannot-write: cannot write x: 503 SlowDown"}
    assert (report["missing"], report["by_part"][1].items() >= reason.items()) == ([1], True)
    assert not Path("never/_SUCCESS").exists()
    monkeypatch.setattr(attempts, "run_part", run_part)
    assert whole("never") == 1
    assert json.loads(Path("never/_report.json").read_bytes())["by_part"][1]["reason"] == ""


def test_a_listing_that_lags_hides_no_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = type(folder_at("out")).sizes

    def lagging(self: object) -> dict[str, int]:
        every: Iterable[tuple[str, int]] = listed(self).items()  # type: ignore[arg-type]
        return {name: size for name, size in every if "0001" not in name}

    monkeypatch.setattr(type(folder_at("out")), "sizes", lagging)
    assert whole("out") == 1
    assert Path("out/_SUCCESS").exists()


def test_parts_that_nobody_finds_are_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(type(folder_at("out")), "sizes", lambda _: {})
    monkeypatch.setattr(type(folder_at("out")), "size", lambda *_: None)
    assert whole("out") == 3
    assert "error[parts-missing]" in capfd.readouterr().err
    assert not Path("out/_SUCCESS").exists()


@pytest.mark.parametrize(("allowed", "code"), [("2", 0), ("1", 1), ("50%", 0), ("49%", 1)])
def test_so_much_may_be_unreadable_in_all_parts_together(tmp_path: Path, allowed: str, code: int) -> None:
    good = {"messages": [{"role": "user", "content": "x"}]}
    one, two = (write(tmp_path / name, good, {"messages": 3}) for name in ("a.jsonl", "b.jsonl"))
    words = ("--from", "openai-chat", "--to", "gemini", "--out-dir", tmp_path / "out", "--engine", "local")
    done = run("convert", one, two, *words, "--allow-bad", allowed)
    assert done.returncode == code, done.stderr
    assert (tmp_path / "out" / "_SUCCESS").exists()
    assert sum(len(part.read_bytes().splitlines()) for part in (tmp_path / "out").glob("part-*.jsonl")) == 2


def test_a_task_cannot_count_what_others_could_not_read(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", {"messages": []})
    words = ("--to", "gemini", "--out-dir", tmp_path / "out", "--part", "1/2", "--allow-bad", "3")
    done = run("convert", source, *words)
    assert done.returncode == 2
    assert b"--part and --allow-bad exclude each other" in done.stderr


def test_what_a_killed_process_left_is_named_and_removed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    job()
    names = [f"out/.part-00001.jsonl.{'0' * 16}.tmp", f"out/_done/.00001.json.{'1' * 16}.tmp", "out/.other.tmp"]
    for name in names:
        Path(name).touch()
    assert main(["parts", "verify", "out"]) == 0
    told = capfd.readouterr().err
    assert "warning: part-00001.jsonl has an unfinished copy of a killed process; the next run removes it" in told
    assert "warning: _done/00001.json has an unfinished copy" in told
    assert share(1) == 1, "a task leaves alone what others may be writing"
    assert all(map(os.path.exists, names))
    assert whole("out") == 1
    assert [os.path.exists(name) for name in names] == [False, False, True]
