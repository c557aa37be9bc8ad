"""convcli convert --tools and --program-turns."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli_cases import run, write
from tests.engine.test_row_choices import SESSION


def test_options_choose_tools_and_turns_of_the_program(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", *SESSION)
    done = run("convert", source, "--to", "hf-chat")
    row = json.loads(done.stdout)
    assert (len(row["messages"]), len(row["tools"])) == (4, 1)
    assert b"left out, written by the agent program: command-name" in done.stderr
    row = json.loads(run("convert", source, "--to", "hf-chat", "--tools", "none", "--program-turns", "keep").stdout)
    assert (len(row["messages"]), row.get("tools")) == (5, None)


def test_an_unknown_choice_is_an_error(tmp_path: Path) -> None:
    done = run("convert", write(tmp_path / "a.jsonl", *SESSION), "--to", "hf-chat", "--tools", "progam")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"error[unknown-choice]" in done.stderr


def test_a_turn_of_the_program_that_is_left_out_does_not_stop_a_job(tmp_path: Path) -> None:
    source, losses = write(tmp_path / "a.jsonl", *SESSION), tmp_path / "losses.json"
    done = run("convert", source, "--to", "hf-chat", "--fail-on-loss=content", "--losses", losses)
    assert done.returncode == 0
    assert json.loads(done.stdout)["losses"] == 0
    (loss,) = [each for each in json.loads(losses.read_bytes()) if each["field"].startswith("programTurn")]
    assert (loss["kind"], loss["level"]) == ("dropped", "content")


def test_tools_get_the_names_of_another_program(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    row = {**SESSION[-1], "uuid": "u9", "parentUuid": SESSION[-1]["uuid"], "type": "assistant"}
    source = write(tmp_path / "a.jsonl", *SESSION, {**row, "message": {"role": "assistant", "content": [call]}})
    losses = tmp_path / "losses.json"
    done = run("convert", source, "--to", "openai-chat", "--tools-of", "codex", "--losses", losses)
    assert b'"exec_command"' in done.stdout
    changed = [loss for loss in json.loads(losses.read_bytes()) if loss["field"] == "tool_call.name"]
    assert [(loss["kind"], loss["before"], loss["after"]) for loss in changed] == [("changed", "Bash", "exec_command")]
    assert b'"exec_command"' not in run("convert", source, "--to", "openai-chat", "--tools-of", "none").stdout
    done = run("convert", source, "--to", "openai-chat", "--tools-of", "codx")
    assert (done.returncode, b"error[unknown-program]" in done.stderr) == (2, True)


def test_resume_renames_tools_on_request(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    row = {**SESSION[-1], "uuid": "u9", "parentUuid": SESSION[-1]["uuid"], "type": "assistant"}
    source = write(tmp_path / "a.jsonl", *SESSION, {**row, "message": {"role": "assistant", "content": [call]}})
    for options, name in (((), b'"Bash"'), (("--tools-of", "codex"), b'"exec_command"')):
        home = tmp_path / name.decode().strip('"')
        run("resume", source, "--in", "codex", "--home", home, "--cwd", tmp_path, *options)
        (session,) = home.rglob("*.jsonl")
        assert name in session.read_bytes()
