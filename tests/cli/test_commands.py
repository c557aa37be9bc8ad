"""What all commands share: help with examples that work, options in groups, and options whose value may be left out."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from convcli.cli._commands import group
from tests import tiers
from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, ROOT, environment, run, write

PACKAGE = ROOT / "convcli" / "cli"
NAMES = sorted(path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_"))
COMMON = ("--to", "--from", "--output", "--output-format", "--tools", "--as", "--summary")
RARE = ("--duplicate-keys", "--debug", "--color", "--chunk", "--keep-going", "--exit-zero")


def examples(*words: str) -> str:
    text = run(*words, "-h").stdout.decode()
    section = text.partition("Examples:\n")[2].partition("\n\n")[0]
    return "".join(f"{line[2:]}\n" for line in section.splitlines() if line.strip())


ENDLESS = (("serve",),)
"""Commands that somebody has to end."""


def ended(lines: str) -> str:
    """Each command ended, as by Ctrl-C, when it has run a while: it must not have ended before."""
    commands = (line.partition(" #")[0] for line in lines.splitlines())
    return "".join(f"timeout -s INT 3 {command} || test $? = 124\n" for command in commands)


@pytest.mark.parametrize(
    "words", tiers.few([(), *((name,) for name in NAMES)], 5), ids=lambda words: words[0] if words else "convcli"
)
def test_every_example_of_a_help_works_as_it_stands(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    folders = (".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions", ".claude/projects")
    for folder in (*folders, "bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "samples" / "claude-code" / "twin-weather.jsonl", tmp_path / ".claude" / "projects")
    program = tmp_path / "bin" / "convcli"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m convcli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    home = environment(HOME=str(tmp_path), PROFILE=str(tmp_path / "profile"))
    lines = ended(examples(*words)) if words in ENDLESS else examples(*words)
    script = f'PATH="{tmp_path / "bin"}:$PATH"\n{lines}'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=home, capture_output=True, text=True, check=False
    )
    assert script.count("convcli ") > 1
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


def groups(name: str) -> dict[str, list[str]]:
    """The options of a command by the titles above them."""
    by_title: dict[str, list[str]] = {}
    for line in run(name, "-h", env=environment(COLUMNS="80")).stdout.decode().partition("\nUsage:")[2].splitlines():
        if line.endswith(":") and not line.startswith(" "):
            title = line[:-1]
        elif line.startswith("  -"):
            by_title.setdefault(title, []).append(
                next(word for word in line.replace(",", "").split() if word[:2] == "--")
            )
    return by_title


@pytest.mark.parametrize("name", NAMES)
def test_options_stand_in_groups_each_once_and_the_common_ones_first(name: str) -> None:
    of_command = groups(name)
    first, last = next(iter(of_command)), list(of_command)[-1]
    every = [option for options in of_command.values() for option in options]
    assert len(every) == len(set(every))
    assert (last, every[-1]) == ("Work", "--help")
    assert set(COMMON) & set(every) <= set(of_command.get("Options", ()))
    assert not set(RARE) & set(of_command.get("Options", ()))
    assert first == "Options" or set(every) == {"--color", "--debug", "--help"}


def test_an_optional_value_is_the_next_word_only_where_that_is_a_value_and_no_file(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", {**LOSSY, "messages": LOSSY["messages"][:1]})  # loses an id
    for words in (["content", source], ["--", source], [source], ["context", source], ["any", source]):
        done = run("convert", "--to", OTHER, "--fail-on-loss", *words)
        assert done.returncode == (0 if words[0] == "content" else 1), done.stderr
        assert b"several-inputs" not in done.stderr
    write(tmp_path / "content", CLEAN)
    done = run("convert", "--to", OTHER, "--fail-on-loss", "content", cwd=tmp_path)
    assert (done.returncode, done.stderr.count(b"nothing lost")) == (0, 1)


def test_short_names_of_options_are_the_long_ones(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CLEAN)
    long = run("convert", source, "--from", OTHER, "--to", OWN)
    assert long.returncode == 0
    assert run("convert", source, "-f", OTHER, "-t", OWN).stdout == long.stdout
    assert run("losses", "-f", OTHER, "-t", OWN).stdout == run("losses", "--from", OTHER, "--to", OWN).stdout
    assert run("-V").stdout == run("--version").stdout != b""


@pytest.mark.parametrize("name", NAMES)
def test_no_path_is_judged_before_it_is_opened(name: str) -> None:
    """What is wrong with a file is told by our errors, which name the file on a line of its own."""
    command = group.get_command(click.Context(group), name)
    assert command is not None
    paths = [param.type for param in command.params if isinstance(param.type, click.Path)]
    assert not any(path.exists or path.readable or path.writable for path in paths)


def test_verbose_says_last_how_many_files_and_bytes_were_read_and_how_fast(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        write(tmp_path / name, CLEAN)
    for words in (("validate",), ("stats",), ("inspect",), ("convert", "--to", OWN, "--out-dir", tmp_path / "out")):
        line = run(*words, tmp_path / "a.json", tmp_path / "b.json", "-v").stderr.decode().splitlines()[-1]
        assert re.fullmatch(r"2 files, \d+ bytes in \d+\.\d s, [\d.]+ (bytes|kB|MB)/s", line), line
        assert b" files, " not in run(*words, tmp_path / "a.json", "--force" if len(words) > 1 else "--isolated").stderr
