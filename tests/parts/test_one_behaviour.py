"""One job in one process and in parts: the same outputs, findings, last lines and exit code.

Each case is a command with its options; the inputs are of several kinds, some of them no transcripts."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from tests import tiers
from tests.cli_cases import CLEAN, LOSSY, ROOT, WRONG

GEMINI = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
CASES = [
    "convert in --to anthropic",
    "convert in --to anthropic --keep-going",
    "convert in --to gemini --keep-going --lenient --set temperature=1 --default max_tokens=5",
    "convert in --to anthropic --allow-bad 9",
    "convert in --to anthropic --allow-bad 1",
    "convert in/rows.jsonl --from openai-chat --to anthropic --keep-going --fail-on-loss",
    "convert in/rows.jsonl --from openai-chat --to anthropic --keep-going --fail-on-loss=content",
    "convert in --to hf-chat --keep-going --columns all --tools recorded --max-turns 2",
    "convert in/log.jsonl --to openai-ft --join",
    "convert in/log.jsonl --to anthropic --no-join --map-model gpt-*=x",
    "convert in --from openai-chat --to anthropic --keep-going --duplicate-keys last",
    "convert broken --to anthropic --keep-going",
    "convert settings --to anthropic",
    "convert none --to anthropic",
    "validate in",
    "validate in --exit-zero",
    "validate in --as anthropic",
    "validate in --strict --select unknown-key",
    "validate in --ignore unknown-value --ignore not-json",
    "validate in/settings.json in/rows.jsonl",
    "validate settings",
    "validate none",
    "stats in",
    "stats in/rows.jsonl --from openai-chat",
    "stats in/claude-code",
    "stats settings",
]
SIZE = 700


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders with rows, some bad, a log, sessions, packed and damaged files; with settings; with a broken session."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("settings").mkdir()
    Path("broken").mkdir()
    session = (ROOT / "samples/claude-code/session-blocks.jsonl").read_text("utf-8").splitlines()
    Path("broken/session.jsonl").write_text("\n".join([*session[:3], "{", *session[3:]]), "utf-8")
    rows = [CLEAN, LOSSY, WRONG, {**CLEAN, "other": 1}]
    lines = [json.dumps(row) for row in rows * 3]
    Path("in/rows.jsonl").write_text("\n".join([*lines[:5], "{", " ", '{"messages": [], "messages": []}', *lines[5:]]))
    turns = [{"role": "assistant" if row % 2 else "user", "content": f"{row}"} for row in range(8)]
    calls = [{"model": "gpt-x", "messages": turns[:end]} for end in range(1, 9, 2)]
    Path("in/log.jsonl").write_text("\n".join(map(json.dumps, calls)) + "\n")
    Path("in/packed.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    Path("in/one.json").write_text(json.dumps(GEMINI))
    Path("in/cut.json").write_text('{"messages": [{"role": "user"')
    for place in ("in", "settings"):
        Path(place, "settings.json").write_text(json.dumps({"theme": "dark"}))
    for name in ("claude-code", "codex"):
        shutil.copytree(ROOT / "samples" / name, Path("in", name), ignore=shutil.ignore_patterns("bad"))
    return tmp_path


def joined(kind: str = "") -> str:
    return "".join(path.read_text("utf-8") for path in sorted(Path("out", kind).glob("part-*.jsonl")))


SUMMARY = re.compile(
    r"convert: |note: joined|[0-9,]+ (errors?|warnings?|infos?|transcripts?|files? skipped)\\b"
    r"|checked after conversion|no findings|set as you asked"
)
"""Lines that report on all inputs."""


def last_lines(told: str) -> list[str]:
    """The lines that report on all inputs, without what says where the losses are listed.

    Without --keep-going, one process writes nothing, and parts write those without refused lines."""
    lines = (
        re.split("; |, nothing written", line)[0] for line in told.splitlines() if " in all with the code " not in line
    )
    return [line for line in lines if SUMMARY.match(line)]


def codes(told: str) -> set[str]:
    """The codes of printed findings; parts print at most a few of each."""
    return set(re.findall(r"^\w+\[[a-z-]+\]", told, re.MULTILINE))


@pytest.mark.parametrize("words", tiers.few(CASES, 4))
def test_a_job_is_the_same_in_one_process_and_in_parts(
    folder: Path, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    command, *more = words.split()
    one: list[str] = {"convert": ["-o", "one.jsonl", "--losses", "losses.json"], "validate": [], "stats": []}[command]
    shown = ["--output-format", "jsonl"] if command == "validate" else []
    code = main([command, *more, *one, *shown])
    printed, told = capfd.readouterr()
    losses: list[str] = ["--losses", "all"] if command == "convert" else []
    in_parts = ["--engine", "local", "--out-dir", "out", "--part-size", str(SIZE), *losses]
    assert main([command, *more, *in_parts]) == code
    printed_in_parts, told_in_parts = capfd.readouterr()
    if command == "stats":
        assert printed_in_parts == printed
    elif command == "validate":
        assert joined() == printed
    elif Path("one.jsonl").exists():
        assert joined() == Path("one.jsonl").read_text("utf-8")
        expected: list[Any] = json.loads(Path("losses.json").read_bytes())
        assert [json.loads(line) for line in joined("_losses").splitlines()] == expected
    if command != "validate":
        assert codes(told_in_parts) == codes(told)
    assert last_lines(told_in_parts) == last_lines(told)
