"""--join and --no-join."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli_cases import run, write

HI = [{"role": "user", "content": "Is it warm in Oslo?"}]
REPLY = {"role": "assistant", "content": "It is warm in Oslo."}
MORE = [*HI, REPLY, {"role": "user", "content": "And in Rome?"}]


def completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice]}


CALLS = [(HI, completion("It is warm in Oslo.")), (MORE, completion("It is hot in Rome."))]
LINES = {
    "litellm": [{"model": "gpt-4o", "messages": asked, "response": answer} for asked, answer in CALLS],
    "pairs": [{"input": asked, "output": answer} for asked, answer in CALLS],
    "bodies": [
        {"request": {"model": "gpt-4o", "messages": asked}, "response": json.dumps(answer)} for asked, answer in CALLS
    ],
}
AT = {"litellm": [], "pairs": ["--at", "braintrust"], "bodies": ["--at", "/request", "--at", "/response"]}


@pytest.mark.parametrize("name", LINES)
def test_a_log_gives_one_row_per_conversation_and_one_note(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "a.jsonl", *LINES[name])
    done = run("convert", path, *AT[name], "--to", "hf-chat")
    (row,) = map(json.loads, done.stdout.splitlines())
    assert [message["content"] for message in row["messages"]][1::2] == ["It is warm in Oslo.", "It is hot in Rome."]
    assert done.stderr.decode().count("note: joined 2 calls → 1 conversation (--no-join writes each call)") == 1
    done = run("convert", path, *AT[name], "--to", "hf-chat", "--no-join")
    assert [len(json.loads(line)["messages"]) for line in done.stdout.splitlines()] == [2, 4]
    assert b"joined" not in done.stderr


def test_a_restore_file_keeps_the_calls_as_they_are(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *LINES["bodies"])
    words = ["convert", path, *AT["bodies"], "--to", "hf-chat", "--restore-file", tmp_path / "r.jsonl"]
    done = run(*words, "--join")
    assert (done.returncode, b"--join and --restore-file exclude each other" in done.stderr) == (2, True)
    assert run(*words, "-o", tmp_path / "b.jsonl").returncode == 0
    done = run("restore", tmp_path / "b.jsonl", "--restore-file", tmp_path / "r.jsonl", "-o", tmp_path / "c.jsonl")
    assert [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().splitlines()] == LINES["bodies"]


def test_detect_says_that_lines_are_calls(tmp_path: Path) -> None:
    done = run("detect", write(tmp_path / "a.jsonl", *LINES["litellm"]))
    assert b"these are calls of a log, which convert joins" in done.stdout
