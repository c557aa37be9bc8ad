"""Sessions of each program's database, as the program exports them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from convcli.files.databases import ids_in
from tests.files.test_databases import OPENCLAW, database, read


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
