"""The columns of a row state where it comes from."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli_cases import run, write

SESSION = Path("samples/claude-code/session-blocks.jsonl")


def test_the_values_say_where_the_row_comes_from(tmp_path: Path) -> None:
    out, listed = tmp_path / "row.json", tmp_path / "losses.json"
    assert run("convert", SESSION, "--to", "hf-chat", "-o", out, "--losses", listed).returncode == 0
    row, losses = json.loads(out.read_bytes()), json.loads(listed.read_bytes())
    assert {key: row[key] for key in ("program", "file", "line", "branch", "cwd")} == {
        "program": "claude-code", "file": str(SESSION), "line": None, "branch": "main", "cwd": "/home/mira/boat",
    }  # fmt: skip
    assert (row["errors"], row["failed"]) == (1, ["toolu_a2"])
    assert row["losses"] == sum(loss["level"] == "content" for loss in losses)
    assert (row["turns"], row["tokens"]) == (2, 970)
    fields = ("id", "cwd", "model", "tool_result.kind")
    of_columns = {loss["field"]: loss["kind"] for loss in losses if loss["field"] in fields}
    assert of_columns == dict.fromkeys(of_columns, "encoded") != {}


def test_standard_input_is_no_file_and_rows_have_lines(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Ho."}]}
    source = write(tmp_path / "a.jsonl", chat, chat)
    words = ("--to", "hf-chat", "--columns", "file,line,turns")
    rows = [json.loads(line) for line in run("convert", source, *words).stdout.splitlines()]
    assert [(row["file"], row["line"], row["turns"]) for row in rows] == [(str(source), 1, 1), (str(source), 2, 1)]
    (row,) = [json.loads(run("convert", "-", *words, input=json.dumps(chat).encode()).stdout)]
    assert (row["file"], row["program"]) == (None, "openai-chat")
