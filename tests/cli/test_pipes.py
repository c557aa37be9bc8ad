"""Pipes: read where they are an input, and never waited for where an option names them or nobody does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli_cases import CLEAN, command, environment, run, write

OPTIONS = (
    ("convert", "a.json", "--to", "anthropic", "--set", "system=@pipe"),
    ("redact", "a.json", "--allow", "pipe", "--check"),
    ("redact", "a.json", "--mask", "@pipe", "--check"),
    ("stats", "a.json", "--prices", "pipe"),
    ("validate", "a.json", "--baseline", "pipe"),
    ("verify", "pipe"),
)
"""Commands with an option whose file is a pipe."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "a.json", CLEAN)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize("words", OPTIONS, ids=lambda words: words[0] + words[-2])
def test_an_option_refuses_a_pipe_that_no_program_writes_to(folder: Path, words: tuple[str, ...]) -> None:
    done = run(*words, cwd=folder)
    assert (done.returncode, b"no program writes to this pipe" in done.stderr) == (2, True)


def test_a_pipe_is_an_input_and_a_note_says_that_convcli_waits(folder: Path) -> None:
    words = command("convert", "pipe", "a.json", "--to", "openai-chat", "-o", "out.jsonl")
    job = subprocess.Popen(words, cwd=folder, env=environment(), stderr=subprocess.PIPE)
    with open(folder / "pipe", "wb") as pipe:
        pipe.write((folder / "a.json").read_bytes())
    reported = job.communicate(timeout=60)[1]
    assert (job.returncode, b"note: pipe is a pipe: convcli waits" in reported) == (0, True)
    first, second = (folder / "out.jsonl").read_bytes().splitlines()
    assert first == second


@pytest.mark.parametrize("words", [["--dedupe=prefix"], ["--sample", "1"]])
def test_what_reads_inputs_twice_refuses_a_pipe(folder: Path, words: list[str]) -> None:
    done = run("convert", "pipe", "--to", "openai-chat", *words, cwd=folder)
    assert (done.returncode, b"a pipe can be read only once" in done.stderr) == (2, True)


def test_a_pipe_next_to_the_inputs_is_not_read_for_a_card(folder: Path) -> None:
    (folder / "data").mkdir()
    write(folder / "data" / "a.json", CLEAN)
    os.mkfifo(folder / "data" / "README.md")
    done = run("convert", "data", "--to", "hf-chat", "-o", "set/", "--card", "--receipt", "receipt.json", cwd=folder)
    assert done.returncode == 0
    assert (folder / "set" / "README.md").is_file()
