"""The database of OpenClaw, as version 2026.9.6 creates it; read 2026-11-23."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, Row, column, is_blank
from convcli.model.document import Rows


def _session(query: Query, id_: str) -> Any:
    """A session as the rows of its file; long rows are packed in the database."""
    rows = query.rows("SELECT * FROM transcript_events WHERE session_id = ? ORDER BY seq", id_)
    return Rows([_event(query, row) for row in rows])


def _event(query: Query, row: Row) -> Any:
    if is_blank(row.get("event_json")) and "event_zstd" in row:
        row["event_json"] = query.unpacked(row["event_zstd"])
    return query.json(row, "transcript_events.event_json")


_IDS = "SELECT session_id AS id FROM transcript_events GROUP BY session_id ORDER BY MIN(rowid)"
DATABASE = ProgramDatabase(("transcript_events", "session_windows"), column(_IDS), _session)
