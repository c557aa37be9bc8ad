"""The README shows what the program prints. `CONVCLI_UPDATE_README=1` writes it anew."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
READMES = [path for path in (ROOT / "README.md", ROOT / "README.ja.md") if path.exists()]


def run(command: str) -> str:
    """What the command prints, on both streams, from the root of the project."""
    program, *words = shlex.split(command)
    assert program == "convcli"
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "convcli", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def played(block: str) -> str:
    """A console block with what its commands print now."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{run(command)}" for command in commands)


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_the_readme_shows_what_the_program_prints(readme: Path) -> None:
    text = readme.read_text("utf-8")
    now = BLOCK.sub(lambda match: f"```console\n{played(match.group(1))}```\n", text)
    if os.environ.get("CONVCLI_UPDATE_README"):
        readme.write_text(now, "utf-8")
    assert readme.read_text("utf-8") == now


def test_the_library_example_of_the_readme_works() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, "README.md", "exec"), {})
