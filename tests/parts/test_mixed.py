"""Folders with files in several dialects, and files with records of several: parts give what one process gives."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from tests import tiers
from tests.cli_cases import ROOT

SIZES = tiers.few([4000, 1 << 20], 1)
FEW = ["anthropic", "codex", "gemini", "openai-chat-stream", "sharegpt"]
SAMPLES = sorted((ROOT / "samples").glob("*/[!b]*.*"))
SAMPLES = (
    SAMPLES if tiers.is_exhaustive() else [path for path in SAMPLES if path.parent.name in FEW and "twin" in path.name]
)

ROWS: list[dict[str, Any]] = [{"messages": [{"role": "user", "content": f"{row} " * 60}]} for row in range(40)]
GEMINI: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "other"}]}], "generationConfig": {"topK": 3}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files in several dialects: a long one with a record of another, a log of calls, and samples."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for path in SAMPLES:
        Path("in", path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, Path("in", path.parent.name))
    rows: list[dict[str, Any]] = [*ROWS[:7], GEMINI, *ROWS[7:20], GEMINI, *ROWS[20:]]
    Path("in/a.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    turns = [{"role": "assistant" if row % 2 else "user", "content": f"{row}"} for row in range(16)]
    calls = [{"model": "m", "temperature": 1, "messages": turns[:end]} for end in range(1, 17, 2)]
    Path("in/log.jsonl").write_text("\n".join(map(json.dumps, calls)) + "\n")
    return tmp_path


def joined(kind: str = "") -> bytes:
    """What the parts have written, one after the other."""
    return b"".join(path.read_bytes() for path in sorted(Path("out", kind).glob("part-*.jsonl")))


def report() -> Any:
    return json.loads(Path("out/_report.json").read_bytes())


def parts(size: int) -> list[str]:
    return ["--out-dir", "out", "--engine", "local", "--part-size", str(size)]


@pytest.mark.parametrize("size", SIZES)
def test_each_file_is_converted_in_its_own_dialect(folder: Path, size: int, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["convert", "in", "--to", "intermediate", "--keep-going"]
    assert main([*words, "-o", "one.jsonl", "--losses", "losses.json"]) == 1
    one = capfd.readouterr().err
    assert main([*words, *parts(size), "--losses", "all"]) == 1
    several = capfd.readouterr().err
    assert joined() == Path("one.jsonl").read_bytes()
    losses = json.loads(Path("losses.json").read_bytes())
    assert [json.loads(line) for line in joined("_losses").splitlines()] == losses
    refused = [json.loads(line) for line in joined("_findings").splitlines()]
    others = [each["line"] for each in refused if each["code"] == "other-dialect" and each["file"] == "in/a.jsonl"]
    assert others == [8, 22]
    assert one.count("error[other-dialect]") == several.count("error[other-dialect]") >= 2
    assert "note: joined " in one
    assert [line for line in several.splitlines() if "joined" in line] == [
        line for line in one.splitlines() if "joined" in line
    ]
    assert report()["source"] is None
    assert {"openai-chat", "codex", "gemini"} <= set(report()["sources"])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("as_", [[], ["--as", "openai-chat"]])
def test_each_file_is_judged_and_counted_in_its_own_dialect(
    folder: Path, size: int, as_: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    if as_:
        Path("in/unclear.json").write_text('{"messages": "x"}')
    words = ["validate", "in", *as_]
    code = main([*words, "--output-format", "jsonl"])
    printed = capfd.readouterr().out
    assert (main([*words, *parts(size)]), joined().decode()) == (code, printed)
    capfd.readouterr()
    shutil.rmtree("out")
    assert main(["stats", "in", *parts(size)]) == main(["stats", "in"])
    tables = capfd.readouterr().out
    assert tables[: len(tables) // 2] == tables[len(tables) // 2 :] != ""


def test_the_configuration_names_dialects_of_files(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("convcli.toml").write_text('[dialects]\n"in/a.jsonl" = "openai-ft"\n')
    words = ["convert", "in/a.jsonl", "in/gemini", "--to", "intermediate", "--keep-going"]
    assert main([*words, "-o", "one.jsonl"]) == 1
    assert main([*words, *parts(4000)]) == 1
    assert joined() == Path("one.jsonl").read_bytes()
    assert report()["sources"] == ["openai-ft", "gemini"]


def test_a_large_file_is_cut_though_its_dialect_is_detected(folder: Path) -> None:
    assert main(["convert", "in/a.jsonl", "--to", "anthropic", "--keep-going", *parts(4000)]) == 1
    assert report()["parts"] == -(-Path("in/a.jsonl").stat().st_size // 4000) > 1
