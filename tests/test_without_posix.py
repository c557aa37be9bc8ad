"""The program where the system has nothing of POSIX: a simulation of Windows, on which it was not run."""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli_cases import CLEAN, ROOT, command, environment, on_terminal, run, write
from tests.files.test_databases import GOOSE

SHIM = ROOT / "tests" / "without_posix"
LONG = {"messages": [{"role": "user", "content": "line\n" * 2_000_000}]}
"""A document whose output does not fit into the memory that outputs may take."""


def run_without(*words: object, cwd: Path, before: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    surroundings = environment(PYTHONPATH=f"{SHIM}:{ROOT}")
    return subprocess.run(command(*words), capture_output=True, input=before, env=surroundings, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write(folder / "a.json", CLEAN)
    return folder


def test_the_simulation_lacks_what_it_should(tmp_path: Path) -> None:
    code = "import os, signal; hasattr(os, 'pread') or hasattr(signal, 'SIGHUP') or is_without_posix and print('it is')"
    words = [command()[0], "-c", code]
    done = subprocess.run(words, capture_output=True, env=environment(PYTHONPATH=str(SHIM)), check=True)
    assert done.stdout == b"it is\n"


JOBS: dict[str, list[Any]] = {
    "help": ["--help"],
    "convert": ["convert", "a.json", "--to", "anthropic"],
    "validate": ["validate", "a.json"],
    "inspect": ["inspect", "a.json"],
}
MORE_JOBS: dict[str, list[Any]] = {
    "help of a command": ["convert", "--help"],
    "convert standard input": ["convert", "-", "--to", "anthropic"],
    "validate a pattern of names": ["validate", "a*.json"],
    "inspect as JSON": ["inspect", "a.json", "--output-format", "json"],
    "detect": ["detect", "a.json"],
}


def same_as_elsewhere(words: list[Any], folder: Path) -> bytes:
    """Returns all output of a job, which is that of the same job with POSIX."""
    before = (folder / "a.json").read_bytes()
    done, elsewhere = run_without(*words, cwd=folder, before=before), run(*words, cwd=folder, input=before)
    assert (done.returncode, done.stdout, done.stderr) == (0, elsewhere.stdout, elsewhere.stderr)
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", JOBS)
def test_a_job_gives_what_it_gives_elsewhere(folder: Path, name: str) -> None:
    assert same_as_elsewhere(JOBS[name], folder)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MORE_JOBS)
def test_more_jobs_give_what_they_give_elsewhere(folder: Path, name: str) -> None:
    assert same_as_elsewhere(MORE_JOBS[name], folder)


@pytest.mark.exhaustive
def test_an_output_that_does_not_fit_into_memory_is_the_same(folder: Path) -> None:
    write(folder / "long.json", LONG)
    assert same_as_elsewhere(["convert", "long.json", "--to", "anthropic"], folder)


def test_outputs_appear_complete_and_replace_nothing_unless_told(folder: Path, tmp_path: Path) -> None:
    words = ["convert", folder / "a.json", "--to", "anthropic", "-o", "out.json", "--losses", "losses.json"]
    done = run_without(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "out.json").read_bytes()
    assert written == run(*words[:4], cwd=tmp_path).stdout
    refused = run_without(*words, cwd=tmp_path)
    assert (refused.returncode, b"[output-exists]" in refused.stderr) == (2, True)
    (tmp_path / "out.json").write_bytes(b"old")
    forced = run_without(*words, "--force", cwd=tmp_path)
    assert (forced.returncode, (tmp_path / "out.json").read_bytes()) == (0, written), forced.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["losses.json", "out.json"]


@pytest.mark.exhaustive
def test_several_outputs_appear(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        write(tmp_path / name, CLEAN)
    done = run_without("convert", "a.json", "b.json", "--to", "anthropic", "--out-dir", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.json", "b.json"]


@pytest.mark.exhaustive
def test_one_process_does_all_the_work(tmp_path: Path) -> None:
    write(tmp_path / "many.jsonl", *[{"messages": [{"role": "user", "content": "x" * (11 << 20)}]}] * 3)
    done = run_without("convert", "many.jsonl", "--to", "anthropic", "-o", "out.jsonl", "-j", "2", cwd=tmp_path)
    assert (done.returncode, b"one does all the work" in done.stderr) == (0, True), done.stderr
    assert (tmp_path / "out.jsonl").read_bytes().count(b"\n") == 3


@pytest.mark.exhaustive
def test_tables_and_databases_are_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist([CLEAN]), tmp_path / "a.parquet")
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.executescript(f"PRAGMA journal_mode = WAL; {GOOSE}")
        for suffix in ("", "-wal"):
            (tmp_path / f"b.db{suffix}").write_bytes((tmp_path / f"a.db{suffix}").read_bytes())
    connection.close()
    for name in ("a.parquet", "a.db", "b.db"):
        done = run_without("inspect", name, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, run("inspect", name, cwd=tmp_path).stdout), done.stderr
        assert done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db", "a.parquet", "b.db", "b.db-wal"]


@pytest.mark.parametrize("name", JOBS)
def test_a_console_without_unicode_shows_escapes(folder: Path, name: str) -> None:
    """A console may have a code page of few characters, without the arrow of the summary."""
    more = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "NO_COLOR": "1", "TERM": "dumb"}
    words = [str(folder / word) if word == "a.json" else word for word in JOBS[name]]
    code, shown = on_terminal(command(*words), 100, environment(PYTHONPATH=f"{SHIM}:{ROOT}", **more))
    assert code == 0, shown
    assert "Traceback" not in shown
    assert (r"openai-chat \u2192 anthropic" in shown) == (name == "convert")


def test_files_and_pipes_get_utf_8_whatever_the_code_page(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"messages": [{"role": "user", "content": "naïve → 日本"}]})
    words = ["convert", "a.json", "--to", "anthropic", "--set", "max_tokens=9", "--set", "model=m"]
    surroundings = environment(PYTHONPATH=f"{SHIM}:{ROOT}", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    done = subprocess.run(command(*words), capture_output=True, env=surroundings, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (0, run(*words, cwd=tmp_path).stdout), done.stderr
    assert "naïve → 日本" in done.stdout.decode()
