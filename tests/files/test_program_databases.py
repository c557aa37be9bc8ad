"""Sessions of each program's database, as the program exports them."""

from __future__ import annotations

import base64
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.files.databases import DatabaseSource, ids_in
from convcli.files.framing import open_stored
from convcli.jobs import inputs
from convcli.jobs.documents import Document
from convcli.model.dialect import Options
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


@pytest.mark.parametrize(
    ("record", "where"),
    [
        (None, ""),
        ("", ""),
        ("zz", ""),
        ("7b", ""),
        (b"[]".hex(), ""),
        ("{}", "/agentId"),
        ('{"agentId":7}', "/agentId"),
        ('{"agentId":', ""),
    ],
)
def test_a_wrong_record_of_an_agent_of_cursor_is_an_error_that_names_it(
    record: str | None, where: str, tmp_path: Path
) -> None:
    path = cursor(tmp_path, None, "{}")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = ?", (record,))
    connection.close()
    with pytest.raises(ContentError, match=r'the column meta.value in the row "0"') as caught:
        ids_in(str(path))
    assert (caught.value.code, caught.value.file, caught.value.where) == ("not-json", str(path), where)


def test_an_agent_of_cursor_without_the_row_of_its_record_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match=r'the column meta.value in the row "0" is empty'):
        ids_in(str(database(tmp_path, CURSOR)))


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


@pytest.mark.parametrize(
    ("session", "where"),
    [
        ("null", ""),
        ("[1]", ""),
        ('{"fullConversationHeadersOnly":["b1"]}', "/fullConversationHeadersOnly/0"),
        ('{"conversation":7}', "/conversation"),
    ],
)
def test_a_session_of_cursors_editor_that_is_none_is_an_error_at_its_number(
    session: str, where: str, tmp_path: Path
) -> None:
    path = database(tmp_path, EDITOR)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE cursorDiskKV SET value = ? WHERE key = 'composerData:c1'", (session,))
    connection.close()
    with DatabaseSource(open_stored(str(path)), None, "last") as source:
        errors = [record.error for record in source.each()]
    assert [(error.code, error.line, error.where) for error in errors if error is not None] == [("not-json", 1, where)]
    assert 'the column cursorDiskKV.value in the row "composerData:c1"' in str(errors[0])


def test_a_bubble_that_a_session_of_cursors_editor_does_not_name_may_be_unreadable(tmp_path: Path) -> None:
    first, old = read(database(tmp_path, EDITOR + "UPDATE cursorDiskKV SET value = '{' WHERE key LIKE '%:b9';"))
    assert first.value["unlistedBubbles"] == ["{"]
    assert first.warning is not None
    assert "bubbleId:c1:b9" in first.warning.message
    assert old.warning is None


ZED = """
CREATE TABLE threads (id TEXT, folder_paths TEXT, data_type TEXT, data BLOB);
INSERT INTO threads VALUES ('t1', '/p', 'json', '{"version":"0.3.0","messages":[]}');
"""


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


@pytest.mark.parametrize("active", ["UPDATE messages SET active = NULL;", "ALTER TABLE messages DROP COLUMN active;"])
def test_a_message_of_hermes_agent_without_a_mark_is_active(active: str, tmp_path: Path) -> None:
    [session] = (record.value for record in read(database(tmp_path, HERMES + active)))
    assert (len(session["messages"]), "inactive_messages" in session) == (3, False)


def test_an_empty_string_of_hermes_agent_means_no_calls(tmp_path: Path) -> None:
    path = database(tmp_path, HERMES + "UPDATE messages SET tool_calls = '';")
    with inputs.opened(str(path)) as source:
        [document] = source
    assert isinstance(document, Document)
    assert [message.role for message in document.lift().messages] == ["user", "assistant"]


@pytest.mark.parametrize("text", ["char(0) || 'json:['", "char(0) || 'json:'"])
def test_a_content_of_hermes_agent_that_cannot_be_read_is_a_text(text: str, tmp_path: Path) -> None:
    [record] = read(database(tmp_path, f"{HERMES} UPDATE messages SET content = {text} WHERE id = 1;"))
    assert record.value["messages"][0]["content"].startswith("\0json:")


def test_an_inactive_message_of_hermes_agent_may_be_unreadable(tmp_path: Path) -> None:
    path = database(tmp_path, HERMES + "UPDATE messages SET tool_calls = '[' WHERE id = 2;")
    with inputs.opened(str(path)) as source:
        [document] = source
    assert isinstance(document, Document)
    assert len(document.lift().messages) == 2
    assert [finding.code for finding in document.notes] == ["not-json"]


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
CREATE TABLE threads (
    id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT
);
CREATE TABLE turns (
    id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, schema_id TEXT
);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
CREATE TABLE parts (message_hash TEXT, position INTEGER, type TEXT, text TEXT, payload TEXT);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE schemas (id TEXT PRIMARY KEY, content TEXT);
CREATE TABLE tools (id INTEGER PRIMARY KEY, name TEXT, input_schema TEXT);
CREATE TABLE turn_tools (turn_id TEXT, tool_id INTEGER);
INSERT INTO threads (id, name) VALUES ('t1', 'Tea'), ('t2', 'Rain');
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


def test_what_is_no_text_of_an_instruction_of_llm_is_kept(tmp_path: Path) -> None:
    part = """INSERT INTO parts VALUES ('m0', 1, 'attachment', NULL, '{"attachment":{"id":"a"}}');"""
    both, _ = (record.value for record in read(database(tmp_path, LLM + NEWER + part)))
    file = {"type": "attachment", "attachment": {"id": "a", "type": "image/png", "content": "aGk="}}
    assert (both[1]["system"], both[1]["system_message"]) == ("Be brief.", {"parts": [file]})


def test_a_thread_of_llm_has_the_turns_before_its_fork(tmp_path: Path) -> None:
    fork = """
    INSERT INTO threads (id, name, forked_from) VALUES ('t3', 'Other', 't1');
    INSERT INTO messages VALUES ('m5', 'm4', 'user'), ('m6', 'm5', 'assistant');
    INSERT INTO turns VALUES ('r4', 't3', 'm5', 'm6', NULL), ('r5', 't1', 'm5', 'm7', NULL);
    """
    threads = [record.value for record in read(database(tmp_path, LLM + NEWER + fork))]
    assert [[turn["id"] for turn in turns] for turns in threads] == [["r1", "r2", "r5"], ["r3"], ["r2", "r4"]]
    forked = threads[-1]
    assert {(turn["conversation_id"], turn["conversation_name"]) for turn in forked} == {("t3", "Other")}
    assert forked[0]["thread"] == {"forked_from": "t1"}


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
    state = {"conversation_id": "k1", "history": [2]}
    assert first["otherStates"] == [{"key": "/r", "created_at": 1, "updated_at": 1, "value": state}]
    assert first["otherDirectories"] == [{"key": "/p", "created_at": 1, "updated_at": 2}]
    assert (first["key"], first["created_at"], first["updated_at"]) == ("/q", 1, 3)
    assert "otherStates" not in second


@pytest.mark.parametrize("state", ["", "{", "7"])
def test_an_earlier_state_of_a_conversation_of_kiro_may_be_unreadable(state: str, tmp_path: Path) -> None:
    saved = (SAMPLES / "kiro/plain.json").read_text("utf-8")
    path = database(tmp_path, KIRO)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE conversations_v2 SET value = ?", (saved,))
        connection.execute("UPDATE conversations_v2 SET value = ? WHERE key = '/p'", (state,))
    connection.close()
    with inputs.opened(str(path)) as source:
        document = next(iter(source))
        assert isinstance(document, Document)
        losses = document.convert(dialects.get("anthropic"), Options()).losses
    assert len(document.lift().messages) == 2
    assert [loss.level for loss in losses if loss.field == "extras.kiro.otherStates"] == ["content"]
    assert [finding.code for finding in document.notes] == (["not-json"] if state == "{" else [])


def test_an_earlier_state_of_a_conversation_of_kiro_with_a_key_that_the_latest_lacks_is_kept(tmp_path: Path) -> None:
    other = (
        """INSERT INTO conversations_v2 VALUES ('/r', 'k1', '{"conversation_id":"k1","history":[],"zz":1}', 1, 1);"""
    )
    first, _ = (record.value for record in read(database(tmp_path, KIRO + other)))
    assert [state["value"]["zz"] for state in first["otherStates"]] == [1]


SCRIPTS = {
    "goose": GOOSE,
    "opencode": OPENCODE,
    "openclaw": OPENCLAW,
    "crush": CRUSH,
    "hermes-agent": HERMES,
    "llm": LLM + NEWER,
    "zed": ZED,
    "kiro": KIRO,
    "amazon-q": AMAZON_Q,
    "cursor-editor": EDITOR,
}
ROWS_OF_A_SESSION = {
    "goose": "sessions messages",
    "opencode": "session message part",
    "crush": "sessions messages",
    "hermes-agent": "sessions messages",
    "llm": "threads turns messages parts tools attachments responses tool_calls",
    "zed": "threads",
    "kiro": "conversations_v2",
    "amazon-q": "conversations",
}
"""The tables whose rows are objects of a session."""
READ_OTHERWISE = {
    "goose": "sessions.id sessions.created_at sessions.extension_data sessions.recipe_json messages.id "
    "messages.session_id messages.content_json messages.metadata_json messages.timestamp",
    "opencode": "session.id session.summary_diffs session.permission message.id message.session_id message.data "
    "message.time_created part.id part.message_id part.session_id part.data",
    "crush": "sessions.id messages.session_id messages.parts",
    "hermes-agent": "sessions.id messages.session_id messages.tool_calls messages.active",
    "llm": "threads.id threads.tip_message_hash turns.id turns.thread_id turns.parent_message_hash "
    "turns.tip_message_hash turns.schema_id messages.hash messages.parent_hash messages.role parts.message_hash "
    "parts.position parts.text parts.payload tools.id tools.input_schema attachments.id attachments.content "
    "responses.id responses.conversation_id responses.options_json tool_calls.response_id tool_calls.arguments",
    "zed": "threads.id threads.data_type threads.data",
    "kiro": "conversations_v2.conversation_id conversations_v2.value",
    "amazon-q": "conversations.value",
}
"""Columns that join rows, that have JSON or bytes, and those of which the rest of a row has the fact."""
JSON_COLUMNS = {
    "goose": "sessions.extension_data sessions.recipe_json messages.content_json messages.metadata_json",
    "opencode": "session.permission session.summary_diffs message.data part.data",
    "openclaw": "transcript_events.event_json",
    "crush": "messages.parts",
    "hermes-agent": "messages.tool_calls",
    "llm": "parts.payload tools.input_schema tool_calls.arguments responses.options_json",
    "zed": "threads.data",
    "kiro": "conversations_v2.value",
    "amazon-q": "conversations.value",
    "cursor-editor": "cursorDiskKV.value",
}
"""The columns with JSON."""


def pairs(columns: dict[str, str]) -> list[tuple[str, str]]:
    return [(program, name) for program, names in columns.items() for name in names.split()]


@pytest.mark.parametrize("program", ROWS_OF_A_SESSION)
def test_every_column_of_a_row_is_kept(program: str, tmp_path: Path) -> None:
    """Also a column that other versions of a program have, and one with bytes, which become base64."""
    tables, number = ROWS_OF_A_SESSION[program].split(), 70_000_000
    path = database(tmp_path, SCRIPTS[program])
    with sqlite3.connect(path) as connection:
        for table in tables:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN zz TEXT")
            connection.execute(f"ALTER TABLE {table} ADD COLUMN bb BLOB")
        named = [f"{table}.{row[1]}" for table in tables for row in connection.execute(f"PRAGMA table_info({table})")]
        planted = {name: number + i for i, name in enumerate(named) if name not in READ_OTHERWISE[program].split()}
        for name, value in planted.items():
            table, _, column = name.partition(".")
            bytes_ = {"bb": str(value).encode()}
            first = f"(SELECT min(rowid) FROM {table})"  # columns may be unique
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = {first}", (bytes_.get(column, value),))
    connection.close()
    values = json.dumps([record.value for record in read(path)])
    kept = {name: base64.b64encode(str(value).encode()).decode() for name, value in planted.items() if ".bb" in name}
    assert [name for name, value in planted.items() if kept.get(name, str(value)) not in values] == []


@pytest.mark.parametrize("value", ["", " ", "{", "7", b"\xff"])
@pytest.mark.parametrize(("program", "name"), pairs(JSON_COLUMNS))
def test_a_column_without_json_has_no_value_or_is_named(
    program: str, name: str, value: str | bytes, tmp_path: Path
) -> None:
    """Never is it the whole database that is damaged. What is kept as a string is a warning."""
    table, _, column = name.partition(".")
    path = database(tmp_path, SCRIPTS[program])
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS NOT NULL", (value,))
    connection.close()
    records = [record for record in read(path) if record.error or value in ("{", b"\xff")]
    defects = [record.error or record.warning for record in records]
    codes = ("not-json", "not-utf8")
    touched = [error for error in defects if error is not None]
    assert all(f"the column {name}" in error.message and error.code in codes for error in touched)
    assert touched or value not in ("{", b"\xff")


def test_a_part_without_its_message_is_kept(tmp_path: Path) -> None:
    part = """INSERT INTO part VALUES ('p9', 'gone', 'ses_1', '{"type":"text","text":"Alone."}');"""
    [session] = read(database(tmp_path, OPENCODE + part))
    assert [one["text"] for one in session.value["unlistedParts"]] == ["Alone."]
