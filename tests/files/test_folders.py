"""Sessions of Strands Agents in folders: one document for each agent, in the order of the message numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli.files.folders import is_piece, stands_for_folder
from convcli.files.opening import open_input
from convcli.jobs import paths, programs
from convcli.model.errors import ContentError
from tests.cli_cases import run
from tests.support import samples_of

[RECORDED] = [one.document for one in samples_of("strands") if one.path.name == "recorded.json"]


def write_session(home: Path, document: Any, agent: str = "default") -> Path:
    """Writes the files of a session as FileSessionManager does. Returns that of the agent."""
    session = home / ".strands" / "sessions" / f"session_{document['session']['session_id']}"
    folder = session / "agents" / f"agent_{agent}"
    (folder / "messages").mkdir(parents=True)
    (session / "session.json").write_text(json.dumps(document["session"]))
    (folder / "agent.json").write_text(json.dumps(document["agent"]))
    for row in document["messages"]:
        (folder / "messages" / f"message_{row['message_id']}.json").write_text(json.dumps(row))
    return folder / "agent.json"


def only_record(path: Path) -> Any:
    with open_input(str(path)) as source:
        [record] = source.each()
    if record.error is not None:
        raise record.error
    return record.value


def test_the_files_of_a_session_are_one_document(tmp_path: Path) -> None:
    assert only_record(write_session(tmp_path, RECORDED)) == RECORDED


def test_messages_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    row = RECORDED["messages"][0]
    document = {**RECORDED, "messages": [{**row, "message_id": number} for number in range(12)]}
    assert [one["message_id"] for one in only_record(write_session(tmp_path, document))["messages"]] == [*range(12)]


def test_the_file_of_a_broken_message_is_named(tmp_path: Path) -> None:
    agent = write_session(tmp_path, RECORDED)
    broken = agent.parent / "messages" / "message_1.json"
    broken.write_text('{"message": ')
    with pytest.raises(ContentError) as caught:
        only_record(agent)
    assert (caught.value.code, caught.value.file) == ("not-json", str(broken))


def test_the_file_with_a_key_twice_is_named(tmp_path: Path) -> None:
    agent = write_session(tmp_path, RECORDED)
    repeats = agent.parent / "messages" / "message_1.json"
    repeats.write_text('{"a": 1, ' + repeats.read_text()[1:-1] + ', "a": 2}')
    with open_input(str(agent), duplicate_keys="last") as source:
        [record] = source.each()
    assert record.warning is not None
    assert (record.warning.code, record.warning.file) == ("duplicate-key", str(repeats))


def test_a_folder_lists_the_agents_of_a_session_and_none_of_the_pieces(tmp_path: Path) -> None:
    agent = write_session(tmp_path, RECORDED)
    assert [file.path for file in paths.find([str(tmp_path)])] == [str(agent)]
    assert stands_for_folder(str(agent))
    assert is_piece(str(agent.parent / "messages" / "message_0.json"))


def test_files_of_the_same_names_elsewhere_are_read_as_they_are(tmp_path: Path) -> None:
    for name in ("agent.json", "session.json", "message_0.json"):
        (tmp_path / name).write_text("[]")
    assert len(paths.find([str(tmp_path)])) == 3
    assert not stands_for_folder(str(tmp_path / "agent.json"))


def test_a_session_is_found_by_its_id(tmp_path: Path) -> None:
    agent = write_session(tmp_path, RECORDED)
    assert programs.file_of("strands:recor", str(tmp_path)) == str(agent)


def test_a_session_is_converted_with_its_folder(tmp_path: Path) -> None:
    agent = write_session(tmp_path, RECORDED)
    done = run("convert", agent.parent.parent.parent, "--to", "strands", "-o", tmp_path / "one.jsonl")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "one.jsonl").read_bytes()) == RECORDED
