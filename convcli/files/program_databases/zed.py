"""The database of Zed's threads."""

from __future__ import annotations

from typing import Any

from convcli.files.program_databases.query import ProgramDatabase, Query, column, other_columns


def _session(query: Query, id_: str) -> Any:
    """A thread, with the columns that it does not repeat."""
    [row] = query.rows("SELECT * FROM threads WHERE id = ?", id_)
    if row.get("data_type") == "zstd":
        row["data"] = query.unpacked(row["data"])
    thread = query.object(row, "threads.data")
    return {**other_columns(row, "summary", "updated_at", "data_type", "data"), **thread}


DATABASE = ProgramDatabase(
    ("threads",), column("SELECT id FROM threads WHERE data IS NOT NULL ORDER BY rowid"), _session
)
