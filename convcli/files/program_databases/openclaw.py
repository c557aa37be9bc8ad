"""The database of OpenClaw, as version 2026.9.6 creates it; read 2026-11-23."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column
from convcli.model.document import Rows


def _session(query: Query, id_: str) -> Any:
    """A session as the rows of its file; long rows are packed in the database."""
    statement = "SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ? ORDER BY seq"
    texts = (row.get("event_json") or query.unpacked(row["event_zstd"]) for row in query.rows(statement, id_))
    return Rows([query.json(text) for text in texts])


_IDS = "SELECT session_id AS id FROM transcript_events GROUP BY session_id ORDER BY MIN(rowid)"
DATABASE = ProgramDatabase(("transcript_events", "session_windows"), column(_IDS), _session)
