"""The configuration is in force for every command that it concerns, and convcli config shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import tiers
from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, run, write

TWICE = '{"convcli": 1, "convcli": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}]}'
READERS = [
    ("convert", "--to", OTHER), ("inspect",), ("stats",), ("losses", "--to", OTHER), ("detect",), ("validate",),
    ("diff", "data/a.json"),
]  # fmt: skip
PLAIN = {"messages": [{"role": "user", "content": "hi"}]}


def project(folder: Path, text: str) -> None:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "convcli.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("words", tiers.few(READERS), ids=lambda words: words[0])
def test_every_command_reads_files_in_the_dialect_that_the_configuration_names(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    project(tmp_path, f'[dialects]\n"data/*" = "{OWN}"\n')
    write(tmp_path / "data" / "a.json", PLAIN)  # no transcript of that dialect, so reading it so is seen
    done = run(*words, "data/a.json", cwd=tmp_path)
    if words == ("detect",):
        assert b"intermediate\tconvcli.toml names it" in done.stdout
    else:
        assert (done.returncode, b"[missing-key]" in done.stdout + done.stderr) == (1, True)
    assert run(*words, "data/a.json", "--isolated", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("words", tiers.few(READERS), ids=lambda words: words[0])
def test_every_command_takes_equal_keys_as_the_configuration_says_unless_an_option_does(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    project(tmp_path, 'duplicate-keys = "last"\n')
    write(tmp_path / "data" / "a.json", TWICE)
    assert run(*words, "data/a.json", cwd=tmp_path).returncode == 0
    assert run(*words, "data/a.json", "--duplicate-keys", "error", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("words", tiers.few(READERS[:-1]), ids=lambda words: words[0])
def test_every_command_leaves_out_what_is_excluded_by_file_or_option(tmp_path: Path, words: tuple[str, ...]) -> None:
    project(tmp_path, 'exclude = ["old"]\n')
    for name in ("data", "data/old", "data/new"):
        (tmp_path / name).mkdir(exist_ok=True)
        write(tmp_path / name / "a.json", LOSSY if name == "data" else '{"broken": ')
    more = ("--out-dir", "out", "--force") if words[0] == "convert" else ()
    assert run(*words, "data", *more, cwd=tmp_path).returncode == 1
    assert run(*words, "data", *more, "--exclude", "new", "--exclude", "nothing", cwd=tmp_path).returncode == 0


def test_warnings_that_the_project_ignores_are_shown_by_no_command(tmp_path: Path) -> None:
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {}}
    more = {"role": "user", "parts": [{"type": "text", "text": "Go on."}]}
    project(tmp_path, "")
    write(tmp_path / "data" / "a.json", {"convcli": 1, "messages": [{"role": "assistant", "parts": [call]}, more]})
    for words in (("convert", "--to", OTHER), ("losses", "--to", OTHER)):
        assert b"missing-tool-result" in run(*words, "data/a.json", cwd=tmp_path).stderr
    for text in ('ignore = ["missing-tool-result"]', '[[ignore-at]]\nfile = "data/*"\nwhere = "/messages/0"'):
        project(tmp_path, text)
        for words in (("convert", "--to", OTHER), ("losses", "--to", OTHER), ("validate",)):
            done = run(*words, "data/a.json", cwd=tmp_path)
            assert (done.returncode, b"missing-tool-result" in done.stdout + done.stderr) == (0, False)


def test_config_shows_what_is_in_force_and_where_it_comes_from(tmp_path: Path) -> None:
    project(tmp_path, 'strict = true\n[dialects]\n"x" = "y"\n')
    rows = {row["key"]: row for row in json.loads(run("config", "--output-format", "json", cwd=tmp_path).stdout)}
    assert (rows["strict"]["value"], rows["strict"]["from"]) == (True, "convcli.toml")
    assert rows["dialects"]["value"] == {"x": "y"}
    assert (rows["ignore"]["value"], rows["ignore"]["from"]) == ([], "default")
    assert b'dialects\t{"x": "y"}\tconvcli.toml' in run("config", cwd=tmp_path).stdout.replace(b'":"', b'": "')


def test_config_says_when_there_is_no_configuration(tmp_path: Path) -> None:
    done = run("config", cwd=tmp_path)
    assert (done.returncode, done.stderr.startswith(b"note: no convcli.toml")) == (0, True)


def test_a_wrong_configuration_is_an_error_of_every_command_that_reads_and_of_config(tmp_path: Path) -> None:
    project(tmp_path, "strct = true\n")
    write(tmp_path / "data" / "a.json", CLEAN)
    for words in (("config",), ("inspect", "data/a.json"), ("convert", "data/a.json", "--to", OWN)):
        done = run(*words, cwd=tmp_path)
        assert (done.returncode, b'did you mean "strict"?' in done.stderr) == (2, True)


def test_stats_tells_costs_where_the_configuration_has_prices(tmp_path: Path) -> None:
    usage = {"inputTokens": 1_000_000, "outputTokens": 500_000}
    answers = [{"role": "assistant", "parts": [], "model": model, "usage": usage} for model in ("m-1", "m-2", "x")]
    project(tmp_path, '[prices]\n"m-*" = { input = 2, output = 4.0 }\n')
    write(tmp_path / "data" / "a.json", {"convcli": 1, "messages": answers})
    done = run("stats", "data/a.json", "--output-format", "json", cwd=tmp_path)
    costs = {row["name"]: row["cost"] for row in json.loads(done.stdout) if row["what"] == "costs"}
    assert costs == {"m-1": 4, "m-2": 4}
    notes = b"note: $8.00 in all; costs are estimates by list prices\nnote: there is no price for 1 answer of x\n"
    assert done.stderr == notes
    assert b"costs" not in run("stats", "data/a.json", "--isolated", cwd=tmp_path).stdout
    assert b"prices" in run("config", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ('"m" = 3', b'"m" must be a table with input, output'),
        ('"m" = { inptu = 3 }', b'did you mean "input"?'),
        ('"m" = { input = "3" }', b"input must be a number"),
        ('"m" = { input = -3 }', b"input must be a number"),
        ('"m" = { input = true }', b"input must be a number"),
        ('"m" = { input = nan }', b"input must be a number"),
    ],
)
def test_prices_that_are_none_are_refused(tmp_path: Path, text: str, reported: bytes) -> None:
    project(tmp_path, f"[prices]\n{text}\n")
    done = run("config", cwd=tmp_path)
    assert (done.returncode, reported in done.stderr) == (2, True)
