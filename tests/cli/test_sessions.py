"""convcli sessions: what is on this machine, the newest first."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli_cases import ROOT, command, environment, on_terminal, run
from tests.files.test_databases import GOOSE, OPENCLAW, database

SAMPLES = ROOT / "samples"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory with a session of Codex, and a newer one of Gemini CLI."""
    for age, program in enumerate(["gemini-cli", "codex"]):
        done = run("resume", SAMPLES / "openclaw" / "twin-weather.jsonl", "--in", program, "--home", tmp_path)
        assert done.returncode == 0, done.stderr
        path = Path(done.stderr.decode().split("wrote ")[1].strip())
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return tmp_path


def rows(*words: object) -> list[dict[str, Any]]:
    done = run("sessions", *words, "--output-format", "jsonl")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sessions_of_all_programs_are_listed_the_newest_first(home: Path) -> None:
    listed = rows("--home", home)
    assert [row["program"] for row in listed] == ["gemini-cli", "codex"]
    assert all(row["messages"] and row["calls"] == 2 and row["size"] for row in listed)
    assert listed[1]["title"].startswith("What is in the picture")


def test_a_program_or_a_number_limits_them(home: Path) -> None:
    assert [row["program"] for row in rows("--home", home, "--program", "codex")] == ["codex"]
    assert [row["program"] for row in rows("--home", home, "--limit", "1")] == ["gemini-cli"]


def test_conditions_and_dates_choose_them(home: Path) -> None:
    assert [row["program"] for row in rows("--home", home, "--where", "calls>1 and program=codex")] == ["codex"]
    assert rows("--home", home, "--where", "messages>0", "--limit", "1")[0]["program"] == "gemini-cli"
    assert rows("--home", home, "--since", "2999") == rows("--home", home, "--until", "1900") == []


def test_a_directory_chooses_the_sessions_that_ran_in_it_or_below(home: Path, tmp_path: Path) -> None:
    [codex] = rows("--home", home, "--program", "codex")
    parent = os.path.dirname(codex["cwd"])
    assert [row["program"] for row in rows("--home", home, "--cwd", parent, "--program", "codex")] == ["codex"]
    assert rows("--home", home, "--cwd", codex["cwd"] + "-other") == []


def test_a_terminal_shows_the_title_first_and_the_age(home: Path) -> None:
    words = command("sessions", "--home", home, "--program", "codex")
    code, shown = on_terminal(words, 120, environment(NO_COLOR="1", TERM="dumb"))
    assert code == 0
    assert shown.split()[:2] == ["title", "ended"]


def test_a_folder_is_listed_wherever_it_is(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "codex" / "twin-weather.jsonl", tmp_path)
    shutil.copy(SAMPLES / "anthropic" / "twin-weather.json", tmp_path)
    assert [row["program"] for row in rows(tmp_path)] == ["codex"]


def test_a_session_is_named_by_its_program_and_the_beginning_of_its_id(home: Path) -> None:
    [id_] = [row["id"] for row in rows("--home", home, "--program", "codex")]
    done = run("detect", f"codex:{id_[:8]}", "--output-format", "jsonl", env=environment(HOME=str(home)))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dialect"] == "codex"


@pytest.mark.parametrize("run_file", ["agent-a7.jsonl", "s-1/subagents/agent-a7.jsonl"])
def test_the_run_of_a_subagent_stands_below_its_session_and_is_named_by_its_own_id(
    tmp_path: Path, run_file: str
) -> None:
    folder = tmp_path / ".claude" / "projects" / "-p"
    about = {"type": "user", "sessionId": "s-1", "version": "2.1.0", "message": {"role": "user", "content": "Hi."}}
    names = ["s-1.jsonl", "s-2.jsonl", run_file, "s-3.jsonl"]
    put(folder / names[0], {**about, "uuid": "u0", "isSidechain": False})
    put(folder / names[1], {**about, "uuid": "u2", "isSidechain": False, "sessionId": "s-2"})
    put(folder / names[2], {**about, "uuid": "u1", "isSidechain": True, "agentId": "a7"})
    put(folder / names[3], {**about, "uuid": "u3", "isSidechain": False, "sessionId": "s-3"})
    for age, name in enumerate(names):
        os.utime(folder / name, (1_000_000 - age, 1_000_000 - age))
    listed = rows("--home", tmp_path)
    assert [row["id"] for row in listed] == ["s-1", "a7", "s-2", "s-3"]
    assert [row["parent"] for row in listed] == [None, "s-1", None, None]
    assert [row["id"] for row in rows("--home", tmp_path, "--limit", 2)] == ["s-1", "a7", "s-2"]
    assert rows("--home", tmp_path, "--limit", 0) == []
    code, shown = on_terminal(command("sessions", "--home", tmp_path), 120, environment(NO_COLOR="1", TERM="dumb"))
    assert (code, [line[:5] for line in shown.splitlines()[1:3]]) == (0, ["Hi.  ", "↳ Hi."])
    done = run("detect", "claude-code:a7", env=environment(HOME=str(tmp_path)))
    assert b"agent-a7.jsonl" in done.stdout + done.stderr


def test_a_limit_keeps_the_newest_by_the_times_in_them_and_reads_no_older_file(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-p"
    days = {"copied": 1, "second": 10, "first": 12, "old": 5}
    for name, day in days.items():
        about = {"type": "user", "sessionId": name, "version": "2.1.0", "uuid": f"u-{name}", "isSidechain": False}
        message = {"role": "user", "content": "Hi."}
        put(folder / f"{name}.jsonl", {**about, "timestamp": f"2026-02-{day:02}T00:00:00Z", "message": message})
        changed = datetime(2026, 2, 20 if name == "copied" else day, tzinfo=UTC).timestamp()
        os.utime(folder / f"{name}.jsonl", (changed, changed))
    assert [row["id"] for row in rows("--home", tmp_path, "--limit", 1)] == ["first"]
    (folder / "old.jsonl").write_text("{")
    os.utime(folder / "old.jsonl", (changed, changed))
    assert [row["id"] for row in rows("--home", tmp_path, "--limit", 2)] == ["first", "second"]


def test_a_session_in_which_nothing_was_said_is_no_error(home: Path) -> None:
    begun = {"timestamp": "2026-02-01T00:00:00Z", "type": "event_msg", "payload": {"type": "turn_aborted"}}
    folder = home / ".codex" / "sessions" / "2026" / "02" / "01"
    put(folder / "rollout-1.jsonl", begun)
    (folder / "rollout-2.jsonl").touch()
    done = run("sessions", "--home", home)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 3)
    assert done.stderr == b"note: 2 files without messages are not listed\n"


TASK = [{"role": "assistant", "content": [{"type": "text", "text": "Hi."}], "modelInfo": {"modelId": "m"}}]
LOG = {"sessionId": "s", "projectHash": "h", "startTime": "2026-05-01T00:00:00Z", "lastUpdated": "2026-05-01T00:00:00Z"}
SAID = {"id": "u", "timestamp": "2026-05-01T00:00:00Z", "type": "user", "content": "Hi."}


@pytest.mark.parametrize(
    ("session", "other_keys", "expected"),
    [
        ("tmp/work/chats/session-a.jsonl", {"tmp/work/.project_root": "/projects/work\n"}, "/projects/work"),
        ("tmp/work/chats/session-a.jsonl", {"projects.json": {"projects": {"/p/work": "work"}}}, "/p/work"),
        (
            f"tmp/{sha256(b'/p/old').hexdigest()}/chats/session-a.jsonl",
            {"projects.json": {"projects": {"/p/new": "new", "/p/old": "old"}}},
            "/p/old",
        ),
        ("tmp/work/chats/session-a.jsonl", {"projects.json": "{"}, None),
        ("tmp/work/chats/session-a.jsonl", {"projects.json": [1], "tmp/work/.project_root": ""}, None),
    ],
)
def test_the_directory_of_a_session_of_gemini_cli_stands_beside_it(
    tmp_path: Path, session: str, other_keys: dict[str, Any], expected: str | None
) -> None:
    put(tmp_path / ".gemini" / session, f"{json.dumps(LOG)}\n{json.dumps(SAID)}\n")
    for name, content in other_keys.items():
        put(tmp_path / ".gemini" / name, content)
    [row] = rows("--home", tmp_path, "--program", "gemini-cli")
    assert row["cwd"] == expected


@pytest.mark.parametrize(
    ("session", "other_keys", "expected"),
    [
        ("tasks/17/api_conversation_history.json", {"state/taskHistory.json": [1, {"id": "16"}]}, None),
        (
            "tasks/17/api_conversation_history.json",
            {"state/taskHistory.json": [{"id": "16"}, {"id": "17", "cwdOnTaskInitialization": "/p/work"}]},
            "/p/work",
        ),
        (
            "sessions/17/17.messages.json",
            {"sessions/17/17.json": {"cwd": "/p/work", "workspace_root": "/p"}},
            "/p/work",
        ),
        ("sessions/17/17.messages.json", {"sessions/17/17.json": {"workspace_root": "/p"}}, "/p"),
        ("sessions/17/17.messages.json", {}, None),
    ],
)
def test_the_directory_of_a_session_of_cline_stands_in_its_manifest_or_in_the_history_of_tasks(
    tmp_path: Path, session: str, other_keys: dict[str, Any], expected: str | None
) -> None:
    document = {"version": 1, "sessionId": "17", "messages": TASK} if "sessions" in session else TASK
    for name, content in {session: document, **other_keys}.items():
        put(tmp_path / ".cline" / "data" / name, content)
    [row] = rows("--home", tmp_path, "--program", "cline")
    assert row["cwd"] == expected


def test_a_session_of_which_nothing_but_its_place_tells_the_program_is_listed(tmp_path: Path) -> None:
    said = [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}, {"role": "assistant", "content": "Ah."}]
    put(tmp_path / ".cline/data/tasks/17/api_conversation_history.json", said)
    [row] = rows("--home", tmp_path)
    assert (row["program"], row["messages"], row["title"]) == ("cline", 2, "Hi.")


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_where_no_program_is_known_it_says_so(tmp_path: Path) -> None:
    done = run("sessions", "--home", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"no sessions found\n")


def test_the_sessions_of_a_database_are_listed_and_named_one_by_one(tmp_path: Path) -> None:
    folder = tmp_path / ".local" / "share" / "goose" / "sessions"
    folder.mkdir(parents=True)
    database(folder, GOOSE)
    listed = rows("--home", tmp_path)
    assert [(row["program"], row["id"], row["messages"]) for row in listed] == [
        ("goose", "20260301_2", 1),
        ("goose", "20260301_1", 2),
    ]
    assert listed[0]["end"] > listed[1]["end"]
    env = environment(HOME=str(tmp_path))
    done = run("inspect", "goose:20260301_2", env=env)
    assert done.returncode == 0, done.stderr
    assert b"3" in done.stdout
    assert b"1 message" in done.stderr + done.stdout
    done = run("inspect", "goose:20260301", env=env)
    assert done.returncode == 2
    assert b"goose has 2 sessions whose id begins with 20260301" in done.stderr


def test_a_session_of_rows_in_a_database_is_listed_and_named(tmp_path: Path) -> None:
    folder = tmp_path / ".openclaw" / "agents" / "main" / "agent"
    folder.mkdir(parents=True)
    database(folder, OPENCLAW).rename(folder / "openclaw-agent.sqlite")
    listed = rows("--home", tmp_path)
    assert [(row["program"], row["id"], row["messages"]) for row in listed][:1] == [("openclaw", "s1", 1)]
    env = environment(HOME=str(tmp_path))
    done = run("convert", "openclaw:s1", "--to", "openai-chat", "-o", "-", "--fail-on-loss", env=env)
    assert b"openclaw-agent.sqlite:1 /0/id" in done.stderr
    done = run("convert", "openclaw:s1", "--to", "openai-chat", "-o", "-", env=env)
    assert json.loads(done.stdout)["messages"] == [{"role": "user", "content": "Hi."}]
