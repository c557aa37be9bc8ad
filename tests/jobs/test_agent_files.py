"""Runs of subagents in files of their own stand in the call that started them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convcli.jobs.agent_files import with_runs
from convcli.jobs.documents import Document
from convcli.jobs.reading import ReadingOptions
from convcli.model.transcript import Transcript
from tests.cli_cases import run, write

SESSION = "11111111-2222-4333-8444-555555555555"


def row(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": SESSION,
        "timestamp": f"2026-01-01T00:00:{number:02}.000Z", "cwd": "/work", "version": "2.1.0", "isSidechain": False,
        "message": {"role": role, "content": content}, **more,
    }  # fmt: skip


def call(number: int, name: str, prompt: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {"prompt": prompt}}


def result(number: int, text: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text}]


ROWS = [
    row(0, "user", "Look around"),
    row(1, "assistant", [call(1, "Task", "Find it.")]),
    row(2, "user", result(1, "found")),
    row(3, "assistant", [call(2, "Task", "Changed by the program")]),
    row(4, "user", result(2, "done\nagentId: b7654321")),
    row(5, "assistant", [call(3, "Task", "No file")]),
    row(6, "user", result(3, "nothing")),
]


def aside(agent: str, prompt: str, answer: str, session: str = SESSION) -> list[dict[str, Any]]:
    more = {"isSidechain": True, "agentId": agent, "sessionId": session}
    return [row(0, "user", prompt, **more), row(1, "assistant", [{"type": "text", "text": answer}], **more)]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = write(tmp_path / f"{SESSION}.jsonl", *ROWS)
    inner = tmp_path / SESSION / "subagents"
    inner.mkdir(parents=True)
    write(inner / "agent-a1234567.jsonl", *aside("a1234567", "Find it.", "it is in a.py"))
    write(tmp_path / "agent-b7654321.jsonl", *aside("b7654321", "Other words", "it was done"))
    write(tmp_path / "agent-c0000000.jsonl", *aside("c0000000", "No file", "of another session", "another"))
    (tmp_path / "agent-d0000000.jsonl").write_text(f"{SESSION} torn", "utf-8")
    return path


def lifted(path: Path) -> Transcript:
    with ReadingOptions().opened(str(path)) as source:
        return next(item for item in source if isinstance(item, Document)).lift_leniently()[0]


def test_each_run_follows_the_session_and_names_its_call(session: Path) -> None:
    before = lifted(session)
    whole = with_runs(before, str(session), ReadingOptions().opened)
    assert whole.messages[: len(before.messages)] == before.messages
    added = whole.messages[len(before.messages) :]
    assert [(message.parent_call_id, message.role) for message in added] == [
        ("toolu_1", "user"), ("toolu_1", "assistant"), ("toolu_2", "user"), ("toolu_2", "assistant"),
    ]  # fmt: skip


def test_a_link_and_a_file_that_may_not_be_read_are_left_out(session: Path, tmp_path: Path) -> None:
    inner = tmp_path / SESSION / "subagents" / "agent-a1234567.jsonl"
    inner.rename(tmp_path / "elsewhere.jsonl")
    inner.symlink_to(tmp_path / "elsewhere.jsonl")
    before = lifted(session)
    whole = with_runs(before, str(session), ReadingOptions().opened)
    assert {message.parent_call_id for message in whole.messages} == {None, "toolu_2"}
    assert with_runs(before, str(session), ReadingOptions().opened, lambda path: False) is before


def test_a_session_without_such_calls_opens_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", ROWS[0])
    before = lifted(path)

    def never(path: str) -> Any:
        raise AssertionError(path)

    assert with_runs(before, str(path), never) is before


def test_pages_show_the_runs_folded_in_their_calls(session: Path, tmp_path: Path) -> None:
    pytest.importorskip("phonenumbers")
    assert run("inspect", session, "-o", tmp_path / "page.html").returncode == 0
    assert run("share", session, "-o", tmp_path / "shared.html").returncode == 0
    for name in ("page.html", "shared.html"):
        text = (tmp_path / name).read_text("utf-8")
        assert text.count("run of the agent: 2 messages, 0 calls") == 2
        assert text.index("it is in a.py") < text.index("Changed by the program")
        assert "of another session" not in text
