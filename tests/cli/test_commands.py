"""What all commands share: options in groups, options with optional values, `--quiet` and `--verbose`."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from convcli.cli._click import group
from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, ROOT, WRONG, environment, run, write

PACKAGE = ROOT / "convcli" / "cli"
NAMES = sorted(path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_"))
COMMON = ("--to", "--from", "--output", "--output-format", "--tools", "--as", "--summary")
RARE = ("--duplicate-keys", "--debug", "--color", "--chunk", "--keep-going", "--exit-zero")


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
    assert (last, every[-1]) == ("General", "--help")
    assert set(COMMON) & set(every) <= set(of_command.get("Options", ()))
    assert not set(RARE) & set(of_command.get("Options", ()))
    assert first == "Options" or set(every) == {"--quiet", "--color", "--debug", "--help"}


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


def test_options_of_arguments_and_null_stand_only_where_a_conversion_is_written() -> None:
    for name in NAMES:
        shown = {option for options in groups(name).values() for option in options}
        assert {"--duplicate-keys", "--nulls"} & shown == (
            {"--duplicate-keys", "--nulls"} if name == "convert" else set()
        )


def test_duplicate_keys_and_nulls_are_accepted_where_files_are_read(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", '{"messages": [], "messages": [{"role": "user", "content": "hi"}]}')
    assert run("inspect", source, "--duplicate-keys", "last", "--nulls", "keep").returncode == 0
    assert run("inspect", source).returncode == 1


def test_quiet_leaves_results_and_errors(tmp_path: Path) -> None:
    lossy, wrong = write(tmp_path / "a.json", LOSSY), write(tmp_path / "b.json", WRONG)
    quiet, usual = (run("convert", lossy, "--to", OTHER, *more) for more in (["-q"], []))
    assert (quiet.stdout, quiet.stderr) == (usual.stdout, b"")
    assert usual.stderr != b""
    refused = run("convert", wrong, "--to", OWN, "--from", OTHER, "--quiet")
    assert (refused.returncode, refused.stderr.count(b"error["), b"convert:" in refused.stderr) == (1, 1, False)
    failed = run("convert", lossy, "--to", OTHER, "--fail-on-loss=content", "-q")
    assert (failed.returncode, [b": content: " in line for line in failed.stderr.splitlines()]) == (1, [True])
    judged = run("validate", wrong, "--from", OTHER, "-q")
    assert (judged.returncode, b"error[" in judged.stdout, judged.stderr) == (1, True, b"")
    assert b"no-such-file" in run("inspect", tmp_path / "none.json", "-q").stderr
