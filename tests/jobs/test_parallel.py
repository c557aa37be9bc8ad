"""Law L7: several processes give what one gives, byte by byte, and leave nothing behind."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convcli import dialects
from convcli.__main__ import main
from convcli.files.layouts import row_layouts
from convcli.jobs import inputs, workers
from convcli.model.errors import RefusedError
from convcli.model.findings import Finding
from convcli.proof.reasons import MISSING, Loss
from tests import tiers
from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, ROOT, WRONG, command_in_processes, environment, write

pytestmark = pytest.mark.skipif(not workers.can_start(), reason="processes cannot be started here")

NAMED = {"messages": [{"role": "user", "name": "half \ud800", "content": "東京"}]}
LINES = {
    "clean": json.dumps(CLEAN),
    "lossy": json.dumps(NAMED),
    "no such role": json.dumps(WRONG),
    "not JSON": '{"messages": [',
    "of another dialect": json.dumps(LOSSY),
    "a key twice": '{"messages": [], "messages": []}',
    "blank": "  ",
    "CRLF": json.dumps(CLEAN) + "\r",
    "a mark in the middle": "\ufeff" + json.dumps(CLEAN),
}
ENDS = {"newline": "\n", "none": "", "torn": "\n" + json.dumps(CLEAN)[:-9], "zeros": "\n\0\0\0", "blank": "\n\n \n"}
WAYS = [
    ["--set", "max_tokens=9", "--set", "metadata.user_id=x"],
    [],
    ["--keep-going"],
    ["--fail-on-loss"],
    ["--fail-on-loss=content", "--keep-going"],
    ["--restore-file", "restore"],
]
MORE_WAYS = [["--losses", "losses"], ["--fail-on-loss"], ["--keep-going"], ["--restore-file", "restore"]]


@pytest.fixture(autouse=True)
def files_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is worth several processes, and a range ends within a line or two."""
    monkeypatch.setattr(inputs, "WORTH", 1)
    monkeypatch.setattr(inputs, "RANGE", 100)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Calls the program in a folder of its own; gives its exit code, what it printed, and the files that it left."""

    def call(folder: Path, *words: object) -> tuple[int, str, str, dict[str, bytes]]:
        folder.mkdir()
        monkeypatch.chdir(folder)
        code = main([str(word) for word in words])
        printed = capfd.readouterr()
        left = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return code, printed.out, printed.err, left

    return call


numbers = iter(range(10**9))


@settings(tiers.examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.sampled_from(list(LINES)), min_size=1, max_size=12),
    end=st.sampled_from(list(ENDS)),
    way=st.sampled_from(WAYS),
    processes=st.integers(2, 3),
)
def test_a_file_in_ranges_is_converted_as_by_one_process(
    tmp_path: Path, called: Callable[..., Any], names: list[str], end: str, way: list[str], processes: int
) -> None:
    folder = tmp_path / str(next(numbers))
    folder.mkdir()
    source = folder / "in.jsonl"
    lines = [json.dumps(CLEAN), *(LINES[name] for name in names)]
    source.write_bytes(("\n".join(lines) + ENDS[end]).encode("utf-8", "surrogatepass"))
    words = ["convert", source, "--to", "anthropic", "-o", "out", "--losses", "losses", *way]
    alone = called(folder / "alone", *words)
    assert called(folder / "together", *words, "-j", processes) == alone


@pytest.mark.parametrize("form", tiers.few(["jsonl", "full", "junit"], 1))
def test_a_file_in_ranges_is_judged_as_by_one_process(tmp_path: Path, called: Callable[..., Any], form: str) -> None:
    source = write(tmp_path / "in.jsonl", *LINES.values(), *LINES.values(), end=ENDS["torn"])
    words = ["validate", source, "--from", OTHER, "--output-format", form]
    alone, together = called(tmp_path / "alone", *words), called(tmp_path / "together", *words, "-j", "3")
    assert alone[0] == 1
    assert without_times(together) == without_times(alone)


def without_times(done: Any) -> str:
    """What was printed, except the seconds that JUnit reports for each case."""
    return re.sub(r'time="[0-9.]+"', "", repr(done))


def test_standard_output_gets_the_ranges_in_order(tmp_path: Path, called: Callable[..., Any]) -> None:
    source = write(tmp_path / "in.jsonl", *({"messages": [{"role": "user", "content": f"{n}"}]} for n in range(50)))
    alone = called(tmp_path / "alone", "convert", source, "--to", OWN)
    assert alone[1].count("\n") == 50
    assert called(tmp_path / "together", "convert", source, "--to", OWN, "-j", "4") == alone


WRITTEN_AS_ROWS = [one.name for one in dialects.builtin() if one.is_written and row_layouts(one.framings)]


@pytest.mark.parametrize("name", WRITTEN_AS_ROWS)
def test_a_target_that_holds_one_transcript_is_refused_as_by_one_process(
    tmp_path: Path, called: Callable[..., Any], name: str
) -> None:
    source = write(tmp_path / "in.jsonl", CLEAN, CLEAN)
    words = ["convert", source, "--from", OTHER, "--to", name, "-o", "out"]
    alone = called(tmp_path / "alone", *words)
    assert "one-transcript-only" in alone[2]
    assert called(tmp_path / "together", *words, "-j", "2") == alone


def many(folder: Path) -> Path:
    """A tree of good and bad files, two of which claim the same output."""
    (folder / "deep").mkdir(parents=True)
    for number in range(9):
        write(folder / f"{number}.json", [CLEAN, NAMED, WRONG][number % 3])
        write(folder / "deep" / f"{number}.jsonl", CLEAN, NAMED, CLEAN)
    write(folder / "5.jsonl", CLEAN, LINES["not JSON"], CLEAN)
    write(folder / "a.json", CLEAN)
    write(folder / "a.json.gz", "not packed")
    write(folder / "empty.json", "")
    return folder


@pytest.mark.parametrize("way", tiers.few(MORE_WAYS, 1), ids=str)
def test_many_files_are_converted_as_by_one_process(tmp_path: Path, called: Callable[..., Any], way: list[str]) -> None:
    source = many(tmp_path / "in")
    words = ["convert", source, "--from", OTHER, "--to", "anthropic", "--out-dir", "out", *way]
    alone = called(tmp_path / "alone", *words)
    assert len(alone[3]) > 3
    assert called(tmp_path / "together", *words, "-j", "3") == alone


def test_many_files_are_judged_as_by_one_process(tmp_path: Path, called: Callable[..., Any]) -> None:
    source = many(tmp_path / "in")
    alone = called(tmp_path / "alone", "validate", source, source / "missing.json", "--from", OTHER)
    assert alone[0] == 2
    words = ["validate", source, source / "missing.json", "--from", OTHER, "-j", "0"]
    assert called(tmp_path / "together", *words) == alone


def test_more_files_than_may_be_done_before_their_turn(
    tmp_path: Path, called: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "AHEAD", 1)
    for number in range(20):
        write(tmp_path / f"{number}.json", NAMED)
    alone = called(tmp_path / "alone", "validate", *sorted(tmp_path.glob("*.json")), "--output-format", "jsonl")
    words = ["validate", *sorted(tmp_path.glob("*.json")), "--output-format", "jsonl", "-j", "3"]
    assert called(tmp_path / "together", *words) == alone


def test_what_only_this_process_has_open_is_read_here(tmp_path: Path) -> None:
    """Pipes and descriptors mean nothing, or something else, in another process."""
    long = {"messages": [{"role": "user", "content": "x" * 10_000}]}
    sources = [write(tmp_path / f"{number}.jsonl", *[long] * 600) for number in range(2)]
    script = 'exec "$@" <"$0" 3<"$0" 4< <(cat "$0")'
    words = ["validate", "-", "/dev/fd/3", "/dev/fd/4", *sources, "--from", OTHER, "--output-format", "jsonl"]
    done = [
        subprocess.run(
            ["bash", "-c", script, str(sources[0]), *command_in_processes(*words, "-j", processes)],
            capture_output=True,
            env=environment(),
            check=False,
        )
        for processes in (1, 2)
    ]
    assert [one.returncode for one in done] == [0, 0]
    assert b"3,000 transcripts" in done[0].stderr
    assert (done[0].stdout, done[0].stderr) == (done[1].stdout, done[1].stderr)


def test_no_module_is_taken_from_the_working_directory(
    tmp_path: Path, called: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "in.jsonl", *[CLEAN] * 9)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("multiprocessing", "selectors", "struct", "tempfile", "convcli"):
        (folder / f"{name}.py").write_text("open('owned', 'w')")
    monkeypatch.chdir(folder)
    assert main(["convert", str(source), "--to", OWN, "-o", "out", "-j", "2"]) == 0
    assert not (folder / "owned").exists()
    assert "PYTHONSAFEPATH" not in os.environ


def test_where_no_process_can_be_started_one_does_it_all_and_says_so(
    tmp_path: Path, called: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "can_start", lambda: False)
    source = write(tmp_path / "a.json", CLEAN)
    code, _, reported, left = called(tmp_path / "out", "convert", source, "--to", OWN, "-o", "b.json", "-j", "2")
    assert code == 0
    assert reported.startswith("note: this system cannot start other processes; one does all the work")
    assert list(left) == ["b.json"]


def test_what_is_soon_done_is_done_by_one_process(
    tmp_path: Path, called: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "WORTH", 1 << 20)
    monkeypatch.setattr(workers, "can_start", lambda: pytest.fail("processes were wanted"))
    source = many(tmp_path / "in")
    assert called(tmp_path / "out", "validate", source, "--from", OTHER, "-j", "2")[0] == 1


# --- faults ----------------------------------------------------------------------------------------------------------


FAULTY = """
from convcli.engine import pipeline
lift = pipeline.lift

def faulty(document, *more):
    if document == {document!r}:
        {fault}
    return lift(document, *more)

pipeline.lift = faulty
"""


@pytest.fixture
def fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives every process that is started from now on a fault, which shows when it converts `NAMED`."""

    def give(statement: str) -> None:
        folder = tmp_path / "modules"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(FAULTY.format(document=NAMED, fault=statement))
        monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{ROOT}")

    return give


def test_a_killed_process_is_reported_and_nothing_is_written(
    tmp_path: Path, called: Callable[..., Any], fault: Callable[[str], None]
) -> None:
    source = write(tmp_path / "in.jsonl", *[CLEAN] * 20, NAMED)
    fault("import os; os.kill(os.getpid(), 9)")
    words = ["convert", source, "--to", "anthropic", "-o", "out", "--losses", "losses", "-j", "3"]
    code, _, reported, left = called(tmp_path / "folder", *words)
    assert code == 3
    assert reported.startswith("error[worker-died] a worker process was killed by signal 9\n")
    assert "out" not in left


def test_a_bug_in_another_process_is_a_bug_of_ours_and_debug_shows_where(
    tmp_path: Path, called: Callable[..., Any], fault: Callable[[str], None]
) -> None:
    source = write(tmp_path / "in.jsonl", *[CLEAN] * 20, NAMED)
    fault("raise KeyError('secret')")
    words = ["convert", source, "--to", "anthropic", "-o", "out", "-j", "3"]
    code, _, reported, left = called(tmp_path / "folder", *words)
    assert (code, left) == (70, {})
    assert reported.startswith("error[bug] ")
    assert "secret" not in reported
    assert "KeyError" in called(tmp_path / "again", *words, "--debug")[2]


def test_memory_that_runs_out_in_another_process_is_reported_as_in_this_one(
    tmp_path: Path, called: Callable[..., Any], fault: Callable[[str], None]
) -> None:
    sources = [write(tmp_path / "a.json", CLEAN), write(tmp_path / "b.json", NAMED)]
    fault("raise MemoryError")
    code, _, reported, left = called(tmp_path / "out", "convert", *sources, "--to", OWN, "--out-dir", ".", "-j", "2")
    assert code == 3
    assert "error[out-of-memory]" in reported
    assert list(left) == ["a.json"]


LOSS = Loss("invented", "/a", "name", "context", "why", MISSING, {"x": [10**40, "\ud800"]})
FINDING = Finding("a-code", "error", "m", "/x", "f", notes=("a", "b"))


def telling(task: str, emit: workers.Emit) -> Any:
    emit(LOSS)
    emit(FINDING)
    error = RefusedError([FINDING])
    error.file = task
    raise error


def test_what_is_reported_and_raised_survives_the_way_to_the_other_process() -> None:
    with workers.all_done(telling, ["f"], 1) as all_done:
        (done,) = all_done
        reported = list(done.emitted())
        assert reported == [LOSS, FINDING]
        assert reported[0].before is MISSING
        with pytest.raises(RefusedError) as caught:
            done.value()
    assert (caught.value.findings, caught.value.file, caught.value.message) == ([FINDING], "f", "m")


def deaf(task: int, emit: workers.Emit) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, workers.STOPPING)
    return task


@pytest.mark.exhaustive
def test_workers_end_when_no_signal_can_wake_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that comes just before a process waits for its next task does not end the waiting either."""

    def fail(number: int, frame: object) -> None:
        raise AssertionError("the workers have not ended")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(20)
    try:
        with workers.all_done(deaf, range(3), 3) as all_done:
            assert [done.value() for done in all_done] == [0, 1, 2]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def much(task: int, emit: workers.Emit) -> bytes:
    for _ in range(200):
        emit(bytes(10_000))
    return bytes(2_000_000)


@pytest.mark.exhaustive
def test_memory_does_not_grow_with_the_number_of_tasks() -> None:
    tracemalloc.start()
    with workers.all_done(much, iter(range(60)), 2) as all_done:
        for done in all_done:
            assert sum(map(len, done.emitted())) == len(done.value()) == 2_000_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    under_way = 2 * workers.AHEAD + 2  # tasks, of the 60: those given out, the one being read and its value
    assert peak < under_way * 2_000_000


# --- the processes ---------------------------------------------------------------------------------------------------


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file that takes two processes some seconds."""
    messages = [{"role": "user", "name": "n", "content": "x" * 40}] * 40
    line = json.dumps({**CLEAN, "messages": messages}) + "\n"
    source = tmp_path / "in.jsonl"
    source.write_text(line * (72_000_000 // len(line)))
    return source


@pytest.fixture
def process(large: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The program with two workers that have begun to write."""
    (tmp_path / "out").mkdir()
    words = command_in_processes(
        "convert", large, "--from", OTHER, "--to", "anthropic", "-o", tmp_path / "out" / "a", "-j", "2"
    )
    more: Any = {"stderr": subprocess.PIPE, "env": environment(), "start_new_session": True}
    with subprocess.Popen(words, **more) as started:
        while len(at_work(started)) < 2:
            assert started.poll() is None
            time.sleep(0.02)
        time.sleep(0.6)
        yield started


def at_work(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes that work for the program; another one watches what they share."""
    try:
        text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except OSError:
        pytest.skip("there is no list of child processes")
    return [int(word) for word in text.split() if b"spawn_main" in Path(f"/proc/{word}/cmdline").read_bytes()]


def has_gone(group: int) -> bool:
    """Has every process of a group ended, after a moment for those whose parent was killed?"""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


SIGNALS = [*product((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), ("the program", "one of its workers", "all"))]


@pytest.mark.parametrize(("number", "to"), tiers.few(SIGNALS))
def test_after_a_signal_no_process_and_no_file_is_left(
    process: subprocess.Popen[bytes], tmp_path: Path, number: signal.Signals, to: str
) -> None:
    if to == "all":
        os.killpg(process.pid, number)
    else:
        os.kill(process.pid if to == "the program" else at_work(process)[0], number)
    assert process.stderr is not None
    assert process.stderr.read() == b"stopped; nothing was written\n"
    assert process.wait(20) == -number
    assert has_gone(process.pid)
    assert os.listdir(tmp_path / "out") == []


def both_at_once(task: int, emit: workers.Emit) -> None:
    """Two signals come before Python can look at the first, as when a terminal and the program stop a worker."""
    signal.pthread_sigmask(signal.SIG_BLOCK, workers.STOPPING)
    for number in signal.SIGINT, signal.SIGTERM:
        signal.pthread_kill(threading.get_ident(), number)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, workers.STOPPING)
    finally:
        os.kill(os.getpid(), 0)  # here Python looks at the second


def test_two_signals_at_once_end_a_worker_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), workers.all_done(both_at_once, iter([1]), 1) as all_done:
        next(all_done)
    assert capfd.readouterr().err == ""


def brief(task: int, emit: workers.Emit) -> None:
    time.sleep(0.3)


@pytest.mark.parametrize("killed", [0, 1])
def test_a_worker_that_is_killed_at_the_end_keeps_no_other_waiting(killed: int) -> None:
    """One of the two idle workers has the lock of the queue, and the other waits for it."""
    with workers.all_done(brief, iter(range(2)), 2) as all_done:
        assert [done.value() for done in all_done] == [None, None]
        pids = [process.pid or 0 for process in multiprocessing.active_children()]
        assert len(pids) == 2
        time.sleep(0.3)  # until both are idle
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)

        def end() -> None:
            time.sleep(0.3)
            os.kill(pids[killed], signal.SIGKILL)
            os.kill(pids[1 - killed], signal.SIGCONT)

        threading.Thread(target=end).start()
    assert multiprocessing.active_children() == []


def test_workers_end_when_the_program_is_killed(process: subprocess.Popen[bytes], tmp_path: Path) -> None:
    process.kill()
    process.wait()
    assert has_gone(process.pid)
    assert os.listdir(tmp_path / "out") == []


def test_a_worker_that_cannot_write_is_exit_3(large: Path, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))

    (tmp_path / "out").mkdir()
    words = command_in_processes("convert", large, "--to", "anthropic", "-o", tmp_path / "out" / "a", "-j", "2")
    done = subprocess.run(words, capture_output=True, env=environment(), preexec_fn=limit, check=False)
    assert done.returncode == 3
    assert f"cannot write {tmp_path}/out/a: File too large".encode() in done.stderr
    assert os.listdir(tmp_path / "out") == []
