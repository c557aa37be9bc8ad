"""Every example of a help page runs as it stands in an empty folder; so does `convcli samples`.

`CONVCLI_PROGRAM=PATH` tests an installed program, as `.ci/run` does with the wheel, instead of this checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from convcli.cli.samples import SAMPLES
from tests import tiers
from tests.cli_cases import ROOT, environment, run

PROGRAM = os.environ.get("CONVCLI_PROGRAM", "")
COMMANDS = sorted(path.stem for path in (ROOT / "convcli" / "cli").glob("[a-z]*.py"))
ENDLESS = ("serve",)
"""Commands that run until they are interrupted."""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user with the program on the path and sessions in the home folder, and nothing else."""
    home = tmp_path_factory.mktemp("home")
    sessions = home / ".claude" / "projects" / "-home-mira-shop"
    sessions.mkdir(parents=True)
    for name in ("example.jsonl", "twin-weather.jsonl"):
        shutil.copy(ROOT / "samples" / "claude-code" / name, sessions)
    programs = home / "bin"
    programs.mkdir()
    if PROGRAM:
        (programs / "convcli").symlink_to(PROGRAM)
    else:
        program = programs / "convcli"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m convcli "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    own = environment(HOME=str(home), PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    return {name: value for name, value in own.items() if name != "PYTHONPATH" or not PROGRAM}


def in_shell(script: str, folder: Path, user: dict[str, str]) -> subprocess.CompletedProcess[str]:
    words = ["bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(words, cwd=folder, env=user, capture_output=True, text=True, check=False)


def interrupted(line: str) -> str:
    """The command interrupted after a while, which fails if it ended before."""
    return f"timeout -s INT 3 {line.partition(' #')[0]} || test $? = 124"


REDACTING = ("redact", "share")
"""Commands that need an optional package."""


@pytest.mark.parametrize("name", tiers.few(["", *COMMANDS], 3), ids=lambda name: name or "convcli")
def test_every_example_of_a_help_runs_as_it_stands_in_an_empty_folder(
    name: str, tmp_path: Path, user: dict[str, str]
) -> None:
    if name in REDACTING:
        pytest.importorskip("phonenumbers")
    shown = in_shell(f"convcli {name} -h", tmp_path, user).stdout
    section = shown.partition("Examples:\n")[2].partition("\n\n")[0]
    examples = [line.strip() for line in section.splitlines()]
    assert examples
    assert all("convcli" in line and "samples/" not in line for line in examples)
    script = "\n".join(map(interrupted, examples) if name in ENDLESS else examples)
    done = in_shell(script, tmp_path, user)
    assert (done.returncode, "error[" in done.stderr, "Traceback" in done.stderr) == (0, False, False), done.stderr


def test_the_examples_of_the_overview_print_no_warning(tmp_path: Path, user: dict[str, str]) -> None:
    script = "convcli samples session -o s.jsonl; convcli inspect s.jsonl; convcli convert s.jsonl --to hf-chat"
    done = in_shell(script, tmp_path, user)
    assert done.returncode == 0
    assert "warning" not in done.stderr


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_printed_or_written(name: str, tmp_path: Path, user: dict[str, str]) -> None:
    data = (ROOT / "samples" / SAMPLES[name].path).read_text("utf-8")
    assert in_shell(f"convcli samples {name}", tmp_path, user).stdout == data
    assert in_shell(f"convcli samples {name} -o sample", tmp_path, user).returncode == 0
    assert (tmp_path / "sample").read_text("utf-8") == data
    again = in_shell(f"convcli samples {name} -o sample", tmp_path, user)
    assert (again.returncode, "output-exists" in again.stderr) == (2, True)


def test_samples_are_listed_with_what_they_are() -> None:
    lines = run("samples").stdout.decode().splitlines()[1:]
    assert [line.split("\t") for line in lines] == [[name, sample.about] for name, sample in SAMPLES.items()]
    assert b'did you mean "session"?' in run("samples", "sesion").stderr
    assert run("samples", "-o", "x").returncode == 2


def test_the_wheel_contains_the_samples() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    samples = {source: target for source, target in included.items() if re.match("samples/", source)}
    assert samples == {f"samples/{one.path}": f"convcli/samples/{one.path}" for one in SAMPLES.values()}
