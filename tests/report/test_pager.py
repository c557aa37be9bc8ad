"""A pager gets what a terminal would get, and nobody else does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli_cases import CLEAN, command, environment, on_terminal, run, write

MARKING = "import sys; sys.stdout.write('paged:' + sys.stdin.read())"
LEAVING = "import sys; sys.stdin.buffer.read(10); sys.stdin.close()"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "a.json", {**CLEAN, "messages": CLEAN["messages"] * 2_000})


def paged(source: Path, program: str, *words: str) -> tuple[int, str]:
    pager = f'{sys.executable} -c "{program}"'
    return on_terminal(command("inspect", source, *words), 80, environment(TERM="xterm", PAGER=pager, NO_COLOR="1"))


def test_a_terminal_is_shown_rows_and_heading_by_its_pager(source: Path) -> None:
    code, shown = paged(source, MARKING)
    assert (code, shown.count("paged:"), shown.count("hello")) == (0, 1, 2_000)
    assert "a.json" in shown.partition("paged:")[2]


def test_without_a_terminal_or_by_wish_there_is_no_pager(source: Path) -> None:
    assert "paged:" not in paged(source, MARKING, "--no-pager")[1]
    done = run("inspect", source, env=environment(TERM="xterm", PAGER="false"))
    assert (done.returncode, done.stdout.count(b"hello")) == (0, 2_000)


def test_to_close_a_pager_early_is_no_error(source: Path) -> None:
    code, shown = paged(source, LEAVING)
    assert (code, "Traceback" in shown) == (0, False)


def test_a_pager_that_is_not_there_stops_nothing(source: Path) -> None:
    words = command("inspect", source)
    code, shown = on_terminal(words, 80, environment(TERM="xterm", PAGER="no-such-program", NO_COLOR="1"))
    assert (code, shown.count("hello")) == (0, 2_000)
