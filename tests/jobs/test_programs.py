"""Where programs keep their sessions, and how one of them is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from convcli.jobs import programs
from convcli.model.dialect import SessionFacts
from convcli.model.errors import JobError

ID = "0c0ffee0-0000-4000-8000-000000000001"
FACTS = SessionFacts(ID, "/projects/one of mine", "2026-02-15T10:01:02.345Z")


@pytest.mark.parametrize("name", programs.resumable())
def test_a_session_is_listed_where_it_is_written(name: str, tmp_path: Path) -> None:
    program = programs.get(name)
    path = Path(programs.path(program, FACTS, str(tmp_path)))
    path.parent.mkdir(parents=True)
    path.touch()
    assert list(programs.files(program, str(tmp_path))) == [str(path)]
    assert programs.file_of(f"{name}:{ID[:8]}", str(tmp_path)) == str(path)
    assert "{id}" in program.command or "{path}" in program.command


def test_codex_finds_a_session_by_day_time_and_id() -> None:
    path = programs.path(programs.get("codex"), FACTS, "/home")
    assert path == f"/home/.codex/sessions/2026/02/15/rollout-2026-02-15T10-01-02-{ID}.jsonl"


def test_a_rollout_that_codex_has_compressed_is_found(tmp_path: Path) -> None:
    path = Path(programs.path(programs.get("codex"), FACTS, str(tmp_path)) + ".zst")
    path.parent.mkdir(parents=True)
    path.touch()
    assert programs.file_of(f"codex:{ID[:8]}", str(tmp_path)) == str(path)


def test_gemini_cli_finds_a_session_by_the_hash_of_its_directory() -> None:
    path = programs.path(programs.get("gemini-cli"), FACTS, "/home")
    assert path.startswith("/home/.gemini/tmp/")
    assert path.endswith("/chats/session-2026-02-15T10-01-0c0ffee0.jsonl")


def test_a_variable_says_where_a_folder_is_unless_a_home_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", "/elsewhere")
    assert programs.folder(programs.get("codex"), None) == "/elsewhere"
    assert programs.folder(programs.get("codex"), "/home") == os.path.join("/home", ".codex")


@pytest.mark.parametrize("word", ["codex", "codex:", "chat.json:3", "nothing:0c0ffee0"])
def test_other_words_name_no_session(word: str, tmp_path: Path) -> None:
    assert programs.file_of(word, str(tmp_path)) is None


def test_a_session_that_is_not_there_or_not_the_only_one_is_reported(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="codex has no session whose id begins with 0c"):
        programs.file_of("codex:0c", str(tmp_path))
    for last in "12":
        path = Path(programs.path(programs.get("codex"), replace(FACTS, id=ID[:-1] + last), str(tmp_path)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with pytest.raises(JobError, match="codex has 2 sessions"):
        programs.file_of("codex:0c", str(tmp_path))


def test_a_wrong_program_gets_the_nearest() -> None:
    with pytest.raises(JobError) as wrong:
        programs.get("codx")
    assert wrong.value.help == 'did you mean "codex"?'
