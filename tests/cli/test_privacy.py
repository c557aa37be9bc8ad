"""What is written is as private as what was read, replaces nothing else, and cannot command a terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli_cases import CLEAN, OTHER, WRONG, command, environment, on_terminal, run, write

FORMS: dict[str, list[str]] = {
    "parts": ["convert", "{in}", "--to", OTHER, "--engine", "local", "-j", "1", "--out-dir", "{out}"],
    "pages": ["inspect", "{in}", "--output-format", "html", "--out-dir", "{out}"],
    "tree": ["convert", "{in}", "--to", OTHER, "--out-dir", "{out}"],
    "session": ["resume", "{in}", "--in", "codex", "--home", "{out}", "--cwd", "/"],
    "baseline": ["validate", "{in}", "--baseline", "{out}/baseline.json", "--write-baseline"],
}


@pytest.mark.parametrize("name", FORMS)
def test_every_output_of_a_private_file_is_private(tmp_path: Path, name: str) -> None:
    source, out = write(tmp_path / "a.jsonl", CLEAN), tmp_path / "out"
    out.mkdir()
    source.chmod(0o600)
    done = run(*(word.replace("{in}", str(source)).replace("{out}", str(out)) for word in FORMS[name]))
    written = [path for path in out.rglob("*") if path.is_file()]
    assert (done.returncode, bool(written)) == (0, True), done.stderr
    assert {path.name: path.stat().st_mode & 0o077 for path in written} == {path.name: 0 for path in written}


SAME: dict[str, list[str]] = {
    "output and restore file": ["-o", "x.json", "--restore-file", "./x.json"],
    "output and losses": ["-o", "x.json", "--losses", "link.json"],
    "losses and restore file": ["-o", "y.json", "--losses", "x.json", "--restore-file", "x.json"],
    "standard output": ["--restore-file", "/dev/stdout"],
}


@pytest.mark.parametrize("name", SAME)
def test_two_outputs_of_one_name_are_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    write(tmp_path / "a.json", CLEAN)
    (tmp_path / "link.json").symlink_to("x.json")
    done = run("convert", "a.json", "--to", "gemini", *SAME[name], "--force", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"name the same file" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["a.json", "link.json"]


def test_losses_and_restore_records_may_both_be_dropped(tmp_path: Path) -> None:
    write(tmp_path / "a.json", CLEAN)
    words = ["--losses", os.devnull, "--restore-file", os.devnull]
    assert run("convert", "a.json", "--to", "gemini", *words, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("content", ["print(1)\n", "{}", "[" * 100_000, "[]"])
def test_a_baseline_replaces_no_other_file(tmp_path: Path, content: str) -> None:
    script, _ = tmp_path / "script.py", write(tmp_path / "a.json", WRONG)
    script.write_text(content, "utf-8")
    words: list[Any] = ["validate", "a.json", "--baseline", "script.py", "--write-baseline"]
    done = run(*words, cwd=tmp_path)
    assert (done.returncode, script.read_text("utf-8")) == (2, content)
    assert b"not-a-baseline" in done.stderr
    assert run(*words, "--force", cwd=tmp_path).returncode == 0
    assert run(*words, cwd=tmp_path).returncode == 0
    assert json.loads(script.read_bytes())["findings"]


def test_outputs_below_the_folder_of_inputs_are_not_inputs_of_the_next_run(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "a.jsonl", CLEAN)
    for _ in range(3):
        assert run("convert", "in", "--to", OTHER, "--out-dir", "in/out", "--force", cwd=tmp_path).returncode == 0
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.jsonl")] == ["in/a.jsonl", "in/out/a.jsonl"]
    assert run("convert", "in/out/a.jsonl", "--to", "gemini", "--out-dir", "in/out", cwd=tmp_path).returncode == 2
    done = run("convert", "in/out/a.jsonl", "--to", "gemini", "--out-dir", "in/out/again", cwd=tmp_path)
    assert done.returncode == 0


UNSAFE = "\u009b31m \x85 \x7f \u202e \u200b \U000e0041 東"


def test_json_on_a_terminal_has_no_raw_control_characters_and_the_same_value(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", {"messages": [{"role": "user", "content": UNSAFE * 900}]})
    words = ["convert", source, "--to", "anthropic", "--set", "max_tokens=1", "--set", "model=claude-x", "-q"]
    code, text = on_terminal(command(*words), 80, environment(PYTHONUTF8="1"))
    assert code == 0
    assert not set(text) & set(UNSAFE) - set(" 31m東")
    assert json.loads(text)["messages"][0]["content"] == UNSAFE * 900
    assert UNSAFE in run(*words).stdout.decode()


def test_a_configuration_that_is_a_pipe_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "a.json", CLEAN)
    os.mkfifo(tmp_path / "convcli.toml")
    done = run("validate", "a.json", cwd=tmp_path)
    assert (done.returncode, b"not a regular file" in done.stderr) == (2, True)
