"""Databases of goose and OpenCode: a record for each session, as its program exports it, and nothing is changed."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from pathlib import Path

import pytest

from convcli.files.databases import DatabaseSource, ids_in
from convcli.files.framing import Record
from convcli.files.opening import open_input
from convcli.model.errors import ContentError

GOOSE = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, user_set_name BOOLEAN, working_dir TEXT, created_at TIMESTAMP,
    extension_data TEXT, recipe_json TEXT, accumulated_cost REAL);
CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT,
    created_timestamp INTEGER, timestamp TIMESTAMP, tokens INTEGER, metadata_json TEXT);
INSERT INTO sessions VALUES ('20260301_1', 'First', 0, '/p', '2026-03-01T09:00:00Z', '{}', '{"title":"T"}', NULL);
INSERT INTO sessions VALUES ('20260301_2', 'Later', 1, '/p', '2026-03-01 09:00:05', '{}', NULL, 2.0);
INSERT INTO messages VALUES (1, 'b', '20260301_1', 'assistant', '[{"type":"text","text":"2"}]', 8, '', NULL, '{}');
INSERT INTO messages VALUES (2, 'a', '20260301_1', 'user', '[{"type":"text","text":"1"}]', 7, '', NULL, NULL);
INSERT INTO messages VALUES (3, 'c', '20260301_2', 'user', '[{"type":"text","text":"3"}]', 9, '', NULL, '{}');
"""
OPENCODE = """
CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT,
    share_url TEXT, summary_files INTEGER, summary_diffs TEXT, cost REAL, tokens_input INTEGER, permission TEXT,
    time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
INSERT INTO session VALUES ('ses_1', 'global', NULL, 's', '/p', 'T', '1', 'https://x', 2, '[]', 0.5, 3, '[]', 1, 2);
INSERT INTO message VALUES ('msg_1', 'ses_1', 1, '{"role":"user","time":{"created":1}}');
INSERT INTO part VALUES ('prt_2', 'msg_1', 'ses_1', '{"type":"text","text":"two"}');
INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"one"}');
"""

OPENCLAW = """
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB);
INSERT INTO transcript_events VALUES
    ('s1', 1, '{"type":"message","id":"a","message":{"role":"user","content":"Hi."}}', NULL);
INSERT INTO transcript_events VALUES ('s1', 0, '{"type":"session","version":3,"id":"s1","cwd":"/p"}', NULL);
INSERT INTO transcript_events VALUES ('s2', 0, '{"type":"session","version":3,"id":"s2","cwd":"/p"}', NULL);
"""


@pytest.fixture
def goose(tmp_path: Path) -> Path:
    return database(tmp_path, GOOSE)


def database(folder: Path, script: str) -> Path:
    path = folder / "sessions.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return path


def read(path: Path) -> list[Record]:
    with open_input(str(path)) as source:
        assert isinstance(source, DatabaseSource)
        return list(source.each())


def test_a_session_of_goose_is_a_record_with_its_messages_in_the_order_of_time(goose: Path) -> None:
    first, later = read(goose)
    assert [first.line, later.line] == [1, 2]
    assert [message["id"] for message in first.value["conversation"]] == ["a", "b"]
    assert first.value["recipe"] == {"title": "T"}
    assert first.value["user_set_name"] is False
    assert later.value["created_at"] == "2026-03-01T09:00:05Z"
    assert json.dumps(later.value["accumulated_cost"]) == "2"
    assert "recipe" not in later.value
    assert ids_in(str(goose)) == ["20260301_1", "20260301_2"]


def test_a_session_of_opencode_is_a_record_like_its_export(tmp_path: Path) -> None:
    [record] = read(database(tmp_path, OPENCODE))
    parts = record.value["messages"][0]["parts"]
    assert parts[0] == {"type": "text", "text": "one", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1"}
    assert record.value["messages"][0]["info"]["id"] == "msg_1"
    info = record.value["info"]
    assert info["summary"] == {"files": 2, "diffs": []}
    assert info["share"] == {"url": "https://x"}
    assert info["time"] == {"created": 1, "updated": 2}
    assert info["tokens"]["input"] == 3


def test_a_packed_database_and_one_with_changes_next_to_it_are_read(goose: Path, tmp_path: Path) -> None:
    whole = [record.value for record in read(goose)]
    packed = tmp_path / "packed.db.gz"
    packed.write_bytes(gzip.compress(goose.read_bytes()))
    assert [record.value for record in read(packed)] == whole
    connection = sqlite3.connect(goose)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("DELETE FROM sessions WHERE id = '20260301_2'")
    connection.commit()
    assert [record.value for record in read(goose)] == whole[:1]
    connection.close()


def test_nothing_is_changed_next_to_a_database(goose: Path) -> None:
    before, names = goose.read_bytes(), os.listdir(goose.parent)
    read(goose)
    assert goose.read_bytes() == before
    assert os.listdir(goose.parent) == names


def test_a_session_with_broken_json_does_not_stop_the_others(goose: Path) -> None:
    with sqlite3.connect(goose) as connection:
        connection.execute("UPDATE messages SET content_json = '[' WHERE message_id = 'a'")
    connection.close()
    broken, whole = read(goose)
    assert broken.error is not None
    assert broken.error.line == 1
    assert whole.error is None


def test_a_session_with_a_key_twice_says_so(goose: Path) -> None:
    with sqlite3.connect(goose) as connection:
        content = """[{"type":"text","text":"Hi.","text":"Ho."}]"""
        connection.execute("UPDATE messages SET content_json = ? WHERE message_id = 'a'", [content])
    connection.close()
    with open_input(str(goose), duplicate_keys="last") as source:
        repeated = [record.warning for record in source.each()]
    assert [None if error is None else (error.code, error.line) for error in repeated] == [("duplicate-key", 1), None]


WARP = "CREATE TABLE ai_queries (input); CREATE TABLE terminal_panes (id);"


@pytest.mark.parametrize(
    ("script", "what"),
    [("CREATE TABLE t (x);", "looks like a SQLite"), (WARP, "the database of Warp"), (None, "damaged")],
)
def test_other_and_damaged_databases_are_refused(script: str | None, what: str, tmp_path: Path) -> None:
    path = database(tmp_path, script or GOOSE)
    if script is None:
        path.write_bytes(path.read_bytes()[:100] + b"\xff" * 400)
    with pytest.raises(ContentError, match=what):
        read(path)
