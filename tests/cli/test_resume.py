"""convcli resume: a file where the program looks for it, never over another, and the command that goes on."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from convcli.jobs import programs
from tests.cli_cases import ROOT, environment, run
from tests.files.test_databases import OPENCLAW, database

SESSION = ROOT / "samples" / "openclaw" / "twin-weather.jsonl"


def test_the_help_names_every_program_that_goes_on() -> None:
    about = run("resume", "-h").stdout.decode().partition("--to PROGRAM")[2].partition("[required]")[0]
    named = re.findall("[a-z-]+", about.partition(":")[2].replace(" or ", " "))
    assert named == sorted(programs.resumable())


@pytest.mark.parametrize("program", programs.resumable())
def test_the_session_is_written_where_the_program_looks_for_it(program: str, tmp_path: Path) -> None:
    done = run("resume", SESSION, "--in", program, "--home", tmp_path, "--cwd", tmp_path)
    assert done.returncode == 0, done.stderr
    [path] = programs.files(programs.get(program), str(tmp_path))
    assert f"wrote {path}\n".encode() in done.stderr
    assert done.stdout.decode().startswith(f"cd {tmp_path} && ")
    words = done.stdout.decode().split()
    last = words[-1].removeprefix("agent:main:")
    assert path in words or last in path or path[: path.rindex(".")].endswith(last[:8])
    same = run("diff", SESSION, path, "--level", "content", "--output-format", "json")
    assert b'"tool_result"' not in same.stdout
    assert run("validate", path).returncode == 0


@pytest.mark.parametrize(
    ("program", "setting"),
    [
        ("codex", "CODEX_HOME={}/.codex codex resume"),
        ("gemini-cli", "HOME={} gemini --resume"),
        ("pi", "pi --session {}/"),
    ],
)
def test_the_command_names_another_home(program: str, setting: str, tmp_path: Path) -> None:
    done = run("resume", SESSION, "--in", program, "--home", tmp_path, "--cwd", "/nowhere")
    assert done.stdout.decode().startswith(f"cd /nowhere && {setting.format(tmp_path)}")
    assert b"note: there is no directory /nowhere here\n" in done.stderr
    own = run("resume", SESSION, "--in", program, "--cwd", tmp_path, env=environment(HOME=str(tmp_path / "own")))
    assert "HOME" not in own.stdout.decode()


def test_no_session_of_a_database_is_written_again(tmp_path: Path) -> None:
    words = "resume", SESSION, "--in", "openclaw", "--home", tmp_path
    assert run(*words, "--dry-run").returncode == 0
    id_ = run(*words, "--dry-run").stdout.decode().strip().rpartition(":")[2]
    folder = tmp_path / ".openclaw" / "agents" / "main" / "agent"
    folder.mkdir(parents=True)
    database(folder, OPENCLAW.replace("s1", id_)).rename(folder / "openclaw-agent.sqlite")
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"error[output-exists]" in done.stderr
    assert not (tmp_path / ".openclaw" / "agents" / "main" / "sessions").exists()


def test_no_session_is_replaced(tmp_path: Path) -> None:
    words = "resume", SESSION, "--in", "codex", "--home", tmp_path
    assert run(*words).returncode == 0
    [path] = programs.files(programs.get("codex"), str(tmp_path))
    before = Path(path).read_bytes()
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"already exists" in done.stderr
    assert b"--force" not in done.stderr
    assert Path(path).read_bytes() == before


def test_cline_finds_the_session_by_a_manifest_beside_it(tmp_path: Path) -> None:
    words = "resume", SESSION, "--in", "cline", "--home", tmp_path, "--cwd", tmp_path
    assert run(*words).returncode == 0
    [path] = programs.files(programs.get("cline"), str(tmp_path))
    [manifest_path] = {str(one) for one in Path(path).parent.iterdir()} - {path}
    manifest = json.loads(Path(manifest_path).read_bytes())
    assert manifest_path == path.replace(".messages.json", ".json")
    assert json.loads(Path(path).read_bytes())["sessionId"] == manifest["session_id"]
    assert (manifest["messages_path"], manifest["model"], manifest["cwd"]) == (path, "twin-1", str(tmp_path))
    os.remove(path)
    assert run(*words).returncode == 2
    assert not os.path.exists(path)


def test_openclaw_takes_the_session_in_by_an_index_and_another_waits_until_it_has(tmp_path: Path) -> None:
    words = "--in", "openclaw", "--home", tmp_path, "--cwd", tmp_path
    assert run("resume", SESSION, *words).returncode == 0
    [path] = map(Path, programs.files(programs.get("openclaw"), str(tmp_path)))
    index = json.loads((path.parent / "sessions.json").read_bytes())
    assert index == {f"agent:main:{path.stem}": {"sessionId": path.stem, "updatedAt": 0, "sessionFile": path.name}}
    done = run("resume", chat(tmp_path, {"role": "assistant", "content": "Ho."}), *words)
    assert done.returncode == 2
    assert b"let it continue that one first" in done.stderr
    assert [path] == [Path(one) for one in programs.files(programs.get("openclaw"), str(tmp_path))]


def test_a_message_whose_parent_no_row_has_follows_the_one_before_it(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in SESSION.read_bytes().splitlines()]
    rows[-1]["parentId"] = "call_tokyo"
    source = tmp_path / "session.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = run("resume", source, "--in", "pi", "--home", tmp_path, "--cwd", tmp_path)
    assert b"parentId" in done.stderr.splitlines()[1]
    [path] = programs.files(programs.get("pi"), str(tmp_path))
    last, before = (json.loads(line) for line in Path(path).read_bytes().splitlines()[:-3:-1])
    assert last["parentId"] == before["id"]


def test_what_the_program_would_leave_out_is_told(tmp_path: Path) -> None:
    source = tmp_path / "chat.json"
    source.write_text(
        '{"messages": [{"role": "user", "content": "/usr/bin?"}, {"role": "assistant", "content": "Hm."}]}'
    )
    done = run("resume", source, "--in", "gemini-cli", "--home", tmp_path)
    assert done.returncode == 0
    assert b"warning[unread-row]" in done.stderr
    assert b"/messages/0" in done.stderr


@pytest.mark.parametrize(("program", "unsent"), [("claude-code", True), ("cline", True), ("codex", False)])
def test_instructions_that_the_program_has_of_its_own_are_told(program: str, unsent: bool, tmp_path: Path) -> None:
    done = run("resume", SESSION, "--in", program, "--home", tmp_path)
    assert (b"does not send the instructions" in done.stderr) == unsent


def test_thinking_that_the_program_does_not_send_is_told_of_its_own_session_too(tmp_path: Path) -> None:
    source = chat(tmp_path, {"role": "assistant", "content": "Ho.", "reasoning_content": "Hm."})
    for folder in ("first", "again"):
        done = run("resume", source, "--in", "copilot-cli", "--home", tmp_path / folder, "--cwd", tmp_path)
        assert b"does not send the thinking of a session" in done.stderr
        [source] = map(Path, programs.files(programs.get("copilot-cli"), str(tmp_path / folder)))


def chat(folder: Path, *answer: dict[str, Any]) -> Path:
    """A file with a conversation in which this follows the question."""
    source = folder / "chat.json"
    source.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi."}, *answer]}))
    return source


def calling(name: str, arguments: str) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "tool_calls": [call]}


def test_thinking_that_the_program_sends_as_text_is_told(tmp_path: Path) -> None:
    source = chat(tmp_path, {"role": "assistant", "content": "Ho.", "reasoning_content": "Hm."})
    done = run("resume", source, "--in", "opencode", "--home", tmp_path)
    assert b"note: OpenCode sends thinking as text, to a model other than its author (1 \xc3\x97)" in done.stderr
    [path] = programs.files(programs.get("opencode"), str(tmp_path))
    again = run("resume", path, "--in", "opencode", "--home", tmp_path / "again")
    assert b"note: OpenCode sends thinking as text" in again.stderr


def test_tools_that_the_program_calls_by_another_name_are_told(tmp_path: Path) -> None:
    source = chat(tmp_path, calling("Task", "{}"))
    done = run("resume", source, "--in", "claude-code", "--home", tmp_path, "--cwd", tmp_path)
    assert b"note: Claude Code sends calls of Task as calls of Agent" in done.stderr


def test_long_results_that_cline_cuts_are_told(tmp_path: Path) -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": "x" * 8_001}
    source = chat(tmp_path, calling("ls", "{}"), result)
    done = run("resume", source, "--in", "cline", "--home", tmp_path, "--cwd", tmp_path)
    assert b"Cline sends results of more than 8,000 characters without their middle (1 " in done.stderr


def test_what_cline_sends_of_its_own_session_in_other_words_is_told(tmp_path: Path) -> None:
    image = {"type": "image", "data": "aGk=", "mediaType": "image/png"}
    use = {"type": "tool_use", "id": "c1", "name": "read_files", "input": {}}
    output = [{"query": "a.png", "result": [image], "success": True}]
    result = {"type": "tool_result", "tool_use_id": "c1", "name": "read_files", "content": output}
    words = [{"type": "text", "text": '<user_input mode="act">Hi.</user_input>'}]
    contents = ("user", words), ("assistant", [use]), ("user", [result])
    messages = [{"id": f"m{n}", "role": role, "content": content} for n, (role, content) in enumerate(contents)]
    source = tmp_path / "s.messages.json"
    source.write_text(json.dumps({"version": 1, "agent": "lead", "sessionId": "s", "messages": messages}))
    done = run("resume", source, "--in", "cline", "--home", tmp_path, "--cwd", tmp_path)
    assert b"Cline sends user messages without <user_input> (1 " in done.stderr
    assert b"Cline sends images in results after these results (1 " in done.stderr


def test_results_that_goose_sends_in_other_words_are_told(tmp_path: Path) -> None:
    source = chat(tmp_path, calling("ls", "{}"), {"role": "tool", "tool_call_id": "c1", "content": ""})
    done = run("resume", source, "--in", "goose", "--home", tmp_path, "--cwd", tmp_path)
    assert b'note: goose sends empty results as "(empty result)" (1 ' in done.stderr


def test_arguments_that_pi_does_not_send_are_told(tmp_path: Path) -> None:
    source = chat(tmp_path, calling("ls", "{bad"))
    done = run("resume", source, "--in", "pi", "--home", tmp_path, "--cwd", tmp_path)
    assert b"note: pi sends arguments that are not JSON as an empty object (1 " in done.stderr


def test_the_run_of_an_agent_is_resumed_as_a_session_of_its_own(tmp_path: Path) -> None:
    usual = {"sessionId": "0c0ffee0-0000-4000-8000-000000000001", "isSidechain": True, "agentId": "a1"}
    turns = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": [{"type": "text", "text": "Ok."}]}]
    links = [{"uuid": "u1", "parentUuid": None}, {"uuid": "u2", "parentUuid": "u1"}]
    rows = [{**usual, "type": turn["role"], **link, "message": turn} for turn, link in zip(turns, links, strict=True)]
    source = tmp_path / "agent-a1.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "agent-a1.meta.json").write_text('{"toolUseId": "toolu_1", "description": "Look around"}')
    done = run("resume", source, "--in", "claude-code", "--home", tmp_path, "--cwd", tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"parentCallId" in done.stderr
    [path] = programs.files(programs.get("claude-code"), str(tmp_path))
    written = [json.loads(line) for line in Path(path).read_bytes().splitlines()]
    messages = [row for row in written if "message" in row]
    assert [row.get("isSidechain") for row in messages] == [False, False]
    assert not any("parent_tool_use_id" in row or "agentId" in row for row in messages)
    assert any(row.get("customTitle") == "Look around" for row in written)


def test_lines_that_cannot_be_read_are_left_out_only_when_asked(tmp_path: Path) -> None:
    source = tmp_path / "broken.jsonl"
    first, *rest = SESSION.read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join([first, b"{]\n", *rest]))
    done = run("resume", source, "--in", "codex", "--home", tmp_path)
    assert done.returncode == 1
    assert os.listdir(tmp_path) == ["broken.jsonl"]
    assert b"--keep-going leaves out" in done.stderr
    done = run("resume", source, "--in", "codex", "--home", tmp_path, "--keep-going")
    assert done.returncode == 1, done.stderr
    assert b"broken.jsonl:2" in done.stderr
    assert b"wrote " in done.stderr


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = run("resume", SESSION, "--in", "codex", "--home", tmp_path, "--dry-run")
    assert done.returncode == 0
    assert b"would write " in done.stderr
    assert os.listdir(tmp_path) == []


def test_several_transcripts_are_not_one_session(tmp_path: Path) -> None:
    done = run("resume", ROOT / "samples" / "openai-ft" / "fine-tuning.jsonl", "--in", "codex", "--home", tmp_path)
    assert done.returncode == 2
    assert b"transcripts in" in done.stderr


def test_a_wrong_program_gets_the_nearest(tmp_path: Path) -> None:
    done = run("resume", SESSION, "--in", "codx", "--home", tmp_path)
    assert (done.returncode, b'did you mean "codex"?' in done.stderr) == (2, True)


def test_a_session_whose_last_line_is_torn_goes_on_without_it(tmp_path: Path) -> None:
    source = tmp_path / "torn.jsonl"
    source.write_bytes(SESSION.read_bytes() + b'{"type":"message","id":"x","mess')
    done = run("resume", source, "--in", "codex", "--home", tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"note: the last line is torn" in done.stderr


def test_a_view_without_a_message_is_refused(tmp_path: Path) -> None:
    rows = [
        {"type": kind, "uuid": "u", "parentUuid": None, "sessionId": "s", "timestamp": "2026-01-02T03:04:05Z",
         "cwd": "/x", "version": "1", "message": {"role": role, "parts": [{"text": "Hi."}]}}
        for kind, role in (("user", "user"), ("assistant", "model"))
    ]  # fmt: skip
    rows.append({**rows[0], "type": "system", "subtype": "ui_telemetry"})
    source = tmp_path / "s.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("resume", source, "--from", "qwen-code", "--in", "claude-code", "--home", tmp_path / "home")
    assert (done.returncode, b"error[no-messages]" in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "home").exists()


def test_strands_finds_a_session_in_a_folder(tmp_path: Path) -> None:
    source = ROOT / "samples" / "strands" / "recorded.json"
    done = run("resume", source, "--in", "strands", "--home", tmp_path, "--cwd", tmp_path)
    assert done.returncode == 0, done.stderr
    [agent] = map(Path, programs.files(programs.get("strands"), str(tmp_path)))
    document = json.loads(source.read_bytes())
    contents = {path.name: json.loads(path.read_bytes()) for path in agent.parents[2].rglob("*.json")}
    session, of_agent = contents.pop("session.json"), contents.pop("agent.json")
    assert agent.parents[2].name == f"session_{session['session_id']}"
    assert (agent.parent.name, of_agent["agent_id"]) == ("agent_default", "default")
    assert of_agent["state"] == document["agent"]["state"], "the user's state is kept"
    rows = {f"message_{row['message_id']}.json": row for row in document["messages"]}
    assert {name: row["message"]["content"] for name, row in contents.items()} == {
        name: row["message"]["content"] for name, row in rows.items()
    }
    assert run("resume", source, "--in", "strands", "--home", tmp_path, "--cwd", tmp_path).returncode == 2
