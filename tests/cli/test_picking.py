"""convcli sessions -i: a person picks a session, and what to do with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from convcli.cli._picking import actions, ask, line
from convcli.cli._picking import run as pick
from convcli.report.screen import Screen
from tests.cli_cases import ROOT, run

SESSION = ROOT / "samples" / "codex" / "twin-weather.jsonl"


def row(**more: Any) -> dict[str, Any]:
    row = {"title": "Fix the cart", "end": None, "program": "codex", "cwd": "/p/shop", "messages": 3}
    return {**row, "file": str(SESSION), "line": None, **more}


@pytest.mark.parametrize(("keys", "picked"), [("shop\r", 2), ("\x1b[B\r", 2), ("\x03", None)])
def test_typing_and_arrows_choose_and_ctrl_c_gives_up(keys: str, picked: int | None) -> None:
    pytest.importorskip("questionary")
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        choices = [("a tale", 1), ("the shop", 2), ("other", 3)]
        assert ask("Which?", choices, input=pipe, output=DummyOutput()) == picked


def test_a_line_has_the_title_first_and_no_control_characters() -> None:
    assert line(row(title="\x1b[31mred")) == "\\x1b[31mred  codex · shop · 3 messages"


def test_the_actions_are_commands_of_convcli_for_this_session(tmp_path: Path) -> None:
    listed = dict(actions(row(line=4), "H"))
    assert listed["resume it in claude-code"] == ["resume", f"{SESSION}:4", "--in", "claude-code", "--home", "H"]
    assert "resume it in codex" not in listed


def test_the_picked_action_is_done(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    answers = iter([row(), ["inspect", str(SESSION)]])
    monkeypatch.setattr("convcli.cli._picking.ask", lambda *_: next(answers))
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    screen = Screen()
    assert pick(screen, [row()], None) == 0
    screen.flush()
    assert f"convcli inspect {SESSION}" in capfd.readouterr().err


def test_without_a_terminal_it_is_refused(tmp_path: Path) -> None:
    done = run("sessions", SESSION.parent, "-i")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"-i needs a terminal" in done.stderr
