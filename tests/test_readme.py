"""The README shows what the program prints, and the pages of help describe each key and field.

`CONVCLI_UPDATE_README=1` writes the README anew."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from convcli import dialects
from convcli.jobs import config
from convcli.report import pages
from convcli.validation import schemas
from tests.cli_cases import all_of

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
READMES = [ROOT / "README.md", ROOT / "README.ja.md"]


SESSIONS = {
    "0b5c6f1e": ("twin-weather.jsonl", None),
    "7d41a9c2": ("session-subagent.jsonl", None),
    "e8f03b57": ("session-branches.jsonl", 7),
}
"""Samples that stand for the reader's own sessions, and how many of their lines, by the beginnings of their names."""


def make_home(home: Path) -> None:
    """Puts some sessions where Claude Code keeps those of a user."""
    project = home / ".claude" / "projects" / "-home-ada-app"
    project.mkdir(parents=True)
    for name, (sample, count) in SESSIONS.items():
        lines = (ROOT / "samples" / "claude-code" / sample).read_bytes().splitlines(keepends=True)
        dated = b"".join(lines[:count]).replace(b"1970-01-01", b"2026-02-04")  # twins have no times
        (project / f"{name}.jsonl").write_bytes(dated)


def run(command: str, folder: Path) -> str:
    """Returns what the command prints on a terminal of 80 columns, in a home directory that also has the samples."""
    program, *words = shlex.split(command)
    assert program == "convcli"
    words = [word.removeprefix("~/") for word in words]  # the folder is the home directory
    plain = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80", "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    mine, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "convcli", *words], cwd=folder, env={**os.environ, **plain}, stdout=its, stderr=its
    ):
        os.close(its)
        output = all_of(mine)
    return output.decode().replace("\r\n", "\n")


def played(block: str, folder: Path) -> str:
    """A console block with what its commands print now."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{run(command, folder)}" for command in commands)


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_the_readme_shows_what_the_program_prints(readme: Path, tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    make_home(tmp_path)
    text = readme.read_text("utf-8")
    now = BLOCK.sub(lambda match: f"```console\n{played(match.group(1), tmp_path)}```\n", text)
    if os.environ.get("CONVCLI_UPDATE_README"):
        readme.write_text(now, "utf-8")
    assert readme.read_text("utf-8") == now


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_the_library_example_of_the_readme_works_in_six_lines(readme: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", readme.read_text("utf-8"), re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 6
    exec(compile(code, readme.name, "exec"), {})


def test_both_readmes_have_the_same_commands_tables_and_sections() -> None:
    english, japanese = (readme.read_text("utf-8") for readme in READMES)
    for pattern in (r"(?m)^\$ .*", r"(?m)^## ", r"(?ms)^```(?:sh|yaml)\n.*?^```", r"https?://\S+[\w/]", r"(?m)^- "):
        ours, theirs = re.findall(pattern, english), re.findall(pattern, japanese)
        assert ours == theirs or (pattern.endswith(" ") and len(ours) == len(theirs)), pattern
    assert [row.count("|") for row in english.splitlines() if row.startswith("|")] == [
        row.count("|") for row in japanese.splitlines() if row.startswith("|")
    ]


def test_both_readmes_have_the_same_figures_and_paragraphs() -> None:
    figure = r"\d[\d,]*\.\d+|\d{1,3}(?:,\d{3})+"  # small whole numbers are words in English
    for pattern in (figure, r"(?m)^\*\*"):
        english, japanese = (sorted(re.findall(pattern, readme.read_text("utf-8"))) for readme in READMES)
        assert english == japanese, pattern


FORMATS = ROOT / "convcli" / "pages" / "formats.md"
ROW = re.compile(r"(?m)^\| (`[^|]*`) \| (.*?) \| (.*) \|$")


def rows() -> dict[str, tuple[str, str]]:
    """Returns whether each dialect is read or written, and its description, by name. A stream stands with its API."""
    every = dialects.names()
    streamed = {name for name in every if f"{name}-stream" in every}
    return {
        f"`{name}`, `{name}-stream`" if name in streamed else f"`{name}`": (
            "both" if dialects.get(name).is_written else "read",
            dialects.about(name) + "; and their streams" * (name in streamed),
        )
        for name in every
        if name.removesuffix("-stream") not in streamed or name in streamed
    }


def test_the_page_of_formats_describes_each_dialect_as_the_dialect_does() -> None:
    """`CONVCLI_UPDATE_README=1` corrects the rows, and adds missing ones at the end."""
    text = FORMATS.read_text("utf-8")
    now = rows()
    if os.environ.get("CONVCLI_UPDATE_README"):
        text = ROW.sub(lambda row: f"| {row[1]} | {' | '.join(now[row[1]])} |" if row[1] in now else row[0], text)
        missing = now.keys() - {row[0] for row in ROW.findall(text)}
        text += "".join(f"| {name} | {' | '.join(now[name])} |\n" for name in sorted(missing))
        FORMATS.write_text(text, "utf-8")
    shown = ROW.findall(text)
    assert {name: (reads, about) for name, reads, about in shown} == now
    assert len(shown) == len(now)


def test_the_readme_can_be_read_in_a_few_minutes() -> None:
    english = READMES[0].read_text("utf-8")
    assert english.count("\n") <= 150
    assert len(english.split()) <= 1500


def test_the_first_screen_has_a_command_its_output_and_the_losses_of_content() -> None:
    for readme in READMES:
        first = "\n".join(readme.read_text("utf-8").splitlines()[:30])
        assert "$ convcli inspect ~/.claude/projects" in first
        assert "$ convcli convert ~/.claude/projects" in first
        assert re.search(r"^\d+ loss(es)? of content", first, re.MULTILINE)


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_the_picture_of_a_page_is_there_and_small(readme: Path) -> None:
    (name,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme.read_text("utf-8"))
    picture = (ROOT / name).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 150_000


# ---------------------------------------------------------------- the pages of convcli help


def test_the_hook_of_the_page_on_ci_is_the_hook_of_the_repository() -> None:
    (shown,) = (block for block in re.findall(r"(?s)```yaml\n(.*?)```", pages.page("ci")) if "repo: local" in block)
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    for key in ("id", "name", "entry", "types", "files"):
        lines = [re.findall(rf"(?m)^[ -]*{key}: (.*)$", text) for text in (shown, hook)]
        assert lines[0] == lines[1] != [], key


def test_every_key_of_the_configuration_is_described() -> None:
    described = set(re.findall(r"(?m)^\| `([\w-]+)` \|", pages.page("configuration").partition("## Environment")[0]))
    assert described == set(config.KEYS)


def test_every_field_of_the_intermediate_format_is_described() -> None:
    text = pages.page("intermediate-format")
    schema = schemas.schema("intermediate")
    for definition in [schema, *schema["$defs"].values()]:
        for name in definition.get("properties", {}):
            assert f"`{name}`" in text or f'"{name}"' in text, name
