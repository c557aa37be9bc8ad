"""Progress: a line that is redrawn on a terminal after a second, and a new line every ten seconds elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from convcli.report import progress
from convcli.report.text import cells
from tests.cli_cases import CLEAN, OTHER, OWN, all_of, environment, write

SOON = """
import sys
from convcli.jobs import inputs
from convcli.report import progress
inputs.WORTH = 1
progress.FIRST, progress.EVERY, progress.EVERY_LINE = 0.1, 0.02, 0.1
from convcli.__main__ import main
sys.exit(main())
"""


def on_a_terminal(*words: object, program: tuple[str, ...] = ("-m", "convcli"), **more: str) -> str:
    """What the program writes to a terminal."""
    mine, its = pty.openpty()
    call = [sys.executable, *program, *map(str, words)]
    with subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=its, env=environment(**{"TERM": "xterm", **more})):
        os.close(its)
        said = all_of(mine)
    return said.decode()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes longer than the line waits in these tests, of which two processes do a part each."""
    path = tmp_path_factory.mktemp("large") / "a.jsonl"
    document = {"messages": [*CLEAN["messages"] * 20]}
    return write(path, *[document] * 6_000)


@pytest.mark.exhaustive
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_long_conversion_says_how_far_it_is_and_takes_the_line_away(large: Path, jobs: int) -> None:
    said = on_a_terminal(
        "convert", large, "--to", OWN, "--from", OTHER, "-o", os.devnull, "-j", jobs, program=("-c", SOON)
    )
    drawn = [int(word) for word in re.findall(r"(\d+)%", said)]
    assert drawn == sorted(drawn)
    assert len(set(drawn)) > 2
    assert f"of {progress.size(large.stat().st_size)}" in said
    last = said.replace("\r\n", "\n").rsplit("\x1b[K", 1)[1]
    assert last.startswith("convert: 6,000 transcripts")


@pytest.mark.exhaustive
@pytest.mark.parametrize("jobs", [1, 2])
def test_so_does_a_long_validation(large: Path, jobs: int) -> None:
    said = on_a_terminal("validate", large, "--dialect", OTHER, "-j", jobs, program=("-c", SOON))
    assert len(set(re.findall(r"(\d+)%", said))) > 2
    assert said.replace("\r\n", "\n").rsplit("\x1b[K", 1)[1].startswith("6,000 transcripts")


def test_what_takes_less_than_a_second_or_no_terminal_shows_nothing(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CLEAN)
    assert "%" not in on_a_terminal("convert", source, "--to", OWN, "--from", OTHER)


def of_a_pipe(*words: object, program: str = SOON) -> list[str]:
    """The lines on stderr where that is a pipe."""
    call = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(call, capture_output=True, env=environment(), check=True).stderr.decode().splitlines()


LINE = r" *\d+%  [\d.]+ \w+ of [\d.]+ \w+  [\d.]+ \w+/s(  \d+:\d\d left)?"


@pytest.mark.exhaustive
def test_a_pipe_and_a_dumb_terminal_get_a_new_line_each_time(large: Path) -> None:
    words = ("convert", large, "--to", OWN, "--from", OTHER, "-o", os.devnull)
    *lines, last = of_a_pipe(*words)
    assert [bool(re.fullmatch(LINE, line)) for line in lines] == [True] * len(lines) != []
    assert last.startswith("convert: 6,000 transcripts")
    shown = on_a_terminal(*words, program=("-c", SOON), TERM="dumb")
    assert re.fullmatch(LINE, shown.splitlines()[0])
    assert "\x1b" not in shown


@pytest.mark.exhaustive
def test_a_pipe_gets_no_line_before_ten_seconds_and_none_with_quiet(large: Path) -> None:
    words = ("convert", large, "--to", OWN, "--from", OTHER, "-o", os.devnull)
    assert of_a_pipe(*words, "-q") == []
    assert progress.EVERY_LINE == 10.0


@pytest.mark.parametrize("done", [0, 1, 10**9, 5 * 10**12])
@pytest.mark.parametrize("seconds", [0.0, 1.0, 10.0**6])
def test_the_line_fits_80_columns(done: int, seconds: float) -> None:
    total = 5 * 10**12
    assert cells(f"{progress.bar(done, total)} {progress.line(done, total, seconds)}") < 80


def test_sizes_have_three_digits_at_most() -> None:
    sizes = {0: "0 bytes", 999: "999 bytes", 1_000: "1.0 kB", 9_960: "10 kB", 999_600: "1.0 MB", 12 * 10**12: "12 TB"}
    assert {number: progress.size(number) for number in sizes} == sizes


@pytest.mark.parametrize(("total", "is_shown"), [(progress.SMALLEST - 1, False), (progress.SMALLEST, True)])
def test_a_small_job_shows_no_line_however_slow_the_machine_is(
    total: int, is_shown: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "EVERY_LINE", 0.01)
    with progress.Progress(total):
        time.sleep(0.1)
    assert bool(capfd.readouterr().err) == is_shown
