"""The run of a subagent is a row of its own, with the session that started it as its parent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import conversion, reading
from convcli.jobs import inputs
from convcli.jobs.portions import Portion, portions
from convcli.jobs.results import AS_IT_IS, RowShape, item_results
from convcli.jobs.splitting import Splitting
from convcli.model.branches import active
from convcli.model.document import Rows
from convcli.model.transcript import Transcript
from convcli.proof.reasons import Loss
from tests.cli_cases import run, write
from tests.support import documents

SAMPLES = Path("samples")


def rows_of(*words: object) -> list[dict[str, Any]]:
    done = run("convert", *words, "--to", "hf-chat", "-o", "-")
    lines = done.stdout.splitlines()
    return [json.loads(line) for line in lines] if len(lines) and lines[0].endswith(b"}") else [json.loads(done.stdout)]


def test_a_run_in_a_session_is_a_row_with_its_parent() -> None:
    main, aside = rows_of(SAMPLES / "claude-code" / "session-subagent.jsonl")
    assert aside["parent"] == main["id"] != aside["id"]
    assert main["parent"] is None
    assert [row["messages"][0]["content"] for row in (main, aside)] == [
        "Find the charts.",
        "List all charts in /charts.",
    ]


def test_a_run_in_a_file_of_its_own_has_the_id_of_its_agent(tmp_path: Path) -> None:
    about = {"sessionId": "s-1", "agentId": "a7", "isSidechain": True, "version": "2.1.0", "cwd": "/p"}
    texts = [("user", "Find it."), ("assistant", "Found.")]
    rows = [
        {
            **about,
            "type": role,
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "message": {"role": role, "content": text},
        }
        for number, (role, text) in enumerate(texts)
    ]
    (row,) = rows_of(write(tmp_path / "agent-a7.jsonl", *rows))
    assert (row["id"], row["parent"], row["parts"]) == ("a7", "s-1", None)


def session(*turns: tuple[str, Any, str | None, bool]) -> Rows:
    """Returns rows of Claude Code with the ids "0", "1", …: role, content, parent, and whether it is of a run."""
    about = {"sessionId": "s-1", "version": "2.1.0", "cwd": "/p"}
    rows = [
        {"uuid": str(i), "parentUuid": parent, "isSidechain": is_aside, "type": role, **about}
        | {"message": {"role": role, "content": content}}
        for i, (role, content, parent, is_aside) in enumerate(turns)
    ]
    return Rows(rows)


CALL = [{"type": "tool_use", "id": "c-1", "name": "Bash", "input": {}}]
RESULT = [{"type": "tool_result", "tool_use_id": "c-1", "content": "r"}, {"type": "text", "text": "And now?"}]


def roles_of(document: Rows, splitting: Splitting | None = None) -> list[list[str]]:
    dialect = dialects.get("claude-code")
    rows = portions(reading.lift(document, dialect), dialect, splitting)
    return [[message.role for message in active(row.transcript)] for row in rows]


def test_a_run_has_the_text_next_to_a_result() -> None:
    aside = [("user", "Find it.", None, True), ("assistant", CALL, "2", True), ("user", RESULT, "3", True)]
    main = [("user", "Hi.", None, False), ("assistant", "Ho.", "0", False)]
    assert roles_of(session(*main, *aside)) == [["user", "assistant"], ["user", "assistant", "tool", "user"]]


def test_a_part_of_a_tree_begins_with_the_text_next_to_a_result() -> None:
    turns = [("user", "Hi.", None, False), ("assistant", "Gone.", "0", False), ("assistant", CALL, "0", False)]
    last = [("user", RESULT, "2", False), ("assistant", "Ho.", "3", False)]
    parts = roles_of(session(*turns, *last), Splitting(max_turns=1))
    assert parts == [["user", "assistant", "tool"], ["user", "assistant"]]


def test_a_session_that_names_its_parent_has_it_as_a_column() -> None:
    (row,) = rows_of(SAMPLES / "opencode" / "media.json")
    assert row["parent"] == "ses_parent1"


WITH_RUNS = (
    "claude-code/session-subagent.jsonl",
    "claude-code/stream.jsonl",
    "copilot-cli/calls.jsonl",
    "atif/subagents.json",
)


@pytest.mark.parametrize("path", WITH_RUNS)
def test_rows_share_no_message_and_have_all_of_them(path: str) -> None:
    name = path.partition("/")[0]
    dialect, target = dialects.get(name), dialects.get("hf-chat")
    for document in documents(SAMPLES / path, dialect):
        transcript = reading.lift(document, dialect)
        rows = portions(transcript, dialect, None)
        assert len(rows) > 1
        assert sum(len(row.transcript.messages) for row in rows) == len(transcript.messages)
        assert len({row.id or transcript.id for row in rows}) == len(rows)
        for row in rows:
            losses = conversion.lower(row.transcript, target, source=dialect).losses
            assert not [loss for loss in losses if loss.field in ("message", "branch", "tool_call", "tool_result")]


def losses_of(path: Path, shape: RowShape, target: str = "hf-chat") -> dict[tuple[int, str, str], Loss]:
    with inputs.opened(str(path), path.parent.name) as source:
        losses = [loss for row in item_results(source, dialects.get(target), shape=shape) for loss in row.losses]
    return {(loss.line, loss.where, loss.field): loss for loss in losses if loss.kind != "invented"}


PARTS = RowShape(splitting=Splitting(max_turns=1), separates_runs=True)


@pytest.mark.parametrize("name", dialects.names())
def test_rows_of_a_part_lose_nothing_in_silence(name: str) -> None:
    """Messages of a run are lost from the session alone: they are written in a row of their own."""
    for path in filter(Path.is_file, sorted((SAMPLES / name).iterdir())):
        whole, parts = losses_of(path, AS_IT_IS), losses_of(path, PARTS)
        silent = [place for place in whole if place not in parts and place[-1] not in ("branch", "message")]
        assert silent == [], path.name


@pytest.mark.parametrize("target", ["hf-chat", "intermediate"])
def test_the_parent_of_the_first_message_of_a_part_is_a_loss(target: str) -> None:
    losses = losses_of(SAMPLES / "openclaw" / "rules-kept.jsonl", PARTS, target)
    loss = losses[5, "/parentId", "message.parentId"]
    assert (loss.kind, loss.before) == ("dropped", "m3")
    assert loss.why == "the message that it follows is written in another row"


def test_the_events_of_a_run_in_a_file_of_its_own_are_in_its_row() -> None:
    turns = session(("user", "Find it.", None, True), ("assistant", "Found.", "0", True))
    note = {"type": "system", "subtype": "info", "content": "Slow.", "uuid": "e", "parentUuid": "1"}
    document = Rows([{**turns[0], "isSidechain": False, **note, "parentUuid": None, "uuid": "d"}, *turns, note])
    assert roles_of(document) == [["user", "assistant"]]
    dialect = dialects.get("claude-code")
    (row,) = portions(reading.lift(document, dialect), dialect, None)
    assert [message.role for message in row.transcript.messages] == ["event", "user", "assistant", "event"]


def test_a_session_without_runs_stays_as_it_is() -> None:
    transcript = Transcript([])
    assert portions(transcript, dialects.get("codex"), None) == [Portion(transcript)]
    assert portions(transcript, dialects.get("codex"), None)[0].transcript is transcript


def test_a_restore_file_keeps_the_session_in_one_row(tmp_path: Path) -> None:
    source, out = SAMPLES / "claude-code" / "session-subagent.jsonl", tmp_path / "out.jsonl"
    assert run("convert", source, "--to", "hf-chat", "-o", out, "--restore-file", tmp_path / "r").returncode == 0
    assert len(out.read_bytes().splitlines()) == 1
    assert run("restore", out, "--restore-file", tmp_path / "r").stdout == source.read_bytes()
