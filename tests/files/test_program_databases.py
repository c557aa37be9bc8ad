"""Sessions of each program's database, as the program exports them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from convcli.files.databases import DatabaseSource, ids_in
from convcli.files.framing import open_stored
from convcli.jobs import inputs
from convcli.jobs.documents import Document
from convcli.model.errors import ContentError
from tests.files.test_databases import GOOSE, OPENCLAW, OPENCODE, database, read
from tests.support import SAMPLES


def test_a_session_of_openclaw_is_its_rows_in_order_and_long_ones_are_unpacked(tmp_path: Path) -> None:
    path = database(tmp_path, OPENCLAW)
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress(b'{"type":"label","id":"b"}')
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO transcript_events VALUES ('s1', 2, NULL, ?)", (packed,))
    connection.close()
    first, later = read(path)
    assert [row.get("id") for row in first.value] == ["s1", "a", "b"]
    assert len(later.value) == 1
    assert ids_in(str(path)) == ["s1", "s2"]


ASKED, ANSWERED = '{"role":"user","content":"Hi."}', '{"role":"assistant","content":"Yo."}'
CURSOR = """
CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
"""
EDITOR = """
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES
    ('composerData:c1', '{"composerId":"c1","fullConversationHeadersOnly":[{"bubbleId":"b1"},{"bubbleId":"b2"}]}'),
    ('composerData:empty', '{"composerId":"empty"}'),
    ('composerData:old', '{"composerId":"old","conversation":[{"type":1,"bubbleId":"o1","text":"Hi."}]}'),
    ('bubbleId:c1:b2', CAST('{"type":2,"bubbleId":"b2","text":"Yo."}' AS BLOB)),
    ('bubbleId:c1:b1', '{"type":1,"bubbleId":"b1","text":"Hi."}'),
    ('bubbleId:c1:b9', '{"type":2,"bubbleId":"b9","text":"Left out."}'),
    ('bubbleId:old:o1', '{"type":1,"bubbleId":"o1","text":"Hi."}'),
    ('bubbleId:old:o2', '{"type":2,"bubbleId":"o2","text":"Stored apart."}'),
    ('bubbleId:c10:b1', '{"type":1,"bubbleId":"b1","text":"Other."}');
"""


def cursor(folder: Path, root: bytes | None, record: str) -> Path:
    path = database(folder, CURSOR)
    blobs = {"aa" * 32: ANSWERED, "bb" * 32: ASKED, "cc" * 32: b"\x0a\x01x", **({"dd" * 32: root} if root else {})}
    with sqlite3.connect(path) as connection:
        connection.executemany("INSERT INTO blobs VALUES (?, ?)", blobs.items())
        connection.execute("INSERT INTO meta VALUES ('0', ?)", (record,))
    connection.close()
    return path


@pytest.mark.parametrize("is_hexadecimal", [True, False])
def test_the_root_of_a_session_of_cursor_names_its_messages(is_hexadecimal: bool, tmp_path: Path) -> None:
    record = f'{{"agentId":"a1","latestRootBlobId":"{"dd" * 32}"}}'
    root = b"\x08\x07" + b"".join(b"\x0a\x20" + bytes.fromhex(id_ * 32) for id_ in ("cc", "bb", "aa")) + b"\x12\x01x"
    path = cursor(tmp_path, root, record.encode().hex() if is_hexadecimal else record)
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO blobs VALUES (?, ?)", ("ee" * 32, '{"role":"user","content":"Earlier."}'))
    connection.close()
    [session] = read(path)
    assert [message["content"] for message in session.value["messages"]] == ["Hi.", "Yo."]
    assert [message["content"] for message in session.value["unlistedMessages"]] == ["Earlier."]
    assert (ids_in(str(path)), session.value["agentId"]) == (["a1"], "a1")


def test_an_agent_of_cursor_without_a_record_is_an_error_of_the_file(tmp_path: Path) -> None:
    path = cursor(tmp_path, None, "{}")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = NULL")
    connection.close()
    with pytest.raises(ContentError, match="damaged"):
        ids_in(str(path))


@pytest.mark.parametrize("root", [None, b"\x0a\x20too short", b"\xff" * 40])
def test_without_a_root_messages_are_in_the_order_of_their_rows(root: bytes | None, tmp_path: Path) -> None:
    [session] = read(cursor(tmp_path, root, f'{{"agentId":"a1","latestRootBlobId":"{"dd" * 32}"}}'))
    assert [message["content"] for message in session.value["messages"]] == ["Yo.", "Hi."]


def test_sessions_of_cursors_editor_have_their_bubbles_in_order(tmp_path: Path) -> None:
    first, old = read(database(tmp_path, EDITOR))
    assert [bubble["bubbleId"] for bubble in first.value["bubbles"]] == ["b1", "b2"]
    assert [bubble["bubbleId"] for bubble in first.value["unlistedBubbles"]] == ["b9"]
    assert old.value["conversation"][0]["text"] == "Hi."
    assert [bubble["bubbleId"] for bubble in old.value["unlistedBubbles"]] == ["o2"]


@pytest.mark.parametrize("session", ["null", "[1]", '{"fullConversationHeadersOnly":["b1"]}'])
def test_a_session_of_cursors_editor_that_is_none_is_an_error_at_its_number(session: str, tmp_path: Path) -> None:
    path = database(tmp_path, EDITOR)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE cursorDiskKV SET value = ? WHERE key = 'composerData:c1'", (session,))
    connection.close()
    with DatabaseSource(open_stored(str(path)), None, "last") as source:
        errors = [record.error for record in source.each()]
    assert [(error.code, error.line) for error in errors if error is not None] == [("not-json", 1)]


def test_a_thread_of_zed_is_json_that_may_be_packed(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = database(tmp_path, "CREATE TABLE threads (id TEXT, folder_paths TEXT, data_type TEXT, data BLOB);")
    thread = b'{"version":"0.3.0","messages":[{"User":{"id":"u","content":[{"Text":"Hi."}]}}]}'
    rows = [("t1", "/p", "json", thread), ("t2", None, "zstd", zstandard.ZstdCompressor().compress(thread))]
    with sqlite3.connect(path) as connection:
        connection.executemany("INSERT INTO threads VALUES (?, ?, ?, ?)", rows)
    connection.close()
    first, packed = (record.value for record in read(path))
    assert first == {**packed, "id": "t1", "folder_paths": "/p"}
    assert (packed["id"], packed["version"]) == ("t2", "0.3.0")


CRUSH = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER);
CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT, path TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts BLOB, created_at INTEGER);
INSERT INTO sessions VALUES ('s1', NULL, 'First', 7), ('s2', 's1', 'Later', 8);
INSERT INTO messages VALUES ('b', 's1', 'assistant', '[{"type":"text","data":{"text":"Yo."}}]', 9);
INSERT INTO messages VALUES ('a', 's1', 'user', CAST('[{"type":"text","data":{"text":"Hi."}}]' AS BLOB), 8);
"""


def test_a_session_of_crush_has_the_columns_of_its_rows(tmp_path: Path) -> None:
    first, later = (record.value for record in read(database(tmp_path, CRUSH)))
    assert (first["title"], [one["id"] for one in first["messages"]]) == ("First", ["a", "b"])
    assert first["messages"][0]["parts"] == [{"type": "text", "data": {"text": "Hi."}}]
    assert (later["parent_session_id"], later["messages"]) == ("s1", [])


HERMES = """
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, title TEXT, started_at REAL);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_calls TEXT, active INTEGER
);
INSERT INTO sessions VALUES ('s1', 'cli', NULL, 7.5);
INSERT INTO messages VALUES (1, 's1', 'user', char(0) || 'json:[{"type":"text","text":"Hi."}]', NULL, 1);
INSERT INTO messages VALUES (2, 's1', 'user', 'Rewound.', NULL, 0);
INSERT INTO messages VALUES (3, 's1', 'assistant', 'Yo.', '[{"id":"c1"}]', 1);
"""


def test_a_session_of_hermes_agent_has_its_active_messages(tmp_path: Path) -> None:
    [session] = (record.value for record in read(database(tmp_path, HERMES)))
    asked, answered = session["messages"]
    assert (session["started_at"], asked["content"]) == (7.5, [{"type": "text", "text": "Hi."}])
    assert (answered["content"], answered["tool_calls"]) == ("Yo.", [{"id": "c1"}])
    assert [message["content"] for message in session["inactive_messages"]] == ["Rewound."]


LLM = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, prompt TEXT, response TEXT, conversation_id TEXT, options_json TEXT);
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, content BLOB);
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT, tool_call_id TEXT);
INSERT INTO conversations VALUES ('t1', 'Tea', 'm');
INSERT INTO responses VALUES ('r1', 'Hi.', 'Yo.', 't1', '{"temperature":1}');
INSERT INTO attachments VALUES ('a', 'image/png', CAST('hi' AS BLOB));
INSERT INTO prompt_attachments VALUES ('r1', 'a', 0);
INSERT INTO tool_calls VALUES (1, 'r1', 'f', '{"n":1}', 'c1');
"""
NEWER = """
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT);
CREATE TABLE turns (
    id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, schema_id TEXT
);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
CREATE TABLE parts (message_hash TEXT, position INTEGER, type TEXT, text TEXT, payload TEXT);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE schemas (id TEXT PRIMARY KEY, content TEXT);
CREATE TABLE tools (id INTEGER PRIMARY KEY, name TEXT, input_schema TEXT);
CREATE TABLE turn_tools (turn_id TEXT, tool_id INTEGER);
INSERT INTO threads VALUES ('t1', 'Tea'), ('t2', 'Rain');
INSERT INTO turns VALUES ('r2', 't1', 'm3', 'm4', NULL), ('r3', 't2', 'm1', 'm9', NULL);
INSERT INTO messages VALUES ('m0', NULL, 'system'), ('m1', 'm0', 'user'), ('m2', 'm1', 'assistant');
INSERT INTO messages VALUES ('m3', 'm2', 'user'), ('m4', 'm3', 'assistant');
INSERT INTO parts VALUES ('m0', 0, 'text', 'Be brief.', NULL), ('m4', 0, 'text', 'Yes.', NULL);
INSERT INTO parts VALUES
    ('m3', 0, 'text', NULL, '{"text_ref":[{"fragment":1},{"literal":" Good?"}]}'),
    ('m3', 1, 'attachment', NULL, '{"attachment":{"id":"a"}}');
INSERT INTO fragments VALUES (1, 'A story.');
INSERT INTO tools VALUES (1, 'f', '{"type":"object"}');
INSERT INTO turn_tools VALUES ('r2', 1);
"""


def test_a_conversation_of_llm_has_the_turns_of_older_and_newer_versions(tmp_path: Path) -> None:
    older = {
        "id": "r1",
        "prompt": "Hi.",
        "response": "Yo.",
        "conversation_id": "t1",
        "options_json": {"temperature": 1},
        "conversation_name": "Tea",
        "conversation_model": "m",
        "tool_calls": [{"id": 1, "name": "f", "arguments": {"n": 1}, "tool_call_id": "c1"}],
        "attachments": [{"id": "a", "type": "image/png", "content": "aGk="}],
    }
    (tmp_path / "older").mkdir()
    assert [record.value for record in read(database(tmp_path / "older", LLM))] == [[older]]
    both, incomplete = (record.value for record in read(database(tmp_path, LLM + NEWER)))
    assert both[0] == older
    assert both[1] == {
        "id": "r2",
        "conversation_id": "t1",
        "conversation_name": "Tea",
        "system": "Be brief.",
        "tools": [{"id": 1, "name": "f", "input_schema": {"type": "object"}}],
        "messages": [
            {
                "role": "user",
                "parts": [
                    {"type": "text", "text": "A story. Good?"},
                    {"type": "attachment", "attachment": {"id": "a", "type": "image/png", "content": "aGk="}},
                ],
            },
            {"role": "assistant", "parts": [{"type": "text", "text": "Yes."}]},
        ],
    }
    assert incomplete[0]["id"] == "r3"


def test_messages_of_llm_that_follow_each_other_are_read_once(tmp_path: Path) -> None:
    script = f"{LLM}{NEWER}UPDATE messages SET parent_hash = 'm4' WHERE hash = 'm0';"
    _, turn = next(iter(read(database(tmp_path, script)))).value
    assert [message["role"] for message in turn["messages"]] == ["user", "assistant"]


KIRO = """
CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER, updated_at INTEGER);
INSERT INTO conversations_v2 VALUES ('/p', 'k1', '{"conversation_id":"k1","history":[]}', 1, 2);
INSERT INTO conversations_v2 VALUES ('/q', 'k1', '{"conversation_id":"k1","history":[1]}', 1, 3);
INSERT INTO conversations_v2 VALUES ('/p', 'k2', '{"conversation_id":"k2","history":[]}', 1, 1);
"""
AMAZON_Q = """
CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB);
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO conversations VALUES ('/p', '{"conversation_id":"q1","history":[]}');
"""


@pytest.mark.parametrize(("script", "ids", "histories"), [(KIRO, ["k1", "k2"], [[1], []]), (AMAZON_Q, ["/p"], [[]])])
def test_a_conversation_of_kiro_is_what_it_saves(
    script: str, ids: list[str], histories: list[Any], tmp_path: Path
) -> None:
    path = database(tmp_path, script)
    assert ids_in(str(path)) == ids
    assert [record.value["history"] for record in read(path)] == histories


@pytest.mark.parametrize("script", [KIRO, AMAZON_Q])
def test_the_conversations_in_a_database_of_kiro_are_transcripts(script: str, tmp_path: Path) -> None:
    table = "conversations_v2" if script == KIRO else "conversations"
    path = database(tmp_path, script)
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {table} SET value = ?", ((SAMPLES / "kiro/plain.json").read_text("utf-8"),))
    connection.close()
    with inputs.opened(str(path)) as source:
        documents = [item for item in source if isinstance(item, Document)]
    assert [len(document.lift().messages) for document in documents] == [2] * (2 if script == KIRO else 1)
    assert {document.dialect.name for document in documents} == {"kiro"}


def test_an_earlier_state_of_a_conversation_of_kiro_is_kept_unless_the_latest_has_its_messages(tmp_path: Path) -> None:
    other = """INSERT INTO conversations_v2 VALUES ('/r', 'k1', '{"conversation_id":"k1","history":[2]}', 1, 1);"""
    first, second = (record.value for record in read(database(tmp_path, KIRO + other)))
    assert first["otherStates"] == [{"key": "/r", "value": {"conversation_id": "k1", "history": [2]}}]
    assert "otherStates" not in second


def test_an_earlier_state_of_a_conversation_of_kiro_with_a_key_that_the_latest_lacks_is_kept(tmp_path: Path) -> None:
    other = (
        """INSERT INTO conversations_v2 VALUES ('/r', 'k1', '{"conversation_id":"k1","history":[],"zz":1}', 1, 1);"""
    )
    first, _ = (record.value for record in read(database(tmp_path, KIRO + other)))
    assert [state["value"]["zz"] for state in first["otherStates"]] == [1]


ROWS_OF_A_SESSION = {
    "goose": (GOOSE, "sessions messages"),
    "opencode": (OPENCODE, "session"),
    "crush": (CRUSH, "sessions messages"),
    "hermes-agent": (HERMES, "sessions messages"),
    "llm": (LLM, "responses tool_calls attachments"),
}
"""The tables whose rows are objects of a session."""


@pytest.mark.parametrize(
    ("script", "table"), [(script, table) for script, tables in ROWS_OF_A_SESSION.values() for table in tables.split()]
)
def test_a_column_that_other_versions_of_a_program_have_is_kept(script: str, table: str, tmp_path: Path) -> None:
    path = database(tmp_path, f"{script} ALTER TABLE {table} ADD COLUMN zz TEXT; UPDATE {table} SET zz = 'new fact';")
    assert "new fact" in str([record.value for record in read(path)])


@pytest.mark.parametrize("program", ROWS_OF_A_SESSION)
def test_bytes_in_such_a_column_become_base64(program: str, tmp_path: Path) -> None:
    script, tables = ROWS_OF_A_SESSION[program]
    for table in tables.split():
        script += f"ALTER TABLE {table} ADD COLUMN zz BLOB; UPDATE {table} SET zz = x'00ff';"
    assert "AP8=" in json.dumps([record.value for record in read(database(tmp_path, script))])


def test_a_part_without_its_message_is_kept(tmp_path: Path) -> None:
    part = """INSERT INTO part VALUES ('p9', 'gone', 'ses_1', '{"type":"text","text":"Alone."}');"""
    [session] = read(database(tmp_path, OPENCODE + part))
    assert [one["text"] for one in session.value["unlistedParts"]] == ["Alone."]
