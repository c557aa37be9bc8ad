"""`--max-line` bounds the lines that are read, and `convert --keep-going` skips longer ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_cases import run

LINE = '{"messages": [{"role": "user", "content": "%s"}]}\n'


def test_a_line_beyond_the_limit_is_skipped_with_keep_going(tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text(LINE % "a" + LINE % ("x" * 200_000) + LINE % "b")
    words = ("convert", path, "--to", "gemini", "-o", out, "--max-line", "100K")
    done = run(*words)
    assert (done.returncode, out.exists()) == (1, False)
    assert b"in.jsonl:2:1" in done.stderr
    assert b"--max-line raises the limit" in done.stderr
    assert run(*words, "--keep-going").returncode == 1
    assert [text in out.read_text() for text in ('"a"', '"b"', "xxx")] == [True, True, False]


@pytest.mark.parametrize("parts", [(), ("--engine", "local")])
def test_a_higher_limit_reads_it(tmp_path: Path, parts: tuple[str, ...]) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(LINE % ("x" * 200_000))
    out = ("--out-dir", tmp_path / "out", *parts) if parts else ("-o", tmp_path / "out.jsonl")
    assert run("convert", path, "--from", "openai-chat", "--to", "gemini", *out, "--max-line", "100K").returncode == 1
    assert run("convert", path, "--from", "openai-chat", "--to", "gemini", *out, "--force").returncode == 0


def test_a_size_is_a_number_of_bytes(tmp_path: Path) -> None:
    for wrong in ("1X", "5\N{KELVIN SIGN}"):  # a K only if case does not count
        done = run("validate", tmp_path, "--max-line", wrong)
        assert (done.returncode, b"--max-line needs a number of bytes" in done.stderr) == (2, True)
