"""Nothing from a file can act on a terminal, in no format of any command, and no surroundings stop a report."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.model import codes
from convcli.report import choice, formats, tables
from tests import tiers
from tests.cli_cases import command, environment, on_terminal, run, write

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\u200b\u2028\U000e0041\ud83d\r\b\x7f[red]x[/red]=1+1 <b>|`日本 👩‍👩‍👧"
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
PAINT = re.compile(r"\x1b\[[0-9;]*[mK]|\r")
"""What we send to a terminal ourselves: colours, and the line that shows progress."""
WORD = EVIL.replace("\ud83d", "\udcff")
"""The same as the system gives words of the command line that are not UTF-8."""

CALL = {"id": EVIL, "type": "function", "function": {"name": EVIL, "arguments": json.dumps({EVIL: EVIL})}}
GOOD: dict[str, Any] = {
    "model": EVIL,
    EVIL: EVIL,
    "messages": [
        {"role": "user", "content": EVIL, "name": EVIL, EVIL: 1},
        {"role": "assistant", "content": EVIL, "refusal": EVIL, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": EVIL, "content": EVIL},
    ],
    "tools": [{"type": "function", "function": {"name": EVIL, "description": EVIL, "parameters": {EVIL: EVIL}}}],
    "tool_choice": {"type": "function", "function": {"name": EVIL + "2"}},
}
BAD: dict[str, Any] = {
    **GOOD,
    "messages": [{"role": EVIL, "content": {EVIL: EVIL}}, {"role": "tool", "tool_call_id": EVIL, "content": EVIL}],
}
BROKEN = '{"messages": [{"' + "\u202e" * 3 + '": "\x1b[2J'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of hostile files with hostile names."""
    monkeypatch.chdir(tmp_path)
    name = "\x1b[2J\u202e[red]\n"
    (tmp_path / f"{name}good.json").write_text(json.dumps(GOOD), "utf-8")
    (tmp_path / f"{name}bad.json").write_text(json.dumps(BAD), "utf-8")
    (tmp_path / f"{name}broken.json").write_text(BROKEN, "utf-8")
    (tmp_path / f"{name}rows.jsonl").write_text(f"{json.dumps(GOOD)}\n{json.dumps(BAD)}\n{BROKEN}", "utf-8")
    (tmp_path / os.fsdecode(b"\xff\x9b.json")).write_text(json.dumps(GOOD), "utf-8")
    return tmp_path


def commands() -> list[list[str]]:
    """Every command that says something about files, in every format."""
    reported = ["--from", "openai-chat"]
    found = [["validate", *reported, "--output-format", name] for name in choice.names(formats)]
    found += [["validate", *reported, "--as", "anthropic", "--strict", "--statistics"], ["detect"], ["stats"]]
    for name in choice.names(tables):
        found += [
            ["inspect", *reported, "--output-format", name],
            ["inspect", *reported, "--tools", "--output-format", name],
        ]
        found += [["losses", *reported, "--to", "anthropic", "--output-format", name]]
    found += [["inspect", "--summary", "--no-trunc"], ["convert", *reported, "--to", "gemini", "--out-dir", "out"]]
    found += [["convert", *reported, "--to", "openclaw", "--out-dir", "out2", "--fail-on-loss"]]
    return found


def tamed(text: str) -> str:
    """What in a text could act on a terminal; tabs and ends of lines are ours."""
    return "".join(UNSAFE.findall(text))


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_nothing_from_a_file_reaches_a_terminal_as_it_is(
    folder: Path, words: list[str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for file in sorted(os.listdir(folder)):
        main([*words, file])
        said = capfdbinary.readouterr()
        assert tamed(said.out.decode()) == ""
        assert tamed(said.err.decode()) == ""
        assert b"Traceback" not in said.err
        assert b"error[bug]" not in said.err


@pytest.mark.parametrize(
    "words",
    [
        ["--to", WORD],
        ["--from", WORD],
        ["--" + WORD],
        ["-o", f"{WORD}/x"],
        ["--form", WORD],
        ["--duplicate-keys", WORD],
    ],
    ids=["to", "from", "option", "output", "form", "keys"],
)
def test_nothing_from_the_command_line_does_either(
    folder: Path, words: list[str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for name in ("convert", "validate", WORD):
        assert main([name, WORD, *words]) == 2
        said = capfdbinary.readouterr()
        assert tamed(said.out.decode() + said.err.decode()) == ""


SURROUNDINGS = [
    {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"COLUMNS": "1", "LINES": "1"},
    {"TERM": "", "LANG": "", "HOME": "", "PATH": ""},
]


@pytest.mark.parametrize("surroundings", tiers.few(SURROUNDINGS), ids=lambda surroundings: next(iter(surroundings)))
def test_no_locale_and_no_width_stop_a_report(folder: Path, surroundings: dict[str, str]) -> None:
    good = next(name for name in os.listdir(folder) if name.endswith("good.json"))
    for words in (["inspect"], ["validate"], ["convert", "--to", "anthropic"], ["losses", "--to", "gemini"], ["-h"]):
        done = run(*words, *([] if words == ["-h"] else [good]), cwd=folder, env=environment(**surroundings))
        assert done.returncode in (0, 1), done.stderr
        assert b"Traceback" not in done.stderr
        assert done.stdout


@pytest.mark.parametrize(
    ("columns", "more"),
    tiers.few([(7, {"LC_ALL": "C", "PYTHONUTF8": "0"}), (40, {"PYTHONIOENCODING": "ascii"}), (1, {}), (80, {})]),
)
def test_on_a_terminal_of_any_width_and_encoding_only_colours_are_sequences(
    folder: Path, columns: int, more: dict[str, str]
) -> None:
    good = next(name for name in os.listdir(folder) if name.endswith("good.json"))
    inspected = ["inspect", "--message", "1"]
    for words in (
        ["inspect"],
        inspected,
        [*inspected, "--output-format", "json"],
        ["validate", "--output-format", "table"],
        ["losses", "--to", "anthropic"],
    ):
        code, said = on_terminal(command(*words, good), columns, environment(TERM="xterm", **more))
        assert code in (0, 1), said
        assert "Traceback" not in said
        assert tamed(PAINT.sub("", said)) == ""


REPORTS = [
    ["validate", "--output-format", "json"],
    ["inspect"],
    ["stats"],
    ["losses", "--to", "anthropic"],
    ["detect"],
    ["convert", "--to", "anthropic"],
]


@pytest.mark.parametrize("words", tiers.few(REPORTS), ids=lambda words: words[0])
def test_a_full_disk_and_a_closed_stream_are_reported_and_give_their_exit_codes(folder: Path, words: list[str]) -> None:
    good = next(name for name in os.listdir(folder) if name.endswith("good.json"))
    line = command(*words, good)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
        assert done.returncode == 3
        assert b"No space left on device" in done.stderr
        silent = subprocess.run(line, stdout=subprocess.PIPE, stderr=full, env=environment(), check=False)
        assert silent.returncode in (0, 1)
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *line], capture_output=True, env=environment(), check=False
    )
    assert closed.returncode == 3
    assert b"Traceback" not in closed.stderr
    mute = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *line], capture_output=True, env=environment(), check=False
    )
    assert (mute.returncode, mute.stdout) == (silent.returncode, silent.stdout)


def test_what_is_explained_is_safe_too(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for code in codes.table():
        main(["explain", code])
    assert tamed(capfdbinary.readouterr().out.decode()) == ""


def test_a_long_session_is_shown_from_its_beginning_before_the_rest_is_read(tmp_path: Path) -> None:
    """Each row once, but for a call that only the rest shows to be open."""
    filler = "x" * 20_000
    rows: list[Any] = [{"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}]
    for number in range(700):
        content: list[Any] = [{"type": "text", "text": f"number {number}. {filler}"}]
        if number == 5:
            content.append({"type": "toolCall", "id": "c", "name": "f", "arguments": {}})
        message = {"role": "assistant" if number % 2 else "user", "content": content}
        rows.append({"type": "message", "id": f"m{number}", "parentId": f"m{number - 1}" if number else None,
                     "timestamp": "2026-01-01T00:00:00.000Z", "message": message})  # fmt: skip
    path = write(tmp_path / "s.jsonl", *rows)
    assert path.stat().st_size > 8 << 20
    code, reported = on_terminal(command("inspect", path), 100, environment(TERM="xterm"))
    numbers = [int(number) for number in re.findall(r"number (\d+)\. ", reported)]
    assert code == 0
    assert numbers == list(range(700))
    assert reported.index("number 20.") < reported.index("700 messages") < reported.index("number 699.")
    assert [line.split()[0] for line in reported.splitlines() if " call " in line] == ["5", "5"]
