"""The completion scripts, each in its own shell: words after words that were typed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import get_completion_class

from tests.cli_cases import ROOT, environment, run

BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=()
compopt() { echo "<$2>"; }
_convcli_completion convcli
printf '%s\\n' "${COMPREPLY[@]}"
"""
CASES = [
    (["conv"], ["convert"]),
    (["convert", "x", "--to", "anthropic-"], ["anthropic-batch", "anthropic-stream"]),
    (["convert", "x", "--bra"], ["--branch"]),
    (["convert", "x", "--to", "gemini", "--branch", "ac"], ["active"]),
    (["explain", "missing-tool-r"], ["missing-tool-result"]),
    (["inspect", "x", "--output-format", "js"], ["json", "jsonl"]),
    (["inspect", "x", "--columns", "tim"], ["time"]),
    (["inspect", "x", "--where", "stat"], ["status="]),
    (["completion", "f"], ["fish"]),
    (["schema", "los"], ["loss"]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scripts, and with the program as a shell would find it."""
    folder = tmp_path_factory.mktemp("shells")
    program = folder / "convcli"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m convcli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    for shell in filter(get_completion_class, ("bash", "zsh", "fish", "powershell")):  # PowerShell since click 8.5
        done = run("completion", shell)
        assert (done.returncode, done.stderr) == (0, b"")
        (folder / f"script.{shell}").write_bytes(done.stdout)
    return folder


def shell(folder: Path, *words: str) -> list[str]:
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words, capture_output=True, text=True, env=environment(PATH=path), cwd=ROOT, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(("typed", "offered"), CASES, ids=lambda words: " ".join(words))
def test_bash_completes(folder: Path, typed: list[str], offered: list[str]) -> None:
    assert shell(folder, "bash", "-c", BASH, "bash", str(folder / "script.bash"), "convcli", *typed) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("typed", [["inspect", "sam"], ["convert", "x", "-o", "sam"], ["losses", "sam"]], ids=str)
def test_bash_is_asked_for_files_where_files_are_meant(folder: Path, typed: list[str]) -> None:
    assert shell(folder, "bash", "-c", BASH, "bash", str(folder / "script.bash"), "convcli", *typed) == ["<default>"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize(("typed", "offered"), CASES, ids=lambda words: " ".join(words))
def test_fish_completes(folder: Path, typed: list[str], offered: list[str]) -> None:
    line = f'source "{folder}/script.fish"; complete -C "convcli {" ".join(typed)}" | cut -f 1'
    assert shell(folder, "fish", "--no-config", "-c", line) == offered


@pytest.mark.parametrize(("name", "check"), [("zsh", "-n"), ("bash", "-n")])
def test_a_script_is_one_that_its_shell_reads(folder: Path, name: str, check: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    assert shell(folder, name, check, str(folder / f"script.{name}")) == []


@pytest.mark.skipif(get_completion_class("powershell") is None, reason="click 8.5 is needed")
def test_the_script_for_powershell_registers_a_completer(folder: Path) -> None:
    assert "Register-ArgumentCompleter" in (folder / "script.powershell").read_text("utf-8")
