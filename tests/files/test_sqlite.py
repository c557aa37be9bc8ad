"""SQLite databases from anywhere: only what was committed is read, nothing next to them changes, and all is limited."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from convcli.files.framing import Record
from convcli.files.sqlite import open_database, reason
from convcli.model.errors import ContentError
from tests.files.test_databases import GOOSE, database, read

CRASH = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(f"PRAGMA journal_mode = {sys.argv[2]}")
connection.execute("PRAGMA cache_size = 2")
connection.execute("BEGIN")
connection.execute(sys.argv[3])
connection.execute("COMMIT")
connection.execute("BEGIN")
connection.execute(sys.argv[4])
os._exit(0)
"""
COMMITTED = """
WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 110)
INSERT INTO messages SELECT i, i, '20260301_1', 'user',
    '[{"type":"text","text":"committed ' || hex(zeroblob(800)) || '"}]', i, '', NULL, NULL FROM n
"""
UNCOMMITTED = """UPDATE messages SET content_json = '[{"type":"text","text":"uncommitted"}]'"""


def texts(records: list[Record]) -> set[str]:
    first = records[0].value["conversation"]
    return {message["content"][0]["text"][:9] for message in first if message["created"] >= 10}


@pytest.mark.parametrize("mode", ["DELETE", "TRUNCATE", "PERSIST", "WAL"])
def test_what_a_killed_program_did_not_commit_is_not_read(tmp_path: Path, mode: str) -> None:
    path = database(tmp_path, GOOSE)
    subprocess.run([sys.executable, "-c", CRASH, str(path), mode, COMMITTED, UNCOMMITTED], check=True)
    Path(f"{path}-shm").unlink(missing_ok=True)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert len(before) == 2
    assert texts(read(path)) == {"committed"}
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


@pytest.mark.skipif(os.getuid() == 0, reason="root writes into every folder")
def test_a_log_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    path = database(tmp_path, GOOSE)
    subprocess.run([sys.executable, "-c", CRASH, str(path), "WAL", COMMITTED, UNCOMMITTED], check=True)
    Path(f"{path}-shm").unlink()
    tmp_path.chmod(0o500)
    try:
        assert texts(read(path)) == {"committed"}
    finally:
        tmp_path.chmod(0o700)


def test_a_program_in_the_midst_of_a_transaction_does_not_change_what_is_read(tmp_path: Path) -> None:
    path = database(tmp_path, GOOSE)
    before = [record.value for record in read(path)]
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute(UNCOMMITTED)
    assert [record.value for record in read(path)] == before
    writer.execute("ROLLBACK")
    writer.close()


def test_a_database_that_changes_while_it_is_read_is_reported(tmp_path: Path) -> None:
    from convcli.files.opening import open_input

    path = database(tmp_path, GOOSE)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with open_input(str(path)) as source:
        records = source.each()
        assert next(records).error is None
        with sqlite3.connect(path) as connection:
            connection.execute(UNCOMMITTED)
        connection.close()
        later = next(records).error
    assert later is not None
    assert "has changed" in later.message


def test_no_copy_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    path = database(tmp_path, GOOSE)
    (tmp_path / "packed.db.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert [record.value for record in read(tmp_path / "packed.db.gz")] == [record.value for record in read(path)]
    assert os.listdir(tmp_path / "temporary") == []


ODD_IDS = {
    "missing": "UPDATE sessions SET id = NULL WHERE id = '20260301_1'",
    "bytes": "UPDATE sessions SET id = x'00ff' WHERE id = '20260301_1'",
    "not UTF-8": "UPDATE sessions SET id = CAST(x'ff' AS TEXT) WHERE id = '20260301_1'",
    "a text that is not UTF-8": "UPDATE messages SET role = CAST(x'ff' AS TEXT) WHERE session_id = '20260301_1'",
    "a list": "UPDATE messages SET content_json = 7 WHERE session_id = '20260301_1'",
}


@pytest.mark.parametrize("name", ["missing", "bytes", "a text that is not UTF-8"])
def test_an_odd_value_does_not_stop_the_other_sessions(tmp_path: Path, name: str) -> None:
    path = database(tmp_path, GOOSE)
    with sqlite3.connect(path) as connection:
        connection.execute(ODD_IDS[name])
    connection.close()
    odd, whole = read(path)
    assert odd.error is not None
    assert odd.error.code == "not-json"
    assert whole.error is None


def test_an_id_that_is_not_utf8_is_an_error_of_the_file(tmp_path: Path) -> None:
    path = database(tmp_path, GOOSE)
    with sqlite3.connect(path) as connection:
        connection.execute(ODD_IDS["not UTF-8"])
    connection.close()
    with pytest.raises(ContentError) as caught:
        read(path)
    assert caught.value.file == str(path)


def test_an_id_that_occurs_twice_is_an_error_of_its_sessions(tmp_path: Path) -> None:
    script = GOOSE.replace("id TEXT PRIMARY KEY", "id TEXT").replace("('20260301_2', 'Later'", "('20260301_1', 'Later'")
    assert [record.error and record.error.code for record in read(database(tmp_path, script))] == ["not-json"] * 2


GENERATED = "hex(zeroblob({size}))"
BOMBS = {
    "one value": GENERATED.format(size=10**7),
    "many values": GENERATED.format(size=5 * 10**5 - 100),
}


@pytest.mark.parametrize("name", BOMBS)
def test_generated_columns_cannot_be_larger_than_the_file(tmp_path: Path, name: str) -> None:
    column = f'content_json TEXT GENERATED ALWAYS AS (\'[{{"type":"text","text":"\' || {BOMBS[name]} || \'"}}]\')'
    script = GOOSE.replace("content_json TEXT", column).partition("INSERT INTO messages")[0]
    path = database(tmp_path, script)
    with sqlite3.connect(path) as connection:
        connection.executemany(
            "INSERT INTO messages (message_id, session_id, role, created_timestamp) VALUES (?, ?, 'user', 1)",
            [(str(number), "20260301_1") for number in range(4)],
        )
    connection.close()
    bomb, whole = read(path)
    assert bomb.error is not None
    assert bomb.error.code == "compression-bomb"
    assert whole.error is None


def test_a_query_without_end_is_stopped(tmp_path: Path) -> None:
    opened = open_database(str(database(tmp_path, GOOSE)))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(sqlite3.OperationalError) as caught:
        list(opened.rows(endless))
    assert reason(caught.value, "").code == "compression-bomb"
    opened.close()


def test_a_view_in_the_place_of_a_table_is_not_read(tmp_path: Path) -> None:
    path = database(tmp_path, GOOSE)
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE messages RENAME TO kept")
        connection.execute("CREATE VIEW messages AS SELECT * FROM kept")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET type = 'table' WHERE name = 'messages'")
    connection.close()
    with pytest.raises(ContentError, match="damaged"):
        read(path)


def test_large_sessions_are_within_the_limits(tmp_path: Path) -> None:
    path = database(tmp_path, GOOSE)
    with sqlite3.connect(path) as connection:
        for number in range(3):
            connection.execute(
                "INSERT INTO messages VALUES (?, ?, '20260301_1', 'user', ?, 9, '', NULL, NULL)",
                (number + 10, str(number), f'[{{"type":"text","text":"{"x" * (3 << 20)}"}}]'),
            )
    connection.close()
    shutil.copy(path, tmp_path / "again.db")
    assert [record.error for record in read(path)] == [None, None]
