"""Logs of one's own programs, described by a table: in a TOML file, or in the settings of the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli_cases import run, write

LOGS = Path(__file__).parents[1] / "kit" / "logs"
TABLE = """messages = "turns"
role = "speaker"
roles = { customer = "user", bot = "assistant" }
text = "utterance"
"""
TALK = {"turns": [{"speaker": "customer", "utterance": "Hi."}, {"speaker": "bot", "utterance": "Hello."}]}
CHAT = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}


def written(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_in_a_file_is_a_dialect_to_read_and_to_write(tmp_path: Path) -> None:
    table = written(tmp_path, TABLE, "support.toml")
    done = run("convert", write(tmp_path / "talk.json", TALK), "--from", table, "--to", "openai-chat")
    assert json.loads(done.stdout) == CHAT
    done = run("convert", write(tmp_path / "chat.json", CHAT), "--to", table)
    assert (json.loads(done.stdout), done.returncode) == (TALK, 0)


def test_the_schema_of_a_table_is_printed(tmp_path: Path) -> None:
    schema = json.loads(run("schema", written(tmp_path, TABLE, "support.toml")).stdout)
    assert schema["required"] == ["turns"]


def test_a_loss_is_reported_like_that_of_any_dialect(tmp_path: Path) -> None:
    table = written(tmp_path, TABLE, "support.toml")
    chat = {"messages": [{"role": "system", "content": "Be brief."}, *CHAT["messages"]]}
    done = run("convert", write(tmp_path / "chat.json", chat), "--to", table, "--fail-on-loss=content")
    assert (done.returncode, b"dropped message" in done.stderr) == (1, True)


def test_a_table_of_the_project_is_detected_unless_isolated(tmp_path: Path) -> None:
    written(tmp_path, f"[dialects.support-desk]\n{TABLE}", "convcli.toml")
    write(tmp_path / "talk.json", TALK)
    assert b"talk.json\tsupport-desk\t" in run("detect", "talk.json", cwd=tmp_path).stdout
    assert json.loads(run("convert", "talk.json", "--to", "openai-chat", cwd=tmp_path).stdout) == CHAT
    assert b"\nsupport-desk\t" in run("dialects", cwd=tmp_path).stdout
    assert run("detect", "talk.json", "--isolated", cwd=tmp_path).returncode == 1


def test_a_project_with_a_table_still_detects_the_dialects_of_vendors(tmp_path: Path) -> None:
    written(tmp_path, f"[dialects.support-line]\n{TABLE}", "convcli.toml")
    write(tmp_path / "chat.json", CHAT)
    assert b"chat.json\topenai-chat\t" in run("detect", "chat.json", cwd=tmp_path).stdout


def test_lines_that_name_their_conversation_are_split(tmp_path: Path) -> None:
    rows = (LOGS / "stream.jsonl").read_text("utf-8")
    log = written(tmp_path, rows + rows.replace("s-1", "s-2"), "log.jsonl")
    done = run("convert", log, "--from", LOGS / "stream.toml", "--to", "intermediate")
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["s-1", "s-2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('role = "r"\n', b"state the key of the text"),
        ('text = "t"\n', b"state role"),
        (f'{TABLE}colour = "red"\n', b"colour"),
        (f'{TABLE}time-in = "hours"\n', b"time-in"),
        (TABLE.replace('"user"', '"usr"'), b"usr"),
        (f"{TABLE}lines = true\n", b"messages cannot lead to a list"),
        (f'{TABLE}order = ["role"]\n', b"no key order"),
    ],
)
def test_a_wrong_table_is_an_error_that_names_the_key(text: str, message: bytes, tmp_path: Path) -> None:
    table = written(tmp_path, text, "wrong.toml")
    done = run("convert", write(tmp_path / "talk.json", TALK), "--from", table, "--to", "openai-chat")
    assert (done.returncode, b"bad-configuration" in done.stderr, message in done.stderr) == (2, True, True), (
        done.stderr
    )


def test_a_table_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    done = run("convert", write(tmp_path / "talk.json", TALK), "--from", tmp_path / "no.toml", "--to", "openai-chat")
    assert (done.returncode, b"no-such-file" in done.stderr) == (2, True)


@pytest.mark.parametrize(("key", "sizes"), [("user", [2, 2]), ("session_id", [4])])
def test_rows_with_a_question_and_its_answer_are_conversations_unless_they_name_one(
    key: str, sizes: list[int], tmp_path: Path
) -> None:
    rows = [{key: "a", "question": f"Question {n}?", "answer": f"Answer {n}."} for n in (1, 2)]
    log = write(tmp_path / "log.jsonl", *rows)
    assert b"--draft" in run("inspect", log).stderr
    table = written(tmp_path, run("dialects", "--draft", log).stdout.decode(), "log.toml")
    done = run("convert", log, "--from", table, "--to", "intermediate", "-o", tmp_path / "rows.jsonl")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert [len(json.loads(line)["messages"]) for line in lines] == sizes


def test_the_check_lists_what_a_table_does_not_explain_without_values(tmp_path: Path) -> None:
    table = written(tmp_path, TABLE, "support.toml")
    talk = {**TALK, "channel": "secret", "turns": [*TALK["turns"], {"speaker": "robot", "utterance": "Beep."}]}
    done = run("dialects", "--check", table, write(tmp_path / "talk.json", talk), "-O", "json")
    rows = {row["where"]: row for row in json.loads(done.stdout)}
    assert (rows.keys(), done.returncode) == ({"/channel", "/turns/*"}, 1)
    assert rows["/channel"]["type"] == "string"
    assert b"secret" not in done.stdout + done.stderr
    done = run("dialects", "--check", table, write(tmp_path / "talk.json", TALK))
    assert (done.stdout, done.returncode, b"every value is explained" in done.stderr) == (b"", 0, True)


@pytest.mark.parametrize("name", sorted(path.stem for path in LOGS.glob("*.toml")))
def test_a_draft_reads_the_messages_of_its_log(name: str, tmp_path: Path) -> None:
    log = next(LOGS.glob(f"{name}.json*"))
    table = written(tmp_path, run("dialects", "--draft", log).stdout.decode(), f"{name}.toml")
    drafted, stated = (
        spoken(log, each, tmp_path / f"{at}.jsonl") for at, each in enumerate((table, LOGS / table.name))
    )
    assert drafted == stated


def spoken(log: Path, table: Path, out: Path) -> list[Any]:
    """Returns the roles and types of parts of all messages but events, as the table reads them."""
    assert run("convert", log, "--from", table, "--to", "intermediate", "-o", out).returncode == 0
    transcripts = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    messages = [message for transcript in transcripts for message in transcript["messages"]]
    return [
        [message["role"], [part["type"] for part in message["parts"]]]
        for message in messages
        if message["role"] != "event"
    ]


def test_a_draft_needs_messages(tmp_path: Path) -> None:
    done = run("dialects", "--draft", write(tmp_path / "list.json", [1, 2]))
    assert (done.returncode, b"no-messages" in done.stderr) == (1, True)
